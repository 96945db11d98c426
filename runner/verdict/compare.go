package verdict

import (
	"math"
	"slices"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// A Delta is how a figure of a stage changed against stored runs.
type Delta struct {
	Stage    string           `json:"stage"`
	Metric   string           `json:"metric"`            // as in an SLO
	Segment  string           `json:"segment,omitempty"` // or cell of a microbenchmark
	Unit     string           `json:"unit"`              // ns or per_s
	Base     float64          `json:"base"`              // geometric mean of the stored runs
	Now      float64          `json:"now"`
	Change   float64          `json:"change"`   // 0.1 is 10 % more
	Interval *result.Interval `json:"interval"` // of the change; null where so few runs do not tell
	Verdict  string           `json:"verdict"`  // result.DeltaSlower … DeltaUnclear; of throughput, slower is less
}

// CompareRuns compares a run with stored ones, stage by stage: response time percentiles and throughput of load stages, from
// five stored runs on by a prediction interval for one more; median times of microbenchmarks, by their forks. A change of at
// least margin, in proportion, that is surely one is called; "no change" is surely less than that.
func CompareRuns(old []*result.Result, now *result.Result, margin float64) (all []Delta) {
	for i := range now.Stages {
		st := &now.Stages[i]
		var base []*result.Stage
		var ids []string
		for _, r := range old {
			if j := slices.IndexFunc(r.Stages, func(o result.Stage) bool {
				return o.Name == st.Name && o.Kind == st.Kind && o.State == result.Complete
			}); j >= 0 {
				base, ids = append(base, &r.Stages[j]), append(ids, r.RunID)
			}
		}
		switch {
		case len(base) == 0 || st.State != result.Complete:
		case st.Microbenchmark != nil:
			var benches []*result.Microbenchmark
			for _, b := range base {
				benches = append(benches, b.Microbenchmark)
			}
			for _, d := range CompareBench(benches, ids, st.Microbenchmark, margin).Cells {
				all = append(all, Delta{st.Name, "time p50", result.Size{Size: d.Size, Settings: d.Settings}.Name(), "ns", d.BaseNS, d.NowNS, d.Change, d.Interval, d.Verdict})
			}
		case st.Kind == "load":
			all = append(all, loadDeltas(st, base, margin)...)
		}
	}
	return all
}

func loadDeltas(st *result.Stage, base []*result.Stage, margin float64) (all []Delta) {
	response := func(q float64) plans.Metric {
		return plans.Metric{Kind: plans.Quantile, Clock: plans.Response, Quantile: q}
	}
	for _, m := range []plans.Metric{response(0.5), response(0.9), response(0.99), {Kind: plans.Throughput}} {
		s := plans.SLO{Metric: m, Op: "<=", Unit: plans.Nanoseconds}
		if m.Kind == plans.Throughput {
			s.Unit = plans.PerSecond
		}
		for _, v := range values(s, st) {
			var before []float64
			for _, b := range base {
				for _, o := range values(s, b) {
					if o.name == v.name && o.value > 0 {
						before = append(before, o.value)
					}
				}
			}
			if len(before) == 0 || v.value <= 0 || !carries(m, st, v.name) {
				continue
			}
			all = append(all, moved(Delta{Stage: st.Name, Metric: m.String(), Segment: v.name, Unit: string(s.Unit), Now: v.value}, before, margin))
		}
	}
	return all
}

// carries tells whether a stage, or segment, has samples enough for a percentile.
func carries(m plans.Metric, st *result.Stage, segment string) bool {
	if m.Kind != plans.Quantile {
		return true
	}
	n := st.Load.Offered
	if i := slices.IndexFunc(st.Load.Segments, func(g result.Segment) bool { return g.Name == segment }); i >= 0 {
		n = st.Load.Segments[i].Offered
	}
	return n >= int64(stats.MinSamples(m.Quantile, Confidence, 1))
}

// moved judges one figure.
func moved(d Delta, before []float64, margin float64) Delta {
	k := float64(len(before))
	mean := meanLog(before)
	d.Base, d.Verdict = math.Exp(mean), result.DeltaUnclear
	d.Change = d.Now/d.Base - 1
	if len(before) < gating {
		return d
	}
	var logs []float64
	for _, b := range before {
		logs = append(logs, math.Log(b))
	}
	half := stats.TQuantile(Confidence, k-1) * stats.StdDev(logs) * math.Sqrt(1+1/k)
	lo, hi := math.Expm1(math.Log(d.Now)-mean-half), math.Expm1(math.Log(d.Now)-mean+half)
	d.Interval = &result.Interval{Of: "change", Lo: &lo, Hi: &hi, Confidence: Confidence}
	more, less := result.DeltaSlower, result.DeltaFaster
	if d.Unit == string(plans.PerSecond) {
		more, less = less, more
	}
	switch {
	case lo > 0 && d.Change >= margin:
		d.Verdict = more
	case hi < 0 && d.Change <= -margin:
		d.Verdict = less
	case lo > -margin && hi < margin:
		d.Verdict = result.DeltaSame
	}
	return d
}
