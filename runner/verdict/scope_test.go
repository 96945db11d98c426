package verdict

import (
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// apartOf is a record that was counted apart, made as loadOf makes a whole.
func apartOf(t *testing.T, slos []plans.SLO, name string, samples ...sample) result.RequestLoad {
	l := loadOf(t, slos, samples...)
	return result.RequestLoad{Counts: l.Counts, Request: name, Response: l.Response, Service: l.Service, Lag: l.Lag, FailedResponse: l.FailedResponse,
		Segments: l.Segments, OfferedPerS: l.OfferedPerS, ThroughputPerS: l.ThroughputPerS}
}

func TestScopes(t *testing.T) {
	good := sample{n: 2000, serv: 5 * ms}
	for _, tt := range []struct {
		name, slo string
		edit      func(slos []plans.SLO, l *result.Load)
		want      result.Outcome
		said      string
	}{
		{"a slow host does not hide", "p99[host=b:1] < 100ms", func(slos []plans.SLO, l *result.Load) {
			l.Apart = []result.RequestLoad{apartOf(t, slos, "[host=b:1]", sample{n: 900, serv: 5 * ms}, sample{n: 100, serv: 200 * ms})}
		}, result.Fail, "100 of 1000"},
		{"the worst of each host", "p99[host=*] < 100ms", func(slos []plans.SLO, l *result.Load) {
			l.Hosts = []result.Host{{Address: "a:1"}, {Address: "b:1"}}
			l.Apart = []result.RequestLoad{apartOf(t, slos, "[host=a:1]", good), apartOf(t, slos, "[host=b:1]", sample{n: 900, serv: 5 * ms}, sample{n: 100, serv: 200 * ms})}
		}, result.Fail, "100 of 1000"},
		{"each host is well", "error_rate[host=*] < 1%", func(slos []plans.SLO, l *result.Load) {
			l.Hosts = []result.Host{{Address: "a:1"}, {Address: "b:1"}}
			l.Apart = []result.RequestLoad{apartOf(t, slos, "[host=a:1]", good), apartOf(t, slos, "[host=b:1]", good)}
		}, result.Pass, "it holds in all 2"},
		{"a host without a record is no pass", "p99[host=*] < 100ms", func(slos []plans.SLO, l *result.Load) {
			l.Hosts = []result.Host{{Address: "a:1"}, {Address: "b:1"}}
			l.Apart = []result.RequestLoad{apartOf(t, slos, "[host=a:1]", good)}
		}, result.Inconclusive, "nothing that this can be decided by"},
		{"failures of one status, of all requests", "error_rate[status=5xx] < 1%", func(slos []plans.SLO, l *result.Load) {
			l.Apart = []result.RequestLoad{apartOf(t, slos, "[status=5xx]", sample{n: 19, end: "error"})}
		}, result.Pass, "19 of 2000"},
		{"too many of one status", "error_rate[status=503] < 1%", func(slos []plans.SLO, l *result.Load) {
			l.Apart = []result.RequestLoad{apartOf(t, slos, "[status=503]", sample{n: 20, end: "error"})}
		}, result.Fail, "20 of 2000"},
		{"none of a status", "failed[status=503] == 0", func(slos []plans.SLO, l *result.Load) {
			l.Apart = []result.RequestLoad{apartOf(t, slos, "[status=503]")}
		}, result.Pass, "meets"},
		{"of a request, a host and a status", "x: error_rate[host=a:1,status=500] < 1%", func(slos []plans.SLO, l *result.Load) {
			l.Requests = []result.RequestLoad{apartOf(t, slos, "x", good)}
			l.Apart = []result.RequestLoad{apartOf(t, slos, "x [host=a:1,status=500]", sample{n: 5, end: "error"}), apartOf(t, slos, "x [host=a:1]", sample{n: 100, serv: ms})}
		}, result.Fail, "5 of 100"},
		{"a segment", "p99[segment=hold] < 100ms", nil, result.Pass, "0 of 2000"},
		{"a segment that is not there", "p99[segment=step 3/s] < 100ms", nil, result.Inconclusive, "nothing"},
		{"throughput of a segment", "throughput[segment=hold] >= 99%", func(_ []plans.SLO, l *result.Load) {
			l.Segments[0].ThroughputPerS, l.ThroughputPerS = 200, 0
		}, result.Pass, "200"},
	} {
		slos := parse(t, tt.slo)
		st := judge(t, slos, func(st *result.Stage) {
			if tt.edit != nil {
				tt.edit(slos, st.Load)
			}
		}, good)
		if got := st.SLO[0]; got.Outcome != tt.want || !strings.Contains(got.Reason, tt.said) {
			t.Errorf("%s: %s is %s (%s), want %s and %q", tt.name, tt.slo, got.Outcome, got.Reason, tt.want, tt.said)
		}
	}
}

func TestWire(t *testing.T) {
	good := sample{n: 2000, serv: 5 * ms}
	for _, tt := range []struct {
		slo  string
		over int64
		want result.Outcome
	}{
		{"ttfb p99 < 50ms", 5, result.Pass}, {"ttfb p99 < 50ms", 40, result.Fail}, {"ttfb p99 < 50ms", 20, result.Inconclusive},
		{"ttfb max < 50ms", 0, result.Pass}, {"ttfb max < 50ms", 1, result.Fail},
		{"connect p99 < 50ms", 0, result.Inconclusive}, {"connect p50 < 50ms", 0, result.Pass}, {"connect p50 < 50ms", 20, result.Fail},
	} {
		slos := parse(t, tt.slo)
		st := judge(t, slos, func(st *result.Stage) {
			w := &st.Load.Wire
			w.FirstByte, w.Connect = st.Load.Service, loadOf(t, slos, sample{n: 20, serv: ms}).Service
			w.OverFirstByte, w.OverConnect = []int64{tt.over}, []int64{tt.over}
		}, good)
		if got := st.SLO[0]; got.Outcome != tt.want || got.Value == nil {
			t.Errorf("%s with %d over is %s (%s), want %s", tt.slo, tt.over, got.Outcome, got.Reason, tt.want)
		}
	}
	st := judge(t, parse(t, "ttfb p99 < 50ms"), nil, good)
	if got := st.SLO[0]; got.State != result.StateNoData {
		t.Errorf("without counters: %s (%s), want no data", got.State, got.Reason)
	}
}

// windowsOf are windows of 100 requests each, of which so many are over.
func windowsOf(over ...int64) []result.Windows {
	w := result.Windows{LengthNS: 1e9, Bad: over, OverResponse: [][]int64{over}, OverService: [][]int64{over}}
	for range over {
		w.Offered = append(w.Offered, 100)
	}
	return []result.Windows{w}
}

func TestWindows(t *testing.T) {
	good := sample{n: 1000, serv: 5 * ms}
	for _, tt := range []struct {
		name, slo string
		over      []int64
		edit      func(*result.Load)
		want      result.Outcome
		said      string
	}{
		{"all", "p95 < 100ms for 90% of 1s windows", []int64{0, 5, 0, 1, 2, 3, 4, 5, 5, 5}, nil, result.Pass, "10 of 10 windows of 1 s (100%)"},
		{"one of ten", "p95 < 100ms for 90% of 1s windows", []int64{0, 0, 6, 0, 0, 0, 0, 0, 0, 0}, nil, result.Pass, "begins at 2 s"},
		{"two of ten", "p95 < 100ms for 90% of 1s windows", []int64{0, 0, 6, 0, 0, 100, 0, 0, 0, 0}, nil, result.Fail, "8 of 10"},
		{"an eleventh that is not whole", "p95 < 100ms for 100% of 1s windows", []int64{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100}, nil, result.Pass, "10 of 10"},
		{"errors", "error_rate < 1% for 80% of 1s windows", []int64{0, 1, 0, 0, 2, 0, 0, 0, 0, 0}, nil, result.Pass, "8 of 10"},
		{"success", "success >= 99% for 100% of 1s windows", []int64{0, 1, 0, 0, 2, 0, 0, 0, 0, 0}, nil, result.Fail, "9 of 10"},
		{"a maximum", "service max < 100ms for 90% of 1s windows", []int64{0, 1, 0, 0, 1, 0, 0, 0, 0, 0}, nil, result.Fail, "8 of 10"},
		{"windows without requests do not count", "p95 < 100ms for 90% of 1s windows", []int64{0, 6, 0, 0, 0, 0, 0, 0, 0, 0}, func(l *result.Load) {
			for i := 3; i < 10; i++ {
				l.Windows[0].Offered[i] = 0
			}
		}, result.Fail, "2 of 3"},
		{"a generator that was late", "p95 < 100ms for 100% of 1s windows", []int64{0, 6}, func(l *result.Load) {
			lag := loadOf(t, nil, sample{n: 100, serv: 50 * ms}).Service
			l.Segments[0].DispatchLag, l.DispatchLag = lag, lag
		}, result.Inconclusive, "sent late"},
		{"drops", "p95 < 100ms for 100% of 1s windows", []int64{0, 6}, func(l *result.Load) { l.Dropped = 6 }, result.Inconclusive, "dropped"},
		{"another length", "p95 < 100ms for 100% of 2s windows", []int64{0, 6}, nil, result.Inconclusive, "not counted"},
	} {
		slos := parse(t, tt.slo)
		st := judge(t, slos, func(st *result.Stage) {
			st.Load.Windows = windowsOf(tt.over...)
			if tt.edit != nil {
				tt.edit(st.Load)
			}
		}, good)
		if got := st.SLO[0]; got.Outcome != tt.want || !strings.Contains(got.Reason, tt.said) {
			t.Errorf("%s: %s (%s), want %s and %q", tt.name, got.Outcome, got.Reason, tt.want, tt.said)
		}
	}
}

// A stage ends once more windows are broken than all of them allow, and not before.
func TestBrokenWindows(t *testing.T) {
	s := parse(t, "p95 < 100ms for 80% of 1s windows, abort after 3s")[0]
	limits := LimitsNS([]plans.SLO{s})
	for _, tt := range []struct {
		over []int64
		at   time.Duration
		open int64
		want bool
	}{
		{[]int64{9, 9, 9}, 3 * time.Second, 0, true},
		{[]int64{9, 9, 9}, 2900 * time.Millisecond, 0, false}, // the grace period
		{[]int64{9, 9, 0, 9}, 3 * time.Second, 0, false},      // the fourth may still meet it
		{[]int64{9, 9, 9}, 3 * time.Second, 1000, false},      // so many may be well
		{[]int64{9, 9, 5, 5, 5}, 9 * time.Second, 0, false},
	} {
		if got := BrokenWindows(s, limits, windowsOf(tt.over...), tt.open, tt.at, 10*time.Second); (got != "") != tt.want {
			t.Errorf("%v after %v with %d open: %q, want one: %v", tt.over, tt.at, tt.open, got, tt.want)
		}
	}
}
