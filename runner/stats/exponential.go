package stats

import (
	"math"
	"slices"
)

// ExponentialFit returns the chance of gaps as far from an exponential
// distribution of that mean as these, if they come from it: the test of Kolmogorov
// and Smirnov by its limit for many of them. It sorts gaps; of none it is 1.
func ExponentialFit(gaps []float64, mean float64) float64 {
	slices.Sort(gaps)
	n, d := float64(len(gaps)), 0.0
	for i, g := range gaps {
		f := -math.Expm1(-g / mean)
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	x, p := d*math.Sqrt(n), 0.0
	if x < 0.2 { // the sum does not converge well there
		return 1
	}
	for k, sign := 1.0, 2.0; k <= 100; k, sign = k+1, -sign {
		p += sign * math.Exp(-2*k*k*x*x)
	}
	return min(max(p, 0), 1)
}
