package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/plans"
)

func validateCommand(c *console) *cobra.Command {
	format := choice{"text", []string{"text", "json", "github", "sarif"}}
	var change *plans.Options
	var out string
	cmd := &cobra.Command{
		Use:   "validate PLAN...",
		Short: "Check plans and print every fault of all of them",
		Long: `validate reads plans and prints every fault of all of them, one a line, sorted
by position:

  FILE:LINE:COL: PATH: WHAT: got G, want W (HINT)

Nothing is built, started or sent. A plan without faults gives a line that
begins with "ok". Warnings do not make a plan invalid. "-" is standard input.

Formats for programs: json, github (workflow commands, which GitHub Actions
shows beside the lines of a pull request) and sarif (SARIF 2.1.0, for code
scanning).

Exit codes: 0 all plans are valid, 3 one has faults or cannot be read.`,
		Example: `  perfplan validate plans/*.yaml
  perfplan validate --format json plan.yaml
  perfplan validate --format github plans/*.yaml
  generate-plan | perfplan validate -`,
		Args:              arguments(math.MaxInt, "PLAN"),
		ValidArgsFunction: completePlans(0),
		RunE: func(cmd *cobra.Command, args []string) error {
			code := exitPass
			var all []loaded
			for _, path := range args {
				l := c.load(path, *change)
				if l.plan != nil {
					l.faults = append(slices.Clip(l.faults), c.belowNoise(cmd.Context(), l.plan, out)...)
				}
				all = append(all, l)
				if l.plan == nil {
					code = exitPlan
				}
			}
			if err := c.printChecked(format.word, all); err != nil {
				return err
			}
			return exit(code)
		},
	}
	change = planFlags(cmd)
	cmd.Flags().StringVar(&out, "out", "perfplan-out", "`folder` for results, in which calibrate keeps what this machine can tell")
	cmd.Flags().Var(&format, "format", format.words())
	return cmd
}

// printChecked prints what is wrong with plans in one of the formats.
func (c *console) printChecked(format string, all []loaded) error {
	switch format {
	case "json":
		return writeJSON(c, checked(all))
	case "github":
		for _, l := range all {
			for _, p := range l.faults {
				fmt.Fprintln(c.out, workflowCommand(p))
			}
		}
		return nil
	case "sarif":
		return writeJSON(c, sarif(all))
	}
	for _, l := range all {
		c.printProblems(c.out, l)
		if l.plan != nil {
			fmt.Fprintf(c.out, "ok %s: plan %s, %s%s\n", l.path, l.plan.Name, counted(len(l.plan.Stages), "stage"), warned(l))
		}
	}
	return nil
}

func warned(l loaded) string {
	if len(l.faults) == 0 {
		return ""
	}
	return ", " + counted(len(l.faults), "warning")
}

// counted is n with its noun: "1 stage", "2 stages".
func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// A check is what validate --format json prints.
type check struct {
	Plans []checkedPlan `json:"plans"`
}

type checkedPlan struct {
	Path     string           `json:"path"`
	OK       bool             `json:"ok"`
	Name     string           `json:"name,omitempty"`
	Hash     string           `json:"hash,omitempty"`
	Problems []checkedProblem `json:"problems"` // sorted by position
}

type checkedProblem struct {
	File     string `json:"file"`
	Line     int    `json:"line"` // from 1; 0 for the file as a whole
	Col      int    `json:"col"`
	Severity string `json:"severity"` // error or warning
	Path     string `json:"path"`     // stages[1].load.rate
	What     string `json:"what"`
	Got      string `json:"got,omitempty"`
	Want     string `json:"want,omitempty"`
	Hint     string `json:"hint,omitempty"`
	Text     string `json:"text"` // all of it, as --format text prints it
}

func checked(all []loaded) check {
	out := check{Plans: []checkedPlan{}}
	for _, l := range all {
		p := checkedPlan{Path: l.path, OK: l.plan != nil, Problems: []checkedProblem{}}
		if l.plan != nil {
			p.Name, p.Hash = l.plan.Name, l.plan.Hash
		}
		for _, f := range l.faults {
			p.Problems = append(p.Problems, checkedProblem{
				File: f.Pos.File, Line: f.Pos.Line, Col: f.Pos.Col, Severity: severity(f),
				Path: f.Path, What: f.What, Got: f.Got, Want: f.Want, Hint: f.Hint, Text: f.String(),
			})
		}
		out.Plans = append(out.Plans, p)
	}
	return out
}

func severity(p plans.Problem) string {
	if p.Warning {
		return "warning"
	}
	return "error"
}
