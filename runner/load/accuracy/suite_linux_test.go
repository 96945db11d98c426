package main

import (
	"bytes"
	"encoding/json"
	"io"
	"math"
	"os"
	"strings"
	"testing"
	"time"
)

// TestMain is also the server and the generator that the tests start.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && (os.Args[1] == "serve" || os.Args[1] == "generate") {
		os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	os.Exit(m.Run())
}

func testRig(t *testing.T) *rig {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &rig{ctx: t.Context(), self: self, engine: "auto", brief: true}
}

// wantCounts wants all checks but those that need a quiet machine to be ok.
func wantCounts(t *testing.T, s *sheet, least int) {
	t.Helper()
	n := 0
	for _, c := range s.checks {
		if c.Timing {
			continue
		}
		n++
		if !c.OK {
			t.Errorf("%s: truth %v, measured %v, bar %v %s", c.Name, c.Truth, c.Measured, c.Bar, c.Note)
		}
	}
	if n < least {
		t.Errorf("%d checks of counts, want %d or more", n, least)
	}
}

// The whole way, with servers and generators in their own processes: timeouts and
// resets are counted exactly on any machine.
func TestSmoke(t *testing.T) {
	t.Parallel()
	s := &sheet{test: "T8", tool: perfplan}
	if err := testTimeouts(testRig(t), s); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, s, 7)
}

func TestSmokeResets(t *testing.T) {
	t.Parallel()
	for _, engine := range []string{"goroutine", "loop"} {
		r := testRig(t)
		r.engine = engine
		o, err := r.measure(setup{mode: "reset m=20 when=before", job: job{Segments: hold(200, time.Second), Seq: true}})
		if err != nil {
			t.Fatal(err)
		}
		s := &sheet{part: engine}
		s.count("of kind reset", 10, o.errorsOf("reset"), 0)
		s.count("completed", 190, o.Completed, 0)
		s.identities(o)
		wantCounts(t, s, 3)
		if o.Engine != engine {
			t.Errorf("asked for %s, got %s", engine, o.Engine)
		}
	}
}

// The server's log tells what the engine should report: never less than it.
func TestTrace(t *testing.T) {
	t.Parallel()
	o, err := testRig(t).measure(setup{mode: "fixed d=20ms", job: job{Segments: hold(100, time.Second), Seq: true}})
	if err != nil {
		t.Fatal(err)
	}
	trace, ok := o.trace()
	if !ok || len(o.log.Seq) != 100 {
		t.Fatalf("%d requests in the log, trace %v", len(o.log.Seq), ok)
	}
	for _, p := range []float64{0.1, 0.5, 0.9} {
		if got := quantilesOf(o.response)(p); trace.q(p) < float64(20*ms) || got*1.001+float64(ms) < trace.q(p) {
			t.Errorf("p%g: reported %v, by the log %v, want that at least, and 20ms", 100*p, got, trace.q(p))
		}
	}
	s := &sheet{}
	if err := s.healthy(o); err != nil {
		t.Fatal(err)
	}
	wantCounts(t, s, 1)
	o.log.Replays++
	s = &sheet{}
	s.identities(o)
	if c := s.checks[0]; c.OK || c.Note != "replays at the server 1, want 0" {
		t.Errorf("a replay gives %+v", c)
	}
}

func TestMeasureErrors(t *testing.T) {
	t.Parallel()
	r := testRig(t)
	if _, err := r.measure(setup{mode: "fast", job: job{Segments: hold(10, time.Second)}}); err == nil {
		t.Error("an unknown mode has no error")
	}
	r.engine = "steam"
	if _, err := r.measure(setup{mode: "fixed", job: job{Segments: hold(10, time.Second)}}); err == nil || !strings.Contains(err.Error(), "steam") {
		t.Errorf("an unknown engine: %v", err)
	}
}

func TestMerge(t *testing.T) {
	one := []check{{Test: "T1", Name: "a", Measured: 1, Error: 1, Bar: 2, OK: true}, {Test: "T1", Name: "b", Measured: 5, OK: true}}
	two := []check{{Test: "T1", Name: "a", Measured: 3, Error: 3, Bar: 2}, {Test: "T1", Name: "b", Measured: 5, OK: true}}
	three := []check{{Test: "T1", Name: "a", Measured: 2, Error: 2, Bar: 2, OK: true}, {Test: "T1", Name: "b", Measured: 5, OK: true}}
	got := merge([][]check{one, two, three})
	if len(got) != 2 || got[0].Measured != 2 || got[0].Error != 3 || got[0].OK || !got[1].OK {
		t.Errorf("merge = %+v, want the median 2 with the worst error 3, not ok", got)
	}
}

