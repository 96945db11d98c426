//go:build linux && (amd64 || arm64)

package load

import (
	"math"
	"runtime"
	"runtime/metrics"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// The event loop is taken where it can do what the run needs, and the record says which path it was and why.
func TestEngineChoice(t *testing.T) {
	t.Parallel()
	s := serve(t, func(x *call) { x.ok("") })
	plain, follow, wait := get(s), get(s), post("x", s)
	follow.Redirects, wait.ExpectContinue = 1, true
	for _, c := range []struct {
		req            *plans.Request
		engine         string
		want, becauses string
	}{
		{plain, "", EngineLoop, "it can do all"},
		{plain, EngineLoop, EngineLoop, "as asked for"},
		{plain, EngineGoroutine, EngineGoroutine, "as asked for"},
		{follow, EngineAuto, EngineGoroutine, "does not follow redirects"},
		{wait, EngineAuto, EngineGoroutine, "100 (Continue)"},
	} {
		cfg := config(t, c.req, hold(20, ms(50)))
		cfg.Engine = c.engine
		l := run(t, cfg)
		if l.Engine != c.want || !strings.Contains(l.EngineReason, c.becauses) || l.Pacing == nil || l.Pacing.Mode != PacingExact || l.Pacing.Reason == "" {
			t.Errorf("asked for %q: %q, %q, pacing %+v, want %q, %q, exact", c.engine, l.Engine, l.EngineReason, l.Pacing, c.want, c.becauses)
		}
	}
	for engine, req := range map[string]*plans.Request{EngineLoop: follow, "thread": plain} {
		cfg := config(t, req, hold(20, ms(50)))
		cfg.Engine = engine
		if _, err := Run(t.Context(), cfg); err == nil {
			t.Errorf("engine %q: want an error", engine)
		}
	}
}

// The same load on both paths comes to the same counts and times (T2, T4, T8, T9 in one).
func TestPathsAgree(t *testing.T) {
	t.Parallel()
	load := func(t *testing.T, engine, pacing string) *result.Load {
		s := serve(t, func(x *call) {
			switch {
			case x.n%50 == 7:
				hang(x)
			case x.n%50 == 13:
				x.reset()
			case x.n%50 == 21:
				x.say("HTTP/1.1 500 Oops\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
				x.close()
			case x.n%10 == 0:
				time.Sleep(300 * time.Millisecond)
				x.ok("slow")
			default:
				time.Sleep(20 * time.Millisecond)
				x.ok("quick")
			}
		})
		cfg := config(t, get(s), hold(200, time.Second))
		cfg.Engine, cfg.Pacing, cfg.Timeout = engine, pacing, 5*time.Second // far above the slow answers, however busy the machine
		return run(t, cfg, s)
	}
	want := load(t, EngineGoroutine, "")
	if want.Failed != 12 {
		t.Fatalf("failed = %d, want 12: %v", want.Failed, want.Errors)
	}
	for _, pacing := range []string{PacingExact, PacingTick, PacingPrecise} {
		t.Run(pacing, func(t *testing.T) {
			t.Parallel()
			got := load(t, EngineLoop, pacing)
			if got.Counts != want.Counts || got.Wire.Attempts != want.Wire.Attempts || got.Wire.BytesOut != want.Wire.BytesOut || got.Pacing.Mode != pacing {
				t.Errorf("%+v, wire %+v, want %+v, wire %+v", got.Counts, got.Wire, want.Counts, want.Wire)
			}
			if got, want := errorTexts(got), errorTexts(want); got != want {
				t.Errorf("errors %s, want %s", got, want)
			}
			if !quiet(t, got) || !quiet(t, want) {
				return
			}
			for q, pair := range map[string][2]*int64{"p50": {got.Response.P50NS, want.Response.P50NS}, "p95": {got.Response.P95NS, want.Response.P95NS},
				"p99": {got.Response.P99NS, want.Response.P99NS}} {
				if d := math.Abs(float64(*pair[0] - *pair[1])); d > float64(30*time.Millisecond) {
					t.Errorf("%s = %v, want %v", q, nsOf(pair[0]), nsOf(pair[1]))
				}
			}
		})
	}
}

// errorTexts are the kinds of errors and their examples, up to the address.
func errorTexts(l *result.Load) string {
	var b strings.Builder
	for _, e := range l.Errors {
		text, _, _ := strings.Cut(e.Example, "127.0.0.1")
		b.WriteString(e.Kind + ": " + text + "; ")
	}
	return b.String()
}

// In all ways to wait every arrival is sent once, none before its time, and, in ticks, none before its tick.
func TestPacing(t *testing.T) {
	t.Parallel()
	for _, pacing := range []string{PacingExact, PacingTick, PacingPrecise} {
		t.Run(pacing, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) { x.ok("") })
			cfg := config(t, get(s), hold(3000, ms(500)))
			cfg.Engine, cfg.Pacing, cfg.Tick = EngineLoop, pacing, 2*time.Millisecond
			start := time.Now()
			l := run(t, cfg, s)
			wantCounts(t, l, 1500, 0, 0, 0)
			if nsOf(l.Lag.MinNS) < 0 || l.Pacing.Mode != pacing || (l.Pacing.TickNS > 0) != (pacing == PacingTick) {
				t.Errorf("lag from %v, pacing %+v", nsOf(l.Lag.MinNS), l.Pacing)
			}
			for i, at := range s.stamps() {
				due := time.Duration(i) * time.Second / 3000
				if pacing == PacingTick {
					due = (due + cfg.Tick - 1).Truncate(cfg.Tick)
				}
				if at.Sub(start) < due {
					t.Fatalf("arrival %d came %v after the start, want %v at least", i, at.Sub(start), due)
				}
			}
		})
	}
}

