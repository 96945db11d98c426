package load

import "sync"

type outcome uint8

const (
	completed  outcome = iota // answered as expected
	failed                    // ended otherwise
	timedOut                  // failed: no answer within the timeout
	unfinished                // no answer when the run ended
	dropped                   // never sent
	opened                    // no end of a request: a connection was opened for one
)

// A sample is what became of one arrival, or of an attempt to connect.
type sample struct {
	job
	outcome   outcome
	flow      bool // it is that of a flow, its requests have their own
	waitedOut bool // its time was up for the most part before it was sent
	whole     bool // all of the request, of each hop, was handed to the system
	sent      int64
	end       int64
	first     int64 // first byte of the (first) answer; 0: none came
	sending   int64 // from the first byte of the request to the last, handed to the system; 0: in one piece
	fail      *failure
	kind      int32 // number of the request, of flows and users
	thought   int64 // think time within a flow

	attempts, reused, redirects  int32
	status                       int32 // of the final answer; 0: none came
	bytesOut, bytesIn, bodyBytes int64

	connect, tls int64 // how long opening the connection took; tls 0: none
	resumed      bool  // its TLS session was that of an earlier one
}

// handed says that a request was handed to the system, which took so long.
func (s *sample) handed(ns int64) {
	s.whole = true
	s.sending += ns
}

// A mailbox carries samples from the workers to the account.
type mailbox struct {
	mu      sync.Mutex
	samples []sample
	spare   []sample
	wake    chan struct{} // holds a token when many samples wait
}

// wakeAt is the number of samples that do not wait for the next tick.
const wakeAt = 4096

func newMailbox() *mailbox { return &mailbox{wake: make(chan struct{}, 1)} }

func (m *mailbox) put(samples ...sample) {
	m.mu.Lock()
	before := len(m.samples)
	m.samples = append(m.samples, samples...)
	full := before < wakeAt && len(m.samples) >= wakeAt
	m.mu.Unlock()
	if full {
		select {
		case m.wake <- struct{}{}:
		default:
		}
	}
}

// take returns all samples; they are the caller's until the next take.
func (m *mailbox) take() []sample {
	m.mu.Lock()
	defer m.mu.Unlock()
	full := m.samples
	m.samples, m.spare = m.spare[:0], full
	return full
}
