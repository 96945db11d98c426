package hist

import (
	"bytes"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

func sample() *Hist {
	h := New()
	for i := int64(1); i <= 5000; i++ {
		h.Record(i * 12_345)
	}
	h.Record(-1)
	h.Record(Highest * 2)
	return h
}

func TestRestore(t *testing.T) {
	t.Parallel()
	full := New()
	full.RecordN(40*int64(time.Second), 300_000_000)
	for name, h := range map[string]*Hist{"sample": sample(), "empty": New(), "full": full} {
		text, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text, "HISTF") {
			t.Errorf("%s: Encode() = %.20q..., want HISTF...", name, text)
		}
		stored, err := json.Marshal(h.Exact())
		if err != nil {
			t.Fatal(err)
		}
		var exact Exact
		if err := json.Unmarshal(stored, &exact); err != nil {
			t.Fatal(err)
		}
		got, err := Restore(text, exact)
		if err != nil {
			t.Fatalf("%s: Restore: %v", name, err)
		}
		again, err := got.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if got.Exact() != h.Exact() || again != text || got.Count() > 0 && got.Mean() != h.Mean() {
			t.Errorf("%s: Restore = %+v, want %+v", name, got.Exact(), h.Exact())
		}
	}
}

func TestRestoreRefusesOtherFigures(t *testing.T) {
	t.Parallel()
	h := sample()
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(e *Exact){
		"count":       func(e *Exact) { e.Count++ },
		"minimum":     func(e *Exact) { e.Min = 12_345 },
		"maximum":     func(e *Exact) { e.Max = 5000 * 12_345 },
		"order":       func(e *Exact) { e.Min, e.Max = e.Max, e.Min },
		"clipped":     func(e *Exact) { e.Clipped = e.Count + 1 },
		"sum":         func(e *Exact) { e.Sum = -1 },
		"sum's rest":  func(e *Exact) { e.SumFrac = 1e9 },
		"zero values": func(e *Exact) { *e = Exact{} },
	} {
		e := h.Exact()
		change(&e)
		if _, err := Restore(text, e); err == nil {
			t.Errorf("Restore with another %s has no error", name)
		}
	}
	empty, err := New().Encode()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Restore(empty, Exact{Max: 5}); err == nil {
		t.Error("Restore of an empty histogram with a maximum has no error")
	}
}

