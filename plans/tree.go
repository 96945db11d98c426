package plans

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// Bounds on what a plan may be. Plans are written by hand; large bodies and tables stand in files of their own.
const (
	maxSource = 1 << 20 // bytes of a plan file
	maxNodes  = 50_000  // values of a plan, those behind aliases counted each time
	maxText   = 8 << 20 // bytes that variables put into a plan
)

// parse turns source into the tree of its only document, or reports why it cannot.
func (l *loader) parse() *yaml.Node {
	if p, bad := l.badText(); bad {
		l.fault(p)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(l.text))
	var doc, second yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		l.fault(l.empty())
		return nil
	} else if err != nil {
		l.fault(l.syntax(err))
		return nil
	}
	if err := dec.Decode(&second); err == nil {
		l.fault(Problem{Pos: l.pos(&second), What: "second document", Want: "one plan per file", Hint: "remove the ---"})
		return nil
	} else if !errors.Is(err, io.EOF) {
		l.fault(l.syntax(err))
		return nil
	}
	if len(doc.Content) != 1 || isNull(doc.Content[0]) {
		l.fault(l.empty())
		return nil
	}
	if !l.sound(doc.Content[0], map[*yaml.Node]bool{}) {
		return nil
	}
	return doc.Content[0]
}

func (l *loader) empty() Problem {
	return Problem{Pos: l.at(1, 1), What: "the plan is empty", Want: "version, name and stages"}
}

// badText finds bytes that no plan may hold; yaml.v3 would tell them without a position.
func (l *loader) badText() (Problem, bool) {
	if len(l.text) > maxSource {
		return Problem{Pos: l.at(0, 0), What: "the plan is too large", Got: fmt.Sprintf("more than %d bytes", maxSource),
			Want: "at most 1 MiB", Hint: "put bodies and tables into files of their own"}, true
	}
	for i, line := range splitLines(l.text) {
		col := 1
		for j, r := range line {
			if r == utf8.RuneError && !strings.HasPrefix(line[j:], "\ufffd") {
				return Problem{Pos: l.at(i+1, col), What: "not UTF-8 text", Got: fmt.Sprintf("byte 0x%02x", line[j])}, true
			}
			if r < ' ' && r != '\t' || r == 0x7f || r >= 0x80 && r < 0xa0 || r == 0xfffe || r == 0xffff {
				return Problem{Pos: l.at(i+1, col), What: "control character", Got: fmt.Sprintf("%U", r), Want: "text", Hint: escapeHint(r)}, true
			}
			col++
		}
	}
	return Problem{}, false
}

// escapeHint says how a control character is written; "" for one that no text holds, as of a file that is none.
func escapeHint(r rune) string {
	if r == 0 || r > 0xff {
		return ""
	}
	return fmt.Sprintf(`write it in double quotes as "\x%02x"`, r)
}

// sound refuses what no part of a plan may hold, unused parts included: anchors that contain themselves and tags
// that change how a text is read.
func (l *loader) sound(n *yaml.Node, above map[*yaml.Node]bool) bool {
	if n.Kind == yaml.AliasNode {
		if above[n.Alias] {
			l.fault(Problem{Pos: l.pos(n), What: "anchor contains itself", Got: "*" + n.Value})
			return false
		}
		return true
	}
	if tag := n.ShortTag(); n.Style&yaml.TaggedStyle != 0 && !strings.HasPrefix(tag, "!!") || tag == "!!binary" || tag == "!!set" || tag == "!!omap" {
		l.fault(Problem{Pos: l.pos(n), What: "tag is not supported", Got: tag, Hint: "write the value without it"})
		return false
	}
	above[n] = true
	ok := true
	for _, c := range n.Content {
		ok = l.sound(c, above) && ok
	}
	delete(above, n)
	return ok
}

// A pair is an entry of a map, << already followed.
type pair struct{ key, value *yaml.Node }

// pairs lists the entries of a map: its own in their order, then those of <<, which never replace one.
func (l *loader) pairs(n *yaml.Node, path string) []pair {
	var own []pair
	var merges []*yaml.Node
	seen := map[string]*yaml.Node{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			alias := &yaml.Node{Kind: k.Alias.Kind, Tag: k.Alias.Tag, Value: k.Alias.Value, Line: k.Line, Column: k.Column}
			if s := l.foreign[k]; s != nil {
				l.foreign[alias] = s
			}
			k = alias
		}
		if k.Kind != yaml.ScalarNode {
			l.fault(Problem{Pos: l.pos(k), Path: path, What: "a key that is not text", Got: describe(k), Hint: "quote it if it is one"})
			continue
		}
		if first, dup := seen[k.Value]; dup {
			l.fault(Problem{Pos: l.pos(k), Path: join(path, k.Value),
				What: fmt.Sprintf("duplicate key, first at %d:%d", first.Line, first.Column)})
		}
		switch _, dup := seen[k.Value]; {
		case k.Tag == "!!merge":
			merges = append(merges, v)
		case !dup:
			own = append(own, pair{k, v})
		}
		seen[k.Value] = cmp.Or(seen[k.Value], k)
	}
	for _, m := range merges {
		for _, p := range l.merged(m, path) {
			if _, dup := seen[p.key.Value]; !dup {
				seen[p.key.Value] = p.key
				own = append(own, p)
			}
		}
	}
	return own
}

