package load

import (
	"testing"
	"time"
)

func TestRun(t *testing.T) { onEach(t, testRun) }

func testRun(t *testing.T) {
	s := serve(t, func(x *call) { x.ok("hello") })
	l := run(t, config(t, get(s), hold(200, time.Second)), s)
	wantCounts(t, l, 200, 0, 0, 0)
	if l.Planned != 200 || l.Wire.BodyBytes != 1000 || l.Status["200"] != 200 {
		t.Errorf("planned %d, body bytes %d, status %v, want 200, 1000, 200 of 200", l.Planned, l.Wire.BodyBytes, l.Status)
	}
	t.Logf("response %v %v %v lag %v %v %v pause %v cpu %v", nsOf(l.Response.P50NS), nsOf(l.Response.P99NS), nsOf(l.Response.MaxNS),
		nsOf(l.Lag.P50NS), nsOf(l.Lag.P99NS), nsOf(l.Lag.MaxNS), nsOf(l.Audit.PauseMaxNS), *l.Audit.CPUShare)
}
