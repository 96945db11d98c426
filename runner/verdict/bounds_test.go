package verdict

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/perfplan/perfplan/plans"
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

// What few requests exceed, or none, does not show whether they come together; lower percentiles do.
func TestMemory(t *testing.T) {
	l := streamOf(t, 60, 20) // three times 60 requests wait behind a stall of 120 ms
	Bounds(l)
	seg := &l.Segments[0]
	if m := memory(seg, 0.999); m < 10 || m > 400 {
		t.Errorf("memory at p99.9 = %v, want that of stalls of 60 requests", m)
	}
	if m := memory(seg, 0.5); m != 1 {
		t.Errorf("memory at p50 = %v, want none: no percentile is exceeded by twice as many", m)
	}
	steady := streamOf(t, 60, 0)
	Bounds(steady)
	if m := memory(&steady.Segments[0], 0.99); m > 4 {
		t.Errorf("memory of independent times = %v, want about 1", m)
	}
	// 30,000 requests, none over 500 ms: with stalls they do for too few, without for enough.
	judge := func(l *result.Load) result.SLO {
		seg := &l.Segments[0]
		l.LimitsNS = LimitsNS(parse(t, "p99.9 < 500ms"))
		seg.Offered, seg.Sent, seg.Completed = l.Offered, l.Offered, l.Offered
		l.Counts = seg.Counts
		seg.OverResponse, seg.OverService = []int64{0}, []int64{0}
		seg.Bins = result.Bins{WidthNS: 1e9, Offered: make([]int64, 60), Over: [][]int64{make([]int64, 60)}}
		for i := range seg.Bins.Offered {
			seg.Bins.Offered[i] = 500
		}
		st := &result.Stage{Name: "s", Kind: "load", State: result.Complete, Load: l}
		ps := &plans.Stage{Name: "s", Work: &plans.Load{}, SLOs: parse(t, "p99.9 < 500ms")}
		Stage(ps, st)
		if open, want := Undecided(ps, st), st.SLO[0].Outcome == result.Inconclusive; (open != "") != want {
			t.Errorf("%s: Undecided = %q", st.SLO[0].Outcome, open)
		}
		return st.SLO[0]
	}
	if s := judge(steady); s.Outcome != result.Pass {
		t.Errorf("independent times: %s (%s), want pass", s.Outcome, s.Reason)
	}
	if s := judge(l); s.Outcome != result.Inconclusive || s.Interval == nil || s.Interval.NEff > 2995 {
		t.Errorf("stalls: %s (%s), want inconclusive", s.Outcome, s.Reason)
	}
}

// More looks widen the bounds.
func TestConfidenceOfLooks(t *testing.T) {
	slos := parse(t, "p99 < 10ms")
	for looks, want := range map[int]result.Outcome{0: result.Pass, 1: result.Pass, 3: result.Inconclusive} {
		st := judge(t, slos, func(st *result.Stage) { st.Load.Looks = looks }, sample{n: 350, serv: 5 * ms})
		if s := st.SLO[0]; s.Outcome != want {
			t.Errorf("%d looks: %s (%s), want %s", looks, s.Outcome, s.Reason, want)
		}
	}
}
