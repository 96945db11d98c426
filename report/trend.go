package report

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"slices"

	"github.com/perfplan/perfplan/report/chart"
)

//go:embed trend.html
var trendHTML string

// A Trend is what a page of trends shows: series over runs, and where they changed.
type Trend struct {
	Title   string
	Notices []string
	Runs    []string // what each run is called, oldest first
	Series  []TrendSeries
}

// A TrendSeries is one figure over the runs.
type TrendSeries struct {
	Name   string
	Unit   string // ns, per_s or share
	Runs   []int  // indices of the runs that have it
	Values []float64
	Points []TrendPoint
}

// A TrendPoint is where the level of a series changed.
type TrendPoint struct {
	Run           int // first of the new level
	Before, After float64
	Change        float64 // 0.1 is 10 % more
}

// maxTrendCharts bounds the charts of a page: those with changes come first.
const maxTrendCharts = 60

// WriteTrend writes a page of trends. Like a report it needs no network, and can be read without script.
func WriteTrend(w io.Writer, t Trend) error {
	pages, err := template.New("page").Funcs(template.FuncMap{"svg": inlineSVG()}).Parse(pageHTML)
	if err != nil {
		return err
	}
	if pages, err = pages.New("trend").Parse(trendHTML); err != nil {
		return err
	}
	hash := sha256.Sum256([]byte(pageJS))
	page := struct {
		Title, Headline, CSP string
		Notices              []string
		Changes              table
		Figures              []figure
		Style                template.CSS
		JS                   template.JS
	}{
		Title: t.Title, Notices: t.Notices, Changes: levelTable(t),
		CSP: "default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; script-src 'sha256-" +
			base64.StdEncoding.EncodeToString(hash[:]) + "'",
		Style: template.CSS(pageCSS + chart.CSS()),
		JS:    template.JS(pageJS),
	}
	points := 0
	series := slices.Clone(t.Series)
	for _, s := range series {
		points += len(s.Points)
	}
	slices.SortStableFunc(series, func(a, b TrendSeries) int { return min(len(b.Points), 1) - min(len(a.Points), 1) })
	page.Headline = fmt.Sprintf("%s, %s; %s of level.", counted(int64(len(t.Runs)), "run"), counted(int64(len(series)), "figure"), counted(int64(points), "change"))
	for i, s := range series {
		if i == maxTrendCharts {
			page.Notices = append(page.Notices, fmt.Sprintf("%d more figures without a change of level have no chart here.", len(series)-i))
			break
		}
		page.Figures = append(page.Figures, trendChart(t, s, i))
	}
	var b bytes.Buffer
	if err := pages.Execute(&b, page); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

// shown is a value of the series in words.
func (s TrendSeries) shown(v float64) string {
	switch s.Unit {
	case "ns":
		return duration(v)
	case "share":
		return percent(v)
	}
	return number(v, 4) + "/s"
}

func levelTable(t Trend) table {
	out := table{Caption: "Where the level of a figure changed", Cols: []column{{"Figure", false}, {"First run", false}, {"Before", true}, {"After", true}, {"Change", true}}}
	for _, s := range t.Series {
		for _, p := range s.Points {
			out.Rows = append(out.Rows, []cell{{Text: s.Name}, {Text: t.Runs[p.Run]}, {Text: s.shown(p.Before)}, {Text: s.shown(p.After)}, {Text: change(p.Change)}})
		}
	}
	return out
}

func trendChart(t Trend, s TrendSeries, i int) figure {
	unit := map[string]chart.Unit{"ns": chart.Duration, "per_s": chart.Rate, "share": chart.Percent}[s.Unit]
	c := chart.Chart{Title: s.Name, X: chart.Axis{Label: "run", Unit: chart.Count}, Y: chart.Axis{Label: map[string]string{"ns": "time", "per_s": "requests a second", "share": "share"}[s.Unit], Unit: unit}}
	line := chart.Series{Name: s.Name}
	for k, v := range s.Values {
		line.X, line.Y, line.Labels = append(line.X, float64(s.Runs[k]+1)), append(line.Y, v), append(line.Labels, t.Runs[s.Runs[k]])
	}
	c.Series = append(c.Series, line)
	alt := fmt.Sprintf("%s over %s", s.Name, counted(int64(len(s.Values)), "run"))
	for _, p := range s.Points {
		c.Marks = append(c.Marks, chart.Mark{Label: change(p.Change), X: float64(p.Run + 1)})
		alt += fmt.Sprintf("; %s from run %d on", change(p.Change), p.Run+1)
	}
	return figure{Name: fmt.Sprintf("trend-%d", i), Chart: c, Alt: alt + "."}
}
