package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// Baselines are stored runs that a stage is compared with.
type Baselines struct {
	Stages []*result.Stage // the same stage, of each run that can be compared
	IDs    []string        // of these runs
	Unlike []string        // why others cannot
}

// gating is the number of stored runs from which the spread between them decides. With fewer a breach decides nothing.
const gating = 5

// against decides an SLO that is relative to stored runs. From several, the change of the value is judged with a one-sided
// prediction interval for one more run: the logarithms of the values of stored runs are taken for normal, and the interval is
// mean ± t·s·√(1+1/k), with t of k−1 degrees of freedom (accuracy of a single new observation; Hahn and Meeker, "Statistical
// Intervals", 1991, ch. 4).
func against(s plans.SLO, st *result.Stage, b Baselines, out *result.SLO) []result.SLOSegment {
	out.Relative, out.Set = s.Baseline.String(), "this run, against stored ones"
	if len(b.Stages) == 0 {
		why := "no baseline was given (run --baseline)"
		if len(b.Unlike) > 0 {
			why = "no stored run can be compared: " + b.Unlike[0]
		}
		return []result.SLOSegment{noData(why)}
	}
	if m := st.Microbenchmark; m != nil && len(b.Stages) < gating {
		return benchAgainst(s, m, b)
	}
	var parts []result.SLOSegment
	stored := make([][]named, len(b.Stages))
	for i, base := range b.Stages {
		stored[i] = values(s, base)
	}
	for _, v := range values(s, st) {
		var before []float64
		for _, list := range stored {
			if i := slices.IndexFunc(list, func(o named) bool { return o.name == v.name }); i >= 0 && list[i].value > 0 {
				before = append(before, list[i].value)
			}
		}
		p := change(s, v.value, before)
		p.Segment = v.name
		if len(b.Unlike) > 0 {
			p.Reason += "; " + b.Unlike[0]
		}
		parts = append(parts, p)
	}
	return parts
}

// change judges a value by those of stored runs.
func change(s plans.SLO, v float64, before []float64) result.SLOSegment {
	k := len(before)
	if k == 0 || v <= 0 {
		return noData("the stored runs have no such value")
	}
	mean := 0.0 // of logarithms
	for _, b := range before {
		mean += math.Log(b) / float64(k)
	}
	base, lower := math.Exp(mean), s.Op[0] == '>'
	limit := base * (1 + s.Baseline.Change)
	if lower {
		limit = min(limit, base-s.Baseline.Floor)
	} else {
		limit = max(limit, base+s.Baseline.Floor)
	}
	moved := v/base - 1
	p := result.SLOSegment{Value: &v, Samples: int64(k)}
	runs := "one stored run"
	if k > 1 {
		runs = fmt.Sprintf("%d stored runs", k)
	}
	said := fmt.Sprintf("%s is %s from %s of %s, allowed is %s %s", value(v, s.Unit), signed(moved), value(base, s.Unit), runs, s.Op, value(limit, s.Unit))
	meets := holds(v, s.Op, limit)
	if k < gating {
		if meets {
			p.Outcome, p.State, p.Reason = result.Pass, result.StatePassed, said
			return p
		}
		return undecided(p, fmt.Sprintf("%s; so few stored runs do not say what a run more may differ by: at least %d decide", said, gating))
	}
	spread := 0.0
	for _, b := range before {
		d := math.Log(b) - mean
		spread += d * d / float64(k-1)
	}
	half := stats.TQuantile(Confidence, float64(k-1)) * math.Sqrt(spread*(1+1/float64(k)))
	lo, hi := math.Exp(math.Log(v)-mean-half)-1, math.Exp(math.Log(v)-mean+half)-1
	p.Interval = &result.Interval{Of: "change", Lo: &lo, Hi: &hi, Confidence: Confidence}
	surelyMeets, surelyBreaks := holds(base*(1+hi), s.Op, limit), !holds(base*(1+lo), s.Op, limit)
	if lower {
		surelyMeets, surelyBreaks = holds(base*(1+lo), s.Op, limit), !holds(base*(1+hi), s.Op, limit)
	}
	switch {
	case surelyMeets:
		p.Outcome, p.State, p.Reason = result.Pass, result.StatePassed, said
	case surelyBreaks:
		p.Outcome, p.State, p.Reason = result.Fail, result.StateFailed, said
	default:
		return undecided(p, fmt.Sprintf("%s, and by how runs differ the change may be anywhere from %s to %s", said, signed(lo), signed(hi)))
	}
	return p
}

func signed(share float64) string { return fmt.Sprintf("%+.3g%%", 100*share) }

// A named is the value of a segment; "" for the whole stage.
type named struct {
	name  string
	value float64
}

// values are what an SLO's metric is in a stage, in each segment where it is about each.
func values(s plans.SLO, st *result.Stage) (all []named) {
	m := s.Metric
	if st.Microbenchmark != nil {
		free := s
		free.Baseline, free.Limit = plans.Relative{}, math.MaxInt64
		for _, p := range bench(free, st.Microbenchmark) {
			if p.Value != nil {
				all = append(all, named{p.Segment, *p.Value})
			}
		}
		return all
	}
	for _, n := range narrowed(m, st.Load) {
		if n.load == nil {
			continue
		}
		for _, v := range valuesOf(m, n.load) {
			if n.name != "" {
				v.name = n.name + ", " + v.name
			}
			all = append(all, v)
		}
	}
	return all
}

func valuesOf(m plans.Metric, l *result.Load) (all []named) {
	add := func(name string, v *float64) {
		if v != nil {
			all = append(all, named{name, *v})
		}
	}
	clock := func(response, service, lag result.Distribution) result.Distribution {
		switch m.Clock {
		case plans.Service:
			return service
		case plans.Lag:
			return lag
		}
		return response
	}
	switch {
	case m.Kind == plans.Throughput:
		add("", &l.ThroughputPerS)
	case m.Clock == plans.TTFB:
		v, _ := ranked(l.Wire.FirstByte, l.Sent, rank(m))
		add("", v)
	case m.Clock == plans.Connect:
		v, _ := ranked(l.Wire.Connect, l.Wire.Connect.Count, rank(m))
		add("", v)
	case m.Kind == plans.Mean:
		add("", clock(l.Response, l.Service, l.Lag).MeanNS)
	case m.Kind == plans.Min:
		if ns := clock(l.Response, l.Service, l.Lag).MinNS; ns != nil {
			v := float64(*ns)
			add("", &v)
		}
	default:
		for i := range l.Segments {
			seg := &l.Segments[i]
			of := seg.Offered
			if m.Clock != plans.Response {
				of = seg.Sent
			}
			v, _ := ranked(clock(seg.Response, seg.Service, seg.Lag), of, rank(m))
			add(seg.Name, v)
		}
	}
	return all
}
