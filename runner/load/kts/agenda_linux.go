package kts

// An event is something to do at a time.
type event struct {
	at   int64
	kind eventKind
	conn *conn
	req  int    // index in the log
	do   action // of an answer
	step int    // of a drip
	uses int64  // of conn, for idle
}

type eventKind uint8

const (
	answer eventKind = iota // the last byte, or the end of the connection
	bit                     // a part of the body
	idle                    // the connection may have been idle for long
	freeze                  // stop accepting
	thaw                    // accept again
)

// An agenda is a heap of events, the earliest first; those of one time come out
// in any order.
type agenda []event

func (a *agenda) add(e event) {
	h := append(*a, e)
	for i := len(h) - 1; i > 0; {
		up := (i - 1) / 2
		if h[up].at <= h[i].at {
			break
		}
		h[up], h[i] = h[i], h[up]
		i = up
	}
	*a = h
}

func (a *agenda) take() event {
	h := *a
	first, n := h[0], len(h)-1
	h[0] = h[n]
	h[n] = event{}
	h = h[:n]
	for i := 0; ; {
		least := 2*i + 1
		if least >= n {
			break
		}
		if right := least + 1; right < n && h[right].at < h[least].at {
			least = right
		}
		if h[i].at <= h[least].at {
			break
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
	*a = h
	return first
}
