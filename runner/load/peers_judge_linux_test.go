//go:build amd64 || arm64

package load

import (
	"math"
	"strings"
	"testing"
)

func TestBarJudge(t *testing.T) {
	quiet, loud, nan := noise{others: 0.01}, noise{others: 0.5}, math.NaN()
	for _, tt := range []struct {
		bar       bar
		our, peer float64
		noise     noise
		want      string
	}{
		{atMost(cpuTime, 2), 2, nan, quiet, "ok"},
		{atMost(cpuTime, 2), 2.1, nan, quiet, over},
		{atMost(cpuTime, 2), 2.1, nan, loud, "too noisy"},
		{atMost(cpuTime, 2), 2, nan, loud, "ok"},
		{atMost(cpuTime, 2).counted(), 2.1, nan, loud, over},
		{atMost(cpuTime, 2), nan, 1, quiet, "not measured"},
		{atLeast(perSecond, 2), 1.9, nan, quiet, over},
		{atLeast(perSecond, 2), 2, nan, quiet, "ok"},
		{atMost(cpuTime, 0.5).timesPeer(), 1, 2, quiet, "ok"},
		{atMost(cpuTime, 0.5).timesPeer(), 1.1, 2, quiet, over},
		{atMost(cpuTime, 0.5).timesPeer(), 1, 9, loud, "too noisy"}, // wrk2 may be the one that was disturbed
		{atMost(cpuTime, 0.5).timesPeer(), 1, nan, quiet, "no wrk2"},
		{atMost(lag90, 0.5).timesPeer(), 1, nan, quiet, "no wrk2lag"},
		{atMost(cpuTime, 1), 2, nan, noise{delay: 0.1}, "too noisy"},
		{atMost(cpuTime, 1), 2, nan, noise{steal: 0.1}, "too noisy"},
	} {
		if got := tt.bar.judge(tt.our, tt.peer, tt.noise); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: judge(%v, %v, %v) = %q, want %q", tt.bar, tt.our, tt.peer, tt.noise, got, tt.want)
		}
	}
}

func TestLeaveOut(t *testing.T) {
	b := bout{runs: map[string][]figure{wrk2: {{Requests: 1000}, {Requests: 800}, {Requests: 900}}, ours: {{Requests: 1}, {Requests: 9}}}}
	b.leaveOut(t)
	if len(b.runs[wrk2]) != 2 || b.runs[wrk2][1].Requests != 900 || len(b.runs[ours]) != 2 {
		t.Errorf("left are %v, want wrk2's run of 800 left out alone", b.runs)
	}
}

func TestWrkQuantile(t *testing.T) {
	out := []byte("  Latency Distribution (HdrHistogram - Recorded Latency)\n 50.000%    1.02ms\n 90.000%  890.00us\n" +
		"  Latency Distribution (HdrHistogram - Uncorrected Latency)\n 50.000%   60.00us\n 90.000%    0.00us\n")
	for _, tt := range []struct {
		rank          string
		first, second float64
		ok            bool
	}{{"50.000%", 1020, 60, true}, {"90.000%", 890, 0, true}, {"99.000%", 0, 0, false}} {
		if first, second, ok := wrkQuantile(out, tt.rank); first != tt.first || second != tt.second || ok != tt.ok {
			t.Errorf("wrkQuantile(%s) = %v, %v, %v, want %v, %v, %v", tt.rank, first, second, ok, tt.first, tt.second, tt.ok)
		}
	}
}

func TestShown(t *testing.T) {
	for x, want := range map[float64]string{0: "0", 12345.6: "12346", 123.45: "123", 12.345: "12.3", 0.0012345: "0.00123", 1e-6: "1e-06", -0.5: "-0.500", math.NaN(): "–"} {
		if got := shown(x); got != want {
			t.Errorf("shown(%v) = %q, want %q", x, got, want)
		}
	}
}
