package schedule

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

func hold(rate float64, over time.Duration) Segment { return Segment{From: rate, To: rate, Over: over} }

func ramp(from, to float64, over time.Duration) Segment {
	return Segment{From: from, To: to, Over: over}
}

func mustNew(t *testing.T, segs []Segment, a Arrivals, seed uint64) *Schedule {
	t.Helper()
	s, err := New(segs, a, seed)
	if err != nil {
		t.Fatalf("New(%v): %v", segs, err)
	}
	return s
}

// offsets walks a schedule and checks what holds for every one of them.
func offsets(t *testing.T, s *Schedule) []time.Duration {
	t.Helper()
	var all []time.Duration
	counts := make([]int64, len(s.Segments()))
	for c := s.Cursor(); ; {
		if want := int64(len(all)); c.Index() != want {
			t.Fatalf("Index() = %d, want %d", c.Index(), want)
		}
		offset, segment, ok := c.Next()
		if !ok {
			break
		}
		if offset < 0 || offset >= s.Duration() {
			t.Fatalf("arrival %d is at %v, outside [0, %v)", len(all), offset, s.Duration())
		}
		if n := len(all); n > 0 && offset < all[n-1] {
			t.Fatalf("arrival %d is at %v, before the one ahead of it at %v", n, offset, all[n-1])
		}
		if got := s.SegmentOf(offset); got != segment {
			t.Fatalf("arrival %d at %v: segment %d, SegmentOf = %d", len(all), offset, segment, got)
		}
		counts[segment]++
		all = append(all, offset)
	}
	if s.Len() != int64(len(all)) {
		t.Fatalf("Len() = %d, the cursor gave %d", s.Len(), len(all))
	}
	var first int64
	for i, sp := range s.Segments() {
		if sp.Count != counts[i] || sp.First != first {
			t.Fatalf("segment %d has %d arrivals from %d, want %d from %d", i, sp.Count, sp.First, counts[i], first)
		}
		first += sp.Count
	}
	return all
}

func TestUniformCounts(t *testing.T) { // C-17
	t.Parallel()
	for _, tt := range []struct {
		rate float64
		over time.Duration
		want int64
		gap  time.Duration // 0: one arrival
	}{
		{6. / 60, 60 * time.Second, 6, 10 * time.Second},
		{0.1, 30 * time.Second, 3, 10 * time.Second},
		{2.5, 4 * time.Second, 10, 400 * time.Millisecond},
		{3, time.Second, 3, 333_333_333},
		{1, 300 * time.Millisecond, 1, 0},
		{1_000_000, 10 * time.Millisecond, 10_000, time.Microsecond},
		{10, 5 * time.Second, 50, 100 * time.Millisecond},
		{0.001, 24 * time.Hour, 87, 1000 * time.Second}, // 86.4, the first at 0
		{1. / 3, 3 * time.Second, 1, 0},
		{1. / 3, 3*time.Second + 1000, 2, 3 * time.Second},
		{1e9, 1000, 1000, 1},
		{1, 1, 1, 0},
	} {
		s := mustNew(t, []Segment{hold(tt.rate, tt.over)}, Uniform, 0)
		all := offsets(t, s)
		if s.Len() != tt.want {
			t.Errorf("%v/s for %v: %d arrivals, want %d", tt.rate, tt.over, s.Len(), tt.want)
			continue
		}
		if all[0] != 0 {
			t.Errorf("%v/s for %v: first arrival at %v, want 0s", tt.rate, tt.over, all[0])
		}
		for k := 1; k < len(all); k++ {
			if d := all[k] - all[k-1] - tt.gap; d < 0 || d > 1 {
				t.Fatalf("%v/s for %v: arrival %d comes %v after the one ahead, want %v", tt.rate, tt.over, k, all[k]-all[k-1], tt.gap)
			}
		}
	}
}

func TestFractionsCarryOver(t *testing.T) {
	t.Parallel()
	// 0.4 arrivals a segment: the integral is a whole number at the starts of
	// segments 0, 5 and 10, and in between at 2.5, 7.5 and so on.
	var segs []Segment
	for range 12 {
		segs = append(segs, hold(0.4, time.Second))
	}
	s := mustNew(t, segs, Uniform, 0)
	want := []time.Duration{0, 2500, 5000, 7500, 10000}
	all := offsets(t, s)
	if len(all) != len(want) {
		t.Fatalf("got %v, want %d arrivals", all, len(want))
	}
	for k := range want {
		if all[k] != want[k]*time.Millisecond {
			t.Errorf("arrival %d is at %v, want %v", k, all[k], want[k]*time.Millisecond)
		}
	}
	for i, sp := range s.Segments() {
		if sp.Start != time.Duration(i)*time.Second || sp.End != sp.Start+time.Second {
			t.Errorf("segment %d is from %v to %v", i, sp.Start, sp.End)
		}
	}
	// An arrival on the border belongs to the segment that begins there, also
	// when rounding leaves the integral a little off the whole number.
	segs = nil
	for range 100 {
		segs = append(segs, hold(0.1, time.Second))
	}
	s = mustNew(t, segs, Uniform, 0)
	for i, sp := range s.Segments() {
		if want := int64(1 - min(i%10, 1)); sp.Count != want {
			t.Errorf("0.1/s: segment %d has %d arrivals, want %d", i, sp.Count, want)
		}
	}
	offsets(t, s)
}

