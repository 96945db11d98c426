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

// Loops are the event loop, on one thread or more, each with connections of its
// own.
type loops struct {
	all     []*loop
	offered chan<- int64
	opened  atomic.Int32 // connections before the first arrival
	dials   turn         // of theirs
	working atomic.Int32 // loops that still offer
	endedAt atomic.Int64 // the latest end of the offering
}

// A loop is one thread that offers arrivals and sends and receives on its
// connections. No request waits for another's connection: there is one queue of
// arrivals for all, and any idle connection of the host will do. Each loop wakes
// for arrivals of its own share of the schedule, and offers whatever is due then:
// one that is late is no reason for an arrival to be.
type loop struct {
	*engine
	number int // among all
	group  *loops
	queue  *queue[*lane]
	poll   *poller
	rx     receiver
	wall   wallClock
	sleep  pacer
	peers  []remote    // of the hosts
	heads  []knownHead // of their answers, by request

	offering bool
	share    *schedule.Cursor // of the arrivals to wake for
	next     int64            // intended time of the next of them
	more     bool             // there is one

	lanes  []*lane
	spare  []*lane
	line   lineup
	todo   []start
	batch  []start
	ended  []sample // that are not in the mailbox yet
	buf    []byte
	polled int64 // when the sockets were looked at last
	hold   bool  // short waits keep the thread's turn
	busy   int   // lanes that cannot be left alone until the next tick
	large  bool  // answers are too large for that, or the kernel has no times of theirs
	full   fullLines

	given    gifts
	shaken   handshakes
	stopping atomic.Bool
	moved    atomic.Bool   // hosts have left addresses
	left     chan struct{} // closed: the thread has ended
}

// A start is an arrival for a lane; nil: for a new one.
type start struct {
	lane *lane
	job  job
}

// A gift is an arrival that another loop took for one of this loop's lanes.
type gifts struct {
	mu     sync.Mutex
	starts []start
}

// newLoop returns why there is no event loop for the run, if there is none.
func newLoop(e *engine) (path, string, error) {
	if why := beyondLoop(e); why != "" {
		return nil, why, nil
	}
	n := loopsFor(&e.cfg, runtime.NumCPU())
	enoughTurns(n*(1+e.cfg.Beside) + 1)
	var err error
	if e.pace, err = choosePacing(&e.cfg, timeTimer()); err != nil {
		return nil, "", err
	}
	e.loops = n
	group := &loops{dials: newTurn()}
	queue := newQueue[*lane](e.ledger, n)
	for i := range n {
		l := &loop{engine: e, number: i, group: group, queue: queue, offering: true,
			heads: make([]knownHead, len(e.hosts)*len(e.mix.kinds)), buf: make([]byte, largeRead), left: make(chan struct{})}
		for k, h := range e.hosts { // for each loop: a call to connect writes to the address
			a, err := socketAddress(h.Address)
			if err != nil {
				group.close()
				return nil, fmt.Sprintf("the event loop cannot connect to %s: %v", h.Address, err), nil
			}
			_, local := a.(*unix.SockaddrUnix)
			l.large = l.large || local
			l.peers = append(l.peers, remote{&e.places[k].Load().addresses[0], a})
		}
		if l.share, err = e.cfg.Schedule.Shard(i, n); err != nil {
			return nil, "", err
		}
		if l.poll, err = newPoller(); err != nil {
			group.close()
			return nil, fmt.Sprintf("the event loop cannot wait for sockets: %v", err), nil
		}
		l.next, l.more = math.MinInt64, true
		group.all = append(group.all, l)
	}
	return group, "", nil
}

func (g *loops) close() {
	for _, l := range g.all {
		l.poll.close()
	}
}

func (g *loops) start(offered chan<- int64) {
	g.offered = offered
	g.working.Store(int32(len(g.all)))
	for _, l := range g.all {
		l.wall.base = l.base
		l.advance(-1)
		go l.run()
	}
}

func (g *loops) leaveOld() {
	for _, l := range g.all {
		l.moved.Store(true)
		l.poll.wake()
	}
}

// leaveOld closes the idle connections to addresses that hosts have left.
func (l *loop) leaveOld() {
	if !l.moved.Swap(false) {
		return
	}
	for _, ln := range l.lanes {
		if ln.state == laneIdle && l.outdated(ln.to, ln.spot) {
			l.hangUp(ln)
		}
	}
}

func (g *loops) wake() {
	for _, l := range g.all {
		l.poll.wake()
	}
}

