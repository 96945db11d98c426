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

// An auditor watches the generator itself during a run.
type auditor struct {
	now    func() int64
	begun  int64
	before usage
	gc     *metrics.Float64Histogram
	pause  int64 // longest delay of a heartbeat
	ended  atomic.Bool
	beats  sync.WaitGroup
}

// newAuditor reads where the counters stand, which takes some ms. The clock is
// not read before start.
func newAuditor(now func() int64) *auditor {
	return &auditor{now: now, before: readUsage(), gc: gcPauses()}
}

// usage is what this process and its machine have used up to now; nil where it
// is not known.
type usage struct {
	cpu       *float64 // s, of this process
	runDelay  *float64 // s that its threads were ready and had no core
	steal     *float64 // ticks of the machine
	ticks     *float64 // ticks of the machine, all states
	throttled *float64 // ns, of its cgroup
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
	for due := a.now() + int64(beat); !a.ended.Load(); due += int64(beat) {
		time.Sleep(time.Duration(due - a.now()))
		late := a.now() - due
		a.pause = max(a.pause, late)
		due += late / int64(beat) * int64(beat) // beats missed are one pause
	}
}

func (a *auditor) stop() result.Audit {
	a.ended.Store(true)
	a.beats.Wait()
	wall := float64(a.now()-a.begun) / 1e9
	after := readUsage()
	r := result.Audit{PauseMaxNS: &a.pause, GCPauseMaxNS: newestPause(a.gc, gcPauses())}
	if wall > 0 {
		r.CPUShare = share(a.before.cpu, after.cpu, wall)
		r.RunDelayShare = share(a.before.runDelay, after.runDelay, wall)
	}
	if d := difference(a.before.ticks, after.ticks); d != nil && *d > 0 {
		r.StealShare = share(a.before.steal, after.steal, *d)
	}
	if d := difference(a.before.throttled, after.throttled); d != nil {
		ns := int64(*d)
		r.ThrottledNS = &ns
	}
	return r
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

const gcMetric = "/sched/pauses/total/gc:seconds"

func gcPauses() *metrics.Float64Histogram {
	s := []metrics.Sample{{Name: gcMetric}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	h := s[0].Value.Float64Histogram()
	return &metrics.Float64Histogram{Counts: slices.Clone(h.Counts), Buckets: h.Buckets}
}

// newestPause is the upper edge of the highest bucket that has grown; 0 when
// there was no collection.
func newestPause(before, after *metrics.Float64Histogram) *int64 {
	if before == nil || after == nil || len(before.Counts) != len(after.Counts) {
		return nil
	}
	var ns int64
	for i := range after.Counts {
		if after.Counts[i] > before.Counts[i] {
			edge := after.Buckets[i+1]
			if edge > 1e6 { // the last bucket has no upper edge
				edge = after.Buckets[i]
			}
			ns = int64(edge * 1e9)
		}
	}
	return &ns
}
