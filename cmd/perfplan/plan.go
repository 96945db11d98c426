package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/plans"
)

// A loaded is a plan file that was read: the plan, or what is wrong with it.
type loaded struct {
	path   string         // for messages
	plan   *plans.Plan    // nil when it has faults
	faults plans.Problems // sorted, warnings among them
}

// load reads and checks a plan; "-" is standard input.
func (c *console) load(path string, o plans.Options) loaded {
	l := loaded{path: path}
	if path == "-" {
		l.path = "stdin" // as problems call it
	}
	var err error
	o.Env = c.lookup
	if path == "-" {
		l.plan, err = plans.Read(c.in, path, ".", o)
	} else {
		l.plan, err = plans.ReadFile(path, o)
	}
	if !errors.As(err, &l.faults) && err != nil {
		l.faults = plans.Problems{{Pos: plans.Position{File: l.path}, What: err.Error()}}
	}
	if l.plan != nil {
		l.faults = l.plan.Warnings
		c.out.conceal(l.plan.Secrets)
		c.err.conceal(l.plan.Secrets)
	}
	return l
}

// mustLoad is load for commands that need the plan: problems go to standard error, and faults end the command.
func (c *console) mustLoad(path string, o plans.Options) (*plans.Plan, error) {
	l := c.load(path, o)
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
			io.WriteString(s, c.excerpt(s, p))
		}
	}
}

func (c *console) excerpt(s *stream, p plans.Problem) string {
	text := p.Excerpt()
	if above, ok := strings.CutSuffix(text, "^\n"); ok && c.colored(s) {
		return above + "\x1b[1;31m^\x1b[0m\n"
	}
	return text
}

// planFlags are the flags that change a plan from outside.
func planFlags(cmd *cobra.Command) *plans.Options {
	o := &plans.Options{}
	f := cmd.Flags()
	f.StringArrayVar(&o.Profiles, "profile", nil, "apply a profile of the plan; may be given several times")
	f.StringArrayVar(&o.Set, "set", nil, "give a place of the plan another value: PATH=VALUE,\nlike stages.hold.load.for=10s; nothing takes it out")
	f.StringArrayVar(&o.Vars, "var", nil, "give a variable of the plan another text: NAME=TEXT")
	return o
}
