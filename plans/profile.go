package plans

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// assemble puts included files, profiles and settings from outside into the tree of the plan.
func (l *loader) assemble(top *yaml.Node) bool {
	if top.Kind != yaml.MappingNode {
		return true // what it is not is told when it is read
	}
	if !l.include(top, l.source, []string{l.fullName()}) {
		return false
	}
	before := l.problems.Errors()
	l.applyProfiles(top)
	l.applySet(top)
	l.applyVars(top)
	return l.problems.Errors() == before
}

// fullName is the absolute path of the plan file, so that a file that includes it is found out.
func (l *loader) fullName() string {
	return l.fullPath(&yaml.Node{Value: filepath.Base(l.file)}, l.source)
}

// applyProfiles applies those that are asked for, in that order, and takes all out of the plan.
func (l *loader) applyProfiles(top *yaml.Node) {
	all := map[string]*yaml.Node{}
	if !l.once(top, "profiles") {
		return
	}
	if n := entry(top, "profiles"); n != nil {
		at := l.pos(n)
		if n.Kind == yaml.AliasNode {
			n = n.Alias
		}
		if n.Kind != yaml.MappingNode || len(n.Content) == 0 {
			l.fault(Problem{Pos: at, Path: "profiles", What: "wrong kind of value", Got: describe(n), Want: profilesShape.want()})
		} else {
			for _, p := range l.pairs(n, "profiles") {
				l.checkName(p.key.Value, plainNames, l.pos(p.key), join("profiles", p.key.Value))
				all[p.key.Value] = p.value
				l.profiles = append(l.profiles, p.key.Value)
			}
		}
	}
	take(top, "profiles")
	for _, name := range l.options.Profiles {
		n, known := all[name]
		if !known {
			hint := didYouMean(name, l.profiles)
			if hint == "" && len(l.profiles) == 0 {
				hint = "the plan has no profiles"
			}
			l.fault(Problem{Pos: Position{File: l.file}, What: "unknown profile", Got: quote(name), Want: orNothing(l.profiles), Hint: hint})
			continue
		}
		l.applyProfile(top, name, n)
	}
}

func (l *loader) applyProfile(top *yaml.Node, name string, n *yaml.Node) {
	path, at := join("profiles", name), l.pos(n)
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		l.fault(Problem{Pos: at, Path: path, What: "wrong kind of value", Got: describe(n), Want: changesShape.want()})
		return
	}
	for _, p := range l.pairs(n, path) {
		s := *l.of(p.key)
		s.label = "profile " + name
		value := l.clone(p.value)
		l.belongs(value, &s)
		l.foreign[p.key] = &s
		l.set(top, setting{path: p.key.Value, key: p.key, value: value, in: path})
	}
}

// otherProfiles checks the profiles that are not applied, each alone.
func (l *loader) otherProfiles(text []byte, o Options) (all Problems) {
	for _, name := range l.profiles {
		if slices.Contains(o.Profiles, name) {
			continue
		}
		with := o
		with.Profiles, with.Set = []string{name}, nil
		other := newLoader(newSource(l.file, l.dir, text), with)
		other.tables, other.digests = l.tables, map[string]string{}
		other.load()
		for _, p := range other.result() {
			if !p.Warning {
				p.Hint = strings.TrimSuffix("with --profile "+name+"; "+p.Hint, "; ")
				all = append(all, p)
			}
		}
	}
	return all
}

// applySet applies PATH=VALUE from outside.
func (l *loader) applySet(top *yaml.Node) {
	s := &source{file: "--set", dir: l.dir, lines: l.options.Set, label: "--set"}
	if len(s.lines) > 0 {
		l.sources = append(l.sources, s)
	}
	for i, text := range s.lines {
		path, value, ok := cutSetting(text)
		key := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: path, Line: i + 1, Column: 1}
		l.foreign[key] = s
		if !ok {
			l.fault(Problem{Pos: s.at(i+1, 1), What: "not a setting", Got: quote(text), Want: "PATH=VALUE, like stages.hold.load.for=10s"})
			continue
		}
		n := l.value(s, value, i, len([]rune(path))+1)
		if n != nil {
			l.set(top, setting{path: path, key: key, value: n})
		}
	}
}

// cutSetting cuts PATH=VALUE at the first = that is not in a bracket.
func cutSetting(text string) (path, value string, ok bool) {
	depth := 0
	for i, r := range text {
		switch {
		case r == '[':
			depth++
		case r == ']':
			depth--
		case r == '=' && depth <= 0:
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

// value reads the VALUE of a setting, which stands behind col characters of line i, from 0, of s.
func (l *loader) value(s *source, text string, i, col int) *yaml.Node {
	if t := strings.TrimSpace(text); t == "" || t == "~" || t == "null" {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: i + 1, Column: col + 1}
	}
	if strings.ContainsAny(text, "\r\n") {
		l.fault(Problem{Pos: s.at(i+1, col+1), What: "more than one line", Got: quote(text), Want: `one line, like {from: 10/s, to: 50/s, over: 5s}`})
		return nil
	}
	inner := &loader{source: newSource(s.file, s.dir, []byte(text))}
	n := inner.parse()
	for _, p := range inner.problems {
		p.Pos.Line, p.Pos.Col = i+1, p.Pos.Col+col
		l.fault(p)
	}
	if n != nil {
		l.belongs(n, s)
		shift(n, i, col)
	}
	return n
}

// shift moves a tree down and to the right.
func shift(n *yaml.Node, lines, cols int) {
	n.Line, n.Column = n.Line+lines, n.Column+cols
	for _, c := range n.Content {
		shift(c, lines, cols)
	}
}

// applyVars gives vars other texts, which stand for themselves.
func (l *loader) applyVars(top *yaml.Node) {
	s := &source{file: "--var", dir: l.dir, lines: l.options.Vars, label: "--var"}
	if len(s.lines) > 0 {
		l.sources = append(l.sources, s)
	}
	for i, text := range s.lines {
		name, value, ok := strings.Cut(text, "=")
		if !ok {
			l.fault(Problem{Pos: s.at(i+1, 1), What: "not a variable", Got: quote(text), Want: "NAME=TEXT, like users=50"})
			continue
		}
		known := keysOf(orEmpty(entry(top, "vars")))
		if !slices.Contains(known, name) {
			hint := didYouMean(name, known)
			if len(known) == 0 {
				hint = "the plan has no vars"
			}
			l.fault(Problem{Pos: s.at(i+1, 1), What: "unknown variable", Got: quote(name), Want: orNothing(known), Hint: hint})
			continue
		}
		vars := l.clone(entry(top, "vars"))
		n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: strings.ReplaceAll(value, "$", "$$"),
			Line: i + 1, Column: len([]rune(name)) + 2}
		l.foreign[n] = s
		put(vars, textNode(name, n), n)
		put(top, textNode("vars", vars), vars)
	}
}

func orEmpty(n *yaml.Node) *yaml.Node {
	if n == nil {
		return &yaml.Node{Kind: yaml.MappingNode}
	}
	return n
}

// origin says where the value of an item comes from, for explain: "" for the plan itself, its place included.
func (l *loader) originOf(it *item) string {
	s := l.of(it.node)
	where := fmt.Sprintf("%s:%d", filepath.Base(s.file), it.pos.Line)
	switch {
	case !it.given:
		return "default"
	case s.label == "--set" || s.label == "--var":
		return s.label
	case s.label != "":
		return s.label + ", " + where
	}
	return where
}
