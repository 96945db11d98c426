package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// DefaultMargin is the smallest change of a time, in proportion, that is told as one where nothing else is said.
const DefaultMargin = 0.05

// A delta is the change of one cell against the stored runs.
type delta struct {
	cell   result.Size
	base   []float64 // of the forks of all stored runs
	now    []float64
	change stats.Change
	known  bool // the change has an interval
	slower bool // refuted that it is not, over all cells together
	faster bool
}

// deltas compares the cells that both have, by a value of each fork. The chance that a cell is called slower, or that one is
// called faster, when none is, is 1 − Confidence over all cells (Holm).
func deltas(now []result.Size, base [][]result.Size, value func(result.Fork) (float64, bool)) (all []delta) {
	var up, down []float64
	for _, z := range now {
		d := delta{cell: z, now: ofForks(z, value)}
		for _, run := range base {
			if i := slices.IndexFunc(run, z.Same); i >= 0 {
				d.base = append(d.base, ofForks(run[i], value)...)
			}
		}
		if len(d.base) == 0 || len(d.now) == 0 {
			continue
		}
		d.change, d.known = stats.Compare(d.base, d.now, Confidence)
		d.known = d.known && len(d.base) >= 3 && len(d.now) >= 3
		if !d.known {
			d.change = stats.Change{By: stats.Median(d.now)/stats.Median(d.base) - 1, Larger: 1, Less: 1}
		}
		up, down = append(up, d.change.Larger), append(down, d.change.Less)
		all = append(all, d)
	}
	slower, faster := stats.Holm(up, 1-Confidence), stats.Holm(down, 1-Confidence)
	for i := range all {
		all[i].slower, all[i].faster = slower[i], faster[i]
	}
	return all
}

func ofForks(z result.Size, value func(result.Fork) (float64, bool)) (all []float64) {
	for _, f := range z.Forks {
		if v, ok := value(f); ok && v > 0 {
			all = append(all, v)
		}
	}
	return all
}

// forkValue is a statistic of the samples of one fork.
func forkValue(stat string) func(result.Fork) (float64, bool) {
	return func(f result.Fork) (float64, bool) {
		if len(f.SamplesNS) == 0 {
			return 0, false
		}
		switch stat {
		case "mean":
			return stats.Mean(f.SamplesNS), true
		case "min":
			return slices.Min(f.SamplesNS), true
		case "max":
			return slices.Max(f.SamplesNS), true
		case "p90":
			return stats.Quantile(slices.Sorted(slices.Values(f.SamplesNS)), 0.9)
		case "p99":
			return stats.Quantile(slices.Sorted(slices.Values(f.SamplesNS)), 0.99)
		}
		return stats.Median(f.SamplesNS), true
	}
}

// benchAgainst decides an SLO that is relative to a few stored runs of a microbenchmark. Its forks are what the spread is
// known from, so one stored run is enough: it fails when a cell is surely worse and worse by more than is allowed, and passes when
// all are surely within. Being better never fails.
func benchAgainst(s plans.SLO, m *result.Microbenchmark, b Baselines) (parts []result.SLOSegment) {
	now := cells(s.Metric, m)
	var base [][]result.Size
	for _, st := range b.Stages {
		if st.Microbenchmark != nil {
			base = append(base, cells(s.Metric, st.Microbenchmark))
		}
	}
	if s.Metric.Kind != plans.Time {
		return countsAgainst(s, now, base)
	}
	ds := deltas(now, base, forkValue(s.Metric.Stat))
	for _, z := range now {
		i := slices.IndexFunc(ds, func(d delta) bool { return d.cell.Same(z) })
		if i < 0 {
			p := noData("the stored runs have no such cell: there is nothing to compare it with")
			p.Segment = z.Name()
			parts = append(parts, p)
			continue
		}
		p := deltaVerdict(s, ds[i], len(ds))
		p.Segment = z.Name()
		if late := unsettled(z); 2*late >= len(z.Forks) {
			p = undecided(p, fmt.Sprintf("the warm-up never settled in %d of %d forks; %s", late, len(z.Forks), p.Reason))
		}
		parts = append(parts, p)
	}
	return comparedOnes(parts)
}

// comparedOnes leaves out the cells that are new, unless all are: what is new cannot have become worse.
func comparedOnes(parts []result.SLOSegment) []result.SLOSegment {
	old := slices.DeleteFunc(slices.Clone(parts), func(p result.SLOSegment) bool { return p.State == result.StateNoData })
	if len(old) == 0 {
		return parts
	}
	if n := len(parts) - len(old); n > 0 {
		for i := range old {
			old[i].Reason += fmt.Sprintf("; %d more cells are new, with nothing to compare them with", n)
		}
	}
	if len(old) == 1 {
		old[0].Segment = ""
	}
	return old
}

