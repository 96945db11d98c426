package plans

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

// A mutation is a plan with one fault, and where the fault is.
type mutation struct {
	what      string
	text      string
	line, col int // 0: only the line
}

// A victim is a place of a plan that can be spoilt: a key, or the value of one.
type victim struct {
	node  *yaml.Node
	shape *shape
	key   bool // one that the language names
}

// victims lists them, aliases and free maps left out.
func victims(n *yaml.Node, s *shape) (all []victim) {
	switch {
	case s == nil || n.Kind == yaml.AliasNode:
		return nil
	case n.Kind == yaml.SequenceNode:
		for _, c := range n.Content {
			all = append(all, victims(c, s.list)...)
		}
	case n.Kind == yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			k, v := n.Content[i], n.Content[i+1]
			if known, ok := s.find(k.Value); ok {
				all = append(append(all, victim{k, s, true}), victims(v, known.shape)...)
			} else if s.each != nil {
				all = append(all, victims(v, s.each)...)
			}
		}
	case s.scalar != noScalar && s.scalar != anyValue && s.scalar != laterValue && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0:
		all = append(all, victim{n, s, false})
	}
	return all
}

// written is how a scalar stands in its line; "" when it does not stand there as it is.
func (s victim) written(line []rune) string {
	rest := string(line[s.node.Column-1:])
	for _, quote := range []string{"", `"`, "'"} {
		if w := quote + s.node.Value + quote; strings.HasPrefix(rest, w) && (quote != "" || rest == w || !strings.HasPrefix(rest, w+"'")) {
			return w
		}
	}
	return ""
}

// spoil makes the mutations of one place.
func spoil(text string, s victim) (all []mutation) {
	lines := strings.Split(text, "\n")
	at := s.node.Line - 1
	line := []rune(lines[at])
	old := s.written(line)
	if old == "" {
		return nil
	}
	before, after := string(line[:s.node.Column-1]), string(line[s.node.Column-1:])[len(old):]
	put := func(what, word string, col int) {
		changed := slices.Clone(lines)
		changed[at] = before + word + after
		all = append(all, mutation{what, strings.Join(changed, "\n"), s.node.Line, col})
	}
	if s.key {
		name := s.node.Value
		put("typo in a key", name[:1]+"x"+name[1:], s.node.Column)
		put("key twice", fmt.Sprintf("%s: 1, %[1]s", name), 0)
		if strings.TrimSpace(before) == "" { // in block style a line of its own
			all = all[:len(all)-1]
			changed := slices.Insert(slices.Clone(lines), at, before+name+": 1")
			all = append(all, mutation{"key twice", strings.Join(changed, "\n"), s.node.Line + 1, s.node.Column})
			if before != "" {
				changed = slices.Clone(lines)
				changed[at] = "\t" + strings.TrimLeft(lines[at], " ")
				all = append(all, mutation{"tab", strings.Join(changed, "\n"), s.node.Line, 1})
			}
		}
		return all
	}
	put("no value", "~", s.node.Column)
	put("a map", "{nosuch: 1}", 0)
	switch s.shape.scalar {
	case durationScalar, rateScalar:
		put("no unit", "7", s.node.Column)
		put("negative", "-7s", s.node.Column)
	case integerScalar:
		put("not a number", "1.5", s.node.Column)
	case booleanScalar:
		put("not a boolean", "yes", s.node.Column)
	}
	if len(s.shape.choices()) > 0 && s.shape.scalar == textScalar {
		put("not a choice", "nosuch", s.node.Column)
	}
	if s.shape.scalar != commandScalar {
		put("unknown variable", `"${nosuch}"`, 0)
	}
	put("quote not closed", `"`+s.node.Value, 0)
	return all
}

// A hundred mutations of each shipped plan and example: none panics, none is accepted, and each is told at its line.
func TestMutations(t *testing.T) {
	t.Parallel()
	files, _ := filepath.Glob("*.yaml")
	more, _ := filepath.Glob("../examples/*/plan.yaml")
	if len(files) < 2 || len(more) < 3 {
		t.Fatalf("only %v and %v", files, more)
	}
	for _, file := range append(files, more...) {
		t.Run(file, func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var doc yaml.Node
			if err := yaml.Unmarshal(b, &doc); err != nil {
				t.Fatal(err)
			}
			var all []mutation
			for _, s := range victims(doc.Content[0], root) {
				all = append(all, spoil(string(b), s)...)
			}
			rand.New(rand.NewPCG(1, 2)).Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
			if len(all) < 100 {
				t.Errorf("only %d mutations", len(all))
			}
			for _, m := range all[:min(len(all), 250)] {
				checkMutation(t, m, filepath.Dir(file))
			}
		})
	}
}

func checkMutation(t *testing.T, m mutation, dir string) {
	t.Helper()
	_, err := Read(strings.NewReader(m.text), "plan.yaml", dir, Options{Env: os.LookupEnv})
	line := strings.Split(m.text, "\n")[m.line-1]
	ps, ok := errors.AsType[Problems](err)
	if !ok || ps.Errors() == 0 {
		t.Errorf("%s is accepted: %s", m.what, line)
		return
	}
	found := slices.ContainsFunc(ps, func(p Problem) bool {
		return !p.Warning && p.Pos.Line == m.line && (m.col == 0 || p.Pos.Col == m.col)
	})
	if !found {
		t.Errorf("%s in line %d, column %d: %s\n%v", m.what, m.line, m.col, line, err)
	}
}
