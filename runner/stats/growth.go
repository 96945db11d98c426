package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"
)

// Line is a straight line through points, with what is known of it.
type Line struct {
	Slope, SlopeLo, SlopeHi float64
	Intercept               float64
	R2                      float64 // share of y's variance that the line explains; at most 1
	Points                  int
}

// FitLine fits y = Intercept + Slope·x by least squares, with a two-sided t
// interval for the slope. ok is false with fewer than three points, x all the
// same, a value that is not finite, or a confidence outside (0, 1).
func FitLine(x, y []float64, confidence float64) (line Line, ok bool) {
	if !points(x, y, 3) || !(confidence > 0 && confidence < 1) {
		return Line{}, false
	}
	return fit(x, y, nil, confidence)
}

// points reports whether x and y are at least n pairs of finite numbers.
func points(x, y []float64, n int) bool {
	if len(x) != len(y) || len(x) < n {
		return false
	}
	notFinite := func(v float64) bool { return math.IsNaN(v) || math.IsInf(v, 0) }
	return !slices.ContainsFunc(x, notFinite) && !slices.ContainsFunc(y, notFinite)
}

// fit is weighted least squares; without weights all are 1.
func fit(x, y, weight []float64, confidence float64) (line Line, ok bool) {
	w := func(i int) float64 {
		if weight == nil {
			return 1
		}
		return weight[i]
	}
	var sw, mx, my float64
	for i := range x {
		sw += w(i)
		mx += w(i) * x[i]
		my += w(i) * y[i]
	}
	mx, my = mx/sw, my/sw
	var sxx, sxy float64
	for i := range x {
		sxx += w(i) * (x[i] - mx) * (x[i] - mx)
		sxy += w(i) * (x[i] - mx) * (y[i] - my)
	}
	if !(sxx > 0) {
		return Line{}, false
	}
	slope := sxy / sxx
	line = Line{Slope: slope, Intercept: my - slope*mx, Points: len(x)}
	half := slopeHalfWidth(x, y, w, line, sxx, 2, confidence)
	line.SlopeLo, line.SlopeHi = slope-half, slope+half
	line.R2 = explained(x, y, line)
	return line, true
}

// fitOrigin is fit with an intercept of 0.
func fitOrigin(x, y, weight []float64, confidence float64) Line {
	var sxx, sxy float64
	for i := range x {
		sxx += weight[i] * x[i] * x[i]
		sxy += weight[i] * x[i] * y[i]
	}
	line := Line{Slope: sxy / sxx, Points: len(x)}
	half := slopeHalfWidth(x, y, func(i int) float64 { return weight[i] }, line, sxx, 1, confidence)
	line.SlopeLo, line.SlopeHi = line.Slope-half, line.Slope+half
	line.R2 = explained(x, y, line)
	return line
}

func slopeHalfWidth(x, y []float64, w func(int) float64, line Line, sxx, parameters, confidence float64) float64 {
	var rss float64
	for i := range x {
		r := y[i] - line.Intercept - line.Slope*x[i]
		rss += w(i) * r * r
	}
	df := float64(len(x)) - parameters
	return TQuantile(1-(1-confidence)/2, df) * math.Sqrt(rss/df/sxx)
}

func explained(x, y []float64, line Line) float64 {
	mean := Mean(y)
	var rss, tss float64
	for i := range x {
		r := y[i] - line.Intercept - line.Slope*x[i]
		rss += r * r
		tss += (y[i] - mean) * (y[i] - mean)
	}
	if tss == 0 {
		return 0 // nothing to explain
	}
	return 1 - rss/tss
}

// Class is how a cost grows with the size n of its input. A greater class grows
// faster.
type Class int

const (
	Constant     Class = iota // the same for every n
	Logarithmic               // ln n
	Linear                    // n
	Linearithmic              // n ln n
	Quadratic                 // n²
	Cubic                     // n³
)

