package verdict

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

const ms = int64(1e6)

func parse(t *testing.T, texts ...string) []plans.SLO {
	t.Helper()
	var out []plans.SLO
	for _, text := range texts {
		s, err := plans.ParseSLO(text)
		if err != nil {
			t.Fatalf("ParseSLO(%q): %v", text, err)
		}
		out = append(out, s)
	}
	return out
}

// A sample is n requests with the same fate.
type sample struct {
	n         int64
	lag, serv int64  // ns
	end       string // "" completed, "timeout", "error", "dropped"
}

// loadOf builds the record of a stage with one segment as the engine would, its samples spread evenly over 40 bins.
func loadOf(t *testing.T, slos []plans.SLO, samples ...sample) *result.Load {
	t.Helper()
	l := &result.Load{LimitsNS: LimitsNS(slos), MaxInFlight: 64, DurationNS: 10e9}
	seg := result.Segment{Name: "hold", Kind: "hold", DurationNS: 10e9}
	seg.OverResponse, seg.OverService = make([]int64, len(l.LimitsNS)), make([]int64, len(l.LimitsNS))
	seg.Bins = result.Bins{WidthNS: 250e6, Offered: make([]int64, 40), Over: make([][]int64, len(l.LimitsNS))}
	for i := range seg.Bins.Over {
		seg.Bins.Over[i] = make([]int64, 40)
	}
	resp, serv, lag := hist.New(), hist.New(), hist.New()
	var censored *int64
	arrival := 0
	for _, s := range samples {
		c := result.Counts{Offered: s.n, Sent: s.n}
		switch s.end {
		case "":
			c.Completed = s.n
		case "dropped":
			c.Sent, c.Dropped = 0, s.n
		default:
			c.Failed = s.n
		}
		if s.end == "" || s.end == "timeout" {
			resp.RecordN(s.lag+s.serv, s.n)
			serv.RecordN(s.serv, s.n)
			lag.RecordN(s.lag, s.n)
		}
		if s.end == "timeout" {
			v := s.lag + s.serv
			censored = &v
		}
		addCounts(&l.Counts, c)
		for i, limit := range l.LimitsNS {
			bad := s.end == "error" || s.end == "dropped"
			for k := range s.n {
				if bad || s.lag+s.serv > limit {
					seg.OverResponse[i]++
					seg.Bins.Over[i][(arrival+int(k))%40]++
				}
				if s.end != "dropped" && (bad || s.serv > limit) {
					seg.OverService[i]++
				}
			}
		}
		for k := range s.n {
			seg.Bins.Offered[(arrival+int(k))%40]++
		}
		arrival += int(s.n)
	}
	seg.Counts, seg.Planned = l.Counts, l.Offered
	l.Planned = l.Offered
	seg.Response, seg.Service, seg.Lag = distribution(t, resp), distribution(t, serv), distribution(t, lag)
	seg.Response.CensoredFromNS, seg.Service.CensoredFromNS = censored, censored
	l.Response, l.Service, l.Lag = seg.Response, seg.Service, seg.Lag
	l.FailedResponse.Count = l.Failed
	if censored != nil {
		l.FailedResponse.Count = 0
	}
	l.OfferedPerS, l.ThroughputPerS = float64(l.Offered)/10, float64(l.Completed)/10
	l.Segments = []result.Segment{seg}
	return l
}

func addCounts(to *result.Counts, c result.Counts) {
	to.Offered += c.Offered
	to.Sent += c.Sent
	to.Completed += c.Completed
	to.Failed += c.Failed
	to.Dropped += c.Dropped
}

func distribution(t *testing.T, h *hist.Hist) result.Distribution {
	t.Helper()
	d := result.Distribution{Count: h.Count()}
	if d.Count == 0 {
		return d
	}
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	lo, hi, mean := h.Min(), h.Max(), h.Mean()
	p99, _ := h.Quantile(0.99)
	d.Histogram, d.MinNS, d.MaxNS, d.MeanNS, d.P99NS = text, &lo, &hi, &mean, &p99
	return d
}

