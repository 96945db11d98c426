package chart

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
)

const (
	swatch      = 22.0
	barSwatch   = 12.0
	bandStrip   = 18.0
	legendRow   = 20.0
	legendRows  = 4
	longestName = 260.0 // width of a name in the legend
	longestEnd  = 140.0 // width of a name beside its line
)

// named says whether the legend or labels are needed: with one series only if
// nothing else names it.
func (p *page) named() bool {
	if len(p.d.tracks) != 1 {
		return true
	}
	name := strings.ToLower(p.d.tracks[0].Name)
	around := strings.ToLower(p.c.Title + " " + p.c.Subtitle + " " + p.c.Y.Label)
	return name != "" && !strings.Contains(around, name)
}

// legend writes the series' names in rows, and returns where they end.
func (p *page) legend(l *layer, y float64) float64 {
	if !p.named() {
		return y
	}
	x, row := margin, 1
	y += legendRow - 4
	for i, t := range p.d.tracks {
		full := seriesName(t.Series, i)
		name := p.fit(full, textSize, min(longestName, p.w-2*margin-swatch-8))
		sample := swatch
		if t.Style == Bars {
			sample = barSwatch
		}
		w := sample + 6 + p.width(name, textSize)
		if x > margin && x+w > p.w-margin {
			if row == legendRows {
				l.add(label{text: fmt.Sprintf("and %d more", len(p.d.tracks)-i), at: xy{margin, y + 16}, size: smallSize, ink: muted})
				return y + 20
			}
			row++
			x, y = margin, y+legendRow
		}
		l.add(t.swatch(xy{x, y - 4})...)
		l.add(label{text: name, full: full, at: xy{x + sample + 6, y}, size: textSize, ink: text})
		x += w + 18
	}
	return y + 6
}

// swatch is a sample of the track's look, from at to the right.
func (t track) swatch(at xy) []shape {
	if t.Style == Bars {
		return []shape{block{r: rect{at.x, at.y - 6, barSwatch, barSwatch}, ink: t.ink}}
	}
	var out []shape
	if t.Style != Points {
		out = append(out, stroke{pts: []xy{at, {at.x + swatch, at.y}}, ink: t.ink, width: lineWidth, dash: t.dash})
	}
	if t.hasMarkers() {
		out = append(out, symbol{form: t.form, at: xy{at.x + swatch/2, at.y}, ink: t.ink})
	}
	return out
}

// endLabel is a series' name at the right end of its line.
type endLabel struct {
	track int
	y     float64 // from the top of the plot
	name  string
}

// endLabels says where the names fit beside the lines' ends, or nil for a legend.
func (p *page) endLabels() []endLabel {
	if n := len(p.d.tracks); n < 2 || n > 7 || p.w < wideWidth {
		return nil
	}
	var out []endLabel
	seen := map[string]bool{}
	for i, t := range p.d.tracks {
		if t.Style == Bars || t.Style == Points || t.Name == "" {
			return nil
		}
		last := -1
		for j, s := range t.pts {
			if !s.gap() {
				last = j
			}
		}
		name := p.fit(t.Name, textSize, longestEnd)
		if last < 0 || seen[name] {
			return nil
		}
		seen[name] = true
		fx, _ := p.d.xs.at(t.pts[last].x)
		fy, _ := p.ys.at(t.pts[last].y)
		if fx < 0.9 {
			return nil
		}
		out = append(out, endLabel{i, (1 - fy) * p.plot.h, name})
	}
	slices.SortStableFunc(out, func(a, b endLabel) int { return cmp.Compare(a.y, b.y) })
	if !spread(out, 17, p.plot.h) {
		return nil
	}
	return out
}

// spread moves labels apart to the given distance, and says whether all stay
// near their lines.
func spread(ls []endLabel, apart, height float64) bool {
	wanted := make([]float64, len(ls))
	for i := range ls {
		wanted[i] = ls[i].y
		if i > 0 {
			ls[i].y = max(ls[i].y, ls[i-1].y+apart)
		}
	}
	for i := len(ls) - 1; i >= 0; i-- {
		ls[i].y = min(ls[i].y, height-float64(len(ls)-1-i)*apart)
	}
	for i := range ls {
		if math.Abs(ls[i].y-wanted[i]) > 2*apart {
			return false
		}
	}
	return true
}

// placeEnds draws the end labels.
func (p *page) placeEnds() {
	l := layer{class: "names"}
	for _, e := range p.direct {
		t := p.d.tracks[e.track]
		at := xy{p.plot.right() + 8, p.plot.y + e.y}
		l.add(t.swatch(at)...)
		l.add(label{text: e.name, full: t.Name, at: xy{at.x + swatch + 5, at.y + 4}, size: textSize, ink: text})
	}
	if len(l.shapes) > 0 {
		p.layers = append(p.layers, l)
	}
}

func (p *page) hasBands() bool {
	return slices.ContainsFunc(p.c.Bands, func(b Band) bool { return b.Name != "" })
}

