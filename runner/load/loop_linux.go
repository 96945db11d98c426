//go:build amd64 || arm64

package load

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfplan/perfplan/runner/schedule"
)

const (
	burst       = 32 // arrivals sent between two looks at the sockets
	blockedWait = int64(10 * time.Millisecond)
	longestWait = int64(time.Second)
	wholeAnswer = 64 << 10 // bytes of an answer that a socket holds while nobody reads it
)

// A loop is the event loop: one thread that offers the schedule and sends and
// receives on all connections. No request waits for another's connection: there
// is one queue of arrivals, and any idle connection of the host will do.
type loop struct {
	*engine
	queue *queue[*lane]
	poll  *poller
	rx    receiver
	wall  wallClock
	sleep pacer
	peers []remote    // of the hosts
	heads []knownHead // of their answers

	offered chan<- int64 // nil once the offering has ended
	cursor  *schedule.Cursor
	next    int64 // intended time of the next arrival to offer
	more    bool  // there is one

	lanes  []*lane
	spare  []*lane
	line   lineup
	todo   []start
	batch  []start
	buf    []byte
	polled int64 // when the sockets were looked at last
	hold   bool  // short waits keep the thread's turn
	busy   int   // lanes that cannot be left alone until the next tick
	large  bool  // answers are too large for that, or the kernel has no times of theirs
	full   fullLines

	shaken   handshakes
	stopping atomic.Bool
	ended    chan struct{}
}

// A start is an arrival for a lane; nil: for a new one.
type start struct {
	lane *lane
	job  job
}

// newLoop returns why there is no event loop for the run, if there is none.
func newLoop(e *engine) (path, string, error) {
	if why := beyondLoop(e); why != "" {
		return nil, why, nil
	}
	l := &loop{engine: e, queue: newQueue[*lane](e.ledger), cursor: e.cfg.Schedule.Cursor(),
		heads: make([]knownHead, len(e.hosts)), buf: make([]byte, largeRead), ended: make(chan struct{})}
	for i := range e.hosts {
		a, err := socketAddress(e.hosts[i].Address)
		if err != nil {
			return nil, fmt.Sprintf("the event loop cannot connect to %s: %v", e.hosts[i].Address, err), nil
		}
		_, local := a.(*unix.SockaddrUnix)
		l.large = l.large || local
		l.peers = append(l.peers, remote{e.place(int32(i)), a})
	}
	var err error
	if l.poll, err = newPoller(); err != nil {
		return nil, fmt.Sprintf("the event loop cannot wait for sockets: %v", err), nil
	}
	if e.pace, err = choosePacing(&e.cfg, timeTimer()); err != nil {
		l.poll.close()
		return nil, "", err
	}
	l.advance()
	return l, "", nil
}

// beyondLoop names what the event loop does not do.
func beyondLoop(e *engine) string {
	switch {
	case e.redirects > 0:
		return "the event loop does not follow redirects"
	case e.expectContinue:
		return "the event loop does not wait for 100 (Continue)"
	}
	return ""
}

// timeTimer measures what a short sleep costs here.
func timeTimer() (cost timerCost) {
	const naps, nap = 15, int64(50 * time.Microsecond)
	var cpu, late [naps]int64
	var wait sync.WaitGroup
	wait.Go(func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its settings
		base := time.Now()
		now := func() int64 { return int64(time.Since(base)) }
		pace := newPacer(now)
		for i := range naps {
			used, until := clockNS(unix.CLOCK_THREAD_CPUTIME_ID), now()+nap
			pace.sleepUntil(until, now)
			late[i] = now() - until
			cpu[i] = clockNS(unix.CLOCK_THREAD_CPUTIME_ID) - used
		}
	})
	wait.Wait()
	slices.Sort(cpu[:])
	slices.Sort(late[:])
	return timerCost{cpu: cpu[naps/2], late: max(late[naps-2], int64(20*time.Microsecond))}
}

func (l *loop) start(offered chan<- int64) {
	l.offered, l.wall.base = offered, l.base
	go l.run()
}

func (l *loop) wake() { l.poll.wake() }

// stop ends all that is under way.
func (l *loop) stop() {
	l.stopping.Store(true)
	l.poll.wake()
	<-l.ended
	l.shaken.wait.Wait()
	l.poll.close()
}

func (l *loop) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with its settings
	defer close(l.ended)
	l.sleep = newPacer(l.now)
	l.hold = runtime.GOMAXPROCS(0) > 1 && l.sleep.clock != 0
	for !l.stopping.Load() {
		now := l.now()
		l.wall.keep(now)
		l.expire(now)
		l.retry(now)
		l.wait(l.offer(now))
	}
	l.leave()
}

// advance moves on to the next arrival.
func (l *loop) advance() {
	offset, _, ok := l.cursor.Next()
	l.next, l.more = int64(offset), ok
}

