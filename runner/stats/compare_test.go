package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestCompare(t *testing.T) {
	// logarithms 0, 0.1, 0.2 and 0.3, 0.4, 0.5: Welch's t is 0.3/√(2·0.01/3) = 3.674 with 4 degrees of freedom, one-sided p = 0.01065
	e := func(x ...float64) (all []float64) {
		for _, v := range x {
			all = append(all, math.Exp(v))
		}
		return all
	}
	c, ok := Compare(e(0, 0.1, 0.2), e(0.3, 0.4, 0.5), 0.95)
	half := 2.1318467863 * math.Sqrt(0.02/3)
	if !ok || math.Abs(c.By-math.Expm1(0.3)) > 1e-12 || math.Abs(c.Lo-math.Expm1(0.3-half)) > 1e-6 || math.Abs(c.Hi-math.Expm1(0.3+half)) > 1e-6 || math.Abs(c.Larger-0.01065) > 1e-5 || math.Abs(c.Less+c.Larger-1) > 1e-12 {
		t.Errorf("Compare = %+v, %v", c, ok)
	}
	if c, ok := Compare([]float64{5, 5, 5}, []float64{5, 5, 5}, 0.95); !ok || c.By != 0 || c.Lo >= 0 || c.Hi <= 0 || c.Hi > 0.002 {
		t.Errorf("equal values: %+v, %v, want no change within 0.2 %%", c, ok)
	}
	for _, bad := range [][]float64{nil, {1}, {1, 0}, {1, -1}, {1, math.NaN()}, {1, math.Inf(1)}} {
		if _, ok := Compare(bad, []float64{1, 2}, 0.95); ok {
			t.Errorf("Compare(%v) is ok", bad)
		}
		if _, ok := Compare([]float64{1, 2}, bad, 0.95); ok {
			t.Errorf("Compare(…, %v) is ok", bad)
		}
	}
	if _, ok := Compare([]float64{1, 2}, []float64{1, 2}, 0.5); ok {
		t.Error("a confidence of one half is ok")
	}
}

// The bounds hold the truth as often as they say, whatever the groups' sizes and spreads are.
func TestCompareCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, tt := range []struct {
		na, nb int
		sa, sb float64
	}{{3, 3, .02, .02}, {6, 6, .02, .05}, {10, 3, .05, .05}, {3, 12, .1, .02}} {
		below, above, n := 0, 0, 4000
		draw := func(n int, mean, sd float64) (all []float64) {
			for range n {
				all = append(all, math.Exp(mean+sd*r.NormFloat64()))
			}
			return all
		}
		for range n {
			c, _ := Compare(draw(tt.na, 0, tt.sa), draw(tt.nb, 0.05, tt.sb), 0.95)
			if c.Lo > math.Expm1(0.05) {
				above++
			}
			if c.Hi < math.Expm1(0.05) {
				below++
			}
		}
		for _, missed := range []int{below, above} {
			if share := float64(missed) / float64(n); share > 0.065 || share < 0.02 {
				t.Errorf("%+v: a bound misses in %.1f %%, want 5 %%", tt, 100*share)
			}
		}
	}
}

func TestHolm(t *testing.T) {
	for _, tt := range []struct {
		p    []float64
		want []bool
	}{
		{nil, []bool{}},
		{[]float64{0.04}, []bool{true}},
		{[]float64{0.06}, []bool{false}},
		{[]float64{0.01, 0.04, 0.03, 0.005}, []bool{true, false, false, true}}, // Holm's own: 0.0125, 0.0167, 0.025
		{[]float64{0.001, 0.001, 0.04}, []bool{true, true, true}},
		{[]float64{math.NaN(), 0.001}, []bool{false, true}},
	} {
		if got := Holm(tt.p, 0.05); !slices.Equal(got, tt.want) {
			t.Errorf("Holm(%v) = %v, want %v", tt.p, got, tt.want)
		}
	}
}
