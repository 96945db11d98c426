package verdict

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// Of what a calibration tells: the share of comparisons that has to call a change for it to be visible, the largest change that
// is tried, and how many comparisons of resampled pairs tell the shares.
const (
	seen       = 0.95
	mostChange = 1.0
	resamples  = 1000
)

// LeastCalibration is the number of runs from which a calibration can be made: as many stored runs as a gate needs, and one.
const LeastCalibration = gating + 1

// Calibrate says what the gates of a plan are worth by runs that differ in nothing: how each figure scatters, how often a
// comparison of one of them with the others would call it worse, and from which change on it would. Comparisons of versions are
// drawn again from the pairs that the first run has, without what the versions differ by.
func Calibrate(p *plans.Plan, runs []*result.Result) (noise []result.Noise, slos []result.SLOTry) {
	for _, st := range p.Stages {
		var all []*result.Stage
		for _, r := range runs {
			if i := slices.IndexFunc(r.Stages, func(s result.Stage) bool { return s.Name == st.Name && s.State == result.Complete }); i >= 0 {
				all = append(all, &r.Stages[i])
			}
		}
		if len(all) == 0 {
			continue
		}
		switch w := st.Work.(type) {
		case *plans.Compare:
			noise = append(noise, pairsNoise(st.Name, w, all[0])...)
		case *plans.Microbenchmark:
			noise = append(noise, benchNoise(st, all)...)
			slos = append(slos, tries(st, all)...)
		case *plans.Load:
			noise = append(noise, loadNoise(st, all)...)
			slos = append(slos, tries(st, all)...)
		}
	}
	return noise, slos
}

func loadNoise(st *plans.Stage, all []*result.Stage) (noise []result.Noise) {
	if len(all) < LeastCalibration {
		return nil
	}
	type figure struct {
		metric plans.Metric
		margin float64
	}
	figures := []figure{}
	for _, q := range []float64{0.5, 0.9, 0.99} {
		figures = append(figures, figure{plans.Metric{Kind: plans.Quantile, Clock: plans.Response, Quantile: q}, DefaultMargin})
	}
	figures = append(figures, figure{plans.Metric{Kind: plans.Throughput}, DefaultMargin})
	for _, s := range st.SLOs {
		if !s.Baseline.Set || slices.ContainsFunc(figures, func(f figure) bool { return f.metric == s.Metric }) {
			continue
		}
		figures = append(figures, figure{s.Metric, math.Abs(s.Baseline.Change)})
	}
	for _, f := range figures {
		s := plans.SLO{Metric: f.metric, Op: "<=", Unit: plans.Nanoseconds}
		if f.metric.Kind == plans.Throughput {
			s.Unit = plans.PerSecond
		}
		for _, first := range values(s, all[0]) {
			if !carries(f.metric, all[0], first.name) {
				continue
			}
			var of []float64
			for _, r := range all {
				for _, v := range values(s, r) {
					if v.name == first.name && v.value > 0 {
						of = append(of, v.value)
					}
				}
			}
			if len(of) == len(all) {
				noise = append(noise, scattered(result.Noise{Stage: st.Name, Metric: f.metric.String(), Segment: first.name, Unit: string(s.Unit), Values: of}, f.margin))
			}
		}
	}
	return noise
}

// scattered judges each of the values of like runs against the others, as it is and made worse.
func scattered(n result.Noise, margin float64) result.Noise {
	n.Spread, n.Of = stats.StdDev(logsOf(n.Values)), len(n.Values)
	called := func(change float64) (k int) {
		for i, v := range n.Values {
			others := slices.Delete(slices.Clone(n.Values), i, i+1)
			if n.Unit == string(plans.PerSecond) {
				v /= 1 + change
			} else {
				v *= 1 + change
			}
			if moved(Delta{Unit: n.Unit, Now: v}, others, margin).Verdict == result.DeltaSlower {
				k++
			}
		}
		return k
	}
	n.FalseAlarms = called(0)
	n.Visible = smallest(func(change float64) bool { return float64(called(change)) >= seen*float64(n.Of) })
	return n
}

