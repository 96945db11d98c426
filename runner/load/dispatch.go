package load

import (
	"runtime"
	"time"
)

// coarse is how long before an arrival the dispatcher goes from a wait that can
// be ended to an exact one.
const coarse = 3 * time.Millisecond

// dispatch offers each arrival at its intended time, or at once when it is late,
// and sends the time of the offering's end. It never waits for the target, and
// intended times are never moved.
func (e *pool) dispatch(done chan<- int64) {
	runtime.LockOSThread() // and never unlocked: the thread ends with its settings
	pace := newPacer(e.now)
	cursor := e.cfg.Schedule.Cursor()
	for {
		offset, _, ok := cursor.Next()
		if !ok {
			break
		}
		now := e.now()
		if int64(offset) > now {
			if now, ok = e.waitUntil(int64(offset), pace); !ok {
				done <- max(now, 0)
				return
			}
		}
		j, w, send, drop := e.queue.offer(now)
		switch {
		case send:
			e.hand(j, w)
		case drop:
			e.mail.put(sample{job: j, outcome: dropped})
		}
		if e.halted.Load() {
			done <- now
			return
		}
	}
	now, _ := e.waitUntil(int64(e.cfg.Schedule.Duration()), pace)
	done <- min(now, int64(e.cfg.Schedule.Duration()))
}

// waitUntil returns the time once it is t or later; ok is false if the offering
// was ended before.
func (e *pool) waitUntil(t int64, pace pacer) (now int64, ok bool) {
	if d := time.Duration(t-e.now()) - coarse; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-e.halt:
			return e.now(), false
		}
	}
	if t > e.now() {
		pace.sleepUntil(t, e.now)
	}
	return e.now(), true
}