func TestDecodeApproximates(t *testing.T) {
	t.Parallel()
	h := New()
	for i := int64(1); i <= 5000; i++ {
		h.Record(1_000_000 + i*12_345)
	}
	text, err := h.Encode()
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	if got.Count() != h.Count() || !within(got.Min(), h.Min()) || !within(got.Max(), h.Max()) || math.Abs(got.Mean()-h.Mean()) > 0.001*h.Mean() {
		t.Errorf("Decode = %+v, want about %+v", got.Exact(), h.Exact())
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	other, err := hdrhistogram.New(1000, 1e9, 2).Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{"", "HISTF", "not base64!", "AAAA", string(other)} {
		if h, err := Decode(text); err == nil {
			t.Errorf("Decode(%q) = %+v, want an error", text, h.Exact())
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, h := range []*Hist{New(), sample()} {
		text, err := h.Encode()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		h, err := Decode(text)
		if err != nil {
			return
		}
		again, err := h.Encode()
		if err != nil {
			t.Fatal(err)
		}
		same, err := Decode(again)
		if err != nil {
			t.Fatal(err)
		}
		if same.Exact() != h.Exact() {
			t.Errorf("decoded again: %+v, want %+v", same.Exact(), h.Exact())
		}
		if h.Count() > 0 {
			quantile(t, h, 0.5)
			h.Spectrum()
		}
	})
}

func TestWriteLog(t *testing.T) {
	t.Parallel()
	base := time.UnixMilli(1_700_000_000_123)
	a, b := New(), New()
	for i := range int64(100) {
		a.Record((i + 1) * ms)
	}
	b.RecordN(1_234_567, 3)
	var out bytes.Buffer
	err := WriteLog(&out, base, []Interval{
		{0, time.Second, "response", a},
		{time.Second, 2500 * time.Millisecond, "", b},
		{2500 * time.Millisecond, 3 * time.Second, "lag", nil},
	})
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(out.String(), "\n")
	for i, want := range []string{
		"#[Histogram log format version 1.3]",
		"#[BaseTime: 1700000000.123 (seconds since epoch)]",
		"#[StartTime: 1700000000.123 (seconds since epoch), 2023-11-14T22:13:20.123Z]",
		`"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`,
		"Tag=response,0.000000,1.000000,100.000000,HISTF",
		"1.000000,1.500000,1.234567,HISTF",
		"Tag=lag,2.500000,0.500000,0.000000,HISTF",
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("line %d is %q, want %q", i+1, lines[i], want)
		}
	}
	reader := hdrhistogram.NewHistogramLogReader(&out)
	for i, want := range []struct {
		tag        string
		start, end int64 // ms since the epoch
		count, max int64
	}{
		{"response", 1_700_000_000_123, 1_700_000_001_123, 100, 100 * ms},
		{"", 1_700_000_001_123, 1_700_000_002_623, 3, 1_234_567},
		{"lag", 1_700_000_002_623, 1_700_000_003_123, 0, 0},
	} {
		h, err := reader.NextIntervalHistogram()
		if err != nil || h == nil {
			t.Fatalf("interval %d: got %v, %v", i, h, err)
		}
		// The reader goes through float64 seconds and cuts off, so it may be
		// 1 ms short.
		if h.Tag() != want.tag || want.start-h.StartTimeMs() > 1 || want.start < h.StartTimeMs() || want.end-h.EndTimeMs() > 1 || want.end < h.EndTimeMs() ||
			h.TotalCount() != want.count || !within(h.Max(), want.max) {
			t.Errorf("interval %d: got tag %q, %d to %d ms, %d samples to %d, want %+v", i, h.Tag(), h.StartTimeMs(), h.EndTimeMs(), h.TotalCount(), h.Max(), want)
		}
	}
	if h, err := reader.NextIntervalHistogram(); h != nil || err != nil {
		t.Errorf("after the last interval got %v, %v, want nothing", h, err)
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, bytes.ErrTooLarge }

func TestWriteLogRefuses(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_123)
	for _, iv := range []Interval{
		{Start: -1}, {Start: 2, End: 1}, {Tag: "a,b"}, {Tag: "a b"}, {Tag: "a\nb"}, {Tag: "\x7f"},
	} {
		var out bytes.Buffer
		if err := WriteLog(&out, now, []Interval{iv}); err == nil || out.Len() > 0 {
			t.Errorf("WriteLog of %+v wrote %q, %v, want an error and nothing", iv, out.String(), err)
		}
	}
	if err := WriteLog(&bytes.Buffer{}, time.Time{}, nil); err == nil {
		t.Error("WriteLog from the zero time has no error")
	}
	if err := WriteLog(fullDisk{}, now, []Interval{{Hist: sample()}}); err == nil {
		t.Error("WriteLog to a full disk has no error")
	}
}

// What this package writes, hdrhistogram-go reads as the same counters, and writes again as the same text but for the
// compression; what it records by itself is the same.
func TestSameAsHdrHistogram(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	var enc Encoder
	for _, n := range []int{0, 1, 2, 100, 30_000} {
		h, other := New(), hdrhistogram.New(lowest, Highest, digits)
		for range n {
			ns, times := int64(math.Exp(29*r.Float64())), int64(1)<<r.IntN(40)
			h.RecordN(ns, times)
			if err := other.RecordValues(ns, times); err != nil {
				t.Fatal(err)
			}
		}
		for _, ns := range []int64{0, 1, 2047, 2048, 4095, 4096, Highest} {
			if n == 30_000 {
				h.Record(ns)
				other.RecordValue(ns)
			}
		}
		text, err := enc.Encode(h)
		if err != nil {
			t.Fatal(err)
		}
		read, err := hdrhistogram.Decode([]byte(text))
		if err != nil {
			t.Fatalf("%d samples: %v", n, err)
		}
		if !read.Equals(other) || read.TotalCount() != h.Count() {
			t.Errorf("%d samples: hdrhistogram-go reads %d other ones", n, read.TotalCount())
		}
		for i := range numBuckets {
			if low, high := lowestIn(i), highestIn(i); bucketOf(low) != i || bucketOf(high) != i || !other.ValuesAreEquivalent(low, high) || other.ValuesAreEquivalent(high, high+1) {
				t.Fatalf("bucket %d is %d to %d, which is none of hdrhistogram-go's", i, low, high)
			}
		}
		for _, q := range []float64{0.001, 0.5, 0.9, 0.99, 0.9999} {
			if got, ok := h.Quantile(q); ok && h.Count() < 1<<50 && !other.ValuesAreEquivalent(got, other.ValueAtPercentile(100*q)) {
				t.Errorf("%d samples: Quantile(%v) = %d, hdrhistogram-go's is %d", n, q, got, other.ValueAtPercentile(100*q))
			}
		}
	}
}

func TestEncoderAllocatesLittle(t *testing.T) { // not parallel, since it counts allocations
	h := sample()
	var enc Encoder
	if n := testing.AllocsPerRun(20, func() { enc.Encode(h) }); n > 5 {
		t.Errorf("Encode allocates %v times, want 5 at most", n)
	}
}

func BenchmarkEncode(b *testing.B) {
	h := New()
	for i := range int64(20_000) {
		h.Record(i * i)
	}
	var enc Encoder
	b.ReportAllocs()
	for b.Loop() {
		enc.Encode(h)
	}
}
