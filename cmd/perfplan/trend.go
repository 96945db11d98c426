package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/report"
	"github.com/perfplan/perfplan/runner/history"
)

// trendFlags are the flags of the command trend.
type trendFlags struct {
	only      string
	magnitude float64
	json      bool
	html      string
	fresh     bool
}

func trendCommand(c *console) *cobra.Command {
	var f trendFlags
	cmd := &cobra.Command{
		Use:   "trend FOLDER",
		Short: "Show how figures went over a plan's runs, and where they changed",
		Long: `trend reads the results of all runs in a plan's folder, OUT/PLAN, and looks in
each figure for changes of level: by E-divisive means with a t test, of at
least --magnitude. It notifies and never fails: which change is whose is for
people to find.

Runs on another kind of machine than the newest one are left out, and stages
that were cut short or not valid.

Exit codes: 0 it was shown, 4 the folder cannot be read.`,
		Example: `  perfplan trend perfplan-out/predictor
  perfplan trend --only p99 --html trend.html perfplan-out/predictor`,
		Args: arguments(1, "FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			if !(f.magnitude > 0 && f.magnitude < 10) {
				return fail(exitUsage, "--magnitude: got %v, want above 0 and below 10, such as 0.05 for 5 %%", f.magnitude)
			}
			return c.trend(args[0], f)
		},
	}
	cmd.Flags().StringVar(&f.only, "only", "", "only figures whose name has this `TEXT` in it")
	cmd.Flags().Float64Var(&f.magnitude, "magnitude", 0.05, "smallest change of level, as a `SHARE`")
	cmd.Flags().BoolVar(&f.json, "json", false, "print runs and trends as JSON")
	cmd.Flags().StringVar(&f.html, "html", "", "write a page with charts to this `FILE`")
	cmd.Flags().BoolVar(&f.fresh, "rebuild", false, "make the index of the folder again from all results")
	return cmd
}

func (c *console) trend(dir string, f trendFlags) error {
	h, err := history.Load(dir, f.fresh)
	if err != nil {
		return fail(exitBroken, "%w", err)
	}
	for _, p := range h.Problems {
		c.warnf("left out: %v", p)
	}
	runs := h.Runs
	if len(runs) == 0 {
		return fail(exitBroken, "%s: no results of runs that have ended in it", dir)
	}
	newest := runs[len(runs)-1].Fingerprint
	runs = slices.DeleteFunc(slices.Clone(runs), func(r history.Run) bool { return r.Fingerprint != newest })
	var notices []string
	if n := len(h.Runs) - len(runs); n > 0 {
		notices = append(notices, fmt.Sprintf("%s on another kind of machine than the newest left out.", counted(n, "run")))
	}
	for i := 1; i < len(runs); i++ {
		if runs[i].PlanHash != runs[i-1].PlanHash {
			notices = append(notices, fmt.Sprintf("From run %s on the plan is another one.", nameOf(runs[i])))
		}
	}
	trends := slices.DeleteFunc(history.Trends(runs, f.magnitude), func(t history.Trend) bool { return !strings.Contains(t.Series, f.only) })
	if f.html != "" {
		if err := writeTrend(f.html, dir, runs, trends, notices); err != nil {
			return fail(exitBroken, "%w", err)
		}
	}
	if f.json {
		data, err := json.MarshalIndent(struct {
			Runs   []history.Run   `json:"runs"`
			Trends []history.Trend `json:"trends"`
		}{runs, trends}, "", "  ")
		if err != nil {
			return fail(exitBroken, "%w", err)
		}
		fmt.Fprintf(c.out, "%s\n", data)
		return nil
	}
	for _, n := range notices {
		fmt.Fprintln(c.out, n)
	}
	c.printTrends(runs, trends)
	if f.html != "" {
		fmt.Fprintf(c.out, "\npage: %s\n", f.html)
	}
	return nil
}