// bands shades every second band and names them in a strip over the plot.
func (p *page) bands() {
	l := layer{class: "bands"}
	for i, b := range p.c.Bands {
		from, to := p.d.xs.kind.project(b.From), p.d.xs.kind.project(b.To)
		if !(from < to) {
			continue
		}
		f0, e0 := p.d.xs.at(from)
		f1, e1 := p.d.xs.at(to)
		if e0 > 0 || e1 < 0 || f0 >= f1 {
			continue
		}
		top := p.plot.y
		if p.hasBands() {
			top -= bandStrip
		}
		r := rect{p.plot.x + f0*p.plot.w, top, (f1 - f0) * p.plot.w, p.plot.bottom() - top}
		if i%2 == 0 {
			l.add(block{r: r, ink: band, opacity: 0.09})
		}
		if name := p.fit(b.Name, smallSize, r.w-6); r.w > 24 && name != "…" {
			l.add(label{text: name, full: b.Name, at: xy{r.x + r.w/2, top + 13}, size: smallSize, anchor: middle, ink: muted})
		}
	}
	if len(l.shapes) > 0 {
		p.layers = append(p.layers, l)
	}
}

// limits draws the horizontal lines and names them where the data leave room.
func (p *page) limits() {
	l := layer{class: "limits"}
	for _, lim := range p.c.Limits {
		v := p.ys.kind.project(lim.Value)
		if math.IsNaN(v) {
			continue
		}
		name := lim.Label
		if name == "" {
			name = valueText(p.c.Y.Unit, lim.Value)
		}
		f, edge := p.ys.at(v)
		y := p.plot.bottom() - f*p.plot.h
		switch {
		case edge > 0:
			name += " (above this chart)"
			y = p.plot.y + 20
		case edge < 0:
			name += " (below this chart)"
			y = p.plot.bottom()
		default:
			l.add(stroke{pts: []xy{{p.plot.x, y}, {p.plot.right(), y}}, ink: limit, width: 1.6, dash: []float64{7, 4}})
		}
		name = p.fit(name, textSize, p.plot.w-16)
		w := p.width(name, textSize)
		x0, x1, xm := p.plot.x+8, p.plot.right()-w-8, p.plot.x+(p.plot.w-w)/2
		p.put(&l, name, limit, []xy{{x1, y - 6}, {x0, y - 6}, {x1, y + 16}, {x0, y + 16}, {xm, y - 6}, {xm, y + 16}})
	}
	if len(l.shapes) > 0 {
		p.layers = append(p.layers, l)
	}
}

// marks draws the vertical lines.
func (p *page) marks() {
	l := layer{class: "marks"}
	for _, m := range p.c.Marks {
		x := p.d.xs.kind.project(m.X)
		f, edge := p.d.xs.at(x)
		if math.IsNaN(x) || edge != 0 {
			continue
		}
		px := p.plot.x + f*p.plot.w
		l.add(stroke{pts: []xy{{px, p.plot.y}, {px, p.plot.bottom()}}, ink: text, width: 1.2, dash: []float64{2, 3}})
		name := p.fit(m.Label, textSize, p.plot.w/2)
		if name == "" {
			continue
		}
		w := p.width(name, textSize)
		var places []xy
		for _, y := range []float64{p.plot.y + 14, p.plot.y + 34, p.plot.bottom() - 8, p.plot.y + p.plot.h/2} {
			places = append(places, xy{px + 6, y}, xy{px - 6 - w, y})
		}
		p.put(&l, name, text, places)
	}
	if len(l.shapes) > 0 {
		p.layers = append(p.layers, l)
	}
}

// put writes a label at the place, of those given, where it covers least. The
// places are the left ends of its baseline.
func (p *page) put(l *layer, name string, c ink, places []xy) {
	w := p.width(name, textSize)
	best, least := places[0], math.Inf(1)
	for i, at := range places {
		if cost := p.cost(rect{at.x - 2, at.y - 12, w + 4, 16}) + 0.4*float64(i); cost < least {
			best, least = at, cost
		}
	}
	best.x = max(2, min(best.x, p.w-w-2))
	p.taken = append(p.taken, rect{best.x, best.y - 12, w, 16})
	l.add(label{text: name, at: best, size: textSize, ink: c, halo: true})
}

// cost counts what a label would cover.
func (p *page) cost(r rect) float64 {
	cost := 0.0
	if r.x < p.plot.x || r.right() > p.plot.right() || r.y < p.plot.y || r.bottom() > p.plot.bottom()+1 {
		cost += 40
	}
	for _, t := range p.taken {
		if t.overlaps(r) {
			cost += 100
		}
	}
	for _, s := range p.solid {
		if s.overlaps(r) {
			cost += 10
		}
	}
	for _, trail := range p.trails {
		for i, at := range trail {
			if r.contains(at) {
				cost++
			}
			if i == 0 || len(trail) > 200 {
				continue
			}
			before := trail[i-1]
			for k := 1; k < 12; k++ {
				f := float64(k) / 12
				if r.contains(xy{before.x + f*(at.x-before.x), before.y + f*(at.y-before.y)}) {
					cost += 0.5
				}
			}
		}
	}
	return cost
}
