package load

import (
	"math"
	"slices"
	"time"
)

// Where arrivals begin flows, or users decide when to send, requests come up one by one: each is offered when it is brought
// to account. What belongs to a segment or second is closed once no request of it can come any more.

// grows tells whether requests are not those of the schedule.
func (cfg *Config) grows() bool { return cfg.Flows != nil || cfg.Users > 0 }

// begun counts flows as begun up to due of them.
func (a *account) begun(due int64) {
	if a.cfg.Users > 0 {
		return
	}
	for ; a.arrivals < due; a.arrivals++ {
		index := a.cursor.Index()
		offset, segment, _ := a.cursor.Next()
		for _, p := range a.flows {
			p.sealTo(segment, a.spare)
		}
		a.flows[a.mix.number(index)].offer(int64(offset), segment, a.spare)
		a.open[int64(offset)/second]++
	}
}

// grown brings a sample to account, of a request or of a flow.
func (a *account) grown(s *sample) {
	switch {
	case s.flow:
		a.flowEnd(s)
	case s.outcome == dropped && a.cfg.Flows != nil:
		a.flowEnd(s)
		s.kind = a.mix.flows[a.mix.number(s.index)].steps[0].kind.number
		a.request(s)
	default:
		a.request(s)
	}
}

func (a *account) flowEnd(s *sample) {
	f := a.flows[a.mix.number(s.index)]
	if a.cfg.Users > 0 {
		f.offer(s.intended, int(s.segment), a.spare)
	} else {
		at := s.intended / second
		if a.open[at]--; a.open[at] == 0 {
			delete(a.open, at)
		}
	}
	if s.outcome != dropped {
		a.held += float64(s.end - s.sent)
	}
	own := *s
	own.end -= own.thought
	own.flow = true // also of one that was dropped
	f.add(&own, a.cfg.LimitsNS, a.spare)
	a.addApart(&own, a.mix.number(s.index))
}

// request offers a request and brings its end to account.
func (a *account) request(s *sample) {
	s.segment = int32(a.segmentOf(s.intended))
	a.hosts[s.host].counts.Offered++
	for _, p := range []*part{&a.part, a.partOf(s)} {
		if p != nil {
			p.total.Offered++
			p.segments[s.segment].offer(s.intended, a.spare)
		}
	}
	a.series.enter(s.intended)
	held := a.held
	a.addEnd(s)
	if a.cfg.Flows != nil { // the flow counts, with its pauses
		a.held = held
	}
}

// segmentOf is the segment of a time; what comes behind the last belongs to it.
func (a *account) segmentOf(t int64) int {
	last := len(a.segments) - 1
	if i := a.cfg.Schedule.SegmentOf(time.Duration(t)); i >= 0 {
		return i
	}
	return last
}

// floor is a time ahead of which no request will come any more, as far as arrivals tell.
func (a *account) floor() int64 {
	t := int64(math.MaxInt64)
	for at := range a.open {
		t = min(t, at*second)
	}
	if offset, _, ok := a.peek(); ok {
		t = min(t, offset)
	}
	return t
}

// peek is the next arrival that was not counted.
func (a *account) peek() (offset int64, segment int, ok bool) {
	c := *a.cursor
	at, segment, ok := c.Next()
	return int64(at), segment, ok
}

// seal closes what lies before t, but for the last segment: requests of flows that go on behind the schedule are its own.
func (a *account) seal(t int64) {
	if t == math.MaxInt64 {
		return
	}
	if at := t / second; at > a.series.counted {
		a.series.seal(at)
	}
	segment := a.segmentOf(t)
	for _, p := range slices.Concat([]*part{&a.part}, a.parts) {
		p.sealTo(segment, a.spare)
	}
}