var classNames = [...]string{"constant", "logarithmic", "linear", "linearithmic", "quadratic", "cubic"}

// String returns the word that plans use, as in "growth <= linear".
func (c Class) String() string {
	if c < 0 || int(c) >= len(classNames) {
		return fmt.Sprintf("Class(%d)", int(c))
	}
	return classNames[c]
}

// ParseClass is the inverse of String.
func ParseClass(name string) (Class, error) {
	for i, n := range classNames {
		if n == name {
			return Class(i), nil
		}
	}
	return 0, fmt.Errorf("got growth class %q, want one of %q", name, classNames)
}

func (c Class) of(n float64) float64 {
	switch c {
	case Logarithmic:
		return math.Log(n)
	case Linear:
		return n
	case Linearithmic:
		return n * math.Log(n)
	case Quadratic:
		return n * n
	case Cubic:
		return n * n * n
	default:
		return 0
	}
}

// Candidate is one class fitted to the points: y = Intercept + Slope·f(n), with
// f as the class says. For Constant the slope is 0.
type Candidate struct {
	Class Class
	Line
	Error  float64 // root mean square of the relative residuals
	AICc   float64
	Weight float64 // Akaike weight: the evidence for this class among all, 0 to 1
}

// At is what the fit says for a size.
func (c Candidate) At(n float64) float64 { return c.Intercept + c.Slope*c.Class.of(n) }

// Growth is what points say about growth.
type Growth struct {
	Candidate              // the best class
	Lo, Hi     Class       // slowest and fastest class that the points do not speak against
	Candidates []Candidate // all, from constant to cubic
	Misfit     float64     // how far the sizes are off the best class: relative, root mean square
	Misses     bool        // that is more than the scatter explains: no class fits, and Lo to Hi are all

	// Slope of ln y over ln n, with its interval: 1 for y ~ n. A fixed cost
	// beside the growing one makes it smaller.
	Exponent, ExponentLo, ExponentHi float64
}

const (
	minGrowthPoints = 5    // AICc of two coefficients and a variance needs that many
	modelError      = 2e-3 // relative; finer than that no class is told from another
	weakEvidence    = 0.05 // Akaike weight below which a class is ruled out
	wrongClass      = 0.05 // relative: sizes further off the best class, on the average, may be of none
	clearMisfit     = 6    // F ratio of lack of fit over scatter; with 2 and 5 degrees of freedom 5.8 is the 95 % point, with 8 and 20 far beyond the 99.9 % one
)

// Fit finds which class the cost y grows by over the sizes n. Slopes are not
// negative. Points are weighted by 1/y², as the noise of
// a duration is in proportion to it, and residuals below 0.2 % are not taken as
// evidence. Classes compare by AICc (Hurvich and Tsai 1989) and Akaike weights
// (Burnham and Anderson 2002); slopes have two-sided t intervals. Weights only rank
// the classes: where even the best is off by more than the scatter of the points
// of one size explains (an F ratio of lack of fit), none is ruled out.
//
// Say "growth is at most C" when Hi <= C, "growth is above C" when Lo > C, and
// that the sizes do not tell otherwise. ok is false with fewer than five points or
// three sizes, sizes below 1, costs that are not above 0, or a value that is not
// finite.
func Fit(n, y []float64, confidence float64) (g Growth, ok bool) {
	if !points(n, y, minGrowthPoints) || !(confidence > 0 && confidence < 1) || slices.Min(n) < 1 || slices.Min(y) <= 0 ||
		len(slices.Compact(slices.Sorted(slices.Values(n)))) < 3 {
		return Growth{}, false
	}
	weight := make([]float64, len(y))
	for i, v := range y {
		weight[i] = 1 / v / v
	}
	for c := range Class(len(classNames)) {
		g.Candidates = append(g.Candidates, candidate(c, n, y, weight, confidence))
	}
	best := slices.MinFunc(g.Candidates, func(a, b Candidate) int { return cmp.Compare(a.AICc, b.AICc) }).AICc
	var sum float64
	for _, c := range g.Candidates {
		sum += math.Exp((best - c.AICc) / 2)
	}
	g.Lo = Class(len(classNames))
	for i := range g.Candidates {
		c := &g.Candidates[i]
		c.Weight = math.Exp((best-c.AICc)/2) / sum
		if c.Weight >= weakEvidence {
			g.Lo, g.Hi = min(g.Lo, c.Class), c.Class
		}
		if c.AICc == best && g.Candidate.Points == 0 { // of equals the slowest
			g.Candidate = *c
		}
	}
	if g.Misfit, g.Misses = misfit(g.Candidate, n, y); g.Misses {
		g.Lo, g.Hi = Constant, Cubic
	}
	line, ok := fit(logs(n), logs(y), nil, confidence)
	g.Exponent, g.ExponentLo, g.ExponentHi = line.Slope, line.SlopeLo, line.SlopeHi
	return g, ok
}

