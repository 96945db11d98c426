package load

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/schedule"
)

// hang keeps a request unanswered until the client or the test closes the connection.
func hang(x *call) {
	x.Conn.Read(make([]byte, 1))
	x.close()
}

// C-15: a request without an answer counts in the distributions with the time it was waited for.
func TestTimeout(t *testing.T) { onEach(t, testTimeout) }

func testTimeout(t *testing.T) {
	s := serve(t, hang)
	cfg := config(t, get(s), hold(20, time.Second))
	cfg.Timeout = 800 * time.Millisecond
	l := run(t, cfg, s)
	wantCounts(t, l, 0, 20, 0, 0)
	wantError(t, l, kindTimeout, 20)
	if l.Service.Count != 20 || nsOf(l.Service.MinNS) < cfg.Timeout || nsOf(l.Response.MinNS) < cfg.Timeout {
		t.Errorf("service %d from %v, response from %v, want 20, both from %v", l.Service.Count, nsOf(l.Service.MinNS), nsOf(l.Response.MinNS), cfg.Timeout)
	}
	if got := nsOf(l.Service.P50NS); got > 2*cfg.Timeout && quiet(t, l) {
		t.Errorf("median service time %v, want about %v", got, cfg.Timeout)
	}
	if nsOf(l.Response.CensoredFromNS) != nsOf(l.Response.MinNS) || nsOf(l.Service.CensoredFromNS) != nsOf(l.Service.MinNS) {
		t.Errorf("censored from %v and %v, want the shortest times", nsOf(l.Response.CensoredFromNS), nsOf(l.Service.CensoredFromNS))
	}
	if l.Wire.FirstByte.Count != 0 || len(l.Status) != 0 {
		t.Errorf("first bytes %d, status %v, want none, none", l.Wire.FirstByte.Count, l.Status)
	}
}

// C-15 variant and T8: every tenth request hangs.
func TestTimeoutsAmongAnswers(t *testing.T) { onEach(t, testTimeoutsAmongAnswers) }

func testTimeoutsAmongAnswers(t *testing.T) {
	s := serve(t, func(x *call) {
		if x.n%10 == 0 {
			hang(x)
			return
		}
		x.ok("")
	})
	cfg := config(t, get(s), hold(100, time.Second))
	cfg.Timeout = 2 * time.Second
	cfg.LimitsNS = []int64{int64(1900 * time.Millisecond), int64(time.Hour)}
	l := run(t, cfg, s)
	wantCounts(t, l, 90, 10, 0, 0)
	wantError(t, l, kindTimeout, 10)
	if l.Response.Count != 100 || nsOf(l.Response.P99NS) < cfg.Timeout || nsOf(l.Response.P50NS) >= cfg.Timeout && quiet(t, l) {
		t.Errorf("response: %d samples, p50 %v, p99 %v, want 100, p99 from %v", l.Response.Count, nsOf(l.Response.P50NS), nsOf(l.Response.P99NS), cfg.Timeout)
	}
	seg := l.Segments[0]
	if seg.OverResponse[0] < 10 || seg.OverResponse[1] != 10 || seg.OverService[1] != 10 {
		t.Errorf("over = %v, %v, want 10 each: a timeout is over any limit", seg.OverResponse, seg.OverService)
	}
}

// C-16: fast failures are kept apart from the answers that were wanted.
func TestFastFailures(t *testing.T) { onEach(t, testFastFailures) }

func testFastFailures(t *testing.T) {
	s := serve(t, func(x *call) {
		if x.n%10 < 7 {
			x.say("HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n")
			return
		}
		time.Sleep(400 * time.Millisecond)
		x.ok("")
	})
	l := run(t, config(t, get(s), hold(100, time.Second)), s)
	wantCounts(t, l, 30, 70, 0, 0)
	wantError(t, l, kindStatus, 70)
	if l.Response.Count != 30 || nsOf(l.Response.MinNS) < 400*time.Millisecond {
		t.Errorf("response: %d samples from %v, want 30 from 400ms", l.Response.Count, nsOf(l.Response.MinNS))
	}
	if l.FailedResponse.Count != 70 || nsOf(l.FailedResponse.P50NS) >= 400*time.Millisecond && quiet(t, l) {
		t.Errorf("failed response: %d samples, p50 %v, want 70 quick ones", l.FailedResponse.Count, nsOf(l.FailedResponse.P50NS))
	}
	if over := l.Segments[0].OverResponse[0]; over != 100 {
		t.Errorf("over 100ms = %d, want all 100", over)
	}
}

