package schedule

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

var update = flag.Bool("update", false, "rewrite testdata")

func drain(c *Cursor) []time.Duration {
	var all []time.Duration
	for {
		offset, _, ok := c.Next()
		if !ok {
			return all
		}
		all = append(all, offset)
	}
}

// The shares of any number of workers or generators together are the schedule.
func TestShardsAreTheWhole(t *testing.T) { // C-19, C-35
	t.Parallel()
	for _, tt := range []struct {
		rate float64
		over time.Duration
		n    []int
	}{
		{10, 5 * time.Second, []int{1, 7, 50}},
		{10, time.Second, []int{12}},
		{1, 3 * time.Second, []int{16}},
		{10, 10 * time.Second, []int{3}},
		{2, 10 * time.Second, []int{5}},
		{777, 4 * time.Second, []int{2, 13}},
	} {
		for _, a := range []Arrivals{Uniform, Poisson} {
			s := mustNew(t, []Segment{hold(tt.rate, tt.over/2), ramp(tt.rate, tt.rate, tt.over-tt.over/2)}, a, 5)
			whole := offsets(t, s)
			for _, n := range tt.n {
				var union []time.Duration
				least, most := math.MaxInt, 0
				for i := range n {
					c, err := s.Shard(i, n)
					if err != nil {
						t.Fatal(err)
					}
					if c.Index() != int64(i) {
						t.Errorf("Shard(%d, %d) begins at %d", i, n, c.Index())
					}
					part := drain(c)
					for k, at := range part {
						if at != whole[i+k*n] {
							t.Fatalf("%v: arrival %d of Shard(%d, %d) is at %v, want %v", a, k, i, n, at, whole[i+k*n])
						}
					}
					least, most = min(least, len(part)), max(most, len(part))
					union = append(union, part...)
				}
				slices.Sort(union)
				if !slices.Equal(union, whole) {
					t.Errorf("%v, %v/s in %d shares: %d arrivals, not the %d of the whole", a, tt.rate, n, len(union), len(whole))
				}
				if most-least > 1 {
					t.Errorf("%v, %v/s in %d shares: sizes from %d to %d", a, tt.rate, n, least, most)
				}
			}
		}
	}
}

// Shares of a schedule are schedules: their segments add up, and loops share them in turn.
func TestParts(t *testing.T) { // C-19, C-35
	t.Parallel()
	for _, a := range []Arrivals{Uniform, Poisson} {
		s := mustNew(t, []Segment{ramp(1, 100, 2*time.Second), hold(97, 3*time.Second), ramp(50, 0, time.Second)}, a, 5)
		whole := offsets(t, s)
		for _, n := range []int{1, 2, 3, 7, 1000} {
			var union []time.Duration
			counts := make([]int64, 3)
			for i := range n {
				p, err := s.Part(i, n)
				if err != nil {
					t.Fatal(err)
				}
				own := drain(p.Cursor())
				if int64(len(own)) != p.Len() || p.Whole() != s.Len() || p.Duration() != s.Duration() {
					t.Fatalf("%v, share %d of %d: %d arrivals, Len %d of %d", a, i, n, len(own), p.Len(), p.Whole())
				}
				var loops []time.Duration
				for k := range 2 {
					c, err := p.Shard(k, 2)
					if err != nil {
						t.Fatal(err)
					}
					for {
						index := c.Index()
						at, _, ok := c.Next()
						if !ok {
							break
						}
						if at != s.At(index) || p.Index(p.Own(index)) != index || p.Own(index)%2 != int64(k) {
							t.Fatalf("%v: loop %d of share %d of %d: arrival %d at %v, want %v", a, k, i, n, index, at, s.At(index))
						}
						loops = append(loops, at)
					}
				}
				if slices.Sort(loops); !slices.Equal(loops, own) {
					t.Fatalf("%v: loops of share %d of %d have %d arrivals, want %d", a, i, n, len(loops), len(own))
				}
				first := int64(0)
				for k, sp := range p.Segments() {
					if sp.First != first || math.Abs(sp.From*float64(n)-s.Segments()[k].From) > 1e-9 {
						t.Errorf("segment %d of share %d of %d: first %d from %v/s, want %d", k, i, n, sp.First, sp.From, first)
					}
					first += sp.Count
					counts[k] += sp.Count
				}
				union = append(union, own...)
			}
			if slices.Sort(union); !slices.Equal(union, whole) {
				t.Errorf("%v in %d shares: %d arrivals, not the %d of the whole", a, n, len(union), len(whole))
			}
			for k, sp := range s.Segments() {
				if counts[k] != sp.Count {
					t.Errorf("%v in %d shares: %d arrivals in segment %d, want %d", a, n, counts[k], k, sp.Count)
				}
			}
		}
	}
	s := mustNew(t, []Segment{hold(10, time.Second)}, Uniform, 0)
	p, _ := s.Part(1, 2)
	for _, bad := range [][2]int{{0, 0}, {-1, 3}, {3, 3}} {
		if _, err := s.Part(bad[0], bad[1]); err == nil {
			t.Errorf("Part(%d, %d) has no error", bad[0], bad[1])
		}
	}
	if _, err := p.Part(0, 2); err == nil {
		t.Error("a share of a share has no error")
	}
}

