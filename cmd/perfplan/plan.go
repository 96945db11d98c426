package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/perfplan/perfplan/plans"
)

// A loaded is a plan file that was read: the plan, or what is wrong with it.
type loaded struct {
	path   string         // for messages
	plan   *plans.Plan    // nil when it has faults
	faults plans.Problems // sorted, warnings among them
	source []byte
}

// load reads and checks a plan; "-" is standard input.
func (c *console) load(path string) loaded {
	l := loaded{path: path}
	if path == "-" {
		l.path = "stdin" // as problems call it
	}
	var source bytes.Buffer // for excerpts
	var err error
	if path == "-" {
		l.plan, err = plans.Read(io.TeeReader(c.in, &source), path, ".", c.lookup)
	} else if f, openErr := os.Open(path); openErr == nil {
		defer f.Close()
		l.plan, err = plans.Read(io.TeeReader(f, &source), path, filepath.Dir(path), c.lookup)
	} else {
		l.plan, err = plans.ReadFile(path, c.lookup) // which says why it cannot be opened
	}
	l.source = source.Bytes()
	if !errors.As(err, &l.faults) && err != nil {
		l.faults = plans.Problems{{Pos: plans.Position{File: l.path}, What: err.Error()}}
	}
	if l.plan != nil {
		l.faults = l.plan.Warnings
	}
	return l
}

// mustLoad is load for commands that need the plan: problems go to standard error, and faults end the command.
func (c *console) mustLoad(path string) (*plans.Plan, error) {
	l := c.load(path)
	c.printProblems(c.err, l)
	if l.plan == nil {
		return nil, exit(exitPlan)
	}
	return l.plan, nil
}

// printProblems prints a line for each problem of a plan, with the place in the plan on a terminal.
func (c *console) printProblems(s *stream, l loaded) {
	for _, p := range l.faults {
		fmt.Fprintln(s, p)
		if c.interactive(s) {
			io.WriteString(s, c.excerpt(s, p, l.source))
		}
	}
}

func (c *console) excerpt(s *stream, p plans.Problem, source []byte) string {
	text := p.Excerpt(source)
	if above, ok := strings.CutSuffix(text, "^\n"); ok && c.colored(s) {
		return above + "\x1b[1;31m^\x1b[0m\n"
	}
	return text
}
