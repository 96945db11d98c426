package report

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfplan/perfplan/report/chart"
	"github.com/perfplan/perfplan/runner/result"
)

func newStage(st *result.Stage, i int, files *names) stage {
	id := anchor(i)
	v := stage{
		Anchor: id, Name: orText(st.Name, fmt.Sprintf("stage %d", i+1)), Kind: st.Kind, Badge: outcomeBadge(st.Outcome),
		Reason: st.Reason, Took: span(st.DurationNS), SLOs: sloRows(st, id), Warnings: warningsOf(st.Warnings, st.Name, id),
	}
	switch st.State {
	case result.Partial:
		v.State = "Ended early: the figures are what was measured until then."
		if st.Aborted != "" {
			v.State = "Ended early, as its plan wants. " + st.Aborted + ". The figures are what was measured until then."
		}
	case result.Skipped:
		v.State, v.Took = "Skipped: it never started.", na
	}
	if st.Alongside != "" {
		v.Lines = append(v.Lines, "At the same time as stage "+st.Alongside+".")
	}
	if st.Load != nil && st.Load.Rounds > 1 {
		v.Lines = append(v.Lines, fmt.Sprintf("Its load was offered %d times, one after the other, since an SLO was undecided: the figures are of all together, the bounds hold for all %d looks at them.", st.Load.Rounds, st.Load.Looks))
	}
	if len(st.Looks) > 0 {
		v.State = strings.TrimSpace(v.State + " " + looksLine(st))
		v.Parts = append(v.Parts, part{Title: "Looks", Tables: []table{looksTable(st.Looks)}})
	}
	file := files.unique(st.Name)
	if st.Warmup != nil {
		v.Lines = append(v.Lines, warmupLine(st.Warmup))
	}
	if st.Comparison != nil {
		v.Brief = comparedBrief(st.Comparison)
		v.Parts = append(v.Parts, comparedParts(st.Comparison, file)...)
	}
	if st.Microbenchmark != nil {
		v.Brief = benchBrief(st.Microbenchmark)
		v.Parts = append(v.Parts, benchParts(st.Microbenchmark, file)...)
	}
	if st.Load != nil {
		v.Brief, v.Failures = brief(st.Load), failuresOf(st.Load)
		v.Lines = append(v.Lines, loadLines(st.Load)...)
		v.Parts = append(v.Parts, loadParts(st.Load, st, file)...)
	}
	if st.Observation != nil {
		v.Parts = append(v.Parts, observationParts(st.Observation, st, file)...)
	}
	return v
}

func warmupLine(w *result.Warmup) string {
	text := "Thrown away: " + counted(w.Excluded, "request") + "."
	switch {
	case w.Until == "steady" && w.Settled && w.SettledNS != nil:
		return "Settled after " + span(*w.SettledNS) + ". " + text
	case w.Until == "steady" && w.Settled:
		return "Settled. " + text
	case w.Until == "steady":
		return "Never settled: the response time was still changing at the end. " + text
	}
	return text
}

// names makes names for files from names of stages, which may hold anything.
type names struct{ taken map[string]bool }

// unique returns name with only letters, digits, '.', '_' and '-', at most 80 bytes, and not used before.
func (n *names) unique(name string) string {
	if n.taken == nil {
		n.taken = map[string]bool{}
	}
	safe := strings.Map(func(r rune) rune {
		if r < 0x80 && (r == '-' || r == '_' || r == '.' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z') {
			return r
		}
		return '_'
	}, name)
	safe = strings.TrimLeft(safe[:min(len(safe), 80)], ".")
	safe = orText(safe, "stage")
	got := safe
	for i := 2; n.taken[strings.ToLower(got)]; i++ {
		got = fmt.Sprintf("%s-%d", safe, i)
	}
	n.taken[strings.ToLower(got)] = true
	return got
}

