package verdict

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// stored are stages whose requests all took so long, in ms.
func stored(t *testing.T, slos []plans.SLO, times ...float64) (b Baselines) {
	for _, v := range times {
		b.Stages = append(b.Stages, &result.Stage{Name: "s", Kind: "load", State: result.Complete, Load: loadOf(t, slos, sample{n: 1000, serv: int64(v * 1e6)})})
	}
	return b
}

func TestBaseline(t *testing.T) {
	steady := []float64{100, 100.5, 99.5, 100, 100.2, 99.8}
	wild := []float64{100, 150, 70, 120, 90, 110}
	for _, tt := range []struct {
		name, slo string
		before    []float64
		now       float64
		want      result.Outcome
		said      string
	}{
		{"none", "p99 <= baseline + 10%", nil, 100, result.Inconclusive, "no baseline was given"},
		{"one, within", "p99 <= baseline + 10%", []float64{100}, 105, result.Pass, "+5"},
		{"one does not gate", "p99 <= baseline + 10%", []float64{100}, 150, result.Inconclusive, "at least 5 decide"},
		{"steady, within", "p99 <= baseline + 10%", steady, 101, result.Pass, "6 stored runs"},
		{"steady, beyond", "p99 <= baseline + 10%", steady, 130, result.Fail, "+30"},
		{"steady, at the limit", "p99 <= baseline + 10%", steady, 110, result.Inconclusive, "may be anywhere"},
		{"wild, no change to be seen", "p99 <= baseline + 10%", wild, 130, result.Inconclusive, "may be anywhere"},
		{"faster", "p99 <= baseline", steady, 80, result.Pass, "-20"},
		{"slower than before at all", "p99 <= baseline", steady, 105, result.Fail, "+5"},
		{"below the floor", "p99 <= baseline + 1% or 20ms", steady, 110, result.Pass, "allowed is <= 120 ms"},
		{"above the floor", "p99 <= baseline + 1% or 20ms", steady, 125, result.Fail, "allowed is <= 120 ms"},
		{"must be slower", "mean >= baseline - 10%", steady, 50, result.Fail, "-50"},
		{"a mean", "mean <= baseline + 10%", steady, 100, result.Pass, "6 stored runs"},
	} {
		slos := parse(t, tt.slo)
		st := &result.Stage{Name: "s", Kind: "load", State: result.Complete, Load: loadOf(t, slos, sample{n: 1000, serv: int64(tt.now * 1e6)})}
		StageAgainst(&plans.Stage{Name: "s", Work: &plans.Load{}, SLOs: slos}, st, stored(t, slos, tt.before...))
		if got := st.SLO[0]; got.Outcome != tt.want || !strings.Contains(got.Reason, tt.said) || got.Relative == "" {
			t.Errorf("%s: %s (%s), want %s and %q", tt.name, got.Outcome, got.Reason, tt.want, tt.said)
		}
	}
	slos := parse(t, "throughput >= baseline - 5%")
	b := stored(t, slos, steady...)
	st := &result.Stage{Name: "s", Kind: "load", State: result.Complete, Load: loadOf(t, slos, sample{n: 1000, serv: 1e6})}
	st.Load.ThroughputPerS /= 2
	StageAgainst(&plans.Stage{Name: "s", Work: &plans.Load{}, SLOs: slos}, st, b)
	if got := st.SLO[0]; got.Outcome != result.Fail {
		t.Errorf("half the throughput is %s (%s)", got.Outcome, got.Reason)
	}
	StageAgainst(&plans.Stage{Name: "s", Work: &plans.Load{}, SLOs: slos}, st, Baselines{Unlike: []string{"run x is of another plan"}})
	if got := st.SLO[0]; got.State != result.StateNoData || !strings.Contains(got.Reason, "run x is of another plan") {
		t.Errorf("an unlike run: %s (%s)", got.State, got.Reason)
	}
}
