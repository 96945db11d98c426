package verdict

import (
	"fmt"
	"math"
	"strings"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// Measured is a metric of a whole load; nil when it has none.
func Measured(m plans.Metric, l *result.Load) *float64 {
	if m.Kind == plans.Quantile {
		d, of := l.Response, l.Offered
		if m.Clock == plans.Service {
			d, of = l.Service, l.Sent
		}
		v, _ := ranked(d, of, m.Quantile)
		return v
	}
	if all := valuesOf(m, l); len(all) > 0 {
		return &all[0].value
	}
	return nil
}

// Invalid says why a load's figures do not describe the target; "" when they do.
func Invalid(l *result.Load) string {
	if w := invalid(audit(l, nil)); w != nil {
		return w.Text
	}
	return ""
}

// errorMargin is how much larger the share of failed requests of a new version may be.
const errorMargin = 0.01

// Compared decides a stage that compares two versions by its pairs until now, and sets st.SLO, st.Outcome and st.Reason. final
// says that there will be no more. It returns whether all metrics are decided.
func Compared(c *plans.Compare, st *result.Stage, final bool) (done bool) {
	cmp := st.Comparison
	cmp.Metrics, st.SLO = []result.ComparedMetric{}, []result.SLO{}
	done = true
	for i, m := range c.Metrics {
		s, decided := comparedMetric(c, cmp, i, m)
		st.SLO = append(st.SLO, s)
		done = done && decided
	}
	st.SLO = append(st.SLO, comparedErrors(c, cmp))
	st.Outcome, st.Reason = stageOutcome(st)
	if !final && st.Outcome == result.Inconclusive {
		st.Reason = "the comparison is under way"
	}
	return done
}

func comparedMetric(c *plans.Compare, cmp *result.Comparison, i int, m plans.Metric) (s result.SLO, decided bool) {
	more := m.Kind == plans.Throughput // is better
	s = result.SLO{Text: fmt.Sprintf("%s no worse than base by %s", m, pct(c.Margin)), Metric: m.String(), Op: "<=", Unit: string(plans.Nanoseconds), Relative: "base + " + pct(c.Margin),
		Set: "each version's run of a pair", Outcome: result.Inconclusive, State: result.StateNoData, Reason: "no pair was measured whole"}
	if more {
		s.Op, s.Unit, s.Relative = ">=", string(plans.PerSecond), "base − "+pct(c.Margin)
	}
	var worse, base, now []float64
	for _, p := range cmp.Pairs {
		if p.Left != "" || p.Base.Values[i] == nil || p.New.Values[i] == nil {
			continue
		}
		b, n := *p.Base.Values[i], *p.New.Values[i]
		base, now = append(base, b), append(now, n)
		if more {
			b, n = n, b
		}
		worse = append(worse, n/b)
	}
	metric := result.ComparedMetric{Metric: m.String(), Unit: s.Unit}
	s.Samples = int64(len(worse))
	ch, ok := stats.Paired(worse, c.Margin, len(c.Metrics))
	if ok {
		b, n := math.Exp(meanLog(base)), math.Exp(meanLog(now))
		change := n/b - 1
		metric.Base, metric.New, metric.Change = &b, &n, &change
		metric.Interval = &result.Interval{Of: "change", Lo: &ch.Lo, Hi: &ch.Hi, Confidence: Confidence, NEff: float64(len(worse))}
		s.Value, s.Interval = &n, metric.Interval
		unit := plans.Unit(s.Unit)
		said := fmt.Sprintf("%s after %s: %s, between %s and %s to the worse over %s", value(n, unit), value(b, unit), signed(change), signed(ch.Lo), signed(ch.Hi), plural(len(worse), "pair"))
		switch ch.Decision {
		case stats.NoWorse:
			s.Outcome, s.State, s.Reason, decided = result.Pass, result.StatePassed, said, true
		case stats.Worse:
			s.Outcome, s.State, s.Reason, decided = result.Fail, result.StateFailed, said, true
		default:
			s.State, s.Reason = result.StateInconclusive, fmt.Sprintf("%s: not surely below the margin of %s", said, pct(c.Margin))
		}
	}
	cmp.Metrics = append(cmp.Metrics, metric)
	return s, decided
}

// comparedErrors fails a new version that fails requests of which the base answers more.
func comparedErrors(c *plans.Compare, cmp *result.Comparison) result.SLO {
	s := result.SLO{Text: "error_rate no more than base by 1%", Metric: "error_rate", Op: "<=", Unit: string(plans.Share), Relative: "base + 1%", Set: "all requests of each version",
		Outcome: result.Inconclusive, State: result.StateNoData, Reason: "no pair was measured whole"}
	var bad, all [2]float64
	for _, p := range cmp.Pairs {
		if p.Left != "" {
			continue
		}
		for i, r := range []result.ComparedRun{p.Base, p.New} {
			bad[i] += float64(r.Counts.Offered - r.Counts.Completed)
			all[i] += float64(r.Counts.Offered)
		}
	}
	if all[0] == 0 || all[1] == 0 {
		return s
	}
	was, is := bad[0]/all[0], bad[1]/all[1]
	s.Value, s.Samples = &is, int64(all[1])
	s.Reason = fmt.Sprintf("%s of the requests after %s", pct(is), pct(was))
	lower := stats.ClopperPearsonLower(bad[1], all[1], Confidence)
	upper := stats.ClopperPearsonUpper(bad[0], all[0], Confidence)
	switch {
	case is > was+errorMargin && lower > upper:
		s.Outcome, s.State = result.Fail, result.StateFailed
	case is <= was+errorMargin:
		s.Outcome, s.State = result.Pass, result.StatePassed
	default:
		s.State = result.StateInconclusive
	}
	if was == 1 {
		s.Outcome, s.State, s.Reason = result.Inconclusive, result.StateInconclusive, "the base fails all requests: "+s.Reason
	}
	s.Reason = strings.TrimSpace(s.Reason)
	return s
}
