package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// bench decides an SLO on a microbenchmark, for each cell of the grid that it is about; slope and growth for each
// combination of settings.
func bench(s plans.SLO, m *result.Microbenchmark) []result.SLOSegment {
	if m == nil {
		return nil
	}
	var parts []result.SLOSegment
	add := func(name string, p result.SLOSegment) {
		p.Segment = name
		parts = append(parts, p)
	}
	if s.Metric.Kind == plans.Slope || s.Metric.Kind == plans.Growth {
		decide := slope
		if s.Metric.Kind == plans.Growth {
			decide = growth
		}
		for _, set := range combinations(m) {
			if set.Has(s.Metric.Settings) {
				add(set.String(), decide(s, m.Fit(set)))
			}
		}
	} else {
		for _, z := range cells(s.Metric, m) {
			add(z.Name(), inCell(s, z))
		}
	}
	if parts == nil {
		return []result.SLOSegment{noData(strings.TrimSpace(s.Metric.CellText() + " was not measured"))}
	}
	if len(parts) == 1 {
		parts[0].Segment = ""
	}
	return parts
}

// cells are the places of the grid that a metric is about.
func cells(m plans.Metric, b *result.Microbenchmark) (all []result.Size) {
	for _, z := range b.Sizes {
		if z.Samples > 0 && (m.Size == 0 || m.Size == z.Size) && z.Settings.Has(m.Settings) {
			all = append(all, z)
		}
	}
	return all
}

// combinations are the distinct settings of the cells.
func combinations(m *result.Microbenchmark) (all []result.Settings) {
	for _, z := range m.Sizes {
		if !slices.ContainsFunc(all, func(s result.Settings) bool { return slices.Equal(s, z.Settings) }) {
			all = append(all, z.Settings)
		}
	}
	return all
}

// inCell decides an SLO in one cell.
func inCell(s plans.SLO, z result.Size) result.SLOSegment {
	v := sizeValue(s.Metric, z)
	switch {
	case v == nil && s.Metric.Kind == plans.AllocBytes:
		return noData("the subject reports no allocations")
	case v == nil && s.Metric.Kind == plans.Instructions:
		return noData("instructions are not counted here: the machine does not let perf_event_open count them")
	case s.Metric.Kind == plans.Time && (v == nil || z.Samples < int64(s.MinSamples())):
		return noData(fmt.Sprintf("%s too few for %s: it needs at least %d", are(z.Samples, "sample"), s.Metric.Stat, s.MinSamples()))
	case s.Metric.Kind != plans.Time:
		return compared(s, *v, z.Samples)
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

// are is a number of things with its verb.
func are(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun + " is"
	}
	return fmt.Sprintf("%d %ss are", n, noun)
}

func sizeValue(m plans.Metric, z result.Size) *float64 {
	switch m.Kind {
	case plans.AllocBytes:
		return z.AllocBytes
	case plans.Instructions:
		return z.Instructions
	}
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
