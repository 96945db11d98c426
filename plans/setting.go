package plans

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// A step of a path: a key of a map, or the entry of a list by its number or its name.
type step struct {
	name   string
	number int // -1: by name
	at     int // byte offset in the path
}

// A pathFault says why a path cannot be read.
type pathFault struct {
	what, got, want, hint string
	at                    int
}

const pathNoun = "a path like stages.hold.load.for"

// parsePath reads a path as messages show it: stages[1].load.rate, stages.hold.load.rate, requests["a.b"].path.
func parsePath(text string) ([]step, *pathFault) {
	var steps []step
	for i := 0; i < len(text); {
		begin := i
		switch {
		case text[i] == '[':
			end := strings.IndexByte(text[i:], ']')
			inner := ""
			if strings.HasPrefix(text[i:], `["`) {
				quoted, err := strconv.QuotedPrefix(text[i+1:])
				if err != nil {
					return nil, &pathFault{"quote is not closed", quote(text[i:]), pathNoun, "", i}
				}
				inner, _ = strconv.Unquote(quoted)
				if end = 1 + len(quoted); i+end >= len(text) || text[i+end] != ']' {
					return nil, &pathFault{"bracket is not closed", quote(text[i:]), pathNoun, "", i}
				}
				steps = append(steps, step{inner, -1, begin})
			} else if end < 0 {
				return nil, &pathFault{"bracket is not closed", quote(text[i:]), pathNoun, "", i}
			} else if n, err := strconv.Atoi(text[i+1 : i+end]); err == nil && n >= 0 {
				steps = append(steps, step{text[i+1 : i+end], n, begin})
			} else {
				steps = append(steps, step{text[i+1 : i+end], -1, begin})
			}
			i += end + 1
		default:
			if text[i] == '.' && i > 0 {
				i, begin = i+1, i+1
			}
			for i < len(text) && text[i] != '.' && text[i] != '[' {
				i++
			}
			if i == begin {
				return nil, &pathFault{"not a path", quote(text), pathNoun, "", begin}
			}
			steps = append(steps, step{text[begin:i], -1, begin})
		}
	}
	if len(steps) == 0 {
		return nil, &pathFault{"not a path", quote(text), pathNoun, "", 0}
	}
	return steps, nil
}

// A setting gives the place at a path another value. null takes it out.
type setting struct {
	path  string
	key   *yaml.Node // where the path stands
	value *yaml.Node
	in    string // where the setting stands, for messages
}

// set applies a setting to the plan whose top is given.
func (l *loader) set(top *yaml.Node, s setting) {
	fault := func(at int, what, got, want, hint string) {
		p := l.posIn(s.key, at)
		l.fault(Problem{Pos: p, Path: s.in, What: what, Got: got, Want: want, Hint: hint})
	}
	steps, bad := parsePath(s.path)
	if bad != nil {
		fault(bad.at, bad.what, bad.got, bad.want, bad.hint)
		return
	}
	if first := steps[0].name; first == "include" || first == "profiles" || first == "secrets" {
		fault(0, "cannot be set from outside", quote(s.path), "", "")
		return
	}
	n := top
	for i, st := range steps[:len(steps)-1] {
		next, ok := l.stepInto(n, st, steps[:i+1], s, fault)
		if !ok {
			return
		}
		n = next
	}
	last := steps[len(steps)-1]
	switch {
	case n.Kind == yaml.SequenceNode:
		i, ok := l.find(n, last, s.path[:last.at], fault)
		switch {
		case !ok:
		case isNull(s.value):
			n.Content = slices.Delete(n.Content, i, i+1)
		default:
			n.Content[i] = s.value
		}
	case n.Kind != yaml.MappingNode:
		fault(last.at, "no such place", quote(s.path), "", strings.TrimSuffix(s.path[:last.at], ".")+" is "+describe(n))
	case isNull(s.value):
		if !take(n, last.name) {
			fault(last.at, "nothing to take out", quote(s.path), "", didYouMean(last.name, keysOf(n)))
		}
	case !unknown(n, steps, fault):
		key := textNode(last.name, s.key)
		l.foreign[key] = l.of(s.key)
		put(n, key, s.value)
		l.sign(n, last.name, s.key)
	}
}

// sign makes the key of an entry one of the setting's: what is wrong with it is told there.
func (l *loader) sign(n *yaml.Node, name string, at *yaml.Node) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		if keyText(n.Content[i]) == name && n.Content[i].Tag != "!!merge" {
			n.Content[i] = textNode(name, at)
			l.foreign[n.Content[i]] = l.of(at)
		}
	}
}

// stepInto goes one step down and copies what it goes into, so that what other aliases stand for stays as it is. A map
// that is not there is made.
func (l *loader) stepInto(n *yaml.Node, st step, way []step, s setting, fault func(int, string, string, string, string)) (*yaml.Node, bool) {
	switch n.Kind {
	case yaml.SequenceNode:
		i, ok := l.find(n, st, s.path[:st.at], fault)
		if !ok {
			return nil, false
		}
		n.Content[i] = l.clone(n.Content[i])
		return n.Content[i], true
	case yaml.MappingNode:
		inner := entry(n, st.name)
		if inner == nil {
			if unknown(n, way, fault) {
				return nil, false
			}
			inner = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: s.key.Line, Column: s.key.Column}
			l.foreign[inner] = l.of(s.key)
		}
		inner = l.clone(inner)
		key := textNode(st.name, s.key)
		l.foreign[key] = l.of(s.key)
		put(n, key, inner)
		return inner, true
	}
	fault(st.at, "no such place", quote(s.path), "", strings.TrimSuffix(s.path[:st.at], ".")+" is "+describe(n))
	return nil, false
}

// ofTheAuthor are the maps whose names the plan chooses: a setting changes entries of theirs and makes none.
var ofTheAuthor = map[string]string{"vars": "variable", "targets": "target", "requests": "request", "flows": "flow"}

// unknown reports that the last step of a way names an entry that is not there, where a setting cannot make one. What is
// not a key of the language is told when the plan is read.
func unknown(n *yaml.Node, way []step, fault func(int, string, string, string, string)) bool {
	noun, own := ofTheAuthor[way[0].name]
	if last := way[len(way)-1]; own && len(way) == 2 && entry(n, last.name) == nil {
		have := keysOf(n)
		fault(last.at, "unknown "+noun, quote(last.name), orNothing(have), didYouMean(last.name, have))
		return true
	}
	return false
}

// find finds the entry of a list that a step names: by its number, or by its name.
func (l *loader) find(n *yaml.Node, st step, before string, fault func(int, string, string, string, string)) (int, bool) {
	before = strings.TrimSuffix(before, ".")
	if st.number >= 0 {
		if st.number < len(n.Content) {
			return st.number, true
		}
		fault(st.at, "no such place", quote(before+"["+st.name+"]"), "", fmt.Sprintf("%s has %d", before, len(n.Content)))
		return 0, false
	}
	var names []string
	for i, c := range n.Content {
		name := entry(c, "name")
		if name == nil || name.Kind != yaml.ScalarNode {
			continue
		}
		if name.Value == st.name {
			return i, true
		}
		names = append(names, name.Value)
	}
	if names == nil {
		fault(st.at, "no such place", quote(st.name), "a number, like "+before+"[0]", "its entries have no names")
		return 0, false
	}
	fault(st.at, "unknown entry of "+before, quote(st.name), orNothing(names), didYouMean(st.name, names))
	return 0, false
}