func judge(t *testing.T, slos []plans.SLO, edit func(*result.Stage), samples ...sample) *result.Stage {
	t.Helper()
	st := &result.Stage{Name: "s", Kind: "load", State: result.Complete, Load: loadOf(t, slos, samples...)}
	if edit != nil {
		edit(st)
	}
	Stage(&plans.Stage{Name: "s", Work: &plans.Load{}, SLOs: slos}, st)
	return st
}

func TestTimesAndCounts(t *testing.T) {
	good := sample{n: 1000, serv: 5 * ms}
	tests := []struct {
		name    string
		slo     string
		samples []sample
		want    result.Outcome
		state   string
		said    string
	}{
		{"all within", "p99 < 150ms", []sample{good}, result.Pass, result.StatePassed, "0 of 1000"},
		{"at the limit, strict", "p100 < 5ms", []sample{good}, result.Fail, result.StateFailed, "1000 of 1000"},
		{"at the limit, inclusive", "max <= 5ms", []sample{good}, result.Pass, result.StatePassed, "0 of 1000"},
		{"far over", "p99 < 1us", []sample{good}, result.Fail, result.StateFailed, "1000 of 1000"},
		{"149 good and 2 slow is no pass", "p99 < 150ms", []sample{{n: 149, serv: 5 * ms}, {n: 2, serv: 1500 * ms}}, result.Inconclusive, result.StateInconclusive, "too close or too few"},
		{"too few to pass", "p99 < 150ms", []sample{{n: 100, serv: 5 * ms}}, result.Inconclusive, result.StateInconclusive, "0 of 100"},
		{"no data", "p99 < 150ms", nil, result.Inconclusive, result.StateNoData, "no request"},
		{"C-15 timeouts are slow, not fast", "p99 < 100ms", []sample{{n: 900, serv: 2 * ms}, {n: 100, serv: 500 * ms, end: "timeout"}}, result.Fail, result.StateFailed, "at least 500 ms"},
		{"C-16 fast failures do not help", "p50 < 100ms", []sample{{n: 300, serv: 400 * ms}, {n: 700, end: "error"}}, result.Fail, result.StateFailed, "1000 of 1000"},
		{"C-16 percentile among failures", "p50 < 500ms", []sample{{n: 300, serv: 400 * ms}, {n: 700, end: "error"}}, result.Fail, result.StateFailed, "among requests that failed"},
		{"dropped count as over, but are the client's", "p99 < 150ms", []sample{{n: 900, serv: 5 * ms}, {n: 100, end: "dropped"}}, result.Inconclusive, result.StateInconclusive, "100 of 1000"},
		{"dropped and slow", "p99 < 150ms", []sample{{n: 900, serv: 500 * ms}, {n: 100, end: "dropped"}}, result.Fail, result.StateFailed, "1000 of 1000"},
		{"failures do not make times long", "p50 > 10ms", []sample{{n: 50, serv: ms}, {n: 50, end: "error"}}, result.Fail, result.StateFailed, "0 of 100"},
		{"a mean of half the requests says too little", "mean < 50ms", []sample{{n: 50, serv: ms}, {n: 50, end: "error"}}, result.Inconclusive, result.StateInconclusive, "50 of 100"},
		{"service clock", "service p99 < 150ms", []sample{{n: 1000, lag: 400 * ms, serv: 5 * ms}}, result.Pass, result.StatePassed, "0 of 1000"},
		{"mean", "mean < 10ms", []sample{good}, result.Pass, result.StatePassed, "meets the limit"},
		{"min", "min > 10ms", []sample{good}, result.Fail, result.StateFailed, "measured 5 ms"},
		{"C-21 all good", "success == 100%", []sample{{n: 10, serv: ms}}, result.Pass, result.StatePassed, "10 of 10"},
		{"C-21 1 of 100", "error_rate <= 1%", []sample{{n: 99, serv: ms}, {n: 1, end: "error"}}, result.Pass, result.StatePassed, "1 of 100 requests (1%)"},
		{"C-21 2 of 100", "error_rate <= 1%", []sample{{n: 98, serv: ms}, {n: 2, end: "error"}}, result.Fail, result.StateFailed, "2 of 100 requests (2%)"},
		{"C-21 fraction", "error_rate <= 0.01", []sample{{n: 99, serv: ms}, {n: 1, end: "error"}}, result.Pass, result.StatePassed, "1 of 100"},
		{"C-21 strict", "error_rate < 1%", []sample{{n: 99, serv: ms}, {n: 1, end: "error"}}, result.Fail, result.StateFailed, "1 of 100"},
		{"C-05 zero failed", "failed == 0", []sample{good}, result.Pass, result.StatePassed, "meets the limit"},
		{"no errors of nothing", "error_rate < 1%", nil, result.Inconclusive, result.StateNoData, "no request"},
		{"throughput", "throughput >= 99%", []sample{good}, result.Pass, result.StatePassed, "100 requests a second"},
		{"throughput missed", "throughput >= 99%", []sample{{n: 900, serv: ms}, {n: 100, end: "error"}}, result.Fail, result.StateFailed, "90 requests a second were completed in time, of 100"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			st := judge(t, parse(t, tt.slo), nil, tt.samples...)
			got := st.SLO[0]
			if got.Outcome != tt.want || got.State != tt.state || !strings.Contains(got.Reason, tt.said) {
				t.Errorf("%s = %s, %s, %q, want %s, %s, …%s…", tt.slo, got.Outcome, got.State, got.Reason, tt.want, tt.state, tt.said)
			}
			if st.Outcome != tt.want {
				t.Errorf("stage outcome = %s, want %s", st.Outcome, tt.want)
			}
		})
	}
}