// smallest is the smallest change in steps of 1 % that is seen, as all larger ones are; 0 when none is up to the largest.
func smallest(isSeen func(change float64) bool) float64 {
	const steps = int(100 * mostChange)
	step := 1 + sort.Search(steps, func(i int) bool { return isSeen(float64(i+1) / 100) })
	if step > steps {
		return 0
	}
	return float64(step) / 100
}

func logsOf(values []float64) (logs []float64) {
	for _, v := range values {
		logs = append(logs, math.Log(v))
	}
	return logs
}

func benchNoise(st *plans.Stage, all []*result.Stage) []result.Noise {
	var benches []*result.Microbenchmark
	var typical []float64
	for _, r := range all {
		if r.Microbenchmark == nil {
			return nil
		}
		benches = append(benches, r.Microbenchmark)
		var medians []float64
		for _, c := range r.Microbenchmark.Sizes {
			if c.P50NS != nil && *c.P50NS > 0 {
				medians = append(medians, *c.P50NS)
			}
		}
		if len(medians) > 0 {
			typical = append(typical, math.Exp(meanLog(medians)))
		}
	}
	if len(typical) < 2 {
		return nil
	}
	c := CalibrateBench(benches, BenchMargin(st.SLOs))
	return []result.Noise{{Stage: st.Name, Metric: "time p50", Segment: "all cells", Unit: string(plans.Nanoseconds), Values: typical, Spread: stats.StdDev(logsOf(typical)),
		FalseAlarms: c.FalseAlarms, Of: c.Pairs, Visible: c.Visible}}
}

// BenchMargin is the smallest change that assertions on times let matter.
func BenchMargin(slos []plans.SLO) float64 {
	least := 0.0
	for _, s := range slos {
		if c := s.Baseline.Change; s.Baseline.Set && s.Metric.Kind == plans.Time && c > 0 && (least == 0 || c < least) {
			least = c
		}
	}
	return cmp.Or(least, DefaultMargin)
}

func pairsNoise(stage string, c *plans.Compare, rec *result.Stage) (noise []result.Noise) {
	if rec.Comparison == nil {
		return nil
	}
	r := rand.New(rand.NewPCG(1, 2))
	for i, m := range c.Metrics {
		var ratios []float64
		for _, p := range rec.Comparison.Pairs {
			if p.Left == "" && p.Base.Values[i] != nil && p.New.Values[i] != nil && *p.Base.Values[i] > 0 && *p.New.Values[i] > 0 {
				ratio := *p.New.Values[i] / *p.Base.Values[i]
				if m.Kind == plans.Throughput {
					ratio = 1 / ratio
				}
				ratios = append(ratios, ratio)
			}
		}
		if len(ratios) < 5 {
			continue
		}
		n := result.Noise{Stage: stage, Metric: m.String(), Unit: "ratio", Values: ratios, Spread: stats.StdDev(logsOf(ratios)), Of: resamples}
		drawn := func(change float64) (passes, fails int) {
			for range resamples {
				var some []float64
				d := stats.Undecided
				for len(some) < c.Pairs && d == stats.Undecided {
					// Normal, as the gate takes them: some ten residuals have too little of a tail.
					some = append(some, (1+change)*math.Exp(n.Spread*r.NormFloat64()))
					if stats.IsLook(len(some)) {
						now, _ := stats.Paired(some, c.Margin, len(c.Metrics))
						d = now.Decision
					}
				}
				switch d {
				case stats.NoWorse:
					passes++
				case stats.Worse:
					fails++
				}
			}
			return passes, fails
		}
		passes, fails := drawn(0)
		n.Passes, n.FalseAlarms = float64(passes)/resamples, fails
		n.Visible = smallest(func(change float64) bool {
			if change < c.Margin {
				return false
			}
			_, fails := drawn(change)
			return float64(fails) >= seen*resamples
		})
		noise = append(noise, n)
	}
	return noise
}

