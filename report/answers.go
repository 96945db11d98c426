package report

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfplan/perfplan/runner/result"
)

// firstFailure answers which stage failed first; where none did, which was the first without a verdict.
func firstFailure(r *result.Result) answer {
	a := answer{Question: "First stage that failed"}
	if len(r.Stages) > 0 && !measured(r) {
		a.Text, a.Badge = "None: no stage was run.", badge{"No verdict", "na"}
		return a
	}
	for _, want := range []result.Outcome{result.Fail, result.Inconclusive, ""} {
		for i, st := range r.Stages {
			if st.Outcome != want {
				continue
			}
			a.Badge, a.Anchor = outcomeBadge(st.Outcome), anchor(i)
			if !strings.Contains(r.Reason, st.Reason) { // else the verdict has just told it
				a.Detail = st.Reason
			}
			a.Text = st.Name
			if want != result.Fail {
				a.Text = "None failed. First without a verdict: " + st.Name
			}
			return a
		}
	}
	switch {
	case r.Error != "":
		a.Text, a.Badge = "None failed, but the run was not carried out.", badge{"No verdict", "na"}
	case len(r.Stages) == 0:
		a.Text, a.Badge = "No stage was run.", badge{"No verdict", "na"}
	default:
		a.Text, a.Badge = "None.", badge{"Pass", "pass"}
	}
	return a
}

// bottleneck answers which resource was short: in the first stage that failed, else in the load stage where it was
// worst. A microbenchmark is there to keep a core busy, so it counts only in a run without load.
func bottleneck(r *result.Result) answer {
	a := answer{Question: "Bottleneck resource"}
	only := slices.IndexFunc(r.Stages, func(st result.Stage) bool { return st.Outcome == result.Fail })
	if only >= 0 && worstUse(r.Stages[only].Observation).rank == 0 {
		only = -1
	}
	var worst useFinding
	seen := false
	for i, st := range r.Stages {
		if loaded(r) && st.Load == nil && i != only {
			continue
		}
		f := worstUse(st.Observation)
		seen = seen || f.measured
		if f.rank > worst.rank && (only < 0 || i == only) {
			worst = f
			a.Anchor, a.Text, a.Detail = anchor(i), fmt.Sprintf("%s in stage %s", f.said, st.Name), f.text
			if f.resource == "cpu" {
				a.Detail += loadOf(st.Observation, r.Environment.Cores)
			}
		}
	}
	switch {
	case worst.rank > 0:
		a.Badge = levelBadge(worst.level)
	case seen:
		a.Badge, a.Text = badge{"OK", "pass"}, "None: no resource was high or saturated."
	default:
		a.Badge, a.Text = badge{"n/a", "na"}, "Unknown: no resource was observed."
	}
	if i := slices.IndexFunc(r.Stages, heldBack); i >= 0 {
		also := a.Text
		if worst.rank > 0 {
			also = "Also " + a.sentence()
		}
		a.Badge, a.Anchor, a.Detail = badge{"Client", "suspect"}, anchor(i), also
		a.Text = boundKey(r.Stages[i].Load) + ", the load generator's own bound, in stage " + r.Stages[i].Name
	}
	return a
}

// boundKey is the key of the plan's lowest bound on requests under way.
func boundKey(l *result.Load) string {
	if l.Connections > 0 && l.Connections*len(l.Hosts) < l.MaxInFlight {
		return "connections"
	}
	return "max_in_flight"
}

// loadOf says whose load the machine's cores had: that of each observed process and of all others. It is empty where
// the machine's or a process's share was not measured.
func loadOf(o *result.Observation, cores int) string {
	busy, n := 0.0, 0
	for _, s := range o.Host {
		if s.UserShare != nil && s.SystemShare != nil {
			busy += *s.UserShare + *s.SystemShare
			n++
		}
	}
	if n == 0 || cores < 1 || len(o.Processes) == 0 {
		return ""
	}
	others := busy / float64(n) * float64(cores)
	var shares []string
	for _, p := range o.Processes {
		if p.CPUShare == nil {
			return ""
		}
		others -= *p.CPUShare
		shares = append(shares, p.Name+" "+percent(*p.CPUShare))
	}
	return fmt.Sprintf("; %s, all others %s of one core", strings.Join(shares, ", "), percent(max(0, others)))
}

// heldBack reports whether the load generator's bound on requests in flight shaped a stage's figures.
func heldBack(st result.Stage) bool {
	return slices.ContainsFunc(st.Warnings, func(w result.Warning) bool { return w.Code == "in_flight_cap" && w.Severity != result.Note })
}

// A useFinding is the worst cell of a USE table.
type useFinding struct {
	resource    string
	said        string // "cpu saturated"
	level, text string // of the cell
	rank        int    // 0 ok or n/a, 1 high, 2 saturated
	measured    bool
}

func worstUse(o *result.Observation) useFinding {
	var worst useFinding
	if o == nil {
		return worst
	}
	for _, u := range o.USE {
		for _, c := range []struct {
			aspect string
			cell   result.USECell
		}{{"saturation", u.Saturation}, {"utilisation", u.Utilisation}, {"errors", u.Errors}} {
			rank := map[string]int{result.LevelHigh: 1, result.LevelSaturated: 2}[c.cell.Level]
			worst.measured = worst.measured || c.cell.Level != result.LevelNA && c.cell.Level != ""
			if rank > worst.rank {
				worst.rank, worst.level, worst.text = rank, c.cell.Level, strings.TrimSpace(useValue(c.cell)+" "+c.cell.Text)
				worst.resource, worst.said = u.Resource, u.Resource+" "+c.cell.Level
				if c.aspect != "saturation" {
					worst.said = u.Resource + ": " + c.aspect + " " + c.cell.Level
				}
			}
		}
	}
	return worst
}

