package chart

import (
	"fmt"
	"math"
	"strings"
)

// Sizes of text and of the page, in units of the view box.
const (
	wideWidth    = 720.0
	compactWidth = 400.0
	margin       = 12.0
	titleSize    = 16.0
	textSize     = 13.0
	smallSize    = 12.0
	yParts       = 6 // at most so many steps on the y axis
)

// page is a layout in progress.
type page struct {
	scene
	ruler
	c      Chart
	d      data
	ys     scale
	yTicks []tick
	xTicks []tick
	taken  []rect
	trails [][]xy // where the series run, for labels to keep away from
	solid  []rect // bars, likewise
	direct []endLabel
}

// layout places everything of a chart whose texts are already printable.
func layout(c Chart, compact bool, m ruler) scene {
	p := page{ruler: m, c: c, d: collect(c)}
	p.w, p.plot.h = wideWidth, 250
	if compact {
		p.w, p.plot.h = compactWidth, 230
	}
	p.title = c.Title
	if p.d.points == 0 {
		p.placeholder()
		return p.scene
	}
	p.ys = yScale(c.Y, p.yExtent(), yParts)
	p.yTicks = p.ys.ticks(yParts)
	p.direct = p.endLabels()
	y := p.header(true)
	p.frame(y)
	p.xTicks = p.fitTicks()
	p.grid()
	for i := range p.d.tracks {
		p.track(i)
	}
	p.limits()
	p.marks()
	p.placeEnds()
	p.single()
	p.hits()
	p.footer(p.plot.bottom() + 18)
	p.describe()
	return p.scene
}

// yExtent adds to the data the limits that are near enough to be shown, and some
// air above; a share that stays within the whole needs none.
func (p *page) yExtent() extent {
	e := p.d.y
	k := kindOf(p.c.Y)
	for _, l := range p.c.Limits {
		if v := k.project(l.Value); !math.IsInf(v, 0) && p.d.y.any && near(k, v, p.d.y) {
			e.add(v)
		}
	}
	switch {
	case k != linear, !e.any, p.c.Y.Unit == Percent && e.hi <= 1 && e.hi*1.01 > 1:
	default:
		e.add(e.hi * 1.01)
		e.add(e.lo * 1.01)
	}
	return e
}

// near says whether an axis may stretch to v without flattening the data.
func near(k kind, v float64, e extent) bool {
	switch {
	case math.IsNaN(v):
		return false
	case k == logarithmic:
		return v <= e.hi*100 && v >= e.lo/100
	}
	reach := max(math.Abs(e.hi), math.Abs(e.lo))
	return reach == 0 || math.Abs(v) <= 4*reach
}

// header puts title, subtitle, legend and the y axis's label on top of each
// other and returns where they end.
func (p *page) header(withAxis bool) float64 {
	l := layer{class: "head"}
	y := margin - 4
	width := p.w - 2*margin
	for _, line := range p.wrap(p.c.Title, titleSize, width/boldFont, 2) {
		y += 20
		l.add(label{text: line, at: xy{margin, y}, size: titleSize, ink: text, bold: true})
	}
	for _, line := range p.wrap(p.c.Subtitle, textSize, width, 2) {
		y += 18
		l.add(label{text: line, at: xy{margin, y}, size: textSize, ink: muted})
	}
	y += 6
	if withAxis && p.direct == nil {
		y = p.legend(&l, y)
	}
	if name := axisLabel(p.c.Y); withAxis && name != "" {
		y += 16
		l.add(label{text: p.fit(name, textSize, width), full: name, at: xy{margin, y}, size: textSize, ink: muted})
	}
	p.layers = append(p.layers, l)
	return y + 15
}

// axisLabel names an axis and says if it is logarithmic.
func axisLabel(ax Axis) string {
	if kindOf(ax) != logarithmic {
		return ax.Label
	}
	return strings.TrimSpace(ax.Label + " (log scale)")
}

// frame finds the plot's rectangle under the header.
func (p *page) frame(y float64) {
	left, right := 0.0, 24.0
	for _, t := range p.yTicks {
		left = max(left, p.width(t.text, smallSize))
	}
	for _, e := range p.direct {
		right = max(right, p.width(e.name, textSize)+swatch+20)
	}
	p.plot.x = margin + left + 10
	p.plot.y = y
	if p.hasBands() {
		p.plot.y += bandStrip
	}
	p.plot.w = p.w - p.plot.x - right
}

// fitTicks takes as many x ticks as have room for their text.
func (p *page) fitTicks() []tick {
	if len(p.c.X.Categories) > 0 {
		ts := p.d.xs.categoryTicks(p.c.X.Categories)
		slot := p.plot.w / float64(len(p.c.X.Categories))
		stride := max(1, int(math.Ceil(40/slot)))
		for i := range ts {
			ts[i].text = p.fit(ts[i].text, smallSize, slot*float64(stride)-6)
			if i%stride != 0 {
				ts[i].text = ""
			}
		}
		return ts
	}
	for target := max(2, int(p.plot.w/72)); ; target-- {
		ts := p.d.xs.ticks(target)
		if target <= 1 || !p.crowded(ts) {
			return p.thinTicks(ts)
		}
	}
}

func (p *page) crowded(ts []tick) bool { return len(p.thinTicks(ts)) < len(ts) }

