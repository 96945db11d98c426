package verdict

import (
	"fmt"
	"slices"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// bench decides an SLO on a microbenchmark.
func bench(s plans.SLO, m *result.Microbenchmark) []result.SLOSegment {
	if m == nil {
		return nil
	}
	var p result.SLOSegment
	switch s.Metric.Kind {
	case plans.Time:
		p = timeAt(s, m)
	case plans.Slope:
		p = slope(s, m.Fit)
	case plans.Growth:
		p = growth(s, m.Fit)
	default:
		p = allocs(s, m)
	}
	return []result.SLOSegment{p}
}

func timeAt(s plans.SLO, m *result.Microbenchmark) result.SLOSegment {
	i := slices.IndexFunc(m.Sizes, func(z result.Size) bool { return z.Size == s.Metric.Size })
	if i < 0 || m.Sizes[i].Samples == 0 {
		return noData(fmt.Sprintf("size %d was not measured", s.Metric.Size))
	}
	z := m.Sizes[i]
	v := sizeValue(s.Metric, z)
	if v == nil {
		return noData(fmt.Sprintf("%d samples are too few for this percentile", z.Samples))
	}
	if late := unsettled(z); 2*late >= len(z.Forks) {
		p := compared(s, *v, z.Samples)
		return undecided(p, fmt.Sprintf("the warm-up never settled in %d of %d forks; %s", late, len(z.Forks), p.Reason))
	}
	if s.Metric.Stat == "p50" && z.Interval != nil {
		return within(s, *v, z.Interval, z.Samples)
	}
	return compared(s, *v, z.Samples)
}

func sizeValue(m plans.Metric, z result.Size) *float64 {
	switch m.Stat {
	case "mean":
		return z.MeanNS
	case "min":
		return z.MinNS
	case "max":
		return z.MaxNS
	case "p50":
		return z.P50NS
	case "p90":
		return z.P90NS
	case "p99":
		return z.P99NS
	}
	return nil
}

func unsettled(z result.Size) int {
	n := 0
	for _, f := range z.Forks {
		if !f.Settled {
			n++
		}
	}
	return n
}

// within decides by an interval: pass when all of it meets the limit, fail when none of it does.
func within(s plans.SLO, v float64, iv *result.Interval, n int64) result.SLOSegment {
	p := compared(s, v, n)
	p.Interval = iv
	if iv.Lo == nil || iv.Hi == nil {
		return p
	}
	lo, hi := holds(*iv.Lo, s.Op, s.Limit), holds(*iv.Hi, s.Op, s.Limit)
	reaches := fmt.Sprintf("measured %s, limit %s %s, interval %s to %s",
		value(v, s.Unit), s.Op, value(s.Limit, s.Unit), value(*iv.Lo, s.Unit), value(*iv.Hi, s.Unit))
	switch {
	case lo && hi:
		p.Outcome, p.State, p.Reason = result.Pass, result.StatePassed, "all of the interval meets the limit"
	case lo != hi:
		return undecided(p, reaches+": it reaches over the limit")
	default:
		p.Outcome, p.State, p.Reason = result.Fail, result.StateFailed, reaches
	}
	return p
}

func slope(s plans.SLO, f *result.Fit) result.SLOSegment {
	if f == nil {
		return noData("a fit needs at least 5 sizes")
	}
	iv := &result.Interval{Of: "value", Lo: f.SlopeLoNS, Hi: f.SlopeHiNS, Confidence: Confidence}
	return within(s, f.SlopeNS, iv, 0)
}

// growth decides by the classes that the points do not speak against: pass when all of them meet the limit, fail when
// none does.
func growth(s plans.SLO, f *result.Fit) result.SLOSegment {
	if f == nil {
		return noData("a fit needs at least 5 sizes")
	}
	class := slices.Index(plans.GrowthClasses[:], f.Class)
	lo := slices.Index(plans.GrowthClasses[:], f.ClassLo)
	hi := slices.Index(plans.GrowthClasses[:], f.ClassHi)
	if class < 0 || lo < 0 || hi < 0 {
		return noData("no growth class fits")
	}
	limit := plans.GrowthClasses[min(max(int(s.Limit), 0), len(plans.GrowthClasses)-1)]
	p := compared(s, float64(class), 0)
	if f.Misses {
		return undecided(p, fmt.Sprintf("no class of growth fits: the times are off the best one, %s, by %s on the average, far more than they scatter", f.Class, pct(f.Misfit)))
	}
	p.Reason = fmt.Sprintf("the growth is %s (weight of the evidence %s), limit %s %s", f.Class, pct(f.Evidence), s.Op, limit)
	slow, fast := holds(float64(lo), s.Op, s.Limit), holds(float64(hi), s.Op, s.Limit)
	switch {
	case slow && fast:
		p.Outcome, p.State = result.Pass, result.StatePassed
	case slow != fast:
		return undecided(p, p.Reason+fmt.Sprintf("; anything from %s to %s fits the points", f.ClassLo, f.ClassHi))
	default:
		p.Outcome, p.State = result.Fail, result.StateFailed
	}
	return p
}

func allocs(s plans.SLO, m *result.Microbenchmark) result.SLOSegment {
	var v *float64
	var n int64
	for _, z := range m.Sizes {
		if z.AllocBytes != nil && (v == nil || *z.AllocBytes > *v) {
			v = z.AllocBytes
		}
		n += z.Samples
	}
	if v == nil {
		return noData("the subject reports no allocations")
	}
	return compared(s, *v, n)
}
