//go:build amd64 || arm64

package load

// fullLines are lanes that found the queue of a Unix socket's listener full. No event says when there is room: every
// fullRetry they try again, in order, until one finds no room.
type fullLines struct {
	lanes, batch []waiter
	at           int64 // when to try again
}

type waiter struct {
	lane *lane
	gen  int32
}

func (f *fullLines) add(ln *lane, now int64) {
	if len(f.lanes) == 0 {
		f.at = now + int64(fullRetry)
	}
	f.lanes = append(f.lanes, waiter{ln, ln.gen})
}

// retry lets the lanes try again when it is time to.
func (l *loop) retry(now int64) {
	f := &l.full
	if len(f.lanes) == 0 || now < f.at {
		return
	}
	f.lanes, f.batch = f.batch[:0], f.lanes
	for _, w := range f.batch {
		if ln := w.lane; ln.gen == w.gen && ln.state == laneConnecting { // else its time was up
			l.reach(ln)
			l.catchUp()
		}
	}
}
