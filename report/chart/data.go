package chart

import (
	"fmt"
	"math"
	"slices"
)

// Bounds on what one image holds; a note tells what they left out.
const (
	most       = 200 // limits, marks, bands, categories
	mostSeries = 100
	mostNotes  = 6
	mostPoints = 1200 // drawn of one series
	mostHits   = 150  // points of one series with values on hover

	mostDescribed = 20 // series told in words
)

// sample is a point with its values projected into the axes' domains: infinite
// beyond an edge, and NaN where there is a gap.
type sample struct {
	i            int
	x, y, lo, hi float64
}

func (p sample) gap() bool { return math.IsNaN(p.x) || math.IsNaN(p.y) }

func (p sample) hasInterval() bool { return !math.IsNaN(p.lo) && !math.IsNaN(p.hi) }

// track is a series ready for drawing.
type track struct {
	Series
	pts  []sample
	n    int // points that are not gaps, before thinning
	ink  ink
	form form
	dash []float64
}

// data holds all tracks, the spans of their values and what had to be left out.
type data struct {
	tracks []track
	xs     scale
	y      extent

	points   int // that can be drawn
	gaps     int // between points of a series
	unpaired int
	outside  int // left of or right of a prescribed x range
	thinned  int // points of the series that were thinned
}

// collect reads the series: for the span of x, for the span of the y that can
// then be seen, and to thin them.
func collect(c Chart) data {
	d := data{}
	d.scaleX(c)
	yk := kindOf(c.Y)
	budget := max(40, min(mostPoints, 24*mostPoints/max(len(c.Series), 1)))
	colour, place := 0, 0
	for _, s := range c.Series {
		t := track{Series: s}
		n := min(len(s.X), len(s.Y))
		d.unpaired += max(len(s.X), len(s.Y)) - n
		at := func(i int) sample { return s.sample(i, d.xs, yk) }
		inner := 0 // gaps since the last point: seen only when another point follows
		for i := range n {
			p := at(i)
			switch {
			case !p.gap():
				d.gaps, inner = d.gaps+inner, 0
				t.n++
				d.span(p)
			case math.IsNaN(d.xs.kind.project(s.X[i])) || math.IsNaN(yk.project(s.Y[i])):
				if t.n > 0 {
					inner++
				}
			default:
				d.outside++
			}
		}
		for _, i := range thin(n, budget, at) {
			t.pts = append(t.pts, at(i))
		}
		if len(t.pts) < n {
			d.thinned += n
		}
		d.points += t.n
		colour, place = t.look(colour, place)
		d.tracks = append(d.tracks, t)
	}
	return d
}

// scaleX finds the x axis: bars and categories need half a step on both sides.
func (d *data) scaleX(c Chart) {
	k, e, below := kindOf(c.X), extent{}, 0.0
	bars := []float64{}
	for _, s := range c.Series {
		for i := range min(len(s.X), len(s.Y)) {
			x := k.project(s.X[i])
			if math.IsNaN(x) || math.IsNaN(s.Y[i]) || math.IsInf(x, 0) {
				continue
			}
			e.add(x)
			if x < 1 {
				below = max(below, x)
			}
			if s.Style == Bars {
				bars = append(bars, x)
			}
		}
	}
	ax := c.X
	switch n := len(c.X.Categories); {
	case n > 0 && k == linear:
		lo, hi := -0.5, float64(n)-0.5
		ax.Min, ax.Max = &lo, &hi
	case len(bars) > 0 && k == linear:
		half := leastGap(bars) / 2
		e.add(e.lo - half)
		e.add(e.hi + half)
	}
	d.xs = xScale(ax, e).reach(below)
}

// leastGap is the smallest distance between different values, 1 if there is none.
func leastGap(v []float64) float64 {
	slices.Sort(v)
	least := math.Inf(1)
	for i := 1; i < len(v); i++ {
		if gap := v[i] - v[i-1]; gap > 0 {
			least = min(least, gap)
		}
	}
	if math.IsInf(least, 1) {
		return 1
	}
	return least
}

