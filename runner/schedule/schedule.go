// Package schedule turns a rate profile into arrival times. A schedule is pure
// data: the same segments, arrivals and seed give the same offsets on every
// run and machine, byte for byte, and nothing is stored per arrival, so it can
// be walked again, in parts, and by several generators at once.
//
// The number of arrivals is a function of the profile alone (uniform) or of
// profile and seed (poisson). Let R(t) be the integral of the rate from the
// start of the stage to t, over all segments without a break:
//
//   - Uniform: arrival k, counted from 0, is at the t where R(t) = k. The first
//     is at t = 0, fractions of an arrival carry over into the next segment, and
//     there are ceil(R(end)) of them.
//   - Poisson: arrival k is at the t where R(t) is the sum of k+1 independent
//     exponential variables of mean 1 (time rescaling; Çınlar 1975). The number
//     is random with mean R(end), and fixed by the seed.
//
// No arrival is at or after the end.
package schedule

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"
)

// Arrivals is the process by which arrivals fill the rate.
type Arrivals int

const (
	Uniform Arrivals = iota // evenly spaced
	Poisson                 // independent of each other, as from many users
)

// String returns the word that plans use.
func (a Arrivals) String() string {
	switch a {
	case Uniform:
		return "uniform"
	case Poisson:
		return "poisson"
	default:
		return fmt.Sprintf("Arrivals(%d)", int(a))
	}
}

// Bounds of a schedule. Poisson arrivals are counted one by one in New, at
// some 30 ns each; uniform ones by formula.
const (
	MaxRate            = 1e9  // arrivals per second
	MaxUniformArrivals = 1e12 // R(end) at most
	MaxPoissonArrivals = 1e9  // R(end) at most
)

// Segment is a piece of a rate profile in which the rate changes linearly, or
// linearly from point to point.
type Segment struct {
	Name string
	From float64 // arrivals per second at the start
	To   float64 // arrivals per second at the end; equal to From it is a hold
	Over time.Duration

	// Points, if there are any, are the shape of the rate: the first at 0 with From, the last at Over with To.
	Points []Point
}

// Span is a segment's place in the schedule.
type Span struct {
	Segment
	Start, End time.Duration // from the start of the stage; End is not included
	First      int64         // index of its first arrival
	Count      int64         // number of its arrivals
}

// Schedule is the arrival times of one stage. It never changes and is safe for
// concurrent use.
type Schedule struct {
	arrivals Arrivals
	seed     uint64
	spans    []Span
	integral []float64 // R at the start of each span, then R(end)
	len      int64
	areas    [][]float64     // of spans with points: the integral up to each
	trace    []time.Duration // the offsets of recorded arrivals; nil: there are none
	blocks   []int64         // poisson: arrivals before each block of R, see poisson.go

	// A share has the arrivals part, part+parts, part+2·parts and so on of all; parts is at least 1.
	part, parts int64
}

// New makes the schedule of segs, in order. It refuses an empty profile, rates
// that are negative, not finite, above MaxRate or zero at both ends of a
// segment, durations of zero or less, and totals beyond the bounds above. The
// seed has no effect on uniform arrivals.
func New(segs []Segment, a Arrivals, seed uint64) (*Schedule, error) {
	limit := MaxUniformArrivals
	switch a {
	case Uniform:
	case Poisson:
		limit = MaxPoissonArrivals
	default:
		return nil, fmt.Errorf("schedule: got arrivals %d, want uniform or poisson", int(a))
	}
	if len(segs) == 0 {
		return nil, fmt.Errorf("schedule: got no segments, want at least one")
	}
	s := &Schedule{arrivals: a, seed: seed, integral: []float64{0}, parts: 1}
	var end time.Duration
	for i, seg := range segs {
		if err := check(seg); err != nil {
			return nil, fmt.Errorf("schedule: segment %d %q: %w", i, seg.Name, err)
		}
		if seg.Over > math.MaxInt64-end {
			return nil, fmt.Errorf("schedule: segment %d %q: total duration is too long", i, seg.Name)
		}
		s.spans = append(s.spans, Span{Segment: seg, Start: end, End: end + seg.Over})
		end += seg.Over
		s.integral = append(s.integral, s.integral[i]+seg.area())
		s.areas = append(s.areas, areas(seg.Points))
	}
	if total := s.total(); total > limit {
		return nil, fmt.Errorf("schedule: got %.3g arrivals, want at most %.0g", total, limit)
	}
	s.count()
	return s, nil
}

