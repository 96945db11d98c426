package kts

import (
	"math/rand/v2"
	"slices"
	"time"
)

// An action is how a request ends.
type action uint8

const (
	reply   action = iota
	silence        // no answer
	hangUp         // FIN
	abort          // RST
	headed         // the head at once, then RST
	drip           // the head at once, the body bit by bit
	dripCut        // as drip, half of it
)

// A law says when each request is to be released. Times are in ns of one clock.
type law struct {
	mode  Mode
	first int64 // the first arrival
	n     int64 // requests so far
	free  int64 // when the one server is free
	slots []int64
	rand  *rand.Rand
}

func newLaw(m Mode) *law {
	l := &law{mode: m, slots: make([]int64, m.K)}
	if m.Kind == MM1 {
		l.rand = serviceRand(m.Seed)
	}
	return l
}

func serviceRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }

// Services returns the first n service times of an MM1 with these parameters.
func Services(mu float64, seed uint64, n int64) []time.Duration {
	r := serviceRand(seed)
	all := make([]time.Duration, n)
	for i := range all {
		all[i] = service(r, mu)
	}
	return all
}

func service(r *rand.Rand, mu float64) time.Duration {
	return time.Duration(r.ExpFloat64() / mu * 1e9)
}

// next takes the next request, which arrived at the given time, and says what
// becomes of it and when.
func (l *law) next(at int64) (do action, when int64) {
	m := &l.mode
	if l.n == 0 {
		l.first = at
	}
	l.n++
	every := m.M > 0 && l.n%m.M == 0
	d := int64(m.D)
	switch m.Kind {
	case Stall:
		return reply, at + l.stallLeft(at) + d
	case QStall:
		return reply, l.queued(at)
	case Bimodal:
		if every {
			d = int64(m.D2)
		}
	case MM1:
		l.free = max(l.free, at) + int64(service(l.rand, m.Mu))
		return reply, l.free
	case Slots:
		i := slices.Index(l.slots, slices.Min(l.slots))
		l.slots[i] = max(l.slots[i], at) + d
		return reply, l.slots[i]
	case Hang:
		if at-l.first >= int64(m.H) {
			return silence, 0
		}
	case Mute:
		if every {
			return silence, 0
		}
	case Reset:
		if every {
			return map[string]action{Before: abort, Fin: hangUp, Head: headed}[m.When], at + d
		}
	case ColdStart:
		return reply, max(at, l.first+int64(m.H)) + d
	case Ladder:
		d = int64(m.A) + (l.n-1)%1000*int64(m.B-m.A)/1000
	case Dribble:
		return drip, at
	case Cut:
		return dripCut, at
	}
	return reply, at + d
}

// phase is the time since the last stall began, or would have begun.
func (l *law) phase(at int64) int64 {
	t := int64(l.mode.T)
	return max(0, at-l.first+t/2) % t
}

// stallLeft is how much of a stall is left; 0 outside.
func (l *law) stallLeft(at int64) int64 { return max(0, int64(l.mode.S)-l.phase(at)) }

// queued is the end of service of a server that stands still in stalls.
func (l *law) queued(at int64) int64 {
	start := max(l.free, at)
	start += l.stallLeft(start)
	left := int64(1e9 / l.mode.Mu)
	for {
		until := int64(l.mode.T) - l.phase(start) // the next stall
		if left <= until {
			l.free = start + left
			return l.free
		}
		left -= until
		start += until + int64(l.mode.S)
	}
}
