package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"time"
)

// Cursor walks the arrivals of a schedule in order, or every n-th of them. It
// needs the same memory however long the schedule is. It is not safe for
// concurrent use.
type Cursor struct {
	s      *Schedule
	next   int64 // index of the next arrival to give
	stride int64
	span   int
	end    int64   // index of the first arrival after that span; 0: not known yet
	rate   float64 // of that span if it is a hold of uniform arrivals, else 0
	first  float64 // R at its start
	p      process // poisson only
	drawn  int64   // arrivals taken from p
}

// Cursor returns a cursor before the first arrival.
func (s *Schedule) Cursor() *Cursor {
	c := &Cursor{s: s, next: s.part, stride: s.parts}
	if s.arrivals == Poisson {
		c.p = newProcess(s.seed, s.total(), 0)
	}
	return c
}

// Shard returns a cursor over share i of n: arrivals i, i+n, i+2n and so on of those that the schedule has.
// The n shares together are the whole schedule, each arrival once, and their
// sizes differ by at most one. Generators that take one share each need not
// talk to each other. It returns an error unless 0 <= i < n.
func (s *Schedule) Shard(i, n int) (*Cursor, error) {
	if i < 0 || i >= n {
		return nil, fmt.Errorf("schedule: got share %d of %d, want 0 to the number of shares less 1", i, n)
	}
	c := s.Cursor()
	c.next, c.stride = s.Index(int64(i)), s.parts*int64(n)
	return c, nil
}

// Next returns the offset of the next arrival from the start of the stage and
// the index of its segment; ok is false after the last.
func (c *Cursor) Next() (offset time.Duration, segment int, ok bool) {
	s := c.s
	if c.next >= s.len {
		return 0, 0, false
	}
	if c.next >= c.end {
		c.enter()
	}
	if s.trace != nil {
		offset = s.trace[c.next]
		c.next += min(c.stride, s.len-c.next)
		return offset, 0, true
	}
	r := float64(c.next)
	if s.arrivals == Poisson {
		for ; c.drawn <= c.next; c.drawn++ {
			r, _ = c.p.next()
		}
	}
	c.next += min(c.stride, s.len-c.next)
	if c.rate > 0 {
		sp := &s.spans[c.span]
		if offset, ok := sp.hold(r - c.first); ok {
			return offset, c.span, true
		}
	}
	return s.offset(c.span, r), c.span, true
}

// enter moves on to the span of the next arrival. There is one.
func (c *Cursor) enter() {
	sp := &c.s.spans[c.span]
	for c.end = sp.First + sp.Count; c.next >= c.end; c.end = sp.First + sp.Count {
		c.span++
		sp = &c.s.spans[c.span]
	}
	c.rate, c.first = 0, c.s.integral[c.span]
	if sp.From == sp.To && sp.Points == nil && c.s.arrivals == Uniform {
		c.rate = sp.From
	}
}

// Index returns the index in the whole schedule of the arrival that Next will
// return; it is Len or more after the last.
func (c *Cursor) Index() int64 { return c.next }

// Fingerprint returns the SHA-256, in hexadecimal, of all offsets in ns, each
// as eight bytes, big end first. It takes the time of a walk.
func (s *Schedule) Fingerprint() string {
	sum := sha256.New()
	var b [8]byte
	for c := s.Cursor(); ; {
		offset, _, ok := c.Next()
		if !ok {
			return hex.EncodeToString(sum.Sum(nil))
		}
		binary.BigEndian.PutUint64(b[:], uint64(offset))
		sum.Write(b[:])
	}
}
