package main

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/runner/result"
)

// keepRuns is how many runs a baseline keeps where nothing else is said.
const keepRuns = 20

func baselineCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "baseline",
		Short: "Keep runs in a file that later runs are compared with",
		Long: `baseline makes and shows files of stored runs. Such a file is small, has a
checksum, and is meant to be committed beside the plan: "perfplan run
--baseline FILE" compares with all of its runs. One run is enough for
microbenchmarks; for load stages a breach decides from five runs on.

Only runs that passed get into a baseline, all of one plan and of like machines.`,
		Example: `  perfplan baseline save plans/base.json perfplan-out/predictor/latest
  perfplan baseline promote plans/base.json perfplan-out/predictor/latest
  perfplan baseline show plans/base.json
  perfplan run --baseline plans/base.json plans/predictor.yaml`,
		Args: unknownCommand,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cmd.SetOut(c.err)
			if err := cmd.Help(); err != nil {
				return err
			}
			return exit(exitUsage)
		},
	}
	cmd.AddCommand(baselineSave(c), baselinePromote(c), baselineList(c), baselineShow(c))
	return cmd
}

func baselineSave(c *console) *cobra.Command {
	var force bool
	cmd := &cobra.Command{
		Use:   "save FILE RESULT...",
		Short: "Make a baseline of results",
		Long: `save writes the runs of results, given as run folders or result.json files,
into a new baseline. It refuses runs that failed or were inconclusive, and
runs of several plans or unlike machines.

Exit codes: 0 the file was written, 2 a result cannot be part of it or the file
is there already, 4 it cannot be written.`,
		Args: manyArguments("FILE RESULT..."),
		RunE: func(_ *cobra.Command, args []string) error {
			if _, err := os.Lstat(args[0]); err == nil && !force {
				return fail(exitUsage, "%s is there already: add runs with promote, or write it anew with --force", args[0])
			}
			return c.keepRuns(args[0], nil, args[1:], len(args))
		},
	}
	cmd.Flags().BoolVar(&force, "force", false, "replace a file that is there")
	return cmd
}

func baselinePromote(c *console) *cobra.Command {
	keep := keepRuns
	cmd := &cobra.Command{
		Use:   "promote FILE RESULT...",
		Short: "Add results to a baseline",
		Long: `promote adds runs to a baseline and leaves out the oldest beyond --keep. What
save refuses, it refuses, and runs of another plan than the file's.

Exit codes: 0 the file was written, 2 a result cannot be part of it, 4 the file
cannot be read or written.`,
		Args: manyArguments("FILE RESULT..."),
		RunE: func(_ *cobra.Command, args []string) error {
			if keep < 1 || keep > 1000 {
				return fail(exitUsage, "--keep: got %d, want 1 to 1000", keep)
			}
			b, err := result.ReadBaseline(args[0])
			if err != nil {
				return fail(exitBroken, "%w", err)
			}
			return c.keepRuns(args[0], b.Runs, args[1:], keep)
		},
	}
	cmd.Flags().IntVar(&keep, "keep", keep, "most runs, `N`")
	return cmd
}

// keepRuns writes a baseline of the runs that it has and of those that results add.
func (c *console) keepRuns(file string, runs []result.Result, paths []string, keep int) error {
	added, err := readBaselines("", paths)
	if err != nil {
		return err
	}
	for _, r := range added {
		if slices.ContainsFunc(runs, func(o result.Result) bool { return o.RunID == r.RunID }) {
			return fail(exitUsage, "run %s is in it already", r.RunID)
		}
		if len(runs) > 0 {
			if why := unlike(&runs[0], r); why != "" {
				return fail(exitUsage, "run %s: %s", r.RunID, why)
			}
		}
		runs = append(runs, result.Prune(r))
	}
	slices.SortStableFunc(runs, func(a, b result.Result) int { return a.Started.Compare(b.Started) })
	runs = runs[max(0, len(runs)-keep):]
	if err := result.WriteBaseline(file, &result.Baseline{Plan: runs[0].Plan, Runs: runs}); err != nil {
		return fail(exitBroken, "%w", err)
	}
	fmt.Fprintf(c.out, "%s: %s of plan %s\n", file, counted(len(runs), "run"), runs[0].Plan.Name)
	return nil
}

// unlike says why two runs are not of one plan and like machines; "" when they are.
func unlike(a, b *result.Result) string {
	machine := a.Environment.Unlike(b.Environment)
	switch {
	case a.Plan.Name != b.Plan.Name:
		return fmt.Sprintf("it is of plan %s, the others of %s", b.Plan.Name, a.Plan.Name)
	case a.Plan.Hash != b.Plan.Hash:
		return fmt.Sprintf("it is of plan %s as it is with the hash %s, the others with %s: the plan, its settings or its files have changed", b.Plan.Name, b.Plan.Hash, a.Plan.Hash)
	case machine != "":
		return "it was made on another kind of machine than the others: " + strings.ReplaceAll(machine, ", here ", ", there ")
	}
	return ""
}

