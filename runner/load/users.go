package load

import (
	"math"
	"sync/atomic"
	"time"
)

// users are those of a closed model: each makes a request, or a flow, when the one before has ended and the think time is
// over.
type users struct {
	pool    *pool
	arrived atomic.Int64   // requests, or flows, that were begun
	next    []atomic.Int64 // intended time of what each user does, or does next; math.MaxInt64 when nothing more comes
}

func newUsers(p *pool) *users { return &users{pool: p, next: make([]atomic.Int64, p.cfg.Users)} }

// floor is a time ahead of which no request will be intended any more.
func (u *users) floor() int64 {
	t := int64(math.MaxInt64)
	for i := range u.next {
		t = min(t, u.next[i].Load())
	}
	return t
}

// start lets all users begin, and sends the time when no request is begun any more.
func (u *users) start(offered chan<- int64) {
	p := u.pool
	for i := range u.next {
		p.workers.Go(func() { u.run(i) })
	}
	go func() {
		length := int64(p.cfg.Schedule.Duration())
		over := time.NewTimer(time.Duration(length - p.now()))
		defer over.Stop()
		select {
		case <-over.C:
			offered <- length
		case <-p.halt:
			offered <- min(max(p.now(), 0), length)
		}
	}()
}

// run is what a user does. Data rows are those of the requests in the order in which they are begun.
func (u *users) run(i int) {
	p := u.pool
	end := int64(p.cfg.Schedule.Duration())
	w := p.worker(int32(i % len(p.hosts)))
	defer w.drop()
	defer u.next[i].Store(math.MaxInt64)
	if !p.rest(0) {
		return
	}
	for intended := int64(0); intended < end && !p.halted.Load(); {
		u.next[i].Store(intended)
		if !p.rest(intended) || p.halted.Load() {
			return
		}
		index := p.cfg.Schedule.Index(u.arrived.Add(1) - 1)
		if most := p.cfg.MaxArrivals; most > 0 && index >= most {
			p.stopOffering()
			return
		}
		j := job{index: index, intended: intended, host: w.host}
		p.ledger.arrive(p.now(), j.host)
		done := w.serve(j)
		p.ledger.depart(done, j.host)
		intended = done + pause(p.cfg.Think, p.cfg.Values, index)
	}
}

// arrive counts a request of a user as offered and sent.
func (q *ledger) arrive(now int64, host int32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.due++
	q.level.move(now, q.inFlight, 1)
	q.enter(host)
}

// depart counts its end.
func (q *ledger) depart(now int64, host int32) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return
	}
	q.leave(host)
	q.level.move(now, q.inFlight+1, -1)
	if q.closing && q.inFlight == 0 {
		close(q.quiet)
		q.closing = false
	}
}