func TestFailedPercentileHasNoValue(t *testing.T) {
	st := judge(t, parse(t, "p99 < 150ms"), nil, sample{n: 500, end: "error"})
	if s := st.SLO[0]; s.Value != nil || s.Outcome != result.Fail {
		t.Errorf("value %v, outcome %s, want nil and fail", s.Value, s.Outcome)
	}
	st = judge(t, parse(t, "p99 < 150ms"), nil, sample{n: 500, serv: 2000 * ms, end: "timeout"})
	if s := st.SLO[0]; s.Value == nil || *s.Value != 2e9 || !s.Censored {
		t.Errorf("value %v censored %v, want 2e9 and true", s.Value, s.Censored)
	}
}

func TestClientCapIsNotTheTargetsFailure(t *testing.T) {
	capped := func(st *result.Stage) {
		st.Load.MaxInFlight = 8
		st.Load.Audit.Capped = 990
		st.Load.Segments[0].Capped = 990
		st.Load.Segments[0].MeanInFlight = 8
	}
	slos := parse(t, "p99 < 150ms")
	st := judge(t, slos, capped, sample{n: 1000, lag: 3000 * ms, serv: 32500000})
	if st.Outcome != result.Inconclusive || !strings.Contains(st.SLO[0].Reason, "max_in_flight: 8") || !strings.Contains(st.SLO[0].Reason, "Little") {
		t.Errorf("got %s, %q, want inconclusive naming max_in_flight", st.Outcome, st.SLO[0].Reason)
	}
	for _, text := range []string{"error_rate < 0.1%", "success >= 99%"} {
		st = judge(t, parse(t, text), capped, sample{n: 860, serv: 32 * ms}, sample{n: 140, end: "dropped"})
		if st.Outcome != result.Inconclusive || !strings.Contains(st.SLO[0].Reason, "max_in_flight: 8") {
			t.Errorf("%s, held back until the end: got %s, %q, want inconclusive naming max_in_flight", text, st.Outcome, st.SLO[0].Reason)
		}
		st = judge(t, parse(t, text), capped, sample{n: 860, serv: 32 * ms}, sample{n: 140, end: "error"})
		if st.Outcome != result.Fail {
			t.Errorf("%s, answered wrongly: got %s, want fail", text, st.Outcome)
		}
	}
	st = judge(t, slos, capped, sample{n: 1000, lag: 3000 * ms, serv: 400 * ms})
	if st.Outcome != result.Fail {
		t.Errorf("service time over the limit at the cap: got %s, want fail", st.Outcome)
	}
}