// tries is how the SLOs of a stage with limits of their own came out.
func tries(st *plans.Stage, all []*result.Stage) (list []result.SLOTry) {
	for i, s := range st.SLOs {
		if s.Baseline.Set {
			continue
		}
		t := result.SLOTry{Stage: st.Name, Text: s.Text, Unit: string(s.Unit)}
		for _, r := range all {
			if i >= len(r.SLO) {
				continue
			}
			switch r.SLO[i].Outcome {
			case result.Pass:
				t.Passed++
			case result.Fail:
				t.Failed++
			default:
				t.Undecided++
			}
			if v := r.SLO[i].Value; v != nil {
				if t.Low == nil || *v < *t.Low {
					t.Low = v
				}
				if t.High == nil || *v > *t.High {
					t.High = v
				}
			}
		}
		if s.Op[0] == '<' && t.Low != nil && *t.Low > 0 && s.Limit > 0 {
			t.Visible = new(max(0, s.Limit / *t.Low - 1))
		}
		if s.Op[0] == '>' && t.High != nil && *t.High > 0 && s.Limit > 0 {
			t.Visible = new(min(0, s.Limit / *t.High - 1))
		}
		list = append(list, t)
	}
	return list
}

// BelowNoise warns of what a plan asks for and a calibration says cannot be told on its machine: limits within what like runs
// differ by, changes smaller than those that are seen, margins at which like versions do not pass.
func BelowNoise(p *plans.Plan, c *result.Calibration) (ps plans.Problems) {
	warn := func(pos plans.Position, path, what, got, hint string) {
		ps = append(ps, plans.Problem{Pos: pos, Path: path, What: what, Got: got, Hint: hint, Warning: true})
	}
	noise := func(stage string, metric string) (worst *result.Noise) {
		for i := range c.Noise {
			if n := &c.Noise[i]; n.Stage == stage && n.Metric == metric && (worst == nil || n.Visible == 0 || worst.Visible != 0 && n.Visible > worst.Visible) {
				worst = n
			}
		}
		return worst
	}
	for i, st := range p.Stages {
		path := fmt.Sprintf("stages[%d]", i)
		if w, ok := st.Work.(*plans.Compare); ok {
			for _, m := range w.Metrics {
				if n := noise(st.Name, m.String()); n != nil && n.Passes < 0.8 {
					warn(st.Pos, path+".compare.margin", fmt.Sprintf("margin below the noise of this machine: pairs of %s scatter by %s, so like versions pass in %s of comparisons", m, pct(n.Spread), pct(n.Passes)),
						pct(w.Margin), "raise the margin, make the runs longer, or let versions take turns with alternate")
				}
			}
			continue
		}
		for _, s := range st.SLOs {
			if s.Baseline.Set {
				metric := s.Metric.String()
				if s.Metric.Kind == plans.Time {
					metric = "time p50"
				}
				n := noise(st.Name, metric)
				switch {
				case n == nil:
				case n.Visible == 0:
					warn(s.Pos, path+".slo", fmt.Sprintf("limit below the noise of this machine: like runs scatter by %s, so no change up to %s is seen", pct(n.Spread), pct(mostChange)), fmt.Sprintf("%q", s.Text), "make the stage longer, or compare versions in pairs")
				case n.Visible > math.Abs(s.Baseline.Change)+1e-9:
					warn(s.Pos, path+".slo", fmt.Sprintf("limit below the noise of this machine: like runs scatter by %s, so changes below %s are not seen", pct(n.Spread), pct(n.Visible)), fmt.Sprintf("%q", s.Text), "make the stage longer, or compare versions in pairs")
				}
				continue
			}
			for _, t := range c.SLOs {
				if of := t.Passed + t.Failed + t.Undecided; t.Stage == st.Name && t.Text == s.Text && of > t.Failed && 20*(t.Failed+t.Undecided) > of {
					between := ""
					if t.Low != nil && t.High != nil {
						between = fmt.Sprintf(", at %s to %s", value(*t.Low, s.Unit), value(*t.High, s.Unit))
					}
					warn(s.Pos, path+".slo", fmt.Sprintf("limit within the noise of this machine: of %d like runs %d failed and %d stayed open%s", of, t.Failed, t.Undecided, between), fmt.Sprintf("%q", s.Text), "")
				}
			}
		}
	}
	return ps
}

// Text is a figure in a unit of SLOs, for people.
func Text(v float64, unit string) string { return value(v, plans.Unit(unit)) }
