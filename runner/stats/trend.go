package stats

import (
	"math"
	"slices"
)

const minTrend = 8 // samples from which the normal approximation of S holds

// MannKendall tests a series for a monotone trend, whatever its shape. tau is
// Kendall's tau-a between value and position, from -1 (always falling) to 1; p
// is two-sided, by the normal approximation with the correction for ties
// (Mann 1945; Kendall 1975). It takes time quadratic in the length, and neighbours
// that depend on each other make p too small. ok is false with fewer than 8
// samples or a NaN among them.
func MannKendall(series []float64) (tau, p float64, ok bool) {
	n := len(series)
	if n < minTrend || slices.ContainsFunc(series, math.IsNaN) {
		return 0, 0, false
	}
	s := 0
	for i, a := range series {
		for _, b := range series[i+1:] {
			switch {
			case b > a:
				s++
			case b < a:
				s--
			}
		}
	}
	tau = float64(s) / (float64(n) * float64(n-1) / 2)
	variance := kendallVariance(n)
	sorted := slices.Sorted(slices.Values(series))
	for i := 0; i < n; {
		run := 1
		for i+run < n && sorted[i+run] == sorted[i] {
			run++
		}
		variance -= kendallVariance(run)
		i += run
	}
	if s == 0 || variance <= 0 {
		return tau, 1, true
	}
	z := (math.Abs(float64(s)) - 1) / math.Sqrt(variance)
	return tau, min(1, 2*NormalCDF(-z)), true
}

func kendallVariance(n int) float64 {
	f := float64(n)
	return f * (f - 1) * (2*f + 5) / 18
}

// TheilSen returns the median slope, per position, over all pairs of a series;
// NaN with fewer than two samples. It takes time quadratic in the length.
func TheilSen(series []float64) float64 {
	var slopes []float64
	for i, a := range series {
		for j, b := range series[i+1:] {
			slopes = append(slopes, (b-a)/float64(j+1))
		}
	}
	return Median(slopes)
}

// KSExponential tests whether samples, in any order, come from an exponential
// distribution of the given rate (mean 1/rate), by Kolmogorov and Smirnov. d is
// the largest distance of the two distribution functions; p is asymptotic with
// Stephens' correction (JRSS B 32, 1970). The rate must not come from the same
// samples, or p is too large. ok is false with fewer than 5 samples, a NaN, or a
// rate that is not above 0.
func KSExponential(samples []float64, rate float64) (d, p float64, ok bool) {
	if len(samples) < 5 || !(rate > 0) || slices.ContainsFunc(samples, math.IsNaN) {
		return 0, 0, false
	}
	n := float64(len(samples))
	for i, x := range slices.Sorted(slices.Values(samples)) {
		f := -math.Expm1(-rate * max(x, 0))
		d = max(d, f-float64(i)/n, float64(i+1)/n-f)
	}
	root := math.Sqrt(n)
	return d, kolmogorovTail((root + 0.12 + 0.11/root) * d), true
}

// kolmogorovTail returns P(K > x) for Kolmogorov's distribution.
func kolmogorovTail(x float64) float64 {
	if x < 0.2 { // the series converges slowly, and all is within 1e-12 of 1
		return 1
	}
	sum, sign := 0.0, 1.0
	for k := 1.0; k <= 100; k++ {
		term := math.Exp(-2 * k * k * x * x)
		sum += sign * term
		if term < 1e-16 {
			break
		}
		sign = -sign
	}
	return min(max(2*sum, 0), 1)
}

// Settled finds from where on a series is steady. It is steady at its end when
// the medians of its last two windows differ by at most relTol of the last one
// and no monotone trend across both (Mann-Kendall, p < 0.05) amounts to more
// than relTol (Theil-Sen slope times length). index is then the first position
// from which every window up to the end has its median within relTol of the last;
// unless it is 0, half a window is added, since a median holds when half of its
// window does. ok is false when the series is not steady at its end, is shorter
// than two windows or has a NaN, when window is below 4 or relTol is not above 0.
func Settled(series []float64, window int, relTol float64) (index int, ok bool) {
	n := len(series)
	if window < minTrend/2 || n/2 < window || !(relTol > 0) || slices.ContainsFunc(series, math.IsNaN) {
		return 0, false
	}
	end := series[n-2*window:]
	last := Median(end[window:])
	near := func(x float64) bool { return math.Abs(x-last) <= relTol*math.Abs(last) }
	if !near(Median(end[:window])) {
		return 0, false
	}
	drift := TheilSen(end) * float64(len(end))
	if _, p, _ := MannKendall(end); p < 0.05 && math.Abs(drift) > relTol*math.Abs(last) {
		return 0, false
	}
	index = n - 2*window
	for index > 0 && near(Median(series[index-1:index-1+window])) {
		index--
	}
	if index > 0 {
		index += window / 2
	}
	return index, true
}
