package load

import (
	"runtime/metrics"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

// beat is the heartbeat's period.
const beat = 8 * time.Millisecond

// lookEvery is how often the auditor looks at what only has a present, descriptors
// and ports, and at what must be told apart over time.
const lookEvery = 250 * time.Millisecond

// longPause is the delay of a heartbeat, in ns, that asks for a reason.
const longPause = int64(20e6)

// An auditor watches the generator itself during a run.
type auditor struct {
	now      func() int64
	begun    int64
	before   usage
	runtime  goRuntime
	pause    int64 // longest delay of a heartbeat
	over5ms  int64 // delays above
	over20ms int64
	frozen   int64  // sum of long delays that no wait for a core explains
	delay    rising // run delay
	quota    quota
	proc     procfs
	open     peak // descriptors
	timeWait peak // sockets
	ended    atomic.Bool
	beats    sync.WaitGroup
}

// newAuditor reads where the counters stand, which takes some ms. The clock is
// not read before start.
func newAuditor(now func() int64) *auditor {
	return &auditor{now: now, before: readUsage(), runtime: readRuntime()}
}

// usage is what this process and its machine have used up to now; nil where it
// is not known.
type usage struct {
	cpu      *float64 // s, of this process
	pressure *float64 // s that a task of the machine was ready and had no core
	steal    *float64 // ticks of the machine
	ticks    *float64 // ticks of the machine, all states
	tcp      *result.TCP
}

// A rising figure is a sum over things of which some end and are missing then: what
// it grows by from look to look is added up.
type rising struct {
	last *float64
	all  float64
}

func (r *rising) see(v *float64) (grown float64, known bool) {
	d := difference(r.last, v)
	r.last = v
	if d == nil {
		return 0, false
	}
	r.all += *d
	return *d, true
}

// A peak is the highest of what was seen; nil: nothing was.
type peak struct{ n *int64 }

func (p *peak) see(n int64, ok bool) {
	if ok && (p.n == nil || n > *p.n) {
		p.n = &n
	}
}

func (a *auditor) start() {
	a.begun = a.now()
	a.beats.Go(a.heartbeat)
}

// heartbeat wakes at fixed times and notes by how much it came late: a stop of
// the machine, the process or the Go scheduler. It sleeps by Go's timers, which
// may be a millisecond late by themselves: a thread that sleeps on its own makes
// the runtime's monitor wake every 20 µs, which costs more than it shows.
func (a *auditor) heartbeat() {
	look := a.now()
	a.look()
	for due := a.now() + int64(beat); !a.ended.Load(); due += int64(beat) {
		time.Sleep(time.Duration(due - a.now()))
		late := a.now() - due
		a.pause = max(a.pause, late)
		if late > 5e6 {
			a.over5ms++
		}
		if late > longPause {
			a.over20ms++
			a.explain(late)
		}
		due += late / int64(beat) * int64(beat) // beats missed are one pause
		if due >= look+int64(lookEvery) {
			look = due
			a.look()
		}
	}
	a.delay.see(a.proc.runDelay())
	a.quota.look(&a.proc)
}

func (a *auditor) look() {
	a.open.see(a.proc.openDescriptors())
	a.timeWait.see(a.proc.timeWaitSockets())
	a.delay.see(a.proc.runDelay())
	a.quota.look(&a.proc)
}

// explain finds out whether the process waited for a core during a long pause.
// Where it did not, it stood still: a stopped process waits for nothing.
func (a *auditor) explain(late int64) {
	if s, known := a.delay.see(a.proc.runDelay()); known && s*1e9 < float64(late)/2 {
		a.frozen += late
	}
}

// A quota sums up for how long the cgroup of this process was kept from running.
// The process may be moved to another one, whose earlier counts are not its own.
type quota struct {
	ns, periods rising
	known       bool
}

func (q *quota) look(p *procfs) {
	ns, periods, moved := p.throttled()
	if moved {
		q.ns.last, q.periods.last = nil, nil
	}
	q.ns.see(ns)
	q.periods.see(periods)
	q.known = q.known || ns != nil
}

func (a *auditor) stop() result.Audit {
	a.ended.Store(true)
	a.beats.Wait()
	wall := float64(a.now()-a.begun) / 1e9
	after := readUsage()
	r := result.Audit{PauseMaxNS: &a.pause, PausesOver5ms: a.over5ms, PausesOver20ms: a.over20ms, FrozenNS: a.frozen, HeartbeatNS: int64(beat),
		DescriptorLimit: descriptorLimit(), DescriptorsMax: a.open.n, LocalPorts: localPorts(), TimeWaitMax: a.timeWait.n}
	a.runtime.since(&r)
	if wall > 0 {
		r.CPUShare = share(a.before.cpu, after.cpu, wall)
		if a.delay.last != nil {
			s := a.delay.all / wall
			r.RunDelayShare = &s
		}
		r.CPUPressureShare = share(a.before.pressure, after.pressure, wall)
	}
	if d := difference(a.before.ticks, after.ticks); d != nil && *d > 0 {
		r.StealShare = share(a.before.steal, after.steal, *d)
	}
	if a.quota.known {
		r.ThrottledNS, r.ThrottledPeriods = whole(&a.quota.ns.all), whole(&a.quota.periods.all)
	}
	r.TCP = tcpBetween(a.before.tcp, after.tcp)
	return r
}

func whole(v *float64) *int64 {
	if v == nil {
		return nil
	}
	n := int64(*v)
	return &n
}

// tcpBetween is nil where one end is not known or a counter went back.
func tcpBetween(before, after *result.TCP) *result.TCP {
	if before == nil || after == nil {
		return nil
	}
	d := result.TCP{
		SegmentsOut:     after.SegmentsOut - before.SegmentsOut,
		Retransmitted:   after.Retransmitted - before.Retransmitted,
		Timeouts:        after.Timeouts - before.Timeouts,
		ListenOverflows: after.ListenOverflows - before.ListenOverflows,
		ListenDrops:     after.ListenDrops - before.ListenDrops,
		BacklogDrops:    after.BacklogDrops - before.BacklogDrops,
	}
	if min(d.SegmentsOut, d.Retransmitted, d.Timeouts, d.ListenOverflows, d.ListenDrops, d.BacklogDrops) < 0 {
		return nil
	}
	return &d
}

// difference is nil where one end is not known or the counter went back.
func difference(before, after *float64) *float64 {
	if before == nil || after == nil || *after < *before {
		return nil
	}
	d := *after - *before
	return &d
}

func share(before, after *float64, of float64) *float64 {
	d := difference(before, after)
	if d != nil {
		*d /= of
	}
	return d
}

// goRuntime is what the Go runtime has counted.
type goRuntime struct {
	pauses *metrics.Float64Histogram // stops of the world for collections
	delays *metrics.Float64Histogram // of goroutines that were ready
	cycles uint64
}

func readRuntime() goRuntime {
	s := []metrics.Sample{{Name: "/sched/pauses/total/gc:seconds"}, {Name: "/sched/latencies:seconds"}, {Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	r := goRuntime{pauses: histogramOf(s[0]), delays: histogramOf(s[1])}
	if s[2].Value.Kind() == metrics.KindUint64 {
		r.cycles = s[2].Value.Uint64()
	}
	return r
}

func histogramOf(s metrics.Sample) *metrics.Float64Histogram {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	h := s.Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: slices.Clone(h.Counts), Buckets: h.Buckets}
}

// since fills in what has happened since b was read.
func (b goRuntime) since(r *result.Audit) {
	now := readRuntime()
	r.GCPauseMaxNS = newest(b.pauses, now.pauses, 1)
	r.SchedDelayP99NS = newest(b.delays, now.delays, 0.99)
	r.GCCycles = int64(now.cycles - b.cycles)
}

// newest is the quantile q of what was counted between the two, in ns, as the upper
// edge of its bucket; 0 when there was nothing.
func newest(before, after *metrics.Float64Histogram, q float64) *int64 {
	if before == nil || after == nil || len(before.Counts) != len(after.Counts) {
		return nil
	}
	var all, upTo uint64
	for i := range after.Counts {
		all += after.Counts[i] - before.Counts[i]
	}
	var ns int64
	for i := range after.Counts {
		n := after.Counts[i] - before.Counts[i]
		if n == 0 {
			continue
		}
		edge := after.Buckets[i+1]
		if edge > 1e6 { // the last bucket has no upper edge
			edge = after.Buckets[i]
		}
		ns = int64(edge * 1e9)
		if upTo += n; float64(upTo) >= q*float64(all) {
			break
		}
	}
	return &ns
}