func TestLateGenerator(t *testing.T) {
	late := func(st *result.Stage) {
		h := hist.New()
		h.RecordN(ms/10, 900)
		h.RecordN(300*ms, 100)
		st.Load.DispatchLag = distribution(t, h)
		st.Load.Segments[0].DispatchLag = distribution(t, h)
	}
	slos := parse(t, "p99 < 150ms")
	st := judge(t, slos, late, sample{n: 900, serv: 5 * ms}, sample{n: 100, lag: 300 * ms, serv: 5 * ms})
	if st.Outcome != result.Inconclusive || !strings.Contains(st.SLO[0].Reason, "generator was late") {
		t.Errorf("breach by dispatch lag: got %s, %q, want inconclusive", st.Outcome, st.SLO[0].Reason)
	}
	st = judge(t, slos, late, sample{n: 1000, serv: 5 * ms})
	if st.Outcome != result.Inconclusive || !strings.Contains(st.Reason, "not valid") {
		t.Errorf("pass with a late generator: got %s, %q, want inconclusive", st.Outcome, st.Reason)
	}
	st = judge(t, parse(t, "p50 < 50ms"), late, sample{n: 1000, serv: 5 * ms})
	if st.Outcome != result.Pass {
		t.Errorf("the median is not touched by a late tenth: got %s, %q, want pass", st.Outcome, st.Reason)
	}
	st = judge(t, parse(t, "error_rate < 1%"), late, sample{n: 1000, serv: 5 * ms})
	if st.Outcome != result.Pass || len(st.Warnings) != 1 || st.Warnings[0].Severity != result.Suspect {
		t.Errorf("counts are not touched by lag: got %s, %q, %v, want pass and a suspect", st.Outcome, st.Reason, st.Warnings)
	}
	st = judge(t, slos, late, sample{n: 1000, serv: 400 * ms})
	if st.Outcome != result.Inconclusive || !strings.Contains(st.SLO[0].Reason, "explains the breach") {
		t.Errorf("a breach no larger than the generator's own delay: got %s, %q, want inconclusive", st.Outcome, st.SLO[0].Reason)
	}
	st = judge(t, slos, late, sample{n: 1000, serv: 800 * ms})
	if st.Outcome != result.Fail {
		t.Errorf("a breach that the generator's delay cannot explain: got %s, want fail", st.Outcome)
	}
	st = judge(t, slos, late, sample{n: 900, serv: 5 * ms}, sample{n: 100, end: "error"})
	if st.Outcome != result.Fail {
		t.Errorf("failed requests and late generator: got %s, want fail", st.Outcome)
	}
}

func TestGeneratorErrorsAreNotTheTargets(t *testing.T) {
	own := func(st *result.Stage) {
		st.Load.Errors = []result.Error{{Kind: "descriptors", Class: result.ClassGenerator, Count: 100, Example: "too many open files"}}
	}
	st := judge(t, parse(t, "error_rate < 0.1%"), own, sample{n: 900, serv: ms}, sample{n: 100, end: "error"})
	if st.Outcome != result.Inconclusive || st.Warnings[0].Code != "descriptors" || st.Warnings[0].Severity != result.Invalid || st.Warnings[0].Fix == "" {
		t.Errorf("C-31: got %s, warnings %v, want inconclusive and descriptors", st.Outcome, st.Warnings)
	}
	st = judge(t, parse(t, "p95 < 100ms"), own, sample{n: 900, serv: ms}, sample{n: 100, end: "error"})
	if st.Outcome != result.Inconclusive {
		t.Errorf("C-31: percentile: got %s, %q, want inconclusive", st.Outcome, st.SLO[0].Reason)
	}
	st = judge(t, parse(t, "error_rate < 0.1%"), own, sample{n: 800, serv: ms}, sample{n: 200, end: "error"})
	if st.Outcome != result.Fail {
		t.Errorf("C-31: 100 errors of the target itself: got %s, want fail", st.Outcome)
	}
}