// A request costs no memory of its own, on plain connections.
func TestLoopAllocates(t *testing.T) {
	req := &plans.Request{Name: "get", Target: &plans.Target{URLs: []plans.URL{sink(t)}}, Method: "GET", Path: literal("/"), Expect: statusRange(200, 200)}
	cfg := config(t, req, hold(20_000, 1200*time.Millisecond))
	cfg.Engine, cfg.Pacing, cfg.MaxInFlight, cfg.TickEvery = EngineLoop, PacingTick, 64, 100*time.Millisecond
	read := []metrics.Sample{{Name: "/gc/heap/allocs:objects"}}
	type look struct {
		at      time.Duration
		objects uint64
		done    int64
	}
	var looks []look
	cfg.OnTick = func(k Tick) bool {
		metrics.Read(read)
		looks = append(looks, look{k.At, read[0].Value.Uint64(), k.Total.Completed})
		return true
	}
	l := run(t, cfg)
	wantCounts(t, l, 24_000, 0, 0, 0)
	best := math.Inf(1)
	for i := 2; i < len(looks); i++ { // the first look makes memory for what follows; a second's end makes its histogram
		if n := looks[i].done - looks[i-1].done; n > 500 {
			best = min(best, float64(looks[i].objects-looks[i-1].objects)/float64(n))
		}
	}
	if best > 0.05 {
		t.Errorf("%.3f allocations a request at best, want none: %+v", best, looks)
	}
}

// Garbage of others does not wait for the loop: the world stops for it in short.
func TestLoopLetsCollect(t *testing.T) {
	t.Parallel()
	s := serve(t, func(x *call) { x.ok("") })
	for _, pacing := range []string{PacingExact, PacingTick} {
		cfg := config(t, get(s), hold(1500, ms(700)))
		cfg.Engine, cfg.Pacing = EngineLoop, pacing
		var stop atomic.Bool
		var cycles atomic.Int64
		done := make(chan bool)
		go func() {
			for !stop.Load() {
				runtime.GC()
				cycles.Add(1)
			}
			close(done)
		}()
		l := run(t, cfg)
		n := cycles.Load()
		stop.Store(true)
		<-done
		wantCounts(t, l, 1050, 0, 0, 0)
		if n < 1 {
			t.Errorf("%s: no collection came to its end beside a run of 0.7s", pacing)
		}
		t.Logf("%s: %d collections, longest stop %v", pacing, n, nsOf(l.Audit.GCPauseMaxNS))
	}
}

// Deadlines come in their order, of equal ones in the order of the sends, whatever ends first.
func TestLineup(t *testing.T) {
	var q lineup
	lanes := make([]*lane, 5)
	for i := range lanes {
		lanes[i] = &lane{slot: int32(i)}
		q.add(lanes[i])
	}
	for _, i := range []int{2, 0, 4} {
		q.remove(lanes[i])
	}
	q.add(lanes[0])
	var got []int32
	for ln := q.first; ln != nil; ln = ln.after {
		got = append(got, ln.slot)
	}
	if len(got) != 3 || got[0] != 1 || got[1] != 3 || got[2] != 0 || q.last != lanes[0] {
		t.Errorf("lineup = %v, want 1, 3, 0", got)
	}
	lanes[2].until, lanes[4].until = -2, -1 // sent late, with less time left
	q.add(lanes[4])
	q.add(lanes[2])
	lanes[3].until = 5
	q.remove(lanes[3])
	q.add(lanes[3])
	got = nil
	for ln := q.last; ln != nil; ln = ln.before {
		got = append(got, ln.slot)
	}
	if !slices.Equal(got, []int32{3, 0, 1, 4, 2}) || q.first != lanes[2] {
		t.Errorf("lineup from its end = %v, want 3, 0, 1, 4, 2", got)
	}
	for q.first != nil {
		q.remove(q.first)
	}
	if q.last != nil {
		t.Error("an empty lineup has a last lane")
	}
}

// Kernel times are used where they can be true, and never before the send.
func TestWallClock(t *testing.T) {
	const stamp0 = int64(1e18)
	c := wallClock{zero: stamp0, known: true}
	for _, k := range []struct {
		stamp, sent, now, want int64
		ok                     bool
	}{
		{stamp0 + 5e6, 4e6, 6e6, 5e6, true},
		{stamp0 + 4e6 - 100, 4e6, 6e6, 4e6, true}, // a hair before the send
		{0, 4e6, 6e6, 0, false},                   // the kernel gave none
		{stamp0 + 1e6, 4e6, 6e6, 0, false},        // long before the send: the clock was set
		{stamp0 + 9e9, 4e6, 6e6, 0, false},        // in the future
	} {
		if got, ok := c.at(k.stamp, k.sent, k.now); got != k.want || ok != k.ok {
			t.Errorf("at(%d, %d, %d) = %d, %v, want %d, %v", k.stamp, k.sent, k.now, got, ok, k.want, k.ok)
		}
	}
	c = wallClock{base: time.Now()}
	c.keep(0)
	zero := c.zero
	if c.unsure || !c.known {
		t.Fatalf("after the first look: %+v, want a sure clock", c)
	}
	c.zero -= int64(time.Second) // as if the clock had been set forward since
	c.keep(2 * wallEvery)
	if _, ok := c.at(c.zero+5, 1, 10); ok || !c.unsure {
		t.Error("after a step kernel times are not to be trusted")
	}
	c.keep(4 * wallEvery)
	if c.unsure || max(c.zero-zero, zero-c.zero) > wallStep {
		t.Errorf("a second after the step: %+v, want a sure clock at %d", c, zero)
	}
}
