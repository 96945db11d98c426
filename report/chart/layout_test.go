package chart

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// names gives the texts of a scene's labels by layer.
func labelsOf(s scene, class string) []string {
	var out []string
	for _, l := range s.layers {
		if l.class != class {
			continue
		}
		for _, sh := range l.shapes {
			if v, ok := sh.(label); ok {
				out = append(out, v.text)
			}
		}
	}
	return out
}

// Names stand beside the lines where they fit, else in a legend; one series
// that the title names needs neither.
func TestNamesOfSeries(t *testing.T) {
	c := ladder()
	s := layout(c, false, ownFont)
	if got := labelsOf(s, "names"); !slices.Equal(got, []string{"p99.9", "p99", "p90", "p50"}) {
		t.Errorf("names beside the lines are %q", got)
	}
	if got := labelsOf(layout(c, true, ownFont), "names"); got != nil {
		t.Errorf("a compact chart has names beside the lines: %q", got)
	}
	if got := labelsOf(layout(c, true, ownFont), "head"); !slices.Contains(got, "p99.9") {
		t.Errorf("a compact chart has no legend: %q", got)
	}
	for i := range c.Series { // all lines end in one place: no room
		c.Series[i].Y = c.Series[0].Y
	}
	c.Series = append(c.Series, c.Series[:2]...)
	for i := range c.Series {
		c.Series[i].Name += strings.Repeat("'", i)
	}
	if got := labelsOf(layout(c, false, ownFont), "head"); !slices.Contains(got, "p50") {
		t.Errorf("no legend: %q", got)
	}
	c.Series = c.Series[:1]
	if got := labelsOf(layout(c, false, ownFont), "head"); !slices.Contains(got, "p50") {
		t.Errorf("the only series is named nowhere: %q", got)
	}
	c.Y.Label = "p50 of response time"
	if got := labelsOf(layout(c, false, ownFont), "head"); slices.Contains(got, "p50") {
		t.Errorf("a legend repeats the axis: %q", got)
	}
}

// A limit near the data is in the picture; one far off is told in words.
func TestLimits(t *testing.T) {
	c := ladder()
	c.Limits = []Limit{{"near", 300 * ms}, {"far", 9000 * ms}, {"", 20 * ms}}
	got := labelsOf(layout(c, false, ownFont), "limits")
	if want := []string{"near", "far (above this chart)", "20 ms"}; !slices.Equal(got, want) {
		t.Errorf("limits are %q, want %q", got, want)
	}
	high := 50 * ms
	c.Y.Max = &high
	got = labelsOf(layout(c, false, ownFont), "limits")
	if want := []string{"near (above this chart)", "far (above this chart)", "20 ms"}; !slices.Equal(got, want) {
		t.Errorf("limits under a fixed end are %q, want %q", got, want)
	}
}

// Several images in one page share no id, and an inlined one has no style.
func TestOptions(t *testing.T) {
	var one, two bytes.Buffer
	if err := WriteSVG(&one, ladder(), Options{ID: `x"><y`, Inline: true}); err != nil {
		t.Fatal(err)
	}
	if err := WriteSVG(&two, ladder(), Options{}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`id="x---y"`, `id="x---y-title"`, `aria-labelledby="x---y-title x---y-desc"`} {
		if !strings.Contains(one.String(), want) {
			t.Errorf("SVG lacks %s", want)
		}
	}
	if strings.Contains(one.String(), "<style") || !strings.Contains(two.String(), "<style") {
		t.Error("a style sheet belongs into a stand-alone SVG only")
	}
	for _, outside := range []string{"http://", "https://", "@import", "url("} {
		text := strings.ReplaceAll(two.String(), `xmlns="http://www.w3.org/2000/svg"`, "")
		if strings.Contains(text, outside) {
			t.Errorf("SVG refers outside: %s", outside)
		}
	}
}