// Timeouts from the intended time that went by at the client's own bound are not the target's.
func TestWaitedOutIsNotTheTargetsFailure(t *testing.T) {
	waited := func(st *result.Stage) {
		st.Load.TimeoutNS, st.Load.TimeoutFrom = 300*ms, "intended"
		st.Load.Audit.Capped, st.Load.Segments[0].Capped = 900, 900
		st.Load.WaitedOut, st.Load.Segments[0].WaitedOut = 600, 600
	}
	for _, text := range []string{"error_rate < 1%", "p90 < 250ms"} {
		st := judge(t, parse(t, text), waited, sample{n: 400, serv: 100 * ms}, sample{n: 600, lag: 250 * ms, serv: 50 * ms, end: "timeout"})
		if st.Outcome != result.Inconclusive || !strings.Contains(st.SLO[0].Reason, "timed out after a longer wait there") {
			t.Errorf("%s: got %s, %q, want inconclusive for the bound", text, st.Outcome, st.SLO[0].Reason)
		}
		st = judge(t, parse(t, text), func(st *result.Stage) { waited(st); st.Load.WaitedOut, st.Load.Segments[0].WaitedOut = 5, 5 },
			sample{n: 400, serv: 100 * ms}, sample{n: 600, serv: 300 * ms, end: "timeout"})
		if st.Outcome != result.Fail {
			t.Errorf("%s: timeouts of the target itself: got %s, %q, want fail", text, st.Outcome, st.SLO[0].Reason)
		}
	}
}

// Requests that an interrupt cut off prove nothing.
func TestCutShortIsNotTheTargetsFailure(t *testing.T) {
	cut := func(st *result.Stage) {
		st.State = result.Partial
		st.Load.PlannedNS = 2 * st.Load.DurationNS
		seg := &st.Load.Segments[0]
		seg.Failed, seg.Unfinished = 0, seg.Failed
		st.Load.Counts = seg.Counts
	}
	for _, text := range []string{"error_rate < 0.1%", "success >= 99.9%", "failed == 0", "max < 400ms", "service max < 400ms"} {
		st := judge(t, parse(t, text), cut, sample{n: 700, serv: 20 * ms}, sample{n: 5, end: "error"})
		if st.Outcome != result.Inconclusive {
			t.Errorf("%s: got %s, %q, want inconclusive", text, st.Outcome, st.SLO[0].Reason)
		}
	}
}

// A client that stood still for longer than the timeout may have had the answers waiting.
func TestTimeoutsOfAFrozenClient(t *testing.T) {
	frozen := func(st *result.Stage) {
		st.Load.TimeoutNS = 300 * ms
		pause := 600 * ms
		st.Load.Audit.PauseMaxNS = &pause
		st.Load.Errors = []result.Error{{Kind: "timeout", Class: result.ClassTarget, Count: 3}}
	}
	for _, text := range []string{"error_rate < 0.1%", "success == 100%", "max < 250ms"} {
		st := judge(t, parse(t, text), frozen, sample{n: 197, serv: 20 * ms}, sample{n: 3, serv: 310 * ms, end: "timeout"})
		if st.Outcome != result.Inconclusive || !strings.Contains(st.SLO[0].Reason, "stood still") {
			t.Errorf("%s: got %s, %q, want inconclusive", text, st.Outcome, st.SLO[0].Reason)
		}
	}
}

func TestNothingAskedAndNothingWorked(t *testing.T) {
	st := judge(t, nil, nil, sample{n: 50, end: "error"})
	if st.Outcome != result.Inconclusive {
		t.Errorf("C-26: got %s, want inconclusive", st.Outcome)
	}
}

func TestPartialStageCannotPass(t *testing.T) {
	partial := func(st *result.Stage) { st.State = result.Partial }
	st := judge(t, parse(t, "p99 < 150ms"), partial, sample{n: 1000, serv: 5 * ms})
	if st.Outcome != result.Inconclusive || st.SLO[0].Outcome != result.Inconclusive {
		t.Errorf("got %s, want inconclusive", st.Outcome)
	}
	st = judge(t, parse(t, "p99 < 1ms"), partial, sample{n: 1000, serv: 5 * ms})
	if st.Outcome != result.Fail {
		t.Errorf("got %s, want fail", st.Outcome)
	}
}

