package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// streamOf is the record of a stage of so many seconds at 500/s: times of 5 ms times a log-normal of 0.5, and in every stallth
// second 60 requests that waited for a stall's end. 0: no stalls.
func streamOf(t *testing.T, seconds, stall int) *result.Load {
	t.Helper()
	r := rand.New(rand.NewPCG(7, 7))
	l := &result.Load{DurationNS: int64(seconds) * 1e9}
	all := hist.New()
	distribution := func(t *testing.T, h *hist.Hist) result.Distribution {
		d := distribution(t, h)
		for q, to := range map[float64]**int64{0.5: &d.P50NS, 0.999: &d.P999NS} {
			v, _ := h.Quantile(q)
			*to = &v
		}
		return d
	}
	for s := range seconds {
		h := hist.New()
		for i := range 500 {
			v := 5e6 * math.Exp(0.5*r.NormFloat64())
			if stall > 0 && s%stall == 0 && i < 60 {
				v += float64(60-i) * 2e6
			}
			h.Record(int64(v))
		}
		text, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		l.Intervals = append(l.Intervals, result.HistInterval{StartNS: int64(s) * 1e9, EndNS: int64(s+1) * 1e9, Histogram: text})
		all.Merge(h)
	}
	l.Offered = all.Count()
	l.Response = distribution(t, all)
	l.Service = l.Response
	l.Segments = []result.Segment{{Counts: l.Counts, Name: "hold", DurationNS: l.DurationNS, Response: l.Response, Service: l.Response}}
	return l
}

func TestBounds(t *testing.T) {
	known := func(seconds, stall int, q float64) *result.Bound {
		l := streamOf(t, seconds, stall)
		Bounds(l)
		return l.Response.Bound(q)
	}
	b := known(60, 0, 0.99)
	truth := 5e6 * math.Exp(0.5*2.3263)
	if b == nil || b.LoNS == nil || b.HiNS == nil || float64(*b.LoNS) > truth || float64(*b.HiNS) < truth || float64(*b.HiNS) > 1.15*float64(*b.LoNS) || b.NEff < 10000 {
		t.Errorf("independent times: p99 bounds %+v, want narrow ones around %.4g", b, truth)
	}
	stalls := known(60, 5, 0.99)
	if stalls == nil || stalls.NEff > 3000 || stalls.LoNS != nil && stalls.HiNS != nil && float64(*stalls.HiNS) < 1.3*float64(*stalls.LoNS) {
		t.Errorf("12 stalls: p99 bounds %+v, want wide ones", stalls)
	}
	if b := known(60, 30, 0.999); b != nil && b.HiNS != nil && b.LoNS != nil {
		t.Errorf("two stalls: p99.9 bounds %+v, want an end that is not known", b)
	}
	if b := known(9, 0, 0.5); b != nil {
		t.Errorf("9 s: bounds %+v, want none: too few batches to tell of dependence", b)
	}
	if b := known(60, 0, 0.999); b == nil || b.HiNS == nil || *b.HiNS < *b.LoNS {
		t.Errorf("p99.9 of 30,000: %+v, want bounds", b)
	}
}

// Segments that are too short for a dependence of their own have that of the stage; percentiles that a few cannot carry have no upper end.
func TestBoundsOfSegments(t *testing.T) {
	l := streamOf(t, 20, 0)
	l.Segments = append(l.Segments, l.Segments[0])
	l.Segments[0].DurationNS, l.Segments[1].StartNS, l.Segments[1].DurationNS = 5e9, 5e9, 15e9
	few := hist.New()
	for i := range int64(200) {
		few.Record(1e6 + i)
	}
	l.Segments[0].Response = distribution(t, few)
	p50, _ := few.Quantile(0.5)
	l.Segments[0].Response.P50NS = &p50
	Bounds(l)
	for i, s := range l.Segments {
		if b := s.Response.Bound(0.5); b == nil || b.LoNS == nil || b.HiNS == nil || *b.LoNS > *s.Response.P50NS || *b.HiNS < *s.Response.P50NS {
			t.Errorf("segment %d: p50 bounds %+v", i, b)
		}
	}
	if b := l.Segments[0].Response.Bound(0.99); b != nil {
		t.Errorf("p99 of 200: %+v, want none", b)
	}
	damaged := streamOf(t, 20, 0)
	damaged.Intervals[3].Histogram = "?"
	if Bounds(damaged); damaged.Response.Bounds != nil {
		t.Errorf("a damaged interval: %+v", damaged.Response.Bounds)
	}
}
