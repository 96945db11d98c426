package plans

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// A place is where in a request a template stands: it decides what a data value may hold and how it is written.
type place int

const (
	inBody place = iota
	inHeader
	inTarget // path or query: data values are percent-encoded
)

// A filler builds the templates of one request from its data.
type filler struct {
	l       *loader
	request *item
	data    map[string]*Data // nil for one that could not be read
	names   []string
	used    map[string]bool
	out     Template
	made    int // generators so far
	flow    []flowText
}

// literal adds text to the template.
func (f *filler) literal(text string) {
	if n := len(f.out); n > 0 && f.out[n-1].isLiteral() {
		f.out[n-1].Literal += text
	} else if text != "" {
		f.out = append(f.out, Part{Literal: text})
	}
}

// value adds a data column or a generated value to the template.
func (f *filler) value(it *item, p piece, at place) {
	if p.generator != nil {
		f.generated(it, p, at)
		return
	}
	pos := f.l.posIn(it.node, p.at)
	fault := func(what, hint string) {
		f.l.fault(Problem{Pos: pos, Path: it.path, What: what, Got: quote("${" + p.data + "." + p.column + "}"), Hint: hint})
	}
	if p.data == "flow" {
		f.flow = append(f.flow, flowText{p.column, it.path, pos})
		f.out = append(f.out, Part{Flow: p.column, Encode: at == inTarget})
		return
	}
	d, known := f.data[p.data]
	if !known {
		hint := didYouMean(p.data, f.names)
		if name, _, call := strings.Cut(p.data+"."+p.column, "("); hint == "" || call {
			hint = cmp.Or(didYouMean(name, generatorNames), hint)
		}
		if hint == "" {
			hint = "name its file under data of the request"
		}
		fault("unknown data", hint)
		return
	}
	f.used[p.data] = true
	if d == nil {
		return
	}
	col := slices.Index(d.Columns, p.column)
	if col < 0 {
		hint := didYouMean(p.column, d.Columns)
		if hint == "" {
			hint = "there are " + shorten(strings.Join(d.Columns, ", "))
		}
		fault("unknown column of "+quote(p.data), hint)
		return
	}
	switch t := d.table; {
	case t.absent[col] > 0:
		fault(fmt.Sprintf("the row at line %d of the data has no such column", t.absent[col]), "")
		return
	case at == inHeader && t.control[col] > 0:
		fault(fmt.Sprintf("the row at line %d of the data has a control character, which no header may have", t.control[col]), "")
		return
	}
	f.out = append(f.out, Part{Data: d, Column: col, Encode: at == inTarget})
}

// generated adds a value that is made for each request.
func (f *filler) generated(it *item, p piece, at place) {
	g := *p.generator
	g.Number = f.made
	f.made++
	if at == inHeader && slices.ContainsFunc(g.Choices, func(c string) bool { return !headerText(c) }) {
		f.l.fault(Problem{Pos: f.l.posIn(it.node, p.at), Path: it.path, What: "control character in a header value", Want: "text on one line"})
		return
	}
	f.out = append(f.out, Part{Generator: &g, Encode: at == inTarget})
}

// text builds the template of a body or a header.
func (f *filler) text(it *item, at place) Template {
	f.out = Template{}
	for _, p := range it.text {
		if p.filled() {
			f.value(it, p, at)
			continue
		}
		f.literal(p.text)
	}
	return f.out
}

// target builds the template of path and query.
func (f *filler) target(path, query *item) Template {
	f.out = Template{}
	inQuery := false
	if !strings.HasPrefix(plain(path.text), "/") {
		hint := "write /" + shown(path.text, false)
		if strings.Contains(plain(path.text), "://") {
			hint = "put scheme and host under targets"
		}
		f.l.fault(path.fault("path does not begin with /", path.quoted(), path.shape.want(), hint))
		return nil
	}
	for _, p := range path.text {
		if p.filled() {
			f.value(path, p, inTarget)
			continue
		}
		text, fragment, cut := p.text, "", false
		if p.literal { // in the value of a variable, # is data
			text, fragment, cut = strings.Cut(p.text, "#")
		}
		encoded, what := encodeTarget(text, &inQuery)
		if what != "" {
			f.l.fault(path.fault(what, path.quoted(), path.shape.want(), percentHint(what)))
			return nil
		}
		f.literal(encoded)
		if cut {
			f.l.warn(path.fault("the fragment of the path is not sent", "", "", "remove #"+shorten(fragment)))
			break
		}
	}
	separator := "?"
	if inQuery {
		separator = "&"
	}
	for _, q := range query.children() {
		for _, v := range q.all() {
			f.literal(separator + encodeValue(q.name) + "=")
			separator = "&"
			for _, p := range v.text {
				if p.filled() {
					f.value(v, p, inTarget)
					continue
				}
				f.literal(encodeValue(p.text))
			}
		}
	}
	return f.out
}

func percentHint(what string) string {
	if strings.HasPrefix(what, "%") {
		return "write %25 for a percent sign"
	}
	return ""
}

// shorten cuts a list for a message.
func shorten(text string) string {
	if r := []rune(text); len(r) > maxQuote {
		return string(r[:maxQuote]) + "…"
	}
	return text
}

// headerText reports whether text may stand in a header value (RFC 9110 section 5.5).
func headerText(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
