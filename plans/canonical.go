package plans

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// YAML is the effective plan: every default filled in, every variable replaced, anchors resolved. It is a plan
// itself, with the same Hash when it is read with the same folder and environment. What requests, commands and
// file names take from the environment stays ${env.NAME}: it may be secret, and differs between machines.
func (p *Plan) YAML() []byte { return slices.Clone(p.effective) }

// Annotated is the effective plan with a comment behind each value that says where it comes from: the line of the file,
// a profile, a setting from outside, or the default.
func (p *Plan) Annotated() []byte {
	var b strings.Builder
	width := 0
	for _, o := range p.origins {
		width = max(width, utf8.RuneCountInString(o.line))
	}
	width = min(width, 60)
	for _, o := range p.origins {
		if o.from == "" {
			b.WriteString(o.line + "\n")
			continue
		}
		fmt.Fprintf(&b, "%-*s  # %s\n", width, o.line, o.from)
	}
	return []byte(b.String())
}

// An origin is a line of the effective plan and where its value comes from.
type origined struct{ line, from string }

// canonical writes the effective plan.
func (l *loader) canonical(top *item) ([]byte, []origined) {
	w := &planWriter{l: l}
	w.writeMap(top, "")
	var lines []origined
	var b strings.Builder
	for line := range strings.Lines(w.String()) {
		text, from, _ := strings.Cut(strings.TrimSuffix(line, "\n"), originMark)
		b.WriteString(text + "\n")
		lines = append(lines, origined{text, from})
	}
	return []byte(b.String()), lines
}

// A planWriter writes a plan; behind each value is a mark and where it comes from.
type planWriter struct {
	strings.Builder
	l *loader
}

// originMark cannot be in a plan: what is unprintable is escaped.
const originMark = "\x00"

func (w *planWriter) end(it *item) { w.WriteString(originMark + w.l.originOf(it) + "\n") }

// writeMap writes the entries of a map, each on lines of its own that begin with indent. A map with fixed keys
// is written in the order of its shape.
func (w *planWriter) writeMap(it *item, indent string) {
	entries := it.entries
	if it.shape.keys != nil {
		entries = nil
		for _, k := range it.shape.keys {
			e := it.get(k.name)
			if it.path == "" && k.name == "vars" {
				e = w.l.keptVars(e)
			}
			if e != nil {
				entries = append(entries, e)
			}
		}
	}
	for _, e := range entries {
		w.WriteString(indent + scalarText(e.name) + ":")
		w.writeValue(e, indent)
	}
}

// keptVars are the vars that template files use: all others are replaced. nil: there are none.
func (l *loader) keptVars(it *item) *item {
	if it == nil || !slices.Contains(slices.Collect(maps.Values(l.kept)), true) {
		return nil
	}
	kept := *it
	kept.entries = slices.DeleteFunc(slices.Clone(it.entries), func(e *item) bool { return !l.kept[e.name] })
	return &kept
}

// writeValue writes what stands behind a key or a dash.
func (w *planWriter) writeValue(it *item, indent string) {
	switch {
	case it.shape.scalar == commandScalar || it.shape.scalar == startScalar || it.shape.scalar == gridCommand:
		w.WriteString(" [")
		for i, words := range it.commandWords() {
			if i > 0 {
				w.WriteString(", ")
			}
			w.WriteString(doubleQuoted(shown(words, true)))
		}
		w.WriteString("]")
		w.end(it)
	case it.form == scalarForm:
		w.WriteString(" " + w.l.itemText(it))
		w.end(it)
	case it.form == listForm && len(it.list) == 0:
		w.WriteString(" []")
		w.end(it)
	case it.form == listForm:
		w.WriteString("\n")
		for _, e := range it.list {
			w.WriteString(indent + "  -")
			if e.form == mapForm && len(e.entries) > 0 {
				inner := &planWriter{l: w.l}
				inner.writeMap(e, indent+"    ")
				w.WriteString(" " + strings.TrimPrefix(inner.String(), indent+"    "))
				continue
			}
			w.writeValue(e, indent+"  ")
		}
	case len(it.entries) == 0:
		w.WriteString(" {}")
		w.end(it)
	default:
		w.WriteString("\n")
		w.writeMap(it, indent+"  ")
	}
}

// itemText is a scalar as the effective plan has it.
func (l *loader) itemText(it *item) string {
	if it.shape == pathShape || it.shape == folderShape || it.shape == tableShape {
		return scalarText(l.filePath(it))
	}
	switch it.shape.scalar {
	case anyValue:
		return it.source
	case integerScalar, booleanScalar, rateScalar:
		return it.value()
	case durationScalar:
		return formatDuration(it.time)
	}
	if it.shape.open || len(it.shape.choices()) > 0 {
		return scalarText(shown([]piece{{text: it.value()}}, true))
	}
	return scalarText(shown(it.text, true))
}

var (
	plainText = regexp.MustCompile(`^[A-Za-z0-9/$_][A-Za-z0-9 /._:,@%+=<>()\[\]{}$-]*$`)
	nullText  = regexp.MustCompile(`^(null|Null|NULL)$`)
)

// scalarText writes a text so that YAML reads exactly it: plain where that is safe, else quoted.
func scalarText(text string) string {
	switch {
	case plainText.MatchString(text) && !nullText.MatchString(text) && !strings.Contains(text, ": ") &&
		!strings.HasSuffix(text, ":") && !strings.HasSuffix(text, " "):
		return text
	case text != "" && !strings.ContainsFunc(text, func(r rune) bool { return r != ' ' && !unicode.IsPrint(r) }):
		return "'" + strings.ReplaceAll(text, "'", "''") + "'"
	}
	return doubleQuoted(text)
}

// doubleQuoted writes a text in YAML's double quotes, everything unprintable escaped.
func doubleQuoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r < 0x100:
			fmt.Fprintf(&b, `\x%02X`, r)
		case r < 0x10000:
			fmt.Fprintf(&b, `\u%04X`, r)
		default:
			fmt.Fprintf(&b, `\U%08X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// filePath is a path as the effective plan has it: relative to the plan's folder, wherever it is written.
func (l *loader) filePath(it *item) string {
	text := shown(it.text, true)
	from := l.of(it.node).dir
	if from == l.dir || filepath.IsAbs(it.value()) || !it.given {
		return text
	}
	inner, err := filepath.Rel(l.dir, from)
	if err != nil {
		return text
	}
	return filepath.Join(inner, text)
}

// digest notes the content of a file that the plan names: a plan with another body is another plan.
func (l *loader) digest(it *item, content []byte) {
	sum := sha256.Sum256(content)
	l.digests[l.filePath(it)] = hex.EncodeToString(sum[:])
}

// withoutBaseline is an effective plan without the key baseline: what its runs are compared with does not make it another plan.
func withoutBaseline(effective []byte) (rest []byte) {
	within := false
	for line := range bytes.Lines(effective) {
		if line[0] != ' ' && line[0] != '-' {
			within = bytes.HasPrefix(line, []byte("baseline:"))
		}
		if !within {
			rest = append(rest, line...)
		}
	}
	return rest
}

// hash is over the effective plan and the content of the files it names.
func (l *loader) hash(effective []byte) string {
	h := sha256.New()
	h.Write(withoutBaseline(effective))
	for _, name := range slices.Sorted(maps.Keys(l.digests)) {
		fmt.Fprintf(h, "%q %s\n", name, l.digests[name])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
