package chart

import (
	"bytes"
	"encoding/xml"
	"flag"
	"image"
	"image/png"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// draw draws c in every form, within a deadline, and returns the SVG's texts and
// the picture after checking both. The picture has one pixel a unit, not two,
// and is not encoded: that would take most of the time. TestPNG does.
func draw(t *testing.T, c Chart) (string, *image.RGBA) {
	t.Helper()
	texts, s := vectors(t, c)
	img := within(t, func() (image.Image, error) { return picture(s, 1) })
	rgba, ok := img.(*image.RGBA)
	if !ok {
		t.Fatalf("picture is a %T", img)
	}
	if n := count(rgba, func(r, g, b uint8) bool { return r&g&b != 255 }); n < 200 {
		t.Fatalf("picture has only %d pixels drawn", n) // a blank image is not a chart
	}
	if r := rgba.Rect; r.Dx() != wideWidth || r.Dy() < 120 {
		t.Fatalf("picture is %dx%d", r.Dx(), r.Dy())
	}
	return texts, rgba
}

// vectors is draw up to the picture, whose scene it returns.
func vectors(t *testing.T, c Chart) (string, scene) {
	t.Helper()
	wide := vector(t, c, Options{})
	vector(t, c, Options{Compact: true})
	s := within(t, func() (scene, error) { return layout(spelled(c, roman), false, ownFont), nil })
	checkScene(t, s, ownFont)
	return wide, s
}

// vector checks a layout and its SVG, and returns the SVG's texts.
func vector(t *testing.T, c Chart, o Options) string {
	t.Helper()
	s := within(t, func() (scene, error) { return layout(spelled(c, printable), o.Compact, anyFont), nil })
	checkScene(t, s, anyFont)
	out := svg{tones: tones()}
	out.scene(s, o)
	return checkSVG(t, out.b.Bytes())
}

// within runs f, and fails the test if it hangs or returns an error.
func within[T any](t *testing.T, f func() (T, error)) T {
	t.Helper()
	type result struct {
		v   T
		err error
	}
	done := make(chan result, 1)
	go func() {
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		if r.err != nil {
			t.Fatal(r.err)
		}
		return r.v
	case <-time.After(30 * time.Second):
		t.Fatal("not drawn within 30 s")
	}
	var none T
	return none
}

func pngBytes(c Chart) ([]byte, error) {
	var b bytes.Buffer
	err := WritePNG(&b, c)
	return b.Bytes(), err
}

// checkSVG parses the image and returns all its texts, a line each. It allows
// only the elements that this package writes, so none that came from data.
func checkSVG(t *testing.T, b []byte) string {
	t.Helper()
	known := map[string]bool{"svg": true, "title": true, "desc": true, "style": true, "g": true,
		"rect": true, "path": true, "circle": true, "text": true}
	ids := map[string]bool{}
	var texts []string
	d := xml.NewDecoder(bytes.NewReader(b))
	for {
		tok, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("SVG does not parse: %v\n%s", err, b)
		}
		switch v := tok.(type) {
		case xml.StartElement:
			if !known[v.Name.Local] {
				t.Fatalf("element %q came from data", v.Name.Local)
			}
			seen := map[xml.Name]bool{}
			for _, a := range v.Attr {
				if seen[a.Name] {
					t.Fatalf("%s has attribute %s twice", v.Name.Local, a.Name.Local)
				}
				seen[a.Name] = true
				checkAttr(t, v.Name.Local, a)
				if a.Name.Local == "id" {
					if ids[a.Value] {
						t.Fatalf("id %q twice", a.Value)
					}
					ids[a.Value] = true
				}
			}
		case xml.CharData:
			if s := strings.TrimSpace(string(v)); s != "" {
				texts = append(texts, s)
			}
		}
	}
	return strings.Join(texts, "\n")
}

func checkAttr(t *testing.T, element string, a xml.Attr) {
	t.Helper()
	name := a.Name.Local
	if strings.HasPrefix(name, "on") || name == "href" || name == "src" {
		t.Fatalf("%s has attribute %s", element, name)
	}
	if !strings.HasPrefix(name, "data-") && (strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "Inf")) {
		t.Fatalf("%s has %s=%q", element, name, a.Value)
	}
}

