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
// that wait are no list but a second cursor behind the first, so a backlog of hours
// takes no memory and keeps every intended time.
type ledger struct {
	mu       sync.Mutex
	schedule *schedule.Schedule
	hosts    int64
	max      int
	drop     bool
	inTurn   bool
	feed     schedule.Cursor // after the next arrival to come due
	before   schedule.Cursor // at it
	next     job             // it
	more     bool            // there is one
	lines    []line          // of the waiting: one, or one for each host
	due      int64           // arrivals that came due
	backlog  int64           // those of them that wait
	dropped  int64
	patience int64 // how long after its intended time an arrival may still be sent; 0: for ever
	expired  []job // dropped because of that, and not reported yet
	inFlight int
	bound    hostBound
	closing  bool // no more arrivals: quiet closes with the last end
	closed   bool // nothing is sent any more
	quiet    chan struct{}
	level    level
	sent     shape // of the arrivals as they were sent
	meant    shape // of the same arrivals as intended
}

func newLedger(s *schedule.Schedule, hosts, maxInFlight int, drop bool) *ledger {
	spans := s.Segments()
	q := &ledger{schedule: s, hosts: int64(hosts), max: maxInFlight, drop: drop, feed: *s.Cursor(), lines: make([]line, 1), quiet: make(chan struct{})}
	q.level.area = make([]float64, len(spans))
	for _, span := range spans {
		q.level.ends = append(q.level.ends, int64(span.End))
	}
	q.advance()
	return q
}

// advance moves on to the next arrival to come due.
func (q *ledger) advance() {
	if q.backlog == 0 && q.bound.most == 0 {
		q.before = q.feed
	}
	q.next, q.more = q.jobAt(&q.feed)
}

func (q *ledger) jobAt(c *schedule.Cursor) (j job, ok bool) {
	index := c.Index()
	offset, segment, ok := c.Next()
	return job{index: index, intended: int64(offset), segment: int32(segment), host: int32(q.schedule.Own(index) % q.hosts)}, ok
}

// A seat makes one request at a time, to one host.
type seat interface {
	at() int32       // the index of the host
	thread() int     // the index of the thread that serves it, 0 where there are none
	connected() bool // it has a connection, which may be used again
}

// A queue decides which arrival goes to which seat. It has the idle ones beside
// the ledger. Threads share it: whichever looks first takes the arrivals that are
// due, for its own seats as long as it has idle ones or may make more.
type queue[S seat] struct {
	*ledger
	idle   [][]stack[S] // per thread and host
	opened []int        // seats of a host, of all threads
}

func newQueue[S seat](l *ledger, threads int) *queue[S] {
	q := &queue[S]{ledger: l, idle: make([][]stack[S], threads), opened: make([]int, l.hosts)}
	for i := range q.idle {
		q.idle[i] = make([]stack[S], l.hosts)
	}
	return q
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

// pop takes the one used last. There is one.
func (s *stack[S]) pop() (w S) {
	s.len--
	return s.ring[(s.low+s.len)%len(s.ring)]
}

// popLow takes the one that was idle longest. There is one.
func (s *stack[S]) popLow() (w S) {
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
	return q.take(0, now)
}

// offerDue is offer for a thread; due is false when no arrival up to frontier is
// left.
func (q *queue[S]) offerDue(thread int, now, frontier int64) (j job, w S, due, send, dropped bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.more || q.next.intended > frontier {
		return j, w, false, false, false
	}
	j, w, send, dropped = q.take(thread, now)
	return j, w, true, send, dropped
}

func (q *queue[S]) take(thread int, now int64) (j job, w S, send, dropped bool) {
	j = q.next
	ln := q.lineOf(j.index)
	q.due++
	full := ln.len > 0 || !q.room(ln)
	if full && !q.drop {
		if ln.len == 0 {
			ln.full = now
			if q.bound.most == 0 {
				ln.cursor = q.before
			}
		}
		ln.len++
		q.backlog++
		q.advance()
		return job{}, w, false, false
	}
	if q.bound.most > 0 {
		ln.cursor.Next()
	}
	q.meant.see(j.intended)
	q.advance()
	if full {
		j.capped = true
		q.dropped++
		return j, w, false, true
	}
	q.sent.see(now)
	q.level.move(now, q.inFlight, 1)
	q.enter(j.host)
	return j, q.popIdle(thread, j.host), true, false
}

// exhausted tells whether all arrivals have come due.
func (q *ledger) exhausted() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return !q.more
}

// pop takes the line's first arrival. There is one.
func (q *ledger) pop(ln *line) job {
	j, _ := q.jobAt(&ln.cursor)
	j.capped = true
	q.meant.see(j.intended)
	q.backlog--
	if ln.len--; ln.len == 0 && q.bound.most == 0 {
		q.before = ln.cursor
	}
	return j
}

// popWaiting returns the first waiting arrival that can be sent, and still is to
// be. Those before it are dropped.
func (q *ledger) popWaiting(now int64) (j job, ok bool) {
	for ln := q.first(); ln != nil; ln = q.first() {
		j = q.pop(ln)
		if q.patience == 0 || now-j.intended < q.patience {
			j.waiting = max(0, now-max(j.intended, ln.full))
			return j, true
		}
		q.dropped++
		q.expired = append(q.expired, j)
	}
	return job{}, false
}

// takeExpired returns the arrivals that popWaiting dropped since the last call.
func (q *ledger) takeExpired() []job {
	q.mu.Lock()
	defer q.mu.Unlock()
	jobs := q.expired
	q.expired = nil
	return jobs
}

// popIdle takes an idle seat of the host, of the thread's own if it can; nil: a new
// one is to be made.
func (q *queue[S]) popIdle(thread int, host int32) (w S) {
	own, seats := &q.idle[thread][host], q.seats()
	switch inTurn := q.inTurn || q.bound.most > 0; {
	case inTurn && own.opened < seats/len(q.idle) && q.opened[host] < seats:
	case inTurn && own.len > 0:
		return own.popLow()
	case own.len > 0:
		return own.pop()
	}
	if q.opened[host] >= seats {
		for i := range q.idle {
			if other := &q.idle[i][host]; other.len > 0 {
				return other.pop()
			}
		}
	}
	own.opened++
	q.opened[host]++
	return w
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
	j, send = q.popWaiting(now)
	if !send {
		q.level.move(now, q.inFlight+1, -1)
		if q.closing && q.inFlight == 0 {
			close(q.quiet)
			q.closing = false
		}
		return j, to, false, q.park(w)
	}
	q.enter(j.host)
	q.sent.see(now)
	if j.host == w.at() && (q.bound.most == 0 || q.idle[w.thread()][j.host].len == 0) { // else it is another's turn
		return j, w, true, true
	}
	stay = q.park(w)
	return j, q.popIdle(w.thread(), j.host), true, stay
}

// park puts w among the idle seats, if it has a connection.
func (q *queue[S]) park(w S) bool {
	own := &q.idle[w.thread()][w.at()]
	if !w.connected() {
		own.opened--
		q.opened[w.at()]--
		return false
	}
	own.push(w)
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
	for _, hosts := range q.idle {
		for i := range hosts {
			for hosts[i].len > 0 {
				idle = append(idle, hosts[i].pop())
			}
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
		jobs[i] = q.pop(q.longest())
	}
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
