package chart

import (
	"math"
	"slices"
)

const (
	fewPoints   = 40 // up to here every point has its marker
	fewWhiskers = 80 // beyond, intervals become a ribbon
	widestBar   = 64.0
	lineWidth   = 2.0
	manyPoints  = 300 // beyond, lines are fine
	fineWidth   = 1.2
)

// spot is a sample in the image, with the edges it lies beyond.
type spot struct {
	xy
	ex, ey int
}

func (p *page) spot(x, y float64) spot {
	fx, ex := p.d.xs.at(x)
	fy, ey := p.ys.at(y)
	return spot{xy{p.plot.x + fx*p.plot.w, p.plot.bottom() - fy*p.plot.h}, ex, ey}
}

// runs cuts a track at its gaps.
func (p *page) runs(t track) [][]sample {
	var out [][]sample
	var run []sample
	for _, s := range t.pts {
		if !s.gap() {
			run = append(run, s)
			continue
		}
		if len(run) > 0 {
			out = append(out, run)
		}
		run = nil
	}
	if len(run) > 0 {
		out = append(out, run)
	}
	return out
}

// track draws one series into a layer of its own.
func (p *page) track(i int) {
	t := p.d.tracks[i]
	l := layer{class: "series", name: seriesName(t.Series, i)}
	if t.Style == Bars {
		p.bars(&l, i)
		p.layers = append(p.layers, l)
		return
	}
	runs := p.runs(t)
	p.intervals(&l, t, runs)
	for _, run := range runs {
		p.run(&l, t, run)
	}
	p.layers = append(p.layers, l)
}

// run draws the points between two gaps.
func (p *page) run(l *layer, t track, run []sample) {
	pts := make([]xy, 0, len(run))
	var clipped []shape
	for _, s := range run {
		at := p.spot(s.x, s.y)
		if t.Style == Steps && len(pts) > 0 {
			pts = append(pts, xy{at.x, pts[len(pts)-1].y})
		}
		pts = append(pts, at.xy)
		if f, ok := at.edge(); ok {
			clipped = append(clipped, symbol{form: f, at: at.xy, ink: t.ink, hollow: true})
		}
	}
	p.trails = append(p.trails, pts)
	switch {
	case t.Style == Points && t.n > fewPoints:
		l.add(cloud{pts: pts, ink: t.ink})
	case t.Style != Points && len(pts) > 1:
		l.add(stroke{pts: pts, ink: t.ink, width: t.width(), dash: t.dash})
	}
	for _, s := range p.marked(t, run) {
		if at := p.spot(s.x, s.y); at.ex == 0 && at.ey == 0 {
			l.add(symbol{form: t.form, at: at.xy, ink: t.ink})
		}
	}
	l.add(clipped...)
}

// beyond counts the points of all series that lie beyond an edge, before thinning.
func (p *page) beyond() int {
	n := 0
	for _, t := range p.d.tracks {
		for i := range min(len(t.X), len(t.Y)) {
			s := t.sample(i, p.d.xs, p.ys.kind)
			if _, ok := p.spot(s.x, s.y).edge(); ok && !s.gap() {
				n++
			}
		}
	}
	return n
}

// edge is the marker for a spot beyond an edge of the plot.
func (s spot) edge() (form, bool) {
	switch {
	case s.ey > 0:
		return up, true
	case s.ey < 0:
		return down, true
	case s.ex > 0:
		return right, true
	case s.ex < 0:
		return left, true
	}
	return disc, false
}

func (t track) width() float64 {
	if t.n > manyPoints {
		return fineWidth
	}
	return lineWidth
}

// hasMarkers says whether the points of a track are marked, and not only those
// that stand alone between gaps.
func (t track) hasMarkers() bool {
	return t.Style == Points || t.n <= fewPoints && t.Role == Data
}

// marked chooses the points of a run that get a marker.
func (p *page) marked(t track, run []sample) []sample {
	switch {
	case t.Style == Points && t.n > fewPoints:
		return nil
	case len(run) == 1 || t.hasMarkers():
		return run
	}
	return nil
}

// intervals draws whiskers or a ribbon.
func (p *page) intervals(l *layer, t track, runs [][]sample) {
	ribbon := t.Interval == Ribbon || t.n > fewWhiskers
	for _, run := range runs {
		var top, bottom []xy
		flush := func() {
			if len(top) > 1 {
				slices.Reverse(bottom)
				l.add(area{pts: append(top, bottom...), ink: t.ink})
			}
			top, bottom = nil, nil
		}
		for _, s := range run {
			if !s.hasInterval() {
				flush()
				continue
			}
			lo, hi := p.spot(s.x, s.lo), p.spot(s.x, s.hi)
			if ribbon {
				top, bottom = append(top, hi.xy), append(bottom, lo.xy)
				continue
			}
			l.add(whisker(lo, hi, t.ink)...)
		}
		flush()
	}
}

// whisker is a vertical line with a cap at each end that is inside the plot.
func whisker(lo, hi spot, c ink) []shape {
	out := []shape{stroke{pts: []xy{lo.xy, hi.xy}, ink: c, width: 1.2}}
	for _, e := range []spot{lo, hi} {
		if e.ey == 0 {
			out = append(out, stroke{pts: []xy{{e.x - 4, e.y}, {e.x + 4, e.y}}, ink: c, width: 1.2})
		}
	}
	return out
}

