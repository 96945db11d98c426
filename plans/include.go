package plans

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxIncludes bounds the files of a plan.
const maxIncludes = 100

// byName are the keys of a plan whose entries an included file adds to; of all others the plan's own value, if it has
// one, takes the place of the included one.
var byName = []string{"vars", "secrets", "targets", "requests", "flows", "profiles"}

// include puts what the plan includes into it. above are the files that include this one, itself among them.
func (l *loader) include(n *yaml.Node, s *source, above []string) bool {
	list := entry(n, "include")
	if n.Kind != yaml.MappingNode || list == nil {
		return true
	}
	if list.Kind == yaml.AliasNode {
		list = list.Alias
	}
	if !l.once(n, "include") {
		return false
	}
	take(n, "include")
	files := []*yaml.Node{list}
	if list.Kind == yaml.SequenceNode {
		files = list.Content
	}
	ok := true
	for i, f := range slices.Backward(files) { // what is put in first wins: the file named last
		path := "include"
		if list.Kind == yaml.SequenceNode {
			path = fmt.Sprintf("include[%d]", i)
		}
		if f.Kind == yaml.AliasNode {
			f = f.Alias
		}
		if f.Kind != yaml.ScalarNode || isNull(f) || f.Value == "" || strings.Contains(f.Value, "${") {
			l.fault(Problem{Pos: l.pos(f), Path: path, What: "not the path of a file", Got: describe(f), Want: "the path of a YAML file, without variables"})
			ok = false
			continue
		}
		if part, inner := l.part(f, s, path, above); part != nil {
			ok = l.include(part, inner, append(slices.Clip(above), l.fullPath(f, s))) && ok
			l.join(n, part)
			continue
		}
		ok = false
	}
	return ok
}

func (l *loader) fullPath(f *yaml.Node, s *source) string {
	if filepath.IsAbs(f.Value) {
		return filepath.Clean(f.Value)
	}
	return filepath.Join(s.dir, f.Value)
}

// part reads an included file; nil when it cannot be used.
func (l *loader) part(f *yaml.Node, s *source, path string, above []string) (*yaml.Node, *source) {
	full := l.fullPath(f, s)
	fault := func(what, got, want, hint string) (*yaml.Node, *source) {
		l.fault(Problem{Pos: l.pos(f), Path: path, What: what, Got: got, Want: want, Hint: hint})
		return nil, nil
	}
	if i := slices.Index(above, full); i >= 0 {
		return fault("a file includes itself", strings.Join(append(shortPaths(above[i:]), filepath.Base(full)), " → "), "", "")
	}
	if l.included++; l.included > maxIncludes {
		if l.included > maxIncludes+1 {
			return nil, nil
		}
		return fault("too many files are included", "", fmt.Sprintf("at most %d", maxIncludes), "")
	}
	text, unsaved := l.options.Unsaved[full]
	if !unsaved {
		var what, got string
		if text, what, got = readPart(full); what != "" {
			return fault(what, got, "", "")
		}
	}
	name := f.Value
	if !filepath.IsAbs(name) && s.file != "stdin" {
		name = filepath.Join(filepath.Dir(s.file), name)
	}
	inner := &loader{source: newSource(name, filepath.Dir(full), text), problems: l.problems, full: l.full}
	part := inner.parse()
	l.problems, l.full = inner.problems, inner.full
	l.sources = append(l.sources, inner.source)
	if part == nil {
		return nil, nil
	}
	if part.Kind != yaml.MappingNode {
		l.fault(Problem{Pos: inner.at(part.Line, part.Column), What: "wrong kind of value", Got: describe(part), Want: "keys of a plan"})
		return nil, nil
	}
	l.belongs(part, inner.source)
	return part, inner.source
}

// readPart reads an included file, or says what it is instead of one.
func readPart(full string) (text []byte, what, got string) {
	info, err := os.Stat(full)
	switch {
	case err != nil:
		return nil, "cannot read the file", reason(err) + " at " + quote(full)
	case info.IsDir():
		return nil, "a folder, not a file", quote(full)
	case !info.Mode().IsRegular():
		return nil, "not a regular file", quote(full)
	}
	file, err := os.Open(full)
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(file, maxSource+1))
		file.Close()
	}
	if err != nil {
		return nil, "cannot read the file", reason(err) + " at " + quote(full)
	}
	return text, "", ""
}

func shortPaths(full []string) []string {
	var short []string
	for _, f := range full {
		short = append(short, filepath.Base(f))
	}
	return short
}

// join puts the keys of an included file into a plan, which has its own way where both have one.
func (l *loader) join(n, part *yaml.Node) {
	for i := 0; i+1 < len(part.Content); i += 2 {
		k, v := part.Content[i], part.Content[i+1]
		own := entry(n, keyText(k))
		switch {
		case k.Tag == "!!merge":
			l.join(n, l.resolved(v))
		case strings.HasPrefix(keyText(k), "x-"): // only for anchors
		case own == nil:
			put(n, k, v)
		case slices.Contains(byName, keyText(k)):
			put(n, k, l.joined(own, v))
		}
	}
}

// resolved is the map that the value of a << gives, with the maps of a list one after the other.
func (l *loader) resolved(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.SequenceNode {
		return n
	}
	all := &yaml.Node{Kind: yaml.MappingNode}
	for _, c := range n.Content {
		l.join(all, l.resolved(c))
	}
	return all
}

// joined are the entries of an included map, with the plan's own in place of those that it has, too, and those that
// only the plan has behind them: vars see what stands above them.
func (l *loader) joined(own, part *yaml.Node) *yaml.Node {
	all, more := l.clone(own), l.clone(part)
	if all.Kind != yaml.MappingNode || more.Kind != yaml.MappingNode {
		return own // what it is not is told when it is read
	}
	behind := all.Content
	all.Content = nil
	for i := 0; i+1 < len(more.Content); i += 2 {
		k, v := more.Content[i], more.Content[i+1]
		for j := 0; j+1 < len(behind); j += 2 {
			if keyText(behind[j]) == keyText(k) && behind[j].Tag != "!!merge" {
				k, v = behind[j], behind[j+1]
				behind = slices.Delete(slices.Clone(behind), j, j+2)
				break
			}
		}
		all.Content = append(all.Content, k, v)
	}
	all.Content = append(all.Content, behind...)
	return all
}
