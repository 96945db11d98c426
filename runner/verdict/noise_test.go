package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// likeRuns are runs of a load stage whose times scatter by a spread, and in the first a comparison of versions whose pairs do.
func likeRuns(t *testing.T, n int, spread float64, slos []plans.SLO) (*plans.Plan, []*result.Result) {
	t.Helper()
	r := rand.New(rand.NewPCG(3, 3))
	cmp := &plans.Compare{Margin: 0.05, Pairs: 12, Metrics: []plans.Metric{{Kind: plans.Quantile, Clock: plans.Response, Quantile: 0.5}}}
	p := &plans.Plan{Stages: []*plans.Stage{{Name: "s", Work: &plans.Load{}, SLOs: slos}, {Name: "v", Work: cmp}}}
	var runs []*result.Result
	for i := range n {
		serv := int64(float64(10*ms) * math.Exp(spread*r.NormFloat64()))
		st := judge(t, slos, nil, sample{n: 1000, serv: serv})
		run := &result.Result{RunID: fmt.Sprint(i), Stages: []result.Stage{*st}}
		if i == 0 {
			c := &result.Comparison{}
			for range 12 {
				base, now := 1e6*math.Exp(spread*r.NormFloat64()/math.Sqrt2), 1.3e6*math.Exp(spread*r.NormFloat64()/math.Sqrt2)
				c.Pairs = append(c.Pairs, result.ComparedPair{Base: result.ComparedRun{Values: []*float64{&base}}, New: result.ComparedRun{Values: []*float64{&now}}})
			}
			run.Stages = append(run.Stages, result.Stage{Name: "v", Kind: "compare", State: result.Complete, Comparison: c})
		}
		runs = append(runs, run)
	}
	return p, runs
}

func TestCalibrate(t *testing.T) {
	slos := parse(t, "p99 <= baseline + 2%", "p99 <= baseline + 60%", "p50 < 20ms", "p50 < 10ms")
	p, runs := likeRuns(t, 12, 0.03, slos)
	noise, tries := Calibrate(p, runs)
	by := map[string]result.Noise{}
	for _, n := range noise {
		by[n.Stage+" "+n.Metric] = n
	}
	n := by["s p99"]
	if n.Of != 12 || n.FalseAlarms > 2 || n.Spread < 0.015 || n.Spread > 0.05 || n.Visible < 0.05 || n.Visible > 0.25 {
		t.Errorf("p99 of runs that scatter by 3 %%: %+v", n)
	}
	// Versions that differ by 30 % in fact: only how their pairs scatter counts.
	v := by["v p50"]
	if v.Of != resamples || v.FalseAlarms > 20 || v.Passes < 0.8 || v.Visible < 0.05 || v.Visible > 0.15 || v.Spread < 0.015 || v.Spread > 0.05 {
		t.Errorf("pairs that scatter by 3 %%: %+v", v)
	}
	if len(tries) != 2 || tries[0].Passed != 12 || tries[0].Visible == nil || *tries[0].Visible < 0.8 || *tries[0].Visible > 1.3 {
		t.Errorf("p50 < 20ms of 10 ms: %+v", tries)
	}
	if tr := tries[1]; tr.Passed == 0 || tr.Failed == 0 || tr.Passed+tr.Failed+tr.Undecided != 12 {
		t.Errorf("p50 < 10ms of about 10 ms: %+v", tr)
	}
	said := BelowNoise(p, &result.Calibration{Noise: noise, SLOs: tries}).Error()
	if !strings.Contains(said, `"p99 <= baseline + 2%"`) || strings.Contains(said, "60%") || strings.Contains(said, "20ms") || !strings.Contains(said, `like runs`) || !strings.Contains(said, `"p50 < 10ms"`) || strings.Contains(said, "margin") {
		t.Errorf("warnings:\n%s", said)
	}

	p, runs = likeRuns(t, 12, 0.3, slos)
	noise, tries = Calibrate(p, runs)
	said = BelowNoise(p, &result.Calibration{Noise: noise, SLOs: tries}).Error()
	if !strings.Contains(said, "compare.margin") || !strings.Contains(said, "60%") {
		t.Errorf("warnings of runs that scatter by 30 %%:\n%s", said)
	}

	// Too few runs for a figure, none for a stage.
	p, runs = likeRuns(t, LeastCalibration-1, 0.03, slos)
	if noise, _ := Calibrate(p, runs); len(noise) != 1 || noise[0].Stage != "v" {
		t.Errorf("noise of %d runs: %+v, want that of the pairs alone", LeastCalibration-1, noise)
	}
	if noise, tries := Calibrate(p, nil); noise != nil || tries != nil {
		t.Errorf("of no run: %v, %v", noise, tries)
	}
}
