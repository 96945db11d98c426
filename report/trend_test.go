package report

import (
	"bytes"
	"strings"
	"testing"
)

func TestWriteTrend(t *testing.T) {
	tr := Trend{Title: "<b>plan</b>", Notices: []string{"<i>note</i>"}}
	for range 70 {
		tr.Runs = append(tr.Runs, "2026-12-01 10:00:00 abc</script>")
	}
	var s TrendSeries
	for i := range 70 {
		s.Runs, s.Values = append(s.Runs, i), append(s.Values, 5e6)
	}
	s.Unit = "ns"
	for i := range 65 {
		s.Name = strings.Repeat("x", i+1)
		s.Points = nil
		if i == 64 {
			s.Points = []TrendPoint{{Run: 40, Before: 5e6, After: 6e6, Change: 0.2}}
		}
		tr.Series = append(tr.Series, s)
	}
	var b bytes.Buffer
	if err := WriteTrend(&b, tr); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	for _, want := range []string{"70 runs, 65 figures; 1 change of level.", "+20.0%", "5 ms", "6 ms", "5 more figures without a change of level have no chart here.", "&lt;b&gt;plan"} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if n := strings.Count(page, `class="chart"`); n != maxTrendCharts {
		t.Errorf("%d charts, want %d", n, maxTrendCharts)
	}
	for _, bad := range []string{"<b>plan", "<i>note", "abc</script>"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q is in the page as it is", bad)
		}
	}
	if first := strings.Index(page, "<figure>"); !strings.Contains(page[first:first+4000], strings.Repeat("x", 65)) {
		t.Error("the series with a change is not the first")
	}
	if err := WriteTrend(&b, Trend{}); err != nil {
		t.Errorf("nothing: %v", err)
	}
}
