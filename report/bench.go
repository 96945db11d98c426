package report

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/perfplan/perfplan/report/chart"
	"github.com/perfplan/perfplan/runner/result"
)

func benchParts(b *result.Microbenchmark, file string) []part {
	curve := part{Title: "By size"}
	if len(b.Fits) > 1 {
		for _, f := range b.Fits {
			curve.Lines = append(curve.Lines, f.Settings.String()+": "+fitLine(&f))
		}
	}
	if text := referenceLine(b); text != "" {
		curve.Lines = append(curve.Lines, text)
	}
	if b.OverheadNS != nil {
		curve.Lines = append(curve.Lines, "An empty shell takes "+duration(*b.OverheadNS)+", which is taken off all times.")
	}
	curve.Lines = append(curve.Lines, outlierLine(b))
	if curved(b) {
		curve.Charts = append(curve.Charts, benchChart(b, file))
	} else {
		curve.Title = "Times"
	}
	curve.Tables = append(curve.Tables, sizeTable(b))
	if f, ok := residualChart(b, file); ok {
		curve.Charts = append(curve.Charts, f)
	}
	if f, ok := spreadChart(b, file); ok {
		curve.Charts = append(curve.Charts, f)
	}
	if t, ok := costTable(b); ok {
		curve.Tables = append(curve.Tables, t)
	}
	parts := []part{curve}
	if b.Baseline != nil {
		parts = append(parts, deltaPart(b.Baseline))
	}
	if b.Kind == "results" {
		return parts
	}
	warm := part{Title: "Warm-up of the forks", Lines: []string{forksLine(b)}}
	if f, ok := warmupChart(b, file); ok {
		warm.Charts = append(warm.Charts, f)
	}
	warm.More = append(warm.More, forkTable(b))
	warm.Lines = append(warm.Lines, fmt.Sprintf("Command: %s. Planned: %s a size with %s each, at least %s a sample; order of the forks from seed %d.",
		orText(b.Command, na), counted(int64(b.Forks), "fork"), counted(int64(b.Samples), "sample"), duration(float64(b.MinTimeNS)), b.Seed))
	return append(parts, warm)
}

// curved tells whether there are sizes to draw a curve over.
func curved(b *result.Microbenchmark) bool {
	for _, set := range settingsOf(b) {
		if len(cellsOf(b, set)) > 1 {
			return true
		}
	}
	return len(b.Sizes) == 0 || b.Reference != nil
}

// settingsOf are the distinct combinations of settings.
func settingsOf(b *result.Microbenchmark) (all []result.Settings) {
	for _, z := range b.Sizes {
		if !slices.ContainsFunc(all, func(s result.Settings) bool { return slices.Equal(s, z.Settings) }) {
			all = append(all, z.Settings)
		}
	}
	return all
}

func cellsOf(b *result.Microbenchmark, set result.Settings) (all []result.Size) {
	for _, z := range b.Sizes {
		if slices.Equal(z.Settings, set) {
			all = append(all, z)
		}
	}
	return all
}

// benchBrief says in a line how time grows.
func benchBrief(b *result.Microbenchmark) string {
	switch n := len(settingsOf(b)); {
	case len(b.Fits) == 1 && n == 1:
		return fitLine(&b.Fits[0])
	case len(b.Fits) > 0:
		return fmt.Sprintf("%s over %s; the fit of each is below.", counted(int64(len(b.Sizes)), "measurement"), counted(int64(n), "combination"))
	case len(b.Sizes) == 1 && b.Sizes[0].P50NS != nil:
		return "Median " + duration(*b.Sizes[0].P50NS) + "."
	case len(b.Sizes) == 0:
		return "Nothing was measured."
	case n > 1:
		return fmt.Sprintf("%s over %s.", counted(int64(len(b.Sizes)), "measurement"), counted(int64(n), "combination"))
	}
	return fitLine(nil)
}

// causes are the words for what makes outliers.
var causes = []struct{ code, text string }{
	{result.CauseGC, "garbage collection"}, {result.CauseCPU, "waiting for a core"}, {result.CauseSteal, "cores taken by the machine's host"}, {result.CauseUnknown, "cause unknown"},
}

