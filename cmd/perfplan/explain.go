package main

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/plans"
)

func explainCommand(c *console) *cobra.Command {
	var onlyYAML bool
	var curves string
	var change *plans.Options
	cmd := &cobra.Command{
		Use:   "explain PLAN",
		Short: "Show what a run of a plan would do",
		Long: `explain shows what a run would do, without doing any of it: the stages with
their load curves, how many requests they offer and how long they take, how many
samples each SLO gets and needs, and the plan with all defaults and variables
filled in, each value with where it comes from: a line of the plan or of a file
that it includes, a profile, a flag, or the default. "-" is standard input.`,
		Example: `  perfplan explain plans/predictor.yaml
  perfplan explain --profile ci plan.yaml
  perfplan explain --yaml plans/predictor.yaml > plans/effective.yaml`,
		Args:              arguments(1, "PLAN"),
		ValidArgsFunction: completePlans(1),
		RunE: func(_ *cobra.Command, args []string) error {
			p, err := c.mustLoad(args[0], *change)
			if err != nil {
				return err
			}
			if curves != "" {
				if err := writeCurves(curves, p); err != nil {
					return fail(exitBroken, "cannot draw the load curves: %w", err)
				}
			}
			if !onlyYAML {
				explain(c.out, p, c.glyphs())
				fmt.Fprint(c.out, "\nThe plan with all defaults, and where each value comes from:\n\n")
				_, err = c.out.Write(p.Annotated())
				return err
			}
			_, err = c.out.Write(p.YAML())
			return err
		},
	}
	change = planFlags(cmd)
	cmd.Flags().StringVar(&curves, "curves", "", "draw each load stage's curve into `folder`, as PNG and SVG")
	cmd.Flags().BoolVar(&onlyYAML, "yaml", false, "print only the effective plan, which can be run itself from the same folder")
	return cmd
}

// explain prints what a run of p would do.
func explain(w io.Writer, p *plans.Plan, g glyphs) {
	fmt.Fprintf(w, "plan      %s (%s)\n", p.Name, p.Path)
	if p.Description != "" {
		fmt.Fprintf(w, "question  %s\n", p.Description)
	}
	fmt.Fprintf(w, "hash      %s\n", p.Hash)
	var sum effort
	var group effort
	for _, st := range p.Stages {
		own := effortOfStage(st)
		own.least, own.most = own.least+st.Delay, own.most+st.Delay
		if st.Alongside == "" {
			sum, group = sum.plus(group), own
			continue
		}
		least, most := max(group.least, own.least), max(group.most, own.most)
		group = group.plus(own)
		group.least, group.most = least, most
	}
	sum = sum.plus(group)
	fmt.Fprintf(w, "time      %s, and what builds and starts take\n", sum.span())
	fmt.Fprintf(w, "requests  %s\n", sum.requests())
	for i, st := range p.Stages {
		fmt.Fprintf(w, "\n[%d/%d] %s: %s\n", i+1, len(p.Stages), st.Name, st.Work.Kind()+when(st))
		switch work := st.Work.(type) {
		case *plans.Microbenchmark:
			explainBench(w, work)
		case *plans.Warmup:
			explainWarmup(w, work)
		case *plans.Load:
			explainLoad(w, work, g)
			if looks := st.Rounds(); len(looks) > 1 {
				fmt.Fprintf(w, "  extend    offered up to %d times in all while an SLO is undecided\n", looks[len(looks)-1])
			}
		case *plans.Compare:
			explainCompare(w, work)
		}
		explainSLOs(w, st)
	}
}

// when says when a stage begins, unless it is when the one before has ended.
func when(st *plans.Stage) string {
	text := ""
	if st.Alongside != "" {
		text = ", alongside " + st.Alongside
	}
	if st.Delay > 0 {
		text += ", " + length(st.Delay) + " later"
	}
	return text
}

func explainBench(w io.Writer, m *plans.Microbenchmark) {
	fmt.Fprintf(w, "  subject   %s\n", m.Subject.Command.Text)
	if m.Subject.Kind == plans.SubjectResults {
		return
	}
	if len(m.Sizes) > 0 {
		fmt.Fprintf(w, "  sizes     %s\n", sizes(m.Sizes))
	}
	for _, p := range m.Parameters {
		fmt.Fprintf(w, "  %-9s %s\n", p.Name, strings.Join(p.Values, ", "))
	}
	if m.Subject.Kind == plans.SubjectTime {
		fmt.Fprintf(w, "  samples   %d a cell: %s of %s\n", m.Forks*m.Samples, counted(m.Forks, "group"), counted(m.Samples, "run"))
	} else {
		fmt.Fprintf(w, "  samples   %d a size: %s, each with %d of at least %s\n", m.Forks*m.Samples, counted(m.Forks, "fork"), m.Samples, length(m.MinTime))
	}
	fmt.Fprintf(w, "  warm-up   %s, in each fork\n", until(m.Warmup))
	fmt.Fprintf(w, "  time      %s\n", effortOf(m).span())
}

