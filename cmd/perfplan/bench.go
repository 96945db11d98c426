package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner"
	"github.com/perfplan/perfplan/runner/process"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/verdict"
)

func benchCommand(c *console) *cobra.Command {
	var f runFlags
	var change *plans.Options
	var compare bool
	var pairs int
	var margin float64
	cmd := &cobra.Command{
		Use:   "bench PLAN | --compare OLD NEW",
		Short: "Run only a plan's microbenchmarks, or compare two results",
		Long: `bench runs the microbenchmark stages of a plan and no other: what has to be
built is built, no target is started. Report, verdict and exit codes are those
of run.

--compare takes two stored results in place of a plan, an older and a newer
one, and says for each size whether it became slower: surely slower and by the
margin or more. The chance of a false alarm is 5 % at most over all sizes of a
stage, as far as the forks of each run show how runs differ; what differs
between two days they do not show.

--calibrate runs the microbenchmarks N times in pairs that differ in nothing,
and prints how many pairs would have been called slower, and how small a change
is found on this machine.

Exit codes: as run; with --compare 0 nothing is slower, 1 something is, 4 a
result cannot be read, 5 it cannot be told.`,
		Example: `  perfplan bench plans/predictor.yaml
  perfplan bench --baseline perfplan-out/predictor/latest plans/predictor.yaml
  perfplan bench --compare before/result.json after/result.json
  perfplan bench --calibrate 20 plans/predictor.yaml`,
		Args: func(cmd *cobra.Command, args []string) error {
			if !compare {
				return arguments(1, "PLAN")(cmd, args)
			}
			if len(args) != 2 {
				return fmt.Errorf("--compare: got %d results, want two: OLD NEW", len(args))
			}
			return nil
		},
		ValidArgsFunction: completePlans(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case f.out == "":
				return fail(exitUsage, "--out: got nothing, want a folder")
			case compare && pairs > 0:
				return fail(exitUsage, "--compare and --calibrate: want one of them")
			case !(margin > 0 && margin < 10):
				return fail(exitUsage, "--margin: got %v, want above 0 and below 10, such as 0.05 for 5 %%", margin)
			case cmd.Flags().Changed("calibrate") && (pairs < 2 || pairs > 1000):
				return fail(exitUsage, "--calibrate: got %d, want 2 to 1000 pairs", pairs)
			case compare:
				return c.compareBench(args[0], args[1], margin)
			}
			f.plan, f.bench = *change, true
			if pairs > 0 {
				return c.calibrateBench(cmd.Context(), args[0], f, pairs, margin)
			}
			return c.run(cmd.Context(), args[0], f)
		},
	}
	change = planFlags(cmd)
	cmd.Flags().StringVar(&f.out, "out", "perfplan-out", "`folder` for results; the run makes its own folder in it")
	cmd.Flags().BoolVar(&f.quiet, "quiet", false, "no progress on standard error")
	cmd.Flags().BoolVar(&f.json, "json", false, "print the result as JSON in place of the summary")
	cmd.Flags().StringArrayVar(&f.baselines, "baseline", nil, "stored run that assertions like time p50 <= baseline + 10% are about: its result.json or folder (`PATH`); several times for several")
	cmd.Flags().BoolVar(&compare, "compare", false, "compare two stored results")
	cmd.Flags().IntVar(&pairs, "calibrate", 0, "measure false alarms and the smallest change seen, over `N` pairs of like runs")
	cmd.Flags().Float64Var(&margin, "margin", verdict.DefaultMargin, "smallest change that counts with --compare and --calibrate, as a `SHARE`")
	return cmd
}

// onlyBench is the plan without its other stages.
func onlyBench(p *plans.Plan) (*plans.Plan, error) {
	own := *p
	own.Stages = slices.DeleteFunc(slices.Clone(p.Stages), func(st *plans.Stage) bool {
		_, ok := st.Work.(*plans.Microbenchmark)
		return !ok
	})
	if len(own.Stages) == 0 {
		return nil, fail(exitPlan, "%s: no microbenchmark stage, so there is nothing to run", p.Path)
	}
	return &own, nil
}