func TestShardEdges(t *testing.T) {
	t.Parallel()
	s := mustNew(t, []Segment{hold(10, time.Second)}, Uniform, 0)
	for _, bad := range [][2]int{{0, 0}, {-1, 3}, {3, 3}, {0, -1}} {
		if _, err := s.Shard(bad[0], bad[1]); err == nil {
			t.Errorf("Shard(%d, %d) has no error", bad[0], bad[1])
		}
	}
	c, err := s.Shard(3, math.MaxInt)
	if err != nil {
		t.Fatal(err)
	}
	if got := drain(c); len(got) != 1 || got[0] != 300*time.Millisecond {
		t.Errorf("got %v, want the one arrival at 300ms", got)
	}
	if _, _, ok := c.Next(); ok {
		t.Error("Next after the last is ok")
	}
}

func TestCursorNeedsNoMemory(t *testing.T) {
	for _, a := range []Arrivals{Uniform, Poisson} {
		c := mustNew(t, []Segment{hold(1000, time.Hour)}, a, 1).Cursor()
		if n := testing.AllocsPerRun(5000, func() { c.Next() }); n != 0 {
			t.Errorf("%v: Next allocates %v times, want none", a, n)
		}
	}
}

// Golden schedules: a change here changes what every plan does. Rewrite them
// with -update only when that is meant.
func TestFingerprints(t *testing.T) {
	t.Parallel()
	ladder := []Segment{ramp(10, 100, 10*time.Second)}
	for rate := 100.; rate <= 400; rate += 50 {
		ladder = append(ladder, hold(rate, 5*time.Second))
	}
	var got strings.Builder
	for _, tt := range []struct {
		name string
		segs []Segment
		a    Arrivals
		seed uint64
	}{
		{"hold-250", []Segment{hold(250, time.Minute)}, Uniform, 0},
		{"sixth-per-minute", []Segment{hold(6./60, time.Hour)}, Uniform, 0},
		{"ladder", ladder, Uniform, 0},
		{"down-to-0", []Segment{ramp(333.3, 0, 30*time.Second), ramp(0, 99.9, 7777*time.Millisecond)}, Uniform, 0},
		{"poisson-hold-250-seed-0", []Segment{hold(250, time.Minute)}, Poisson, 0},
		{"poisson-hold-250-seed-1", []Segment{hold(250, time.Minute)}, Poisson, 1},
		{"poisson-ladder", ladder, Poisson, 18446744073709551615},
	} {
		s := mustNew(t, tt.segs, tt.a, tt.seed)
		fmt.Fprintf(&got, "%s %d %s\n", tt.name, s.Len(), s.Fingerprint())
	}
	const file = "testdata/fingerprints.txt"
	if *update {
		if err := os.WriteFile(file, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(strings.NewReader(string(want)))
	for line := range strings.Lines(got.String()) {
		if !lines.Scan() || lines.Text()+"\n" != line {
			t.Errorf("got  %swant %s", line, lines.Text())
		}
	}
	if lines.Scan() {
		t.Errorf("%s has more: %s", file, lines.Text())
	}
}

func BenchmarkCursor(b *testing.B) {
	for _, a := range []Arrivals{Uniform, Poisson} {
		b.Run(a.String(), func(b *testing.B) {
			s, err := New([]Segment{ramp(100, 20_000, 1000*time.Second)}, a, 1)
			if err != nil {
				b.Fatal(err)
			}
			c := s.Cursor()
			for b.Loop() {
				if _, _, ok := c.Next(); !ok {
					c = s.Cursor()
				}
			}
		})
	}
}

func BenchmarkPoissonAt(b *testing.B) {
	s, err := New([]Segment{hold(10_000, 100*time.Second)}, Poisson, 1)
	if err != nil {
		b.Fatal(err)
	}
	i := int64(0)
	for b.Loop() {
		s.At(i % s.Len())
		i += 7919
	}
}

func ExampleNew() {
	s, err := New([]Segment{
		{Name: "ramp", From: 1, To: 3, Over: 2 * time.Second},
		{Name: "hold", From: 3, To: 3, Over: time.Second},
	}, Uniform, 0)
	if err != nil {
		fmt.Println(err)
		return
	}
	for c := s.Cursor(); ; {
		offset, segment, ok := c.Next()
		if !ok {
			break
		}
		fmt.Println(s.Segments()[segment].Name, offset.Round(time.Millisecond))
	}
	// Output:
	// ramp 0s
	// ramp 732ms
	// ramp 1.236s
	// ramp 1.646s
	// hold 2s
	// hold 2.333s
	// hold 2.667s
}
