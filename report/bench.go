package report

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfplan/perfplan/report/chart"
	"github.com/perfplan/perfplan/runner/result"
)

func benchParts(b *result.Microbenchmark, st *result.Stage, file string) []part {
	curve := part{Title: "By size"}
	if text := referenceLine(b); text != "" {
		curve.Lines = append(curve.Lines, text)
	}
	curve.Charts = append(curve.Charts, benchChart(b, st, file))
	curve.Tables = append(curve.Tables, sizeTable(b))
	warm := part{Title: "Warm-up of the forks", Lines: []string{forksLine(b)}}
	if f, ok := warmupChart(b, file); ok {
		warm.Charts = append(warm.Charts, f)
	}
	warm.More = append(warm.More, forkTable(b))
	warm.Lines = append(warm.Lines, fmt.Sprintf("Command: %s. Planned: %s a size with %s each, at least %s a sample; order of the forks from seed %d.",
		orText(b.Command, na), counted(int64(b.Forks), "fork"), counted(int64(b.Samples), "sample"), duration(float64(b.MinTimeNS)), b.Seed))
	return []part{curve, warm}
}

// fitLine says how time grows with size.
func fitLine(f *result.Fit) string {
	if f == nil {
		return "No fit: it takes at least 5 sizes."
	}
	slope := duration(f.SlopeNS)
	if f.SlopeLoNS != nil && f.SlopeHiNS != nil {
		slope = fmt.Sprintf("%s per row (%s to %s)", slope, duration(*f.SlopeLoNS), duration(*f.SlopeHiNS))
	} else {
		slope += " per row"
	}
	sign := "plus"
	if f.InterceptNS < 0 {
		sign = "minus"
	}
	return fmt.Sprintf("Fit: %s %s %s, R² %s. %s",
		slope, sign, duration(math.Abs(f.InterceptNS)), rSquared(f.R2), growth(f))
}

// rSquared shows three digits, and never 1 for a fit that is not perfect.
func rSquared(v float64) string {
	if v < 1 && v >= 0.9995 {
		return "over 0.999"
	}
	return number(v, 3)
}

// growth names the class of growth, and all classes that the points do not speak against where there are more.
func growth(f *result.Fit) string {
	lo, hi := slices.Index(growthClasses[:], f.ClassLo), slices.Index(growthClasses[:], f.ClassHi)
	if f.Misses {
		return fmt.Sprintf("No class of growth fits: the best, %s, is off by %s on the average.", f.Class, percent(f.Misfit))
	}
	if lo < 0 || hi <= lo {
		return fmt.Sprintf("Growth is %s (weight of the evidence %s).", f.Class, percent(f.Evidence))
	}
	text := f.ClassLo + " or " + f.ClassHi
	if hi-lo > 1 {
		text = "anything from " + f.ClassLo + " to " + f.ClassHi
	}
	return fmt.Sprintf("Growth is %s, most likely %s (weight of the evidence %s).", text, f.Class, percent(f.Evidence))
}

// ratios are published time ÷ measured median, by size, where both exist.
func ratios(b *result.Microbenchmark) map[int]float64 {
	out := map[int]float64{}
	if b.Reference == nil {
		return out
	}
	medians := map[int]float64{}
	for _, z := range b.Sizes {
		if z.P50NS != nil && *z.P50NS > 0 {
			medians[z.Size] = *z.P50NS
		}
	}
	for _, p := range b.Reference.Points {
		if median, ok := medians[p.Size]; ok && p.TimeNS > 0 {
			out[p.Size] = float64(p.TimeNS) / median
		}
	}
	return out
}

func referenceLine(b *result.Microbenchmark) string {
	if b.Reference == nil {
		return ""
	}
	text := "Reference: " + b.Reference.Name
	if b.Reference.Source != "" {
		text += " (" + b.Reference.Source + ")"
	}
	lo, hi := math.Inf(1), 0.0
	for _, ratio := range ratios(b) {
		lo, hi = min(lo, ratio), max(hi, ratio)
	}
	if hi == 0 {
		return text + ". No size in common."
	}
	if short := times(lo); short != times(hi) {
		return text + ". Its times are " + short + " to " + times(hi) + " the median measured here."
	}
	return text + ". Its times are " + times(hi) + " the median measured here."
}

func times(ratio float64) string { return number(ratio, 3) + "×" }

func benchChart(b *result.Microbenchmark, st *result.Stage, file string) figure {
	c := chart.Chart{
		Title: "Time per iteration by size", Subtitle: "median with its interval over forks",
		X: chart.Axis{Label: "size (rows)", Unit: chart.Count}, Y: chart.Axis{Label: "time per iteration", Unit: chart.Duration},
	}
	s := chart.Series{Name: "median"}
	for _, z := range b.Sizes {
		lo, hi := math.NaN(), math.NaN()
		if z.Interval != nil && z.Interval.Of == "value" {
			lo, hi = gap(z.Interval.Lo), gap(z.Interval.Hi)
		}
		s.X, s.Y = append(s.X, float64(z.Size)), append(s.Y, gap(z.P50NS))
		s.Lo, s.Hi = append(s.Lo, lo), append(s.Hi, hi)
	}
	c.Series = append(c.Series, s)
	if b.Reference != nil {
		ref := chart.Series{Name: b.Reference.Name, Role: chart.Reference}
		for _, p := range b.Reference.Points {
			ref.X, ref.Y = append(ref.X, float64(p.Size)), append(ref.Y, float64(p.TimeNS))
		}
		c.Series = append(c.Series, ref)
		for _, ratio := range ratios(b) {
			c.Y.Log = c.Y.Log || ratio > 5 || ratio < 0.2
		}
	}
	alt := "Median time per iteration at " + counted(int64(len(b.Sizes)), "size")
	if n := len(b.Sizes); n > 0 {
		first, last := b.Sizes[0], b.Sizes[n-1]
		alt += fmt.Sprintf(": %s at %d, %s at %d", orNA(first.P50NS, duration), first.Size, orNA(last.P50NS, duration), last.Size)
	}
	return figure{Name: file + "-sizes", Chart: c, Alt: alt + "."}
}