func check(seg Segment) error {
	for _, rate := range []float64{seg.From, seg.To} {
		if !(rate >= 0 && rate <= MaxRate) { // NaN is neither
			return fmt.Errorf("got rate %v/s, want 0/s to %.0g/s", rate, MaxRate)
		}
	}
	if seg.From == 0 && seg.To == 0 && seg.Points == nil {
		return fmt.Errorf("got rate 0/s, want more than 0/s at one end at least")
	}
	if seg.Over <= 0 {
		return fmt.Errorf("got duration %v, want more than 0s", seg.Over)
	}
	if seg.Points != nil {
		return checkPoints(seg)
	}
	return nil
}

func (s *Schedule) total() float64 { return s.integral[len(s.spans)] }

// count fills in which arrivals belong to which span. An arrival on a border
// belongs to the later span.
func (s *Schedule) count() {
	var bounds []int64 // index of the first arrival at or after each border
	switch s.arrivals {
	case Uniform:
		bounds = append(bounds, 0)
		for _, r := range s.integral[1:] {
			bounds = append(bounds, max(1, wholeUp(r))) // the first is at 0 always
		}
	case Poisson:
		bounds = s.countPoisson()
	}
	for i := range s.spans {
		s.spans[i].First = bounds[i]
		s.spans[i].Count = bounds[i+1] - bounds[i]
	}
	s.len = bounds[len(s.spans)]
}

// wholeUp is ceil(r), where an r that is a whole number but for rounding, as
// 0.1/s for 30 s, is that number.
func wholeUp(r float64) int64 {
	slack := 1e-9 + float64(r*1e-15)
	return int64(math.Ceil(r - slack))
}

// Len returns the exact number of arrivals. A poisson schedule may have none.
func (s *Schedule) Len() int64 { return s.own(s.len) }

// Whole returns the number of arrivals of all shares together.
func (s *Schedule) Whole() int64 { return s.len }

// Part returns share i of n as a schedule of its own: arrivals i, i+n, i+2n and so on, at their times and with their indexes in
// the whole. The n shares together are the whole schedule, each arrival once, so generators that take one each need not talk to
// each other. It returns an error unless 0 <= i < n, and for a share of a share.
func (s *Schedule) Part(i, n int) (*Schedule, error) {
	if i < 0 || i >= n || s.parts != 1 {
		return nil, fmt.Errorf("schedule: got share %d of %d of share %d of %d, want 0 to the number of shares less 1 of a whole", i, n, s.part, s.parts)
	}
	c := *s
	c.part, c.parts = int64(i), int64(n)
	return &c, nil
}

// Index returns the index in the whole of the i-th arrival of this share.
func (s *Schedule) Index(i int64) int64 { return s.part + i*s.parts }

// Own returns which of this share's arrivals has an index in the whole, from 0.
func (s *Schedule) Own(index int64) int64 { return index / s.parts }

// own is how many arrivals of this share are before an index in the whole.
func (s *Schedule) own(index int64) int64 { return max(0, (index-s.part+s.parts-1)/s.parts) }

// First returns the schedule without its arrivals from the n-th on, counted from 0; its segments and its length stay.
func (s *Schedule) First(n int64) *Schedule {
	c := *s
	c.len, c.spans = min(s.len, max(n, 0)), slices.Clone(s.spans)
	for i := range c.spans {
		sp := &c.spans[i]
		sp.First = min(sp.First, c.len)
		sp.Count = min(sp.Count, c.len-sp.First)
	}
	return &c
}

