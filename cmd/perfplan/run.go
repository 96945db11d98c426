package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/report"
	"github.com/perfplan/perfplan/runner"
	"github.com/perfplan/perfplan/runner/load"
	"github.com/perfplan/perfplan/runner/process"
	"github.com/perfplan/perfplan/runner/result"
)

// runFlags are the flags of the command run.
type runFlags struct {
	out   string
	quiet bool
	json  bool

	engine    string
	pacing    string
	loops     int
	baselines []string
	bench     bool // only microbenchmarks
	plan      plans.Options
}

func runCommand(c *console) *cobra.Command {
	var f runFlags
	var change *plans.Options
	cmd := &cobra.Command{
		Use:   "run PLAN",
		Short: "Run a plan, write the report, exit by verdict",
		Long: `run carries out a plan: it builds and starts the targets, runs the stages in
order, judges every SLO, writes the report into a new folder OUT/PLAN/RUN and
points OUT/PLAN/latest at it. "-" is standard input.

The summary goes to standard output, progress to standard error. The first
Ctrl-C (SIGINT, SIGTERM or SIGHUP) stops the run in order and reports what was
measured until then; the second, or a SIGQUIT, stops at once.

Exit codes: 0 every SLO holds, 1 an SLO failed, 3 the plan has faults, 4 the run
could not be carried out, 5 inconclusive, 130 interrupted.`,
		Example: `  perfplan run plans/predictor.yaml
  perfplan run --out /tmp/results plans/predictor.yaml
  perfplan run --profile ci --set stages.hold.load.for=10s plan.yaml
  perfplan run --quiet --json plans/predictor.yaml | jq .outcome`,
		Args:              arguments(1, "PLAN"),
		ValidArgsFunction: completePlans(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if engines := []string{load.EngineAuto, load.EngineLoop, load.EngineGoroutine}; !slices.Contains(engines, f.engine) {
				return fail(exitUsage, "--engine: got %q, want one of %s", f.engine, strings.Join(engines, ", "))
			}
			if ways := []string{load.PacingAuto, load.PacingExact, load.PacingTick, load.PacingPrecise}; !slices.Contains(ways, f.pacing) {
				return fail(exitUsage, "--pacing: got %q, want one of %s", f.pacing, strings.Join(ways, ", "))
			}
			if f.out == "" {
				return fail(exitUsage, "--out: got nothing, want a folder")
			}
			if f.loops < 0 || f.loops > load.MaxLoops {
				return fail(exitUsage, "--loops: got %d, want 0 (chosen) to %d", f.loops, load.MaxLoops)
			}
			f.plan = *change
			return c.run(cmd.Context(), args[0], f)
		},
	}
	change = planFlags(cmd)
	cmd.Flags().StringVar(&f.out, "out", "perfplan-out", "`folder` for results; the run makes its own folder in it")
	cmd.Flags().BoolVar(&f.quiet, "quiet", false, "no progress on standard error")
	cmd.Flags().StringVar(&f.engine, "engine", load.EngineAuto, "load engine: auto, loop (Linux) or goroutine (`NAME`)")
	cmd.Flags().StringArrayVar(&f.baselines, "baseline", nil, "stored run that assertions like p99 <= baseline + 10% are about: its result.json or folder (`PATH`); several times for several")
	cmd.Flags().IntVar(&f.loops, "loops", 0, "threads of the event loop; 0: chosen (`N`)")
	cmd.Flags().StringVar(&f.pacing, "pacing", load.PacingAuto, "event loop: auto, exact, tick or precise (`NAME`)")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the result as JSON in place of the summary")
	return cmd
}

// run carries out the plan at path. Its error holds the exit code.
func (c *console) run(ctx context.Context, path string, f runFlags) error {
	p, err := c.mustLoad(path, f.plan)
	if err != nil {
		return err
	}
	if f.bench {
		if p, err = onlyBench(p); err != nil {
			return err
		}
	}
	baselines, err := readBaselines("--baseline", f.baselines)
	if err != nil {
		return err
	}
	dir, id, err := runner.NewRunDir(f.out, p.Name, time.Now())
	if err != nil {
		return fail(exitBroken, "%w", err)
	}
	if err := runner.PointLatest(dir); err != nil {
		c.warnf("%v", err) // the run and its reports are complete without
	}
	show := newProgress(c, f.quiet)
	sweeper := process.NewSweeper()
	ctx, release := interruptible(ctx, sweeper, func(sig os.Signal) {
		show.say(fmt.Sprintf("perfplan: %s: stopping in order, the report follows (once more: stop at once)", sig))
	})
	defer release()
	r := c.carryOut(ctx, p, sweeper, runner.Options{Dir: dir, RunID: id, Version: thisBuild().Version, Env: c.lookup, Events: show.event, Engine: f.engine, Pacing: f.pacing, Loops: f.loops, Baselines: baselines, Bench: f.bench})
	show.end()
	if r.Error != "" {
		c.warnf("%s", r.Error)
	}
	r.ExitCode = new(exitCode(r))
	err = store(dir, r)
	if err = errors.Join(err, c.summarise(dir, r, f.json)); err != nil {
		c.warnf("%v", err)
	}
	if err == nil && c.out.fail != nil { // the summary is lost
		r.ExitCode = new(unfinished(*r.ExitCode))
		if err := keep(dir, r); err != nil {
			c.warnf("%v", err)
		}
	}
	return exit(*r.ExitCode)
}

