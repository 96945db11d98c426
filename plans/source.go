package plans

import (
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"
)

// A source is a text that a part of the plan stands in: its file, a file that it includes, or a setting from outside.
type source struct {
	file  string // for messages
	dir   string // absolute; where relative paths in it start
	text  []byte
	lines []string
	label string // of a profile or setting: where its values come from, for explain
}

func newSource(file, dir string, text []byte) *source {
	return &source{file: file, dir: dir, text: text, lines: splitLines(text)}
}

func (s *source) at(line, col int) Position { return Position{File: s.file, Line: line, Col: col} }

// of is the source that a node stands in.
func (l *loader) of(n *yaml.Node) *source {
	if s := l.foreign[n]; s != nil {
		return s
	}
	return l.source
}

// pos is the place of a node.
func (l *loader) pos(n *yaml.Node) Position { return l.of(n).at(n.Line, n.Column) }

// belongs notes that a node and all that it holds stand in s.
func (l *loader) belongs(n *yaml.Node, s *source) {
	l.foreign[n] = s
	for _, c := range n.Content {
		l.belongs(c, s)
	}
}

// clone copies a node but not what it holds, so that an anchor that others use, too, stays as it is. An alias becomes
// what it stands for.
func (l *loader) clone(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	c := *n
	c.Content, c.Anchor = slices.Clone(n.Content), ""
	if s := l.foreign[n]; s != nil {
		l.foreign[&c] = s
	}
	return &c
}

// entry finds the value of a key in a map, also one that << gives; nil if there is none.
func entry(n *yaml.Node, key string) *yaml.Node { return merged(n, key, 0) }

func merged(n *yaml.Node, key string, depth int) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if depth > maxDepth {
		return nil
	}
	var found *yaml.Node
	if n.Kind == yaml.SequenceNode && depth > 0 { // of a <<: [*a, *b], where the earlier wins
		for _, c := range n.Content {
			if found = merged(c, key, depth+1); found != nil {
				return found
			}
		}
	}
	if n.Kind != yaml.MappingNode {
		return nil
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		switch {
		case keyText(k) == key && k.Tag != "!!merge":
			return v
		case k.Tag == "!!merge" && found == nil:
			found = merged(v, key, depth+1)
		}
	}
	return found
}

// keyText is the text of a key.
func keyText(k *yaml.Node) string {
	if k.Kind == yaml.AliasNode {
		k = k.Alias
	}
	return k.Value
}

// put gives a key of a map its value, in the place of the one it has.
func put(n *yaml.Node, key, value *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if keyText(n.Content[i]) == key.Value && n.Content[i].Tag != "!!merge" {
			n.Content[i+1] = value
			return
		}
	}
	n.Content = append(n.Content, key, value)
}

// take takes a key out of a map. It reports whether it was there.
func take(n *yaml.Node, key string) bool {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if keyText(n.Content[i]) == key && n.Content[i].Tag != "!!merge" {
			n.Content = slices.Delete(n.Content, i, i+2)
			return true
		}
	}
	return false
}

// once reports a key that a map has twice, of those that are taken out of the plan before it is read.
func (l *loader) once(n *yaml.Node, key string) bool {
	var first *yaml.Node
	for i := 0; i+1 < len(n.Content); i += 2 {
		k := n.Content[i]
		switch {
		case keyText(k) != key || k.Tag == "!!merge":
		case first == nil:
			first = k
		default:
			l.fault(Problem{Pos: l.pos(k), Path: key, What: fmt.Sprintf("duplicate key, first at %d:%d", first.Line, first.Column)})
			return false
		}
	}
	return true
}

// keysOf are the keys of a map, those that << gives left out.
func keysOf(n *yaml.Node) []string {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	var all []string
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Tag != "!!merge" {
			all = append(all, keyText(n.Content[i]))
		}
	}
	return all
}

// textNode makes a node of a text that stands for itself.
func textNode(text string, like *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: text, Line: like.Line, Column: like.Column}
}
