package load

import (
	"time"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

const second = int64(time.Second)

// maxIntervals bounds the number of response-time histograms over time.
const maxIntervals = 300

// A series has a row per second of a run, and a response-time histogram per
// interval of one or more whole seconds.
type series struct {
	rows      []result.Second
	cells     map[int64]*cell // seconds with arrivals that have not ended, by number
	seen      *cell           // the one that was looked up last, or nil
	seenAt    int64           // its number
	counted   int64           // the second of the arrival counted last
	width     int64           // of an interval, in seconds
	intervals map[int64]*interval
	done      map[int64]result.HistInterval
	spare     *spareHists
	err       error
}

// A cell is the arrivals intended in one second.
type cell struct {
	offered, ended int64
	response       *hist.Hist // nil before the first: of seconds that wait there may be many
	lagMax         int64
	sent           bool
}

type interval struct {
	open     int        // cells that have not been closed
	response *hist.Hist // nil before the first
}

func newSeries(length time.Duration, spare *spareHists) *series {
	seconds := (int64(length) + second - 1) / second
	return &series{
		cells: map[int64]*cell{}, intervals: map[int64]*interval{}, done: map[int64]result.HistInterval{},
		width: max(1, (seconds+maxIntervals-1)/maxIntervals), spare: spare,
	}
}

// row returns the row of the second that t is in.
func (s *series) row(t int64) *result.Second {
	i := max(t, 0) / second
	for int64(len(s.rows)) <= i {
		s.rows = append(s.rows, result.Second{TNS: int64(len(s.rows)) * second})
	}
	return &s.rows[i]
}

// offer counts an arrival. They come in order.
func (s *series) offer(intended int64) {
	s.row(intended).Offered++
	at := intended / second
	if at > s.counted {
		s.seal(at)
	}
	s.cellFor(at).offered++
}

// enter counts an arrival of a second that was not sealed, in any order.
func (s *series) enter(intended int64) {
	s.row(intended).Offered++
	s.cellFor(intended/second).offered++
}

// cellFor is the cell of a second, made if there is none.
func (s *series) cellFor(at int64) *cell {
	c := s.cell(at)
	if c == nil {
		c = &cell{}
		s.cells[at] = c
		iv := s.intervals[at/s.width]
		if iv == nil {
			iv = &interval{}
			s.intervals[at/s.width] = iv
		}
		iv.open++
		s.seen, s.seenAt = c, at
	}
	return c
}

// cell is the cell of a second; nil: there is none.
func (s *series) cell(at int64) *cell {
	if s.seen == nil || s.seenAt != at {
		s.seen, s.seenAt = s.cells[at], at
	}
	return s.seen
}

// seal says that no more arrivals come before the given second.
func (s *series) seal(before int64) {
	s.counted = before
	for at, c := range s.cells {
		if at < before && c.ended == c.offered {
			s.close(at, c)
		}
	}
	for number := range s.intervals {
		s.closeInterval(number)
	}
}

func (s *series) add(e *sample) {
	at := e.intended / second
	c := s.cell(at)
	c.ended++
	switch e.outcome {
	case dropped:
		s.row(e.intended).Dropped++
	default:
		s.row(e.sent).Sent++
		c.sent = true
		c.lagMax = max(c.lagMax, e.sent-e.intended)
	}
	switch e.outcome {
	case completed:
		s.row(e.end).Completed++
	case failed, timedOut:
		s.row(e.end).Failed++
	}
	switch e.outcome {
	case completed, timedOut, unfinished:
		if c.response == nil {
			c.response = s.spare.get()
		}
		c.response.Record(e.end - e.intended)
	}
	if at < s.counted && c.ended == c.offered {
		s.close(at, c)
		s.closeInterval(at / s.width)
	}
}

// rowFigures are what a row points to. With the row they are all that is kept
// of a second: 124 bytes, with 4 for the level of requests in flight.
type rowFigures struct{ p50, p99, highest, lagMax int64 }

// close fills in the row of a second whose arrivals have all ended.
func (s *series) close(at int64, c *cell) {
	row := s.row(at * second)
	if c.sent {
		f := &rowFigures{lagMax: c.lagMax}
		row.LagMaxNS = &f.lagMax
		if c.response != nil {
			f.p50, _ = c.response.Quantile(0.5)
			f.p99, _ = c.response.Quantile(0.99)
			f.highest = c.response.Max()
			row.P50NS, row.P99NS, row.MaxNS = &f.p50, &f.p99, &f.highest
		}
	}
	iv := s.intervals[at/s.width]
	iv.open--
	if c.response != nil {
		if iv.response == nil {
			iv.response = s.spare.get()
		}
		iv.response.Merge(c.response)
		s.spare.put(c.response)
	}
	delete(s.cells, at)
	s.seen = nil
}

// closeInterval encodes an interval that gets no more samples.
func (s *series) closeInterval(number int64) {
	iv := s.intervals[number]
	end := (number + 1) * s.width
	if iv == nil || iv.open > 0 || s.counted < end {
		return
	}
	if iv.response != nil {
		text, err := s.spare.encoder.Encode(iv.response)
		if err != nil && s.err == nil {
			s.err = err
		}
		s.done[number] = result.HistInterval{StartNS: number * s.width * second, EndNS: end * second, Histogram: text}
		s.spare.put(iv.response)
	}
	delete(s.intervals, number)
}