func levelBadge(level string) badge {
	switch level {
	case result.LevelOK:
		return badge{"OK", "pass"}
	case result.LevelHigh:
		return badge{"High", "suspect"}
	case result.LevelSaturated:
		return badge{"Saturated", "fail"}
	}
	return badge{na, "na"}
}

// validity answers whether the figures describe the target, from all warnings.
func validity(ws []warning, r *result.Result) answer {
	a := answer{Question: "Is the measurement valid?"}
	var worst *warning
	n := map[string]int{}
	for i, w := range ws {
		n[w.Badge.Kind]++
		if worst == nil || severityRank(w.Badge.Kind) > severityRank(worst.Badge.Kind) {
			worst = &ws[i]
		}
	}
	switch {
	case n["fail"] > 0:
		a.Badge, a.Text = badge{"Invalid", "fail"}, "No: "+counted(int64(n["fail"]), "finding")+" make figures unfit to judge the target."
		if n["fail"] == 1 {
			a.Text = "No: 1 finding makes figures unfit to judge the target."
		}
	case n["suspect"] > 0:
		a.Badge, a.Text = badge{"Suspect", "suspect"}, "With care: "+counted(int64(n["suspect"]), "finding")+" may have touched the figures."
	case !measured(r):
		a.Badge, a.Text = badge{"n/a", "na"}, "Nothing was measured."
		return a
	default:
		a.Badge, a.Text = badge{"Valid", "pass"}, "Yes: the load generator's own checks found nothing."
		if !loaded(r) {
			a.Text = "Yes: nothing was found that disturbed it."
		}
		return a
	}
	a.Anchor = worst.Anchor
	a.Detail, a.Fix = worst.said(), worst.Fix
	a.Findings = findings(ws)
	return a
}

// loaded reports whether any stage put load on a target.
func loaded(r *result.Result) bool {
	return slices.ContainsFunc(r.Stages, func(st result.Stage) bool { return st.Load != nil })
}

// measured reports whether any stage was started.
func measured(r *result.Result) bool {
	return slices.ContainsFunc(r.Stages, func(st result.Stage) bool { return st.State != result.Skipped })
}

// said is the warning with the stage it is about.
func (w warning) said() string {
	if w.Stage == "" {
		return w.Text
	}
	return w.Stage + ": " + w.Text
}

// findings are all warnings that touch figures in one line each, the worst first.
func findings(ws []warning) []string {
	ws = slices.DeleteFunc(slices.Clone(ws), func(w warning) bool { return severityRank(w.Badge.Kind) < severityRank("suspect") })
	slices.SortStableFunc(ws, func(a, b warning) int { return severityRank(b.Badge.Kind) - severityRank(a.Badge.Kind) })
	out := make([]string, 0, len(ws))
	for _, w := range ws {
		a := answer{Text: w.Badge.Word + ", " + w.said(), Fix: w.Fix}
		out = append(out, a.sentence())
	}
	return out
}

func severityRank(kind string) int {
	return map[string]int{"note": 1, "suspect": 2, "fail": 3}[kind]
}

func warningsOf(ws []result.Warning, stage, anchor string) []warning {
	out := make([]warning, 0, len(ws))
	for _, w := range ws {
		b := badge{"Note", "note"}
		switch w.Severity {
		case result.Invalid:
			b = badge{"Invalid", "fail"}
		case result.Suspect:
			b = badge{"Suspect", "suspect"}
		}
		out = append(out, warning{Stage: stage, Anchor: anchor, Badge: b, Text: w.Text, Fix: w.Fix})
	}
	slices.SortStableFunc(out, func(a, b warning) int { return severityRank(b.Badge.Kind) - severityRank(a.Badge.Kind) })
	return out
}

// sentence is the whole answer in one line; where there are findings, they are to follow it.
func (a answer) sentence() string {
	text := a.Text
	if len(a.Findings) > 0 {
		return text
	}
	if a.Detail != "" {
		text = strings.TrimSuffix(text, ".") + ": " + a.Detail
	}
	if a.Fix != "" {
		text = strings.TrimSuffix(text, ".") + ". Fix: " + a.Fix
	}
	return text
}

// changed says what assertions that are relative to stored runs came to.
func changed(r *result.Result) answer {
	a := answer{Question: "Change from the baseline", Text: "No baseline, nothing compared."}
	var said []string
	asked := 0
	for _, st := range r.Stages {
		if m := st.Microbenchmark; m != nil && m.Baseline != nil && len(m.Baseline.Cells) > 0 {
			asked++
			said = append(said, st.Name+", median times against "+deltaLine(m.Baseline))
		}
		for _, s := range st.SLO {
			if s.Relative == "" {
				continue
			}
			asked++
			if s.Value != nil {
				said = append(said, st.Name+": "+s.Metric+": "+s.Reason)
			}
		}
	}
	switch {
	case len(said) > 0:
		a.Text = strings.Join(said, "; ") + "."
	case asked > 0:
		a.Text = "Nothing compared: " + counted(int64(asked), "assertion") + " would need stored runs that can be (run --baseline)."
	}
	return a
}
