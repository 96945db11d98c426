package stats

import (
	"math/rand/v2"
	"testing"
)

func TestExponentialFit(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	gaps, even := make([]float64, 5000), make([]float64, 5000)
	for i := range gaps {
		gaps[i], even[i] = 3*r.ExpFloat64(), 3
	}
	for _, c := range []struct {
		name        string
		gaps        []float64
		mean        float64
		least, most float64
	}{
		{"exponential", gaps, 3, 0.05, 1},
		{"of another mean", gaps, 3.5, 0, 1e-6},
		{"even", even, 3, 0, 1e-6},
		{"none", nil, 3, 1, 1},
	} {
		if p := ExponentialFit(c.gaps, c.mean); p < c.least || p > c.most {
			t.Errorf("%s: ExponentialFit = %v, want %v to %v", c.name, p, c.least, c.most)
		}
	}
}