// deltaVerdict decides one cell, of so many.
func deltaVerdict(s plans.SLO, d delta, of int) result.SLOSegment {
	base := math.Exp(meanLog(d.base))
	v := base * (1 + d.change.By)
	up := s.Op[0] == '<'
	allowed := s.Baseline.Change
	if s.Baseline.Floor > 0 {
		if up {
			allowed = max(allowed, s.Baseline.Floor/base)
		} else {
			allowed = min(allowed, -s.Baseline.Floor/base)
		}
	}
	p := result.SLOSegment{Value: &v, Samples: int64(len(d.now))}
	said := fmt.Sprintf("%s is %s from %s of the stored forks, allowed is %s", value(v, s.Unit), signed(d.change.By), value(base, s.Unit), signed(allowed))
	meets := holds(1+d.change.By, s.Op, 1+allowed)
	if !d.known {
		if meets {
			p.Outcome, p.State, p.Reason = result.Pass, result.StatePassed, said
			return p
		}
		return undecided(p, said+"; fewer than 3 forks do not say what two measurements differ by")
	}
	lo, hi := d.change.Lo, d.change.Hi
	p.Interval = &result.Interval{Of: "change", Lo: &lo, Hi: &hi, Confidence: Confidence}
	surely, worse := holds(1+hi, s.Op, 1+allowed), d.slower
	if !up {
		surely, worse = holds(1+lo, s.Op, 1+allowed), d.faster
	}
	switch {
	case !meets && worse:
		p.Outcome, p.State = result.Fail, result.StateFailed
		p.Reason = fmt.Sprintf("%s; surely a change: %s to %s, with a false alarm in at most %s of all comparisons of %s", said, signed(lo), signed(hi), pct(1-Confidence), plural(of, "cell"))
	case meets && surely:
		p.Outcome, p.State, p.Reason = result.Pass, result.StatePassed, fmt.Sprintf("%s; no worse than %s", said, signed(map[bool]float64{true: hi, false: lo}[up]))
	default:
		return undecided(p, fmt.Sprintf("%s, and by how forks differ the change may be anywhere from %s to %s", said, signed(lo), signed(hi)))
	}
	return p
}

func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

func meanLog(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += math.Log(v) / float64(len(x))
	}
	return sum
}

// countsAgainst compares what is counted rather than timed: it does not scatter, so a breach is one.
func countsAgainst(s plans.SLO, now []result.Size, base [][]result.Size) (parts []result.SLOSegment) {
	for _, z := range now {
		p := noData("the stored runs have no such value")
		var before []float64
		for _, run := range base {
			if i := slices.IndexFunc(run, z.Same); i >= 0 {
				if v := sizeValue(s.Metric, run[i]); v != nil {
					before = append(before, *v)
				}
			}
		}
		v := sizeValue(s.Metric, z)
		switch {
		case v == nil:
			p = inCell(s, z)
		case len(before) > 0:
			free := s
			was := stats.Mean(before)
			free.Limit = was * (1 + s.Baseline.Change)
			p = compared(free, *v, z.Samples)
			p.Reason = fmt.Sprintf("%s, stored %s, allowed is %s %s", value(*v, s.Unit), value(was, s.Unit), s.Op, value(free.Limit, s.Unit))
		}
		p.Segment = z.Name()
		parts = append(parts, p)
	}
	return comparedOnes(parts)
}

// CompareBench compares the median times of a microbenchmark with those of stored runs, cell by cell. A change of at least margin, in
// proportion, that is surely one, is slower or faster; "no change" is surely less than that.
func CompareBench(base []*result.Microbenchmark, ids []string, now *result.Microbenchmark, margin float64) *result.BenchBaseline {
	out := &result.BenchBaseline{Runs: ids, Cells: []result.BenchDelta{}}
	runs := make([][]result.Size, len(base))
	for i, b := range base {
		runs[i] = measured(b.Sizes)
	}
	current := measured(now.Sizes)
	for _, d := range deltas(current, runs, forkValue("p50")) {
		was := math.Exp(meanLog(d.base))
		c := result.BenchDelta{Size: d.cell.Size, Settings: d.cell.Settings, BaseNS: was, NowNS: was * (1 + d.change.By), Change: d.change.By, Verdict: result.DeltaUnclear}
		if d.known {
			lo, hi := d.change.Lo, d.change.Hi
			c.Interval = &result.Interval{Of: "change", Lo: &lo, Hi: &hi, Confidence: Confidence}
			switch {
			case d.slower && d.change.By >= margin:
				c.Verdict = result.DeltaSlower
			case d.faster && d.change.By <= -margin:
				c.Verdict = result.DeltaFaster
			case lo > -margin && hi < margin:
				c.Verdict = result.DeltaSame
			}
		}
		out.Cells = append(out.Cells, c)
	}
	in := func(list []result.Size, z result.Size) bool { return slices.ContainsFunc(list, z.Same) }
	for _, z := range current {
		if !slices.ContainsFunc(runs, func(r []result.Size) bool { return in(r, z) }) {
			out.New = append(out.New, z.Name())
		}
	}
	for _, r := range runs {
		for _, z := range r {
			if !in(current, z) && !slices.Contains(out.Vanished, z.Name()) {
				out.Vanished = append(out.Vanished, z.Name())
			}
		}
	}
	return out
}

func measured(all []result.Size) []result.Size {
	return slices.DeleteFunc(slices.Clone(all), func(z result.Size) bool { return z.Samples == 0 })
}
