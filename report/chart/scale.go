package chart

import "math"

// huge bounds what counts as finite: beyond it, differences could overflow.
const huge = 1e300

// tiny is the smallest span that is taken as a range and not as one value.
const tiny = 1e-290

type kind int

const (
	linear kind = iota
	logarithmic
	quantile
)

func kindOf(ax Axis) kind {
	switch {
	case ax.Unit == Quantile:
		return quantile
	case ax.Log:
		return logarithmic
	}
	return linear
}

// project brings a value into the axis's domain: NaN has no place on it, an
// infinity lies beyond an edge.
func (k kind) project(v float64) float64 {
	switch {
	case math.IsNaN(v):
		return v
	case k == quantile && (v < 0 || v > 1):
		return math.NaN()
	case k == logarithmic && v <= 0, v < -huge:
		return math.Inf(-1)
	case v > huge:
		return math.Inf(1)
	}
	return v
}

// transform maps to the space in which the axis is even.
func (k kind) transform(v float64) float64 {
	switch k {
	case logarithmic:
		return math.Log10(v)
	case quantile:
		return -math.Log10(1 - v)
	}
	return v
}

// extent is the span of the finite values seen.
type extent struct {
	lo, hi float64
	any    bool
}

func (e *extent) add(v float64) {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return
	}
	if !e.any {
		e.lo, e.hi, e.any = v, v, true
		return
	}
	e.lo, e.hi = min(e.lo, v), max(e.hi, v)
}

// scale maps values to fractions of the axis's length.
type scale struct {
	kind   kind
	unit   Unit
	lo, hi float64
	a, b   float64 // lo and hi transformed
	top    bool    // the far end stands for quantile 1
}

// at gives the place of v from 0 to 1, and -1 or +1 if it lies beyond that edge.
func (s scale) at(v float64) (float64, int) {
	if s.top && v == 1 {
		return 1, 0
	}
	f := (s.kind.transform(v) - s.a) / (s.b - s.a)
	switch {
	case math.IsNaN(f):
		return 0, -1
	case f < -1e-9:
		return 0, -1
	case f > 1+1e-9:
		return 1, 1
	}
	return min(max(f, 0), 1), 0
}

func (s scale) holds(v float64) bool {
	_, edge := s.at(v)
	return edge == 0
}

func newScale(k kind, u Unit, lo, hi float64) scale {
	return scale{kind: k, unit: u, lo: lo, hi: hi, a: k.transform(lo), b: k.transform(hi)}
}

// xScale spans the data, from zero if they begin near it.
func xScale(ax Axis, e extent) scale {
	k := kindOf(ax)
	switch k {
	case quantile:
		return quantileScale(ax, e)
	case logarithmic:
		lo, hi := logRange(e)
		lo, hi = fixed(ax, k, lo, hi)
		return newScale(k, ax.Unit, lo, hi)
	}
	lo, hi := e.lo, e.hi
	if lo > 0 && lo <= hi/4 {
		lo = 0
	}
	if !apart(lo, hi) {
		lo, hi = widen(lo, hi, unitSpan(ax.Unit, second))
	}
	lo, hi = fixed(ax, k, lo, hi)
	return newScale(k, ax.Unit, lo, hi)
}

// yScale spans zero and the data, and ends on ticks.
func yScale(ax Axis, e extent, target int) scale {
	k := kindOf(ax)
	switch k {
	case quantile:
		return quantileScale(ax, e)
	case logarithmic:
		lo, hi := logRange(e)
		lo, hi = fixed(ax, k, floor125(lo), ceil125(hi))
		return newScale(k, ax.Unit, lo, hi)
	}
	lo, hi := min(e.lo, 0), max(e.hi, 0)
	if !apart(lo, hi) {
		lo, hi = 0, unitSpan(ax.Unit, millisecond)
	}
	step := niceStep(ax.Unit, hi-lo, target)
	lo, hi = step*math.Floor(lo/step+1e-9), step*math.Ceil(hi/step-1e-9)
	lo, hi = fixed(ax, k, lo, hi)
	return newScale(k, ax.Unit, lo, hi)
}

// quantileScale keeps room at the far end for quantile 1, if the data hold it.
func quantileScale(ax Axis, e extent) scale {
	lo, hi, top := e.lo, e.hi, e.any && e.hi == 1
	if !e.any {
		lo, hi = 0, 0.9
	}
	if top {
		hi = max(lo, 0.9)
		if lo == 1 {
			lo, hi = 0, 0.9
		}
	}
	if !(lo < hi) {
		lo, hi = 0, max(hi, 0.9)
	}
	lo, hi = fixed(ax, quantile, lo, hi)
	s := newScale(quantile, ax.Unit, lo, hi)
	s.top = top
	return s
}

// reach stretches a quantile scale with a far end to the largest quantile below 1.
func (s scale) reach(largest float64) scale {
	if !s.top {
		return s
	}
	s.b = max(s.b, quantile.transform(largest))
	s.b += max(0.25, 0.07*(s.b-s.a))
	return s
}

// logRange spans the data, and a decade at least around a single value.
func logRange(e extent) (lo, hi float64) {
	if !e.any {
		return 1, 10
	}
	lo, hi = max(e.lo, tiny), max(e.hi, tiny)
	if math.Log10(hi)-math.Log10(lo) < 1e-6 {
		return lo / math.Sqrt(10), hi * math.Sqrt(10)
	}
	return lo, hi
}

// fixed applies the ends that the axis prescribes, if they make a range.
func fixed(ax Axis, k kind, lo, hi float64) (float64, float64) {
	a, b := lo, hi
	if ax.Min != nil {
		a = *ax.Min
	}
	if ax.Max != nil {
		b = *ax.Max
	}
	if k.project(a) != a || k.project(b) != b || !apart(k.transform(a), k.transform(b)) {
		return lo, hi
	}
	if math.IsInf(a, 0) || math.IsInf(b, 0) || math.IsInf(k.transform(b), 0) {
		return lo, hi
	}
	return a, b
}

// apart says whether lo and hi are far enough from each other for an axis.
func apart(lo, hi float64) bool {
	return hi-lo > max(tiny, 1e-12*max(math.Abs(lo), math.Abs(hi)))
}

// widen makes a range around what is nearly one value.
func widen(lo, hi, span float64) (float64, float64) {
	if max(math.Abs(lo), math.Abs(hi)) < tiny {
		return 0, span
	}
	return lo - math.Abs(lo)/2, hi + math.Abs(hi)/2
}

// unitSpan is the length of an axis on which all values are zero.
func unitSpan(u Unit, duration float64) float64 {
	switch u {
	case Duration:
		return duration
	case Percent:
		return 0.01
	case Bytes:
		return kib
	}
	return 1
}
