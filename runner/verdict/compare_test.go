package verdict

import (
	"testing"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// loadRun is a run with one load stage of a segment with these percentiles, in ms, and throughput.
func loadRun(t *testing.T, p50, p99, throughput float64) *result.Result {
	h := hist.New()
	h.RecordN(int64(p50*1e6), 880)
	h.RecordN(int64(p99*1e6), 120)
	d := distribution(t, h)
	c := result.Counts{Offered: 1000, Sent: 1000, Completed: 1000}
	return &result.Result{Stages: []result.Stage{{Name: "hold", Kind: "load", State: result.Complete,
		Load: &result.Load{Counts: c, ThroughputPerS: throughput, Response: d, Segments: []result.Segment{{Name: "hold 100/s", Counts: c, Response: d}}}}}}
}

func TestCompareRuns(t *testing.T) {
	var old []*result.Result
	for i := range 6 {
		f := 1 + 0.01*float64(i%3)
		old = append(old, loadRun(t, 5*f, 20*f, 100*f))
	}
	find := func(ds []Delta, metric string) Delta {
		for _, d := range ds {
			if d.Metric == metric {
				return d
			}
		}
		t.Fatalf("no %s in %+v", metric, ds)
		return Delta{}
	}
	for _, tt := range []struct {
		now             *result.Result
		p50, throughput string
	}{
		{loadRun(t, 5.05, 20.2, 101), result.DeltaSame, result.DeltaSame},
		{loadRun(t, 6, 20.2, 101), result.DeltaSlower, result.DeltaSame},
		{loadRun(t, 4, 20.2, 101), result.DeltaFaster, result.DeltaSame},
		{loadRun(t, 5.05, 20.2, 80), result.DeltaSame, result.DeltaSlower},
		{loadRun(t, 5.05, 20.2, 120), result.DeltaSame, result.DeltaFaster},
	} {
		ds := CompareRuns(old, tt.now, 0.05)
		if p, th := find(ds, "p50"), find(ds, "throughput"); p.Verdict != tt.p50 || th.Verdict != tt.throughput || p.Interval == nil || p.Segment != "hold 100/s" {
			t.Errorf("p50 %s by %v, throughput %s by %v, want %s, %s", p.Verdict, p.Change, th.Verdict, th.Change, tt.p50, tt.throughput)
		}
	}
	for _, d := range CompareRuns(old[:4], loadRun(t, 50, 200, 10), 0.05) { // so few runs say nothing of how runs differ
		if d.Verdict != result.DeltaUnclear || d.Interval != nil {
			t.Errorf("against 4 runs: %+v", d)
		}
	}
	few := loadRun(t, 5, 20, 100)
	few.Stages[0].Load.Segments[0].Offered = 298
	for _, d := range CompareRuns(old, few, 0.05) {
		if d.Metric == "p99" {
			t.Errorf("p99 of 298 samples: %+v", d)
		}
	}
	if ds := CompareRuns(old, &result.Result{Stages: []result.Stage{{Name: "other", Kind: "load", State: result.Complete, Load: old[0].Stages[0].Load}}}, 0.05); len(ds) != 0 {
		t.Errorf("another stage: %+v", ds)
	}
}