func TestWorstSegmentDecides(t *testing.T) {
	slos := parse(t, "p99 < 150ms", "error_rate < 1%")
	fast, slow := loadOf(t, slos, sample{n: 1000, serv: ms}), loadOf(t, slos, sample{n: 900, serv: 400 * ms}, sample{n: 100, end: "error"})
	slow.Segments[0].Name = "step 400/s"
	l := *fast
	l.Segments = append(l.Segments, slow.Segments...)
	addCounts(&l.Counts, slow.Counts)
	st := &result.Stage{State: result.Complete, Load: &l}
	Stage(&plans.Stage{Work: &plans.Load{}, SLOs: slos}, st)
	for _, s := range st.SLO {
		if s.Outcome != result.Fail || s.Segment != "step 400/s" || len(s.Segments) != 2 || s.Segments[0].Outcome != result.Pass {
			t.Errorf("%s: got %s in %q of %d, want fail in step 400/s of 2", s.Text, s.Outcome, s.Segment, len(s.Segments))
		}
	}
}

func TestStallsWidenTheInterval(t *testing.T) {
	slos := parse(t, "p99 < 150ms")
	l := loadOf(t, slos, sample{n: 10000, serv: 5 * ms})
	seg := &l.Segments[0]
	for bin, over := range map[int]int64{3: 60, 20: 60} { // 1.2 %, all in two stalls
		seg.Bins.Over[0][bin] = over
		seg.OverResponse[0] += over
		seg.OverService[0] += over
	}
	st := &result.Stage{State: result.Complete, Load: l}
	Stage(&plans.Stage{Work: &plans.Load{}, SLOs: slos}, st)
	if s := st.SLO[0]; s.Outcome != result.Inconclusive || s.Interval.NEff > 5000 {
		t.Errorf("got %s with n_eff %.0f, want inconclusive with far fewer than 10000", s.Outcome, s.Interval.NEff)
	}
}

func TestUsage(t *testing.T) {
	slos := parse(t, "cpu(api) < 80%", "rss(api) < 1MiB", "cpu(gone) < 80%")
	cpu, rss := 0.5, int64(900<<10)
	st := &result.Stage{State: result.Complete, Observation: &result.Observation{Samples: 3, Processes: []result.Process{
		{Name: "api", CPUShare: &cpu, RSSMaxBytes: &rss}, {Name: "api", CPUShare: &cpu, RSSMaxBytes: &rss}, {Name: "gone"}}}}
	Stage(&plans.Stage{Work: &plans.Load{}, SLOs: slos}, st)
	for i, want := range []string{result.StateFailed, result.StateFailed, result.StateNoData} {
		if got := st.SLO[i].State; got != want {
			t.Errorf("%s: state %s, want %s (two instances add up)", st.SLO[i].Text, got, want)
		}
	}
	if *st.SLO[0].Value != 1 {
		t.Errorf("cpu = %v, want 1", *st.SLO[0].Value)
	}
	st.Observation.Samples = 0
	Stage(&plans.Stage{Work: &plans.Load{}, SLOs: slos}, st)
	if st.SLO[0].State != result.StateNoData {
		t.Errorf("without samples: %s, want no_data", st.SLO[0].State)
	}
}

