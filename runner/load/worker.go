package load

import (
	"bytes"
	"sync"
	"time"
)

const (
	smallRead = 4 << 10  // the read buffer of a new connection
	largeRead = 64 << 10 // once a response filled the small one
)

// A pool is the goroutine path: a dispatcher, and a goroutine for each
// connection.
type pool struct {
	*engine
	queue   *queue[*worker]
	dialer  *dialer
	workers sync.WaitGroup
	exact   pacer // of those who think
}

func newPool(e *engine) *pool {
	return &pool{engine: e, queue: newQueue[*worker](e.ledger, 1), dialer: newDialer(e.now)}
}

func (e *pool) start(offered chan<- int64) {
	e.exact = clockPacer(e.now)
	if e.users != nil {
		e.users.start(offered)
		return
	}
	go e.dispatch(offered)
}

func (e *pool) wake() {} // the dispatcher listens to halt

func (e *pool) leaveOld() {
	e.dialer.closeIdle(func(c *conn) bool { return e.outdated(c.host, c.spot) })
}

// stop ends all that is under way.
func (e *pool) stop() {
	e.dialer.closeAll()
	for _, w := range e.queue.takeIdle() {
		close(w.jobs)
	}
	e.workers.Wait()
}

// A worker owns one connection to one host and the goroutine that uses it. It
// makes one request at a time.
type worker struct {
	e     *pool
	host  int32
	kind  *kind    // of the request under way
	visit *visit   // the flow under way; nil: none
	to    string   // path and query of the hop under way, where there are cookies
	conn  *conn    // nil: not connected
	jobs  chan job // its next job, when it is idle; closed: no more

	buf   []byte // for requests
	req   []byte // the request as rendered; shared and not to be changed where it is the same for all arrivals
	read  []byte
	resp  response
	early time.Time // until when the first byte has to be there; zero: by the deadline, or it is
	late  time.Time // the deadline of the request
	end   int64     // when the last byte of the last response came
}

func (w *worker) at() int32 { return w.host }

func (w *worker) thread() int { return 0 }

func (w *worker) connected() bool { return w.conn != nil }

// hire makes a worker for j and runs it.
func (e *pool) hire(j job) {
	w := e.worker(j.host)
	e.workers.Go(func() { w.run(j) })
}

func (e *pool) worker(host int32) *worker {
	return &worker{e: e, host: host, jobs: make(chan job, 1), read: make([]byte, smallRead), resp: response{known: &knownHead{}}}
}

func (e *pool) hand(j job, to *worker) {
	if to == nil {
		e.hire(j)
		return
	}
	to.jobs <- j // never waits: an idle worker's channel is empty
}

// run serves jobs until the connection ends or the run does.
func (w *worker) run(j job) {
	defer w.drop()
	for {
		end := w.serve(j)
		next, to, send, stay := w.e.queue.release(w, end)
		switch {
		case send && to == w:
			j = next
			continue
		case send:
			w.e.hand(next, to)
		}
		if !stay {
			return
		}
		ok := false
		if j, ok = <-w.jobs; !ok {
			return
		}
	}
}

// drop closes the connection.
func (w *worker) drop() {
	if w.conn != nil {
		w.e.dialer.close(w.conn)
		w.conn = nil
	}
}

// serve makes the request of an arrival, or its flow, and reports it.
func (w *worker) serve(j job) (end int64) {
	e := w.e
	if e.mix.flows != nil {
		return w.serveFlow(j)
	}
	s := sample{job: j, sent: e.now()}
	return w.perform(&s, e.mix.of(s.index), nil)
}

// perform makes one logical request, redirects included, and reports it. st is the step of the flow that it is, or nil.
func (w *worker) perform(s *sample, k *kind, st *step) (end int64) {
	e := w.e
	w.end, w.kind = 0, k
	s.fail = w.request(s, st)
	s.end = w.end
	if s.end == 0 || s.fail != nil && s.status == 0 {
		s.end = e.now()
	}
	s.outcome = s.fail.outcome()
	if s.fail != nil && s.status == 0 && e.dialer.over() {
		s.outcome, s.fail = unfinished, nil
	}
	e.mail.put(*s)
	return s.end
}

// request sends the arrival's request and follows redirects; nil: completed.
// s.status is set once a final answer is there.
func (w *worker) request(s *sample, st *step) *failure {
	e, k, v := w.e, w.kind, w.visit
	deadline := e.base.Add(time.Duration(e.timeUp(s)))
	var bodyAt int
	if v != nil {
		v.status = 0
		if fail := v.prepare(k); fail != nil {
			return fail
		}
		if v.jar != nil {
			w.to = k.render.target(int(w.host), s.index, v)
		}
	}
	w.req, bodyAt = k.render.into(&w.buf, int(w.host), s.index, v)
	if fail := w.exchange(s, w.req, bodyAt, k.Method == "HEAD", deadline); fail != nil {
		return fail
	}
	if k.Redirects > 0 && isRedirect(&w.resp) {
		if fail := w.follow(s, w.req, bodyAt, deadline); fail != nil {
			return fail
		}
	}
	s.status = int32(w.resp.status)
	s.bodyBytes = w.resp.bodyBytes
	fail := k.check.check(&w.resp)
	if v != nil {
		v.status = w.resp.status
		if fail == nil {
			fail = v.learn(st, &w.resp)
		}
	}
	return fail
}

