package load

import (
	"time"

	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// A segmentAccount sums up the arrivals of one segment.
type segmentAccount struct {
	record result.Segment
	times  *times // nil before the first arrival and after close
	ended  int64
	sealed bool // all its arrivals that come due have
	err    error
}

func newSegmentAccount(span schedule.Span, kind string, limits []int64) *segmentAccount {
	seg := &segmentAccount{record: result.Segment{
		Name: span.Name, Kind: kind, FromPerS: span.From, ToPerS: span.To,
		StartNS: int64(span.Start), DurationNS: int64(span.End - span.Start), Planned: span.Count,
		OverResponse: make([]int64, len(limits)), OverService: make([]int64, len(limits)),
	}}
	width, n := binWidth(span.End - span.Start)
	bins := &seg.record.Bins
	bins.WidthNS, bins.Offered, bins.Over = int64(width), make([]int64, n), make([][]int64, len(limits))
	for i := range bins.Over {
		bins.Over[i] = make([]int64, n)
	}
	return seg
}

// binWidth cuts a segment into about 40 equal bins, each of 50 ms at least
// (unless the segment is shorter) and 1 s at most.
func binWidth(length time.Duration) (width time.Duration, n int) {
	const bins, narrowest, widest = 40, 50 * time.Millisecond, time.Second
	switch {
	case length/bins < narrowest:
		n = max(1, int(length/narrowest))
	case length/bins > widest:
		n = int((length + widest - 1) / widest)
	default:
		n = bins
	}
	return (length + time.Duration(n) - 1) / time.Duration(n), n
}

func (g *segmentAccount) bin(offset int64) int {
	return min(int((offset-g.record.StartNS)/g.record.Bins.WidthNS), len(g.record.Bins.Offered)-1)
}

func (g *segmentAccount) offer(offset int64, spare *spareHists) {
	if g.times == nil {
		g.times = newTimes(spare)
	}
	g.record.Offered++
	g.record.Bins.Offered[g.bin(offset)]++
}

func (g *segmentAccount) add(s *sample, limits []int64) {
	g.ended++
	count(&g.record.Counts, s)
	if s.capped {
		g.record.Capped++
	}
	if s.outcome != dropped {
		g.times.add(s)
	}
	bin := -1
	for i, limit := range limits {
		if s.outcome != completed || s.end-s.intended > limit {
			if bin < 0 {
				bin = g.bin(s.intended)
			}
			g.record.OverResponse[i]++
			g.record.Bins.Over[i][bin]++
		}
		if s.outcome != dropped && (s.outcome != completed || s.end-s.sent > limit) {
			g.record.OverService[i]++
		}
	}
}

// finished tells whether all arrivals have ended.
func (g *segmentAccount) finished() bool {
	return g.sealed && g.times != nil && g.ended == g.record.Offered
}

// close fills in the record and gives the histograms back.
func (g *segmentAccount) close(spare *spareHists) {
	t, r := g.times, &g.record
	set := func(d *result.Distribution, got result.Distribution, err error) {
		*d = got
		if g.err == nil {
			g.err = err
		}
	}
	d, err := spare.encoded(t.response, t.censoredResponse)
	set(&r.Response, d, err)
	d, err = spare.encoded(t.service, t.censoredService)
	set(&r.Service, d, err)
	d, err = spare.encoded(t.lag, -1)
	set(&r.Lag, d, err)
	d, err = spare.encoded(t.dispatch, -1)
	set(&r.DispatchLag, d, err)
	t.free(spare)
	g.times = nil
}

// cut shortens the record to the part of the segment that was offered, which
// ended at end.
func (g *segmentAccount) cut(end int64) {
	r := &g.record
	r.DurationNS = max(0, min(r.DurationNS, end-r.StartNS))
	r.ThroughputPerS = ratePerS(r.Completed, r.DurationNS)
}
