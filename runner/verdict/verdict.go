package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// LimitsNS returns the thresholds, in nanoseconds and without repeats, that the load engine must count exactly
// so that the SLOs can be decided: "time > threshold" is a breach of the SLO.
func LimitsNS(slos []plans.SLO) []int64 {
	var limits []int64
	for _, s := range slos {
		if (s.Metric.Kind == plans.Quantile || s.Metric.Kind == plans.Max) && !s.Baseline.Set {
			limits = append(limits, limitNS(s))
		}
	}
	slices.Sort(limits)
	return slices.Compact(limits)
}

// limitNS is the largest whole number of nanoseconds that meets an upper limit, or just misses a lower one.
func limitNS(s plans.SLO) int64 {
	if s.Op == "<" || s.Op == ">=" {
		return int64(s.Limit) - 1
	}
	return int64(s.Limit)
}

// Stage decides the SLOs of a stage that has run and sets st.SLO, st.Warnings (adding to them), st.Outcome and
// st.Reason. Outcomes of a stage that is not complete are at best inconclusive.
func Stage(ps *plans.Stage, st *result.Stage) { StageAgainst(ps, st, Baselines{}) }

// StageAgainst is Stage with stored runs for the SLOs that are relative to them.
func StageAgainst(ps *plans.Stage, st *result.Stage, b Baselines) {
	if st.Load != nil {
		Bounds(st.Load)
		st.Warnings = append(st.Warnings, audit(st.Load, ps.SLOs)...)
	}
	st.SLO = make([]result.SLO, 0, len(ps.SLOs))
	for _, s := range ps.SLOs {
		st.SLO = append(st.SLO, decide(s, st, b))
	}
	for i := range st.SLO {
		doubt(ps.SLOs[i], &st.SLO[i], st)
	}
	st.Outcome, st.Reason = stageOutcome(st)
}

func decide(s plans.SLO, st *result.Stage, b Baselines) result.SLO {
	out := result.SLO{Text: s.Text, Metric: s.Metric.String(), Op: s.Op, Limit: s.Limit, Unit: string(s.Unit), Warn: s.Warn}
	var parts []result.SLOSegment
	if s.Baseline.Set {
		parts = against(s, st, b, &out)
	}
	for _, n := range narrowed(s.Metric, st.Load) {
		if s.Baseline.Set {
			break
		}
		own := weigh(s, n.load, st, &out)
		if len(own) == 0 && n.name != "" { // one of several: the others must not hide it
			own = []result.SLOSegment{noData("the stage measured nothing that this can be decided by")}
		}
		for _, p := range own {
			if n.name != "" {
				p.Segment = strings.TrimSuffix(n.name+", "+p.Segment, ", ")
			}
			parts = append(parts, p)
		}
	}
	if len(parts) == 0 {
		parts = []result.SLOSegment{noData("the stage measured nothing that this can be decided by")}
	}
	worst := parts[0]
	for _, p := range parts[1:] {
		if o := result.Worst(worst.Outcome, p.Outcome); o != worst.Outcome || p.Outcome == o && nearer(s, p, worst) {
			worst = p
		}
	}
	out.Outcome, out.State, out.Value, out.Censored = worst.Outcome, worst.State, worst.Value, worst.Censored
	out.Interval, out.Samples, out.Reason, out.Segment = worst.Interval, worst.Samples, worst.Reason, worst.Segment
	if len(parts) > 1 {
		out.Segments = parts
		if worst.Outcome == result.Pass {
			noun := "segments"
			if st.Microbenchmark != nil {
				noun = "cells"
			}
			out.Reason = fmt.Sprintf("it holds in all %d %s; nearest to the limit: %s", len(parts), noun, out.Reason)
		}
	}
	return out
}

// weigh decides an SLO on what its scope leaves of a stage, by segment where it is about each.
func weigh(s plans.SLO, l *result.Load, st *result.Stage, out *result.SLO) []result.SLOSegment {
	if s.Window > 0 {
		return windows(s, l, out)
	}
	switch s.Metric.Kind {
	case plans.Quantile, plans.Max:
		if s.Metric.Clock == plans.TTFB || s.Metric.Clock == plans.Connect {
			return wire(s, l, out)
		}
		return times(s, l, out)
	case plans.Mean, plans.Min:
		return moment(s, l, out)
	case plans.ErrorRate, plans.SuccessRate, plans.Failed, plans.Dropped:
		return counts(s, l, out)
	case plans.Throughput:
		return throughput(s, l)
	case plans.CPU, plans.RSS:
		return usage(s, st.Observation)
	case plans.Time, plans.Slope, plans.Growth, plans.AllocBytes, plans.Instructions:
		return bench(s, st.Microbenchmark)
	}
	return nil
}

// of is the record of one request of a load, in the form of the whole; nil where there is none.
func of(request string, l *result.Load) *result.Load {
	if request == "" || l == nil || len(l.Requests) == 0 && l.Request == request {
		return l
	}
	return from(request, slices.Concat(l.Requests, l.Flows), l)
}

// from is the part of that name, in the form of the whole.
func from(name string, parts []result.RequestLoad, l *result.Load) *result.Load {
	i := slices.IndexFunc(parts, func(r result.RequestLoad) bool { return r.Request == name })
	if i < 0 {
		return nil
	}
	r, own := parts[i], *l
	own.Counts, own.Request, own.OfferedPerS, own.ThroughputPerS = r.Counts, r.Request, r.OfferedPerS, r.ThroughputPerS
	own.Response, own.Service, own.Lag, own.DispatchLag, own.FailedResponse = r.Response, r.Service, r.Lag, r.DispatchLag, r.FailedResponse
	own.Errors, own.Status, own.Windows = r.Errors, r.Status, r.Windows
	own.Audit.Capped = 0
	own.Segments = slices.Clone(r.Segments)
	for k := range own.Segments {
		own.Audit.Capped += own.Segments[k].Capped
		own.Segments[k].MeanInFlight = l.Segments[k].MeanInFlight
	}
	return &own
}