// C-16 with connection refused, and C-26: a run without one good sample.
func TestRefused(t *testing.T) { onEach(t, testRefused) }

func testRefused(t *testing.T) {
	s := serve(t, nil)
	cfg := config(t, get(s), hold(100, ms(100)))
	s.kill()
	l := run(t, cfg)
	wantCounts(t, l, 0, 10, 0, 0)
	wantError(t, l, kindRefused, 10)
	if e := l.Errors[0]; e.Example != "connection refused by "+s.Addr().String() || e.Class != "target" {
		t.Errorf("error = %+v", e)
	}
	if l.Response.Count != 0 || l.Response.P50NS != nil || l.Response.MinNS != nil || l.Response.MeanNS != nil || l.Response.Histogram != "" {
		t.Errorf("response = %+v, want no figures", l.Response)
	}
	if l.Wire.Attempts != 0 || l.Wire.Opened != 0 {
		t.Errorf("attempts %d, opened %d, want 0, 0", l.Wire.Attempts, l.Wire.Opened)
	}
}

// C-17: the number of requests is what the rate and the time say; none starts after the end.
func TestDegenerateSchedules(t *testing.T) { onEach(t, testDegenerateSchedules) }

func testDegenerateSchedules(t *testing.T) {
	for _, c := range []struct {
		rate float64
		over time.Duration
		want int64
	}{{1, ms(300), 1}, {2.5, ms(2000), 5}, {3, time.Second, 3}, {1e6, ms(2), 2000}} {
		t.Run(fmt.Sprint(c.rate), func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) { x.ok("") })
			start := time.Now()
			l := run(t, config(t, get(s), hold(c.rate, c.over)), s)
			wantCounts(t, l, c.want, 0, 0, 0)
			if took := time.Since(start); took < c.over || l.DurationNS != int64(c.over) {
				t.Errorf("%g/s for %v: took %v, duration %v", c.rate, c.over, took, time.Duration(l.DurationNS))
			}
		})
	}
}

// C-18 and T15: the bound holds back what the server is too slow for, and the record says so.
func TestBoundReached(t *testing.T) { onEach(t, testBoundReached) }

func testBoundReached(t *testing.T) {
	s := serve(t, func(x *call) {
		time.Sleep(50 * time.Millisecond)
		x.ok("")
	})
	cfg := config(t, get(s), hold(200, time.Second))
	cfg.MaxInFlight, cfg.Drain = 4, 500*time.Millisecond // capacity 80/s
	start := time.Now()
	l := run(t, cfg, s)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v, want the planned second and the drain", took)
	}
	if l.Offered != 200 || l.Sent > 4*1500/50 || l.Completed == 0 || l.Dropped != 200-l.Sent || l.Unfinished > 4 {
		t.Errorf("counts = %+v, want 200 offered, at most 120 sent, the rest dropped", l.Counts)
	}
	if l.Audit.Capped < 150 || l.Audit.MaxInFlight != 4 || l.Segments[0].Capped != l.Audit.Capped {
		t.Errorf("capped %d, in flight at most %d, want nearly all of 200, 4", l.Audit.Capped, l.Audit.MaxInFlight)
	}
	if m := l.Segments[0].MeanInFlight; m < 2.5 || m > 4 {
		t.Errorf("mean in flight = %v, want nearly 4", m)
	}
	// The waiting is in the response time, not in the service time, and it is not the generator's.
	if nsOf(l.Response.MaxNS) < 500*time.Millisecond || nsOf(l.Service.P50NS) > nsOf(l.Response.P90NS) || nsOf(l.Waiting.MaxNS) < 400*time.Millisecond {
		t.Errorf("response max %v, service p50 %v, waiting max %v", nsOf(l.Response.MaxNS), nsOf(l.Service.P50NS), nsOf(l.Waiting.MaxNS))
	}
	if l.Waiting.SumNS < 0.8*l.Lag.SumNS && quiet(t, l) {
		t.Errorf("waiting %v of lag %v, want most of it", l.Waiting.SumNS, l.Lag.SumNS)
	}
}

