package stats

import (
	"math"
	"slices"
)

// A ChangePoint is where the level of a series changes for good.
type ChangePoint struct {
	Index  int     // first value of the new level
	Before float64 // mean of the values since the change point before it, or the beginning
	After  float64 // mean of the values until the one behind it, or the end
	P      float64 // probability of so large a difference without a change, by Welch's t, over all places looked at
}

// Change is After ÷ Before − 1.
func (c ChangePoint) Change() float64 { return c.After/c.Before - 1 }

const (
	changeLevel = 0.01 // of P over all places of a series
	leastRun    = 4    // values on each side of a change point
)

// ChangePoints finds where the level of a series of positive values changes, by E-divisive means (Matteson and James, JASA
// 109, 2014): the place that parts the series best by the energy distance, and again in both parts. As in Hunter (Fleming,
// Kołaczkowski et al., ICPE 2023) a t test decides whether it is one, here of logarithms and with the level divided by the number of
// places, so that series without a change give next to none. Changes below magnitude, in proportion, are none. Values that
// are not positive and finite end up in no part: the caller leaves them out. It takes time quadratic in the length.
func ChangePoints(series []float64, magnitude float64) []ChangePoint {
	if slices.ContainsFunc(series, func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }) {
		return nil
	}
	x := logs(series)
	var at []int
	var part func(from, to int)
	part = func(from, to int) {
		k := bestSplit(x[from:to])
		if k < 0 || !changed(x[from:from+k], x[from+k:to], to-from) {
			return
		}
		part(from, from+k)
		at = append(at, from+k)
		part(from+k, to)
	}
	part(0, len(x))
	return confirmed(x, at, magnitude)
}

// changed tells whether two parts differ in their means, by Welch's t, at the level divided by the places looked at.
func changed(a, b []float64, places int) bool {
	_, p := welch(a, b)
	return p*float64(places) <= changeLevel
}

// confirmed leaves out the places whose neighbours differ too little, the least one first, until all are changes.
func confirmed(x []float64, at []int, magnitude float64) []ChangePoint {
	for {
		points := make([]ChangePoint, len(at))
		worst, size := -1, math.Inf(1)
		for i, k := range at {
			from, to := 0, len(x)
			if i > 0 {
				from = at[i-1]
			}
			if i+1 < len(at) {
				to = at[i+1]
			}
			d, p := welch(x[from:k], x[k:to])
			points[i] = ChangePoint{k, math.Exp(Mean(x[from:k])), math.Exp(Mean(x[k:to])), min(1, p*float64(len(x)))}
			if small := math.Abs(math.Expm1(d)); (small < magnitude || points[i].P > changeLevel) && small < size {
				worst, size = i, small
			}
		}
		if worst < 0 {
			return points
		}
		at = slices.Delete(slices.Clone(at), worst, worst+1)
	}
}

// welch is the difference of two means, and the two-sided p-value of Welch's t.
func welch(a, b []float64) (d, p float64) {
	na, nb := float64(len(a)), float64(len(b))
	const finest = 1e-3 // no figure is finer than 0.1 %
	va, vb := max(square(StdDev(a)), finest*finest)/na, max(square(StdDev(b)), finest*finest)/nb
	if na < 2 || nb < 2 {
		return Mean(b) - Mean(a), 1
	}
	d = Mean(b) - Mean(a)
	df := square(va+vb) / (va*va/(na-1) + vb*vb/(nb-1))
	return d, 2 * TCDF(-math.Abs(d)/math.Sqrt(va+vb), df)
}

// bestSplit is the place that parts x best by the energy distance of both sides, weighted by their lengths; −1 where x is too
// short. within and between are sums of |x_i − x_j| that move by one value at a time.
func bestSplit(x []float64) int {
	n := len(x)
	if n < 2*leastRun {
		return -1
	}
	// rowTo[i] is the sum of |x_i − x_j| over j < i
	rowTo := make([]float64, n)
	rowAll := make([]float64, n)
	for i := range x {
		for j := range i {
			d := math.Abs(x[i] - x[j])
			rowTo[i] += d
			rowAll[i] += d
			rowAll[j] += d
		}
	}
	total := 0.0
	for _, v := range rowTo {
		total += v
	}
	best, at := 0.0, -1
	left, across := 0.0, 0.0 // pairs within the left side, pairs across
	for k := 1; k < n; k++ {
		i := k - 1 // moves to the left
		left += rowTo[i]
		across += rowAll[i] - 2*rowTo[i]
		if k < leastRun || n-k < leastRun {
			continue
		}
		right := total - left - across
		a, b := float64(k), float64(n-k)
		energy := 2*across/(a*b) - 2*left/(a*(a-1)) - 2*right/(b*(b-1))
		if q := a * b / (a + b) * energy; q > best {
			best, at = q, k
		}
	}
	return at
}
