package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// testHang is T7.
func testHang(r *rig, s *sheet) error {
	const rate, timeout = 200.0, 1500 * ms
	over := r.pick(4500*ms, 12*time.Second)
	h := over * 2 / 3
	o, err := r.measure(setup{mode: fmt.Sprintf("hang d=5ms h=%v", h),
		job: job{Segments: hold(rate, over), Timeout: timeout, LimitsNS: []int64{int64(time.Second) - 1}}})
	if err != nil {
		return err
	}
	silent := int64(rate * (over - h).Seconds())
	s.count("without an answer", silent, o.errorsOf("timeout")+o.Unfinished, 1+0.005*float64(silent))
	s.count("completed", int64(len(o.due))-silent, o.Completed, 1+0.005*float64(silent))
	q := quantilesOf(o.response)
	for _, p := range []float64{0.7, 0.95, 0.99} {
		x := q(p)
		s.flag(fmt.Sprintf("p%g at the timeout or above", 100*p), x >= float64(timeout), false, show(x, unitNS))
	}
	s.quantile(q, point(5*ms), "p50", 0)
	from := o.Response.CensoredFromNS
	s.flag("shown as lower bounds", from != nil && *from >= int64(timeout), false, "")
	st, err := o.judge("p95 < 1s")
	if err != nil {
		return err
	}
	s.flag("p95 < 1s fails", st.Outcome == result.Fail, false, string(st.Outcome))
	s.identities(o)
	return nil
}

// testTimeouts is T8, by both clocks.
func testTimeouts(r *rig, s *sheet) error {
	for _, from := range []plans.TimeoutFrom{plans.FromSent, plans.FromIntended} {
		s.part = "from " + string(from)
		if err := testTimeoutsFrom(r, s, from); err != nil {
			return err
		}
	}
	return nil
}

func testTimeoutsFrom(r *rig, s *sheet, from plans.TimeoutFrom) error {
	const rate, m, timeout = 400.0, 50, 500 * ms
	over := r.pick(2*time.Second, 6*time.Second)
	o, err := r.measure(setup{mode: fmt.Sprintf("mute d=5ms m=%d", m),
		job: job{Segments: hold(rate, over), Timeout: timeout, TimeoutFrom: from, Seq: true, LimitsNS: []int64{int64(timeout) - 1}}})
	if err != nil {
		return err
	}
	n := int64(len(o.due))
	s.count("timeouts", n/m, o.errorsOf("timeout"), 0)
	s.count("failed", n/m, o.Failed, 0)
	s.count("completed", n-n/m, o.Completed, 0)
	s.count("at the timeout or above", n/m, o.overIn(0), 0)
	s.count("arrivals at the server", n, int64(len(o.log.Arrival)), 0)
	q := quantilesOf(o.response)
	for _, rank := range []string{"p50", "p95", "p97"} {
		s.quantile(q, point(5*ms), rank, 0)
	}
	clock := q
	if from == plans.FromSent {
		service, err := restore(o.Service)
		if err != nil {
			return err
		}
		clock = quantilesOf(service)
	}
	x := clock(0.99)
	s.flag("p99 by its clock not below the timeout", x >= float64(timeout), false, show(x, unitNS))
	s.atMost("p99 by its clock above the timeout", x-float64(timeout), float64(5*ms))
	s.atMost("response max above the timeout", q(1)-float64(timeout), float64(5*ms))
	s.identities(o)
	return nil
}

// testResets is T9.
func testResets(r *rig, s *sheet) error {
	const rate, m = 400.0, 50
	over := r.pick(2500*ms, 12*time.Second)
	for _, tt := range []struct{ when, kind string }{{"before", "reset"}, {"fin", "closed"}, {"head", "reset"}} {
		s.part = map[string]string{"before": "RST", "fin": "FIN", "head": "RST behind the head"}[tt.when]
		o, err := r.measure(setup{mode: fmt.Sprintf("reset d=0s m=%d when=%s", m, tt.when), job: job{Segments: hold(rate, over), Seq: true}})
		if err != nil {
			return err
		}
		n := int64(len(o.due))
		s.count("failed", n/m, o.Failed, 1)
		s.count("of kind "+tt.kind, n/m, o.errorsOf(tt.kind), 1)
		s.count("arrivals at the server", n, int64(len(o.log.Arrival)), 0)
		s.identities(o)
	}
	// Each request finds that the server has closed the idle connection since.
	s.part = "idle close"
	o, err := r.measure(setup{mode: "idleclose d=0s i=60ms", job: job{Segments: hold(5, r.pick(3*time.Second, 12*time.Second)), Seq: true}})
	if err != nil {
		return err
	}
	n := int64(len(o.due))
	s.count("failed", 0, o.Failed, 0)
	s.count("connections opened", n, o.Wire.Opened, 1)
	s.identities(o)
	return nil
}

