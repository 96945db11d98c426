package selftest

import (
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/verdict"
)

func slo(t *testing.T, text string) plans.SLO {
	t.Helper()
	s, err := plans.ParseSLO(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestBreaking(t *testing.T) {
	l := &plans.Load{Timeout: 2 * time.Second, Profile: []plans.Segment{{From: 100, To: 100, Over: 10 * time.Second}}}
	for _, tt := range []struct{ slo, want string }{
		{"p99 < 100ms", "answers 125ms later"},
		{"max < 1ms", "answers 6ms later"},
		{"service mean < 80ms", "answers 100ms later"},
		{"ttfb p99 < 80ms", "answers 100ms later"},
		{"p99 < 1700ms", "never: requests end at the timeout of 2s"},
		{"p50 > 1ms", "unproven: no fault makes a target faster"},
		{"lag p99 < 1ms", "unproven: what comes after a connection"},
		{"connect p99 < 1ms", "unproven: what comes after a connection"},
		{"error_rate < 1%", "6% of the requests reset"},
		{"error_rate < 40%", "50% of the requests reset"},
		{"error_rate < 97%", "never: its limit and the margin are more than all requests"},
		{"success >= 99%", "6% of the requests reset"},
		{"error_rate > 50%", "unproven: no fault makes a target answer better"},
		{"failed == 0", "0.5% of the requests reset"},
		{"failed < 2000", "never: the stage offers 1000 requests"},
		{"throughput >= 90%", "32.5% of the requests reset"},
		{"throughput >= 80/s", "40% of the requests reset"},
		{"throughput < 80/s", "unproven: no fault makes a target answer more"},
		{"dropped == 0", "unproven: no fault of a network is about dropped"},
		{"p99 <= baseline + 10%", "unproven: it compares with stored runs"},
		{"p99[status=5xx] < 1s", "unproven: it is about some hosts or answers"},
		{"cpu(a) < 50%", "unproven: no fault of a network is about cpu(a)"},
	} {
		f, never, unproven := breaking(slo(t, tt.slo), l)
		got := f.String()
		switch {
		case never != "":
			got = "never: " + never
		case unproven != "":
			got = "unproven: " + unproven
		}
		if !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: %s, want %s", tt.slo, got, tt.want)
		}
	}
}

func TestShortened(t *testing.T) {
	l := &plans.Load{Profile: []plans.Segment{{From: 100, To: 100, Over: time.Hour}, {From: 1, To: 1, Over: time.Hour}, {From: 5, To: 5, Over: time.Second}, {From: 5, Points: []plans.RatePoint{{}}, Over: time.Hour}}}
	s := shortened(l, []plans.SLO{slo(t, "p99 < 1s"), slo(t, "p50 < 1s for 90% of 5s windows")})
	var got []time.Duration
	for _, seg := range s.Profile {
		got = append(got, seg.Over)
	}
	if got[0] != 20*time.Second || got[1] != 897*time.Second || got[2] != time.Second || got[3] != time.Hour || l.Profile[0].Over != time.Hour {
		t.Errorf("segments of %v", got)
	}
}

// Figures of a microbenchmark that are made worse break the limit, and those that have no data cannot.
func TestWorsened(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	rec := &result.Stage{State: result.Complete, Microbenchmark: &result.Microbenchmark{Sizes: []result.Size{{Size: 10, Samples: 30, MinNS: f(4e6), MeanNS: f(5e6), P50NS: f(5e6), P90NS: f(6e6), MaxNS: f(7e6),
		Interval: &result.Interval{Lo: f(4e6), Hi: f(6e6)}, AllocBytes: f(64), Forks: []result.Fork{{Settled: true}, {Settled: true}, {Settled: true}}}},
		Fits: []result.Fit{{Class: "linear", ClassLo: "linear", ClassHi: "linear", SlopeNS: 300, SlopeLoNS: f(290), SlopeHiNS: f(310)}}}}
	for text, want := range map[string]string{
		"time p50 < 1s": result.StateFailed, "time[size=10] max < 1s": result.StateFailed, "time mean < 1s": result.StateFailed, "slope < 1us per row": result.StateFailed,
		"growth <= linearithmic": result.StateFailed, "alloc_bytes < 1kB": result.StateFailed, "instructions < 100": result.StateNoData,
	} {
		s := slo(t, text)
		worse := worsened(s, rec)
		verdict.Stage(&plans.Stage{Work: &plans.Microbenchmark{}, SLOs: []plans.SLO{s}}, &worse)
		if got := worse.SLO[0]; got.State != want {
			t.Errorf("%s: %s (%s), want %s", text, got.State, got.Reason, want)
		}
	}
	if *rec.Microbenchmark.Sizes[0].P50NS != 5e6 || *rec.Microbenchmark.Fits[0].SlopeLoNS != 290 {
		t.Error("the record that was given has changed")
	}
}
