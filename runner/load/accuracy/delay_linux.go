package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// healthy checks what holds of every run: the generator does not call itself
// unfit, all arrivals were offered, and what went over the wire is what the
// server saw, each request once.
func (s *sheet) healthy(o *outcome) error {
	st, err := o.judge("p99 < 1s")
	if err != nil {
		return err
	}
	invalid := warned(st, result.Invalid)
	s.flag("valid", len(invalid) == 0, true, strings.Join(invalid, " "))
	s.identities(o)
	return nil
}

// identities checks the counts that hold of every run, as one check.
func (s *sheet) identities(o *outcome) {
	c, broken := o.Counts, []string{}
	for _, eq := range []struct {
		what      string
		got, want int64
	}{
		{"offered", c.Offered, int64(len(o.due))},
		{"sent + dropped", c.Sent + c.Dropped, c.Offered},
		{"completed + failed + unfinished", c.Completed + c.Failed + c.Unfinished, c.Sent},
		{"arrivals at the server", int64(len(o.log.Arrival)), o.Wire.Attempts},
		{"connections at the server", o.log.Conns, o.Wire.Opened},
		{"replays at the server", o.log.Replays, 0},
		{"requests before an answer", o.log.Overlapping, 0},
	} {
		if eq.got != eq.want {
			broken = append(broken, fmt.Sprintf("%s %d, want %d", eq.what, eq.got, eq.want))
		}
	}
	s.add(check{Name: "count identities broken", Unit: unitCount, Measured: float64(len(broken)), Note: strings.Join(broken, "; ")})
}

// traced compares the reported response times with what the server's log says.
func (s *sheet) traced(o *outcome) {
	if t, ok := o.trace(); ok {
		s.add(check{Name: "area to the server's log", Unit: unitShare, Measured: t.w1(quantilesOf(o.response)),
			Bar: barW1 + floorTime/t.mean, Timing: true})
	}
}

// shaped makes a run and compares it with a truth, with the exact shares above
// the limits.
func (r *rig) shaped(s *sheet, u setup, t truth, ranks string, slack time.Duration, limits ...time.Duration) (*outcome, error) {
	u.Seq = true
	for _, x := range limits {
		u.LimitsNS = append(u.LimitsNS, int64(x))
	}
	o, err := r.measure(u)
	if err != nil {
		return nil, err
	}
	s.quantiles(quantilesOf(o.response), t, ranks, slack)
	for i, x := range limits {
		s.tail(t, x, o.overIn(i), o.Offered, float64(slack)/float64(time.Second))
	}
	s.traced(o)
	s.count("completed", int64(len(o.due)), o.Completed, 0)
	return o, s.healthy(o)
}

const ms = time.Millisecond

// testFixed is T1.
func testFixed(r *rig, s *sheet) error {
	over := r.pick(2*time.Second, 12*time.Second)
	for _, tt := range []struct {
		d    time.Duration
		rate float64
	}{{0, 200}, {1 * ms, 200}, {5 * ms, 200}, {50 * ms, 200}, {0, 2000}, {5 * ms, 2000}} {
		s.part = fmt.Sprintf("%v at %g/s", tt.d, tt.rate)
		floor, err := r.floor(tt.d)
		if err != nil {
			return err
		}
		o, err := r.measure(setup{mode: "fixed d=" + tt.d.String(), job: job{Segments: hold(tt.rate, over)}})
		if err != nil {
			return err
		}
		q := quantilesOf(o.response)
		s.atMost("p50 above the echo client", q(0.5)-floor(0.5), float64(150*time.Microsecond))
		s.atMost("p99 above the echo client's p50", q(0.99)-max(floor(0.5), float64(tt.d)), float64(ms))
		s.count("completed", int64(len(o.due)), o.Completed, 0)
		if err := s.healthy(o); err != nil {
			return err
		}
	}
	return nil
}

// floor is what the simplest client sees of a fixed delay.
func (r *rig) floor(d time.Duration) (quantiles, error) {
	srv, err := r.serve("fixed d="+d.String(), "0", 300)
	if err != nil {
		return nil, err
	}
	rate := min(200, float64(time.Second)/float64(2*d+2*ms))
	g, err := r.generate(job{Address: srv.addr, Segments: hold(rate, time.Second), Echo: true}, place{})
	if err != nil {
		srv.kill()
		return nil, err
	}
	rep, err := g.wait()
	if err != nil {
		srv.kill()
		return nil, err
	}
	if _, err := srv.stop(); err != nil {
		return nil, err
	}
	h, err := hist.Decode(rep.Echo)
	if err != nil {
		return nil, err
	}
	return quantilesOf(h), nil
}

// The stalls of the suite. The period goes into no whole number of gaps between
// arrivals, so that their phases differ from stall to stall; p90 is well outside
// the stalls and p95 well inside.
const (
	stallD = 5 * ms
	stallS = 190 * ms
	stallT = 2003 * ms
)