// testAccept is T10.
func testAccept(r *rig, s *sheet) error {
	const d, freeze, period, rate, gap = 5 * ms, 300 * ms, 2 * time.Second, 100.0, 10 * ms
	const backlog, retry = 5, time.Second // of a SYN that was lost: RFC 6298
	over := r.pick(3, 6) * period
	u := setup{mode: fmt.Sprintf("accept d=%v backlog=%d s=%v t=%v", d, backlog, freeze, period),
		job: job{Segments: hold(rate, over), Fresh: true, Seq: true, LimitsNS: []int64{int64(100 * ms), int64(900 * ms)}}}
	s.part = "small backlog"
	o, err := r.measure(u)
	if err != nil {
		return err
	}
	// The kernel queues backlog+1; the SYNs behind are sent again.
	late := (freeze.Seconds() - (backlog+1)/rate) / period.Seconds()
	n := float64(o.Offered)
	s.add(check{Name: "share over 900ms", Unit: unitShare, Truth: late, Measured: float64(o.overIn(1)) / n, Bar: 0.005, Timing: true})
	s.add(check{Name: "share over 100ms", Unit: unitShare, Truth: late + (backlog+1)/rate/period.Seconds(), Measured: float64(o.overIn(0)) / n, Bar: 0.005, Timing: true})
	q := quantilesOf(o.response)
	s.time("p50", float64(d), q(0.5), barTime)
	s.time("p95", float64(d+retry), q(0.95), float64(30*ms))
	if t, ok := o.trace(); ok { // the kernel's timers of a second are coarse: up to 64 ms
		s.time("p99, by the server's log", t.q(0.99), q(0.99), barTime)
	}
	if c := o.Wire.Connect; c.P95NS != nil {
		s.time("connect p95", float64(retry), float64(*c.P95NS), float64(30*ms))
	}
	s.count("completed", int64(len(o.due)), o.Completed, 0)
	s.count("connections opened", int64(len(o.due)), o.Wire.Opened, 0)
	s.identities(o)

	s.part = "large backlog"
	const odd = period + 3*ms // phases differ from stall to stall
	u.mode, u.Segments = fmt.Sprintf("accept d=%v backlog=4000 s=%v t=%v", d, freeze, odd), hold(rate, r.pick(3, 6)*odd)
	if o, err = r.measure(u); err != nil {
		return err
	}
	s.quantiles(quantilesOf(o.response), stalled(d, freeze, odd), "p50 p95 p99", gap/3)
	if c := o.Wire.Connect; c.P99NS != nil {
		s.atMost("connect p99", float64(*c.P99NS), float64(ms))
	}
	if f := o.Wire.FirstByte; f.P95NS != nil {
		t := stalled(d, freeze, odd).q(0.95)
		s.time("first byte p95", t, float64(*f.P95NS), barTime+float64(gap/3))
	}
	s.count("completed", int64(len(o.due)), o.Completed, 0)
	s.identities(o)
	return nil
}

// testPorts is T17.
func testPorts(r *rig, s *sheet) error {
	const ports, rate = 200, 100.0
	err := r.sysctl(map[string]string{"ip_local_port_range": fmt.Sprintf("20000 %d", 20000+ports-1), "tcp_tw_reuse": "0"})
	if err != nil {
		return err
	}
	o, err := r.measure(setup{mode: "fixed d=1ms", port: "8080", job: job{Segments: hold(rate, r.pick(5*time.Second, 10*time.Second)), Fresh: true}})
	if err != nil {
		return err
	}
	n := int64(len(o.due))
	s.count("completed", ports, o.Completed, 2)
	s.count("of kind ports", n-ports, o.errorsOf("ports"), 2)
	own := int64(0)
	for _, e := range o.Errors {
		if e.Class == result.ClassGenerator {
			own += e.Count
		}
	}
	s.count("of the generator's class", n-ports, own, 2)
	st, err := o.judge("error_rate < 1%")
	if err != nil {
		return err
	}
	codes := warned(st, result.Invalid)
	s.flag("called invalid as ports", slices.Contains(codes, "ports"), false, fmt.Sprint(codes))
	s.flag("no failure of the target's", st.Outcome == result.Inconclusive, false, string(st.Outcome))
	s.identities(o)
	return nil
}
