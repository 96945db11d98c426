package main

import (
	"fmt"
	"math"
	"time"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/load/kts"
	"github.com/perfplan/perfplan/runner/result"
)

// testQueue is T5: one server with exponential service times, against the queue
// calculated from the intended times and the server's own draws, and at full
// length against the formula.
func testQueue(r *rig, s *sheet) error {
	const mu, rate, seed = 500.0, 400.0, 11
	over := r.pick(5*time.Second, 300*time.Second)
	for _, poisson := range []bool{false, true} {
		s.part = map[bool]string{false: "D/M/1", true: "M/M/1"}[poisson]
		u := setup{mode: fmt.Sprintf("mm1 mu=%g seed=%d", mu, seed),
			job: job{Segments: hold(rate, over), Poisson: poisson, Seq: true}}
		o, err := r.measure(u)
		if err != nil {
			return err
		}
		t := sampled(lindley(o.due, kts.Services(mu, seed, int64(len(o.due)))))
		s.quantiles(quantilesOf(o.response), t, allRanks, 0)
		s.traced(o)
		s.count("completed", int64(len(o.due)), o.Completed, 0)
		if err := s.healthy(o); err != nil {
			return err
		}
		if r.full {
			t := exponential(mu * (1 - sigma(rate/mu)))
			if poisson {
				t = exponential(mu - rate)
			}
			s.law(o, t)
		}
	}
	return nil
}

// law compares the share above the law's p99 with 1 %, within the 99 % interval
// of 20 batches: neighbours in a queue are far from independent.
func (s *sheet) law(o *outcome, t truth) {
	const batches, t19 = 20, 2.861
	x, n := t.q(0.99), len(o.log.Seq)
	over := make([]float64, batches)
	for i, seq := range o.log.Seq {
		if float64(o.log.Release[i]-o.base-int64(o.due[seq])) > x {
			over[int(seq)*batches/n] += float64(batches) / float64(n)
		}
	}
	mean, square := 0.0, 0.0
	for _, share := range over {
		mean += share / batches
		square += share * share / batches
	}
	bar := t19 * math.Sqrt((square-mean*mean)/(batches-1))
	s.add(check{Name: "share over the law's p99", Unit: unitShare, Truth: 0.01, Measured: mean, Bar: bar, Timing: true})
}

// testOverload is T6.
func testOverload(r *rig, s *sheet) error {
	const k, hold20, rate = 2, 20 * ms, 200.0
	over := r.pick(3*time.Second, 8*time.Second)
	rho := rate * hold20.Seconds() / k
	longest := hold20 + time.Duration((rho-1)*float64(over))
	t := uniform(hold20, longest)
	o, err := r.measure(setup{mode: fmt.Sprintf("slots d=%v k=%d", hold20, k), job: job{Segments: hold(rate, over), Seq: true}})
	if err != nil {
		return err
	}
	q := quantilesOf(o.response)
	for _, p := range []float64{0.5, 0.9, 0.95, 0.99} {
		// One arrival more or less in each slot is a step of the server, not an error.
		s.time(fmt.Sprintf("p%g", 100*p), t.q(p), q(p), 0.01*t.q(p)+float64(hold20)/k)
	}
	s.time("max", float64(longest), q(1), 0.01*float64(longest)+float64(hold20)/k)
	s.time("drain", float64((rho-1)*float64(over)), float64(o.DrainNS), 0.02*float64(over)+float64(hold20))
	s.traced(o)
	s.count("completed", int64(len(o.due)), o.Completed, 0)
	s.identities(o)
	return r.cutShort(s, over, rho)
}

// cutShort drains for a third of what is needed: what is unfinished stays in the
// distribution, marked as a lower bound.
func (r *rig) cutShort(s *sheet, over time.Duration, rho float64) error {
	s.part = "drain cut short"
	over /= 2
	need := time.Duration((rho - 1) * float64(over))
	o, err := r.measure(setup{mode: "slots d=20ms k=2", job: job{Segments: hold(200, over), Drain: need / 3}})
	if err != nil {
		return err
	}
	// Served until the drain ends are rate/rho a second.
	unfinished := float64(len(o.due)) - 200/rho*(over+need/3).Seconds()
	s.add(check{Name: "unfinished", Unit: unitCount, Truth: unfinished, Measured: float64(o.Unfinished), Bar: 0.01*float64(len(o.due)) + 3, Timing: true})
	s.count("in the distribution", int64(len(o.due)), o.Response.Count, 0)
	censored := o.Response.CensoredFromNS
	s.flag("percentiles from there on are lower bounds", censored != nil && *censored <= *o.Response.P99NS, false, "")
	s.identities(o)
	return nil
}

