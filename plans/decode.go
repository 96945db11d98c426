package plans

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// read reads one value as its shape says and reports what is wrong with it; nil when it cannot be used.
func (l *loader) read(n *yaml.Node, s *shape, path string) *item {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if !l.visit(n, 1) {
		return nil
	}
	it := &item{pos: l.pos(n), path: path, shape: s, node: n, given: true}
	switch {
	case s.scalar == anyValue:
		return l.readAny(it)
	case isNull(n):
		hint := ""
		if s.freeText() {
			hint = `write "" for an empty text`
		}
		l.fault(it.fault("no value", describe(n), s.want(), hint))
		return nil
	case n.Kind == yaml.ScalarNode && s.scalar != noScalar:
		return l.readScalar(it)
	case n.Kind == yaml.SequenceNode && s.list != nil:
		return l.readList(it)
	case n.Kind == yaml.MappingNode && s.keys != nil:
		return l.readKeys(it)
	case n.Kind == yaml.MappingNode && s.each != nil:
		return l.readNames(it)
	}
	hint := ""
	if n.Kind == yaml.MappingNode && n.Style&yaml.FlowStyle != 0 && (s.scalar == textScalar || s.scalar == templateScalar) {
		hint = "put text that begins with { in quotes"
	}
	l.fault(it.fault("wrong kind of value", describe(n), s.want(), hint))
	return nil
}

func (l *loader) readList(it *item) *item {
	it.form = listForm
	if len(it.node.Content) == 0 && it.shape.some {
		l.fault(it.fault("empty list", "", it.shape.want(), ""))
		return nil
	}
	for i, c := range it.node.Content {
		if e := l.read(c, it.shape.list, fmt.Sprintf("%s[%d]", it.path, i)); e != nil {
			e.name = fmt.Sprint(i)
			it.list = append(it.list, e)
		}
	}
	return it
}

// readKeys reads a map whose keys the shape lists: vars first, since other values use them.
func (l *loader) readKeys(it *item) *item {
	it.form = mapForm
	ps := l.pairs(it.node, it.path)
	for _, p := range ps {
		it.written = append(it.written, p.key.Value)
	}
	if it.path == "" {
		first := func(p pair) int { return slices.Index([]string{"secrets", "vars"}, p.key.Value) & 3 } // of all others 3
		slices.SortStableFunc(ps, func(a, b pair) int { return first(a) - first(b) })
	}
	var meanings []string // the keys that unknown ones stand for: not missing as well
	for _, p := range ps {
		name, pos, path := p.key.Value, l.pos(p.key), join(it.path, p.key.Value)
		if l.full {
			break
		}
		if it.path == "" && strings.HasPrefix(name, "x-") {
			continue
		}
		k, ok := it.shape.find(name)
		if !ok {
			p := Problem{Pos: pos, Path: path, What: "unknown key", Hint: whereKey(it.shape, name)}
			if meant := meantKey(it.shape, name, it.written); meant != "" {
				p.Hint = fmt.Sprintf("did you mean %q?", meant)
				meanings = append(meanings, meant)
			}
			l.fault(p)
			continue
		}
		if it.path == "" && name == "vars" {
			it.add(l.readVars(p.value), name, pos)
			continue
		}
		it.add(l.read(p.value, k.shape, path), name, pos)
		if it.path == "" && name == "secrets" {
			l.readSecrets(it.get(name))
		}
	}
	l.complete(it, meanings)
	l.fillDefaults(it)
	return it
}

// add puts a value under a key; a value that could not be read is left out.
func (it *item) add(value *item, name string, pos Position) {
	if value != nil {
		value.name, value.keyPos = name, pos
		it.entries = append(it.entries, value)
	}
}