func sizeTable(b *result.Microbenchmark) table {
	t := table{
		Caption: "Time per iteration of each size",
		Cols: []column{{"Size", true}, {"Samples", true}, {"Median", true}, {"Interval of the median", true}, {"Mean", true}, {"Least", true},
			{"p90", true}, {"p99", true}, {"Most", true}, {"Allocated", true}},
	}
	ratio := ratios(b)
	if b.Reference != nil {
		t.Cols = append(t.Cols, column{"Reference", true}, column{"Reference ÷ median", true})
	}
	for _, z := range b.Sizes {
		row := []cell{
			{Text: count(int64(z.Size))}, {Text: samples(z.Samples)}, {Text: orNA(z.P50NS, columnTime)},
			interval(quantity{unit: "ns", scale: scaleOf(timeScales, zero(z.P50NS))}, z.Interval, "p50"),
			{Text: orNA(z.MeanNS, columnTime)}, {Text: orNA(z.MinNS, columnTime)}, {Text: orNA(z.P90NS, columnTime)}, {Text: orNA(z.P99NS, columnTime)},
			{Text: orNA(z.MaxNS, columnTime)}, {Text: orNA(z.AllocBytes, size)},
		}
		if b.Reference != nil {
			published := cell{Text: na}
			for _, p := range b.Reference.Points {
				if p.Size == z.Size {
					published.Text = columnTime(float64(p.TimeNS))
				}
			}
			quotient := cell{Text: na}
			if v, ok := ratio[z.Size]; ok {
				quotient.Text = times(v)
			}
			row = append(row, published, quotient)
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func zero(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

func forksLine(b *result.Microbenchmark) string {
	all, settled := 0, 0
	var thrown int64
	for _, z := range b.Sizes {
		for _, f := range z.Forks {
			all++
			thrown += f.WarmupIterations
			if f.Settled {
				settled++
			}
		}
	}
	if all == 0 {
		return "No fork was run."
	}
	return fmt.Sprintf("%d of %s settled before they were measured; %s thrown away.", settled, counted(int64(all), "fork"), counted(thrown, "iteration"))
}

// warmupChart draws the warm-up of the largest size's forks.
func warmupChart(b *result.Microbenchmark, file string) (figure, bool) {
	c := chart.Chart{
		X: chart.Axis{Label: "warm-up sample", Unit: chart.Count}, Y: chart.Axis{Label: "time per iteration", Unit: chart.Duration},
	}
	for i := len(b.Sizes) - 1; i >= 0 && len(c.Series) == 0; i-- {
		z := b.Sizes[i]
		for j, f := range z.Forks {
			s := chart.Series{Name: fmt.Sprintf("fork %d", j+1)}
			for k, ns := range f.WarmupNS {
				s.X, s.Y = append(s.X, float64(k+1)), append(s.Y, ns)
			}
			if len(s.X) > 0 {
				c.Series = append(c.Series, s)
			}
		}
		c.Title, c.Subtitle = "Warm-up at size "+count(int64(z.Size)), "thrown away; one line a fresh process"
	}
	return figure{Name: file + "-warmup", Chart: c, Alt: c.Title + ": time per iteration of each fork until it settled."}, len(c.Series) > 0
}

func forkTable(b *result.Microbenchmark) table {
	t := table{
		Caption: "Forks (fresh processes)",
		Cols:    []column{{"Size", true}, {"Place in the run", true}, {"Settled", false}, {"Warm-up iterations", true}, {"Iterations a sample", true}, {"Samples", true}, {"Least", true}, {"Most", true}},
	}
	for _, z := range b.Sizes {
		for _, f := range z.Forks {
			settled := badge{"No", "suspect"}
			if f.Settled {
				settled = badge{"Yes", "pass"}
			}
			least, most := na, na
			if len(f.SamplesNS) > 0 {
				lo, hi := f.SamplesNS[0], f.SamplesNS[0]
				for _, ns := range f.SamplesNS {
					lo, hi = min(lo, ns), max(hi, ns)
				}
				least, most = columnTime(lo), columnTime(hi)
			}
			t.Rows = append(t.Rows, []cell{
				{Text: count(int64(z.Size))}, {Text: count(int64(f.Order) + 1)}, {Badge: settled}, {Text: count(f.WarmupIterations)},
				{Text: count(f.SampleIterations)}, {Text: samples(int64(len(f.SamplesNS)))}, {Text: least}, {Text: most},
			})
		}
	}
	return t
}
