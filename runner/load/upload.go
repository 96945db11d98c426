package load

import (
	"errors"
	"io"
	"time"
)

// largeWrite is the size, in bytes, from which a request may fill the buffers
// between here and a server that answers without reading it.
const largeWrite = 32 << 10

// sendingGrace is how long a sending may go on behind a complete answer: enough
// to notice that it is done.
const sendingGrace = 5 * time.Millisecond

// continueWait is how long a body is held back for a 100 (Continue) that does
// not come.
const continueWait = time.Second

func isEOF(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// receiveAfter reads the answer although sending failed: a server that refuses a
// body may answer and close before it was sent. Without an answer, the failed
// sending is the result.
func (w *worker) receiveAfter(s *sample, sendErr error) *failure {
	fail := w.receive(s)
	if fail == nil {
		w.resp.keepAlive = false
		return nil
	}
	if w.resp.begun() || fail.kind == kindTimeout || fail.kind == kindTLS {
		return fail
	}
	return classify(sendErr, "the request was being sent", *w.conn.address)
}

// transferLarge sends beside the reading. An answer that is complete before
// the request is ends the sending and the connection.
func (w *worker) transferLarge(s *sample, req []byte) *failure {
	return w.transferSince(s, req, w.e.now())
}

// transferSince is transferLarge for what is left of a request that began to be
// sent at began.
func (w *worker) transferSince(s *sample, req []byte, began int64) *failure {
	type written struct {
		n    int
		took int64
		err  error
	}
	sent := make(chan written, 1)
	c := w.conn
	go func() {
		n, err := c.Write(req)
		sent <- written{n, w.e.now() - began, err}
	}()
	fail := w.receive(s)
	if fail == nil {
		c.SetWriteDeadline(time.Now().Add(sendingGrace))
	} else {
		c.SetWriteDeadline(time.Unix(1, 0))
	}
	out := <-sent
	s.bytesOut += int64(out.n)
	if out.err == nil {
		s.handed(out.took)
		return fail
	}
	w.resp.keepAlive = false
	if fail != nil && !isTimeout(out.err) && !w.resp.begun() && fail.kind != kindTimeout {
		return classify(out.err, "the request was being sent", *w.conn.address)
	}
	return fail
}

// transferAfterContinue sends the head, and the body once the server asks for it
// or has said nothing for continueWait. A final answer before that leaves the
// body unsent; the connection cannot be used again then (RFC 9110, 10.1.1).
func (w *worker) transferAfterContinue(s *sample, req []byte, bodyAt int, deadline time.Time) *failure {
	began := w.e.now()
	n, err := w.conn.Write(req[:bodyAt])
	s.bytesOut += int64(n)
	if err != nil {
		return w.receiveAfter(s, err)
	}
	if wait := time.Now().Add(continueWait); wait.Before(w.readUntil()) {
		w.conn.SetReadDeadline(wait)
	}
	for !w.resp.done() && !w.resp.continued && !w.resp.final() {
		fail := w.receiveOnce(s)
		if fail == nil {
			continue
		}
		if fail.kind == kindTimeout && time.Now().Before(deadline) {
			break // said nothing
		}
		return fail
	}
	w.conn.SetReadDeadline(w.readUntil())
	if !w.resp.continued && (w.resp.done() || w.resp.final()) {
		fail := w.receive(s)
		w.resp.keepAlive = false
		return fail
	}
	return w.transferSince(s, req[bodyAt:], began)
}
