package load

import "math"

// shapeWindow is the width, in ns, of the windows that arrivals are counted in.
const shapeWindow = int64(10e6)

// A shape sums up how arrivals are spread over time.
type shape struct {
	n          int64
	last       int64   // time of the last arrival
	gaps, gap2 float64 // sums of the gaps between them, and of their squares
	window     int64   // of the last arrival
	in         int64   // arrivals in it
	windows    int64   // that have ended
	all, all2  float64 // sums of their counts, and of the squares
}

// see adds an arrival at t, in ns. One before the last, as threads may bring them,
// counts as at the same time.
func (s *shape) see(t int64) {
	t = max(t, s.last)
	at := t / shapeWindow
	switch {
	case s.n == 0:
		s.window = at
	case at > s.window:
		s.close(at)
		fallthrough
	default:
		gap := float64(t - s.last)
		s.gaps += gap
		s.gap2 += gap * gap
	}
	s.n++
	s.in++
	s.last = t
}

func (s *shape) close(next int64) {
	n := float64(s.in)
	s.all += n
	s.all2 += n * n
	s.windows += next - s.window // those between had none
	s.window, s.in = next, 0
}

// cv is the coefficient of variation of the gaps; nil below three arrivals.
func (s *shape) cv() *float64 {
	if s.n < 3 || s.gaps == 0 {
		return nil
	}
	n := float64(s.n - 1)
	mean := s.gaps / n
	cv := math.Sqrt(max(s.gap2/n-mean*mean, 0)) / mean
	return &cv
}

// idc is the index of dispersion for counts, the variance of the counts of the
// windows over their mean; nil below ten windows.
func (s *shape) idc() *float64 {
	if s.windows < 10 || s.all == 0 {
		return nil
	}
	n := float64(s.windows)
	mean := s.all / n
	idc := max(s.all2/n-mean*mean, 0) / mean
	return &idc
}
