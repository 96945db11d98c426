package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner"
	"github.com/perfplan/perfplan/runner/observe"
	"github.com/perfplan/perfplan/runner/process"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/verdict"
)

func calibrateCommand(c *console) *cobra.Command {
	var out string
	var runs int
	var quiet, asJSON bool
	var change *plans.Options
	cmd := &cobra.Command{
		Use:   "calibrate PLAN",
		Short: "Measure what a plan's gates are worth on this machine",
		Long: `calibrate runs a plan several times, with nothing changed in between, and says
for each figure how much it scatters by itself, how often a comparison with the
other runs would have been a false alarm, and the smallest change to the worse
that is seen in 95 of 100. For each SLO with a limit of its own it says how
often it held, and by how much its figure has to grow until every run breaks it.
Stages of kind compare are run once, with all pairs.

What comes out is kept beside the plan's runs, for this machine, and validate
warns of SLOs that ask for less than it can tell.

Exit codes: 0 calibrated, 3 the plan has faults, 4 a run could not be carried
out, 130 interrupted; with enough runs what they showed is kept all the same.`,
		Example: `  perfplan calibrate plans/predictor.yaml
  perfplan calibrate --runs 20 plans/predictor-compare.yaml`,
		Args:              arguments(1, "PLAN"),
		ValidArgsFunction: completePlans(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if runs < verdict.LeastCalibration || runs > 1000 {
				return fail(exitUsage, "--runs: got %d, want %d to 1000", runs, verdict.LeastCalibration)
			}
			if out == "" {
				return fail(exitUsage, "--out: got nothing, want a folder")
			}
			return c.calibrate(cmd.Context(), args[0], *change, out, runs, quiet, asJSON)
		},
	}
	change = planFlags(cmd)
	cmd.Flags().StringVar(&out, "out", "perfplan-out", "`folder` for results, in which the calibration is kept")
	cmd.Flags().IntVar(&runs, "runs", 10, "how often the plan is run, `N` times")
	cmd.Flags().BoolVar(&quiet, "quiet", false, "no progress on standard error")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the calibration as JSON")
	return cmd
}

func (c *console) calibrate(ctx context.Context, path string, change plans.Options, out string, n int, quiet, asJSON bool) error {
	p, err := c.mustLoad(path, change)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "perfplan-calibrate-")
	if err != nil {
		return fail(exitBroken, "%w", err)
	}
	defer os.RemoveAll(tmp)
	sweeper := process.NewSweeper()
	ctx, release := interruptible(ctx, sweeper, func(os.Signal) {})
	defer release()
	var runs []*result.Result
	end := exit(exitPass)
	only := compares(p, true)
	if len(only.Stages) == len(p.Stages) {
		n = 1
	}
	for i := range n {
		if !quiet {
			fmt.Fprintf(c.err, "calibration: run %d of %d\n", i+1, n)
		}
		dir := filepath.Join(tmp, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o777); err != nil {
			return fail(exitBroken, "%w", err)
		}
		now := p
		if i > 0 {
			now = compares(p, false) // their pairs of the first run tell enough
		}
		r := c.carryOut(ctx, now, sweeper, runner.Options{Dir: dir, RunID: strconv.Itoa(i), Version: thisBuild().Version, Env: c.lookup, AllPairs: true})
		if r.Interrupted {
			end = exit(exitInterrupted)
			break
		}
		if r.Error != "" {
			end = fail(exitBroken, "run %d of %d: %s", i+1, n, r.Error)
			break
		}
		runs = append(runs, r)
		os.RemoveAll(dir)
	}
	if len(runs) == 0 || len(runs) < n && len(runs) < verdict.LeastCalibration {
		return end
	}
	env := runs[0].Environment
	cal := &result.Calibration{Plan: p.Name, Hash: p.Hash, Fingerprint: env.Fingerprint, CPUModel: env.CPUModel, Cores: env.Cores, Taken: time.Now().UTC().Truncate(time.Second), Runs: len(runs)}
	cal.Noise, cal.SLOs = verdict.Calibrate(p, runs)
	kept, err := result.WriteCalibration(out, cal)
	if err != nil {
		end = fail(exitBroken, "the calibration could not be kept: %w", err)
	}
	if asJSON {
		if err := writeJSON(c, cal); err != nil {
			return err
		}
		return end
	}
	c.printCalibration(p, cal)
	if err == nil {
		fmt.Fprintf(c.out, "\nkept: %s\n", kept)
	}
	return end
}

// compares is the plan with only its stages that compare versions, or without them.
func compares(p *plans.Plan, only bool) *plans.Plan {
	own := *p
	own.Stages = slices.DeleteFunc(slices.Clone(p.Stages), func(st *plans.Stage) bool {
		_, ok := st.Work.(*plans.Compare)
		return ok != only
	})
	return &own
}

func (c *console) printCalibration(p *plans.Plan, cal *result.Calibration) {
	fmt.Fprintf(c.out, "%s on this machine (%s, %d cores), %s with nothing changed\n", p.Name, cal.CPUModel, cal.Cores, counted(cal.Runs, "run"))
	if len(cal.Noise) > 0 {
		fmt.Fprintf(c.out, "\nComparisons: how figures scatter, false alarms, the smallest change that is seen\n")
		w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "  stage\tmetric\tof\tscatter\tfalse alarms\tseen from")
		for _, n := range cal.Noise {
			visible := "nothing up to +100%"
			if n.Visible > 0 {
				visible = percentChange(n.Visible)
			}
			if n.Unit == "ratio" {
				visible += fmt.Sprintf("; like versions pass in %.0f%%", 100*n.Passes)
			}
			fmt.Fprintf(w, "  %s\t%s\t%s\t%.1f%%\t%d of %d\t%s\n", n.Stage, n.Metric, or(n.Segment, "all"), 100*n.Spread, n.FalseAlarms, n.Of, visible)
		}
		w.Flush()
	}
	if len(cal.SLOs) > 0 {
		fmt.Fprintf(c.out, "\nSLOs: how often they held, and from which growth on every run breaks them\n")
		w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(w, "  stage\tSLO\tpassed\tfailed\topen\tvalues\tbroken from")
		for _, s := range cal.SLOs {
			values, visible := "n/a", "n/a"
			if s.Low != nil && s.High != nil {
				values = verdict.Text(*s.Low, s.Unit) + " to " + verdict.Text(*s.High, s.Unit)
			}
			if s.Visible != nil {
				visible = percentChange(*s.Visible)
			}
			fmt.Fprintf(w, "  %s\t%s\t%d\t%d\t%d\t%s\t%s\n", s.Stage, s.Text, s.Passed, s.Failed, s.Undecided, values, visible)
		}
		w.Flush()
	}
	for _, w := range verdict.BelowNoise(p, cal) {
		fmt.Fprintln(c.out, w)
	}
}

// belowNoise warns of what a plan asks for and this machine cannot tell, where it was calibrated.
func (c *console) belowNoise(ctx context.Context, p *plans.Plan, out string) plans.Problems {
	if found, _ := filepath.Glob(result.CalibrationFile(out, p.Name, "*")); len(found) == 0 {
		return nil
	}
	cal, err := result.ReadCalibration(out, p.Name, observe.Environment(ctx, p.Dir, c.lookup).Fingerprint)
	if err != nil {
		return plans.Problems{{Pos: plans.Position{File: p.Path}, What: err.Error(), Warning: true}}
	}
	if cal == nil {
		return nil
	}
	return verdict.BelowNoise(p, cal)
}