// readBaselines reads stored runs: records, run folders and baselines. One that failed, or that says nothing for sure, is none.
// flag is what names them on the command line, for messages.
func readBaselines(flag string, paths []string) (all []*result.Result, err error) {
	if flag != "" {
		flag += ": "
	}
	seen := map[string]string{}
	for _, path := range paths {
		if path, err = recordIn(path); err != nil {
			return nil, fail(exitUsage, "%s%w", flag, err)
		}
		runs, err := result.ReadRuns(path)
		if err != nil {
			return nil, fail(exitUsage, "%s%w", flag, err)
		}
		for _, r := range runs {
			switch {
			case !passed(r):
				return nil, fail(exitUsage, "%s%s: got a run that is %s, want one that passed", flag, path, r.Outcome)
			case seen[r.RunID] != "":
				return nil, fail(exitUsage, "%s%s is the same run as %s", flag, path, seen[r.RunID])
			}
			seen[r.RunID] = path
			all = append(all, r)
		}
	}
	return all, nil
}

// passed tells whether all is well with a run but what its plan compares with a baseline: it may be the first.
func passed(r *result.Result) bool {
	for _, st := range r.Stages {
		if st.State != result.Complete {
			return false
		}
		other := slices.ContainsFunc(st.SLO, func(s result.SLO) bool {
			return !s.Warn && s.Outcome != result.Pass && (s.Relative == "" || s.Outcome == result.Fail)
		})
		invalid := slices.ContainsFunc(st.Warnings, func(w result.Warning) bool { return w.Severity == result.Invalid })
		if other || invalid {
			return false
		}
	}
	first := func(s result.SLO) bool { return s.Relative != "" }
	return r.Outcome == result.Pass || r.Error == "" && !r.Interrupted && slices.ContainsFunc(r.Stages, func(st result.Stage) bool { return slices.ContainsFunc(st.SLO, first) })
}

// carryOut runs p. Whatever its commands have left behind is gone in the end.
func (c *console) carryOut(ctx context.Context, p *plans.Plan, s *process.Sweeper, opt runner.Options) *result.Result {
	defer func() {
		if err := s.Sweep(); err != nil {
			c.warnf("%v", err)
		}
	}()
	return runner.Run(ctx, p, opt)
}

// store writes the final record, whose exit code is known, and its reports.
func store(dir string, r *result.Result) error {
	err := errors.Join(result.Write(dir, r), report.WriteAll(dir, r))
	if err != nil {
		r.ExitCode = new(unfinished(*r.ExitCode))
		err = errors.Join(err, keep(dir, r))
	}
	return err
}

// keep writes the record once more. It is what all else can be made from again, so charts make room for it.
func keep(dir string, r *result.Result) error {
	err := result.Write(dir, r)
	if err == nil {
		return nil
	}
	if os.RemoveAll(filepath.Join(dir, "charts")) == nil {
		err = result.Write(dir, r)
	}
	return err
}

// summarise prints how a run ended and where its report is, if it could be written.
func (c *console) summarise(dir string, r *result.Result, asJSON bool) error {
	if asJSON {
		data, err := result.Encode(r)
		if err != nil {
			return fmt.Errorf("cannot print the result: %w", err)
		}
		_, err = c.out.Write(data)
		return err
	}
	if err := report.WriteText(c.out, report.New(r), c.colored(c.out), c.out.width()); err != nil {
		return fmt.Errorf("cannot print the summary: %w", err)
	}
	page := filepath.Join(dir, "report.html")
	if _, err := os.Stat(page); err == nil {
		fmt.Fprintf(c.out, "\nreport: %s\n", page)
	}
	return nil
}
