package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// decide draws pairs until a look decides; sd is that of each run.
func decide(r *rand.Rand, truth, sd, margin float64) (Decision, int) {
	var ratios []float64
	for n := 1; n <= MaxPairs; n++ {
		ratios = append(ratios, (1+truth)*math.Exp(sd*(r.NormFloat64()-r.NormFloat64())))
		if !IsLook(n) {
			continue
		}
		if c, _ := Paired(ratios, margin, 1); c.Decision != Undecided {
			return c.Decision, n
		}
	}
	return Undecided, MaxPairs
}

// The error rates are those that are said, and a change that matters is found: a margin of 10 %, as in the design's table.
func TestPairedErrorRates(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const n = 4000
	for _, tt := range []struct {
		sd, truth            float64
		mostPass, mostFail   float64 // shares
		leastPass, leastFail float64
	}{
		{0.02, 0, 1, 0.005, 0.99, 0}, {0.02, 0.10, 0.06, 1, 0, 0.4}, {0.02, 0.20, 0.005, 1, 0, 0.99},
		{0.05, 0, 1, 0.01, 0.93, 0}, {0.05, 0.10, 0.06, 1, 0, 0.4}, {0.05, 0.20, 0.005, 1, 0, 0.98},
		{0.10, 0, 1, 0.04, 0.4, 0}, {0.10, 0.10, 0.06, 1, 0, 0.3}, {0.10, 0.20, 0.01, 1, 0, 0.9},
	} {
		pass, fail := 0, 0
		for range n {
			switch d, _ := decide(r, tt.truth, tt.sd, 0.10); d {
			case NoWorse:
				pass++
			case Worse:
				fail++
			}
		}
		p, f := float64(pass)/n, float64(fail)/n
		if p > tt.mostPass || p < tt.leastPass || f > tt.mostFail || f < tt.leastFail {
			t.Errorf("sd %v, truth %+.0f%%: passes %.3f, fails %.3f, want %+v", tt.sd, 100*tt.truth, p, f, tt)
		}
	}
}

func TestPaired(t *testing.T) {
	if _, ok := Paired([]float64{1}, 0.1, 1); ok {
		t.Error("one pair is ok")
	}
	for _, bad := range []float64{0, -1, math.NaN(), math.Inf(1)} {
		if _, ok := Paired([]float64{1, bad, 1, 1, 1}, 0.1, 1); ok {
			t.Errorf("a ratio of %v is ok", bad)
		}
	}
	if c, ok := Paired([]float64{2, 2.01, 1.99, 2}, 0.1, 1); !ok || c.Decision != Undecided || math.Abs(c.By-1) > 0.01 {
		t.Errorf("four pairs: %+v, %v, want undecided", c, ok)
	}
	if c, _ := Paired([]float64{2, 2.01, 1.99, 2, 2}, 0.1, 1); c.Decision != Worse {
		t.Errorf("twice as much: %+v", c)
	}
	if c, _ := Paired([]float64{0.5, 0.51, 0.49, 0.5, 0.5}, 0.1, 1); c.Decision != NoWorse {
		t.Errorf("half as much: %+v", c)
	}
	few, _ := Paired([]float64{1.2, 1.1, 1.3, 1.15, 1.25}, 0.1, 1)
	many, _ := Paired([]float64{1.2, 1.1, 1.3, 1.15, 1.25}, 0.1, 10)
	if many.Lo >= few.Lo || many.Hi != few.Hi {
		t.Errorf("ten metrics: %+v, one: %+v, want a lower bound that is lower", many, few)
	}
}