// T15, drop policy: what finds the bound reached is never sent, the rest is on time.
func TestBoundDrops(t *testing.T) { onEach(t, testBoundDrops) }

func testBoundDrops(t *testing.T) {
	s := serve(t, func(x *call) {
		time.Sleep(50 * time.Millisecond)
		x.ok("")
	})
	cfg := config(t, get(s), hold(200, time.Second))
	cfg.MaxInFlight, cfg.AtMax = 4, plans.Drop
	l := run(t, cfg, s)
	if l.Offered != 200 || l.Completed > 84 || l.Dropped < 116 || l.Audit.Capped != l.Dropped || l.Waiting.SumNS != 0 {
		t.Errorf("counts = %+v, capped %d, waiting %v ns, want at most 84 completed, the rest dropped", l.Counts, l.Audit.Capped, l.Waiting.SumNS)
	}
	if l.AtMax != "drop" || l.Unfinished != 0 {
		t.Errorf("at_max %q, unfinished %d", l.AtMax, l.Unfinished)
	}
}

// C-18, T2: a stall delays no later intended time; everyone who arrives in it is seen waiting.
func TestStall(t *testing.T) { onEach(t, testStall) }

func testStall(t *testing.T) {
	for _, inFlight := range []int{1000, 4} {
		begin := time.Now()
		from, until := begin.Add(400*time.Millisecond), begin.Add(800*time.Millisecond)
		s := serve(t, func(x *call) {
			if now := time.Now(); now.After(from) && now.Before(until) {
				time.Sleep(until.Sub(now))
			}
			x.ok("")
		})
		cfg := config(t, get(s), hold(200, 1200*time.Millisecond))
		cfg.MaxInFlight = inFlight
		cfg.LimitsNS = []int64{int64(200 * time.Millisecond)}
		l := run(t, cfg, s)
		wantCounts(t, l, 240, 0, 0, 0)
		// Of the 80 arrivals in the stall, those of its first 200 ms take longer than 200 ms.
		if over := l.Segments[0].OverResponse[0]; over < 35 {
			t.Errorf("max in flight %d: %d responses over 200ms, want about 40", inFlight, over)
		}
		if over := l.Segments[0].OverService[0]; inFlight == 4 && over > 4 && quiet(t, l) {
			t.Errorf("%d service times over 200ms, want the 4 in flight at most", over)
		}
		if got := nsOf(l.Response.MaxNS); got < 350*time.Millisecond {
			t.Errorf("max in flight %d: longest response %v, want about 400ms", inFlight, got)
		}
	}
}

// T4: one slow answer in M holds up none of the others.
func TestBimodal(t *testing.T) { onEach(t, testBimodal) }

func testBimodal(t *testing.T) {
	s := serve(t, func(x *call) {
		if x.n%20 == 0 {
			time.Sleep(600 * time.Millisecond)
		}
		x.ok("")
	})
	cfg := config(t, get(s), hold(200, 2*time.Second))
	cfg.LimitsNS = []int64{int64(590 * time.Millisecond)}
	l := run(t, cfg, s)
	wantCounts(t, l, 400, 0, 0, 0)
	if over := l.Segments[0].OverResponse[0]; over < 20 || over > 22 && quiet(t, l) {
		t.Errorf("%d responses over 590ms, want the 20 slow ones", over)
	}
	if nsOf(l.Response.P99NS) < 600*time.Millisecond || nsOf(l.Response.P50NS) > 300*time.Millisecond && quiet(t, l) {
		t.Errorf("p50 %v, p99 %v, want about 0 and 600ms", nsOf(l.Response.P50NS), nsOf(l.Response.P99NS))
	}
}

// T12: nothing is left out of a run's start.
func TestStallAtStart(t *testing.T) { onEach(t, testStallAtStart) }

func testStallAtStart(t *testing.T) {
	until := time.Now().Add(400 * time.Millisecond)
	s := serve(t, func(x *call) {
		time.Sleep(time.Until(until))
		x.ok("")
	})
	cfg := config(t, get(s), hold(100, time.Second))
	cfg.LimitsNS = []int64{int64(100 * time.Millisecond)}
	l := run(t, cfg, s)
	wantCounts(t, l, 100, 0, 0, 0)
	if over := l.Segments[0].OverResponse[0]; over < 20 {
		t.Errorf("%d responses over 100ms, want about 29", over)
	}
}