// exchange makes one request on the wire and reads its answer into w.resp.
func (w *worker) exchange(s *sample, req []byte, bodyAt int, head bool, deadline time.Time) *failure {
	e := w.e
	s.whole = false
	if fail := w.connect(s, deadline); fail != nil {
		return fail
	}
	w.resp.reset(head, w.kind.check.needBody)
	w.resp.want(w.kind.check.needFields)
	var cookies []string
	if w.visit != nil && w.visit.jar != nil {
		w.resp.cookies = &cookies
	}
	w.conn.SetDeadline(deadline)
	w.early, w.late = time.Time{}, deadline
	if d := e.cfg.Timeouts.FirstByte; d > 0 {
		if early := time.Now().Add(d); early.Before(deadline) {
			w.early = early
			w.conn.SetReadDeadline(early)
		}
	}
	before, used := s.bytesOut, w.conn.used > 0
	w.conn.used++
	fail := w.transfer(s, req, bodyAt, deadline)
	if cookies != nil {
		w.visit.keep(&e.hosts[w.host], w.kind.render.host, w.to, cookies)
	}
	w.resp.cookies = nil
	if s.bytesOut > before {
		s.attempts++
		if used {
			s.reused++
		}
	}
	if fail != nil || !w.resp.keepAlive || !e.keepAlive || w.conn.used == e.cfg.RequestsPerConnection {
		w.drop()
		return fail
	}
	w.conn.idle.Store(true) // before the look, so that leaveOld sees the one or this the other
	if e.outdated(w.host, w.conn.spot) && w.conn.idle.CompareAndSwap(true, false) {
		w.drop()
	}
	return fail
}

// connect opens a connection unless the worker has one that is still open.
func (w *worker) connect(s *sample, deadline time.Time) (fail *failure) {
	if w.conn != nil {
		if w.conn.idle.CompareAndSwap(true, false) && !w.e.outdated(w.host, w.conn.spot) && w.conn.usable() {
			return nil
		}
		w.drop()
	}
	e := w.e
	event := sample{outcome: opened}
	if d := e.cfg.Timeouts.Connect; d > 0 {
		if early := time.Now().Add(d); early.Before(deadline) {
			deadline = early
			defer func() {
				if fail != nil && fail.kind == kindTimeout {
					fail = e.lateIn(false)
				}
			}()
		}
	}
	if w.conn, fail = e.dialer.dial(e.dialer.ctx, w.host, e.spot(w.host), e.hosts[w.host].TLS, deadline, &event); fail != nil {
		return fail
	}
	e.mail.put(event)
	return nil
}

// transfer sends the request and reads the answer. Where the answer may come
// before the request is sent whole, the body goes out beside the reading.
func (w *worker) transfer(s *sample, req []byte, bodyAt int, deadline time.Time) *failure {
	if w.kind.ExpectContinue && bodyAt < len(req) {
		return w.transferAfterContinue(s, req, bodyAt, deadline)
	}
	if len(req) > largeWrite {
		return w.transferLarge(s, req)
	}
	began := w.stamp(req)
	n, err := w.conn.Write(req)
	s.bytesOut += int64(n)
	if err == nil {
		s.handed(w.stamp(req) - began)
		return w.receive(s)
	}
	return w.receiveAfter(s, err)
}

// onePiece is the size, in bytes, up to which any connection takes a request at
// once: a TLS record, and the least that a socket's buffer has.
const onePiece = 16 << 10

// stamp is the time, where a request may take a while to be sent.
func (w *worker) stamp(req []byte) int64 {
	if len(req) <= onePiece {
		return 0
	}
	return w.e.now()
}

// readUntil is when the time to read is up: for the first byte, or for all.
func (w *worker) readUntil() time.Time {
	if w.early.IsZero() {
		return w.late
	}
	return w.early
}

// receive reads until the answer is complete.
func (w *worker) receive(s *sample) *failure {
	for !w.resp.done() {
		if fail := w.receiveOnce(s); fail != nil {
			return fail
		}
	}
	return nil
}

// receiveOnce reads what there is.
func (w *worker) receiveOnce(s *sample) *failure {
	n, err := w.conn.Read(w.read)
	w.end = w.e.now()
	if n > 0 {
		if s.first == 0 {
			s.first = w.end
		}
		if !w.early.IsZero() {
			w.early = time.Time{}
			w.conn.SetReadDeadline(w.late)
		}
		s.bytesIn += int64(n)
		used, bad := w.resp.feed(w.read[:n])
		if bad != nil {
			return &failure{kind: kindProtocol, text: bad.Error()}
		}
		if used < n { // bytes that nobody asked for: they would be taken for the next answer
			w.resp.keepAlive = false
		}
		if n == len(w.read) && n < largeRead {
			w.read = make([]byte, largeRead)
		}
	}
	if err != nil && !w.resp.done() {
		if isTimeout(err) && !w.early.IsZero() {
			return w.e.lateIn(true)
		}
		return broken(err, &w.resp, *w.conn.address)
	}
	return nil
}

// broken is the end of the stream while an answer is read; nil if it completes the answer.
func broken(err error, r *response, address string) *failure {
	if isEOF(err) {
		if err = r.eof(); err == nil {
			return nil
		}
	}
	f := classify(err, "", address)
	if f.kind == kindTimeout && r.begun() {
		f.text = "no complete answer within the timeout"
	}
	if f.kind == kindReset && r.begun() {
		f.text += " within the answer"
	}
	return f
}

func isRedirect(r *response) bool {
	switch r.status {
	case 301, 302, 303, 307, 308:
		return len(bytes.TrimSpace(r.location)) > 0
	}
	return false
}
