package load

import (
	"sync"

	"github.com/perfplan/perfplan/runner/schedule"
)

// A job is one arrival on its way to a connection.
type job struct {
	index    int64 // in the schedule; picks host and data row
	intended int64 // ns since the start of the run, like all times here
	waiting  int64 // how long it waited at the in-flight bound
	segment  int32
	host     int32
	capped   bool // it found the bound reached
}

// A ledger has the arrivals that came due and were not sent, in order. Those
// that wait are no list but another cursor behind the dispatcher's, so a
// backlog of hours takes no memory and keeps every intended time.
type ledger struct {
	mu       sync.Mutex
	hosts    int64
	max      int
	drop     bool
	inTurn   bool
	lines    []line // of the waiting: one, or one for each host
	due      int64  // arrivals that came due
	backlog  int64  // those of them that wait
	dropped  int64
	inFlight int
	bound    hostBound
	closing  bool // no more arrivals: quiet closes with the last end
	closed   bool // nothing is sent any more
	quiet    chan struct{}
	level    level
}

func newLedger(s *schedule.Schedule, hosts, maxInFlight int, drop bool) *ledger {
	spans := s.Segments()
	q := &ledger{hosts: int64(hosts), max: maxInFlight, drop: drop, lines: []line{{cursor: s.Cursor()}}, quiet: make(chan struct{})}
	q.level.area = make([]float64, len(spans))
	for _, span := range spans {
		q.level.ends = append(q.level.ends, int64(span.End))
	}
	return q
}

// A seat makes one request at a time, to one host.
type seat interface {
	at() int32       // the index of the host
	connected() bool // it has a connection, which may be used again
}

// A queue decides which arrival goes to which seat. It has the idle ones beside
// the ledger.
type queue[S seat] struct {
	*ledger
	idle []stack[S] // per host
}

func newQueue[S seat](l *ledger) *queue[S] {
	return &queue[S]{l, make([]stack[S], l.hosts)}
}

// A stack has the idle seats of a host, the one used last on top. It is a ring,
// so that one can be taken from below as well.
type stack[S seat] struct {
	ring     []S
	low, len int
	opened   int // seats that were made
}

func (s *stack[S]) push(w S) {
	if s.len == len(s.ring) {
		ring := make([]S, max(8, 2*s.len))
		n := copy(ring, s.ring[s.low:])
		copy(ring[n:], s.ring[:s.low])
		s.ring, s.low = ring, 0
	}
	s.ring[(s.low+s.len)%len(s.ring)] = w
	s.len++
}

func (s *stack[S]) pop() (w S) {
	if s.len == 0 {
		s.opened++
		return w
	}
	s.len--
	return s.ring[(s.low+s.len)%len(s.ring)]
}

// popLow takes the one that was idle longest, but has up to n made before it does.
func (s *stack[S]) popLow(n int) (w S) {
	if s.len == 0 || s.opened < n {
		s.opened++
		return w
	}
	s.len--
	w = s.ring[s.low]
	s.low = (s.low + 1) % len(s.ring)
	return w
}

// offer takes the next arrival of the schedule, due at now or before. The
// arrival is sent (send; to w, or to a new seat if that is nil), dropped, or
// left waiting for release to send it.
func (q *queue[S]) offer(now int64) (j job, w S, send, dropped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	ln := q.lineOf(q.due)
	q.due++
	if ln.len > 0 || !q.room(ln) {
		if q.drop {
			j = q.pop(ln)
			j.capped = true
			q.dropped++
			return j, w, false, true
		}
		if ln.len == 0 {
			ln.full = now
		}
		ln.len++
		q.backlog++
		return j, w, false, false
	}
	j = q.pop(ln)
	q.level.move(now, q.inFlight, 1)
	q.enter(j.host)
	return j, q.popIdle(j.host), true, false
}

// pop returns the arrival at the line's cursor. There is one: it came due.
func (q *ledger) pop(ln *line) job {
	index := ln.cursor.Index()
	offset, segment, _ := ln.cursor.Next()
	return job{index: index, intended: int64(offset), segment: int32(segment), host: int32(index % q.hosts)}
}