func TestBench(t *testing.T) {
	f := func(v float64) *float64 { return &v }
	m := &result.Microbenchmark{
		Sizes: []result.Size{
			{Size: 10, Samples: 30, P50NS: f(5e6), MeanNS: f(6e6), Interval: &result.Interval{Lo: f(4e6), Hi: f(7e6)}, Forks: []result.Fork{{Settled: true}, {Settled: true}, {}}},
			{Size: 20, Samples: 30, P50NS: f(5e6), Interval: &result.Interval{Lo: f(4e6), Hi: f(7e6)}, Forks: []result.Fork{{Settled: true}, {}, {}}},
		},
		Fits: []result.Fit{{Class: "linear", ClassLo: "linear", ClassHi: "linearithmic", Evidence: 0.7, SlopeNS: 300, SlopeLoNS: f(290), SlopeHiNS: f(310)}},
	}
	tests := []struct {
		slo  string
		want string
	}{
		{"time[size=10] p50 < 8ms", result.StatePassed},
		{"time[size=10] p50 < 6ms", result.StateInconclusive},
		{"time[size=10] p50 < 3ms", result.StateFailed},
		{"time[size=10] mean < 7ms", result.StatePassed},
		{"time[size=20] p50 < 8ms", result.StateInconclusive}, // never settled in 2 of 3 forks
		{"time[size=10] max < 8ms", result.StateNoData},
		{"slope < 1us per row", result.StatePassed},
		{"slope < 300ns per row", result.StateInconclusive},
		{"slope < 100ns per row", result.StateFailed},
		{"growth <= linearithmic", result.StatePassed},
		{"growth <= linear", result.StateInconclusive},
		{"growth <= logarithmic", result.StateFailed},
		{"alloc_bytes < 1kB", result.StateNoData},
	}
	for _, tt := range tests {
		st := &result.Stage{State: result.Complete, Microbenchmark: m}
		Stage(&plans.Stage{Work: &plans.Microbenchmark{}, SLOs: parse(t, tt.slo)}, st)
		if got := st.SLO[0]; got.State != tt.want {
			t.Errorf("%s: %s (%s), want %s", tt.slo, got.State, got.Reason, tt.want)
		}
	}
}

func TestWarmup(t *testing.T) {
	at := int64(3e9)
	tests := []struct {
		warm result.Warmup
		load result.Counts
		want result.Outcome
	}{
		{result.Warmup{Until: "steady", Settled: true, SettledNS: &at}, result.Counts{Offered: 9, Completed: 9}, result.Pass},
		{result.Warmup{Until: "steady"}, result.Counts{Offered: 9, Completed: 9}, result.Inconclusive},
		{result.Warmup{Until: "duration"}, result.Counts{Offered: 9, Completed: 9}, result.Pass},
		{result.Warmup{Until: "duration"}, result.Counts{Offered: 9}, result.Inconclusive},
		{result.Warmup{Until: "steady", Settled: true, SettledNS: &at}, result.Counts{Offered: 9, Completed: 5, Failed: 4}, result.Inconclusive},
	}
	for _, tt := range tests {
		st := &result.Stage{State: result.Complete, Warmup: &tt.warm, Load: &result.Load{Counts: tt.load}}
		Stage(&plans.Stage{Work: &plans.Warmup{}}, st)
		if st.Outcome != tt.want {
			t.Errorf("%+v %+v: %s, want %s", tt.warm, tt.load, st.Outcome, tt.want)
		}
	}
}

func TestRun(t *testing.T) {
	stage := func(o result.Outcome, slos int) result.Stage {
		return result.Stage{Name: "s", Outcome: o, Reason: "because", SLO: make([]result.SLO, slos)}
	}
	tests := []struct {
		r    result.Result
		want result.Outcome
	}{
		{result.Result{}, result.Inconclusive},
		{result.Result{Stages: []result.Stage{stage(result.Pass, 1)}}, result.Pass},
		{result.Result{Stages: []result.Stage{stage(result.Pass, 1)}, Error: "gone"}, result.Inconclusive},
		{result.Result{Stages: []result.Stage{stage(result.Pass, 1)}, Interrupted: true}, result.Inconclusive},
		{result.Result{Stages: []result.Stage{stage(result.Pass, 1), stage(result.Inconclusive, 1)}}, result.Inconclusive},
		{result.Result{Stages: []result.Stage{stage(result.Fail, 1), stage(result.Inconclusive, 1)}, Error: "gone"}, result.Fail},
	}
	for i, tt := range tests {
		Run(&tt.r)
		if tt.r.Outcome != tt.want || tt.r.Reason == "" {
			t.Errorf("%d: %s (%q), want %s", i, tt.r.Outcome, tt.r.Reason, tt.want)
		}
	}
}

func TestDur(t *testing.T) {
	for ns, want := range map[int64]string{0: "0 ns", 999: "999 ns", 1500: "1.5 µs", 123456789: "123.5 ms", 2e9: "2 s", 7200e9: "7200 s"} {
		if got := dur(ns); got != want {
			t.Errorf("dur(%d) = %s, want %s", ns, got, want)
		}
	}
}
