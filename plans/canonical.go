package plans

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// YAML is the effective plan: every default filled in, every variable replaced, anchors resolved. It is a plan
// itself, with the same Hash when it is read with the same folder and environment. What requests, commands and
// file names take from the environment stays ${env.NAME}: it may be secret, and differs between machines.
func (p *Plan) YAML() []byte { return slices.Clone(p.effective) }

// canonical writes the effective plan.
func (l *loader) canonical(top *item) []byte {
	var b strings.Builder
	writeMap(&b, top, "")
	return []byte(b.String())
}

// writeMap writes the entries of a map, each on lines of its own that begin with indent. A map with fixed keys
// is written in the order of its shape.
func writeMap(b *strings.Builder, it *item, indent string) {
	entries := it.entries
	if it.shape.keys != nil {
		entries = nil
		for _, k := range it.shape.keys {
			if e := it.get(k.name); e != nil && !(it.path == "" && k.name == "vars") {
				entries = append(entries, e)
			}
		}
	}
	for _, e := range entries {
		b.WriteString(indent + scalarText(e.name) + ":")
		writeValue(b, e, indent)
	}
}

// writeValue writes what stands behind a key or a dash.
func writeValue(b *strings.Builder, it *item, indent string) {
	switch {
	case it.shape.scalar == commandScalar || it.shape.scalar == startScalar:
		b.WriteString(" [")
		for i, w := range it.commandWords() {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(doubleQuoted(shown(w, true)))
		}
		b.WriteString("]\n")
	case it.form == scalarForm:
		b.WriteString(" " + itemText(it) + "\n")
	case it.form == listForm && len(it.list) == 0:
		b.WriteString(" []\n")
	case it.form == listForm:
		b.WriteString("\n")
		for _, e := range it.list {
			b.WriteString(indent + "  -")
			if e.form == mapForm && len(e.entries) > 0 {
				var inner strings.Builder
				writeMap(&inner, e, indent+"    ")
				b.WriteString(" " + strings.TrimPrefix(inner.String(), indent+"    "))
				continue
			}
			writeValue(b, e, indent+"  ")
		}
	case len(it.entries) == 0:
		b.WriteString(" {}\n")
	default:
		b.WriteString("\n")
		writeMap(b, it, indent+"  ")
	}
}

// itemText is a scalar as the effective plan has it.
func itemText(it *item) string {
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

// digest notes the content of a file that the plan names: a plan with another body is another plan.
func (l *loader) digest(it *item, content []byte) {
	sum := sha256.Sum256(content)
	l.digests[shown(it.text, true)] = hex.EncodeToString(sum[:])
}

// hash is over the effective plan and the content of the files it names.
func (l *loader) hash(effective []byte) string {
	h := sha256.New()
	h.Write(effective)
	for _, name := range slices.Sorted(maps.Keys(l.digests)) {
		fmt.Fprintf(h, "%q %s\n", name, l.digests[name])
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}
