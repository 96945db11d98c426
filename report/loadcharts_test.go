package report

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

func evenSeconds(n int) []result.Second {
	out := make([]result.Second, n)
	for i := range out {
		out[i] = result.Second{TNS: int64(i) * 1e9, Offered: 10, Completed: 10}
	}
	return out
}

// The drain and a last second that was cut short are not drawn as whole seconds.
func TestSecondsThatAreDrawn(t *testing.T) {
	tests := []struct {
		rows           int
		durationNS     int64
		offered, whole int
	}{
		{5, 5e9, 5, 5}, {6, 5e9, 5, 5}, {8, 5e9, 5, 5}, {6, 5.5e9, 6, 5}, {5, 4.999e9, 5, 5}, {1, 0.4e9, 1, 0}, {0, 0, 0, 0},
	}
	for _, test := range tests {
		l := &result.Load{Series: evenSeconds(test.rows), DurationNS: test.durationNS}
		if offered, whole := len(offeredSeconds(l)), len(wholeSeconds(l)); offered != test.offered || whole != test.whole {
			t.Errorf("of %d rows in %d ns: %d offered and %d whole, want %d and %d", test.rows, test.durationNS, offered, whole, test.offered, test.whole)
		}
	}
}

func TestFlightChartOnlyWhereItTells(t *testing.T) {
	for _, test := range []struct {
		most int64
		want bool
	}{{1, false}, {2, false}, {3, true}} {
		l := &result.Load{Series: evenSeconds(3), DurationNS: 3e9, Audit: result.Audit{MaxInFlight: test.most}}
		p, _ := seriesPart(l, &result.Stage{Load: l}, "x")
		var notes []string
		for _, f := range p.Charts {
			if strings.HasSuffix(f.Name, "-inflight") {
				notes = append(notes, f.Chart.Notes...)
			}
		}
		if got := len(notes) == 1 && strings.Contains(notes[0], "up to 3 were in flight"); got != test.want {
			t.Errorf("with %d in flight at most: chart and its note = %v (%q), want %v", test.most, got, notes, test.want)
		}
	}
}
