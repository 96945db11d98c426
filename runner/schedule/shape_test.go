package schedule

import (
	"math"
	"slices"
	"testing"
	"time"
)

// bell rises from 0 to 200/s and falls again, over 4 s.
func bell() Segment {
	return Segment{Name: "bell", Over: 4 * time.Second, Points: []Point{{0, 0}, {time.Second, 50}, {2 * time.Second, 200}, {3 * time.Second, 50}, {4 * time.Second, 0}}}
}

// A shape is what its pieces are as segments: the same arrivals, to the nanosecond.
func TestShapeIsItsPieces(t *testing.T) {
	t.Parallel()
	shape := bell()
	var pieces []Segment
	for i := 1; i < len(shape.Points); i++ {
		a, b := shape.Points[i-1], shape.Points[i]
		pieces = append(pieces, Segment{Name: "piece", From: a.Rate, To: b.Rate, Over: b.At - a.At})
	}
	for _, a := range []Arrivals{Uniform, Poisson} {
		for _, around := range [][]Segment{nil, {hold(33, 1100*time.Millisecond)}} {
			one := mustNew(t, slices.Concat(around, []Segment{shape}, around), a, 3)
			many := mustNew(t, slices.Concat(around, pieces, around), a, 3)
			got, want := offsets(t, one), offsets(t, many)
			if len(got) != len(want) || len(got) < 200 {
				t.Fatalf("%v: %d arrivals, want %d", a, len(got), len(want))
			}
			for i := range got {
				if d := got[i] - want[i]; d < -1 || d > 1 { // the last digit of a sum
					t.Fatalf("%v: arrival %d at %v, want %v", a, i, got[i], want[i])
				}
				if one.At(int64(i)) != got[i] {
					t.Fatalf("%v: At(%d) = %v, want %v", a, i, one.At(int64(i)), got[i])
				}
			}
			if !slices.IsSorted(got) {
				t.Errorf("%v: arrivals out of order", a)
			}
		}
	}
	if p := shape.Peak(); p != 200 {
		t.Errorf("Peak = %v, want 200", p)
	}
}

func TestShapeRefused(t *testing.T) {
	t.Parallel()
	for _, points := range [][]Point{
		{{0, 0}}, {{1, 0}, {time.Second, 5}}, {{0, 0}, {2 * time.Second, 5}}, {{0, 1}, {time.Second, 5}}, {{0, 0}, {time.Second, 4}},
		{{0, 0}, {0, 3}, {time.Second, 5}}, {{0, 0}, {time.Millisecond, -3}, {time.Second, 5}}, {{0, 0}, {time.Millisecond, math.NaN()}, {time.Second, 5}},
	} {
		if _, err := New([]Segment{{From: 0, To: 5, Over: time.Second, Points: points}}, Uniform, 0); err == nil {
			t.Errorf("New with %v has no error", points)
		}
	}
	if _, err := New([]Segment{{Over: time.Second, Points: []Point{{0, 0}, {time.Second, 0}}}}, Uniform, 0); err == nil {
		t.Error("New with a shape of nothing has no error")
	}
}

// A trace is given as it is, in whole and in shares.
func TestTrace(t *testing.T) {
	t.Parallel()
	trace := []time.Duration{0, 0, 5, 5, 5, time.Second, 3 * time.Second}
	s, err := NewTrace("log", trace, 4*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if got := offsets(t, s); !slices.Equal(got, trace) || s.Len() != 7 || s.Duration() != 4*time.Second {
		t.Errorf("got %v, %d, %v", got, s.Len(), s.Duration())
	}
	var union []time.Duration
	for i := range 3 {
		c, err := s.Shard(i, 3)
		if err != nil {
			t.Fatal(err)
		}
		union = append(union, drain(c)...)
	}
	slices.Sort(union)
	if !slices.Equal(union, trace) {
		t.Errorf("shares: %v", union)
	}
	if sp := s.Segments()[0]; sp.Count != 7 || sp.Name != "log" || sp.Peak() != 1.75 || s.At(5) != time.Second || s.At(7) != -1 {
		t.Errorf("segment %+v", sp)
	}
	for _, bad := range [][]time.Duration{nil, {5, 4}, {-1, 4}, {4 * time.Second}} {
		if _, err := NewTrace("log", bad, 4*time.Second); err == nil {
			t.Errorf("NewTrace(%v) has no error", bad)
		}
	}
}
