package verdict

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// inPairs is a comparison whose pairs have these ratios of p50 and throughput, new ÷ base.
func inPairs(p50, throughput []float64, failed int64) (*plans.Compare, *result.Stage) {
	c := &plans.Compare{Margin: 0.1, Pairs: 12, Metrics: []plans.Metric{{Kind: plans.Quantile, Clock: plans.Response, Quantile: 0.5}, {Kind: plans.Throughput}}}
	st := &result.Stage{State: result.Complete, Comparison: &result.Comparison{}}
	for i := range p50 {
		base, now, much, many := 5e6, 5e6*p50[i], 100.0, 100*throughput[i]
		st.Comparison.Pairs = append(st.Comparison.Pairs, result.ComparedPair{
			Base: result.ComparedRun{Counts: result.Counts{Offered: 1000, Sent: 1000, Completed: 1000}, Values: []*float64{&base, &much}},
			New:  result.ComparedRun{Counts: result.Counts{Offered: 1000, Sent: 1000, Completed: 1000 - failed, Failed: failed}, Values: []*float64{&now, &many}},
		})
	}
	return c, st
}

func TestCompared(t *testing.T) {
	same := []float64{1, 1.01, 0.99, 1, 1}
	for _, tt := range []struct {
		p50, throughput []float64
		failed          int64
		want            [3]result.Outcome // p50, throughput, errors
		done            bool
	}{
		{same, same, 0, [3]result.Outcome{result.Pass, result.Pass, result.Pass}, true},
		{[]float64{1.3, 1.31, 1.29, 1.3, 1.3}, same, 0, [3]result.Outcome{result.Fail, result.Pass, result.Pass}, true},
		{[]float64{0.5, 0.51, 0.49, 0.5, 0.5}, same, 0, [3]result.Outcome{result.Pass, result.Pass, result.Pass}, true},
		{same, []float64{0.7, 0.71, 0.69, 0.7, 0.7}, 0, [3]result.Outcome{result.Pass, result.Fail, result.Pass}, true},
		{same, []float64{1.5, 1.51, 1.49, 1.5, 1.5}, 0, [3]result.Outcome{result.Pass, result.Pass, result.Pass}, true},
		{[]float64{0.8, 1.3, 1.1, 0.9, 1.2}, same, 0, [3]result.Outcome{result.Inconclusive, result.Pass, result.Pass}, false},
		{same[:4], same[:4], 0, [3]result.Outcome{result.Inconclusive, result.Inconclusive, result.Pass}, false},
		{nil, nil, 0, [3]result.Outcome{result.Inconclusive, result.Inconclusive, result.Inconclusive}, false},
		{same, same, 50, [3]result.Outcome{result.Pass, result.Pass, result.Fail}, true},
		{same, same, 5, [3]result.Outcome{result.Pass, result.Pass, result.Pass}, true},
	} {
		c, st := inPairs(tt.p50, tt.throughput, tt.failed)
		done := Compared(c, st, true)
		var got [3]result.Outcome
		for i := range got {
			got[i] = st.SLO[i].Outcome
		}
		if got != tt.want || done != tt.done || st.Outcome != result.Worst(result.Worst(got[0], got[1]), got[2]) {
			t.Errorf("%+v: %v, done %v, stage %s (%s)", tt, got, done, st.Outcome, st.Reason)
		}
	}
	c, st := inPairs([]float64{9, 9, 9, 9, 9}, same, 0)
	for i := range st.Comparison.Pairs {
		st.Comparison.Pairs[i].Left = "the client was late"
	}
	if Compared(c, st, true); st.Outcome != result.Inconclusive || !strings.Contains(st.SLO[0].Reason, "no pair was measured whole") {
		t.Errorf("pairs that are left out count: %s, %s", st.Outcome, st.SLO[0].Reason)
	}
}