func baselineList(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "list [FILE|FOLDER...]",
		Short: "List baselines",
		Long: `list shows the baselines among files, and in folders and all below; without any
in the current folder. Files that are damaged are named.

Exit codes: 0 all could be read, 4 one could not.`,
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				args = []string{"."}
			}
			return c.listBaselines(args)
		},
	}
}

func (c *console) listBaselines(places []string) error {
	w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', 0)
	code, found := exitPass, 0
	show := func(path string) {
		b, err := result.ReadBaseline(path)
		if err != nil {
			c.warnf("%v", err)
			code = exitBroken
			return
		}
		last := b.Runs[len(b.Runs)-1]
		if found++; found == 1 {
			fmt.Fprintln(w, "FILE\tPLAN\tRUNS\tNEWEST\tMACHINE")
		}
		fmt.Fprintf(w, "%s\t%s\t%d\t%s\t%s, %d cores\n", path, b.Plan.Name, len(b.Runs), last.Started.UTC().Format(time.DateOnly), last.Environment.CPUModel, last.Environment.Cores)
	}
	for _, place := range places {
		info, err := os.Stat(place)
		if err != nil {
			return fail(exitBroken, "%w", err)
		}
		if !info.IsDir() {
			show(place)
			continue
		}
		err = filepath.WalkDir(place, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ".json") && marked(path) {
				show(path)
			}
			return nil
		})
		if err != nil {
			return fail(exitBroken, "%w", err)
		}
	}
	w.Flush()
	if found == 0 && code == exitPass {
		fmt.Fprintln(c.out, "no baselines")
	}
	return exit(code)
}

// marked tells whether a file says that it is a baseline.
func marked(path string) bool {
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	head := make([]byte, 200)
	n, _ := f.Read(head)
	return strings.Contains(string(head[:n]), result.BaselineFormat)
}

func baselineShow(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "show FILE",
		Short: "Show the runs of a baseline",
		Long: `show prints the plan, the machine, the runs and the figures of a baseline.

Exit codes: 0 it was shown, 4 it cannot be read.`,
		Args: arguments(1, "FILE"),
		RunE: func(_ *cobra.Command, args []string) error {
			b, err := result.ReadBaseline(args[0])
			if err != nil {
				return fail(exitBroken, "%w", err)
			}
			c.showBaseline(b)
			return nil
		},
	}
}

func (c *console) showBaseline(b *result.Baseline) {
	e := b.Runs[len(b.Runs)-1].Environment
	fmt.Fprintf(c.out, "plan     %s, %s\nmachine  %s, %d cores, %s %s (%s)\n", b.Plan.Name, b.Plan.Hash, e.CPUModel, e.Cores, e.OS, e.Kernel, e.Fingerprint)
	for _, r := range b.Runs {
		commit := ""
		if r.Environment.Commit != "" {
			commit = ", commit " + r.Environment.Commit[:min(12, len(r.Environment.Commit))]
		}
		fmt.Fprintf(c.out, "\nrun %s, %s%s, perfplan %s\n", r.RunID, r.Started.UTC().Format(time.RFC3339), commit, r.Tool.Version)
		w := tabwriter.NewWriter(c.out, 0, 0, 2, ' ', tabwriter.AlignRight)
		for _, st := range r.Stages {
			for _, f := range figures(st) {
				fmt.Fprintf(w, "  %s\t  %s\t%s\t\n", st.Name, f.name, f.text)
			}
		}
		w.Flush()
	}
}

// A shown is a figure of a stage, for people.
type shown struct{ name, text string }

// figures are the few that say most of a stage.
func figures(st result.Stage) (all []shown) {
	if l := st.Load; l != nil && st.Kind == "load" {
		for _, f := range []struct {
			name string
			ns   *int64
		}{{"p50", l.Response.P50NS}, {"p99", l.Response.P99NS}} {
			if f.ns != nil {
				all = append(all, shown{f.name, fourDigits(float64(*f.ns)).String()})
			}
		}
		all = append(all, shown{"throughput", fmt.Sprintf("%.1f/s", l.ThroughputPerS)})
	}
	if m := st.Microbenchmark; m != nil {
		for _, z := range m.Sizes {
			if z.P50NS != nil {
				all = append(all, shown{strings.TrimSpace(z.Name() + " p50"), fourDigits(*z.P50NS).String()})
			}
		}
	}
	return all
}

// manyArguments checks that there are two arguments or more.
func manyArguments(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) < 2 {
			return fmt.Errorf("missing argument: got %d, want %s", len(args), what)
		}
		return nil
	}
}
