package selftest

import (
	"context"
	"slices"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/faults"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/verdict"
)

// bench proves the assertions of a microbenchmark. Its subject cannot be slowed down from outside, so it is measured once, and
// judged again with its figures made worse.
func (t *test) bench(ctx context.Context, st *plans.Stage) error {
	if _, ok := st.Work.(*plans.Microbenchmark); !ok {
		return nil
	}
	rec, err := t.run(ctx, st, st.Work, faults.Fault{})
	if err != nil {
		return err
	}
	for i, s := range st.SLOs {
		if o := rec.SLO[i]; o.Outcome != result.Pass && !s.Baseline.Set {
			t.report.Green = append(t.report.Green, Proof{Stage: st.Name, SLO: s.Text, State: string(o.Outcome), Reason: o.Reason})
		}
		t.closed(st, s)
		switch {
		case s.Warn:
			t.proof(st, s, Never, faults.Fault{}, "it only warns: whatever is measured, no run fails by it")
		case s.Baseline.Set:
			t.proof(st, s, Unproven, faults.Fault{}, "it compares with stored runs, of which a self-test has none")
		case s.Op[0] != '<':
			t.proof(st, s, Unproven, faults.Fault{}, "figures are only made worse")
		default:
			one := *st
			one.SLOs = []plans.SLO{s}
			worse := worsened(s, rec)
			verdict.Stage(&one, &worse)
			if o := worse.SLO[0]; o.Outcome == result.Fail {
				t.proof(st, s, Proven, faults.Fault{}, "with its figures made worse until they are %.0f%% beyond the limit: %s", 100*Margin, o.Reason)
			} else if o.State == result.StateNoData {
				t.proof(st, s, Never, faults.Fault{}, "it has no data: %s", o.Reason)
			} else {
				t.proof(st, s, Never, faults.Fault{}, "with its figures made worse until they are %.0f%% beyond the limit it came out as %s: %s", 100*Margin, o.Outcome, o.Reason)
			}
		}
	}
	return nil
}

// worsened is a record whose figures are beyond the limit of an assertion, all by the factor that takes the nearest there.
func worsened(s plans.SLO, rec *result.Stage) result.Stage {
	out := *rec
	m := *rec.Microbenchmark
	m.Sizes, m.Fits = slices.Clone(m.Sizes), slices.Clone(m.Fits)
	out.Microbenchmark, out.SLO = &m, nil
	times := func(v **float64, k float64) {
		if *v != nil {
			*v = new(**v * k)
		}
	}
	least := 0.0
	look := func(v *float64) {
		if v != nil && *v > 0 && (least == 0 || *v < least) {
			least = *v
		}
	}
	switch s.Metric.Kind {
	case plans.Growth:
		for i := range m.Fits {
			m.Fits[i].Class, m.Fits[i].ClassLo, m.Fits[i].ClassHi = plans.GrowthClasses[5], plans.GrowthClasses[5], plans.GrowthClasses[5]
		}
		return out
	case plans.Slope:
		for i := range m.Fits {
			look(m.Fits[i].SlopeLoNS)
		}
	default:
		for _, z := range m.Sizes {
			for _, v := range []*float64{z.MinNS, z.AllocBytes, z.Instructions} {
				if (v == z.MinNS) == (s.Metric.Kind == plans.Time) {
					look(v)
				}
			}
		}
	}
	if least == 0 {
		return out
	}
	k := max(1, s.Limit*(1+Margin)/least)
	for i := range m.Fits {
		f := &m.Fits[i]
		f.SlopeNS *= k
		times(&f.SlopeLoNS, k)
		times(&f.SlopeHiNS, k)
	}
	for i := range m.Sizes {
		z := &m.Sizes[i]
		for _, v := range []**float64{&z.MinNS, &z.MeanNS, &z.P50NS, &z.P90NS, &z.P99NS, &z.MaxNS, &z.AllocBytes, &z.Instructions} {
			times(v, k)
		}
		if z.Interval != nil {
			iv := *z.Interval
			times(&iv.Lo, k)
			times(&iv.Hi, k)
			z.Interval = &iv
		}
	}
	return out
}
