package load

import (
	"cmp"
	"fmt"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// byClock is the distribution that a timeout is measured in.
func byClock(l *result.Load) result.Distribution {
	if l.TimeoutFrom == string(plans.FromIntended) {
		return l.Response
	}
	return l.Service
}

// T8: a timeout ends at the timeout by the clock that the plan declares, not before and hardly later, and the server sees
// each arrival once.
func TestTimeoutClocks(t *testing.T) { onEach(t, testTimeoutClocks) }

func testTimeoutClocks(t *testing.T) {
	for _, from := range []plans.TimeoutFrom{"", plans.FromIntended} {
		t.Run("from "+string(from), func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) {
				if x.n%10 != 0 {
					x.ok("")
				}
			})
			cfg := config(t, get(s), hold(100, ms(500)))
			cfg.Timeout, cfg.TimeoutFrom = 600*time.Millisecond, from
			cfg.LimitsNS = []int64{int64(cfg.Timeout) - 1}
			l := run(t, cfg, s)
			if want := cmp.Or(from, plans.FromSent); l.TimeoutFrom != string(want) {
				t.Errorf("timeout from %q, want %q", l.TimeoutFrom, want)
			}
			wantCounts(t, l, 45, 5, 0, 0)
			wantError(t, l, kindTimeout, 5)
			if n := s.arrivals.Load(); n != 50 || l.Segments[0].OverResponse[0] < 5 {
				t.Errorf("arrivals %d, at or above the timeout %d, want 50, 5", n, l.Segments[0].OverResponse[0])
			}
			if got := nsOf(byClock(l).CensoredFromNS); got < cfg.Timeout {
				t.Errorf("the shortest timeout took %v, want %v or more", got, cfg.Timeout)
			}
			if got := nsOf(byClock(l).MaxNS); got > cfg.Timeout+100*time.Millisecond && quiet(t, l) {
				t.Errorf("the longest timeout took %v, want %v", got, cfg.Timeout)
			}
		})
	}
}

// Twice the load that two requests at a time can do: with a timeout from the send all are answered in the end; with one
// from the intended time no answer is later than that, and what waits longer is never sent.
func TestTimeoutWhileWaiting(t *testing.T) { onEach(t, testTimeoutWhileWaiting) }

func testTimeoutWhileWaiting(t *testing.T) {
	overload := func(t *testing.T, from plans.TimeoutFrom) (*result.Load, Config) {
		s := serve(t, func(x *call) {
			time.Sleep(100 * time.Millisecond)
			x.ok("")
		})
		cfg := config(t, get(s), hold(40, time.Second))
		cfg.MaxInFlight, cfg.Timeout, cfg.TimeoutFrom = 2, 300*time.Millisecond, from
		cfg.LimitsNS = []int64{int64(cfg.Timeout)}
		return run(t, cfg, s), cfg
	}
	t.Run("from sent", func(t *testing.T) {
		t.Parallel()
		l, cfg := overload(t, plans.FromSent)
		if l.Dropped != 0 || l.Sent != 40 || nsOf(l.Response.MaxNS) < cfg.Timeout {
			t.Errorf("counts %+v, longest response %v, want all sent, some above the timeout", l.Counts, nsOf(l.Response.MaxNS))
		}
		if quiet(t, l) {
			wantCounts(t, l, 40, 0, 0, 0)
		}
	})
	t.Run("from intended", func(t *testing.T) {
		t.Parallel()
		l, cfg := overload(t, plans.FromIntended)
		if l.Failed == 0 || l.Unfinished != 0 || l.Offered != 40 || nsOf(l.Response.CensoredFromNS) < cfg.Timeout {
			t.Errorf("counts %+v, timeouts from %v, want some failed, from %v", l.Counts, nsOf(l.Response.CensoredFromNS), cfg.Timeout)
		}
		wantError(t, l, kindTimeout, l.Failed)
		if over := l.Segments[0].OverResponse[0]; over < l.Failed+l.Dropped {
			t.Errorf("%d over the limit, want the %d failed and %d dropped at least", over, l.Failed, l.Dropped)
		}
		if quiet(t, l) && (nsOf(l.Response.MaxNS) > cfg.Timeout+100*time.Millisecond || nsOf(l.Lag.MaxNS) > cfg.Timeout+100*time.Millisecond) {
			t.Errorf("response up to %v, lag up to %v, want %v at most", nsOf(l.Response.MaxNS), nsOf(l.Lag.MaxNS), cfg.Timeout)
		}
	})
}

// Arrivals whose time is up before one request at a time could be tried for each are dropped, and counted over the limit.
func TestTimeoutDrops(t *testing.T) { onEach(t, testTimeoutDrops) }

func testTimeoutDrops(t *testing.T) {
	s := serve(t, hang)
	cfg := config(t, get(s), hold(1_000_000, 5*time.Millisecond))
	cfg.MaxInFlight, cfg.Timeout, cfg.TimeoutFrom = 1, 300*time.Millisecond, plans.FromIntended
	l := run(t, cfg, s)
	if l.Offered != 5000 || l.Completed != 0 || l.Dropped < 2000 || l.Sent < 1 || l.Unfinished != 0 || l.Audit.Capped < l.Dropped {
		t.Errorf("counts %+v, capped %d, want most dropped, none completed", l.Counts, l.Audit.Capped)
	}
	if seg := l.Segments[0]; seg.OverResponse[0] != 5000 || nsOf(l.Response.MinNS) < cfg.Timeout {
		t.Errorf("%d over the limit, response from %v, want all, %v or more", seg.OverResponse[0], nsOf(l.Response.MinNS), cfg.Timeout)
	}
	if l.DrainNS < int64(cfg.Timeout)-int64(5*time.Millisecond) || l.DrainNS > int64(cfg.Drain) {
		t.Errorf("drain %v, want about the timeout", time.Duration(l.DrainNS))
	}
}

func TestTimeoutFromRefused(t *testing.T) {
	s := serve(t, func(x *call) { x.ok("") })
	cfg := config(t, get(s), hold(10, ms(100)))
	cfg.TimeoutFrom = "now"
	want := `load: got timeout_from "now", want sent or intended`
	if _, err := Run(t.Context(), cfg); fmt.Sprint(err) != want {
		t.Errorf("Run = %v, want %s", err, want)
	}
}