// checkScene verifies that everything lies inside the image.
func checkScene(t *testing.T, s scene, m ruler) {
	t.Helper()
	in := func(what any, pts ...xy) {
		for _, p := range pts {
			if !(p.x >= -8 && p.x <= s.w+8 && p.y >= -8 && p.y <= s.h+8) {
				t.Fatalf("%T %+v lies outside the image of %v by %v", what, what, s.w, s.h)
			}
		}
	}
	if !(s.h > 0 && s.h < 2000) {
		t.Fatalf("image is %v high", s.h)
	}
	for _, l := range s.layers {
		for _, sh := range l.shapes {
			switch v := sh.(type) {
			case block:
				in(v, xy{v.r.x, v.r.y}, xy{v.r.right(), v.r.bottom()})
			case stroke:
				in(v, v.pts...)
			case area:
				in(v, v.pts...)
			case cloud:
				in(v, v.pts...)
			case symbol:
				in(v, v.at)
			case hit:
				in(v, xy{v.r.x, v.r.y}, xy{v.r.right(), v.r.bottom()})
			case label:
				in(v, span(v, m)...)
			}
		}
	}
}

// span gives the ends of a label's baseline.
func span(v label, m ruler) []xy {
	w, x := m.width(v.text, v.size), v.at.x
	switch v.anchor {
	case middle:
		x -= w / 2
	case end:
		x -= w
	}
	return []xy{{x, v.at.y}, {x + w, v.at.y}}
}

// inked counts the pixels of a data colour in the PNG.
func inked(img *image.RGBA, i ink) int {
	want := raster{tones: tones()}.colour(i, 0)
	return count(img, func(r, g, b uint8) bool { return r == want.R && g == want.G && b == want.B })
}

func decode(t *testing.T, b []byte) *image.RGBA {
	t.Helper()
	img, err := png.Decode(bytes.NewReader(b))
	if err != nil {
		t.Fatalf("PNG does not decode: %v", err)
	}
	rgba, ok := img.(*image.RGBA)
	if !ok {
		t.Fatalf("PNG is a %T, want an opaque image", img)
	}
	return rgba
}

func count(img *image.RGBA, is func(r, g, b uint8) bool) int {
	n := 0
	for p := range slices.Chunk(img.Pix, 4) {
		if is(p[0], p[1], p[2]) {
			n++
		}
	}
	return n
}

