package stats

import (
	"cmp"
	"math"
	"slices"
)

// A Change is how much larger the values of one group are than those of another, in proportion: 0.1 is 10 % larger.
type Change struct {
	By     float64 // ratio of the geometric means, less 1
	Lo, Hi float64 // one-sided bounds, each with the confidence that was asked for
	Larger float64 // p-value against "not larger", one-sided
	Less   float64 // p-value against "not smaller", one-sided
}

// Compare says how now differs from base, both positive values of independent runs, by Welch's t test (Biometrika 34, 1947)
// on their logarithms, since times scatter in proportion. What it assumes to be no scatter is never finer than 0.1 %. ok is
// false with fewer than two values in a group, a value that is not positive and finite, or a confidence outside (0.5, 1).
func Compare(base, now []float64, confidence float64) (c Change, ok bool) {
	bad := func(v float64) bool { return !(v > 0) || math.IsInf(v, 0) }
	if len(base) < 2 || len(now) < 2 || slices.ContainsFunc(base, bad) || slices.ContainsFunc(now, bad) || !(confidence > 0.5 && confidence < 1) {
		return Change{}, false
	}
	a, b := logs(base), logs(now)
	na, nb := float64(len(a)), float64(len(b))
	const finest = 1e-3
	va, vb := max(square(StdDev(a)), finest*finest)/na, max(square(StdDev(b)), finest*finest)/nb
	se := math.Sqrt(va + vb)
	df := square(va+vb) / (va*va/(na-1) + vb*vb/(nb-1))
	d := Mean(b) - Mean(a)
	half := TQuantile(confidence, df) * se
	return Change{math.Expm1(d), math.Expm1(d - half), math.Expm1(d + half), TCDF(-d/se, df), TCDF(d/se, df)}, true
}

func square(x float64) float64 { return x * x }

// Holm tells which of several hypotheses are refuted, at a level for all of them together, by their p-values
// (Holm, Scandinavian Journal of Statistics 6, 1979).
func Holm(p []float64, level float64) []bool {
	p = slices.Clone(p)
	for i, v := range p {
		if math.IsNaN(v) { // says nothing against it
			p[i] = 1
		}
	}
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(p[i], p[j]) })
	refuted := make([]bool, len(p))
	for k, i := range order {
		if !(p[i] <= level/float64(len(p)-k)) {
			break
		}
		refuted[i] = true
	}
	return refuted
}