func observationParts(o *result.Observation, st *result.Stage, file string) []part {
	p := part{Title: "Resources"}
	if o.Samples < 1 {
		p.Lines = append(p.Lines, "The stage was too short to observe: there are no figures of the machine.")
	}
	if len(o.USE) > 0 {
		p.Tables = append(p.Tables, useTable(o.USE))
	}
	if len(o.Processes) > 0 {
		p.Tables = append(p.Tables, processTable(o.Processes))
	}
	if f, ok := processChart(o, st, file, "cpu"); ok {
		p.Charts = append(p.Charts, f)
	}
	if f, ok := processChart(o, st, file, "rss"); ok {
		p.Charts = append(p.Charts, f)
	}
	if t := hostTable(o); len(t.Rows) > 0 {
		p.More = append(p.More, t)
	}
	for _, w := range o.Warnings {
		p.Lines = append(p.Lines, w.Text)
	}
	if o.Backwards > 0 {
		p.Lines = append(p.Lines, counted(o.Backwards, "counter difference")+" below zero left out.")
	}
	return []part{p}
}

func useTable(uses []result.USE) table {
	t := table{
		Caption: "Utilisation, saturation and errors",
		Cols:    []column{{"Resource", false}, {"Utilisation", false}, {"Saturation", false}, {"Errors", false}},
	}
	for _, u := range uses {
		t.Rows = append(t.Rows, []cell{{Text: u.Resource}, useCell(u.Utilisation), useCell(u.Saturation), useCell(u.Errors)})
	}
	return t
}

func useCell(c result.USECell) cell {
	return cell{Badge: levelBadge(c.Level), Text: useValue(c), Sub: c.Text}
}

// useValue shows a cell's figure; it is empty where there is none, which the level says.
func useValue(c result.USECell) string {
	switch {
	case c.Value == nil:
		return ""
	case c.Unit == "share":
		return percent(*c.Value)
	case c.Unit == "per_s":
		return perSecond(*c.Value)
	}
	return number(*c.Value, 4)
}

func processTable(ps []result.Process) table {
	t := table{
		Caption: "Processes; 100% CPU is one core",
		Cols:    []column{{"Process", false}, {"PID", true}, {"CPU mean", true}, {"CPU max", true}, {"RSS max", true}, {"Note", false}},
	}
	for _, p := range ps {
		t.Rows = append(t.Rows, []cell{
			{Text: p.Name}, {Text: fmt.Sprint(p.PID)}, {Text: orNA(p.CPUShare, percent)}, {Text: orNA(p.CPUMaxShare, percent)},
			{Text: orNA(floatOf(p.RSSMaxBytes), size)}, {Text: p.Note},
		})
	}
	return t
}