// C-28: charts with nothing, one point, a flat line and what else breaks ranges.
func TestOddData(t *testing.T) {
	nan, inf := math.NaN(), math.Inf(1)
	long := make([]float64, 50_000)
	for i := range long {
		long[i] = float64(i)
	}
	many := make([]float64, 50_000)
	for i := range many {
		many[i] = 5 * ms
	}
	many[31_234] = 800 * ms
	line := func(x, y []float64) []Series { return []Series{{Name: "p99", X: x, Y: y}} }
	bar := func(y ...float64) []Series {
		return []Series{{Name: "p99", Style: Bars, X: long[:len(y)], Y: y}}
	}
	duration := Axis{Label: "response time", Unit: Duration}
	logs := Axis{Label: "response time", Unit: Duration, Log: true}
	tests := []struct {
		name   string
		y      Axis
		series []Series
		want   []string // among the texts of the SVG
		inked  int      // pixels of the first series in the PNG, at least
	}{
		{"none", duration, nil, []string{"no data"}, 0},
		{"empty series", duration, line(nil, nil), []string{"no data"}, 0},
		{"one point", duration, line([]float64{1e9}, []float64{5 * ms}), []string{"one sample: 5 ms"}, 10},
		{"one point at zero", duration, line([]float64{0}, []float64{0}), []string{"one sample: 0"}, 10},
		{"two at the same time", duration, line([]float64{1e9, 1e9}, []float64{5 * ms, 9 * ms}), []string{"p99 at 1 s: 9 ms"}, 40},
		{"all equal", duration, line(long[:5], []float64{5 * ms, 5 * ms, 5 * ms, 5 * ms, 5 * ms}), []string{"5 ms", "6 ms"}, 200},
		{"all zero", duration, line(long[:3], []float64{0, 0, 0}), []string{"1.0 ms"}, 200},
		{"one NaN", duration, line(long[:5], []float64{5 * ms, 6 * ms, nan, 5 * ms, 7 * ms}), []string{"1 point without a value is a gap."}, 100},
		{"only NaN", duration, line(long[:2], []float64{nan, nan}), []string{"no data"}, 0},
		{"NaN in x", duration, line([]float64{0, nan, 2}, []float64{1, 2, 3}), []string{"1 point without a value is a gap."}, 10},
		{"alone between gaps", duration, line(long[:5], []float64{1, nan, 2, nan, 3}), nil, 30},
		{"one Inf", duration, line(long[:3], []float64{5 * ms, inf, 6 * ms}), []string{"1 point beyond the axis is marked by a triangle at the edge.", "p99 at 1 ns: infinite"}, 100},
		{"only Inf", duration, line(long[:1], []float64{inf}), []string{"1 point beyond the axis is marked by a triangle at the edge."}, 4},
		{"minus Inf and Inf in x", duration, line([]float64{-inf, 1, inf}, []float64{1, 2, 3}), []string{"2 points beyond the axis are marked by triangles at the edge."}, 20},
		{"y shorter", duration, line(long[:5], []float64{1, 2}), []string{"3 values without a partner on the other axis are left out."}, 20},
		{"x shorter", duration, line(long[:2], []float64{1, 2, 3}), []string{"1 value without a partner on the other axis is left out."}, 20},
		{"one bar", duration, bar(5 * ms), []string{"5 ms"}, 1000},
		{"two equal bars", duration, bar(5*ms, 5*ms), []string{"5 ms"}, 1000},
		{"bars with NaN, Inf, minus", duration, bar(5*ms, nan, inf, -3*ms), []string{"-3 ms", "1 point beyond the axis is marked by a triangle at the edge."}, 1000},
		{"zero bar", duration, bar(0), []string{"0"}, 0},
		{"200 ms run", duration, line([]float64{0, 200 * ms}, []float64{5 * ms, 6 * ms}), []string{"200 ms"}, 100},
		{"50k points", duration, line(long, many), []string{"p99 at 31.23 µs: 800 ms", "Thinned from 50000 points: each stretch keeps its lowest and highest."}, 100},
		{"50k Inf between", duration, line(long, infinite(alternating(50_000))), []string{"25000 points beyond the axis are marked by triangles at the edge."}, 4},
		{"50k NaN between", duration, line(long, alternating(50_000)), []string{"24999 points without a value are gaps."}, 4},
		{"50k bars", duration, bar(many...), nil, 200},
		{"50k dots", duration, []Series{{Style: Points, X: long, Y: many}}, []string{"series 1 at 31.23 µs: 800 ms"}, 0},
		{"log with zero and minus", logs, line(long[:4], []float64{5 * ms, 0, -2, 90 * ms}), []string{"response time (log scale)", "2 points beyond the axis are marked by triangles at the edge."}, 100},
		{"log, only zero", logs, line(long[:2], []float64{0, 0}), []string{"2 points beyond the axis are marked by triangles at the edge."}, 4},
		{"log, one value", logs, line(long[:2], []float64{5 * ms, 5 * ms}), []string{"5 ms"}, 100},
		{"log bars", logs, bar(5*ms, 50*ms, 0), []string{"50 ms"}, 200},
		{"greatest numbers", Axis{}, line([]float64{-math.MaxFloat64, math.MaxFloat64}, []float64{-math.MaxFloat64, math.MaxFloat64}), nil, 4},
		{"great numbers", Axis{}, line([]float64{-1e299, 1e299}, []float64{-1e300, 1e300}), []string{"1e+300"}, 40},
		{"least numbers", Axis{}, line([]float64{0, 5e-324}, []float64{5e-324, 5e-324}), nil, 4},
		{"log of the least", Axis{Log: true}, line(long[:2], []float64{5e-324, 1}), nil, 40},
		{"near equals", Axis{}, line([]float64{1e16, 1e16 + 2}, []float64{1e16, 1e16 + 2}), nil, 10},
		{"intervals", duration, []Series{{Name: "p99", X: long[:4], Y: []float64{1, 2, 3, 4}, Lo: []float64{0.5, nan, 9, 1}, Hi: []float64{2, 3, 2, inf}}}, []string{"p99 at 2 ns: 3 ns (2 ns to 9 ns)"}, 100},
	}
	for _, tt := range tests {
		t.Run(strings.ReplaceAll(tt.name, " ", "_"), func(t *testing.T) {
			t.Parallel()
			texts, picture := draw(t, Chart{Title: "Response time", X: Axis{Label: "time", Unit: Duration}, Y: tt.y, Series: tt.series})
			for _, want := range append(tt.want, "Response time") {
				if !hasLine(texts, want) {
					t.Errorf("SVG does not say %q:\n%s", want, texts)
				}
			}
			if n := inked(picture, first); n < tt.inked {
				t.Errorf("PNG has %d pixels of the series, want %d", n, tt.inked)
			}
		})
	}
}

