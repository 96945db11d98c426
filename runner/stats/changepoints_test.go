package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// noise is a series of a level with relative noise.
func noise(r *rand.Rand, n int, sd float64, level func(i int) float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = level(i) * math.Exp(sd*r.NormFloat64())
	}
	return x
}

// A step of 8 % among 500 runs is found within two runs of its place, wherever it is.
func TestChangePointFound(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, at := range []int{20, 100, 250, 400, 480} {
		for range 10 {
			x := noise(r, 500, 0.03, func(i int) float64 {
				if i < at {
					return 100
				}
				return 108
			})
			got := ChangePoints(x, 0.05)
			if len(got) != 1 || got[0].Index < at-2 || got[0].Index > at+2 || math.Abs(got[0].Change()-0.08) > 0.03 || got[0].P > 0.01 {
				t.Errorf("a step at %d: %+v", at, got)
			}
		}
	}
}

// Flat series have at most 5 change points in 100, whatever the noise is, also where it is not normal.
func TestChangePointsOfFlat(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for name, draw := range map[string]func() []float64{
		"2 %":  func() []float64 { return noise(r, 500, 0.02, func(int) float64 { return 5 }) },
		"15 %": func() []float64 { return noise(r, 500, 0.15, func(int) float64 { return 5 }) },
		"with spikes": func() []float64 {
			return noise(r, 500, 0.03, func(i int) float64 {
				if r.IntN(20) == 0 {
					return 9
				}
				return 5
			})
		},
		"short": func() []float64 { return noise(r, 12, 0.05, func(int) float64 { return 5 }) },
	} {
		points := 0
		for range 100 {
			points += len(ChangePoints(draw(), 0.05))
		}
		if points > 5 {
			t.Errorf("%s: %d points in 100 flat series", name, points)
		}
	}
}

func TestChangePoints(t *testing.T) {
	step := func(levels ...float64) (x []float64) {
		for i, l := range levels {
			for j := range 20 {
				x = append(x, l*(1+0.001*float64((i+j)%3)))
			}
		}
		return x
	}
	for _, tt := range []struct {
		series []float64
		want   []int
	}{
		{nil, nil}, {[]float64{1, 2, 3}, nil}, {step(10, 10, 10), nil}, {step(10, 12), []int{20}}, {step(10, 12, 10), []int{20, 40}},
		{step(10, 10.2), nil}, // below the magnitude
		{step(10, 5, 7, 20), []int{20, 40, 60}},
		{append(step(10, 12), 0), nil}, {append(step(10, 12), math.NaN()), nil}, {append(step(10, 12), math.Inf(1)), nil},
	} {
		got := ChangePoints(tt.series, 0.05)
		same := len(got) == len(tt.want)
		for i := range got {
			same = same && got[i].Index == tt.want[i]
		}
		if !same {
			t.Errorf("ChangePoints(%d values) = %+v, want at %v", len(tt.series), got, tt.want)
		}
	}
}