// complete reports keys that are missing, and those of which only one may be there.
func (l *loader) complete(it *item, meant []string) {
	for _, k := range it.shape.keys {
		if k.required && !it.has(k.name) && !slices.Contains(meant, k.name) {
			l.fault(it.fault("missing key "+quote(k.name), "", k.shape.want(), ""))
		}
	}
	if it.shape.one == nil {
		return
	}
	var found []string
	for _, name := range it.shape.one {
		if it.has(name) || slices.Contains(meant, name) {
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 0:
		l.fault(it.fault("nothing to do", "", "one of the keys "+orList(it.shape.one), ""))
	case len(found) > 1:
		l.fault(it.fault("more than one thing to do", strings.Join(found, " and "), "one of the keys "+orList(it.shape.one), ""))
	}
}

// fillDefaults adds the defaults of keys that are not given.
func (l *loader) fillDefaults(it *item) {
	for _, k := range it.shape.keys {
		if k.def != "" && !it.has(k.name) {
			it.add(l.defaultItem(it, k), k.name, it.pos)
		}
	}
}

func (l *loader) defaultItem(parent *item, k key) *item {
	d := &item{pos: parent.pos, path: join(parent.path, k.name), shape: k.shape, node: parent.node}
	if k.def == "{}" {
		d.form = mapForm
		l.fillDefaults(d)
		return d
	}
	d.text = []piece{{text: k.def}}
	l.readValue(d)
	return d
}

// readNames reads a map whose keys the author chooses.
func (l *loader) readNames(it *item) *item {
	it.form = mapForm
	ps := l.pairs(it.node, it.path)
	if len(ps) == 0 && it.shape.some {
		l.fault(it.fault("empty map", "", it.shape.want(), ""))
		return nil
	}
	for _, p := range ps {
		pos, path := l.pos(p.key), join(it.path, p.key.Value)
		l.checkName(p.key.Value, it.shape.names, pos, path)
		it.written = append(it.written, p.key.Value)
		it.add(l.read(p.value, it.shape.each, path), p.key.Value, pos)
	}
	return it
}

// The patterns of names, and the longest one.
var (
	plainName  = regexp.MustCompile(`^[a-z0-9][a-z0-9._-]*$`)
	varName    = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)
	numberName = regexp.MustCompile(`^[1-9][0-9]{0,8}$`)
)

const maxName = 100

// taken are the names that have a meaning of their own in ${…}.
var taken = []string{"env", "address", "secret", "file", "counter", "uuid", "random", "time", "flow"}

func (l *loader) checkName(name string, kind names, pos Position, path string) {
	p := Problem{Pos: pos, Path: path, What: "not a name", Got: quote(name)}
	switch {
	case kind == freeNames:
		if strings.Contains(name, "${") {
			l.fault(Problem{Pos: pos, Path: path, What: "variable in a key", Got: quote(name), Want: "it in a value"})
		}
		return
	case kind == numberNames && !numberName.MatchString(name):
		p.What, p.Want = "not a size", "a whole number above 0"
	case kind == varNames && slices.Contains(taken, name):
		p.What, p.Hint = "name is taken", "${"+name+"} has a meaning of its own"
	case kind == varNames && !varName.MatchString(name):
		p.Want = "lower-case letters, digits, - and _"
	case kind == plainNames && !plainName.MatchString(name):
		p.Want = "lower-case letters, digits, '.', '-' and '_'"
	case len(name) > maxName:
		p.What, p.Got, p.Want = "name is too long", fmt.Sprintf("%d characters", len(name)), fmt.Sprintf("at most %d", maxName)
	default:
		return
	}
	if fixed := strings.ToLower(strings.Trim(strings.NewReplacer(" ", "-", "/", "-").Replace(name), "-_. ")); fixed != name && fixed != "" &&
		(kind == plainNames && plainName.MatchString(fixed) || kind == varNames && varName.MatchString(fixed)) && p.What == "not a name" {
		p.Hint = "for example " + quote(fixed)
	}
	l.fault(p)
}

// readVars reads vars in their order: each may use those before it.
func (l *loader) readVars(n *yaml.Node) *item {
	k, _ := root.find("vars")
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.MappingNode {
		return l.read(n, k.shape, "vars")
	}
	it := &item{pos: l.pos(n), path: "vars", shape: k.shape, node: n, given: true, form: mapForm}
	ps := l.pairs(n, "vars")
	for _, p := range ps {
		l.later = append(l.later, p.key.Value)
	}
	for _, p := range ps {
		name, pos, path := p.key.Value, l.pos(p.key), join("vars", p.key.Value)
		l.checkName(name, varNames, pos, path)
		value := l.read(p.value, k.shape.each, path)
		it.add(value, name, pos)
		l.later = slices.DeleteFunc(l.later, func(s string) bool { return s == name })
		if value == nil {
			l.vars[name] = nil // reported already: its uses are not unknown
			continue
		}
		l.vars[name] = value.text
	}
	return it
}
