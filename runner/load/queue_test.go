package load

import (
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/schedule"
)

func newTestQueue(t *testing.T, hosts, inFlight int, drop bool) *queue[*worker] {
	t.Helper()
	s, err := schedule.New([]schedule.Segment{hold(100, time.Second)}, schedule.Uniform, 1)
	if err != nil {
		t.Fatal(err)
	}
	return newQueue[*worker](newLedger(s, hosts, inFlight, drop), 1)
}

// Arrivals beyond the bound wait in order; how long is counted from when the bound was
// found reached, and what the dispatcher was late before that is not the bound's doing.
func TestQueueWaits(t *testing.T) {
	q := newTestQueue(t, 1, 1, false)
	w := &worker{conn: &conn{}}
	j, to, send, _ := q.offer(0)
	if j.index != 0 || to != nil || !send || j.capped {
		t.Fatalf("first arrival: %+v, %v, %v, want sent on a new worker", j, to, send)
	}
	for now := range 2 { // due at 10 ms and 20 ms, the dispatcher looks at 25 ms
		if _, _, send, dropped := q.offer(25e6 + int64(now)); send || dropped {
			t.Fatal("an arrival beyond the bound did not wait")
		}
	}
	j, to, send, _ = q.release(w, 40e6)
	if j.index != 1 || to != w || !send || !j.capped || j.intended != 10e6 || j.waiting != 15e6 {
		t.Errorf("after the first end: %+v to %p, %v, want arrival 1 on the same worker, 15 ms waited", j, to, send)
	}
	j, _, _, _ = q.release(w, 50e6)
	if j.index != 2 || j.waiting != 25e6 {
		t.Errorf("after the second end: %+v, want arrival 2, 25 ms waited", j)
	}
	if _, _, send, stay := q.release(w, 60e6); send || !stay {
		t.Error("with nothing waiting the worker must stay idle")
	}
	if _, to, send, _ := q.offer(60e6); to != w || !send {
		t.Error("the idle worker was not used")
	}
	if s := q.state(); s.due != 4 || s.backlog != 0 || s.inFlight != 1 {
		t.Errorf("state = %+v, want 4 due, none waiting, 1 in flight", s)
	}
}

// The connection used last is used first, per host; a worker whose connection ended is not kept.
func TestQueueIdle(t *testing.T) {
	q := newTestQueue(t, 2, 10, false)
	workers := []*worker{{host: 0, conn: &conn{}}, {host: 0, conn: &conn{}}, {host: 1}}
	for i := range 3 {
		q.offer(int64(i))
	}
	for i, wantStay := range []bool{true, true, false} {
		if _, _, _, stay := q.release(workers[i], 5); stay != wantStay {
			t.Errorf("release of worker %d: stay = %v, want %v", i, stay, wantStay)
		}
	}
	if j, to, _, _ := q.offer(10); j.host != 1 || to != nil {
		t.Errorf("arrival 3: host %d, worker %v, want host 1, a new one", j.host, to)
	}
	if _, to, _, _ := q.offer(11); to != workers[1] {
		t.Error("arrival 4: want the worker used last")
	}
}

// A waiting arrival of another host goes to a worker of that host.
func TestQueueOtherHost(t *testing.T) {
	q := newTestQueue(t, 2, 1, false)
	a := &worker{host: 0, conn: &conn{}}
	q.offer(0)
	q.offer(10e6)
	j, to, send, stay := q.release(a, 20e6)
	if j.index != 1 || j.host != 1 || to != nil || !send || !stay {
		t.Errorf("release = %+v, %v, %v, %v, want arrival 1 on a new worker, this one idle", j, to, send, stay)
	}
}

func TestQueueDropsAndStops(t *testing.T) {
	q := newTestQueue(t, 1, 1, true)
	q.offer(0)
	if j, _, send, dropped := q.offer(10e6); send || !dropped || j.index != 1 || !j.capped {
		t.Errorf("beyond the bound: %+v, %v, %v, want dropped", j, send, dropped)
	}
	w := &worker{conn: &conn{}}
	q.release(w, 15e6)
	q.stop(20e6)
	if idle := q.takeIdle(); len(idle) != 1 || idle[0] != w || q.state().dropped != 1 {
		t.Errorf("stop = %v, dropped %d, want the idle worker, 1", idle, q.state().dropped)
	}

	q = newTestQueue(t, 1, 1, false)
	for i := range 5 {
		q.offer(int64(i) * 10e6)
	}
	q.close()
	q.stop(50e6)
	left := append(q.waste(3), q.waste(3)...)
	if len(left) != 4 || left[0].index != 1 || left[3].index != 4 || len(q.waste(3)) != 0 || q.state().dropped != 4 {
		t.Errorf("never sent = %+v, want 1 to 4", left)
	}
	if _, _, send, stay := q.release(w, 60e6); send || stay {
		t.Error("after the stop nothing is sent and nobody stays")
	}
}

