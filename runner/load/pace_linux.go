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
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // ns; 50 µs by default
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
