package main

import (
	"encoding/json"
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/verdict"
)

func compareCommand(c *console) *cobra.Command {
	var margin float64
	var asJSON bool
	cmd := &cobra.Command{
		Use:   "compare OLD... NEW",
		Short: "Compare a stored result with older ones",
		Long: `compare says how the figures of a result, the last one named, changed against
older ones: results, run folders or baselines.

What it can tell: a microbenchmark has forks, so one older run is enough. A
load stage of one run says nothing of how runs differ; from five older runs on
a change that one more run would not show by chance is called, at 95 %. It
never sees what differs between days or machines in all runs alike.

Exit codes: 0 nothing is slower, 1 something is slower by the margin or more,
5 it cannot be told, 4 a result cannot be read.`,
		Example: `  perfplan compare plans/predictor.baseline.json perfplan-out/predictor/latest
  perfplan compare before/ after/`,
		Args: manyArguments("OLD... NEW"),
		RunE: func(_ *cobra.Command, args []string) error {
			if !(margin > 0 && margin < 10) {
				return fail(exitUsage, "--margin: got %v, want above 0 and below 10, such as 0.05 for 5 %%", margin)
			}
			return c.compare(args, margin, asJSON)
		},
	}
	cmd.Flags().Float64Var(&margin, "margin", verdict.DefaultMargin, "smallest change that counts, as a `SHARE`")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the changes as JSON")
	return cmd
}

// compare prints how the last of the results changed against the others.
func (c *console) compare(paths []string, margin float64, asJSON bool) error {
	var runs []*result.Result
	for i, path := range paths {
		file, err := recordIn(path)
		if err != nil {
			return fail(exitBroken, "%w", err)
		}
		read, err := result.ReadRuns(file)
		if err != nil {
			return fail(exitBroken, "%w", err)
		}
		if i == len(paths)-1 {
			read = read[len(read)-1:] // of a baseline the newest
		}
		runs = append(runs, read...)
	}
	old, now := runs[:len(runs)-1], runs[len(runs)-1]
	for _, o := range old {
		if why := unlike(o, now); why != "" {
			c.warnf("run %s against %s: %s; what differs may come from that", now.RunID, o.RunID, why)
		}
	}
	ds := verdict.CompareRuns(old, now, margin)
	if len(ds) == 0 {
		return fail(exitInconclusive, "the results have no figure in common")
	}
	if asJSON {
		data, err := json.MarshalIndent(ds, "", "  ")
		if err != nil {
			return fail(exitBroken, "%w", err)
		}
		fmt.Fprintf(c.out, "%s\n", data)
	} else {
		c.printChanges(ds)
		fmt.Fprintf(c.out, "\nrun %s against %s, margin %s\n", now.RunID, counted(len(old), "older run"), percentChange(margin))
	}
	code := exitPass
	for _, d := range ds {
		switch {
		case d.Verdict == result.DeltaSlower:
			code = exitFailed
		case d.Verdict == result.DeltaUnclear && code == exitPass:
			code = exitInconclusive
		}
	}
	return exit(code)
}

func (c *console) printChanges(ds []verdict.Delta) {
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', tabwriter.AlignRight)
	for _, d := range ds {
		base, now := fmt.Sprintf("%.4g/s", d.Base), fmt.Sprintf("%.4g/s", d.Now)
		if d.Unit == "ns" {
			base, now = fourDigits(d.Base).String(), fourDigits(d.Now).String()
		}
		span := "(too few runs or forks for an interval)"
		if d.Interval != nil {
			span = fmt.Sprintf("(%s to %s)", percentChange(*d.Interval.Lo), percentChange(*d.Interval.Hi))
		}
		fmt.Fprintf(w, "%s\t  %s\t  %s\t%s\t%s\t%s\t%s\t  %s\t\n", d.Stage, d.Metric, d.Segment, base, now, percentChange(d.Change), span, d.Verdict)
	}
	w.Flush()
}
