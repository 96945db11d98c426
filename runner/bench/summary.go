package bench

import (
	"cmp"
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
		Kind: string(m.Subject.Kind), Command: m.Subject.Command.Text, Forks: m.Forks, Samples: m.Samples, MinTimeNS: int64(m.MinTime), Seed: m.Seed,
		Sizes: []result.Size{}, Reference: reference(m.Reference),
	}
	for _, c := range m.Cells() {
		if in := filter(forks, func(f *fork) bool { return same(f.cell, c) }); len(in) > 0 {
			rec.Sizes = append(rec.Sizes, sum(c, in))
		}
	}
	if m.Subject.Shell && len(forks) > 0 {
		var shells []float64
		for _, f := range forks {
			shells = append(shells, f.overhead)
		}
		rec.OverheadNS = new(stats.Median(shells))
	}
	rec.Fits = fits(rec.Sizes)
	ratios(rec)
	return rec
}

// sum sums one cell up.
func sum(c plans.Cell, forks []*fork) result.Size {
	s := result.Size{Size: c.Size, Settings: settings(c), Forks: []result.Fork{}}
	for _, f := range forks {
		s.Forks = append(s.Forks, f.rec)
		for _, b := range f.samples {
			s.Iterations += b.iterations
		}
		if f.rss > 0 {
			s.RSSBytes = new(max(f.rss, *cmp.Or(s.RSSBytes, new(int64))))
		}
	}
	if sums := checksums(forks, c); len(sums) > 0 {
		s.Checksum = sums[0]
	}
	s.AllocBytes = perIteration(forks, func(b batch) *int64 { return b.bytes })
	s.Allocs = perIteration(forks, func(b batch) *int64 { return b.allocs })
	s.GCs = perIteration(forks, func(b batch) *int64 { return b.gcs })
	s.GCPauseNS = perIteration(forks, func(b batch) *int64 { return b.gcNS })
	s.CPUNS = perIteration(forks, func(b batch) *int64 { return b.cpuNS })
	s.Instructions = perIteration(forks, func(b batch) *int64 { return counted(b, b.usage.Instructions) })
	s.Cycles = perIteration(forks, func(b batch) *int64 { return counted(b, b.usage.Cycles) })
	moments(&s)
	s.Outliers = outliers(forks)
	return s
}

func counted(b batch, v int64) *int64 {
	if !b.usage.Counted {
		return nil
	}
	return &v
}

func settings(c plans.Cell) result.Settings {
	var all result.Settings
	for _, p := range c.Settings {
		all = append(all, result.Setting{Name: p.Name, Value: p.Value})
	}
	return all
}

// moments sets what follows from the samples of a cell's forks.
func moments(s *result.Size) {
	var all, logs []float64
	for _, f := range s.Forks {
		all = append(all, f.SamplesNS...)
		if len(f.SamplesNS) > 0 {
			logs = append(logs, math.Log(stats.Median(f.SamplesNS)))
		}
	}
	s.Samples = int64(len(all))
	if len(all) == 0 {
		return
	}
	slices.Sort(all)
	s.MinNS, s.MaxNS = new(all[0]), new(all[len(all)-1])
	s.MeanNS, s.P50NS = new(stats.Mean(all)), new(stats.Median(all))
	s.P90NS, s.P99NS = quantile(all, 0.90), quantile(all, 0.99)
	s.Interval = interval(s.Forks, *s.P50NS)
	if n := float64(len(logs)); n > 1 {
		spread := stats.StdDev(logs)
		s.Spread = &spread
		if n >= minForks { // both error rates 5 %, as in stats.Compare
			s.Visible = new(math.Expm1(2 * stats.TQuantile(confidence, 2*n-2) * spread * math.Sqrt(2/n)))
		}
	}
}

const (
	outlierMAD   = 5    // median absolute deviations, scaled to standard deviations, …
	outlierShare = 0.1  // and share of the median, that an outlier is above it
	causeShare   = 0.25 // of what a sample took too long that its cause has to explain
)

// outliers are the samples far above the others of the cell, with what made them so, as far as that is known.
func outliers(forks []*fork) []result.Outlier {
	var all, gcs []float64
	for _, f := range forks {
		all = append(all, f.rec.SamplesNS...)
		for _, b := range f.samples {
			gcs = append(gcs, float64(*cmp.Or(b.gcNS, new(int64)))/float64(b.iterations))
		}
	}
	if len(all) == 0 {
		return nil
	}
	median, gc := stats.Median(all), stats.Median(gcs)
	limit := median + max(outlierMAD*1.4826*stats.MAD(all), outlierShare*median)
	var found []result.Outlier
	for i, f := range forks {
		for j, ns := range f.rec.SamplesNS {
			if ns <= limit || j >= len(f.samples) {
				continue
			}
			b := f.samples[j]
			excess := (ns - median) * float64(b.iterations) * causeShare
			cause := result.CauseUnknown
			switch {
			case b.gcNS != nil && float64(*b.gcNS)-gc*float64(b.iterations) >= excess:
				cause = result.CauseGC
			case float64(b.usage.Stolen) >= excess && b.usage.Stolen > 0:
				cause = result.CauseSteal
			case float64(b.usage.Waited) >= excess && b.usage.Waited > 0:
				cause = result.CauseCPU
			}
			found = append(found, result.Outlier{Fork: i, Sample: j, NS: ns, Cause: cause})
		}
	}
	return found
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

// fits are the growth over sizes, for each combination of settings that has sizes enough.
func fits(cells []result.Size) []result.Fit {
	var all []result.Fit
	for i, z := range cells {
		if i > 0 && slices.Equal(z.Settings, cells[i-1].Settings) {
			continue
		}
		of := slices.DeleteFunc(slices.Clone(cells), func(o result.Size) bool { return !slices.Equal(o.Settings, z.Settings) })
		if f := growth(of); f != nil {
			f.Settings = z.Settings
			all = append(all, *f)
		}
	}
	return all
}

// growth fits the medians of the forks over the sizes; nil when there are too few sizes to tell. Forks rather than the
// medians over them, because only they show how far apart two measurements of one size lie.
func growth(sizes []result.Size) *result.Fit {
	var x, y []float64
	measured := 0
	for _, s := range sizes {
		if s.P50NS != nil && s.Size > 0 {
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
	fit := &result.Fit{
		Class: g.Class.String(), ClassLo: g.Lo.String(), ClassHi: g.Hi.String(), Evidence: g.Weight, Misfit: g.Misfit, Misses: g.Misses,
		SlopeNS: line.Slope, SlopeLoNS: &line.SlopeLo, SlopeHiNS: &line.SlopeHi, InterceptNS: line.Intercept, R2: line.R2,
	}
	for _, s := range sizes {
		if said := g.At(float64(s.Size)); s.P50NS != nil && said > 0 {
			fit.Points = append(fit.Points, result.FitPoint{Size: s.Size, TimeNS: said, Residual: *s.P50NS/said - 1})
		}
	}
	return fit
}

// ratios compares the reference with the medians, where a size has one.
func ratios(rec *result.Microbenchmark) {
	if rec.Reference == nil {
		return
	}
	for i := range rec.Reference.Points {
		p := &rec.Reference.Points[i]
		at := slices.DeleteFunc(slices.Clone(rec.Sizes), func(z result.Size) bool { return z.Size != p.Size || z.P50NS == nil })
		if len(at) == 1 && *at[0].P50NS > 0 {
			p.Ratio = new(float64(p.TimeNS) / *at[0].P50NS)
		}
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