func TestRampClosedForm(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		from, to float64
		over     time.Duration
		want     int64
	}{
		{10, 100, 10 * time.Second, 550}, {100, 10, 10 * time.Second, 550}, {0, 100, 60 * time.Second, 3000},
		{100, 0, 60 * time.Second, 3000}, {50, 50.0001, 10 * time.Second, 501}, {0, 1, time.Second, 1}, {2, 0, time.Second, 1},
	} {
		s := mustNew(t, []Segment{ramp(tt.from, tt.to, tt.over)}, Uniform, 0)
		all := offsets(t, s)
		if s.Len() != tt.want {
			t.Errorf("%v/s to %v/s: %d arrivals, want %d", tt.from, tt.to, s.Len(), tt.want)
		}
		a := (tt.to - tt.from) / tt.over.Seconds()
		for k, got := range all {
			// The integral at the offset must be k, within a ns of rounding at
			// the rate there; where the textbook root keeps its digits, it must
			// agree too.
			x := got.Seconds()
			if r := tt.from*x + a*x*x/2; math.Abs(r-float64(k)) > 1e-9*(tt.from+tt.to)+1e-9*float64(k) {
				t.Fatalf("%v/s to %v/s: integral at arrival %d is %v", tt.from, tt.to, k, r)
			}
			root := (-tt.from + math.Sqrt(max(0, tt.from*tt.from+2*a*float64(k)))) / a
			if math.Abs(a) > 1 && math.Abs(root-x) > 2e-9 {
				t.Fatalf("%v/s to %v/s: arrival %d is at %v, want %v s", tt.from, tt.to, k, got, root)
			}
		}
	}
}

func TestNoDriftAfterHours(t *testing.T) {
	t.Parallel()
	// 7 days at 1234.5/s in hours: the arrival at the start of each even hour
	// is there to the ns.
	var segs []Segment
	for range 7 * 24 {
		segs = append(segs, hold(1234.5, time.Hour))
	}
	s := mustNew(t, segs, Uniform, 0)
	if want := int64(1234.5 * 3600 * 24 * 7); s.Len() != want {
		t.Errorf("Len() = %d, want %d", s.Len(), want)
	}
	for hour := range int64(7 * 24) {
		if got, want := s.At(hour*4_444_200), time.Duration(hour)*time.Hour; got != want {
			t.Errorf("arrival %d is at %v, want %v", hour*4_444_200, got, want)
		}
	}
	if got, want := s.At(s.Len()-1), s.Duration()-810_045; got != want {
		t.Errorf("the last arrival is at %v, want %v", got, want)
	}
}

func TestAtIsTheCursor(t *testing.T) {
	t.Parallel()
	segs := []Segment{ramp(0, 500, 3*time.Second), hold(0.3, time.Second), hold(500, 2*time.Second), hold(0.2, time.Second), ramp(500, 0, 3*time.Second)}
	for _, a := range []Arrivals{Uniform, Poisson} {
		s := mustNew(t, segs, a, 7)
		for i, want := range offsets(t, s) {
			if got := s.At(int64(i)); got != want {
				t.Fatalf("%v: At(%d) = %v, the cursor gave %v", a, i, got, want)
			}
		}
		for _, i := range []int64{-1, s.Len(), math.MaxInt64, math.MinInt64} {
			if got := s.At(i); got != -1 {
				t.Errorf("%v: At(%d) = %v, want -1", a, i, got)
			}
		}
	}
}

func TestSegmentOf(t *testing.T) {
	t.Parallel()
	s := mustNew(t, []Segment{hold(1, 2*time.Second), hold(1, time.Second)}, Uniform, 0)
	for _, tt := range []struct {
		offset time.Duration
		want   int
	}{{-1, -1}, {0, 0}, {2*time.Second - 1, 0}, {2 * time.Second, 1}, {3*time.Second - 1, 1}, {3 * time.Second, -1}, {math.MaxInt64, -1}, {math.MinInt64, -1}} {
		if got := s.SegmentOf(tt.offset); got != tt.want {
			t.Errorf("SegmentOf(%v) = %d, want %d", tt.offset, got, tt.want)
		}
	}
}

