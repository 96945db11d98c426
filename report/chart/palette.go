package chart

import (
	"fmt"
	"strings"
)

// ink is a colour by its meaning.
type ink int

const (
	paper ink = iota
	text
	muted
	grid
	rule
	band
	limit
	reference
	first // the first of the data colours
)

// tone is an ink's name in CSS and its colour in light and dark.
type tone struct{ name, light, dark string }

// tones returns the palette: Okabe and Ito's hues, shifted so that each has a
// contrast of at least 3:1 against the paper in its scheme.
func tones() [int(first) + Colors]tone {
	return [...]tone{
		{"paper", "#ffffff", "#15181c"},
		{"text", "#1f2328", "#e4e8ec"},
		{"muted", "#59626b", "#a2abb4"},
		{"grid", "#e4e7ea", "#2b3138"},
		{"rule", "#868e96", "#727b84"},
		{"band", "#5b7083", "#9fb4c8"},
		{"limit", "#b3261e", "#ff8a7a"},
		{"reference", "#757c84", "#969ea6"},
		{"1", "#0072b2", "#56aee6"},
		{"2", "#c46f00", "#f0a732"},
		{"3", "#00855f", "#2fc79a"},
		{"4", "#ad4f87", "#e394c3"},
		{"5", "#2a93cf", "#a4dcff"},
		{"6", "#6e6a00", "#d9d16a"},
	}
}

// CSS is the style sheet of inlined charts; a page that holds images written
// with [Options].Inline needs it once, in a style element. It follows the
// reader's colour scheme. A page with a switch of its own sets the properties
// --chart-paper, -text, -muted, -grid, -rule, -band, -limit, -reference and
// --chart-1 … --chart-6, which come first.
func CSS() string {
	var b strings.Builder
	light, dark := "", ""
	for _, t := range tones() {
		light += fmt.Sprintf("--c-%s:var(--chart-%s,%s);", t.name, t.name, t.light)
		dark += fmt.Sprintf("--c-%s:var(--chart-%s,%s);", t.name, t.name, t.dark)
	}
	fmt.Fprintf(&b, ".chart{%sfont-family:%s;max-width:100%%;height:auto}\n", light, fonts)
	fmt.Fprintf(&b, "@media screen and (prefers-color-scheme:dark){.chart{%s}}\n", dark)
	for _, t := range tones() {
		fmt.Fprintf(&b, ".chart .f-%s{fill:var(--c-%s)}.chart .s-%s{stroke:var(--c-%s)}\n", t.name, t.name, t.name, t.name)
	}
	b.WriteString(".chart .halo{paint-order:stroke;stroke:var(--c-paper);stroke-width:4px;stroke-linejoin:round}\n")
	b.WriteString(".chart .hits>*{fill:transparent}.chart .hits>*:hover{stroke:var(--c-text);stroke-width:1.5px}\n")
	return b.String()
}

const fonts = "system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,'Noto Sans',sans-serif"