// Threads share the arrivals and the bound on connections: a thread that has no idle seat makes one as long as there may
// be more, then it takes another's.
func TestQueueThreads(t *testing.T) {
	s, err := schedule.New([]schedule.Segment{hold(100, time.Second)}, schedule.Uniform, 1)
	if err != nil {
		t.Fatal(err)
	}
	q := newQueue[*threadSeat](newLedger(s, 1, 2, false), 2)
	seats := []*threadSeat{{on: 0}, {on: 1}}
	for thread := range seats {
		if j, to, due, send, _ := q.offerDue(thread, 10e6, 10e6); !due || !send || to != nil || j.index != int64(thread) {
			t.Fatalf("thread %d: arrival %d for %v, due %v, sent %v, want one of its own on a new seat", thread, j.index, to, due, send)
		}
	}
	if _, _, due, _, _ := q.offerDue(0, 19e6, 19e6); due || q.exhausted() {
		t.Error("an arrival of 20 ms came due at 19 ms")
	}
	q.release(seats[1], 15e6)
	if _, to, _, send, _ := q.offerDue(0, 20e6, 20e6); to != seats[1] || !send {
		t.Errorf("thread 0 got %v, want the idle seat of thread 1: no third may be made", to)
	}
	q.release(seats[1], 25e6)
	q.release(seats[0], 25e6)
	if _, to, _, _, _ := q.offerDue(0, 30e6, 30e6); to != seats[0] {
		t.Errorf("thread 0 got %v, want its own idle seat", to)
	}
	for n := 4; ; n++ {
		if _, _, due, _, _ := q.offerDue(1, 2e9, 2e9); !due {
			if n != 100 || !q.exhausted() {
				t.Errorf("%d arrivals came due, want 100", n)
			}
			break
		}
	}
}

type threadSeat struct{ on int }

func (s *threadSeat) at() int32       { return 0 }
func (s *threadSeat) thread() int     { return s.on }
func (s *threadSeat) connected() bool { return true }

// With a timeout from the intended time, arrivals whose time is up while they wait are dropped, once, and the next one
// is sent.
func TestQueueExpires(t *testing.T) {
	q := newTestQueue(t, 1, 1, false)
	q.patience = 30e6
	w := &worker{conn: &conn{}}
	for now := range int64(6) { // arrivals 0 to 5, due at 0 to 50 ms
		q.offer(now * 10e6)
	}
	j, _, send, _ := q.release(w, 50e6) // by then the times of arrivals 1 and 2 are up
	if j.index != 3 || !send || !j.capped || j.waiting != 20e6 {
		t.Errorf("after the first end: %+v, %v, want arrival 3, 20 ms waited", j, send)
	}
	gone := q.takeExpired()
	if len(gone) != 2 || gone[0].index != 1 || gone[1].index != 2 || !gone[0].capped || len(q.takeExpired()) != 0 {
		t.Errorf("expired = %+v, want arrivals 1 and 2, once", gone)
	}
	if s := q.state(); s.due != 6 || s.backlog != 2 || s.dropped != 2 || s.inFlight != 1 {
		t.Errorf("state = %+v, want 6 due, 2 waiting, 2 dropped, 1 in flight", s)
	}
	q.close()
	if _, _, send, stay := q.release(w, 80e6); send || !stay { // the times of 4 and 5 are up
		t.Error("an arrival whose time is up was sent")
	}
	if s := q.state(); s.backlog != 0 || s.dropped != 4 || s.inFlight != 0 || len(q.takeExpired()) != 2 {
		t.Errorf("state = %+v, want none waiting, 4 dropped, none in flight", s)
	}
	select {
	case <-q.quiet:
	default:
		t.Error("the queue is not quiet")
	}
}
