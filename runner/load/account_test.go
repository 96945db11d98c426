package load

import (
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// feed brings the whole schedule to account, as fast as can be; of gives the end of an arrival.
func feed(t *testing.T, cfg *Config, of func(j job) sample) *result.Load {
	t.Helper()
	a, _ := newAccount(cfg, nil)
	cursor, batch := cfg.Schedule.Cursor(), []sample(nil)
	var end runEnd
	for {
		index := cursor.Index()
		offset, segment, ok := cursor.Next()
		if !ok {
			break
		}
		s := of(job{index: index, intended: int64(offset), segment: int32(segment), host: int32(index % int64(len(cfg.Hosts)))})
		end.drained = max(end.drained, s.end)
		if batch = append(batch, s); len(batch) == 1000 || index == cfg.Schedule.Len()-1 {
			a.offered(index + 1)
			a.ended(batch)
			batch = batch[:0]
		}
	}
	end.offered = int64(cfg.Schedule.Duration())
	end.level.area = make([]float64, len(cfg.Schedule.Segments()))
	l, err := a.record(end, result.Audit{})
	if err != nil {
		t.Fatal(err)
	}
	conserve(t, l)
	return l
}

func plainConfig(t *testing.T, segs ...schedule.Segment) *Config {
	t.Helper()
	s, err := schedule.New(segs, schedule.Uniform, 1)
	if err != nil {
		t.Fatal(err)
	}
	return &Config{Hosts: []Host{{Address: "a"}}, Request: &plans.Request{}, Schedule: s, LimitsNS: []int64{50e6}}
}

func heapBytes() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// C-20: no sample is left out, and memory does not grow with their number.
func TestManySamples(t *testing.T) { // not beside others: it looks at the heap
	cfg := plainConfig(t, hold(20_000, 75*time.Second))
	var early, late uint64
	l := feed(t, cfg, func(j job) sample {
		service := int64(1e6)
		if j.index >= 1_000_000 {
			service = 80e6
		}
		switch j.index {
		case 300_000:
			early = heapBytes()
		case 1_490_000:
			late = heapBytes()
		}
		return sample{job: j, sent: j.intended, end: j.intended + service, status: 200, first: j.intended + 1, bytesIn: 10, bodyBytes: 4, attempts: 1}
	})
	if l.Completed != 1_500_000 || l.Response.Count != 1_500_000 || l.Wire.BodyBytes != 6_000_000 || l.Status["200"] != 1_500_000 {
		t.Errorf("completed %d, samples %d, body bytes %d, want 1500000, 1500000, 6000000", l.Completed, l.Response.Count, l.Wire.BodyBytes)
	}
	if p99 := *l.Response.P99NS; math.Abs(float64(p99)-80e6) > 80e3 {
		t.Errorf("p99 = %d, want 80ms", p99)
	}
	if mean := *l.Response.MeanNS; math.Abs(mean-27.333e6) > 0.001e6 {
		t.Errorf("mean = %.0f, want 27.333ms", mean)
	}
	if got := l.OfferedPerS; math.Abs(got-20_000) > 1e-6 {
		t.Errorf("offered per second = %v, want 20000", got)
	}
	if over := l.Segments[0].OverResponse[0]; over != 500_000 {
		t.Errorf("over 50ms = %d, want 500000", over)
	}
	if len(l.Series) != 76 || len(l.Intervals) != 75 {
		t.Errorf("%d seconds, %d intervals, want 76, 75", len(l.Series), len(l.Intervals))
	}
	if late > early+2<<20 {
		t.Errorf("heap grew from %d to %d bytes", early, late)
	}
	total := hist.New()
	for _, iv := range l.Intervals {
		h, err := hist.Decode(iv.Histogram)
		if err != nil {
			t.Fatal(err)
		}
		total.Merge(h)
	}
	if total.Count() != 1_500_000 {
		t.Errorf("samples in the intervals = %d, want 1500000", total.Count())
	}
}

// Intervals widen so that there are at most 300; what ends late still counts in its own.
func TestIntervals(t *testing.T) {
	t.Parallel()
	cfg := plainConfig(t, hold(2, 400*time.Second))
	l := feed(t, cfg, func(j job) sample {
		o, end := completed, j.intended+1e6
		if j.index%100 == 7 {
			o, end = timedOut, j.intended+30e9
		}
		s := sample{job: j, outcome: o, sent: j.intended, end: end}
		if o == timedOut {
			s.fail = &failure{kind: kindTimeout, text: "no answer"}
		} else {
			s.status = 200
		}
		return s
	})
	if len(l.Intervals) != 200 || l.Intervals[2].StartNS != 4e9 || l.Intervals[2].EndNS != 6e9 {
		t.Fatalf("%d intervals, the third %d to %d, want 200 of 2s", len(l.Intervals), l.Intervals[2].StartNS, l.Intervals[2].EndNS)
	}
	h, err := hist.Decode(l.Intervals[1].Histogram) // arrivals 4 to 7, the last a timeout
	if err != nil || h.Count() != 4 || h.Max() < 29e9 {
		t.Errorf("second interval: %d samples up to %d, %v, want 4 up to 30s", h.Count(), h.Max(), err)
	}
	if s := l.Series[3]; s.Offered != 2 || *s.MaxNS != 30e9 || *s.LagMaxNS != 0 {
		t.Errorf("second 3 = %+v, want 2 offered, the timeout at its intended time", s)
	}
}

// Every end finds its place in the counters and the distributions.
func TestEnds(t *testing.T) {
	cfg := plainConfig(t, hold(10, time.Second), hold(20, time.Second))
	cfg.Hosts = []Host{{Address: "a"}, {Address: "b"}, {Address: "c"}}
	outcomes := []outcome{completed, failed, timedOut, unfinished, dropped}
	l := feed(t, cfg, func(j job) sample {
		s := sample{job: j, outcome: outcomes[j.index%5], sent: j.intended + 2e6, end: j.intended + 60e6}
		s.waiting = 1e6
		switch s.outcome {
		case completed:
			s.status, s.end = 200, j.intended+42e6
		case failed:
			s.fail, s.status = &failure{kind: kindStatus, text: "got status 500"}, 500
		case timedOut:
			s.fail = &failure{kind: kindTimeout, text: "no answer"}
		case dropped:
			s.capped = true
		}
		return s
	})
	want := result.Counts{Offered: 30, Sent: 24, Completed: 6, Failed: 12, Dropped: 6, Unfinished: 6}
	if l.Counts != want {
		t.Errorf("counts = %+v, want %+v", l.Counts, want)
	}
	if l.Response.Count != 18 || l.FailedResponse.Count != 6 || l.Lag.Count != 24 || *l.Lag.MaxNS != 2e6 || *l.Waiting.MaxNS != 1e6 || *l.DispatchLag.MaxNS != 1e6 {
		t.Errorf("response %d, failed response %d, lag %d", l.Response.Count, l.FailedResponse.Count, l.Lag.Count)
	}
	if *l.Response.CensoredFromNS != 60e6 || *l.Service.CensoredFromNS != 58e6 || l.Lag.CensoredFromNS != nil {
		t.Errorf("censored from %d, %d, want 60ms, 58ms", *l.Response.CensoredFromNS, *l.Service.CensoredFromNS)
	}
	if got := l.Segments[1]; got.OverResponse[0] != 16 || got.OverService[0] != 12 || got.Capped != 4 || l.Audit.Capped != 6 {
		t.Errorf("second segment: over %v, %v, capped %d, want 16, 12, 4", got.OverResponse, got.OverService, got.Capped)
	}
}

func TestBinWidth(t *testing.T) {
	for _, c := range []struct {
		length, width time.Duration
		n             int
	}{
		{ms(20), ms(20), 1}, {ms(50), ms(50), 1}, {ms(120), ms(60), 2}, {time.Second, ms(50), 20}, {2 * time.Second, ms(50), 40},
		{10 * time.Second, ms(250), 40}, {40 * time.Second, time.Second, 40}, {100 * time.Second, time.Second, 100}, {ms(90_500), 994505495, 91},
	} {
		if width, n := binWidth(c.length); width != c.width || n != c.n {
			t.Errorf("binWidth(%v) = %v, %d, want %v, %d", c.length, width, n, c.width, c.n)
		}
	}
}

// The level is integrated over time, and cut at segments and seconds.
func TestLevel(t *testing.T) {
	l := level{ends: []int64{15e8, 25e8}, area: make([]float64, 2)}
	l.move(5e8, 0, 1)  // 0 until 0.5 s
	l.move(1e9, 1, 1)  // 1 until 1 s
	l.move(2e9, 2, -1) // 2 until 2 s
	l.move(3e9, 1, 0)  // 1 until 3 s
	l.move(29e8, 1, 0) // late news
	if l.total != 35e8 || l.area[0] != 15e8 || l.area[1] != 15e8 || l.peak != 2 {
		t.Errorf("level = %+v, want areas 1.5 and 1.5 of 3.5 in all, peak 2", l)
	}
	if len(l.seconds) != 3 || l.seconds[0] != 1 || l.seconds[1] != 2 || l.seconds[2] != 1 {
		t.Errorf("at the ends of seconds = %v, want 1 2 1", l.seconds)
	}
}