func hasLine(texts, want string) bool {
	for line := range strings.Lines(texts) {
		if line = strings.TrimSpace(line); line == want || strings.HasSuffix(line, ": "+want) {
			return true
		}
	}
	return false
}

// alternating is 5 ms and no value in turn.
func alternating(n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = 5 * ms
		if i%2 == 1 {
			out[i] = math.NaN()
		}
	}
	return out
}

// infinite turns each NaN into an infinity.
func infinite(v []float64) []float64 {
	for i := range v {
		if math.IsNaN(v[i]) {
			v[i] = math.Inf(1)
		}
	}
	return v
}

// C-27: names from a plan stand literally in texts, and make no elements.
func TestNames(t *testing.T) {
	for i, name := range []string{
		"/upload/<uuid>", "</script><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`,
		"a&b'c", "{{.}}", "模式 – ü", "]]>", "http://t/?a=1&b=<2>", "a\x00b\x1b[31m\xff\ufffe", strings.Repeat("long name ", 30),
		strings.Repeat("x", 300), strings.Repeat("模", 100_000),
	} {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			c := Chart{Title: name, Subtitle: name, X: Axis{Label: name}, Y: Axis{Label: name}, Notes: []string{name}, Empty: name}
			vectors(t, c)
			c.Series = []Series{
				{Name: name, X: []float64{0, 1}, Y: []float64{1, 2}, Labels: []string{name, name}},
				{Name: name, X: []float64{0, 1}, Y: []float64{2, 3}},
			}
			c.Limits = []Limit{{name, 2}}
			c.Marks = []Mark{{name, 0.5}}
			c.Bands = []Band{{name, 0, 0.5}, {name, 0.5, 1}}
			texts, _ := vectors(t, c)
			if i%3 == 0 {
				draw(t, c)
			}
			if want := printable(name); !strings.Contains(texts, strings.TrimSpace(want)) {
				t.Errorf("SVG does not say %q", want)
			}
			c.X.Categories = []string{name, name}
			c.Series[0].Style = Bars
			vectors(t, c)
		})
	}
}

// Golden files show a change of the layout in review.
func TestGolden(t *testing.T) {
	for name, c := range samples() {
		for suffix, o := range map[string]Options{"": {ID: name}, "-compact": {ID: name, Compact: true, Inline: true}} {
			var b, again bytes.Buffer
			if err := WriteSVG(&b, c, o); err != nil {
				t.Fatal(err)
			}
			if err := WriteSVG(&again, c, o); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
				t.Errorf("%s: a second time gives other bytes (%v)", name, err)
			}
			path := filepath.Join("testdata", name+suffix+".svg")
			if *update {
				if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(b.Bytes(), want) {
				t.Errorf("%s differs; see with go test -update and git diff", path)
			}
		}
	}
}

func TestSamples(t *testing.T) {
	for name, c := range samples() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			draw(t, c)
		})
	}
}

// The written PNG decodes to twice the size of the layout, with the same bytes
// each time.
func TestPNG(t *testing.T) {
	for name, c := range map[string]Chart{"ladder": ladder(), "nothing": {}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			one := within(t, func() ([]byte, error) { return pngBytes(c) })
			two := within(t, func() ([]byte, error) { return pngBytes(c) })
			if !bytes.Equal(one, two) {
				t.Error("a second time gives another PNG")
			}
			img := decode(t, one)
			s := layout(spelled(c, roman), false, ownFont)
			if r := img.Rect; r.Dx() != 1440 || r.Dy() != int(2*s.h) {
				t.Errorf("PNG is %v, want 1440 by %v", r, 2*s.h)
			}
			if n := count(img, func(r, g, b uint8) bool { return r&g&b != 255 }); n < 1000 {
				t.Errorf("PNG has only %d pixels drawn", n)
			}
		})
	}
}

// A writer's error is returned, and no caller's data change.
func TestWriters(t *testing.T) {
	c := edges()
	before := c.Series[0].Name
	if err := WriteSVG(broken{}, c, Options{}); err == nil {
		t.Error("WriteSVG to a broken writer succeeded")
	}
	if err := WritePNG(broken{}, Chart{}); err == nil {
		t.Error("WritePNG to a broken writer succeeded")
	}
	if c.Series[0].Name != before || c.Title != edges().Title {
		t.Error("the chart was changed")
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