// nameOf is how a run is called: its time and its commit.
func nameOf(r history.Run) string {
	text := r.Started.Format(time.DateTime)
	if r.Commit != "" {
		text += " " + r.Commit[:min(10, len(r.Commit))]
	}
	if r.Dirty {
		text += "+"
	}
	return text
}

func (c *console) printTrends(runs []history.Run, trends []history.Trend) {
	g := c.glyphs()
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	fmt.Fprintf(w, "FIGURE\tRUNS\tNEWEST\t\tCHANGES OF LEVEL\n")
	for _, t := range trends {
		text := "none"
		if len(t.Points) > 0 {
			var all []string
			for _, p := range t.Points {
				all = append(all, fmt.Sprintf("%s at %s", percentChange(p.Change), nameOf(runs[p.Run])))
			}
			text = strings.Join(all, "; ")
		}
		fmt.Fprintf(w, "%s\t%d\t%s\t%s\t%s\n", t.Series, len(t.Values), trendValue(t.Unit, t.Values[len(t.Values)-1]), sparkline(t.Values, []rune(g.levels)), text)
	}
	w.Flush()
}

func trendValue(unit string, v float64) string {
	switch unit {
	case "ns":
		return fourDigits(v).String()
	case "share":
		return fmt.Sprintf("%.3g%%", 100*v)
	}
	return fmt.Sprintf("%.4g/s", v)
}

// sparkline draws the newest values, from the least to the most of them.
func sparkline(values []float64, levels []rune) string {
	values = values[max(0, len(values)-24):]
	lo, hi := slices.Min(values), slices.Max(values)
	var b strings.Builder
	for _, v := range values {
		k := 0
		if hi > lo {
			k = int((v - lo) / (hi - lo) * float64(len(levels)-1))
		}
		b.WriteRune(levels[k])
	}
	return b.String()
}

func writeTrend(path, dir string, runs []history.Run, trends []history.Trend, notices []string) error {
	full, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	page := report.Trend{Title: filepath.Base(full), Notices: notices}
	for _, r := range runs {
		page.Runs = append(page.Runs, nameOf(r))
	}
	for _, t := range trends {
		s := report.TrendSeries{Name: t.Series, Unit: t.Unit, Runs: t.Runs, Values: t.Values}
		for _, p := range t.Points {
			s.Points = append(s.Points, report.TrendPoint(p))
		}
		page.Series = append(page.Series, s)
	}
	var b bytes.Buffer
	if err := report.WriteTrend(&b, page); err != nil {
		return err
	}
	return os.WriteFile(path, b.Bytes(), 0o666)
}

func historyCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "history",
		Short:   "Keep the folder of a plan's runs small",
		Long:    "history has the command prune, which removes the folders of old runs.",
		Example: "  perfplan history prune --keep 100 perfplan-out/predictor",
		Args:    unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(c.err)
			if err := cmd.Help(); err != nil {
				return err
			}
			return exit(exitUsage)
		},
	}
	keep := 100
	prune := &cobra.Command{
		Use:   "prune FOLDER",
		Short: "Remove the folders of all but the newest runs",
		Long: `prune removes the folders of all but the newest runs of a plan, with all that is
in them. What is no run, has not ended, or is the one that "latest" names, stays.

Exit codes: 0 done, 4 the folder cannot be read or a run not be removed.`,
		Args: arguments(1, "FOLDER"),
		RunE: func(_ *cobra.Command, args []string) error {
			if keep < 1 {
				return fail(exitUsage, "--keep: got %d, want 1 or more", keep)
			}
			gone, err := history.Prune(args[0], keep)
			if err != nil {
				return fail(exitBroken, "%w", err)
			}
			fmt.Fprintf(c.out, "removed %s\n", counted(len(gone), "run"))
			return nil
		},
	}
	prune.Flags().IntVar(&keep, "keep", keep, "how many stay, `N`")
	cmd.AddCommand(prune)
	return cmd
}