// thinTicks drops tick texts that would run into the one before.
func (p *page) thinTicks(ts []tick) []tick {
	var out []tick
	last := math.Inf(-1)
	for i, t := range ts {
		half := p.width(t.text, smallSize) / 2
		x := p.plot.x + t.at*p.plot.w
		if x-half < last+8 {
			if i < len(ts)-1 || len(out) < 2 {
				continue
			}
			out = out[:len(out)-1]
		}
		out = append(out, t)
		last = x + half
	}
	return out
}

// grid draws bands, grid lines and the axes' texts.
func (p *page) grid() {
	p.bands()
	l := layer{class: "axes"}
	for _, t := range p.yTicks {
		y := p.plot.bottom() - t.at*p.plot.h
		l.add(stroke{pts: []xy{{p.plot.x, y}, {p.plot.right(), y}}, ink: grid, width: 1})
		l.add(label{text: t.text, at: xy{p.plot.x - 8, y + 4}, size: smallSize, anchor: end, ink: muted})
	}
	base := p.plot.bottom()
	if f, edge := p.ys.at(0); edge == 0 && p.ys.kind == linear {
		base -= f * p.plot.h
	}
	l.add(stroke{pts: []xy{{p.plot.x, base}, {p.plot.right(), base}}, ink: rule, width: 1})
	for i, t := range p.xTicks {
		x := p.plot.x + t.at*p.plot.w
		if len(p.c.X.Categories) == 0 {
			l.add(stroke{pts: []xy{{x, p.plot.bottom()}, {x, p.plot.bottom() + 4}}, ink: rule, width: 1})
		}
		full := ""
		if i < len(p.c.X.Categories) {
			full = p.c.X.Categories[i]
		}
		half := p.width(t.text, smallSize)/2 + 2
		x = min(max(x, half), p.w-half)
		l.add(label{text: t.text, full: full, at: xy{x, p.plot.bottom() + 18}, size: smallSize, anchor: middle, ink: muted})
	}
	p.layers = append(p.layers, l)
}

// footer writes the x axis's label and the notes and ends the page.
func (p *page) footer(y float64) {
	l := layer{class: "foot"}
	if name := axisLabel(p.c.X); name != "" && p.d.points > 0 {
		y += 19
		l.add(label{text: p.fit(name, textSize, p.plot.w), full: name, at: xy{p.plot.x + p.plot.w/2, y},
			size: textSize, anchor: middle, ink: muted})
	}
	edged := 0
	if p.d.points > 0 {
		edged = p.beyond()
	}
	notes := append(p.d.notes(edged), p.c.Notes...)
	if len(notes) > 0 {
		y += 8
	}
	for _, note := range notes {
		for _, line := range p.wrap(note, smallSize, p.w-2*margin, 3) {
			y += 16
			l.add(label{text: line, at: xy{margin, y}, size: smallSize, ink: muted})
		}
	}
	p.layers = append(p.layers, l)
	p.h = math.Ceil(y + margin)
}

// placeholder says in the plot's place that there is nothing to draw.
func (p *page) placeholder() {
	message := p.c.Empty
	if message == "" {
		message = "no data"
	}
	y := p.header(false)
	p.plot = rect{margin, y, p.w - 2*margin, 120}
	l := layer{class: "empty"}
	l.add(block{r: p.plot, ink: band, opacity: 0.08})
	lines := p.wrap(message, textSize, p.plot.w-40, 3)
	at := xy{p.w / 2, y + p.plot.h/2 + 5 - float64(len(lines)-1)*9}
	for _, line := range lines {
		l.add(label{text: line, at: at, size: textSize, anchor: middle, ink: text})
		at.y += 18
	}
	p.layers = append(p.layers, l)
	p.desc = message + "."
	p.footer(p.plot.bottom())
}

// describe puts the chart into words.
func (p *page) describe() {
	var b strings.Builder
	say := func(format string, args ...any) { fmt.Fprintf(&b, format, args...) }
	axis := func(name string, ax Axis, s scale) {
		if ax.Label != "" {
			name += ", " + ax.Label
		}
		say("%s: %s to %s. ", name, valueText(ax.Unit, s.lo), valueText(ax.Unit, s.hi))
	}
	if n := len(p.c.X.Categories); n > 0 {
		say("Horizontal axis: %d categories. ", n)
	} else {
		axis("Horizontal axis", p.c.X, p.d.xs)
	}
	axis("Vertical axis", p.c.Y, p.ys)
	for i, t := range p.d.tracks {
		if i == mostDescribed {
			say("And %d more series. ", len(p.d.tracks)-i)
			break
		}
		e := extent{}
		for _, pt := range t.pts {
			if !pt.gap() {
				e.add(pt.y)
			}
		}
		say("%s: %d points", seriesName(t.Series, i), t.n)
		if e.any {
			say(", from %s to %s", valueText(p.c.Y.Unit, e.lo), valueText(p.c.Y.Unit, e.hi))
		}
		say(". ")
	}
	for _, l := range p.c.Limits {
		say("Limit %s: %s. ", l.Label, valueText(p.c.Y.Unit, l.Value))
	}
	p.desc = strings.TrimSpace(b.String())
}

func seriesName(s Series, i int) string {
	if s.Name == "" {
		return fmt.Sprintf("series %d", i+1)
	}
	return s.Name
}
