package chart

import (
	"fmt"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	gochart "github.com/wcharczuk/go-chart/v2"
)

// longest is the number of characters of a name that is kept at all.
const longest = 1000

// roboto is go-chart's embedded font. The library's own lazy loading is a data
// race when two charts are drawn at once.
var roboto = sync.OnceValues(gochart.GetDefaultFont)

// advance gives the width of a character as a share of the font size, and
// whether the embedded font has it. Other characters are taken as square.
func advance(r rune) (float64, bool) {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0, false
	}
	f, err := roboto()
	if err != nil {
		return 0.6, false
	}
	if i := f.Index(r); i != 0 {
		return float64(f.HMetric(2048, i).AdvanceWidth) / 2048, true
	}
	return 1, false
}

// ruler measures text, as a multiple of its width in the embedded font: 1 where
// that font is used, more where the reader's may be a wider one.
type ruler float64

const (
	ownFont  ruler = 1
	anyFont  ruler = 1.16 // DejaVu Sans, the widest of the usual ones
	boldFont       = 1.08 // how much wider bold text is
)

// width is the width of s at a font size.
func (m ruler) width(s string, size float64) float64 {
	w := 0.0
	for _, r := range s {
		a, _ := advance(r)
		w += a
	}
	return w * size * float64(m)
}

// fit shortens s with an ellipsis to the given width.
func (m ruler) fit(s string, size, width float64) string {
	if m.width(s, size) <= width {
		return s
	}
	w := m.width("…", size)
	for i, r := range s {
		a, _ := advance(r)
		w += a * size * float64(m)
		if w > width {
			return strings.TrimRight(s[:i], " ") + "…"
		}
	}
	return s
}

// wrap breaks s at blanks into lines of the given width; the last line allowed
// is shortened.
func (m ruler) wrap(s string, size, width float64, lines int) []string {
	var out []string
	line := ""
	words := strings.Fields(s)
	for i, word := range words {
		longer := word
		if line != "" {
			longer = line + " " + word
		}
		if line == "" || m.width(longer, size) <= width {
			line = longer
			continue
		}
		if len(out) == lines-1 {
			line += " " + strings.Join(words[i:], " ")
			break
		}
		out = append(out, m.fit(line, size, width))
		line = word
	}
	if line != "" {
		out = append(out, m.fit(line, size, width))
	}
	return out
}

// printable makes s one line of valid XML characters.
func printable(s string) string {
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > longest {
			b.WriteRune('…')
			break
		}
		switch {
		case unicode.IsSpace(r) || r < ' ':
			b.WriteByte(' ')
		case unicode.IsControl(r), r == 0xFFFE, r == 0xFFFF:
			b.WriteRune(utf8.RuneError)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// roman replaces what the embedded font cannot show: by a Latin spelling where
// there is a usual one, else by the character's number, so that two names stay
// different.
func roman(s string) string {
	s = printable(s)
	var b strings.Builder
	for _, r := range s {
		if _, ok := advance(r); ok || r == ' ' {
			b.WriteRune(r)
			continue
		}
		if spelling, ok := spell(r); ok {
			b.WriteString(spelling)
			continue
		}
		fmt.Fprintf(&b, `\u%04x`, r)
	}
	return b.String()
}

// spell gives the usual Latin spelling of a sign; for a mark on a letter none.
func spell(r rune) (string, bool) {
	switch r {
	case '→', '⟶', '➜':
		return "->", true
	case '←':
		return "<-", true
	case '↑':
		return "^", true
	case '↓':
		return "v", true
	case '⇒':
		return "=>", true
	case '✓', '✔', '✅':
		return "ok", true
	case '✗', '✘', '❌':
		return "x", true
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return "", true
	}
	if r >= 0xFF01 && r <= 0xFF5E { // full-width ASCII
		return string(r - 0xFF01 + '!'), true
	}
	return "", false
}

// spelled applies f to every text of the chart.
func spelled(c Chart, f func(string) string) Chart {
	c.Title, c.Subtitle, c.Empty = f(c.Title), f(c.Subtitle), f(c.Empty)
	c.X.Label, c.Y.Label = f(c.X.Label), f(c.Y.Label)
	c.X.Categories = each(c.X.Categories, most, f)
	c.Notes = each(c.Notes, mostNotes, f)
	if n := len(c.Series) - mostSeries; n > 0 {
		c.Notes = append(c.Notes, fmt.Sprintf("%d more series are left out.", n))
	}
	c.Series = each(c.Series, mostSeries, func(s Series) Series { s.Name = f(s.Name); return s })
	c.Limits = each(c.Limits, most, func(l Limit) Limit { l.Label = f(l.Label); return l })
	c.Marks = each(c.Marks, most, func(m Mark) Mark { m.Label = f(m.Label); return m })
	c.Bands = each(c.Bands, most, func(b Band) Band { b.Name = f(b.Name); return b })
	return c
}

// each applies f to the first few of list, in a new slice.
func each[T any](list []T, atMost int, f func(T) T) []T {
	out := make([]T, 0, min(len(list), atMost))
	for _, v := range list[:min(len(list), atMost)] {
		out = append(out, f(v))
	}
	return out
}