func floatOf(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

// processChart draws CPU or memory of each observed process over time. ok is false when nothing was sampled.
func processChart(o *result.Observation, st *result.Stage, file, what string) (f figure, ok bool) {
	c := chart.Chart{Title: "CPU of processes", Subtitle: "100% is one core", X: timeAxis(), Y: chart.Axis{Label: "CPU", Unit: chart.Percent}, Bands: bands(st.Load)}
	pick := func(s result.ProcessSample) *float64 { return s.CPUShare }
	if what == "rss" {
		c.Title, c.Subtitle, c.Y = "Memory of processes", "resident set size", chart.Axis{Label: "RSS", Unit: chart.Bytes}
		pick = func(s result.ProcessSample) *float64 { return floatOf(s.RSSBytes) }
	}
	var alt []string
	for _, p := range o.Processes {
		s := chart.Series{Name: p.Name}
		for _, sample := range p.Series {
			s.X, s.Y = append(s.X, float64(sample.TNS)), append(s.Y, gap(pick(sample)))
		}
		if len(s.X) == 0 {
			continue
		}
		c.Series = append(c.Series, s)
		if what == "rss" {
			alt = append(alt, p.Name+" at most "+orNA(floatOf(p.RSSMaxBytes), size))
		} else {
			alt = append(alt, p.Name+" "+orNA(p.CPUShare, percent)+" on average")
		}
	}
	return figure{Name: file + "-" + what, Chart: c, Alt: c.Title + " over time: " + strings.Join(alt, ", ") + "."}, len(c.Series) > 0
}

func timeAxis() chart.Axis {
	return chart.Axis{Label: "time since the stage's start", Unit: chart.Duration}
}

// gap is NaN, a gap in a chart, for what was not measured.
func gap(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}

// hostTable sums the machine's samples up: smallest, mean and largest of each column.
func hostTable(o *result.Observation) table {
	t := table{Caption: "The machine, over all intervals", Cols: []column{{"Figure", false}, {"Least", true}, {"Mean", true}, {"Most", true}}}
	for _, c := range []struct {
		name string
		pick func(result.HostSample) *float64
		show func(float64) string
	}{
		{"run queue", func(s result.HostSample) *float64 { return s.RunQueue }, plainNumber},
		{"blocked", func(s result.HostSample) *float64 { return s.Blocked }, plainNumber},
		{"CPU user", func(s result.HostSample) *float64 { return s.UserShare }, percent},
		{"CPU system", func(s result.HostSample) *float64 { return s.SystemShare }, percent},
		{"CPU idle", func(s result.HostSample) *float64 { return s.IdleShare }, percent},
		{"CPU waiting for disk", func(s result.HostSample) *float64 { return s.IOWaitShare }, percent},
		{"CPU stolen", func(s result.HostSample) *float64 { return s.StealShare }, percent},
		{"memory available", func(s result.HostSample) *float64 { return s.AvailableBytes }, size},
		{"swap used", func(s result.HostSample) *float64 { return s.SwapUsedBytes }, size},
		{"read from disks per second", func(s result.HostSample) *float64 { return s.BlockInPerS }, size},
		{"written to disks per second", func(s result.HostSample) *float64 { return s.BlockOutPerS }, size},
		{"busiest disk", func(s result.HostSample) *float64 { return s.DiskBusyShare }, percent},
		{"received per second", func(s result.HostSample) *float64 { return s.NetInPerS }, size},
		{"sent per second", func(s result.HostSample) *float64 { return s.NetOutPerS }, size},
		{"interrupts", func(s result.HostSample) *float64 { return s.InterruptsPerS }, perSecond},
		{"context switches", func(s result.HostSample) *float64 { return s.ContextSwitchesPerS }, perSecond},
		{"CPU pressure", func(s result.HostSample) *float64 { return s.CPUPressure }, percent},
		{"memory pressure", func(s result.HostSample) *float64 { return s.MemoryPressure }, percent},
		{"I/O pressure", func(s result.HostSample) *float64 { return s.IOPressure }, percent},
	} {
		lo, mean, hi := math.Inf(1), 0.0, math.Inf(-1)
		n := 0
		for _, s := range o.Host {
			if v := c.pick(s); v != nil {
				lo, hi, mean = min(lo, *v), max(hi, *v), mean+*v
				n++
			}
		}
		if len(o.Host) == 0 {
			return t
		}
		row := []cell{{Text: c.name}, {Text: na}, {Text: na}, {Text: na}}
		if n > 0 {
			row[1].Text, row[2].Text, row[3].Text = c.show(lo), c.show(mean/float64(n)), c.show(hi)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func plainNumber(v float64) string { return number(v, 3) }

// looksLine says why a stage was measured several times, and what became of it.
func looksLine(st *result.Stage) string {
	var said []string
	for i, s := range st.SLO {
		failed := 0
		for _, l := range st.Looks {
			if i < len(l.SLO) && l.SLO[i].Outcome == result.Fail {
				failed++
			}
		}
		switch {
		case failed > 0 && s.Outcome == result.Pass:
			said = append(said, fmt.Sprintf("%s failed in %d and was not reproduced", s.Text, failed))
		case failed > 0:
			said = append(said, fmt.Sprintf("%s failed in %d", s.Text, failed))
		}
	}
	return fmt.Sprintf("Measured %d times, since an SLO failed: %s. The figures are those of the last look.", len(st.Looks), strings.Join(said, "; "))
}

// looksTable has what each look at a stage came to.
func looksTable(looks []result.Stage) table {
	t := table{Caption: "What each look came to", Cols: []column{{"Look", true}, {"SLO", false}, {"Outcome", false}, {"Value", true}, {"Reason", false}}}
	for i, l := range looks {
		for _, row := range sloRows(&l, "") {
			t.Rows = append(t.Rows, []cell{{Text: count(int64(i) + 1)}, {Text: row.Text}, {Badge: row.Badge}, {Text: row.Value}, {Text: row.Reason}})
		}
	}
	return t
}