// nearer says that a is nearer to the limit, or further beyond it, than b of the same outcome.
func nearer(s plans.SLO, a, b result.SLOSegment) bool {
	if a.Value == nil || b.Value == nil {
		return a.Value == nil && b.Value != nil
	}
	if s.Op[0] == '>' {
		return *a.Value < *b.Value
	}
	return *a.Value > *b.Value
}

// doubt turns a pass into inconclusive when the stage's figures cannot carry it.
func doubt(s plans.SLO, out *result.SLO, st *result.Stage) {
	if out.Outcome != result.Pass {
		return
	}
	why := ""
	if i := slices.IndexFunc(st.Warnings, func(w result.Warning) bool { return w.Severity == result.Invalid && !late(w.Code) }); i >= 0 {
		why = "the measurement is not valid: " + st.Warnings[i].Text
	}
	if share, text := lagShare(s, st.Load); share > lagInvalid {
		why = "the measurement is not valid: " + text
	}
	if st.State == result.Partial {
		why = "the stage ended early; until then: " + out.Reason
	}
	if why != "" {
		out.Outcome, out.State, out.Reason = result.Inconclusive, result.StateInconclusive, why
	}
}

func stageOutcome(st *result.Stage) (result.Outcome, string) {
	if w := st.Warmup; w != nil && st.State == result.Complete && len(st.SLO) == 0 {
		return warmupOutcome(st)
	}
	var o result.Outcome
	reason, gates := "", 0
	for _, s := range st.SLO {
		if s.Warn {
			continue
		}
		gates++
		if result.Worst(o, s.Outcome) != o {
			o = s.Outcome
			reason = fmt.Sprintf("%s: %s", s.Text, s.Reason)
		}
	}
	if st.State != result.Complete && o != result.Fail {
		return result.Inconclusive, "the stage ended early"
	}
	switch {
	case o == "":
		if w := invalid(st.Warnings); w != nil {
			return result.Inconclusive, "the measurement is not valid: " + w.Text
		}
		if l := st.Load; l != nil && l.Completed == 0 {
			return result.Inconclusive, fmt.Sprintf("no SLO was declared for it, and none of its %d requests was answered as expected", l.Offered)
		}
		return result.Pass, "no SLO was declared for it"
	case o == result.Pass && invalid(st.Warnings) != nil:
		return result.Inconclusive, "the measurement is not valid: " + invalid(st.Warnings).Text
	case o == result.Pass && gates == 1:
		return o, "its SLO holds"
	case o == result.Pass:
		return o, fmt.Sprintf("all %d SLOs hold", gates)
	}
	return o, reason
}

func warmupOutcome(st *result.Stage) (result.Outcome, string) {
	w, l := st.Warmup, st.Load
	switch {
	case l != nil && l.Offered > 0 && l.Completed == 0:
		return result.Inconclusive, fmt.Sprintf("none of its %d requests was answered as expected", l.Offered)
	case l != nil && 10*l.Failed > l.Offered:
		return result.Inconclusive, fmt.Sprintf("%d of its %d requests failed, so what it warmed up is not what is measured", l.Failed, l.Offered)
	case w.Until == "steady" && !w.Settled:
		return result.Inconclusive, "the response time never settled"
	case w.Settled && w.SettledNS != nil:
		return result.Pass, "settled after " + dur(*w.SettledNS)
	}
	return result.Pass, "it ran its time"
}

func invalid(ws []result.Warning) *result.Warning {
	for i := range ws {
		if ws[i].Severity == result.Invalid {
			return &ws[i]
		}
	}
	return nil
}

// Run sets the outcome and reason of a run from its stages: the worst of them.
func Run(r *result.Result) {
	r.Outcome, r.Reason = "", ""
	for _, st := range r.Stages {
		if result.Worst(r.Outcome, st.Outcome) != r.Outcome {
			r.Outcome, r.Reason = st.Outcome, fmt.Sprintf("stage %s: %s", st.Name, st.Reason)
		}
	}
	slos := 0
	for _, st := range r.Stages {
		for _, s := range st.SLO {
			if !s.Warn {
				slos++
			}
		}
	}
	switch {
	case r.Outcome == "":
		r.Outcome, r.Reason = result.Inconclusive, "no stage ran"
	case r.Outcome == result.Pass && slos == 0:
		r.Reason = "no SLO was declared, so nothing was asserted"
	case r.Outcome == result.Pass && slos == 1:
		r.Reason = "the SLO holds"
	case r.Outcome == result.Pass:
		r.Reason = fmt.Sprintf("all %d SLOs hold", slos)
	}
	if r.Outcome == result.Pass && (r.Error != "" || r.Interrupted) {
		r.Outcome, r.Reason = result.Inconclusive, "the run did not reach its end"
	}
	if r.Error != "" && r.Outcome != result.Fail {
		r.Reason = r.Error
	}
}

// undecided is p as inconclusive, with the reason.
func undecided(p result.SLOSegment, why string) result.SLOSegment {
	p.Outcome, p.State, p.Reason = result.Inconclusive, result.StateInconclusive, why
	return p
}

func noData(reason string) result.SLOSegment {
	return result.SLOSegment{Outcome: result.Inconclusive, State: result.StateNoData, Reason: reason}
}