// offer takes up the arrivals that are due, some of them if they are many; again
// tells whether there are more.
func (l *loop) offer(now int64) (again bool) {
	if l.offered == nil || now < 0 && !l.halted.Load() {
		return false
	}
	if l.halted.Load() {
		l.endOffering(now)
		return false
	}
	frontier := l.pace.frontier(now)
	for sent := 0; l.more && l.next <= frontier; {
		if sent == burst {
			return true
		}
		j, ln, send, drop := l.queue.offer(now)
		l.advance()
		switch {
		case send:
			sent++
			l.begin(ln, j)
			l.catchUp()
		case drop:
			l.mail.put(&sample{job: j, outcome: dropped})
		}
	}
	if end := int64(l.cfg.Schedule.Duration()); !l.more && now >= end {
		l.endOffering(end)
	}
	return false
}

func (l *loop) endOffering(at int64) {
	l.offered <- max(at, 0) // has room
	l.offered = nil
}

// catchUp starts what ends of requests made room for, and what ends with that.
func (l *loop) catchUp() {
	for len(l.todo) > 0 {
		l.todo, l.batch = l.batch[:0], l.todo
		for _, s := range l.batch {
			l.begin(s.lane, s.job)
		}
	}
}

// expire ends the requests whose time is up.
func (l *loop) expire(now int64) {
	for ln := l.line.first; ln != nil && now-ln.sent >= int64(l.timeout); ln = l.line.first {
		l.finish(ln, l.late(ln), false, now)
		l.catchUp()
	}
}

// wait waits for something to do, unless there is, and does what sockets ask for.
func (l *loop) wait(again bool) {
	blocked := l.queue.blocked()
	var ns int64
	if !again {
		ns = l.idleTime(blocked)
	}
	n, err := l.waitFor(ns)
	l.polled = l.now()
	if err != nil { // never seen; do not spin
		time.Sleep(time.Millisecond)
		return
	}
	if blocked && n > 0 { // what is due by now waited for the ends that follow
		l.offer(l.polled)
	}
	for i := range n {
		l.handle(&l.poll.events[i])
		l.catchUp()
	}
}

// waitFor waits up to ns for sockets. A long wait begins with a short one.
func (l *loop) waitFor(ns int64) (n int, err error) {
	if ns <= longestHold {
		return l.poll.wait(ns, l.hold)
	}
	until := l.now() + ns
	if n, err = l.poll.wait(longestHold, l.hold); n > 0 || err != nil {
		return n, err
	}
	if ns = until - l.now(); ns > 0 {
		return l.poll.wait(ns, false)
	}
	return 0, nil
}

// idleTime is how long, in ns, to wait for sockets; it may sleep without them
// first.
func (l *loop) idleTime(blocked bool) int64 {
	until, now := int64(math.MaxInt64), l.now()
	if first := l.line.first; first != nil {
		until = first.sent + int64(l.timeout)
	}
	if len(l.full.lanes) > 0 {
		until = min(until, l.full.at)
	}
	arrival := int64(math.MaxInt64)
	switch {
	case l.offered == nil:
	case !l.more:
		arrival = int64(l.cfg.Schedule.Duration())
	case blocked: // the bound is reached: arrivals count, but no send waits for the clock
		arrival = max(l.next, now+blockedWait)
	default:
		arrival = l.pace.due(l.next)
	}
	until = min(until, arrival)
	ns := min(until-now, longestWait)
	switch {
	case ns <= 0:
		return 0
	case l.pace.mode == PacingTick:
		if l.busy == 0 && !l.large && !blocked && ns <= l.pace.tick {
			// Answers keep the kernel's time: they need no wake-up of their own.
			l.nap(until)
			return 0
		}
	case arrival-now < l.pace.ahead:
		return 0
	case l.pace.mode == PacingPrecise && l.offered != nil:
		if l.line.first != nil { // an answer may come
			return 0
		}
		return min(ns, arrival-l.pace.ahead-now)
	}
	return ns
}

// nap sleeps until t or soon after, without a look at the sockets.
func (l *loop) nap(t int64) {
	if !l.hold || t-l.now() > longestHold {
		l.sleep.sleepUntil(t, l.now)
		return
	}
	for l.now() < t {
		l.poll.hold(l.sleep.clock + t)
	}
}

// handle does what an event asks for.
func (l *loop) handle(ev *unix.EpollEvent) {
	if ev.Fd == wakeSlot {
		l.takeShaken()
		return
	}
	ln := l.lanes[ev.Fd]
	if ln.gen != ev.Pad {
		return // of a connection that is closed
	}
	ended := ev.Events&(unix.EPOLLRDHUP|unix.EPOLLHUP|unix.EPOLLERR) != 0
	readable := ended || ev.Events&unix.EPOLLIN != 0
	switch {
	case ln.state == laneConnecting:
		l.connectedNow(ln)
	case ln.state == laneSending && ln.busy && ev.Events&unix.EPOLLOUT != 0:
		l.flush(ln)
	}
	switch {
	case !readable || ln.gen != ev.Pad:
	case ln.state == laneSending:
		l.receive(ln, ended)
	case ln.state == laneIdle:
		l.disturbed(ln)
	}
}

// leave ends the requests in flight without an answer, and closes everything.
func (l *loop) leave() {
	now := l.now()
	for ln := l.line.first; ln != nil; ln = l.line.first {
		l.line.remove(ln)
		ln.sample.end, ln.outcome = now, unfinished
		l.mail.put(&ln.sample)
	}
	for _, ln := range l.lanes {
		l.hangUp(ln)
	}
}