// Duration returns the length of the stage.
func (s *Schedule) Duration() time.Duration { return s.spans[len(s.spans)-1].End }

// Segments returns the segments with their places, in order. Those of a share have its part of the rate, and count its own
// arrivals.
func (s *Schedule) Segments() []Span {
	spans := slices.Clone(s.spans)
	if s.parts == 1 {
		return spans
	}
	for i := range spans {
		sp := &spans[i]
		end := s.own(sp.First + sp.Count)
		sp.First = s.own(sp.First)
		sp.Count = end - sp.First
		sp.From, sp.To, sp.Points = sp.From/float64(s.parts), sp.To/float64(s.parts), slices.Clone(sp.Points)
		for k := range sp.Points {
			sp.Points[k].Rate /= float64(s.parts)
		}
	}
	return spans
}

// SegmentOf returns the index of the segment that offset falls into, or -1 when
// it is before the start or not before the end.
func (s *Schedule) SegmentOf(offset time.Duration) int {
	if offset < 0 || offset >= s.Duration() {
		return -1
	}
	i, found := slices.BinarySearchFunc(s.spans, offset, func(sp Span, t time.Duration) int {
		return cmp.Compare(sp.Start, t)
	})
	if found {
		return i
	}
	return i - 1
}

// At returns the offset of arrival i of the whole from the start of the stage, to the
// nearest ns. Offsets never fall as i rises. It returns -1 when i is not in
// [0, Len). It takes some ns for uniform arrivals and some 20 µs for poisson
// ones; a Cursor is the quick way through many.
func (s *Schedule) At(i int64) time.Duration {
	if i < 0 || i >= s.len {
		return -1
	}
	if s.trace != nil {
		return s.trace[i]
	}
	r := float64(i)
	if s.arrivals == Poisson {
		r = s.poissonAt(i)
	}
	// Spans without an arrival share First with the next one; the last of
	// them is the one that has it.
	j, _ := slices.BinarySearchFunc(s.spans, i+1, func(sp Span, k int64) int {
		return cmp.Compare(sp.First, k)
	})
	return s.offset(j-1, r)
}

// offset returns the time in span j at which the integrated rate reaches r:
// the root of From·t + a·t²/2 = r - R(start), a = (To-From)/Over, in a form
// that does not cancel when a is small.
func (s *Schedule) offset(j int, r float64) time.Duration {
	sp := &s.spans[j]
	u := r - s.integral[j]
	if sp.Points != nil {
		part, before := s.piece(j, u)
		return part.at(u - before)
	}
	return sp.at(u)
}

// at returns the time at which the span has had u arrivals.
func (sp *Span) at(u float64) time.Duration {
	if u <= 0 {
		return sp.Start
	}
	if sp.To == sp.From {
		if offset, ok := sp.hold(u); ok {
			return offset
		}
		return sp.End - 1
	}
	a := (sp.To - sp.From) / sp.Over.Seconds()
	root := float64(sp.From*sp.From) + float64(2*a*u)
	t := 2 * u / (sp.From + math.Sqrt(max(root, 0)))
	if offset, ok := sp.after(t); ok {
		return offset
	}
	return sp.End - 1 // a ramp down to 0 may end in 0/0
}

// hold is the offset at which a span with one rate has had u arrivals, to the same
// bit as of a ramp from and to that rate; ok is false where it is not before the
// end.
func (sp *Span) hold(u float64) (offset time.Duration, ok bool) { return sp.after(u / sp.From) }

// after is the offset t seconds after the span's start, to the nearest ns.
func (sp *Span) after(t float64) (offset time.Duration, ok bool) {
	ns := float64(t * 1e9)
	whole := int64(ns)
	if ns-float64(whole) >= 0.5 {
		whole++
	}
	return sp.Start + time.Duration(whole), ns < float64(sp.Over)-0.5 && ns >= 0
}
