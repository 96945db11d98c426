package load

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// copied is a deep copy of a record, as its JSON keeps it.
func copied(t *testing.T, l *result.Load) *result.Load {
	t.Helper()
	text, err := json.Marshal(l)
	if err != nil {
		t.Fatal(err)
	}
	own := new(result.Load)
	if err := json.Unmarshal(text, own); err != nil {
		t.Fatal(err)
	}
	return own
}

// What two rounds or two generators measured adds up to one record that conserves what one of its own does, and the one added
// stays as it was.
func TestJoin(t *testing.T) {
	t.Parallel()
	s := serve(t, func(x *call) {
		switch {
		case x.n%10 == 3:
			x.say("HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n")
		case x.n%10 == 7:
			time.Sleep(5 * time.Millisecond)
			fallthrough
		default:
			x.ok("yes")
		}
	})
	req := get(s)
	up := schedule.Segment{Name: "ramp to 100/s", From: 50, To: 100, Over: time.Second}
	measured := func() *result.Load { return run(t, config(t, req, up, hold(100, 1200*time.Millisecond)), s) }
	a := measured()
	s.arrivals.Store(0)
	b := measured()
	for name, join := range map[string]func(a, b *result.Load) error{"rounds": Append, "generators": Merge} {
		t.Run(name, func(t *testing.T) {
			l, other := copied(t, a), copied(t, b)
			if err := join(l, other); err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(other, copied(t, b)) {
				t.Error("the record that was added has changed")
			}
			conserve(t, l)
			if want := sum(a.Counts, b.Counts); l.Counts != want || l.Planned != a.Planned+b.Planned {
				t.Errorf("counts %+v of %d planned, want %+v", l.Counts, l.Planned, want)
			}
			if l.Status["200"] != a.Status["200"]+b.Status["200"] || len(l.Errors) != len(a.Errors) || l.Wire.Attempts != a.Wire.Attempts+b.Wire.Attempts {
				t.Errorf("status %v, %d kinds of errors, %d attempts", l.Status, len(l.Errors), l.Wire.Attempts)
			}
			for what, d := range map[string][3]result.Distribution{"response": {l.Response, a.Response, b.Response}, "first byte": {l.Wire.FirstByte, a.Wire.FirstByte, b.Wire.FirstByte},
				"failed": {l.FailedResponse, a.FailedResponse, b.FailedResponse}} {
				if d[0].Count != d[1].Count+d[2].Count || *d[0].MinNS != min(*d[1].MinNS, *d[2].MinNS) || *d[0].MaxNS != max(*d[1].MaxNS, *d[2].MaxNS) || !near(d[0].SumNS, d[1].SumNS+d[2].SumNS) {
					t.Errorf("%s: %d times from %d to %d, of %d and %d", what, d[0].Count, *d[0].MinNS, *d[0].MaxNS, d[1].Count, d[2].Count)
				}
			}
			var inIntervals int64
			for _, iv := range l.Intervals {
				h, err := hist.Decode(iv.Histogram)
				if err != nil {
					t.Fatal(err)
				}
				inIntervals += h.Count()
			}
			if inIntervals != l.Response.Count {
				t.Errorf("%d times in intervals, want %d", inIntervals, l.Response.Count)
			}
			if !slices.IsSortedFunc(l.Intervals, func(x, y result.HistInterval) int { return int(x.StartNS - y.StartNS) }) || !slices.IsSortedFunc(l.Series, func(x, y result.Second) int { return int(x.TNS - y.TNS) }) {
				t.Error("seconds or intervals are not in order")
			}
			want := []int64{0, int64(len(a.Series)) * second}
			switch {
			case name == "rounds" && (l.Rounds != 2 || !slices.Equal(l.RoundStartsNS, want) || len(l.Series) != len(a.Series)+len(b.Series) || l.DurationNS != a.DurationNS+b.DurationNS || l.OfferedPerS > 1.2*a.OfferedPerS):
				t.Errorf("%d rounds from %v, want 2 from %v; %d seconds, %d ns, %v/s", l.Rounds, l.RoundStartsNS, want, len(l.Series), l.DurationNS, l.OfferedPerS)
			case name == "generators" && (l.Rounds != 0 || len(l.Series) != max(len(a.Series), len(b.Series)) || l.Segments[1].ToPerS != 200 || l.OfferedPerS < 1.8*a.OfferedPerS):
				t.Errorf("%d rounds, %d seconds, %v/s to %v/s", l.Rounds, len(l.Series), l.OfferedPerS, l.Segments[1].ToPerS)
			}
		})
	}
	other := copied(t, b)
	other.Segments = other.Segments[:1]
	if err := Append(copied(t, a), other); err == nil || !strings.Contains(err.Error(), "1 segments") {
		t.Errorf("another profile: %v", err)
	}
	other = copied(t, b)
	other.Service.Histogram = ""
	if err := Append(copied(t, a), other); err == nil || !strings.Contains(err.Error(), "without its histogram") {
		t.Errorf("no histogram: %v", err)
	}
}
