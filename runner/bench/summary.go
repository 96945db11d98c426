package bench

import (
	"math"
	"slices"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

const (
	confidence = 0.95             // one-sided, of each end of an interval
	twoSided   = 2*confidence - 1 // the same as a two-sided one, as stats takes it

	minForks    = 3 // from which their variance is an estimate
	minFitSizes = 5
)

// record makes the result of the forks that are complete.
func record(m *plans.Microbenchmark, forks []*fork) *result.Microbenchmark {
	rec := &result.Microbenchmark{
		Command: m.Subject.Text, Forks: m.Forks, Samples: m.Samples, MinTimeNS: int64(m.MinTime), Seed: m.Seed,
		Sizes: []result.Size{}, Reference: reference(m.Reference),
	}
	for _, size := range m.Sizes {
		if of := filter(forks, func(f *fork) bool { return f.size == size }); len(of) > 0 {
			rec.Sizes = append(rec.Sizes, sum(size, of))
		}
	}
	rec.Fit = growth(rec.Sizes)
	return rec
}

// sum sums one size up.
func sum(size int, forks []*fork) result.Size {
	s := result.Size{Size: size, Forks: []result.Fork{}}
	var all []float64
	for _, f := range forks {
		s.Forks = append(s.Forks, f.rec)
		all = append(all, f.rec.SamplesNS...)
		s.Samples += int64(len(f.samples))
		for _, b := range f.samples {
			s.Iterations += b.iterations
		}
	}
	if sums := checksums(forks, size); len(sums) > 0 {
		s.Checksum = sums[0]
	}
	s.AllocBytes = perIteration(forks, func(b batch) *int64 { return b.bytes })
	s.Allocs = perIteration(forks, func(b batch) *int64 { return b.allocs })
	if len(all) == 0 {
		return s
	}
	slices.Sort(all)
	s.MinNS, s.MaxNS = new(all[0]), new(all[len(all)-1])
	s.MeanNS, s.P50NS = new(stats.Mean(all)), new(stats.Median(all))
	s.P90NS, s.P99NS = quantile(all, 0.90), quantile(all, 0.99)
	s.Interval = interval(s.Forks, *s.P50NS)
	return s
}

// quantile is null unless there are enough samples for an upper bound, since a maximum is no percentile.
func quantile(sorted []float64, q float64) *float64 {
	if len(sorted) < stats.MinSamples(q, confidence, 1) {
		return nil
	}
	v, _ := stats.Quantile(sorted, q)
	return &v
}

// interval is where the median of such forks lies. The fork is the unit, as in Georges, Buytaert and Eeckhout
// (OOPSLA 2007): samples of one process share its layout of memory and code, so more of them say nothing about the
// next process. It is Student's t interval of the mean logarithm of the forks' medians, as times scatter in
// proportion. With one or two forks it is the hull of the forks' own order-statistic intervals, which knows only the
// noise within a process. It always holds p50.
func interval(forks []result.Fork, p50 float64) *result.Interval {
	var logs []float64
	for _, f := range forks {
		logs = append(logs, math.Log(stats.Median(f.SamplesNS)))
	}
	lo, hi, n := p50, p50, float64(len(forks))
	if len(forks) >= minForks {
		_, l, h, ok := stats.TInterval(logs, twoSided)
		if !ok {
			return nil
		}
		lo, hi = min(lo, math.Exp(l)), max(hi, math.Exp(h))
	} else {
		n = 0
		for _, f := range forks {
			l, h, ok := stats.MedianInterval(f.SamplesNS, twoSided)
			if !ok {
				return nil
			}
			lo, hi, n = min(lo, l), max(hi, h), n+float64(len(f.SamplesNS))
		}
	}
	return &result.Interval{Of: "value", Lo: &lo, Hi: &hi, Confidence: confidence, NEff: n}
}

// perIteration is the mean of a total that subjects may leave out.
func perIteration(forks []*fork, total func(batch) *int64) *float64 {
	var sum, iterations float64
	for _, f := range forks {
		for _, b := range f.samples {
			if v := total(b); v != nil {
				sum += float64(*v)
				iterations += float64(b.iterations)
			}
		}
	}
	if iterations == 0 {
		return nil
	}
	return new(sum / iterations)
}

// growth fits the medians of the forks over the sizes; nil when there are too few sizes to tell. Forks rather than the
// medians over them, because only they show how far apart two measurements of one size lie.
func growth(sizes []result.Size) *result.Fit {
	var x, y []float64
	measured := 0
	for _, s := range sizes {
		if s.P50NS != nil {
			measured++
		}
		for _, f := range s.Forks {
			if len(f.SamplesNS) > 0 {
				x, y = append(x, float64(s.Size)), append(y, stats.Median(f.SamplesNS))
			}
		}
	}
	if measured < minFitSizes {
		return nil
	}
	line, ok := stats.FitLine(x, y, twoSided)
	if !ok {
		return nil
	}
	g, ok := stats.Fit(x, y, twoSided)
	if !ok {
		return nil
	}
	return &result.Fit{
		Class: g.Class.String(), ClassLo: g.Lo.String(), ClassHi: g.Hi.String(), Evidence: g.Weight, Misfit: g.Misfit, Misses: g.Misses,
		SlopeNS: line.Slope, SlopeLoNS: &line.SlopeLo, SlopeHiNS: &line.SlopeHi, InterceptNS: line.Intercept, R2: line.R2,
	}
}

func reference(r *plans.Reference) *result.Reference {
	if r == nil {
		return nil
	}
	out := &result.Reference{Name: r.Name, Source: r.Source, Points: []result.ReferencePoint{}}
	for _, p := range r.Points {
		out.Points = append(out.Points, result.ReferencePoint{Size: p.Size, TimeNS: int64(p.Time)})
	}
	return out
}
