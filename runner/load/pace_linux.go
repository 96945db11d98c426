package load

import (
	"time"

	"golang.org/x/sys/unix"
)

// A pacer sleeps until a time of the run's clock, more exactly than Go's timers:
// those wait in epoll, which counts in milliseconds. It is for a goroutine that
// is locked to its thread and stays so.
type pacer struct {
	clock int64 // CLOCK_MONOTONIC at the run's time 0
}

func newPacer(now func() int64) pacer {
	hurry()
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // ns; 50 µs by default
	return clockPacer(now)
}

// clockPacer is a pacer for any goroutine, with the slack that threads have by default.
func clockPacer(now func() int64) pacer {
	var ts unix.Timespec
	before := now()
	if unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts) != nil {
		return pacer{}
	}
	return pacer{ts.Nano() - (before+now())/2}
}

// sleepUntil returns at t or soon after.
func (p pacer) sleepUntil(t int64, now func() int64) {
	if p.clock == 0 {
		time.Sleep(time.Duration(t - now()))
		return
	}
	ts := unix.NsecToTimespec(p.clock + t)
	for now() < t {
		if err := unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil); err != nil && err != unix.EINTR {
			time.Sleep(time.Duration(t - now()))
		}
	}
}

// shortSlice is what the thread asks the scheduler for at a time: a thread with a short slice takes a core from one with
// a longer one as soon as it wakes (Linux 6.12 and later, EEVDF; sched(7), sched_setattr(2)). Else it may wait for the
// end of the other's slice, some 3 ms: of a garbage collection, or of what sums up the last second.
const shortSlice = uint64(100 * time.Microsecond)

// hurry shortens the slice of the calling thread, where that can be.
func hurry() {
	a, err := unix.SchedGetAttr(0, 0)
	if err != nil || a.Policy != unix.SCHED_NORMAL {
		return
	}
	a.Runtime = shortSlice
	unix.SchedSetAttr(0, a, 0)
}
