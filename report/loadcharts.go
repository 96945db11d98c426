package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/perfplan/perfplan/report/chart"
	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// limitsOf are the limits that SLOs set to response times (of the given quantile; -1 for all), as lines of a chart.
func limitsOf(st *result.Stage, quantile float64) []chart.Limit {
	var out []chart.Limit
	for _, s := range st.SLO {
		q := quantileOf(s.Metric)
		if s.Unit != "ns" || q < 0 || len(s.Metric) == 0 || s.Metric[0] != 'p' || quantile >= 0 && q != quantile {
			continue
		}
		l := chart.Limit{Label: "SLO " + s.Text, Value: s.Limit}
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}

// rateChart draws response-time percentiles against the offered rate, one point a segment. Ramps, which have no one
// rate, are left out. ok is false with fewer than two rates.
func rateChart(l *result.Load, st *result.Stage, file string) (f figure, ok bool) {
	var flat []result.Segment
	seen := map[float64]bool{}
	for _, s := range l.Segments {
		if (s.Kind == "hold" || s.Kind == "step") && s.Offered > 0 {
			flat = append(flat, s)
			seen[s.FromPerS] = true
		}
	}
	if len(seen) < 2 {
		return figure{}, false
	}
	slices.SortStableFunc(flat, func(a, b result.Segment) int { return cmp.Compare(a.FromPerS, b.FromPerS) })
	c := chart.Chart{
		Title: "Response time against offered rate", Subtitle: "one point a segment, ramps left out",
		X: chart.Axis{Label: "offered rate", Unit: chart.Rate}, Y: chart.Axis{Label: "response time", Unit: chart.Duration, Log: true},
		Limits: limitsOf(st, -1),
	}
	for _, q := range []struct {
		name string
		pick func(result.Distribution) *int64
	}{
		{"p50", func(d result.Distribution) *int64 { return d.P50NS }},
		{"p90", func(d result.Distribution) *int64 { return d.P90NS }},
		{"p99", func(d result.Distribution) *int64 { return d.P99NS }},
		{"most", func(d result.Distribution) *int64 { return d.MaxNS }},
	} {
		s := chart.Series{Name: q.name}
		for _, seg := range flat {
			s.X, s.Y = append(s.X, seg.FromPerS), append(s.Y, gap(floatOf(q.pick(seg.Response))))
			s.Labels = append(s.Labels, seg.Name)
		}
		c.Series = append(c.Series, s)
	}
	lo, hi := flat[0], flat[len(flat)-1]
	alt := fmt.Sprintf("Response time by offered rate: p99 is %s at %s and %s at %s.", timeOf(lo.Response, lo.Response.P99NS), perSecond(lo.FromPerS),
		timeOf(hi.Response, hi.Response.P99NS), perSecond(hi.FromPerS))
	return figure{Name: file + "-rate", Chart: c, Alt: alt}, true
}

// spectrumChart draws all percentiles of response and service time.
func spectrumChart(l *result.Load, st *result.Stage, file string) (f figure, ok bool) {
	c := chart.Chart{
		Title: "Percentile spectrum", Subtitle: "response counts from the intended time, service from the send",
		X: chart.Axis{Label: "percentile", Unit: chart.Quantile}, Y: chart.Axis{Label: "time", Unit: chart.Duration, Log: true},
	}
	for _, row := range []struct {
		name string
		d    result.Distribution
	}{{"response", l.Response}, {"service", l.Service}} {
		s := spectrum(row.name, row.d)
		if len(s.X) > 0 {
			c.Series = append(c.Series, s)
		}
	}
	if len(c.Series) == 0 {
		return figure{}, false
	}
	c.Limits = limitsOf(st, -1)
	if from := l.Response.CensoredFromNS; from != nil {
		c.Notes = append(c.Notes, "Times from "+duration(float64(*from))+" up are lower bounds: no answer came while the generator waited.")
	}
	alt := fmt.Sprintf("All percentiles: response p50 %s, p99 %s, most %s; service p50 %s, p99 %s, most %s.",
		timeOf(l.Response, l.Response.P50NS), timeOf(l.Response, l.Response.P99NS), timeOf(l.Response, l.Response.MaxNS),
		timeOf(l.Service, l.Service.P50NS), timeOf(l.Service, l.Service.P99NS), timeOf(l.Service, l.Service.MaxNS))
	return figure{Name: file + "-spectrum", Chart: c, Alt: alt}, true
}

// spectrum reads a distribution's histogram; one that is damaged gives no points.
func spectrum(name string, d result.Distribution) chart.Series {
	s := chart.Series{Name: name}
	h, err := hist.Decode(d.Histogram)
	if err != nil {
		return s
	}
	for _, p := range h.Spectrum() {
		ns := p.Value
		if d.MinNS != nil && d.MaxNS != nil {
			ns = min(max(ns, *d.MinNS), *d.MaxNS)
		}
		s.X, s.Y = append(s.X, p.Quantile), append(s.Y, float64(ns))
	}
	return s
}

// bands are the segments of a load stage as stretches of time, or its rounds.
func bands(l *result.Load) []chart.Band {
	if l == nil || len(l.Segments) < 2 && l.Rounds < 2 {
		return nil
	}
	if l.Rounds > 1 {
		out := make([]chart.Band, 0, l.Rounds)
		for i, start := range l.RoundStartsNS {
			end := int64(len(l.Series)) * 1e9
			if i+1 < len(l.RoundStartsNS) {
				end = l.RoundStartsNS[i+1]
			}
			out = append(out, chart.Band{Name: fmt.Sprintf("round %d", i+1), From: float64(start), To: float64(end)})
		}
		return out
	}
	out := make([]chart.Band, 0, len(l.Segments))
	for _, s := range l.Segments {
		out = append(out, chart.Band{Name: s.Name, From: float64(s.StartNS), To: float64(s.StartNS + s.DurationNS)})
	}
	return out
}

// seriesPart draws the stage second by second.
func seriesPart(l *result.Load, st *result.Stage, file string) (p part, ok bool) {
	if len(l.Series) == 0 {
		return part{}, false
	}
	p = part{Title: "Second by second", Charts: secondCharts(l, st, file)}
	if l.Audit.MaxInFlight > fewInFlight {
		p.Charts = append(p.Charts, flightChart(l, file))
	}
	return p, true
}

// fewInFlight is the largest number of requests in flight that makes no chart worth looking at.
const fewInFlight = 2

// secondCharts are the charts of response times and, when a whole second was offered, of counts.
func secondCharts(l *result.Load, st *result.Stage, file string) []figure {
	charts := []figure{timeChart(l, st, file)}
	if len(wholeSeconds(l)) > 0 {
		charts = append(charts, countChart(l, file))
	}
	return charts
}

// offeredSeconds are those that began while requests were offered, not while the stage drained.
func offeredSeconds(l *result.Load) []result.Second {
	return slices.DeleteFunc(slices.Clone(l.Series), func(s result.Second) bool { return s.TNS >= l.DurationNS })
}

// wholeSeconds are the offered ones without a last one that was cut short, whose counts are not those of a second. What
// is cut by less than a twentieth counts as whole.
func wholeSeconds(l *result.Load) []result.Second {
	return slices.DeleteFunc(slices.Clone(l.Series), func(s result.Second) bool { return s.TNS+950e6 > l.DurationNS })
}

func timeChart(l *result.Load, st *result.Stage, file string) figure {
	seconds := offeredSeconds(l)
	c := chart.Chart{
		Title: "Response time over time", Subtitle: "of arrivals intended in each second",
		X: timeAxis(), Y: chart.Axis{Label: "response time", Unit: chart.Duration, Log: true},
		Limits: limitsOf(st, -1), Bands: bands(l),
	}
	c.Series = []chart.Series{
		perSecondSeries("p50", seconds, func(s result.Second) float64 { return gap(floatOf(s.P50NS)) }),
		perSecondSeries("p99", seconds, func(s result.Second) float64 { return gap(floatOf(s.P99NS)) }),
		perSecondSeries("most", seconds, func(s result.Second) float64 { return gap(floatOf(s.MaxNS)) }),
	}
	return figure{Name: file + "-time", Chart: c, Alt: fmt.Sprintf("p50, p99 and the longest response time of each of %s.", counted(int64(len(seconds)), "second"))}
}

func countChart(l *result.Load, file string) figure {
	seconds := wholeSeconds(l)
	c := chart.Chart{Title: "Requests a second", Subtitle: "offered by intended time, ends by the time they came", X: timeAxis(), Y: chart.Axis{Label: "requests", Unit: chart.Rate}, Bands: bands(l)}
	c.Series = []chart.Series{
		perSecondSeries("offered", seconds, func(s result.Second) float64 { return float64(s.Offered) }),
		perSecondSeries("completed", seconds, func(s result.Second) float64 { return float64(s.Completed) }),
		perSecondSeries("failed", seconds, func(s result.Second) float64 { return float64(s.Failed) }),
	}
	c.Series[0].Role = chart.Reference
	if l.Dropped > 0 {
		c.Series = append(c.Series, perSecondSeries("dropped", seconds, func(s result.Second) float64 { return float64(s.Dropped) }))
	}
	return figure{Name: file + "-counts", Chart: c, Alt: fmt.Sprintf("Offered, completed and failed requests of each second; in all %s offered, %s completed, %s failed.",
		count(l.Offered), count(l.Completed), count(l.Failed))}
}

func flightChart(l *result.Load, file string) figure {
	c := chart.Chart{Title: "Requests in flight", Subtitle: "at the end of each second", X: timeAxis(), Y: chart.Axis{Label: "in flight", Unit: chart.Count}, Bands: bands(l)}
	c.Series = []chart.Series{perSecondSeries("in flight", offeredSeconds(l), func(s result.Second) float64 { return float64(s.InFlight) })}
	c.Notes = append(c.Notes, fmt.Sprintf("Between these samples up to %s were in flight, %s on average.", count(l.Audit.MaxInFlight), number(l.Audit.MeanInFlight, 3)))
	if l.MaxInFlight > 0 && 2*l.Audit.MaxInFlight >= int64(l.MaxInFlight) {
		c.Limits = []chart.Limit{{Label: "max_in_flight", Value: float64(l.MaxInFlight)}}
	}
	return figure{Name: file + "-inflight", Chart: c, Alt: fmt.Sprintf("Requests in flight over time: at most %s, %s on average; the bound is %s.",
		count(l.Audit.MaxInFlight), number(l.Audit.MeanInFlight, 3), count(int64(l.MaxInFlight)))}
}

func perSecondSeries(name string, seconds []result.Second, pick func(result.Second) float64) chart.Series {
	s := chart.Series{Name: name, X: make([]float64, 0, len(seconds)), Y: make([]float64, 0, len(seconds))}
	for _, second := range seconds {
		s.X, s.Y = append(s.X, float64(second.TNS)), append(s.Y, pick(second))
	}
	return s
}
