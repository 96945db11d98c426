package chart

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
)

// WriteSVG writes c as an SVG image: accessible by title and description,
// without script or outside reference, following the reader's colour scheme.
// Points carry their numbers in data-x and data-y, in the units of the axes,
// and in words in a title element; they stand in groups of class "hits" that
// name their series in data-series. The error is w's.
func WriteSVG(w io.Writer, c Chart, o Options) error {
	s := svg{tones: tones()}
	s.scene(layout(spelled(c, printable), o.Compact, anyFont), o)
	_, err := w.Write(s.b.Bytes())
	return err
}

// svg is an image being written.
type svg struct {
	b     bytes.Buffer
	tones [int(first) + Colors]tone
}

func (s *svg) print(format string, args ...any) { fmt.Fprintf(&s.b, format, args...) }

func (s *svg) scene(sc scene, o Options) {
	id := safeID(o.ID)
	size := ""
	if !o.Inline {
		size = fmt.Sprintf(` width="%s" height="%s"`, num(sc.w), num(sc.h))
	}
	s.print(`<svg xmlns="http://www.w3.org/2000/svg" class="chart" id="%s" role="img" aria-labelledby="%s-title %s-desc" viewBox="0 0 %s %s"%s font-family="%s" font-size="13">`,
		id, id, id, num(sc.w), num(sc.h), size, escape(fonts))
	title := sc.title
	if title == "" {
		title = "chart"
	}
	s.print("\n<title id=\"%s-title\">%s</title>\n<desc id=\"%s-desc\">%s</desc>\n", id, escape(title), id, escape(sc.desc))
	if !o.Inline {
		s.print("<style>\n%s</style>\n", CSS())
		s.shape(block{r: rect{0, 0, sc.w, sc.h}, ink: paper})
	}
	for _, l := range sc.layers {
		s.layer(l)
	}
	s.print("</svg>\n")
}

func (s *svg) layer(l layer) {
	if len(l.shapes) == 0 {
		return
	}
	s.print(`<g class="%s"`, l.class)
	if l.name != "" {
		s.print(` data-series="%s"`, escape(l.name))
	}
	s.print(">\n")
	for _, sh := range l.shapes {
		s.shape(sh)
	}
	s.print("</g>\n")
}

func (s *svg) shape(sh shape) {
	switch v := sh.(type) {
	case block:
		s.print(`<rect x="%s" y="%s" width="%s" height="%s"%s`, num(v.r.x), num(v.r.y), num(v.r.w), num(v.r.h), s.fill(v.ink))
		if v.opacity > 0 {
			s.print(` fill-opacity="%s"`, num2(v.opacity))
		}
		s.print("/>\n")
	case stroke:
		s.print(`<path d="%s" fill="none"%s stroke-width="%s" stroke-linejoin="round"`, path(v.pts, false), s.line(v.ink), num(v.width))
		if v.dash != nil {
			s.print(` stroke-dasharray="%s"`, dashes(v.dash))
		}
		s.print("/>\n")
	case area:
		s.print("<path d=\"%s\"%s fill-opacity=\"0.18\"/>\n", path(v.pts, true), s.fill(v.ink))
	case cloud:
		s.print("<path d=\"%s\" fill=\"none\"%s stroke-width=\"4\" stroke-linecap=\"round\" stroke-opacity=\"0.6\"/>\n", points(v.pts), s.line(v.ink))
	case symbol:
		s.symbol(v)
	case label:
		s.label(v)
	case hit:
		s.hit(v)
	}
}

func (s *svg) symbol(v symbol) {
	if v.form == disc {
		s.print("<circle cx=\"%s\" cy=\"%s\" r=\"3.6\"%s/>\n", num(v.at.x), num(v.at.y), s.fill(v.ink))
		return
	}
	d := ""
	for _, pts := range v.form.outline(v.at) {
		d += path(pts, !v.form.open())
	}
	switch {
	case v.form.open():
		s.print("<path d=\"%s\" fill=\"none\"%s stroke-width=\"2\"/>\n", d, s.line(v.ink))
	case v.hollow:
		s.print("<path d=\"%s\" class=\"f-paper s-%s\" fill=\"%s\" stroke=\"%s\" stroke-width=\"1.5\"/>\n",
			d, s.tones[v.ink].name, s.tones[paper].light, s.tones[v.ink].light)
	default:
		s.print("<path d=\"%s\"%s/>\n", d, s.fill(v.ink))
	}
}

