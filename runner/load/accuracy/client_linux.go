package main

import (
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// testArrivals is T13: the schedule as the server's kernel saw it.
func testArrivals(r *rig, s *sheet) error {
	over := r.pick(2*time.Second, 12*time.Second)
	ramp := []schedule.Segment{{Name: "ramp", From: 50, To: 1000, Over: over}}
	for _, tt := range []struct {
		name    string
		job     job
		rate    float64 // the highest
		poisson bool
	}{
		{"uniform 50/s", job{Segments: hold(50, over)}, 50, false},
		{"uniform 200/s", job{Segments: hold(200, over)}, 200, false},
		{"uniform 1000/s", job{Segments: hold(1000, over)}, 1000, false},
		{"uniform 2000/s", job{Segments: hold(2000, over)}, 2000, false},
		{"uniform 10000/s", job{Segments: hold(10_000, over)}, 10_000, false},
		{"ramp 50/s to 1000/s", job{Segments: ramp}, 1000, false},
		{"poisson 200/s", job{Segments: hold(200, 2*over), Poisson: true}, 200, true},
	} {
		s.part = tt.name
		o, err := r.measure(setup{mode: "fixed d=0s", job: tt.job})
		if err != nil {
			return err
		}
		s.count("arrivals", int64(len(o.due)), int64(len(o.log.Arrival)), 1)
		s.arrivals(o, tt.rate, tt.poisson)
		if err := s.healthy(o); err != nil {
			return err
		}
	}
	return testReplay(r, s)
}

// testReplay is part of T13: recorded arrivals, ten times as fast, as the server's kernel saw them.
func testReplay(r *rig, s *sheet) error {
	s.part = "replay of a trace"
	n := int(r.pick(2*time.Second, 10*time.Second) / time.Millisecond)
	rand := rand.New(rand.NewPCG(10, uint64(n)))
	trace, at := make([]time.Duration, n), time.Duration(0)
	for i := range trace {
		trace[i] = at / 10
		at += time.Duration(rand.ExpFloat64() * float64(10*time.Millisecond)).Truncate(100 * time.Microsecond)
	}
	o, err := r.measure(setup{mode: "fixed d=0s", job: job{Trace: trace}})
	if err != nil {
		return err
	}
	s.count("arrivals", int64(n), int64(len(o.log.Arrival)), 0)
	off := make([]float64, 0, n)
	for i, t := range slices.Sorted(slices.Values(o.log.Arrival)) {
		off = append(off, math.Abs(float64(t-o.base-int64(trace[min(i, n-1)]))))
	}
	slices.Sort(off)
	s.atMost("arrivals off the trace, p99", off[len(off)*99/100], float64(time.Millisecond))
	return s.healthy(o)
}

// how is the engine and its pacing, with the longest pause that it noticed.
func (o *outcome) how() string {
	text := o.Engine + ", " + o.Pacing.Mode
	if o.Pacing.TickNS > 0 {
		text += " " + time.Duration(o.Pacing.TickNS).String()
	}
	if p := o.Audit.PauseMaxNS; p != nil {
		text += ", longest pause " + show(float64(*p), unitNS)
	}
	return text
}

// arrivals compares the arrivals with the schedule.
func (s *sheet) arrivals(o *outcome, rate float64, poisson bool) {
	var at, due []float64
	for _, t := range slices.Sorted(slices.Values(o.log.Arrival)) {
		at = append(at, float64(t-o.base))
	}
	for _, t := range o.due {
		due = append(due, float64(t))
	}
	if p := o.DispatchLag.P99NS; p != nil && rate <= 2000 {
		s.atMost("dispatch lag p99", float64(*p), float64(500*time.Microsecond))
	}
	s.add(check{Name: "most behind the schedule", Unit: unitNumber, Measured: float64(deficit(due, at)), Bar: max(2, rate*0.002), Timing: true,
		Note: o.how()})
	const window = float64(10 * ms)
	half := float64(time.Second) / rate / 2 // borders between arrivals, not on them
	end := float64(o.PlannedNS)
	s.add(check{Name: "dispersion in 10ms", Unit: unitNumber, Truth: dispersion(due, -half, end, window),
		Measured: dispersion(at, -half, end, window), Bar: 0.3, Timing: true})
	cv := check{Name: "CV of the gaps", Unit: unitNumber, Truth: gapsCV(due), Measured: gapsCV(at), Bar: 0.1, Timing: true}
	if rate <= 1000 {
		s.add(cv)
	}
	if poisson {
		p := kolmogorov(at, rate)
		s.flag("gaps are exponential (p > 0.01)", p > 0.01, true, fmt.Sprintf("p = %.3f", p))
	}
}

// testFrozen is T14: a stall of the client must be told.
func testFrozen(r *rig, s *sheet) error {
	const freeze, period, d = 300 * ms, 2 * time.Second, 5 * ms
	n := int(r.pick(3, 6))
	s.part = "stopped"
	o, err := r.measure(setup{mode: "fixed d=5ms", job: job{Segments: hold(200, time.Duration(n)*period)},
		during: func(pid int) { stopAndGo(pid, n, freeze, period) }})
	if err != nil {
		return err
	}
	lag, err := restore(o.Lag)
	if err != nil {
		return err
	}
	t, q := stalled(0, freeze, period), quantilesOf(lag)
	for _, p := range []float64{0.9, 0.95, 0.99} {
		s.time(fmt.Sprintf("lag p%g", 100*p), t.q(p), q(p), float64(10*ms))
		s.time(fmt.Sprintf("response p%g", 100*p), t.q(p)+float64(d), quantilesOf(o.response)(p), float64(10*ms))
	}
	if err := s.confessed(o, "frozen"); err != nil {
		return err
	}
	if err := r.outOfDescriptors(s); err != nil {
		return err
	}
	holds := r.holds
	defer func() { r.holds = holds }() // what follows makes bursts that the server takes its time for
	if err := r.spun(s); err != nil {
		return err
	}
	if err := r.throttled(s); err != nil {
		return err
	}
	s.part = "collections"
	o, err = r.measure(setup{mode: "fixed d=5ms", job: job{Segments: hold(500, r.pick(2*time.Second, 12*time.Second)), Churn: true}})
	if err != nil {
		return err
	}
	return s.confessed(o, "")
}

// stopAndGo stops a process n times, the first time after half a period.
func stopAndGo(pid, n int, stop, period time.Duration) {
	next := time.Now().Add(period / 2)
	for range n {
		time.Sleep(time.Until(next))
		syscall.Kill(pid, syscall.SIGSTOP)
		time.Sleep(time.Until(next.Add(stop)))
		syscall.Kill(pid, syscall.SIGCONT)
		next = next.Add(period)
	}
}

// confessed wants the verdict invalid, for the reason given; where that is "", only if the lag passes a tenth of the
// limit.
func (s *sheet) confessed(o *outcome, code string) error {
	st, err := o.judge("p99 < 100ms")
	if err != nil {
		return err
	}
	invalid := warned(st, result.Invalid)
	lag := int64(0)
	if p := o.DispatchLag.P99NS; p != nil {
		lag = *p
	}
	note := fmt.Sprintf("lag p99 %s, invalid: %s, suspect: %s", show(float64(lag), unitNS), strings.Join(invalid, " "), strings.Join(warned(st, result.Suspect), " "))
	if code == "" {
		s.flag("called invalid where harmed", len(invalid) > 0 == (lag > int64(10*ms)), false, note)
	} else {
		s.flag("called invalid as "+code, slices.Contains(invalid, code) && st.Outcome == result.Inconclusive, false, note)
	}
	s.identities(o)
	return nil
}

// outOfDescriptors lets the client have 64 files, while each answer takes two seconds.
func (r *rig) outOfDescriptors(s *sheet) error {
	s.part = "64 descriptors"
	var limited error
	o, err := r.measure(setup{mode: "fixed d=2s", job: job{Segments: hold(100, 3*time.Second)},
		during: func(pid int) { limited = unix.Prlimit(pid, unix.RLIMIT_NOFILE, &unix.Rlimit{Cur: 64, Max: 64}, nil) }})
	if err == nil {
		err = limited
	}
	if err != nil {
		return err
	}
	return s.confessed(o, "descriptors")
}

// spun starves the client: four busy processes on its core, and more load than its share of the core can carry.
func (r *rig) spun(s *sheet) error {
	s.part = "four spinners"
	stops := []func(){}
	defer func() {
		for _, stop := range stops {
			stop()
		}
	}()
	for range 4 {
		cmd := exec.CommandContext(r.ctx, r.self, "spin")
		in, err := cmd.StdinPipe()
		if err != nil {
			return err
		}
		if err := r.launch(cmd, place{ordinary: true}); err != nil {
			return err
		}
		stops = append(stops, func() { in.Close(); cmd.Wait() })
	}
	o, err := r.measure(setup{mode: "fixed d=5ms", job: job{Segments: hold(20_000, r.pick(2*time.Second, 12*time.Second))}, place: place{ordinary: true}})
	if err != nil {
		return err
	}
	return s.confessed(o, "starved")
}

// spin keeps a core busy until standard input ends.
func spin(in io.Reader) {
	end := make(chan bool)
	go func() {
		io.Copy(io.Discard, in)
		close(end)
	}()
	for x := 0; ; x++ {
		if x%1_000_000 == 0 {
			select {
			case <-end:
				return
			default:
			}
		}
	}
}

// throttled gives the client a cgroup with a fifth of a core and more load than
// that can carry.
func (r *rig) throttled(s *sheet) error {
	s.part = "a fifth of a core"
	dir, err := newQuota(20)
	if err != nil {
		s.checks = append(s.checks, check{Test: s.test, Tool: s.tool, Name: s.part + ": not run, it needs root and cgroups",
			Unit: unitFlag, OK: true, Note: err.Error()})
		return nil
	}
	defer os.Remove(dir) // empty again: the generator has ended
	var moved error
	o, err := r.measure(setup{mode: "fixed d=5ms", place: place{ordinary: true},
		job: job{Segments: hold(30_000, r.pick(2*time.Second, 12*time.Second))},
		during: func(pid int) {
			moved = os.WriteFile(filepath.Join(dir, "cgroup.procs"), []byte(strconv.Itoa(pid)), 0)
		}})
	if err == nil {
		err = moved
	}
	if err != nil {
		return err
	}
	return s.confessed(o, "throttled")
}

// newQuota makes a cgroup that may use the given percentage of a core.
func newQuota(percent int) (dir string, err error) {
	quota, period := strconv.Itoa(percent*1000), "100000"
	name := fmt.Sprintf("perfplan-accuracy-%d", os.Getpid())
	if _, err := os.Stat("/sys/fs/cgroup/cgroup.controllers"); err == nil { // version 2
		dir = filepath.Join("/sys/fs/cgroup", name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			return "", err
		}
		return dir, os.WriteFile(filepath.Join(dir, "cpu.max"), []byte(quota+" "+period), 0)
	}
	dir = filepath.Join("/sys/fs/cgroup/cpu", name)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return "", err
	}
	if err := os.WriteFile(filepath.Join(dir, "cpu.cfs_period_us"), []byte(period), 0); err != nil {
		return "", err
	}
	return dir, os.WriteFile(filepath.Join(dir, "cpu.cfs_quota_us"), []byte(quota), 0)
}
