package load

import (
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/schedule"
)

// A tally counts requests by the connection that they came on.
type tally struct {
	mu    sync.Mutex
	count map[net.Conn]int
}

func (c *tally) add(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[net.Conn]int{}
	}
	c.count[conn]++
}

// used is how many connections there were requests on.
func (c *tally) used() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return int64(len(c.count))
}

// span is the least and the most requests on one connection.
func (c *tally) span() (least, most int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.count {
		if least == 0 || n < least {
			least = n
		}
		most = max(most, n)
	}
	return least, most
}

// C-10: a connection is closed after so many requests, by whichever worker.
func TestRequestsPerConnection(t *testing.T) { onEach(t, testRequestsPerConnection) }

func testRequestsPerConnection(t *testing.T) {
	for _, c := range []struct {
		name                 string
		inFlight, per, total int
	}{{"one at a time", 1, 7, 30}, {"several", 5, 4, 100}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var on tally
			s := serve(t, func(x *call) {
				on.add(x.Conn)
				time.Sleep(2 * time.Millisecond)
				x.ok("ok")
			})
			cfg := config(t, get(s), hold(float64(c.total)*10, ms(100)))
			cfg.MaxInFlight, cfg.RequestsPerConnection = c.inFlight, c.per
			l := run(t, cfg, s)
			wantCounts(t, l, int64(c.total), 0, 0, 0)
			_, most := on.span()
			least := int64((c.total + c.per - 1) / c.per)
			if n := s.conns.Load(); n < least || n > least+int64(c.inFlight) || n != l.Wire.Opened || most != c.per || l.PerConnection != c.per {
				t.Errorf("server saw %d connections, opened %d, %d requests on one, want from %d, %d", n, l.Wire.Opened, most, least, c.per)
			}
			if c.inFlight == 1 && s.conns.Load() != least {
				t.Errorf("server saw %d connections, want %d", s.conns.Load(), least)
			}
		})
	}
}

// All connections are there before the first arrival, whether it needs them or not.
func TestConnectionsAhead(t *testing.T) { onEach(t, testConnectionsAhead) }