// barPlace gives the left offset and the width of track i's bars around their x.
func (p *page) barPlace(i int) (offset, width float64) {
	var xs []float64
	row, rows := 0, 0
	for j, o := range p.d.tracks {
		if o.Style != Bars {
			continue
		}
		if j == i {
			row = rows
		}
		rows++
		for _, s := range o.pts {
			if !s.gap() {
				xs = append(xs, p.spot(s.x, s.y).x)
			}
		}
	}
	slices.Sort(xs)
	xs = slices.CompactFunc(xs, func(a, b float64) bool { return math.Abs(a-b) < 1e-6 })
	slot := p.plot.w
	for i := 1; i < len(xs); i++ {
		slot = min(slot, xs[i]-xs[i-1])
	}
	width = max(1, min(widestBar, slot*0.76/float64(rows)))
	return (float64(row) - float64(rows)/2) * width, width
}

// barRect is the bar of a sample, cut to the plot.
func (p *page) barRect(s sample, offset, width float64) rect {
	at := p.spot(s.x, s.y)
	base := p.plot.bottom()
	if f, edge := p.ys.at(0); edge == 0 && p.ys.kind == linear {
		base -= f * p.plot.h
	}
	x0 := max(p.plot.x, at.x+offset+0.5)
	x1 := min(p.plot.right(), at.x+offset+width-0.5)
	return rect{x0, min(at.y, base), max(0.5, x1-x0), math.Abs(base - at.y)}
}

// bars draws a track as bars, with their values on top where there is room.
func (p *page) bars(l *layer, i int) {
	t := p.d.tracks[i]
	offset, width := p.barPlace(i)
	for _, s := range t.pts {
		if s.gap() {
			continue
		}
		r := p.barRect(s, offset, width)
		at := p.spot(s.x, s.y)
		p.solid = append(p.solid, r)
		l.add(block{r: r, ink: t.ink})
		centre := xy{r.x + r.w/2, at.y}
		if f, ok := at.edge(); ok {
			l.add(symbol{form: f, at: centre, ink: text, hollow: true})
		}
		top := r.y
		if s.hasInterval() {
			lo, hi := p.spot(s.x, s.lo), p.spot(s.x, s.hi)
			lo.x, hi.x = centre.x, centre.x
			l.add(whisker(lo, hi, text)...)
			top = min(top, hi.y)
		}
		value := valueText(p.c.Y.Unit, s.y)
		if p.width(value, smallSize) > width*1.25 && p.d.points > 1 {
			continue
		}
		v := label{text: value, at: xy{centre.x, top - 5}, size: smallSize, anchor: middle, ink: text, halo: true}
		if v.at.y < p.plot.y+smallSize { // no room above the bar: inside
			v.at.y, v.ink, v.halo = at.y+smallSize+6, paper, false
		}
		l.add(v)
	}
}

// hits lays an invisible area over the points, with their values.
func (p *page) hits() {
	for i, t := range p.d.tracks {
		l := layer{class: "hits", name: seriesName(t.Series, i)}
		offset, width := 0.0, 0.0
		if t.Style == Bars {
			offset, width = p.barPlace(i)
		}
		budget := max(8, min(mostHits, 8*mostHits/len(p.d.tracks)))
		for _, j := range thin(len(t.pts), budget, func(j int) sample { return t.pts[j] }) {
			s := t.pts[j]
			if s.gap() {
				continue
			}
			at := p.spot(s.x, s.y)
			h := hit{r: rect{at.x - 7, at.y - 7, 14, 14}, round: true, tip: p.tip(t, i, s), x: t.X[s.i], y: t.Y[s.i]}
			if t.Style == Bars {
				h.r, h.round = p.barRect(s, offset, width), false
			}
			l.add(h)
		}
		if len(l.shapes) > 0 {
			p.layers = append(p.layers, l)
		}
	}
}

// tip tells a point's values in words.
func (p *page) tip(t track, i int, s sample) string {
	x := valueText(p.c.X.Unit, t.X[s.i])
	if n := int(t.X[s.i]); n >= 0 && n < len(p.c.X.Categories) && float64(n) == t.X[s.i] {
		x = p.c.X.Categories[n]
	}
	u := p.c.Y.Unit
	out := seriesName(t.Series, i) + " at " + x + ": " + valueText(u, t.Y[s.i])
	if s.hasInterval() {
		out += " (" + valueText(u, s.lo) + " to " + valueText(u, s.hi) + ")"
	}
	if s.i < len(t.Labels) && t.Labels[s.i] != "" {
		out += ", " + printable(t.Labels[s.i])
	}
	return out
}

// single names the value of a chart's only point.
func (p *page) single() {
	if p.d.points != 1 {
		return
	}
	for _, t := range p.d.tracks {
		i := slices.IndexFunc(t.pts, func(s sample) bool { return !s.gap() })
		if i < 0 || t.Style == Bars {
			continue
		}
		at := p.spot(t.pts[i].x, t.pts[i].y)
		l := layer{class: "single"}
		p.put(&l, "one sample: "+valueText(p.c.Y.Unit, t.Y[t.pts[i].i]), text, []xy{
			{at.x + 12, at.y + 4}, {at.x + 12, at.y + 20}, {at.x + 12, at.y - 12},
		})
		p.layers = append(p.layers, l)
	}
}