// compareBench prints how the microbenchmarks of two stored results differ.
func (c *console) compareBench(before, after string, margin float64) error {
	var rs [2]*result.Result
	for i, path := range []string{before, after} {
		file, err := recordIn(path)
		if err == nil {
			rs[i], err = result.Read(file)
		}
		if err != nil {
			return fail(exitBroken, "%w", err)
		}
	}
	old, now := rs[0], rs[1]
	if old.RunID == now.RunID && old.Started.Equal(now.Started) {
		c.warnf("%s and %s are the same run", before, after)
	}
	if a, b := old.Environment, now.Environment; a.Fingerprint != b.Fingerprint {
		c.warnf("the results are from unlike machines (%s, %d cores; %s, %d cores): what differs may be theirs", a.CPUModel, a.Cores, b.CPUModel, b.Cores)
	}
	compared, code := 0, exitPass
	for _, st := range now.Stages {
		i := slices.IndexFunc(old.Stages, func(o result.Stage) bool { return o.Name == st.Name })
		if st.Microbenchmark == nil || i < 0 || old.Stages[i].Microbenchmark == nil {
			continue
		}
		b := verdict.CompareBench([]*result.Microbenchmark{old.Stages[i].Microbenchmark}, []string{old.RunID}, st.Microbenchmark, margin)
		compared += len(b.Cells)
		c.printDeltas(st.Name, b)
		for _, d := range b.Cells {
			switch {
			case d.Verdict == result.DeltaSlower:
				code = exitFailed
			case d.Verdict == result.DeltaUnclear && code == exitPass:
				code = exitInconclusive
			}
		}
	}
	if compared == 0 {
		return fail(exitInconclusive, "the results have no microbenchmark in common")
	}
	return exit(code)
}

func (c *console) printDeltas(stage string, b *result.BenchBaseline) {
	fmt.Fprintf(c.out, "%s: new against old, median time of an iteration\n", stage)
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, d := range b.Cells {
		name := result.Size{Size: d.Size, Settings: d.Settings}.Name()
		span := "(too few forks for an interval)"
		if d.Interval != nil {
			span = fmt.Sprintf("(%s to %s)", percentChange(*d.Interval.Lo), percentChange(*d.Interval.Hi))
		}
		fmt.Fprintf(w, "  %s\t%s\t%s\t%s\t%s\t  %s\t\n", name, fourDigits(d.BaseNS), fourDigits(d.NowNS), percentChange(d.Change), span, d.Verdict)
	}
	w.Flush()
	for _, n := range b.New {
		fmt.Fprintf(c.out, "  %s: new, nothing to compare it with\n", n)
	}
	for _, n := range b.Vanished {
		fmt.Fprintf(c.out, "  %s: only in the old result\n", n)
	}
}

// fourDigits is a time in nanoseconds, rounded.
func fourDigits(ns float64) time.Duration {
	if !(ns > 0) {
		return 0
	}
	unit := math.Pow(10, math.Floor(math.Log10(ns))-3)
	return time.Duration(math.Round(math.Round(ns/unit) * unit))
}

func percentChange(v float64) string { return fmt.Sprintf("%+.1f%%", 100*v) }

// calibrateBench measures what comparisons on this machine are worth.
func (c *console) calibrateBench(ctx context.Context, path string, f runFlags, pairs int, margin float64) error {
	p, err := c.mustLoad(path, f.plan)
	if err != nil {
		return err
	}
	if p, err = onlyBench(p); err != nil {
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
	runs := map[string][]*result.Microbenchmark{}
	for i := range 2 * pairs {
		if !f.quiet {
			c.warnf("calibration: run %d of %d", i+1, 2*pairs)
		}
		dir := filepath.Join(tmp, strconv.Itoa(i))
		if err := os.Mkdir(dir, 0o777); err != nil {
			return fail(exitBroken, "%w", err)
		}
		r := c.carryOut(ctx, p, sweeper, runner.Options{Dir: dir, RunID: strconv.Itoa(i), Version: thisBuild().Version, Env: c.lookup, Bench: true})
		switch {
		case r.Interrupted:
			return exit(exitInterrupted)
		case r.Error != "":
			return fail(exitBroken, "%s", r.Error)
		}
		for _, st := range r.Stages {
			runs[st.Name] = append(runs[st.Name], st.Microbenchmark)
		}
	}
	for _, st := range p.Stages {
		cal := verdict.CalibrateBench(runs[st.Name], margin)
		fmt.Fprintf(c.out, "%s on this machine, %d pairs of like runs, margin %s:\n", st.Name, cal.Pairs, percentChange(margin))
		fmt.Fprintf(c.out, "  false alarms    %d of %d pairs (a cell called slower)\n", cal.FalseAlarms, cal.Pairs)
		fmt.Fprintf(c.out, "  +10%% slower     found in %d of %d pairs (all cells, times of the second run made 10%% longer)\n", cal.Found, cal.Pairs)
		if cal.Visible > 0 {
			fmt.Fprintf(c.out, "  smallest change found in 95 of 100: %s\n", percentChange(cal.Visible))
		} else {
			fmt.Fprintf(c.out, "  no change up to +100%% is found in 95 of 100\n")
		}
	}
	return nil
}
