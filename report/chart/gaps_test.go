package chart

import (
	"math"
	"testing"
)

// A gap is one only between points of the same series.
func TestGapsAreInsideALine(t *testing.T) {
	nan := math.NaN()
	tests := []struct {
		y    []float64
		want int
	}{
		{[]float64{nan, nan, 1, 2}, 0},
		{[]float64{1, 2, nan, nan}, 0},
		{[]float64{nan, nan, nan, nan}, 0},
		{[]float64{1, nan, nan, 2}, 2},
		{[]float64{nan, 1, nan, 2}, 1},
	}
	for _, test := range tests {
		c := Chart{Series: []Series{{X: []float64{1, 2, 3, 4}, Y: test.y}, {X: []float64{1}, Y: []float64{nan}}}}
		if got := collect(c).gaps; got != test.want {
			t.Errorf("gaps of %v = %d, want %d", test.y, got, test.want)
		}
	}
}
