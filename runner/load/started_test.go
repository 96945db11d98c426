package load

import (
	"testing"
	"time"
)

// The record has the wall time from which its own times count: no arrival comes before its intended time by it.
func TestStarted(t *testing.T) { onEach(t, testStarted) }

func testStarted(t *testing.T) {
	s := serve(t, func(x *call) { x.ok("") })
	cfg := config(t, get(s), hold(20, ms(500)))
	before := time.Now()
	l := run(t, cfg, s)
	if latest := time.Now().Add(-time.Duration(l.DurationNS)); l.Started.Before(before.Round(0)) || l.Started.After(latest.Round(0)) {
		t.Errorf("started %v, want from %v to %v", l.Started, before, latest)
	}
	if l.Started.Location() != time.UTC || l.Started != l.Started.Round(0) {
		t.Errorf("started %v, want a wall time in UTC", l.Started)
	}
	for i, at := range s.stamps() {
		if due := l.Started.Add(cfg.Schedule.At(int64(i))); at.Round(0).Before(due) {
			t.Errorf("arrival %d came at %v, %v before its intended time", i, at, due.Sub(at))
		}
	}
}