// testCap is T15.
func testCap(r *rig, s *sheet) error {
	const d, bound, rate = 200 * ms, 40, 400.0
	over := r.pick(3*time.Second, 8*time.Second)
	rho := rate * d.Seconds() / bound
	u := setup{mode: fmt.Sprintf("fixed d=%v", d), job: job{Segments: hold(rate, over), MaxInFlight: bound}}
	s.part = "wait"
	o, err := r.measure(u)
	if err != nil {
		return err
	}
	// Requests are sent in waves of bound, one wave in d; each wave waits longer by the same time.
	waves := make([]float64, len(o.due))
	for i := range waves {
		waves[i] = float64(d) + float64(i/bound)*float64(d)*(1-1/rho)
	}
	t, q := sampled(waves), quantilesOf(o.response)
	for _, wave := range []float64{0.5, 0.9, 0.97} { // in the middle of one, not between two
		p := (math.Floor(wave*float64(len(waves))/bound) + 0.5) * bound / float64(len(waves))
		s.time(fmt.Sprintf("p%.3g", 100*p), t.q(p), q(p), max(barTime, 0.01*t.q(p)))
	}
	s.count("completed", int64(len(o.due)), o.Completed, 0)
	s.count("most held by the server", bound, int64(o.log.MaxHeld), 0)
	if err := s.named(o, "wait"); err != nil {
		return err
	}
	if o.Waiting.MeanNS != nil {
		s.time("waiting for the cap, mean", t.mean-float64(d), *o.Waiting.MeanNS, max(barTime, 0.01*t.mean))
	}
	s.part = "drop"
	u.Drop = true
	if o, err = r.measure(u); err != nil {
		return err
	}
	n := float64(len(o.due))
	s.count("dropped", int64(n*(1-1/rho)), o.Dropped, bound+0.01*n)
	s.quantile(quantilesOf(o.response), point(d), "p99", 0)
	return s.named(o, "drop")
}

// named wants the cap's rule in the record and its warning.
func (s *sheet) named(o *outcome, rule string) error {
	st, err := o.judge("p99 < 10s")
	if err != nil {
		return err
	}
	flagged := false
	for _, w := range st.Warnings {
		flagged = flagged || w.Code == "in_flight_cap" && w.Severity != result.Note
	}
	s.flag("rule named", o.AtMax == rule, false, o.AtMax)
	s.flag("flagged as in_flight_cap", flagged, false, "")
	s.identities(o)
	return nil
}

// testLadder is T16.
func testLadder(r *rig, s *sheet) error {
	const a, b = 10 * ms, 510 * ms
	t := uniform(a, b)
	for _, n := range []int{1, 2, 4} {
		s.part = fmt.Sprintf("%d processes", n)
		// Each process goes up its whole ladder, once.
		over := r.pick(2500*ms, 10*time.Second)
		rate := 1000 / over.Seconds() * math.Ceil(over.Seconds()/10)
		merged, err := r.beside(s, n, func(int) setup {
			return setup{mode: fmt.Sprintf("ladder a=%v b=%v", a, b), job: job{Segments: hold(rate, over)}}
		})
		if err != nil {
			return err
		}
		q := quantilesOf(merged)
		for _, p := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
			s.time(fmt.Sprintf("p%g", 100*p), t.q(p), q(p), 0.001*t.q(p)+float64(ms))
		}
		s.time("mean", t.mean, merged.Mean(), 0.001*t.mean+float64(ms))
	}
	s.part = "90 % at 10ms, 10 % at 100ms"
	merged, err := r.beside(s, 2, func(i int) setup {
		return setup{mode: []string{"fixed d=10ms", "fixed d=100ms"}[i], job: job{Segments: hold([]float64{360, 40}[i], 2*time.Second)}}
	})
	if err != nil {
		return err
	}
	q := quantilesOf(merged)
	s.time("merged p85", float64(10*ms), q(0.85), barTime)
	s.time("merged p95", float64(100*ms), q(0.95), barTime)
	s.part = ""
	exactLadder(s)
	return nil
}

// beside makes n runs at once and merges their response times.
func (r *rig) beside(s *sheet, n int, setupOf func(i int) setup) (*hist.Hist, error) {
	type end struct {
		o   *outcome
		err error
	}
	ends := make(chan end)
	copies := make([]rig, n)
	for i := range n {
		copies[i] = *r
		copies[i].holds = nil
		go func() {
			o, err := copies[i].measure(setupOf(i))
			ends <- end{o, err}
		}()
	}
	merged := hist.New()
	var err error
	for range n {
		e := <-ends
		if e.err != nil {
			err = e.err
			continue
		}
		merged.Merge(e.o.response)
		s.identities(e.o)
		s.count("completed", int64(len(e.o.due)), e.o.Completed, 0)
	}
	for i := range copies {
		r.holds = append(r.holds, copies[i].holds...)
	}
	return merged, err
}

// exactLadder checks the histogram by itself, from 0.1 ms to 60 s.
func exactLadder(s *sheet) {
	const n, a, b = 100_000, 100 * time.Microsecond, 60 * time.Second
	whole := hist.New()
	parts := [4]*hist.Hist{hist.New(), hist.New(), hist.New(), hist.New()}
	all := make([]float64, n)
	for i := range n {
		x := a + time.Duration(i)*(b-a)/(n-1)
		all[i] = float64(x)
		whole.Record(int64(x))
		parts[i%4].Record(int64(x))
	}
	merged := hist.New()
	for _, p := range parts {
		merged.Merge(p)
	}
	t, worst, differ := sampled(all), 0.0, 0
	for i := range 1000 {
		p := (float64(i) + 0.5) / 1000
		x, y := quantilesOf(whole)(p), quantilesOf(merged)(p)
		worst = max(worst, math.Abs(x-t.q(p))/t.q(p))
		if x != y {
			differ++
		}
	}
	s.add(check{Name: "rounding of 1000 quantiles, worst", Unit: unitShare, Measured: worst, Bar: 0.001})
	s.add(check{Name: "quantiles changed by merging", Unit: unitNumber, Measured: float64(differ)})
	s.add(check{Name: "max", Unit: unitNS, Truth: float64(b), Measured: float64(merged.Max())})
}
