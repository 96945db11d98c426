package report

import (
	"strconv"
	"strings"

	"github.com/perfplan/perfplan/runner/result"
)

func sloRows(st *result.Stage, anchor string) []sloRow {
	rows := make([]sloRow, 0, len(st.SLO))
	for _, s := range st.SLO {
		rows = append(rows, newSLO(s, st.Name, anchor))
	}
	return rows
}

func newSLO(s result.SLO, stage, anchor string) sloRow {
	q := quantityOf(s)
	row := sloRow{
		Stage: stage, Anchor: anchor, Text: s.Text, Badge: sloBadge(s),
		Value: sloValue(q, s.Value, s.Limit, s.Censored), Limit: strings.TrimSpace(s.Op + " " + q.limit(s.Limit)),
		Interval: interval(q, s.Interval, s.Metric), Samples: samples(s.Samples), Set: setOf(s), Segment: s.Segment, Reason: s.Reason,
	}
	if s.Relative != "" {
		row.Limit = s.Op + " " + s.Relative
	}
	if amongFailed(s, s.Value, s.Outcome, s.Samples) {
		row.Value = "failed"
	}
	if len(s.Segments) > 0 {
		row.Segments = segmentTable(s, q)
	}
	return row
}

// sloBadge is that of an SLO's state; of one that decides nothing it says so.
func sloBadge(s result.SLO) badge {
	switch {
	case s.Warn && s.Outcome == result.Fail:
		return badge{"Warning", "suspect"}
	case s.Warn && s.Outcome != result.Pass:
		return badge{"Undecided", "note"}
	}
	return stateBadge(s.State, s.Outcome)
}

func sloValue(q quantity, v *float64, limit float64, censored bool) string {
	if v == nil {
		return na
	}
	text := q.apart(*v, limit)
	if censored {
		return "≥ " + text
	}
	return text
}

// amongFailed reports whether a percentile of a failed SLO has no time because it lies among the requests that failed
// or were dropped.
func amongFailed(s result.SLO, v *float64, o result.Outcome, n int64) bool {
	return v == nil && o == result.Fail && n > 0 && s.Unit == "ns" && quantileOf(s.Metric) >= 0
}

func samples(n int64) string {
	if n == 0 {
		return na
	}
	return count(n)
}

// setOf says which requests an SLO's samples are.
func setOf(s result.SLO) string {
	if s.Samples == 0 {
		return ""
	}
	set := s.Set
	if set == "" && s.Unit == "ns" && quantileOf(s.Metric) >= 0 && !strings.HasPrefix(s.Metric, "time[") {
		set = "offered requests; failed ones count as over the limit"
	}
	if set == "" {
		return ""
	}
	if s.Samples == 1 {
		set = strings.Replace(set, "requests", "request", 1)
	}
	return "of " + count(s.Samples) + " " + set
}

// quantileOf reads the quantile of a metric like "p99.9" or "service p50"; -1 when it has none.
func quantileOf(metric string) float64 {
	i := strings.LastIndexByte(metric, ' ') + 1
	if digits, ok := strings.CutPrefix(metric[i:], "p"); ok {
		if p, err := strconv.ParseFloat(digits, 64); err == nil && p >= 0 && p <= 100 {
			return p / 100
		}
	}
	return -1
}

// interval shows a confidence interval; one of the share over the limit says so below, with the share that the
// metric's percentile allows.
func interval(q quantity, iv *result.Interval, metric string) cell {
	if iv == nil || iv.Lo == nil && iv.Hi == nil {
		return cell{Text: na}
	}
	show, sub := q.show, ""
	if iv.Of == "change" {
		show, sub = percent, "change from the baseline"
	} else if iv.Of != "value" {
		show, sub = percent, "over the limit"
		if p := quantileOf(metric); p >= 0 {
			sub += "; allowed " + percent(1-p)
		}
	}
	switch {
	case iv.Lo == nil:
		return cell{Text: "up to " + show(*iv.Hi), Sub: sub}
	case iv.Hi == nil:
		return cell{Text: "from " + show(*iv.Lo), Sub: sub}
	}
	lo, hi := show(*iv.Lo), show(*iv.Hi)
	if unit := hi[strings.IndexByte(hi, ' ')+1:]; q.per != "" && len(unit) < len(hi) {
		lo = strings.TrimSuffix(lo, " "+unit) // the long unit once
	}
	return cell{Text: lo + " to " + hi, Sub: sub}
}

// line is the cell's text in one line.
func (c cell) line() string { return strings.TrimSpace(c.Text + " " + c.Sub) }

func segmentTable(s result.SLO, q quantity) table {
	t := table{
		Caption: "Segments: " + s.Text,
		Cols:    []column{{"Segment", false}, {"Outcome", false}, {"Value", true}, {"Interval", false}, {"Samples", true}, {"Reason", false}},
	}
	for _, p := range s.Segments {
		value := sloValue(q, p.Value, s.Limit, p.Censored)
		if amongFailed(s, p.Value, p.Outcome, p.Samples) {
			value = "failed"
		}
		t.Rows = append(t.Rows, []cell{
			{Text: orText(p.Segment, "whole stage")},
			{Badge: stateBadge(p.State, p.Outcome)},
			{Text: value},
			interval(q, p.Interval, s.Metric),
			{Text: samples(p.Samples)},
			{Text: p.Reason},
		})
	}
	return t
}
