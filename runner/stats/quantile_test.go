package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The numbers of samples that the literature gives for order-statistic bounds at
// 95 %: one-sided 59, 299, 2995; two-sided 72, 368, 3688.
func TestMinSamples(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		q, confidence float64
		sided, want   int
	}{
		{0.95, 0.95, 1, 59}, {0.95, 0.95, 2, 72},
		{0.99, 0.95, 1, 299}, {0.99, 0.95, 2, 368},
		{0.999, 0.95, 1, 2995}, {0.999, 0.95, 2, 3688},
		{0.9999, 0.95, 1, 29956}, {0.9999, 0.95, 2, 36887},
		{0.5, 0.95, 2, 6}, {0.5, 0.75, 2, 3}, {0.01, 0.95, 2, 368}, {0.5, 0.5, 1, 1},
		{1, 0.95, 1, math.MaxInt}, {0.5, 1, 1, math.MaxInt}, {0.5, 0.95, 3, math.MaxInt}, {math.NaN(), 0.95, 1, math.MaxInt},
	} {
		if got := MinSamples(tt.q, tt.confidence, tt.sided); got != tt.want {
			t.Errorf("MinSamples(%v, %v, %d) = %d, want %d", tt.q, tt.confidence, tt.sided, got, tt.want)
		}
	}
}

func TestQuantileRanksNeedMinSamples(t *testing.T) {
	t.Parallel()
	for _, q := range []float64{0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 0.999} {
		for _, confidence := range []float64{0.8, 0.95, 0.99} {
			n := int64(MinSamples(q, confidence, 2))
			if _, _, ok := QuantileRanks(n-1, q, confidence); ok {
				t.Errorf("QuantileRanks(%d, %v, %v) is ok, want not", n-1, q, confidence)
			}
			lo, hi, ok := QuantileRanks(n, q, confidence)
			if !ok || lo < 1 || hi > n || lo > hi {
				t.Errorf("QuantileRanks(%d, %v, %v) = %d, %d, %v, want ranks", n, q, confidence, lo, hi, ok)
			}
		}
	}
}

// The ranks of the median's 95 % interval (David and Nagaraja; also table A of
// Gibbons for the sign test).
func TestQuantileRanks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n      int64
		q      float64
		lo, hi int64
	}{
		{6, 0.5, 1, 6}, {10, 0.5, 2, 9}, {20, 0.5, 6, 15}, {30, 0.5, 10, 21}, {100, 0.5, 40, 61},
	} {
		lo, hi, ok := QuantileRanks(tt.n, tt.q, 0.95)
		if !ok || lo != tt.lo || hi != tt.hi {
			t.Errorf("QuantileRanks(%d, %v, 0.95) = %d, %d, %v, want %d, %d", tt.n, tt.q, lo, hi, ok, tt.lo, tt.hi)
		}
	}
	for _, bad := range []struct {
		n             int64
		q, confidence float64
	}{{0, 0.5, 0.95}, {-1, 0.5, 0.95}, {100, 0, 0.95}, {100, 1, 0.95}, {100, 0.5, 0}, {100, 0.5, 1}, {100, math.NaN(), 0.9}} {
		if _, _, ok := QuantileRanks(bad.n, bad.q, bad.confidence); ok {
			t.Errorf("QuantileRanks(%d, %v, %v) is ok, want not", bad.n, bad.q, bad.confidence)
		}
	}
	// A day at 10,000/s: the numerics must hold, and the width be that of the
	// normal approximation.
	n := int64(864_000_000)
	lo, hi, ok := QuantileRanks(n, 0.999, 0.95)
	half := 1.96 * math.Sqrt(float64(n)*0.999*0.001)
	if mid := 0.999 * float64(n); !ok || !nearly(mid-float64(lo), half, 0.01) || !nearly(float64(hi)-mid, half, 0.01) {
		t.Errorf("QuantileRanks(%d, 0.999, 0.95) = %d, %d, %v, want %v ± %v", n, lo, hi, ok, mid, half)
	}
}

func TestQuantile(t *testing.T) {
	t.Parallel()
	x := make([]float64, 10000)
	for i := range x {
		x[i] = float64(i + 1)
	}
	for _, tt := range []struct{ q, want float64 }{{0, 1}, {0.00001, 1}, {0.5, 5000}, {0.50001, 5001}, {0.99, 9900}, {0.9999, 9999}, {1, 10000}} {
		if got, ok := Quantile(x, tt.q); !ok || got != tt.want {
			t.Errorf("Quantile(1..10000, %v) = %v, %v, want %v", tt.q, got, ok, tt.want)
		}
	}
	for _, q := range []float64{-0.1, 1.1, math.NaN()} {
		if _, ok := Quantile(x, q); ok {
			t.Errorf("Quantile(1..10000, %v) is ok, want not", q)
		}
	}
	if _, ok := Quantile(nil, 0.5); ok {
		t.Error("Quantile(nil, 0.5) is ok, want not")
	}
}

func TestQuantileIntervalCovers(t *testing.T) {
	t.Parallel()
	const trials, n = 600, 2000
	r := rand.New(rand.NewPCG(1, 2))
	for _, q := range []float64{0.5, 0.9, 0.99} {
		truth := -math.Log(1 - q)
		covered := 0
		for range trials {
			x := make([]float64, n)
			for i := range x {
				x[i] = r.ExpFloat64()
			}
			slices.Sort(x)
			lo, hi, ok := QuantileInterval(x, q, 0.95)
			if !ok {
				t.Fatalf("QuantileInterval of %d samples at %v is not ok", n, q)
			}
			if lo <= truth && truth <= hi {
				covered++
			}
		}
		if share := float64(covered) / trials; share < 0.93 || share > 0.99 {
			t.Errorf("QuantileInterval at %v covers %.3f, want about 0.95", q, share)
		}
	}
}
