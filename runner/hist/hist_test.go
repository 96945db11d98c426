package hist

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

// within reports whether got is want within three significant digits.
func within(got, want int64) bool { return math.Abs(float64(got-want)) <= 0.001*float64(want) }

func quantile(t *testing.T, h *Hist, q float64) int64 {
	t.Helper()
	ns, ok := h.Quantile(q)
	if !ok {
		t.Fatalf("Quantile(%v) is not ok", q)
	}
	if ns < h.Min() || ns > h.Max() {
		t.Fatalf("Quantile(%v) = %d, out of [%d, %d]", q, ns, h.Min(), h.Max())
	}
	return ns
}

func TestQuantiles(t *testing.T) { // C-14 a to c
	t.Parallel()
	type want struct {
		q  float64
		ns int64
	}
	for _, tt := range []struct {
		name     string
		record   func(h *Hist)
		want     []want
		min, max int64
		mean     float64
	}{
		{"a: 1 to 100 ms", func(h *Hist) {
			for i := int64(1); i <= 100; i++ {
				h.Record(i * ms)
			}
		}, []want{{0, ms}, {0.005, ms}, {0.01, ms}, {0.011, 2 * ms}, {0.5, 50 * ms}, {0.99, 99 * ms}, {0.999, 100 * ms}, {0.9999, 100 * ms}, {1, 100 * ms}},
			ms, 100 * ms, 50.5e6},
		{"b: one value", func(h *Hist) { h.Record(123_457_000) },
			[]want{{0, 123_457_000}, {0.5, 123_457_000}, {0.99, 123_457_000}, {0.9999, 123_457_000}, {1, 123_457_000}},
			123_457_000, 123_457_000, 123_457_000},
		{"c: a thin tail", func(h *Hist) {
			h.RecordN(ms, 99_989)
			for i := int64(900); i <= 910; i++ {
				h.Record(i * ms)
			}
		}, []want{{0.5, ms}, {0.999, ms}, {0.99989, ms}, {0.9999, 900 * ms}, {0.99995, 905 * ms}, {0.99999, 909 * ms}, {1, 910 * ms}},
			ms, 910 * ms, (99_989*1e6 + 11*905e6) / 100_000},
	} {
		h := New()
		tt.record(h)
		for _, w := range tt.want {
			if got := quantile(t, h, w.q); !within(got, w.ns) {
				t.Errorf("%s: Quantile(%v) = %d, want %d", tt.name, w.q, got, w.ns)
			}
		}
		if h.Min() != tt.min || h.Max() != tt.max || quantile(t, h, 0) != tt.min || quantile(t, h, 1) != tt.max {
			t.Errorf("%s: got %d to %d, want %d to %d exactly", tt.name, h.Min(), h.Max(), tt.min, tt.max)
		}
		if math.Abs(h.Mean()-tt.mean) > 1e-6*tt.mean {
			t.Errorf("%s: Mean() = %v, want %v", tt.name, h.Mean(), tt.mean)
		}
	}
}

func TestMeanDoesNotOverflow(t *testing.T) { // C-14 d
	t.Parallel()
	h := New()
	h.RecordN(40*int64(time.Second), 300_000_000)
	if got := h.Mean(); got != 40e9 {
		t.Errorf("Mean() = %v, want 40e9", got)
	}
	if e := h.Exact(); e.Sum != 12_000_000_000 || e.SumFrac != 0 || e.Count != 300_000_000 {
		t.Errorf("Exact() = %+v, want 1.2e10 s in 3e8 samples", e)
	}
	h.RecordN(math.MaxInt64, math.MaxInt64)
	if h.Count() != math.MaxInt64 || h.Max() != math.MaxInt64 {
		t.Errorf("got %d samples to %d, want the count to stop at the largest int64", h.Count(), h.Max())
	}
	if e := h.Exact(); e.Sum != math.MaxInt64 {
		t.Errorf("Exact().Sum = %d, want it cut off", e.Sum)
	}
	if got := h.Mean(); got < 9.2e18 || got > 9.3e18 {
		t.Errorf("Mean() = %v, want about 9.22e18", got)
	}
}