// merged lists the entries that the value of a << gives: of a map, or of the maps of a list, the earlier first.
func (l *loader) merged(n *yaml.Node, path string) []pair {
	from := n
	if n.Kind == yaml.AliasNode {
		from = n.Alias
	}
	if !l.visit(n, 1+len(from.Content)) {
		return nil
	}
	switch from.Kind {
	case yaml.MappingNode:
		return l.pairs(from, path)
	case yaml.SequenceNode:
		var all []pair
		for _, c := range from.Content {
			if c.Kind == yaml.SequenceNode || c.Kind == yaml.AliasNode && c.Alias.Kind == yaml.SequenceNode {
				l.fault(Problem{Pos: l.pos(c), Path: path, What: "cannot merge", Got: "a list in a list", Want: "<<: *map or <<: [*map, *map]"})
				continue
			}
			all = append(all, l.merged(c, path)...)
		}
		return all
	}
	l.fault(Problem{Pos: l.pos(n), Path: path, What: "cannot merge", Got: describe(from), Want: "<<: *map or <<: [*map, *map]"})
	return nil
}

// visit counts values and reports, once, when aliases blow the plan up.
func (l *loader) visit(n *yaml.Node, values int) bool {
	if l.visits <= maxNodes && l.visits+values > maxNodes {
		l.fault(Problem{Pos: l.pos(n), What: "aliases expand too far", Got: fmt.Sprintf("more than %d values", maxNodes),
			Want: "a smaller plan"})
	}
	l.visits += values
	return l.visits <= maxNodes && !l.full
}

// isNull reports whether a value is absent, ~ or null.
func isNull(n *yaml.Node) bool { return n.Kind == yaml.ScalarNode && n.ShortTag() == "!!null" }

// describe names what a node is, in YAML's words.
func describe(n *yaml.Node) string {
	switch n.Kind {
	case yaml.AliasNode:
		return describe(n.Alias)
	case yaml.MappingNode:
		return "a map"
	case yaml.SequenceNode:
		return "a list"
	}
	if isNull(n) {
		if n.Value == "" {
			return "nothing"
		}
		return n.Value
	}
	return quote(n.Value)
}

// maxPlaced is the longest scalar in which places are told apart, in bytes.
const maxPlaced = 100_000

// posIn is the place of byte off of a scalar's value; the scalar's own place where the source does not show the
// value as it is (escapes, folded lines).
func (l *loader) posIn(n *yaml.Node, off int) Position {
	s := l.of(n)
	start := s.at(n.Line, n.Column)
	if n.Line < 1 && n.Style&yaml.LiteralStyle == 0 || n.Line > len(s.lines) || off > len(n.Value) || off < 0 || len(n.Value) > maxPlaced {
		return start
	}
	head := n.Value[:off]
	if n.Style&yaml.LiteralStyle != 0 {
		line := strings.Count(head, "\n")
		last := head[strings.LastIndexByte(head, '\n')+1:]
		if n.Line+line >= len(s.lines) {
			return start
		}
		text := s.lines[n.Line+line]
		body, _, _ := strings.Cut(n.Value[off-len(last):], "\n")
		if i := strings.Index(text, body); i >= 0 {
			return s.at(n.Line+line+1, utf8.RuneCountInString(text[:i]+last)+1)
		}
		return start
	}
	rest := []rune(s.lines[n.Line-1])
	rest = rest[min(n.Column-1, len(rest)):]
	text := string(rest)
	for strings.HasPrefix(text, "&") || strings.HasPrefix(text, "!") {
		_, after, ok := strings.Cut(text, " ")
		if !ok {
			return start
		}
		text = strings.TrimLeft(after, " ")
	}
	if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 && text != "" {
		text = text[1:]
	}
	if !strings.HasPrefix(text, head) {
		return start
	}
	before := len(rest) - utf8.RuneCountInString(text)
	return s.at(n.Line, n.Column+before+utf8.RuneCountInString(head))
}
