package load

import (
	"fmt"
	"testing"
	"time"
	"unsafe"

	"github.com/perfplan/perfplan/runner/result"
)

// rowBytes is what a second of a run takes: its row, the figures that the row points to, and the level of requests in
// flight. Slices that grow have up to a quarter to spare.
const rowBytes = int64(unsafe.Sizeof(result.Second{})+unsafe.Sizeof(rowFigures{})) + 4

// Memory stays flat for 24 h but for that: with timeouts that end a minute later, and 20 minutes in which nothing ends and
// all waits.
func TestMemoryOfADay(t *testing.T) { // not beside others: it looks at the heap
	if rowBytes*5/4 > 160 {
		t.Errorf("%d bytes a second, want 160 at most with what slices have to spare", rowBytes*5/4)
	}
	const rate = 2
	const stallFrom, stallTo = 5 * time.Hour, 5*time.Hour + 20*time.Minute
	cfg := plainConfig(t, hold(rate, 24*time.Hour))
	a, _ := newAccount(cfg, nil)
	var l level
	cursor := cfg.Schedule.Cursor()
	var late []sample // in the order of their ends
	var looks []memoryLook
	var timeouts int64
	end := func(j job, took int64, o outcome) sample {
		s := sample{job: j, outcome: o, sent: j.intended, end: j.intended + took, first: j.intended + 1e6, attempts: 1, whole: true}
		if s.status = 200; o == timedOut {
			s.status, s.fail = 0, &failure{kind: kindTimeout, text: fmt.Sprint("no answer to ", j.index)}
		}
		return s
	}
	for range cfg.Schedule.Len() {
		index := cursor.Index()
		offset, segment, _ := cursor.Next()
		j, now := job{index: index, intended: int64(offset), segment: int32(segment)}, int64(offset)
		a.offered(index + 1)
		l.move(now, 1, 0)
		switch stalled := offset > stallFrom && offset < stallTo; {
		case stalled:
			s := end(j, int64(stallTo+time.Minute)-now, completed)
			s.sent = s.end - 1e6
			late = append(late, s)
		case index%100 == 0:
			late = append(late, end(j, int64(time.Minute), timedOut))
			timeouts++
		default:
			a.ended([]sample{end(j, 1e6+index%1000*1e4, completed)})
		}
		n := 0
		for n < len(late) && late[n].end <= now {
			n++
		}
		a.ended(late[:n])
		if late = late[n:]; len(late) == 0 {
			late = nil
		}
		if index%(rate*3600) == 0 {
			looks = append(looks, lookAt(a, &l, offset))
		}
	}
	a.ended(late)
	first, last := looks[2], looks[len(looks)-1]
	if grown := last.heap - first.heap; grown > last.known-first.known+1<<20 {
		t.Errorf("the heap grew by %d bytes from %v to %v, want the %d of rows and intervals: %+v", grown, first.at, last.at, last.known-first.known, looks)
	} else {
		t.Logf("the heap grew by %.1f bytes a second from %v to %v", float64(grown)/(last.at-first.at).Seconds(), first.at, last.at)
	}
	rec, err := a.record(runEnd{offered: int64(cfg.Schedule.Duration()), drained: int64(cfg.Schedule.Duration()) + 60e9, level: level{area: make([]float64, 1)}}, result.Audit{})
	if err != nil {
		t.Fatal(err)
	}
	conserve(t, rec)
	if rec.Offered != rate*86400 || len(rec.Series) != 86460 || len(rec.Intervals) > maxIntervals || rec.Failed != timeouts || rec.Completed != rec.Offered-timeouts {
		t.Errorf("offered %d, failed %d, %d seconds, %d intervals", rec.Offered, rec.Failed, len(rec.Series), len(rec.Intervals))
	}
}

// A memoryLook is the size of the heap at a time, and how much of it is to be there.
type memoryLook struct {
	at          time.Duration
	heap, known int64
}

func lookAt(a *account, l *level, at time.Duration) memoryLook {
	known := int64(cap(a.series.rows))*int64(unsafe.Sizeof(result.Second{})) + int64(len(a.series.rows))*int64(unsafe.Sizeof(rowFigures{})) + int64(cap(l.seconds))*4
	for _, iv := range a.series.done {
		known += int64(len(iv.Histogram) + int(unsafe.Sizeof(iv)))
	}
	return memoryLook{at, int64(heapBytes()), known}
}
