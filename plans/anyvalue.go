package plans

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"

	"gopkg.in/yaml.v3"
)

var jsonNumber = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)

// readAny reads a value of any form as compact JSON. Plain numbers, true, false and null are what they look like;
// what YAML would read as another number than JSON (010, 1_000) is refused.
func (l *loader) readAny(it *item) *item {
	var value, source strings.Builder
	if !l.writeJSON(&value, it.node, it.path, 0, plain) {
		return nil
	}
	l.writeJSON(&source, it.node, it.path, 0, func(ps []piece) string { return shown(ps, true) })
	it.json, it.source = value.String(), source.String()
	return it
}

// The deepest nesting of a JSON value in a plan.
const maxDepth = 50

func (l *loader) writeJSON(b *strings.Builder, n *yaml.Node, path string, depth int, render func([]piece) string) bool {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if !l.visit(n, 1) {
		return false
	}
	if depth > maxDepth {
		l.fault(Problem{Pos: l.pos(n), Path: path, What: "value is nested too deep", Want: fmt.Sprintf("at most %d levels", maxDepth)})
		return false
	}
	ok := true
	switch n.Kind {
	case yaml.SequenceNode:
		b.WriteByte('[')
		for i, c := range n.Content {
			if i > 0 {
				b.WriteByte(',')
			}
			ok = l.writeJSON(b, c, fmt.Sprintf("%s[%d]", path, i), depth+1, render) && ok
		}
		b.WriteByte(']')
	case yaml.MappingNode:
		b.WriteByte('{')
		for i, p := range l.pairs(n, path) {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(jsonString(p.key.Value) + ":")
			ok = l.writeJSON(b, p.value, join(path, p.key.Value), depth+1, render) && ok
		}
		b.WriteByte('}')
	default:
		return l.writeScalar(b, n, path, render)
	}
	return ok
}

func (l *loader) writeScalar(b *strings.Builder, n *yaml.Node, path string, render func([]piece) string) bool {
	ps, ok := l.expand(n.Value, 0, n, path, textScalar)
	if !ok {
		return false
	}
	text, tag := render(ps), n.ShortTag()
	switch {
	case tag == "!!null":
		b.WriteString("null")
	case tag == "!!bool" && (text == "true" || text == "false"), (tag == "!!int" || tag == "!!float") && jsonNumber.MatchString(text):
		b.WriteString(text)
	case tag == "!!int" || tag == "!!float":
		l.fault(Problem{Pos: l.pos(n), Path: path, What: "not a JSON number", Got: quote(text), Want: "digits as in JSON, or text in quotes"})
		return false
	default:
		b.WriteString(jsonString(text))
	}
	return true
}

// jsonString is text as a JSON string, < and > left readable. It is a double-quoted text of YAML, too.
func jsonString(text string) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(text); err != nil { // cannot happen: strings always encode
		return `""`
	}
	return strings.TrimSuffix(b.String(), "\n")
}