// stop ends all that is under way.
func (g *loops) stop() {
	for _, l := range g.all {
		l.stopping.Store(true)
		l.poll.wake()
	}
	for _, l := range g.all {
		<-l.left
		l.shaken.wait.Wait()
	}
	g.close()
}

// give sends an arrival on the loop's own thread.
func (l *loop) give(s start) {
	l.given.mu.Lock()
	l.given.starts = append(l.given.starts, s)
	l.given.mu.Unlock()
	l.poll.wake()
}

func (l *loop) takeGiven() {
	l.given.mu.Lock()
	l.todo = append(l.todo, l.given.starts...)
	l.given.starts = l.given.starts[:0]
	l.given.mu.Unlock()
	l.catchUp()
}

// enoughTurns lets another goroutine run beside the loop's. With a single turn, as Go takes it on a single core, the loop
// would wait for whoever has it, up to 10 ms, where the kernel gives its thread the core at once.
func enoughTurns(n int) {
	if runtime.GOMAXPROCS(0) < n {
		runtime.GOMAXPROCS(n)
	}
}

// beyondLoop names what the event loop does not do.
func beyondLoop(e *engine) string {
	switch {
	case e.mix.redirects():
		return "the event loop does not follow redirects"
	case e.mix.flows != nil:
		return "the event loop does not run flows"
	case e.cfg.Users > 0:
		return "the event loop has no users of a closed model"
	case e.mix.expectContinue():
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

func (l *loop) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with its settings
	defer close(l.left)
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

// advance moves on to the next arrival to wake for.
func (l *loop) advance(after int64) {
	if len(l.group.all) == 1 { // nobody else takes arrivals
		l.next, l.more = l.queue.next.intended, l.queue.more
		return
	}
	for l.more && l.next <= after {
		offset, _, ok := l.share.Next()
		l.next, l.more = int64(offset), ok
	}
}

// offer takes up the arrivals that are due, some of them if they are many; again
// tells whether there are more.
func (l *loop) offer(now int64) (again bool) {
	if !l.offering || now < 0 && !l.halted.Load() {
		return false
	}
	if l.halted.Load() {
		l.endOffering(now)
		return false
	}
	frontier := l.pace.frontier(now)
	for sent := 0; ; {
		if sent == burst {
			return true
		}
		j, ln, due, send, drop := l.queue.offerDue(l.number, now, frontier)
		if !due {
			break
		}
		switch {
		case send:
			sent++
			l.begin(ln, j)
			l.catchUp()
		case drop:
			l.report(&sample{job: j, outcome: dropped})
		}
	}
	l.advance(frontier)
	if end := int64(l.cfg.Schedule.Duration()); !l.more && now >= end && l.queue.exhausted() {
		l.endOffering(end)
	}
	return false
}

func (l *loop) endOffering(at int64) {
	l.offering = false
	g := l.group
	for last := g.endedAt.Load(); at > last && !g.endedAt.CompareAndSwap(last, at); last = g.endedAt.Load() {
	}
	if g.working.Add(-1) == 0 {
		g.offered <- g.endedAt.Load() // has room
	}
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
	for ln := l.line.first; ln != nil && now >= ln.until; ln = l.line.first {
		l.finish(ln, l.late(ln), false, now)
		l.catchUp()
	}
}

// report keeps a sample for the account until the loop waits.
func (l *loop) report(s *sample) { l.ended = append(l.ended, *s) }

func (l *loop) handOver() {
	if len(l.ended) > 0 {
		l.mail.put(l.ended...)
		l.ended = l.ended[:0]
	}
}

// wait waits for something to do, unless there is, and does what sockets ask for.
func (l *loop) wait(again bool) {
	l.handOver()
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
		until = first.until
	}
	if len(l.full.lanes) > 0 {
		until = min(until, l.full.at)
	}
	arrival := int64(math.MaxInt64)
	switch {
	case !l.offering:
	case !l.more: // wake for the end, when the last arrivals of all have come due
		arrival = l.pace.due(int64(l.cfg.Schedule.Duration()))
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
	case l.pace.mode == PacingPrecise && l.offering:
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
		l.takeGiven()
		l.leaveOld()
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
	case ln.state == laneShaking:
		ln.gone = ln.gone || ended
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
		l.report(&ln.sample)
	}
	for _, ln := range l.lanes {
		l.hangUp(ln)
	}
	l.handOver()
}
