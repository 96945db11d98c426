package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestDescribe(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	same := func(a, b float64) bool { return a == b || math.IsNaN(a) && math.IsNaN(b) || nearly(a, b, 1e-12) }
	for _, tt := range []struct {
		x                           []float64
		mean, stdDev, cov, med, mad float64
	}{
		{nil, nan, nan, nan, nan, nan},
		{[]float64{3}, 3, nan, nan, 3, 0},
		{[]float64{2, 4, 4, 4, 5, 5, 7, 9}, 5, math.Sqrt(32. / 7), math.Sqrt(32./7) / 5, 4.5, 0.5},
		{[]float64{9, 1, 5}, 5, 4, 0.8, 5, 4},
		{[]float64{-9, -1, -5}, -5, 4, 0.8, -5, 4},
		{[]float64{1, 1, 1, 1000}, 250.75, 499.5, 499.5 / 250.75, 1, 0},
	} {
		if got := Mean(tt.x); !same(got, tt.mean) {
			t.Errorf("Mean(%v) = %v, want %v", tt.x, got, tt.mean)
		}
		if got := StdDev(tt.x); !same(got, tt.stdDev) {
			t.Errorf("StdDev(%v) = %v, want %v", tt.x, got, tt.stdDev)
		}
		if got := CoV(tt.x); !same(got, tt.cov) {
			t.Errorf("CoV(%v) = %v, want %v", tt.x, got, tt.cov)
		}
		if got := Median(tt.x); !same(got, tt.med) {
			t.Errorf("Median(%v) = %v, want %v", tt.x, got, tt.med)
		}
		if got := MAD(tt.x); !same(got, tt.mad) {
			t.Errorf("MAD(%v) = %v, want %v", tt.x, got, tt.mad)
		}
	}
}

func TestTInterval(t *testing.T) {
	t.Parallel()
	// Student's sleep data (1908): the differences of the two drugs, whose 95 %
	// interval is 0.70 to 2.46.
	x := []float64{1.2, 2.4, 1.3, 1.3, 0, 1.0, 1.8, 0.8, 4.6, 1.4}
	mean, lo, hi, ok := TInterval(x, 0.95)
	if !ok || !nearly(mean, 1.58, 1e-9) || !nearly(lo, 0.7001142, 1e-6) || !nearly(hi, 2.4598858, 1e-6) {
		t.Errorf("TInterval = %v, %v, %v, %v, want 1.58, 0.7001142, 2.4598858", mean, lo, hi, ok)
	}
	for _, bad := range []struct {
		x          []float64
		confidence float64
	}{{nil, 0.95}, {[]float64{1}, 0.95}, {x, 0}, {x, 1}} {
		if _, _, _, ok := TInterval(bad.x, bad.confidence); ok {
			t.Errorf("TInterval(%v, %v) is ok, want not", bad.x, bad.confidence)
		}
	}
}

func TestIntervalsCover(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(9, 10))
	const trials = 2000
	mean, median := 0, 0
	for range trials {
		x := make([]float64, 12)
		for i := range x {
			x[i] = 5 + r.NormFloat64()
		}
		if _, lo, hi, ok := TInterval(x, 0.95); ok && lo <= 5 && 5 <= hi {
			mean++
		}
		if lo, hi, ok := MedianInterval(x, 0.95); ok && lo <= 5 && 5 <= hi {
			median++
		}
	}
	if share := float64(mean) / trials; share < 0.93 || share > 0.97 {
		t.Errorf("TInterval covers %.3f, want about 0.95", share)
	}
	if share := float64(median) / trials; share < 0.94 {
		t.Errorf("MedianInterval covers %.3f, want 0.95 at least", share)
	}
}