// C-19 and T13: the rate is the total, evenly spaced, whatever the bound.
func TestEvenArrivals(t *testing.T) { onEach(t, testEvenArrivals) }

func testEvenArrivals(t *testing.T) {
	for _, inFlight := range []int{1, 7, 50} {
		t.Run(fmt.Sprint(inFlight), func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) { x.ok("") })
			cfg := config(t, get(s), hold(10, 2*time.Second))
			cfg.MaxInFlight = inFlight
			start := time.Now()
			l := run(t, cfg, s)
			wantCounts(t, l, 20, 0, 0, 0)
			even := quiet(t, l)
			for i, at := range s.stamps() {
				early, late := start.Add(time.Duration(i)*100*time.Millisecond), time.Duration(i)*100*time.Millisecond+95*time.Millisecond
				if at.Before(early) {
					t.Errorf("arrival %d is %v early", i, early.Sub(at))
				}
				if since := at.Sub(s.stamps()[0]); even && since > late {
					t.Errorf("arrival %d came %v after the first, want %v at most", i, since, late)
				}
			}
		})
	}
}

// A run that is cancelled ends at once with what it has.
func TestCancel(t *testing.T) { onEach(t, testCancel) }

func testCancel(t *testing.T) {
	s := serve(t, hang)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	cfg := config(t, get(s), hold(100, 30*time.Second))
	cfg.MaxInFlight = 10
	start := time.Now()
	l := runCtx(t, ctx, cfg, s)
	if took := time.Since(start); took > 10*time.Second {
		t.Errorf("took %v", took)
	}
	if l.Unfinished != 10 || l.Completed != 0 || l.Failed != 0 || l.Dropped != l.Offered-10 || l.Offered < 11 {
		t.Errorf("counts = %+v, want 10 unfinished, the others dropped", l.Counts)
	}
	if l.DurationNS >= l.PlannedNS || l.Planned != 3000 || l.Segments[0].DurationNS != l.DurationNS {
		t.Errorf("duration %d of %d, segment's %d", l.DurationNS, l.PlannedNS, l.Segments[0].DurationNS)
	}
	if l.Response.Count != 10 || l.Response.CensoredFromNS == nil {
		t.Errorf("response = %+v, want the 10 unfinished, censored", l.Response)
	}
}

// A run that is cancelled before its first request (C-26).
func TestCancelBefore(t *testing.T) { onEach(t, testCancelBefore) }

func testCancelBefore(t *testing.T) {
	s := serve(t, hang)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	l := runCtx(t, ctx, config(t, get(s), hold(1, time.Second)), s)
	if l.Sent > 1 || l.Offered > 1 {
		t.Errorf("counts = %+v", l.Counts)
	}
}

// What has no answer when the drain ends is unfinished, with the time it was waited for.
func TestUnfinished(t *testing.T) { onEach(t, testUnfinished) }

func testUnfinished(t *testing.T) {
	s := serve(t, hang)
	cfg := config(t, get(s), hold(50, ms(200)))
	cfg.Drain = 300 * time.Millisecond
	l := run(t, cfg, s)
	wantCounts(t, l, 0, 0, 0, 10)
	if nsOf(l.Response.MinNS) < cfg.Drain || nsOf(l.Response.CensoredFromNS) != nsOf(l.Response.MinNS) || l.DrainNS < int64(cfg.Drain) {
		t.Errorf("response from %v, censored from %v, drain %v, want from 300ms", nsOf(l.Response.MinNS), nsOf(l.Response.CensoredFromNS), time.Duration(l.DrainNS))
	}
	if last := l.Series[len(l.Series)-1]; last.InFlight != 10 || len(l.Errors) != 0 {
		t.Errorf("last second %+v, errors %v, want 10 in flight, none", last, l.Errors)
	}
}

// OnTick sees the run and can end the offering; what was sent is still waited for.
func TestTicks(t *testing.T) { onEach(t, testTicks) }