func testConnectionsAhead(t *testing.T) {
	answer := func(x *call) { x.ok("ok") }
	a, b := serve(t, answer), serve(t, answer)
	cfg := config(t, get(a, b), hold(50, ms(20)))
	cfg.Connections = 40 // more than are opened at once
	l := run(t, cfg, a, b)
	wantCounts(t, l, 1, 0, 0, 0)
	for range 500 { // accepting is up to the server
		if a.conns.Load()+b.conns.Load() == 80 {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if a.conns.Load() != 40 || b.conns.Load() != 40 || l.Wire.Opened != 80 || l.Wire.Ahead != 80 || l.Wire.Connect.Count != 80 || l.Connections != 40 {
		t.Errorf("servers saw %d and %d connections, opened %d, %d ahead, want 40, 40, 80, 80", a.conns.Load(), b.conns.Load(), l.Wire.Opened, l.Wire.Ahead)
	}
	if l.Wire.Reused != 0 || *l.Wire.Connect.MinNS <= 0 {
		t.Errorf("%d on a connection used before, want none; shortest connect %d ns", l.Wire.Reused, *l.Wire.Connect.MinNS)
	}
}

// Connections are used in turn, with TLS as without.
func TestConnectionsInTurn(t *testing.T) { onEach(t, testConnectionsInTurn) }

func testConnectionsInTurn(t *testing.T) {
	for _, secure := range []bool{false, true} {
		var on tally
		answer := func(x *call) { on.add(x.Conn); x.ok("ok") }
		s := serve(t, answer)
		req := get(s)
		if secure {
			var ca string
			s, ca = serveTLS(t, 0, answer, "127.0.0.1")
			req = getTLS(s, plans.TLS{CAFile: ca})
		}
		cfg := config(t, req, hold(60, ms(200)))
		cfg.Connections, cfg.MaxInFlight = 4, 1
		l := run(t, cfg, s)
		wantCounts(t, l, 12, 0, 0, 0)
		least, most := on.span()
		// With several threads, whichever wakes first takes its own connections.
		if cfg.Loops <= 1 && (least != 3 || most != 3 || on.used() != 4) {
			t.Errorf("TLS %v: %d to %d requests on each of %d connections, want 3 on each of 4", secure, least, most, on.used())
		}
		if s.conns.Load() != 4 || l.Wire.Opened != 4 || l.Wire.Reused != 12-on.used() || secure != (l.Wire.TLS.Count == 4) {
			t.Errorf("TLS %v: server saw %d connections, requests on %d; opened %d, reused %d, want 4, 4, all but the first of each",
				secure, s.conns.Load(), on.used(), l.Wire.Opened, l.Wire.Reused)
		}
	}
}

// C-10: an arrival that finds no connection free waits for one, and that is no lag of the dispatcher.
func TestConnectionsBound(t *testing.T) { onEach(t, testConnectionsBound) }

func testConnectionsBound(t *testing.T) {
	var now, most atomic.Int64
	s := serve(t, func(x *call) {
		for n := now.Add(1); ; {
			if m := most.Load(); n <= m || most.CompareAndSwap(m, n) {
				break
			}
		}
		time.Sleep(20 * time.Millisecond)
		now.Add(-1)
		x.ok("ok")
	})
	cfg := config(t, get(s), hold(400, ms(250)))
	cfg.Connections = 3
	l := run(t, cfg, s)
	wantCounts(t, l, 100, 0, 0, 0)
	if s.conns.Load() != 3 || l.Wire.Opened != 3 || most.Load() != 3 || l.Audit.MaxInFlight != 3 || l.Audit.Capped < 50 {
		t.Errorf("server saw %d connections, %d requests at once; opened %d, in flight %d, capped %d, want 3, 3, 3, 3, from 50",
			s.conns.Load(), most.Load(), l.Wire.Opened, l.Audit.MaxInFlight, l.Audit.Capped)
	}
	if got := nsOf(l.Waiting.MaxNS); got < 300*time.Millisecond { // 100 × 20 ms / 3 − 250 ms
		t.Errorf("the last arrival waited %v, want 400ms", got)
	}
	if got := nsOf(l.DispatchLag.P90NS); got > 20*time.Millisecond && quiet(t, l) {
		t.Errorf("dispatch lag p90 = %v: waiting for a connection is not the generator's", got)
	}

	cfg = config(t, get(s), hold(400, ms(250)))
	cfg.Connections, cfg.AtMax = 3, plans.Drop
	l = run(t, cfg)
	if l.Dropped < 30 || l.Completed+l.Dropped != 100 || l.Waiting.SumNS != 0 {
		t.Errorf("with drop: completed %d, dropped %d, waited %v, want 100 in all, none waiting", l.Completed, l.Dropped, l.Waiting.SumNS)
	}
}

// A host whose connections are all busy holds up no arrival for another.
func TestConnectionsOtherHost(t *testing.T) { onEach(t, testConnectionsOtherHost) }

func testConnectionsOtherHost(t *testing.T) {
	quick := serve(t, func(x *call) { x.ok("ok") })
	slow := serve(t, nil)
	slow.setAnswer(func(x *call) {
		for x.n == 1 && quick.arrivals.Load() < 15 {
			time.Sleep(time.Millisecond)
		}
		x.ok("ok")
	})
	cfg := config(t, get(slow, quick), hold(200, ms(200)))
	cfg.Connections, cfg.Timeout = 1, 5*time.Second
	l := run(t, cfg, slow, quick)
	wantCounts(t, l, 40, 0, 0, 0)
	if l.Wire.Opened != 2 {
		t.Errorf("opened %d connections, want 2", l.Wire.Opened)
	}
}

// Connections that the server ends are opened again, by arrivals and never beyond the bound; those that cannot be
// opened before the first arrival are no failure by themselves.
func TestConnectionsAgain(t *testing.T) { onEach(t, testConnectionsAgain) }

func testConnectionsAgain(t *testing.T) {
	s := serve(t, func(x *call) {
		x.say("HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		x.close()
	})
	cfg := config(t, get(s), hold(100, ms(200)))
	cfg.Connections = 2
	l := run(t, cfg, s)
	wantCounts(t, l, 20, 0, 0, 0)
	if l.Wire.Ahead != 2 || l.Wire.Opened < 20 || l.Wire.Opened > 21 || l.Audit.MaxInFlight > 2 {
		t.Errorf("opened %d, %d ahead, in flight %d, want 20 or 21, 2, at most 2", l.Wire.Opened, l.Wire.Ahead, l.Audit.MaxInFlight)
	}

	dead := serve(t, nil)
	cfg = config(t, get(dead), hold(100, ms(100)))
	dead.kill()
	cfg.Connections = 2
	l = run(t, cfg)
	wantCounts(t, l, 0, 10, 0, 0)
	wantError(t, l, kindRefused, 10)
	if l.Wire.Ahead != 0 {
		t.Errorf("%d connections opened ahead to nobody", l.Wire.Ahead)
	}
}

// Arrivals wait in a line for each host; what ends is followed by the oldest that has a place.
func TestQueueLines(t *testing.T) {
	s, err := schedule.New([]schedule.Segment{hold(100, time.Second)}, schedule.Uniform, 1)
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue[*worker](newLedger(s, 2, 3, false), 1)
	q.boundHosts(s, 1)
	a, b := &worker{host: 0, conn: &conn{}}, &worker{host: 1, conn: &conn{}}
	q.offer(0)
	q.offer(1)
	for i := range 4 { // 2 and 4 for a, 3 and 5 for b
		if _, _, send, _ := q.offer(int64(10 + i)); send {
			t.Fatal("an arrival without a free connection was sent")
		}
	}
	if !q.blocked() {
		t.Error("both hosts are busy: no arrival can be sent")
	}
	for i, step := range []struct {
		from *worker
		want int64
	}{{b, 3}, {b, 5}, {a, 2}} {
		j, to, send, stay := q.release(step.from, int64(60e6+i))
		if j.index != step.want || to != step.from || !send || !stay || !j.capped {
			t.Errorf("release %d: arrival %d to %p, %v, want %d to the same worker", i, j.index, to, send, step.want)
		}
	}
	if _, _, send, stay := q.release(b, 70e6); send || !stay {
		t.Error("the arrival that waits for a was sent to b")
	}
	if q.blocked() {
		t.Error("b is free, but everything is blocked")
	}
	if _, _, send, _ := q.offer(71e6); send { // 6, for a
		t.Error("an arrival went ahead of the one that waits")
	}
	if _, to, send, _ := q.offer(72e6); !send || to != b { // 7, for b
		t.Error("an arrival for the free host waited")
	}
	q.stop(80e6)
	if left := q.waste(5); len(left) != 2 || left[0].index != 4 || left[1].index != 6 {
		t.Errorf("never sent = %+v, want 4 and 6", left)
	}
}