// candidate fits a class. Costs that grow from nothing need no intercept, which is one coefficient less to pay for; a
// negative one is what a program has whose small inputs are cheaper than in proportion, for caches and predicted branches.
func candidate(class Class, n, y, weight []float64, confidence float64) Candidate {
	f := make([]float64, len(n))
	for i, size := range n {
		f[i] = class.of(size)
	}
	line, ok := fit(f, y, weight, confidence)
	if class == Constant || !ok || line.Slope < 0 {
		return rated(Candidate{Class: class, Line: flat(y, weight)}, f, y, map[bool]float64{true: 2, false: 3}[class == Constant])
	}
	c := rated(Candidate{Class: class, Line: line}, f, y, 3) // intercept, slope, variance
	if line.Intercept < 0 {
		if o := rated(Candidate{Class: class, Line: fitOrigin(f, y, weight, confidence)}, f, y, 2); o.AICc <= c.AICc {
			return o
		}
	}
	return c
}

// rated adds how well the line of a candidate fits, with so many parameters.
func rated(c Candidate, f, y []float64, parameters float64) Candidate {
	var square float64
	for i := range y {
		r := (y[i] - c.Intercept - c.Slope*f[i]) / y[i]
		square += r * r
	}
	points := float64(len(y))
	c.Error = math.Sqrt(square / points)
	variance := square/points + modelError*modelError
	c.AICc = points*math.Log(variance) + 2*parameters + 2*parameters*(parameters+1)/(points-parameters-1)
	return c
}

// misfit is how far the means of the sizes are off the best class, relative, root mean square; and whether that is more
// than the scatter of the points at one size explains: then none of the classes is the truth.
func misfit(c Candidate, n, y []float64) (off float64, misses bool) {
	at := map[float64][]float64{}
	for i, size := range n {
		at[size] = append(at[size], y[i])
	}
	var scatter, square, lack float64
	for size, all := range at {
		mean := Mean(all)
		for _, v := range all {
			scatter += (v - mean) * (v - mean) / mean / mean
		}
		r := (c.Intercept + c.Slope*c.Class.of(size) - mean) / mean
		square += r * r
		lack += float64(len(all)) * r * r
	}
	off = math.Sqrt(square / float64(len(at)))
	inner, outer := float64(len(y)-len(at)), float64(len(at)-2)
	if inner < 1 || outer < 1 { // a point for each size: nothing tells scatter from misfit
		return off, false
	}
	return off, off > wrongClass && lack/outer > clearMisfit*(scatter/inner+modelError*modelError)
}

// flat is the weighted mean.
func flat(y, weight []float64) Line {
	var sw, swy float64
	for i := range y {
		sw += weight[i]
		swy += weight[i] * y[i]
	}
	return Line{Intercept: swy / sw, Points: len(y)}
}

func logs(v []float64) []float64 {
	l := make([]float64, len(v))
	for i, x := range v {
		l[i] = math.Log(x)
	}
	return l
}