func TestNoCapOnSamples(t *testing.T) { // C-20; not parallel, since it counts allocations
	h := New()
	for range 1_000_000 {
		h.Record(ms)
	}
	for range 500_000 {
		h.Record(80 * ms)
	}
	if h.Count() != 1_500_000 {
		t.Errorf("Count() = %d, want 1500000", h.Count())
	}
	if got := quantile(t, h, 0.99); !within(got, 80*ms) {
		t.Errorf("p99 = %d, want 80 ms", got)
	}
	if got, want := h.Mean(), 41e6/1.5; math.Abs(got-want) > 1 {
		t.Errorf("Mean() = %v, want %v", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { h.Record(80 * ms) }); n != 0 {
		t.Errorf("Record allocates %v times, want none", n)
	}
}

func TestOutOfRange(t *testing.T) {
	t.Parallel()
	h := New()
	h.Record(-5)
	h.RecordN(Highest+1, 2)
	h.Record(math.MaxInt64)
	h.Record(math.MinInt64)
	h.Record(Highest)
	h.Record(0)
	h.RecordN(5, 0)
	h.RecordN(5, -3)
	if h.Count() != 7 || h.Clipped() != 5 {
		t.Errorf("got %d samples, %d clipped, want 7, 5", h.Count(), h.Clipped())
	}
	if h.Min() != 0 || h.Max() != math.MaxInt64 {
		t.Errorf("got %d to %d, want 0 to the largest int64", h.Min(), h.Max())
	}
	if got := quantile(t, h, 0.6); got != Highest {
		t.Errorf("Quantile(0.6) = %d, want %d", got, Highest)
	}
	all := New()
	all.RecordN(Highest+10, 3)
	if got := quantile(t, all, 0.5); got != Highest+10 {
		t.Errorf("Quantile(0.5) of samples above the range = %d, want the minimum %d", got, Highest+10)
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	used := New()
	used.Record(5)
	used.Record(-1)
	used.Reset()
	used.Reset() // twice
	merged := New()
	merged.Merge(New())
	merged.Merge(nil)
	for name, h := range map[string]*Hist{"new": New(), "zero": {}, "reset": used, "merged": merged} {
		if h.Count() != 0 || h.Min() != 0 || h.Max() != 0 || h.Clipped() != 0 || !math.IsNaN(h.Mean()) || h.Spectrum() != nil || h.Exact() != (Exact{}) {
			t.Errorf("%s: got %+v, mean %v, want nothing", name, h.Exact(), h.Mean())
		}
		if ns, ok := h.Quantile(0.5); ok || ns != 0 {
			t.Errorf("%s: Quantile(0.5) = %d, %v, want not ok", name, ns, ok)
		}
	}
	used.Record(7)
	if used.Min() != 7 || used.Max() != 7 || used.Mean() != 7 {
		t.Errorf("after Reset got %+v, want one sample of 7", used.Exact())
	}
	for _, q := range []float64{-0.01, 1.01, 99, math.NaN(), math.Inf(1)} {
		if ns, ok := used.Quantile(q); ok {
			t.Errorf("Quantile(%v) = %d, want not ok", q, ns)
		}
	}
}

// Every quantile against the nearest rank in the sorted samples.
func TestQuantileIsNearestRank(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{1, 2, 3, 10, 999, 10_000} {
		h := New()
		samples := make([]int64, n)
		for i := range samples {
			samples[i] = int64(math.Exp(12 + 3*r.NormFloat64()))
			h.Record(samples[i])
		}
		slices.Sort(samples)
		for k := range n + 1 {
			q := float64(k) / float64(n)
			want := samples[max(k, 1)-1]
			if got := quantile(t, h, q); got < want || !within(got, want) && got-want > 1 {
				t.Fatalf("n = %d: Quantile(%v) = %d, want %d, rounded up at most", n, q, got, want)
			}
		}
	}
}

func TestMergeInAnyOrder(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	parts := make([]*Hist, 4)
	all := New()
	for i := range parts {
		parts[i] = New()
		for range 1000 * i { // the first stays empty
			ns := int64(r.ExpFloat64()*1e7) - 1000
			if r.IntN(500) == 0 {
				ns = Highest + r.Int64N(1e12)
			}
			parts[i].Record(ns)
			all.Record(ns)
		}
	}
	want, err := all.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		h := New()
		for _, i := range order {
			h.Merge(parts[i])
		}
		got, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got != want || h.Exact() != all.Exact() {
			t.Errorf("merged in order %v: got %+v, want %+v", order, h.Exact(), all.Exact())
		}
	}
	twice := New()
	twice.Merge(parts[1])
	twice.Merge(twice)
	if twice.Count() != 2*parts[1].Count() || twice.Mean() != parts[1].Mean() {
		t.Errorf("merged with itself: got %d samples of mean %v, want %d of %v", twice.Count(), twice.Mean(), 2*parts[1].Count(), parts[1].Mean())
	}
}

func TestSpectrum(t *testing.T) {
	t.Parallel()
	h := New()
	for i := int64(1); i <= 10_000; i++ {
		h.Record(i * 1000)
	}
	points := h.Spectrum()
	if first := points[0]; first.Quantile != 0 || first.Value != 1000 {
		t.Errorf("first point is %+v, want quantile 0, 1000 ns", first)
	}
	if last := points[len(points)-1]; last != (Point{1, 10_000_000, 10_000}) {
		t.Errorf("last point is %+v, want quantile 1, 10 ms", last)
	}
	for i, p := range points {
		if got := quantile(t, h, p.Quantile); got != p.Value {
			t.Errorf("point %+v, but Quantile(%v) = %d", p, p.Quantile, got)
		}
		if float64(p.Count) < p.Quantile*10_000 {
			t.Errorf("point %+v counts less than its quantile", p)
		}
		if i > 0 && (p.Quantile <= points[i-1].Quantile || p.Value < points[i-1].Value || p.Count < points[i-1].Count) {
			t.Errorf("point %+v after %+v, want rising", p, points[i-1])
		}
	}
	// 13.3 halvings leave one of 10,000: 14 times five steps, and the maximum.
	if len(points) != 71 {
		t.Errorf("got %d points, want 71", len(points))
	}
	h.RecordN(5, math.MaxInt64)
	if n := len(h.Spectrum()); n > 262 {
		t.Errorf("got %d points of a full histogram, want at most 262", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	h := New()
	b.ReportAllocs()
	for i := range b.N {
		h.Record(int64(i&0xffff) * 997)
	}
}

func BenchmarkMerge(b *testing.B) {
	h, o := New(), New()
	for i := range int64(20_000) {
		o.Record(i * 1009)
	}
	b.ReportAllocs()
	for b.Loop() {
		h.Merge(o)
	}
}

func BenchmarkQuantile(b *testing.B) {
	h := New()
	for i := range int64(20_000) {
		h.Record(i * 100_009)
	}
	for b.Loop() {
		h.Quantile(0.99)
	}
}

func BenchmarkSpectrum(b *testing.B) {
	h := New()
	for i := range int64(20_000) {
		h.Record(i * 100_009)
	}
	for b.Loop() {
		h.Spectrum()
	}
}

// Above counts by buckets: what shares one with the limit is not above it.
func TestAbove(t *testing.T) {
	h := New()
	for _, ns := range []int64{0, 1, 1000, 1_000_000, 5_000_000, 5_000_001, 9_000_000, Highest} {
		h.Record(ns)
	}
	for limit, want := range map[int64]int64{-1: 8, 0: 7, 1: 6, 999: 6, 1000: 5, 1_000_000: 4, 4_990_000: 4, 5_000_000: 2, 9_000_000: 1, Highest: 0, math.MaxInt64: 0} {
		if got := h.Above(limit); got != want {
			t.Errorf("Above(%d) = %d, want %d", limit, got, want)
		}
	}
	if n := New().Above(0); n != 0 {
		t.Errorf("nothing recorded: %d above 0", n)
	}
}
