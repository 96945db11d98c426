package chart

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"io"
	"math"

	gochart "github.com/wcharczuk/go-chart/v2"
	"github.com/wcharczuk/go-chart/v2/drawing"
)

// density is the number of pixels per unit of the layout.
const density = 2.0

// WritePNG writes c as a PNG image in the light colours, 1440 pixels wide.
// Characters that the embedded font does not have are spelled in Latin or by
// number. Nothing is written unless the whole image could be drawn.
func WritePNG(w io.Writer, c Chart) error {
	img, err := picture(layout(spelled(c, roman), false, ownFont), density)
	if err != nil {
		return fmt.Errorf("draw chart: %w", err)
	}
	// A better compression takes twice the time, for a twentieth of the size.
	e := png.Encoder{CompressionLevel: png.BestSpeed}
	var buf bytes.Buffer
	if err := e.Encode(&buf, img); err != nil {
		return fmt.Errorf("encode chart: %w", err)
	}
	_, err = w.Write(buf.Bytes())
	return err
}

// picture draws a scene with go-chart. The library writes a blank image before
// some errors, and hangs or panics on ranges that it finds itself: it gets fixed
// ranges, a writer that only collects the image, and no number that the layout
// has not put inside the image.
func picture(sc scene, density float64) (image.Image, error) {
	font, err := roboto()
	if err != nil {
		return nil, fmt.Errorf("load the embedded font: %w", err)
	}
	unit := func() gochart.Range { return &gochart.ContinuousRange{Min: 0, Max: 1} }
	ticks := []gochart.Tick{{Value: 0}, {Value: 1}}
	hidden := gochart.Style{Hidden: true}
	g := gochart.Chart{
		Width:          int(math.Round(sc.w * density)),
		Height:         int(math.Round(sc.h * density)),
		DPI:            64 * density, // at which its font size is in our units
		Font:           font,
		Background:     gochart.Style{Padding: gochart.BoxZero},
		XAxis:          gochart.XAxis{Style: hidden, Range: unit(), Ticks: ticks},
		YAxis:          gochart.YAxis{Style: hidden, Range: unit(), Ticks: ticks},
		YAxisSecondary: gochart.YAxis{Style: hidden, Range: unit(), Ticks: ticks},
	}
	for _, l := range sc.layers {
		g.Series = append(g.Series, raster{l, density, tones()})
	}
	var out gochart.ImageWriter
	if err := g.Render(gochart.PNG, &out); err != nil {
		return nil, err
	}
	return out.Image()
}

// raster is a layer as a series of go-chart, which draws it in its order.
type raster struct {
	layer
	density float64
	tones   [int(first) + Colors]tone
}

// GetName, GetYAxis, GetStyle, Validate and Render make a raster a go-chart series.
func (l raster) GetName() string             { return l.name }
func (l raster) GetYAxis() gochart.YAxisType { return gochart.YAxisPrimary }
func (l raster) GetStyle() gochart.Style     { return gochart.Style{} }
func (l raster) Validate() error             { return nil }

func (l raster) Render(r gochart.Renderer, _ gochart.Box, _, _ gochart.Range, s gochart.Style) {
	r.SetFont(s.Font)
	for _, sh := range l.shapes {
		l.shape(r, sh)
	}
}

// pixel is a coordinate in the picture.
func (l raster) pixel(v float64) int { return int(math.Round(v * l.density)) }

func (l raster) colour(i ink, opacity float64) drawing.Color {
	c := drawing.ColorFromHex(l.tones[i].light[1:])
	if opacity > 0 {
		c.A = uint8(math.Round(opacity * 255))
	}
	return c
}

func (l raster) shape(r gochart.Renderer, sh shape) {
	switch v := sh.(type) {
	case block:
		l.fill(r, corners(v.r), l.colour(v.ink, v.opacity))
	case stroke:
		l.stroke(r, v.pts, v.ink, v.width, v.dash)
	case area:
		l.fill(r, v.pts, l.colour(v.ink, 0.18))
	case cloud:
		for _, at := range v.pts {
			l.disc(r, at, 2, l.colour(v.ink, 0.6))
		}
	case symbol:
		l.symbol(r, v)
	case label:
		l.label(r, v)
	}
}