func outlierLine(b *result.Microbenchmark) string {
	byCause := map[string]int64{}
	all := int64(0)
	for _, z := range b.Sizes {
		for _, o := range z.Outliers {
			byCause[o.Cause]++
			all++
		}
	}
	if all == 0 {
		return "No sample lies far above the others of the same size."
	}
	var parts []string
	for _, c := range causes {
		if n := byCause[c.code]; n > 0 {
			parts = append(parts, fmt.Sprintf("%s %s", count(n), c.text))
		}
	}
	verb := "lie"
	if all == 1 {
		verb = "lies"
	}
	return fmt.Sprintf("%s %s far above the others of the same size (%s). All are in the figures.", counted(all, "sample"), verb, strings.Join(parts, ", "))
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

func benchChart(b *result.Microbenchmark, file string) figure {
	c := chart.Chart{
		Title: "Time per iteration by size", Subtitle: "median with its interval over forks",
		X: chart.Axis{Label: "size (rows)", Unit: chart.Count}, Y: chart.Axis{Label: "time per iteration", Unit: chart.Duration},
	}
	sets := settingsOf(b)
	color := 0
	for _, set := range sets {
		color = color%chart.Colors + 1
		s := chart.Series{Name: "median", Color: color, Style: chart.Points}
		if len(sets) > 1 {
			s.Name = set.String()
		}
		f := b.Fit(set)
		if f == nil || len(f.Points) == 0 {
			s.Style = chart.Line
		}
		for _, z := range cellsOf(b, set) {
			lo, hi := math.NaN(), math.NaN()
			if z.Interval != nil && z.Interval.Of == "value" {
				lo, hi = gap(z.Interval.Lo), gap(z.Interval.Hi)
			}
			s.X, s.Y = append(s.X, float64(z.Size)), append(s.Y, gap(z.P50NS))
			s.Lo, s.Hi = append(s.Lo, lo), append(s.Hi, hi)
		}
		c.Series = append(c.Series, s)
		if s.Style == chart.Points {
			line := chart.Series{Name: "fit: " + f.Class, Color: color, Role: chart.Fitted}
			if len(sets) > 1 {
				line.Name = set.String() + ", fit: " + f.Class
			}
			for _, p := range f.Points {
				line.X, line.Y = append(line.X, float64(p.Size)), append(line.Y, p.TimeNS)
			}
			c.Series = append(c.Series, line)
		}
		if base := b.Baseline; base != nil {
			was := chart.Series{Name: "baseline", Role: chart.Reference, Color: color}
			for _, d := range base.Cells {
				if slices.Equal(d.Settings, set) {
					was.X, was.Y = append(was.X, float64(d.Size)), append(was.Y, d.BaseNS)
				}
			}
			if len(was.X) > 1 {
				c.Series = append(c.Series, was)
			}
		}
	}
	if len(sets) == 0 {
		c.Series = append(c.Series, chart.Series{Name: "median"})
	}
	if n := len(b.Sizes); n > 2 && b.Sizes[n-1].Size >= 50*max(b.Sizes[0].Size, 1) {
		c.X.Log, c.Y.Log = true, true
	}
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
		alt += fmt.Sprintf(": %s at %s, %s at %s", orNA(first.P50NS, duration), cellName(first), orNA(last.P50NS, duration), cellName(last))
	}
	return figure{Name: file + "-sizes", Chart: c, Alt: alt + "."}
}

// cellName names a cell in a text.
func cellName(z result.Size) string {
	switch {
	case len(z.Settings) == 0 && z.Size > 0:
		return count(int64(z.Size))
	case z.Name() == "":
		return "the only size"
	}
	return z.Name()
}

