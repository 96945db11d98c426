package report

import (
	"fmt"

	"github.com/perfplan/perfplan/report/chart"
	"github.com/perfplan/perfplan/runner/result"
)

func comparedBrief(c *result.Comparison) string {
	return fmt.Sprintf("%s against %s, margin %s, %s of up to %d.", orText(c.New, na), orText(c.Base, na), percent(c.Margin), counted(int64(len(c.Pairs)), "pair"), c.Most)
}

func comparedParts(c *result.Comparison, file string) []part {
	p := part{Title: "Pair by pair", Lines: []string{"Each run in a fresh process, the versions in the order base, new, new, base. Both get the same arrivals."}}
	shown := func(i int, v *float64) string {
		switch {
		case v == nil:
			return na
		case c.Metrics[i].Unit == "ns":
			return columnTime(*v)
		}
		return number(*v, 4) + "/s"
	}
	for i, m := range c.Metrics {
		ch := chart.Chart{Title: m.Metric + " of both versions", Subtitle: "one point a run", X: chart.Axis{Label: "pair", Unit: chart.Count}, Y: chart.Axis{Label: m.Metric, Unit: map[string]chart.Unit{"ns": chart.Duration, "per_s": chart.Rate}[m.Unit]}}
		base, now := chart.Series{Name: "base", Style: chart.Points}, chart.Series{Name: "new", Style: chart.Points}
		for k, pair := range c.Pairs {
			if pair.Left == "" && i < len(pair.Base.Values) && i < len(pair.New.Values) {
				base.X, base.Y = append(base.X, float64(k+1)), append(base.Y, gap(pair.Base.Values[i]))
				now.X, now.Y = append(now.X, float64(k+1)), append(now.Y, gap(pair.New.Values[i]))
			}
		}
		ch.Series = []chart.Series{base, now}
		p.Charts = append(p.Charts, figure{Name: fmt.Sprintf("%s-pairs-%d", file, i), Chart: ch, Alt: fmt.Sprintf("%s of the runs of both versions in %s.", m.Metric, counted(int64(len(c.Pairs)), "pair"))})
	}
	t := table{Caption: "The runs of each pair", Cols: []column{{"Pair", true}, {"First", false}}}
	for _, m := range c.Metrics {
		t.Cols = append(t.Cols, column{"Base " + m.Metric, true}, column{"New " + m.Metric, true}, column{"Change", true})
	}
	t.Cols = append(t.Cols, column{"Left out", false})
	for k, pair := range c.Pairs {
		first := "base"
		if pair.NewFirst {
			first = "new"
		}
		row := []cell{{Text: count(int64(k) + 1)}, {Text: first}}
		for i := range c.Metrics {
			var b, n *float64
			if i < len(pair.Base.Values) && i < len(pair.New.Values) {
				b, n = pair.Base.Values[i], pair.New.Values[i]
			}
			moved := na
			if b != nil && n != nil && *b > 0 {
				moved = change(*n / *b - 1)
			}
			row = append(row, cell{Text: shown(i, b)}, cell{Text: shown(i, n)}, cell{Text: moved})
		}
		t.Rows = append(t.Rows, append(row, cell{Text: pair.Left}))
	}
	p.Tables = append(p.Tables, t)
	return []part{p}
}