func TestNewRefuses(t *testing.T) { // C-17
	t.Parallel()
	for _, tt := range []struct {
		segs []Segment
		a    Arrivals
		want string
	}{
		{nil, Uniform, "no segments"},
		{[]Segment{hold(1, 0)}, Uniform, "got duration 0s"},
		{[]Segment{hold(1, -time.Second)}, Uniform, "got duration -1s"},
		{[]Segment{hold(0, time.Second)}, Uniform, "got rate 0/s"},
		{[]Segment{hold(-1, time.Second)}, Uniform, "got rate -1/s"},
		{[]Segment{ramp(1, -1, time.Second)}, Uniform, "got rate -1/s"},
		{[]Segment{hold(math.NaN(), time.Second)}, Uniform, "got rate NaN/s"},
		{[]Segment{hold(math.Inf(1), time.Second)}, Uniform, "got rate +Inf/s"},
		{[]Segment{hold(2e9, time.Second)}, Uniform, "got rate 2e+09/s"},
		{[]Segment{hold(1, time.Second), {Name: "x", From: 1, To: 1}}, Uniform, `segment 1 "x"`},
		{[]Segment{hold(1e-9, math.MaxInt64), hold(1, 1)}, Uniform, "total duration is too long"},
		{[]Segment{hold(1e9, time.Hour)}, Uniform, "got 3.6e+12 arrivals, want at most 1e+12"},
		{[]Segment{hold(1e9, 2*time.Second)}, Poisson, "got 2e+09 arrivals, want at most 1e+09"},
		{[]Segment{hold(1, 1)}, Arrivals(2), "got arrivals 2"},
	} {
		s, err := New(tt.segs, tt.a, 0)
		if err == nil {
			t.Errorf("New(%v, %v) has %d arrivals, want an error", tt.segs, tt.a, s.Len())
		} else if !strings.Contains(err.Error(), tt.want) {
			t.Errorf("New(%v, %v) = %q, want %q in it", tt.segs, tt.a, err, tt.want)
		}
	}
}

func TestScheduleIsItsOwn(t *testing.T) {
	t.Parallel()
	segs := []Segment{hold(10, time.Second)}
	s := mustNew(t, segs, Uniform, 0)
	before := s.Fingerprint()
	segs[0] = hold(1, time.Hour)
	s.Segments()[0].First = 99
	if s.Fingerprint() != before || s.Segments()[0].First != 0 {
		t.Error("the schedule changed with a slice of its caller")
	}
}

func FuzzNew(f *testing.F) {
	f.Add(10.0, 100.0, int64(time.Second), 0.1, 0.0, int64(3*time.Second), uint64(1))
	f.Add(1.0, 1.0, int64(1), 1e9, 1e9, int64(1000), uint64(0))
	f.Add(0.0, 1e-300, int64(math.MaxInt64), 5e-324, 0.0, int64(1), uint64(9))
	f.Add(math.NaN(), -1.0, int64(-1), math.Inf(1), 0.0, int64(0), uint64(2))
	f.Add(7.0, 3.0, int64(333_333_333), 3.0, 7.0, int64(666_666_667), uint64(3))
	f.Fuzz(func(t *testing.T, f1, t1 float64, d1 int64, f2, t2 float64, d2 int64, seed uint64) {
		segs := []Segment{ramp(f1, t1, time.Duration(d1)), ramp(f2, t2, time.Duration(d2))}
		for _, a := range []Arrivals{Uniform, Poisson} {
			if (f1+t1)/2*float64(d1)/1e9+(f2+t2)/2*float64(d2)/1e9 > 20_000 {
				return // too long to walk here
			}
			s, err := New(segs, a, seed)
			if err != nil {
				return
			}
			all := offsets(t, s)
			for _, i := range []int{0, len(all) / 2, len(all) - 1} {
				if i >= 0 && i < len(all) && s.At(int64(i)) != all[i] {
					t.Errorf("At(%d) = %v, want %v", i, s.At(int64(i)), all[i])
				}
			}
			if a == Uniform && (s.Len() == 0 || all[0] != 0) {
				t.Errorf("got %d arrivals, want the first at 0s", s.Len())
			}
		}
	})
}

// The first arrivals of a schedule are at the same times as in the whole.
func TestFirst(t *testing.T) {
	t.Parallel()
	for _, a := range []Arrivals{Uniform, Poisson} {
		whole := mustNew(t, []Segment{hold(10, 2*time.Second), ramp(10, 30, 2*time.Second), hold(5, time.Second)}, a, 3)
		all := offsets(t, whole)
		for _, n := range []int64{0, 1, 19, 20, 21, 45, whole.Len() - 1, whole.Len(), whole.Len() + 9} {
			s := whole.First(n)
			want := min(n, whole.Len())
			if s.Len() != want || s.Duration() != whole.Duration() || len(s.Segments()) != 3 {
				t.Fatalf("%v: First(%d) has %d arrivals in %v", a, n, s.Len(), s.Duration())
			}
			var count int64
			for _, sp := range s.Segments() {
				count += sp.Count
			}
			got := drain(s.Cursor())
			if int64(len(got)) != want || count != want || !slices.Equal(got, all[:want]) {
				t.Errorf("%v: First(%d) is %v, want the first of %v", a, n, got, all)
			}
			for i, at := range got {
				if s.At(int64(i)) != at {
					t.Errorf("%v: First(%d).At(%d) = %v, want %v", a, n, i, s.At(int64(i)), at)
				}
			}
		}
		if whole.Len() != int64(len(all)) {
			t.Errorf("%v: First changed the whole", a)
		}
	}
}
