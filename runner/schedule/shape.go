package schedule

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"time"
)

// A Point is a rate at a time since the start of its segment.
type Point struct {
	At   time.Duration
	Rate float64 // arrivals per second
}

// Peak is the highest rate of a segment.
func (seg Segment) Peak() float64 {
	peak := max(seg.From, seg.To)
	for _, p := range seg.Points {
		peak = max(peak, p.Rate)
	}
	return peak
}

// area is the integral of the rate.
func (seg Segment) area() float64 {
	if seg.Points == nil {
		// The conversion keeps a compiler from fusing the product into the
		// sum, which would make the last bit depend on the processor.
		return float64((seg.From + seg.To) / 2 * seg.Over.Seconds())
	}
	areas := areas(seg.Points)
	return areas[len(areas)-1]
}

// areas are the integrals of the rate up to each point.
func areas(points []Point) []float64 {
	all := make([]float64, len(points))
	for i := 1; i < len(points); i++ {
		a, b := points[i-1], points[i]
		all[i] = all[i-1] + float64((a.Rate+b.Rate)/2*(b.At-a.At).Seconds())
	}
	return all
}

// checkPoints refuses points that are no shape of the segment.
func checkPoints(seg Segment) error {
	p := seg.Points
	if len(p) < 2 || p[0].At != 0 || p[len(p)-1].At != seg.Over || p[0].Rate != seg.From || p[len(p)-1].Rate != seg.To {
		return fmt.Errorf("got points that do not go from %v/s at its start to %v/s at its end", seg.From, seg.To)
	}
	highest := 0.0
	for i, at := range p {
		if !(at.Rate >= 0 && at.Rate <= MaxRate) {
			return fmt.Errorf("got rate %v/s at %v, want 0/s to %.0g/s", at.Rate, at.At, MaxRate)
		}
		if i > 0 && at.At <= p[i-1].At {
			return fmt.Errorf("got a point at %v behind one at %v, want them to ascend", at.At, p[i-1].At)
		}
		highest = max(highest, at.Rate)
	}
	if highest == 0 {
		return fmt.Errorf("got rate 0/s throughout, want more than 0/s somewhere")
	}
	return nil
}

// piece is the part of a shape in which its integral reaches u, as a span of its own, and the integral at its start.
func (s *Schedule) piece(j int, u float64) (sp Span, before float64) {
	of, all := &s.spans[j], s.areas[j]
	i := sort.SearchFloat64s(all, u) // all[i-1] < u <= all[i]
	i = min(max(i, 1), len(all)-1)
	a, b := of.Points[i-1], of.Points[i]
	sp = Span{Segment: Segment{From: a.Rate, To: b.Rate, Over: b.At - a.At}, Start: of.Start + a.At, End: of.Start + b.At}
	return sp, all[i-1]
}

// NewClosed makes the schedule of a closed model, which has no arrivals of its own: one segment of the given length.
func NewClosed(name string, over time.Duration) (*Schedule, error) {
	s, err := New([]Segment{{Name: name, From: 1, To: 1, Over: over}}, Uniform, 1)
	if err != nil {
		return nil, err
	}
	s = s.First(0)
	s.spans[0].From, s.spans[0].To = 0, 0
	return s, nil
}

// NewTrace makes the schedule of recorded arrivals: one segment of the given
// length. Offsets must not fall, and lie in [0, over). They are kept, not
// copied. There is at least one.
func NewTrace(name string, offsets []time.Duration, over time.Duration) (*Schedule, error) {
	switch {
	case len(offsets) == 0:
		return nil, fmt.Errorf("schedule: got a trace without arrivals, want at least one")
	case !slices.IsSorted(offsets) || offsets[0] < 0 || offsets[len(offsets)-1] >= over:
		return nil, fmt.Errorf("schedule: got a trace out of order or beyond its %v", over)
	}
	n := int64(len(offsets))
	rate := float64(n) / over.Seconds()
	if rate > MaxRate || math.IsInf(rate, 0) {
		return nil, fmt.Errorf("schedule: got rate %v/s, want at most %.0g/s", rate, MaxRate)
	}
	seg := Segment{Name: name, From: rate, To: rate, Over: over}
	return &Schedule{trace: offsets, spans: []Span{{Segment: seg, End: over, Count: n}}, integral: []float64{0, float64(n)}, len: n, parts: 1}, nil
}