func testTicks(t *testing.T) {
	s := serve(t, func(x *call) { x.ok("") })
	cfg := config(t, get(s), hold(100, 30*time.Second))
	cfg.TickEvery = 100 * time.Millisecond
	var ticks []Tick
	cfg.OnTick = func(k Tick) bool {
		if !k.Draining {
			ticks = append(ticks, k)
		}
		return k.Total.Completed < 20
	}
	l := run(t, cfg, s)
	if l.Offered < 20 || l.Offered >= 3000 || l.Completed != l.Offered || l.DurationNS >= l.PlannedNS {
		t.Fatalf("%d ticks, counts %+v, duration %v, want an early end without loss", len(ticks), l.Counts, time.Duration(l.DurationNS))
	}
	last := ticks[len(ticks)-1]
	var samples int64
	for _, k := range ticks {
		if samples += k.Samples; k.Samples > 0 && (k.P50 <= 0 || k.P99 < k.P50) {
			t.Errorf("tick %+v: want p50 and p99", k)
		}
	}
	if samples != last.Total.Completed {
		t.Errorf("samples of the ticks = %d, want %d", samples, last.Total.Completed)
	}
	var sum int64
	for _, k := range ticks {
		sum += k.Last.Offered
		if k.Total.Sent != k.Total.Completed+k.Total.Failed+int64(k.InFlight) && k.Total.Sent < k.Total.Completed {
			t.Errorf("tick %+v: sent less than completed", k)
		}
	}
	if sum != last.Total.Offered {
		t.Errorf("offered over the ticks = %d, want %d", sum, last.Total.Offered)
	}
}

// C-35: hosts take turns exactly, whatever they do.
func TestHostsTakeTurns(t *testing.T) { onEach(t, testHostsTakeTurns) }

func testHostsTakeTurns(t *testing.T) {
	var servers []*server
	for i := range 4 {
		servers = append(servers, serve(t, func(x *call) {
			if i == 2 {
				time.Sleep(100 * time.Millisecond)
			}
			x.ok("")
		}))
	}
	for _, inFlight := range []int{1000, 3} {
		cfg := config(t, get(servers...), hold(200, ms(505)))
		cfg.MaxInFlight = inFlight
		before := [4]int64{}
		for i, s := range servers {
			before[i] = s.arrivals.Load()
		}
		l := run(t, cfg)
		wantCounts(t, l, 101, 0, 0, 0)
		for i, s := range servers {
			want := int64(25)
			if i == 0 {
				want++
			}
			if got := s.arrivals.Load() - before[i]; got != want || l.Hosts[i].Sent != want || l.Hosts[i].Address != s.Addr().String() {
				t.Errorf("host %d (%s): server saw %d, record %d, want %d", i, l.Hosts[i].Address, got, l.Hosts[i].Sent, want)
			}
		}
		if l.Wire.Attempts != 101 {
			t.Errorf("attempts = %d, want 101", l.Wire.Attempts)
		}
	}
}

// Segments have their own figures, by intended time.
func TestSegments(t *testing.T) { onEach(t, testSegments) }

func testSegments(t *testing.T) {
	s := serve(t, func(x *call) { x.ok("") })
	cfg := config(t, get(s), schedule.Segment{Name: "ramp", From: 20, To: 180, Over: time.Second},
		hold(200, ms(500)), schedule.Segment{Name: "quiet", From: 0.1, To: 0.1, Over: ms(100)}, hold(50, ms(400)))
	cfg.Kinds = []string{"ramp", "hold", "hold", "hold"}
	l := run(t, cfg, s)
	if len(l.Segments) != 4 {
		t.Fatalf("%d segments, want 4", len(l.Segments))
	}
	for i, want := range cfg.Schedule.Segments() {
		seg := l.Segments[i]
		if seg.Offered != want.Count || seg.Planned != want.Count || seg.StartNS != int64(want.Start) || seg.DurationNS != int64(want.Over) || seg.Kind != cfg.Kinds[i] {
			t.Errorf("segment %d = %d offered, %d planned, start %d, %d long, %s; want %+v", i, seg.Offered, seg.Planned, seg.StartNS, seg.DurationNS, seg.Kind, want)
		}
	}
	if n := len(l.Segments[0].Bins.Offered); n != 20 || l.Segments[0].Bins.WidthNS != int64(ms(50)) {
		t.Errorf("bins = %d of %d ns, want 20 of 50ms", n, l.Segments[0].Bins.WidthNS)
	}
	if l.Segments[0].Response.Histogram == "" || l.Response.Histogram == "" || len(l.Intervals) != 2 {
		t.Errorf("%d intervals, histograms missing", len(l.Intervals))
	}
}
