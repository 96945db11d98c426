package stats

import (
	"math"
	"sort"
)

// Quantile returns the nearest-rank quantile of sorted: its smallest element
// that at least the share q does not exceed. ok is false for no samples or q
// outside [0, 1].
func Quantile(sorted []float64, q float64) (x float64, ok bool) {
	if len(sorted) == 0 || !(q >= 0 && q <= 1) {
		return 0, false
	}
	n := float64(len(sorted))
	rank := int(math.Ceil(q * n * (1 - 1e-15))) // 0.9999 of 10,000 is 9,999 in spite of rounding
	return sorted[min(max(rank, 1), len(sorted))-1], true
}

// QuantileInterval returns a two-sided confidence interval for the q-quantile of
// the population that the independent samples in sorted come from. Its ends are
// samples, so nothing is assumed about the distribution. ok is false when there
// are too few samples for an end, see MinSamples.
func QuantileInterval(sorted []float64, q, confidence float64) (lo, hi float64, ok bool) {
	l, u, ok := QuantileRanks(int64(len(sorted)), q, confidence)
	if !ok {
		return 0, 0, false
	}
	return sorted[l-1], sorted[u-1], true
}

// QuantileRanks returns the ranks, from 1 to n, of the order statistics that
// bound the q-quantile with at least the confidence asked, at most half of the
// rest on each side: x(lo) <= quantile <= x(hi). With dependent samples give the
// effective number as n and read the quantiles lo/n and hi/n of the data. ok is
// false when n is too small or an argument is out of range.
//
// The number of samples below the quantile is binomial (David and Nagaraja,
// Order Statistics, 2003, 7.1).
func QuantileRanks(n int64, q, confidence float64) (lo, hi int64, ok bool) {
	if n < 1 || !(q > 0 && q < 1) || !(confidence > 0 && confidence < 1) {
		return 0, 0, false
	}
	lo, hi = quantileRanks(n, q, confidence)
	if lo < 1 || hi > n || hi < lo {
		return 0, 0, false
	}
	return lo, hi, true
}

// quantileRanks returns the largest l with P(B <= l-1) at most half of what the confidence leaves, and the smallest u with
// P(B >= u) at most as much, for B ~ Binomial(n, q). Both may be out of [1, n].
func quantileRanks(n int64, q, confidence float64) (lo, hi int64) {
	tail := (1 - confidence) / 2
	lo = search(n, func(k int64) bool { return binomialCDF(k, n, q) > tail })
	hi = search(n, func(k int64) bool { return binomialCDF(n-k, n, 1-q) <= tail })
	return lo, hi
}

// EffectiveRanks returns the shares of n dependent samples, which do as nEff independent ones, that bound the q-quantile as
// QuantileRanks does: read the quantiles lo and hi of the data. Ends that nEff is too small for are not known.
func EffectiveRanks(nEff, q, confidence float64) (lo, hi float64, loKnown, hiKnown bool) {
	n := int64(nEff)
	if n < 1 || !(q > 0 && q < 1) || !(confidence > 0 && confidence < 1) {
		return 0, 0, false, false
	}
	l, u := quantileRanks(n, q, confidence)
	return float64(l) / float64(n), float64(u) / float64(n), l >= 1, u <= n
}

// search returns the smallest k in [0, n] for which f, which turns from false
// to true once, is true; n+1 when none is.
func search(n int64, f func(int64) bool) int64 {
	return int64(sort.Search(int(n+1), func(k int) bool { return f(int64(k)) }))
}

// binomialCDF returns P(B <= k) for B ~ Binomial(n, p).
func binomialCDF(k, n int64, p float64) float64 {
	if k < 0 {
		return 0
	}
	if k >= n {
		return 1
	}
	return BetaCDF(1-p, float64(n-k), float64(k+1))
}

// MinSamples returns how many independent samples an order-statistic interval
// for the q-quantile needs at least: with sided 1 for an upper bound alone, with
// sided 2 for both ends. It is math.MaxInt when an argument is out of range, as
// no number is enough then.
func MinSamples(q, confidence float64, sided int) int {
	if !(q > 0 && q < 1) || !(confidence > 0 && confidence < 1) || sided != 1 && sided != 2 {
		return math.MaxInt
	}
	far := q
	if sided == 2 {
		far = max(q, 1-q)
	}
	n := math.Ceil(math.Log((1-confidence)/float64(sided))/math.Log(far) - 1e-9)
	if n >= math.MaxInt {
		return math.MaxInt
	}
	return max(int(n), 1)
}