func TestSheetBars(t *testing.T) {
	s := &sheet{test: "T2"}
	s.quantile(func(float64) float64 { return 101.9e6 }, point(100*ms), "p99.9", 0)
	s.quantile(func(float64) float64 { return 102.1e6 }, point(100*ms), "p50", 0)
	s.quantile(func(float64) float64 { return math.NaN() }, point(100*ms), "p50", 0)
	s.tail(bimodal(ms, 100*ms, 50), 50*ms, 20, 1000, 0)
	s.tail(bimodal(ms, 100*ms, 50), 50*ms, 40, 1000, 0)
	for i, want := range []bool{true, false, false, true, false} {
		if s.checks[i].OK != want {
			t.Errorf("check %d: %+v, want ok %v", i, s.checks[i], want)
		}
	}
}

func TestNoise(t *testing.T) {
	at := time.Now()
	before := counters{at: at, pressure: time.Second, steal: 10, ticks: 1000}
	after := counters{at: at.Add(10 * time.Second), pressure: 1500 * ms, steal: 10, ticks: 2000}
	if n := between(before, after, []int64{1, 2, 3}); n.fault() != "" || n.pressure != 0.05 {
		t.Errorf("a quiet machine: %+v, %q", n, n.fault())
	}
	for what, change := range map[string]func(*noise){
		"core":       func(n *noise) { n.pressure = 0.11 },
		"hypervisor": func(n *noise) { n.steal = 0.02 },
		"server":     func(n *noise) { n.hold = 2 * ms },
	} {
		n := between(before, after, nil)
		change(&n)
		if !strings.Contains(n.fault(), what) {
			t.Errorf("fault = %q, want one with %q", n.fault(), what)
		}
	}
	n := noise{pressure: 0.9, unjudged: true}
	if n.fault() != "" {
		t.Errorf("pressure is judged: %q", n.fault())
	}
	if _, err := readCounters(); err != nil {
		t.Logf("this machine cannot run the suite: %v", err)
	}
}

func TestFlags(t *testing.T) {
	for args, want := range map[string]int{"--only T99": exitUsage, "--repeat 0": exitUsage, "T1": exitUsage, "--help": exitOK} {
		if got := run(strings.Fields(args), nil, io.Discard, io.Discard); got != want {
			t.Errorf("exit of %q = %d, want %d", args, got, want)
		}
	}
	if o, err := parse([]string{"--only", "T1,T18"}, io.Discard); err != nil || o.only != "T1,T18" {
		t.Errorf("parse = %+v, %v", o, err)
	}
}

// The exit code tells a failure from a machine that was too noisy.
func TestSum(t *testing.T) {
	good := check{Test: "T1", Tool: perfplan, OK: true, Timing: true}
	late := check{Test: "T1", Tool: perfplan, Timing: true}
	wrong := check{Test: "T1", Tool: perfplan}
	peer := check{Test: "T1", Tool: "hey"}
	noisy := late
	noisy.Noisy = true
	for _, tt := range []struct {
		checks []check
		want   int
	}{
		{[]check{good, peer}, exitOK},
		{[]check{good, late}, exitFailed},
		{[]check{good, noisy}, exitTooMuch},
		{[]check{noisy, wrong}, exitFailed},
	} {
		if got := sum(tt.checks, io.Discard); got != tt.want {
			t.Errorf("exit of %+v = %d, want %d", tt.checks, got, tt.want)
		}
	}
}

func TestOutputs(t *testing.T) {
	checks := []check{
		{Test: "T2", Tool: perfplan, Name: "p99", Unit: unitNS, Truth: 185e6, Measured: 186e6, Error: 1e6, Bar: 3.7e6, OK: true, Timing: true},
		{Test: "T2", Tool: "hey", Name: "p99.9", Unit: unitNS, Truth: 203e6, Measured: math.NaN(), Error: math.NaN(), Bar: 4e6, Timing: true},
	}
	var table, list bytes.Buffer
	if err := writeTable(&table, checks); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"185 ms", "186 ms", "1 ms", "3.7 ms", "ok", "n/a", "FAIL"} {
		if !strings.Contains(table.String(), want) {
			t.Errorf("the table has no %q:\n%s", want, table.String())
		}
	}
	checks[0].Noisy = true
	if err := writeJSON(&list, checks); err != nil {
		t.Fatal(err)
	}
	var rows []map[string]any
	if err := json.Unmarshal(list.Bytes(), &rows); err != nil || len(rows) != 2 || rows[0]["truth"] != 185e6 || rows[1]["measured"] != nil || rows[0]["verdict"] != "noisy" {
		t.Errorf("JSON: %v, %v", rows, err)
	}
}