func (q *queue[S]) popIdle(host int32) S {
	if q.inTurn || q.bound.most > 0 {
		return q.idle[host].popLow(q.seats())
	}
	return q.idle[host].pop()
}

// release says that w's request ended at now. It returns the waiting arrival
// that takes its place, if there is one, and the seat to send it: w itself
// where it can, else an idle one, else nil for a new one. stay is true when w
// must wait for its next job, false when it must end, unless w is to.
func (q *queue[S]) release(w S, now int64) (j job, to S, send, stay bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return j, to, false, false
	}
	q.leave(w.at())
	ln := q.first()
	if ln == nil {
		q.level.move(now, q.inFlight+1, -1)
		if q.closing && q.inFlight == 0 {
			close(q.quiet)
			q.closing = false
		}
		return j, to, false, q.park(w)
	}
	ln.len--
	q.backlog--
	j = q.pop(ln)
	q.enter(j.host)
	j.capped = true
	j.waiting = max(0, now-max(j.intended, ln.full))
	if j.host == w.at() && (q.bound.most == 0 || q.idle[j.host].len == 0) { // else it is another's turn
		return j, w, true, true
	}
	stay = q.park(w)
	return j, q.popIdle(j.host), true, stay
}

// park puts w among the idle seats, if it has a connection.
func (q *queue[S]) park(w S) bool {
	if !w.connected() {
		q.idle[w.at()].opened--
		return false
	}
	q.idle[w.at()].push(w)
	return true
}

// close ends the offering: quiet closes when nothing waits or is in flight.
func (q *ledger) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.inFlight == 0 && q.backlog == 0 {
		close(q.quiet)
		return
	}
	q.closing = true
}

// stop ends the sending: from now on q does not change but by waste.
func (q *ledger) stop(now int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.level.move(now, q.inFlight, 0)
}

// takeIdle returns the seats that are idle; they are no longer.
func (q *queue[S]) takeIdle() (idle []S) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for host := range q.idle {
		for q.idle[host].len > 0 {
			idle = append(idle, q.idle[host].pop())
		}
	}
	return idle
}

// blocked tells whether a bound keeps all arrivals from being sent until a
// request ends, and has been found to.
func (q *ledger) blocked() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.lines {
		if ln := &q.lines[i]; ln.len == 0 && (!q.drop || q.room(ln)) {
			return false
		}
	}
	return true
}

// waste takes up to n arrivals that came due and, after stop, are never sent.
func (q *ledger) waste(n int64) []job {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs := make([]job, min(n, q.backlog))
	for i := range jobs {
		ln := q.longest()
		ln.len--
		jobs[i] = q.pop(ln)
		jobs[i].capped = true
	}
	q.backlog -= int64(len(jobs))
	q.dropped += int64(len(jobs))
	return jobs
}

// queueState is a look at a ledger.
type queueState struct {
	due, backlog, dropped int64
	inFlight              int
}

func (q *ledger) state() queueState {
	q.mu.Lock()
	defer q.mu.Unlock()
	return queueState{q.due, q.backlog, q.dropped, q.inFlight}
}

// A level integrates the number of requests in flight over time.
type level struct {
	last    int64 // time of the last move
	peak    int
	total   float64   // request·ns since the start
	ends    []int64   // of the segments
	area    []float64 // request·ns per segment
	segment int
	seconds []int32 // level at the end of each full second
}

// move says that n requests were in flight until now, and n+by are from now on.
func (l *level) move(now int64, n, by int) {
	for end := int64(len(l.seconds)+1) * 1e9; end <= now; end += 1e9 {
		l.seconds = append(l.seconds, int32(n))
	}
	for l.segment < len(l.ends) && l.ends[l.segment] <= now {
		l.add(l.ends[l.segment], n)
		l.segment++
	}
	l.add(now, n)
	l.peak = max(l.peak, n+by)
}

func (l *level) add(to int64, n int) {
	if to <= l.last {
		return
	}
	area := float64(n) * float64(to-l.last)
	l.total += area
	if l.segment < len(l.area) {
		l.area[l.segment] += area
	}
	l.last = to
}