// span widens the extent of y by a point and its interval.
func (d *data) span(p sample) {
	d.y.add(p.y)
	if p.hasInterval() {
		d.y.add(p.lo)
		d.y.add(p.hi)
	}
}

// sample projects point i; what lies outside the x axis becomes a gap.
func (s Series) sample(i int, xs scale, yk kind) sample {
	p := sample{i: i, x: xs.kind.project(s.X[i]), y: yk.project(s.Y[i]), lo: math.NaN(), hi: math.NaN()}
	if !math.IsInf(p.x, 0) && !xs.holds(p.x) {
		p.x = math.NaN()
	}
	if i < len(s.Lo) && i < len(s.Hi) {
		p.lo, p.hi = yk.project(s.Lo[i]), yk.project(s.Hi[i])
		if p.lo > p.hi {
			p.lo, p.hi = p.hi, p.lo
		}
	}
	return p
}

// look gives the track its colour, marker and dash. A series beyond the
// palette's length repeats a colour with another marker and a dash.
func (t *track) look(colour, place int) (int, int) {
	t.form = form(place % int(forms))
	switch {
	case t.Role == Reference:
		t.ink, t.dash = reference, []float64{6, 4}
		return colour, place
	case t.Color >= 1 && t.Color <= Colors:
		t.ink = first + ink(t.Color-1)
	default:
		t.ink = first + ink(colour%Colors)
		if colour >= Colors {
			t.dash = []float64{9, 3, 2, 3}
		}
		colour++
	}
	if t.Dash {
		t.dash = []float64{6, 4}
	}
	if t.dash == nil && t.Role != Fitted && !t.hasMarkers() { // tell dense lines apart without colour
		t.dash = dense(place)
	}
	return colour, place + 1
}

// dense is the dash of the series at a place when its points have no markers.
func dense(place int) []float64 {
	dashes := [...][]float64{nil, {8, 2.5}, {3, 2}, {10, 2.5, 2.5, 2.5}, {5, 2.5}, {1.5, 2}}
	return dashes[place%len(dashes)]
}

// thin chooses at most about budget of n points: of each stretch the first, the
// last, the lowest, the highest and a gap.
func thin(n, budget int, at func(int) sample) []int {
	out := make([]int, 0, min(n, budget))
	if n <= budget {
		for i := range n {
			out = append(out, i)
		}
		return out
	}
	size := (n*5 + budget - 1) / budget
	for from := 0; from < n; from += size {
		out = append(out, notable(from, min(from+size, n), at)...)
	}
	return out
}

// notable returns the points of [from, to) to keep, in order.
func notable(from, to int, at func(int) sample) []int {
	low, high, gap := -1, -1, -1
	var lowest, highest float64
	for i := from; i < to; i++ {
		p := at(i)
		if p.gap() {
			gap = i
			continue
		}
		lo, hi := p.y, p.y
		if p.hasInterval() {
			lo, hi = min(lo, p.lo), max(hi, p.hi)
		}
		if low < 0 || lo < lowest {
			low, lowest = i, lo
		}
		if high < 0 || hi > highest {
			high, highest = i, hi
		}
	}
	keep := []int{from, to - 1}
	for _, i := range []int{low, high, gap} {
		if i >= 0 {
			keep = append(keep, i)
		}
	}
	slices.Sort(keep)
	return slices.Compact(keep)
}

// notes tells what the image cannot show; edged is the number of points that
// are marked at an edge.
func (d data) notes(edged int) []string {
	var out []string
	add := func(n int, one, many string) {
		switch {
		case n == 1:
			out = append(out, one)
		case n > 1:
			out = append(out, fmt.Sprintf(many, n))
		}
	}
	add(edged, "1 point beyond the axis is marked by a triangle at the edge.",
		"%d points beyond the axis are marked by triangles at the edge.")
	add(d.gaps, "1 point without a value is a gap.", "%d points without a value are gaps.")
	add(d.unpaired, "1 value without a partner on the other axis is left out.",
		"%d values without a partner on the other axis are left out.")
	add(d.outside, "1 point outside the shown range of x is left out.",
		"%d points outside the shown range of x are left out.")
	add(d.thinned, "", "Thinned from %d points: each stretch keeps its lowest and highest.")
	return out
}