// sizes lists a few sizes and sums up many.
func sizes(all []int) string {
	if len(all) <= 5 {
		return strings.Join(strings.Fields(strings.Trim(fmt.Sprint(all), "[]")), ", ")
	}
	return fmt.Sprintf("%d, from %d to %d", len(all), all[0], all[len(all)-1])
}

func until(u plans.Until) string {
	switch {
	case u.Steady:
		return "until steady, at most " + length(u.AtMost)
	case u.AtMost == 0:
		return "none"
	}
	return length(u.AtMost)
}

func explainWarmup(w io.Writer, u *plans.Warmup) {
	fmt.Fprint(w, sentBy(u.Request, u.Mix, u.Flows))
	explainData(w, u.Request, u.Mix, u.DataEnd)
	fmt.Fprintf(w, "  load      %s, %s; its samples are thrown away\n", rate(u.Rate), until(u.Until))
	fmt.Fprintf(w, "  requests  %s\n", effortOf(u).requests())
}

func explainLoad(w io.Writer, l *plans.Load, g glyphs) {
	fmt.Fprint(w, sentBy(l.Request, l.Mix, l.Flows))
	explainData(w, l.Request, l.Mix, l.DataEnd)
	if l.Arrivals == plans.Closed {
		fmt.Fprintf(w, "  users     %d, each sends when its answer is there%s, timeout %s\n", l.MaxInFlight, thinking(l.Think), timeouts(l))
		fmt.Fprintf(w, "  time      %s, then up to %s for what is in flight\n", length(l.Duration()), length(l.Drain))
		fmt.Fprintf(w, "  requests  %s\n", effortOf(l).requests())
		return
	}
	fmt.Fprintf(w, "  arrivals  %s, at most %d in flight (%s), timeout %s\n", l.Arrivals, l.MaxInFlight, atMax(l.AtMax), timeouts(l))
	fmt.Fprintf(w, "  time      %s, then up to %s for what is in flight\n", length(l.Duration()), length(l.Drain))
	about := ""
	if l.Arrivals == plans.Poisson || len(l.Flows) > 1 {
		about = "about "
	}
	fmt.Fprintf(w, "  requests  %s%s\n\n", about, effortOf(l).requests())
	for _, line := range curve(l.Profile, g) {
		fmt.Fprintf(w, "    %s\n", line)
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  segment\tlength\trequests")
	for _, s := range l.Profile {
		fmt.Fprintf(t, "  %s\t%s\t%s\n", s.Name, length(s.Over), whole(s.Planned()*l.Share("")))
	}
	t.Flush()
}

// timeouts are that of requests and those of their parts.
func timeouts(l *plans.Load) string {
	text := length(l.Timeout)
	if d := l.Timeouts.Connect; d > 0 {
		text += ", " + length(d) + " to connect"
	}
	if d := l.Timeouts.FirstByte; d > 0 {
		text += ", " + length(d) + " to the first byte"
	}
	return text
}

// thinking says how long a user waits.
func thinking(p plans.Pause) string {
	switch {
	case p.Most == 0:
		return ""
	case p.Least == p.Most:
		return " and " + length(p.Least) + " have passed"
	}
	return fmt.Sprintf(" and %s to %s have passed", length(p.Least), length(p.Most))
}

// sentBy says which request a stage sends, or which ones or flows with their shares.
func sentBy(r *plans.Request, mix []plans.Weighted, flows []plans.WeightedFlow) string {
	if flows != nil {
		return flowsText(r, flows)
	}
	if mix == nil {
		return fmt.Sprintf("  request   %s to %s\n", r.Name, r.Target.Name)
	}
	l := plans.Load{Mix: mix}
	var parts []string
	for _, w := range mix {
		parts = append(parts, fmt.Sprintf("%s %.3g%%", w.Name, 100*l.Share(w.Name)))
	}
	return fmt.Sprintf("  mix       %s, to %s\n", strings.Join(parts, ", "), r.Target.Name)
}

// flowsText lists flows with their steps.
func flowsText(r *plans.Request, flows []plans.WeightedFlow) string {
	l := plans.Load{Flows: flows}
	var b strings.Builder
	for i, f := range flows {
		share, to := "", ""
		if len(flows) > 1 {
			share = fmt.Sprintf(" %.3g%%", 100*l.FlowShare(f.Name))
		}
		if i == 0 {
			to = ", to " + r.Target.Name
		}
		var steps []string
		for _, s := range f.Steps {
			text := s.Request.Name
			switch {
			case s.Think.Most > s.Think.Least:
				text = length(s.Think.Least) + " to " + length(s.Think.Most) + " later " + text
			case s.Think.Most > 0:
				text = length(s.Think.Most) + " later " + text
			}
			if s.When != nil {
				text += " (if)"
			}
			steps = append(steps, text)
		}
		fmt.Fprintf(&b, "  flow      %s%s: %s%s\n", f.Name, share, strings.Join(steps, ", "), to)
	}
	return b.String()
}

// explainData says which rows are sent, and whether they end the stage.
func explainData(w io.Writer, r *plans.Request, mix []plans.Weighted, end *plans.DataEnd) {
	tables := r.Data
	for _, m := range mix[min(1, len(mix)):] { // of a mix, the first is r
		tables = append(slices.Clip(tables), m.Data...)
	}
	for _, d := range tables {
		how := string(d.Order)
		if d.Order == plans.Shuffled || d.Order == plans.Weighed {
			how += fmt.Sprintf(", seed %d", d.Seed)
		}
		if d.Streamed != nil {
			how += ", read while they are sent"
		}
		fmt.Fprintf(w, "  data      %s: %s of %s, %s\n", d.Name, counted(int(d.Len()), "row"), filepath.Base(d.File), how)
	}
	if end != nil {
		fmt.Fprintf(w, "  cut       at %s, with the rows of %s: it would last %s\n", counted(int(end.Requests), "request"), end.Data.Name, length(end.Planned))
	}
}

func atMax(m plans.AtMax) string {
	if m == plans.Drop {
		return "more are dropped"
	}
	return "more wait"
}

// explainSLOs says for each SLO how many samples it gets in the segment with the fewest, and how many it needs.
func explainSLOs(w io.Writer, st *plans.Stage) {
	if len(st.SLOs) == 0 {
		return
	}
	fmt.Fprintln(w)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  SLO\tsamples\tat least")
	for _, s := range st.SLOs {
		samples, needed := samplesOf(s, st.Work)
		fmt.Fprintf(t, "  %s\t%s\t%s\n", s.Text, samples, needed)
	}
	t.Flush()
}

func samplesOf(s plans.SLO, work plans.Work) (samples, needed string) {
	needed = fmt.Sprint(s.MinSamples())
	switch w := work.(type) {
	case *plans.Microbenchmark:
		if w.Subject.Kind == plans.SubjectResults {
			return "those of the file", needed
		}
		return fmt.Sprintf("%d a size", w.Forks*w.Samples), needed
	case *plans.Load:
		if k := s.Metric.Kind; k == plans.CPU || k == plans.RSS {
			return "one a second", needed
		}
		least := slices.MinFunc(w.Profile, func(a, b plans.Segment) int { return cmp.Compare(a.Planned(), b.Planned()) })
		share, of := w.Share(s.Metric.Request), ""
		switch {
		case w.Arrivals == plans.Closed:
			return "as many as are answered", needed
		case s.Metric.Request != "" && len(w.Mix)+len(w.Flows) > 1:
			of = "about "
		}
		if len(w.Profile) == 1 && s.Metric.Request == "" {
			return effortOf(w).requests(), needed
		}
		samples = of + whole(least.Planned()*share)
		if len(w.Profile) > 1 {
			samples += " in " + least.Name
		}
		return samples, needed
	}
	return effortOf(work).requests(), needed
}

func explainCompare(w io.Writer, c *plans.Compare) {
	name := func(s plans.Side) string {
		if s.Target == nil {
			return ""
		}
		if s.Commit != "" {
			return s.Target.Name + " at " + s.Commit
		}
		return s.Target.Name
	}
	fmt.Fprintf(w, "  base      %s\n  new       %s\n", name(c.Base), name(c.New))
	if c.Request != nil {
		fmt.Fprintf(w, "  request   %s %s\n", c.Request.Method, c.Request.Name)
	}
	var metrics []string
	for _, m := range c.Metrics {
		metrics = append(metrics, m.String())
	}
	fmt.Fprintf(w, "  runs      up to %d pairs of %s at %s, each after %s of warm-up in a fresh process\n", c.Pairs, length(c.For), rate(c.Rate), length(c.Warm))
	if c.Alternate > 0 {
		fmt.Fprintf(w, "  turns     both versions of a pair at the same time, in turns of %s\n", length(c.Alternate))
	}
	fmt.Fprintf(w, "  decides   %s no worse by %s, after 5, 8 or 12 pairs\n", strings.Join(metrics, ", "), percentChange(c.Margin)[1:])
	fmt.Fprintf(w, "  time      %s\n", effortOf(c).span())
}
