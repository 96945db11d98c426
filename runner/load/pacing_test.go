package load

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/schedule"
)

func TestChoosePacing(t *testing.T) {
	const us = time.Microsecond
	slow, quick := timerCost{cpu: 30_000, late: 60_000}, timerCost{cpu: 4_000, late: 20_000}
	for _, c := range []struct {
		rate     float64
		inFlight int
		timer    timerCost
		pacing   string
		tick     time.Duration
		want     string
		wantTick time.Duration
		reason   string
	}{
		{1000, 1000, slow, "", 0, PacingExact, 0, "a timer costs 30µs here, one for each of 1000 arrivals a second 0.03 of a core"},
		{20000, 1000, slow, PacingAuto, 0, PacingTick, 500 * us, "0.6 of a core"},
		{20000, 1000, quick, PacingAuto, 0, PacingTick, 500 * us, "0.08 of a core"},
		{10000, 1000, quick, PacingAuto, 0, PacingExact, 0, "0.04 of a core"},
		{60000, 1000, slow, PacingAuto, 0, PacingTick, 333333, "1.8 of a core"},
		{200000, 1000, slow, PacingAuto, 0, PacingTick, 250 * us, ""},
		{1e6, 32, slow, PacingAuto, 0, PacingExact, 0, "max_in_flight 32 is too low"},
		{1000, 10, slow, PacingTick, 0, PacingTick, 500 * us, "as asked for"},
		{1000, 10, slow, PacingTick, time.Millisecond, PacingTick, time.Millisecond, ""},
		{50000, 10, slow, PacingExact, 0, PacingExact, 0, "as asked for"},
		{50000, 10, slow, PacingPrecise, 0, PacingPrecise, 0, ""},
	} {
		s, err := schedule.New([]schedule.Segment{hold(1, time.Second), {From: 2, To: c.rate, Over: time.Second}}, schedule.Uniform, 1)
		if err != nil {
			t.Fatal(err)
		}
		p, err := choosePacing(&Config{Schedule: s, MaxInFlight: c.inFlight, Pacing: c.pacing, Tick: c.tick}, c.timer)
		if err != nil || p.mode != c.want || p.tick != int64(c.wantTick) || !strings.Contains(p.reason, c.reason) {
			t.Errorf("%g/s, %d in flight, asked for %q: %+v, %v, want %s of %v, %q", c.rate, c.inFlight, c.pacing, p, err, c.want, c.wantTick, c.reason)
		}
	}
	s, _ := schedule.New([]schedule.Segment{hold(1, time.Second)}, schedule.Uniform, 1)
	for _, cfg := range []Config{{Pacing: "often"}, {Pacing: PacingTick, Tick: -1}, {Pacing: PacingTick, Tick: time.Minute}} {
		cfg.Schedule = s
		if p, err := choosePacing(&cfg, slow); err == nil {
			t.Errorf("%q, %v: got %+v, want an error", cfg.Pacing, cfg.Tick, p)
		}
	}
}

// An arrival is sent at the first tick that is not before it.
func TestTickTimes(t *testing.T) {
	tick := pacing{tick: 500}
	for _, c := range []struct{ intended, due int64 }{{0, 0}, {1, 500}, {499, 500}, {500, 500}, {501, 1000}} {
		if got := tick.due(c.intended); got != c.due {
			t.Errorf("due(%d) = %d, want %d", c.intended, got, c.due)
		}
		if c.due > 0 && tick.frontier(c.due-1) >= c.intended || tick.frontier(c.due) < c.intended {
			t.Errorf("frontier at %d = %d, want it to pass %d then and not before", c.due, tick.frontier(c.due), c.intended)
		}
	}
	if got := tick.frontier(-3); got >= 0 {
		t.Errorf("frontier before the start = %d, want nothing to be due", got)
	}
	if exact := (pacing{}); exact.due(501) != 501 || exact.frontier(501) != 501 {
		t.Error("without ticks an arrival is sent at its time")
	}
}

func TestLoopsFor(t *testing.T) {
	t.Parallel()
	plain, secure := []Host{{}}, []Host{{TLS: &tls.Config{}}}
	for _, c := range []struct {
		rate                   float64
		hosts                  []Host
		asked, inFlight, cores int
		want                   int
	}{
		{1000, plain, 0, 1000, 64, 1},
		{50_000, plain, 0, 1000, 64, 1},
		{120_000, plain, 0, 1000, 64, 3},
		{120_000, plain, 0, 1000, 4, 2},
		{120_000, plain, 0, 1000, 1, 1},
		{120_000, plain, 0, 2, 64, 2},
		{50_000, secure, 0, 1000, 64, 2},
		{10, plain, 5, 1000, 1, 5},
	} {
		s, err := schedule.New([]schedule.Segment{hold(c.rate, time.Second)}, schedule.Uniform, 1)
		if err != nil {
			t.Fatal(err)
		}
		cfg := &Config{Schedule: s, Hosts: c.hosts, Loops: c.asked, MaxInFlight: c.inFlight}
		if got := loopsFor(cfg, c.cores); got != c.want {
			t.Errorf("loopsFor %g/s, %d asked for, %d in flight, %d cores = %d, want %d", c.rate, c.asked, c.inFlight, c.cores, got, c.want)
		}
	}
}