func corners(r rect) []xy {
	return []xy{{r.x, r.y}, {r.right(), r.y}, {r.right(), r.bottom()}, {r.x, r.bottom()}}
}

// trace walks along the points, at most one step a pixel.
func (l raster) trace(r gochart.Renderer, pts []xy) {
	x, y := 0, 0
	for i, p := range pts {
		px, py := l.pixel(p.x), l.pixel(p.y)
		switch {
		case i == 0:
			r.MoveTo(px, py)
		case px != x || py != y:
			r.LineTo(px, py)
		}
		x, y = px, py
	}
}

// cut divides a line into its dashes: the library begins them anew at each
// corner, which makes a fine line solid.
func cut(pts []xy, dash []float64) [][]xy {
	if len(dash) == 0 || len(pts) < 2 {
		return [][]xy{pts}
	}
	var out [][]xy
	part := []xy{pts[0]}
	k, rest := 0, dash[0]
	for i := 1; i < len(pts); i++ {
		from, to := pts[i-1], pts[i]
		length := math.Hypot(to.x-from.x, to.y-from.y)
		done := 0.0
		for length-done > rest {
			done += rest
			at := xy{from.x + (to.x-from.x)*done/length, from.y + (to.y-from.y)*done/length}
			if k%2 == 0 {
				out = append(out, append(part, at))
			}
			part = []xy{at}
			k++
			rest = dash[k%len(dash)]
		}
		rest -= length - done
		part = append(part, to)
	}
	if k%2 == 0 {
		out = append(out, part)
	}
	return out
}

func (l raster) fill(r gochart.Renderer, pts []xy, c drawing.Color) {
	r.SetFillColor(c)
	l.trace(r, pts)
	r.Close()
	r.Fill()
}

func (l raster) stroke(r gochart.Renderer, pts []xy, i ink, width float64, dash []float64) {
	r.SetStrokeColor(l.colour(i, 0))
	r.SetStrokeWidth(width * l.density)
	for _, part := range cut(pts, dash) {
		l.trace(r, part)
	}
	r.Stroke()
}

// disc draws a circle of eight arcs: the library's own has four and is square.
func (l raster) disc(r gochart.Renderer, at xy, radius float64, c drawing.Color) {
	pts := make([]xy, 24)
	for i := range pts {
		a := 2 * math.Pi * float64(i) / float64(len(pts))
		pts[i] = xy{at.x + radius*math.Cos(a), at.y + radius*math.Sin(a)}
	}
	l.fill(r, pts, c)
}

func (l raster) symbol(r gochart.Renderer, v symbol) {
	if v.form == disc {
		l.disc(r, v.at, 3.6, l.colour(v.ink, 0))
		return
	}
	for _, pts := range v.form.outline(v.at) {
		switch {
		case v.form.open():
			l.stroke(r, pts, v.ink, 2, nil)
		case v.hollow:
			l.fill(r, pts, l.colour(paper, 0))
			l.stroke(r, append(pts, pts[0]), v.ink, 1.5, nil)
		default:
			l.fill(r, pts, l.colour(v.ink, 0))
		}
	}
}

func (l raster) label(r gochart.Renderer, v label) {
	if v.text == "" {
		return
	}
	w := ownFont.width(v.text, v.size)
	at := v.at
	r.SetFontSize(v.size)
	switch v.anchor {
	case middle:
		at.x -= w / 2
	case end:
		at.x -= w
	}
	if v.halo {
		r.SetFontColor(l.colour(paper, 0))
		for i := range 8 {
			a := math.Pi / 4 * float64(i)
			r.Text(v.text, l.pixel(at.x+1.8*math.Cos(a)), l.pixel(at.y+1.8*math.Sin(a)))
		}
	}
	r.SetFontColor(l.colour(v.ink, 0))
	r.Text(v.text, l.pixel(at.x), l.pixel(at.y))
}