// residualChart shows how far the medians are off the fit.
func residualChart(b *result.Microbenchmark, file string) (figure, bool) {
	c := chart.Chart{
		Title: "What the fit leaves over", Subtitle: "median ÷ fit − 1",
		X: chart.Axis{Label: "size (rows)", Unit: chart.Count}, Y: chart.Axis{Label: "off the fit", Unit: chart.Percent},
	}
	most := 0.0
	for _, f := range b.Fits {
		s := chart.Series{Name: orText(f.Settings.String(), f.Class), Style: chart.Points}
		for _, p := range f.Points {
			s.X, s.Y = append(s.X, float64(p.Size)), append(s.Y, p.Residual)
			most = max(most, math.Abs(p.Residual))
		}
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	if n := len(b.Sizes); n > 2 && b.Sizes[n-1].Size >= 50*max(b.Sizes[0].Size, 1) {
		c.X.Log = true
	}
	reach := max(1.25*most, 0.02)
	least := -reach
	c.Y.Min, c.Y.Max = &least, &reach
	return figure{Name: file + "-residuals", Chart: c, Alt: "How far the median of each size is off the fit: at most " + percent(most) + "."}, len(c.Series) > 0
}

// spreadChart shows every sample, in relation to the median of its size.
func spreadChart(b *result.Microbenchmark, file string) (figure, bool) {
	c := chart.Chart{
		Title: "Every sample", Subtitle: "÷ median of its size; a colour a fork",
		X: chart.Axis{Label: "size (rows)", Unit: chart.Count}, Y: chart.Axis{Label: "sample ÷ median − 1", Unit: chart.Percent},
	}
	forks := 0
	for _, z := range b.Sizes {
		forks = max(forks, len(z.Forks))
	}
	points := 0
	named := len(settingsOf(b)) > 1 || len(b.Sizes) == 1
	for j := range min(forks, chart.Colors) {
		s := chart.Series{Name: fmt.Sprintf("fork %d", j+1), Style: chart.Points, Color: j + 1}
		for i, z := range b.Sizes {
			if z.P50NS == nil || *z.P50NS <= 0 {
				continue
			}
			x := float64(z.Size)
			if named {
				x = float64(i)
			}
			for k := j; k < len(z.Forks); k += chart.Colors {
				for _, ns := range z.Forks[k].SamplesNS {
					s.X, s.Y = append(s.X, x), append(s.Y, ns / *z.P50NS - 1)
					points++
				}
			}
		}
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	if named {
		for _, z := range b.Sizes {
			name := z.Settings.String()
			if z.Size > 0 {
				name = strings.TrimSpace(name + " " + count(int64(z.Size)))
			}
			c.X.Categories = append(c.X.Categories, name)
		}
		c.X.Label = ""
	} else if n := len(b.Sizes); n > 2 && b.Sizes[n-1].Size >= 50*max(b.Sizes[0].Size, 1) {
		c.X.Log = true
	}
	return figure{Name: file + "-samples", Chart: c, Alt: counted(int64(points), "sample") + " in relation to the median of their size."}, points > 0 && points <= maxSpread
}

// maxSpread bounds the points of a chart of all samples.
const maxSpread = 20_000

// columnsOf begins a table of cells: the settings and the size, where there are any.
func columnsOf(b *result.Microbenchmark) (cols []column, row func(set result.Settings, size int) []cell) {
	var names []string
	sized := false
	for _, z := range b.Sizes {
		sized = sized || z.Size > 0
		for _, s := range z.Settings {
			if !slices.Contains(names, s.Name) {
				names = append(names, s.Name)
			}
		}
	}
	for _, n := range names {
		cols = append(cols, column{n, false})
	}
	if sized || len(names) == 0 {
		cols = append(cols, column{"Size", true})
	}
	return cols, func(set result.Settings, size int) (cells []cell) {
		for _, n := range names {
			text := na
			for _, s := range set {
				if s.Name == n {
					text = s.Value
				}
			}
			cells = append(cells, cell{Text: text})
		}
		if sized || len(names) == 0 {
			text := na
			if size > 0 {
				text = count(int64(size))
			}
			cells = append(cells, cell{Text: text})
		}
		return cells
	}
}

func sizeTable(b *result.Microbenchmark) table {
	cols, begin := columnsOf(b)
	t := table{
		Caption: "Time per iteration of each size",
		Cols: append(cols, []column{{"Samples", true}, {"Median", true}, {"Interval of the median", true}, {"Mean", true}, {"Least", true},
			{"p90", true}, {"p99", true}, {"Most", true}, {"Smallest change seen", true}}...),
	}
	ratio := ratios(b)
	if b.Reference != nil {
		t.Cols = append(t.Cols, column{"Reference", true}, column{"Reference ÷ median", true})
	}
	for _, z := range b.Sizes {
		row := append(begin(z.Settings, z.Size), []cell{
			{Text: samples(z.Samples)}, {Text: orNA(z.P50NS, columnTime)},
			interval(quantity{unit: "ns", scale: scaleOf(timeScales, zero(z.P50NS))}, z.Interval, "p50"),
			{Text: orNA(z.MeanNS, columnTime)}, {Text: orNA(z.MinNS, columnTime)}, {Text: orNA(z.P90NS, columnTime)}, {Text: orNA(z.P99NS, columnTime)},
			{Text: orNA(z.MaxNS, columnTime)}, {Text: orNA(z.Visible, percent)},
		}...)
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

// costTable is what an iteration costs besides time, as far as any of it is known.
func costTable(b *result.Microbenchmark) (t table, ok bool) {
	perIteration := func(v float64) string { return number(v, 4) }
	all := []struct {
		name string
		show func(float64) string
		of   func(result.Size) *float64
	}{
		{"Allocated", size, func(z result.Size) *float64 { return z.AllocBytes }},
		{"Allocations", perIteration, func(z result.Size) *float64 { return z.Allocs }},
		{"Garbage collections", perIteration, func(z result.Size) *float64 { return z.GCs }},
		{"Their pauses", columnTime, func(z result.Size) *float64 { return z.GCPauseNS }},
		{"CPU time", columnTime, func(z result.Size) *float64 { return z.CPUNS }},
		{"Instructions", perIteration, func(z result.Size) *float64 { return z.Instructions }},
		{"Cycles", perIteration, func(z result.Size) *float64 { return z.Cycles }},
	}
	cols, begin := columnsOf(b)
	t = table{Caption: "What an iteration costs besides (n/a: not reported, or not to be counted on this machine)", Cols: cols}
	for _, f := range all {
		t.Cols = append(t.Cols, column{f.name, true})
	}
	t.Cols = append(t.Cols, column{"Most memory of a fork", true})
	for _, z := range b.Sizes {
		row := begin(z.Settings, z.Size)
		for _, f := range all {
			v := f.of(z)
			ok = ok || v != nil
			row = append(row, cell{Text: orNA(v, f.show)})
		}
		memory := cell{Text: na}
		if z.RSSBytes != nil {
			memory.Text, ok = size(float64(*z.RSSBytes)), true
		}
		t.Rows = append(t.Rows, append(row, memory))
	}
	return t, ok
}

// deltaPart compares with stored runs.
func deltaPart(d *result.BenchBaseline) part {
	p := part{Title: "Compared with the baseline"}
	if len(d.Cells) > 0 {
		p.Lines = append(p.Lines, "Against "+deltaLine(d)+".")
	}
	if len(d.New) > 0 {
		p.Lines = append(p.Lines, "New, with nothing to compare: "+strings.Join(d.New, "; ")+".")
	}
	if len(d.Vanished) > 0 {
		p.Lines = append(p.Lines, "Only in the baseline: "+strings.Join(d.Vanished, "; ")+".")
	}
	var like result.Microbenchmark // only for its columns
	for _, c := range d.Cells {
		like.Sizes = append(like.Sizes, result.Size{Size: c.Size, Settings: c.Settings})
	}
	cols, begin := columnsOf(&like)
	t := table{Caption: "Median time per iteration against the baseline", Cols: append(cols, column{"Baseline", true}, column{"Now", true}, column{"Change", true}, column{"Interval of the change", true}, column{"", false})}
	for _, c := range d.Cells {
		kind := map[string]string{result.DeltaSlower: "fail", result.DeltaFaster: "pass", result.DeltaSame: "pass"}[c.Verdict]
		iv := cell{Text: na}
		if c.Interval != nil && c.Interval.Lo != nil && c.Interval.Hi != nil {
			iv.Text = change(*c.Interval.Lo) + " to " + change(*c.Interval.Hi)
		}
		t.Rows = append(t.Rows, append(begin(c.Settings, c.Size), cell{Text: columnTime(c.BaseNS)}, cell{Text: columnTime(c.NowNS)}, cell{Text: change(c.Change)}, iv,
			cell{Badge: badge{c.Verdict, orText(kind, "suspect")}}))
	}
	p.Tables = append(p.Tables, t)
	return p
}

// deltaLine counts the cells by what became of them.
func deltaLine(d *result.BenchBaseline) string {
	count := map[string]int64{}
	for _, c := range d.Cells {
		count[c.Verdict]++
	}
	var said []string
	for _, v := range []string{result.DeltaSlower, result.DeltaFaster, result.DeltaSame, result.DeltaUnclear} {
		if n := count[v]; n > 0 {
			said = append(said, fmt.Sprintf("%d %s", n, v))
		}
	}
	runs := "stored run " + strings.Join(d.Runs, ", ")
	if len(d.Runs) > 1 {
		runs = counted(int64(len(d.Runs)), "stored run")
	}
	return runs + ": " + strings.Join(said, ", ")
}

// change is a share with its sign.
func change(v float64) string {
	if v < 0 {
		return "−" + strconv.FormatFloat(-100*v, 'f', 1, 64) + "%"
	}
	return "+" + strconv.FormatFloat(100*v, 'f', 1, 64) + "%"
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
		if z.Size == 0 || len(z.Settings) > 0 {
			c.Title = strings.TrimSuffix("Warm-up of "+z.Name(), " of ")
		}
	}
	return figure{Name: file + "-warmup", Chart: c, Alt: c.Title + ": time per iteration of each fork until it settled."}, len(c.Series) > 0
}

func forkTable(b *result.Microbenchmark) table {
	cols, begin := columnsOf(b)
	t := table{
		Caption: "Forks (fresh processes)",
		Cols:    append(cols, []column{{"Place in the run", true}, {"Settled", false}, {"Warm-up iterations", true}, {"Iterations a sample", true}, {"Samples", true}, {"Least", true}, {"Most", true}}...),
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
			t.Rows = append(t.Rows, append(begin(z.Settings, z.Size), []cell{
				{Text: count(int64(f.Order) + 1)}, {Badge: settled}, {Text: count(f.WarmupIterations)},
				{Text: count(f.SampleIterations)}, {Text: samples(int64(len(f.SamplesNS)))}, {Text: least}, {Text: most},
			}...))
		}
	}
	return t
}
