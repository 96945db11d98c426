package stats

import (
	"math"
	"slices"
)

// Mean returns the arithmetic mean; NaN without samples.
func Mean(x []float64) float64 {
	var sum float64
	for _, v := range x {
		sum += v
	}
	return sum / float64(len(x))
}

// StdDev returns the standard deviation of the population that x is a sample
// of (divisor n-1); NaN with fewer than two samples.
func StdDev(x []float64) float64 {
	if len(x) < 2 {
		return math.NaN()
	}
	mean := Mean(x)
	var square float64
	for _, v := range x {
		square += (v - mean) * (v - mean)
	}
	return math.Sqrt(square / float64(len(x)-1))
}

// CoV returns the coefficient of variation, standard deviation over the mean's
// size; NaN with fewer than two samples, infinite around a mean of 0.
func CoV(x []float64) float64 { return StdDev(x) / math.Abs(Mean(x)) }

// Median returns the middle sample, or the mean of the middle two; NaN without
// samples.
func Median(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(x))
	mid := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[mid]
	}
	return sorted[mid-1]/2 + sorted[mid]/2
}

// MAD returns the median of the distances from the median, not scaled: times
// 1.4826 it estimates the standard deviation of a normal. NaN without samples.
func MAD(x []float64) float64 {
	median := Median(x)
	distances := make([]float64, len(x))
	for i, v := range x {
		distances[i] = math.Abs(v - median)
	}
	return Median(distances)
}

// MedianInterval returns a two-sided interval for the median of the population
// of x by order statistics. ok is false with too few samples (6 for 0.95).
func MedianInterval(x []float64, confidence float64) (lo, hi float64, ok bool) {
	return QuantileInterval(slices.Sorted(slices.Values(x)), 0.5, confidence)
}

// TInterval returns the mean with its two-sided interval by Student's t. It
// takes x to be independent and roughly normal, as means and log ratios of runs
// are. For a bound on one side only, at level c, ask for confidence 2c-1. ok is
// false with fewer than two samples or a confidence outside (0, 1).
func TInterval(x []float64, confidence float64) (mean, lo, hi float64, ok bool) {
	if len(x) < 2 || !(confidence > 0 && confidence < 1) {
		return 0, 0, 0, false
	}
	mean = Mean(x)
	n := float64(len(x))
	half := TQuantile(1-(1-confidence)/2, n-1) * StdDev(x) / math.Sqrt(n)
	return mean, mean - half, mean + half, true
}