// testStall is T2.
func testStall(r *rig, s *sheet) error {
	mode := fmt.Sprintf("stall d=%v s=%v t=%v", stallD, stallS, stallT)
	_, err := r.shaped(s, setup{mode: mode, job: job{Segments: hold(500, r.pick(3, 6)*stallT)}},
		stalled(stallD, stallS, stallT), allRanks, 0, 50*ms, 100*ms, 150*ms)
	return err
}

// testBacklog is T3.
func testBacklog(r *rig, s *sheet) error {
	const mu, rate = 800.0, 400.0
	service := time.Duration(float64(time.Second) / mu)
	mode := fmt.Sprintf("qstall mu=%g s=%v t=%v", mu, stallS, stallT)
	_, err := r.shaped(s, setup{mode: mode, job: job{Segments: hold(rate, r.pick(3, 6)*stallT)}},
		drained(service, stallS, stallT, rate/mu), allRanks, service, 50*ms, 100*ms, 150*ms)
	return err
}

// testBimodal is T4.
func testBimodal(r *rig, s *sheet) error {
	const m, d, d2 = 50, 5 * ms, 100 * ms
	t := bimodal(d, d2, m)
	o, err := r.shaped(s, setup{mode: fmt.Sprintf("bimodal d=%v d2=%v m=%d", d, d2, m),
		job: job{Segments: hold(400, r.pick(5*time.Second, 12*time.Second))}}, t, "p50 p90 p95 p97 p99 p99.9", 0, 50*ms)
	if err != nil {
		return err
	}
	s.count("requests over 50ms", int64(len(o.due))/m, o.overIn(0), 1)
	between := 0
	q := quantilesOf(o.response)
	for i := range 100 {
		if x := q((float64(i) + 0.5) / 100); x > float64(d+2*ms) && x < float64(d2-2*ms) {
			between++
		}
	}
	s.add(check{Name: "of 100 quantiles, between the modes", Unit: unitNumber, Measured: float64(between), Timing: true})
	return nil
}

// testColdStart is T12.
func testColdStart(r *rig, s *sheet) error {
	const d = 5 * ms
	h, over := r.pick(time.Second, 2*time.Second), r.pick(5*time.Second, 12*time.Second)
	mode := fmt.Sprintf("coldstart d=%v h=%v", d, h)
	_, err := r.shaped(s, setup{mode: mode, job: job{Segments: hold(400, over)}}, stalled(d, h, over), allRanks, 0, d+h/4, d+h/2)
	if err != nil {
		return err
	}
	// What comes before the warm-up's end is left out by intended time alone.
	s.part = "without the warm-up"
	w := h / 2
	u := setup{mode: mode, job: job{Segments: append(hold(400, w), hold(400, over-w)...)}}
	o, err := r.measure(u)
	if err != nil {
		return err
	}
	rest, err := restore(o.Segments[1].Response)
	if err != nil {
		return err
	}
	s.quantiles(quantilesOf(rest), stalled(d, h-w, over-w), allRanks, 0)
	s.count("excluded", int64(400*w.Seconds()), o.Segments[0].Offered, 1)
	s.count("counted", int64(400*(over-w).Seconds()), o.Segments[1].Offered, 1)
	return nil
}

// testBody is T18.
func testBody(r *rig, s *sheet) error {
	const d = 100 * ms
	over := r.pick(2*time.Second, 12*time.Second)
	s.part = "dribbled"
	o, err := r.shaped(s, setup{mode: fmt.Sprintf("dribble d=%v", d), job: job{Segments: hold(200, over)}}, point(d), allRanks, 0)
	if err != nil {
		return err
	}
	if first := o.Wire.FirstByte; first.P50NS != nil {
		s.atMost("first byte p50", float64(*first.P50NS), barTime)
		s.atMost("first byte p99", float64(*first.P99NS), barTime)
	}
	s.count("first bytes", o.Completed, o.Wire.FirstByte.Count, 0)
	if body := o.Wire.Body; body.P50NS != nil {
		s.time("body p50", float64(d), float64(*body.P50NS), barTime)
		s.time("body p99", float64(d), float64(*body.P99NS), barTime)
	}
	s.count("bodies", o.Completed, o.Wire.Body.Count, 0)
	s.part = "cut in half"
	o, err = r.measure(setup{mode: fmt.Sprintf("cut d=%v", d), job: job{Segments: hold(200, over)}})
	if err != nil {
		return err
	}
	n := int64(len(o.due))
	s.count("failed", n, o.Failed, 0)
	s.count("of kind closed", n, o.errorsOf("closed"), 0)
	s.count("first bytes", n, o.Wire.FirstByte.Count, 0)
	s.count("bodies", 0, o.Wire.Body.Count, 0)
	if p := o.FailedResponse.P50NS; p != nil {
		s.time("failed response p50", float64(d/2), float64(*p), barTime)
		s.time("failed response p99", float64(d/2), float64(*o.FailedResponse.P99NS), barTime)
	}
	s.identities(o)
	return nil
}
