//go:build !linux

package load

import "time"

// A pacer sleeps until a time of the run's clock.
type pacer struct{}

func newPacer(func() int64) pacer { return pacer{} }

func clockPacer(func() int64) pacer { return pacer{} }

// sleepUntil returns at t or soon after, within the resolution of Go's timers.
func (pacer) sleepUntil(t int64, now func() int64) {
	for d := t - now(); d > 0; d = t - now() {
		time.Sleep(time.Duration(d))
	}
}