func (s *svg) label(v label) {
	class := "f-" + s.tones[v.ink].name
	if v.halo {
		class += " halo"
	}
	s.print(`<text x="%s" y="%s" class="%s" fill="%s"`, num(v.at.x), num(v.at.y), class, s.tones[v.ink].light)
	if v.size != textSize {
		s.print(` font-size="%s"`, num(v.size))
	}
	if v.bold {
		s.print(` font-weight="600"`)
	}
	switch v.anchor {
	case middle:
		s.print(` text-anchor="middle"`)
	case end:
		s.print(` text-anchor="end"`)
	}
	s.print(">%s", escape(v.text))
	if v.full != "" && v.full != v.text {
		s.print("<title>%s</title>", escape(v.full))
	}
	s.print("</text>\n")
}

func (s *svg) hit(v hit) {
	values := fmt.Sprintf(` data-x="%s" data-y="%s"><title>%s</title>`, exact(v.x), exact(v.y), escape(v.tip))
	if v.round {
		s.print("<circle cx=\"%s\" cy=\"%s\" r=\"%s\" fill=\"transparent\"%s</circle>\n", num(v.r.x+v.r.w/2), num(v.r.y+v.r.h/2), num(v.r.w/2), values)
		return
	}
	s.print("<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"%s\" fill=\"transparent\"%s</rect>\n", num(v.r.x), num(v.r.y), num(v.r.w), num(v.r.h), values)
}

// fill and line name an ink by class, and by its light colour for viewers
// without custom properties.
func (s *svg) fill(i ink) string {
	return fmt.Sprintf(` class="f-%s" fill="%s"`, s.tones[i].name, s.tones[i].light)
}

func (s *svg) line(i ink) string {
	return fmt.Sprintf(` class="s-%s" stroke="%s"`, s.tones[i].name, s.tones[i].light)
}

// path writes a polyline; points that fall on the one before are left out.
func path(pts []xy, closed bool) string {
	var b strings.Builder
	last := ""
	for i, p := range pts {
		at := num(p.x) + " " + num(p.y)
		if at == last {
			continue
		}
		last = at
		b.WriteByte("LM"[bit(i == 0)])
		b.WriteString(at)
	}
	if closed {
		b.WriteByte('Z')
	}
	return b.String()
}

// points writes dots, as lines of no length with round ends.
func points(pts []xy) string {
	var b strings.Builder
	for _, p := range pts {
		b.WriteString("M" + num(p.x) + " " + num(p.y) + "h0")
	}
	return b.String()
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func dashes(d []float64) string {
	parts := make([]string, len(d))
	for i, v := range d {
		parts[i] = num(v)
	}
	return strings.Join(parts, " ")
}

// num prints a coordinate to a tenth.
func num(v float64) string {
	v = math.Round(v*10) / 10
	return strconv.FormatFloat(v+0, 'f', -1, 64)
}

func num2(v float64) string { return strconv.FormatFloat(v, 'f', 2, 64) }

// exact prints a datum so that a script's Number reads it back.
func exact(v float64) string {
	switch {
	case math.IsInf(v, 1):
		return "Infinity"
	case math.IsInf(v, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(v, 'g', -1, 64)
}

// escape makes printable text safe in content and in a quoted attribute.
func escape(s string) string {
	var b strings.Builder
	if err := xml.EscapeText(&b, []byte(s)); err != nil {
		return ""
	}
	return b.String()
}

// safeID makes an id of what the caller gave.
func safeID(s string) string {
	if s == "" {
		return "chart"
	}
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '-', r == '_':
			return r
		}
		return '-'
	}, s)
}
