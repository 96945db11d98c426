package plans

import (
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
}

// literal adds text to the template.
func (f *filler) literal(text string) {
	if n := len(f.out); n > 0 && f.out[n-1].Data == nil {
		f.out[n-1].Literal += text
	} else if text != "" {
		f.out = append(f.out, Part{Literal: text})
	}
}

// value adds a data column to the template.
func (f *filler) value(it *item, p piece, at place) {
	pos := f.l.posIn(it.node, p.at)
	fault := func(what, hint string) {
		f.l.fault(Problem{Pos: pos, Path: it.path, What: what, Got: quote("${" + p.data + "." + p.column + "}"), Hint: hint})
	}
	d, known := f.data[p.data]
	if !known {
		hint := didYouMean(p.data, f.names)
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
	t := f.l.tables[d.File]
	col := slices.Index(t.columns, p.column)
	if col < 0 {
		hint := didYouMean(p.column, t.columns)
		if hint == "" {
			hint = "there are " + shorten(strings.Join(t.columns, ", "))
		}
		fault("unknown column of "+quote(p.data), hint)
		return
	}
	for i, row := range t.rows {
		switch {
		case t.absent[[2]int{i, col}]:
			fault(fmt.Sprintf("the row at line %d of the data has no such column", t.lines[i]), "")
			return
		case at == inHeader && !headerText(row[col]):
			fault(fmt.Sprintf("the row at line %d of the data has a control character, which no header may have", t.lines[i]), "")
			return
		}
	}
	if at == inTarget {
		col = encodedColumn(d, col)
	}
	f.out = append(f.out, Part{Data: d, Column: col})
}

// encodedColumn gives the column that holds the percent-encoded values of col: col itself when nothing in it
// needs that, else a column of its own behind those of the file.
func encodedColumn(d *Data, col int) int {
	name := d.Columns[col] + " (percent-encoded)"
	if i := slices.Index(d.Columns, name); i >= 0 {
		return i
	}
	encoded := make([]string, len(d.Rows))
	same := true
	for i, row := range d.Rows {
		encoded[i] = encodeValue(row[col])
		same = same && encoded[i] == row[col]
	}
	if same {
		return col
	}
	rows := make([][]string, len(d.Rows))
	for i, row := range d.Rows {
		rows[i] = append(slices.Clip(row), encoded[i])
	}
	d.Columns, d.Rows = append(d.Columns, name), rows
	return len(d.Columns) - 1
}

// text builds the template of a body or a header.
func (f *filler) text(it *item, at place) Template {
	f.out = Template{}
	for _, p := range it.text {
		if p.data != "" {
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
		if p.data != "" {
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
				if p.data != "" {
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
