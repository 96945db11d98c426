package load

import (
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

// What is under way when the offering ends is no shortfall; a backlog that takes seconds to drain is.
func TestCompletedInTime(t *testing.T) {
	rows := func(completed ...int64) []result.Second {
		var out []result.Second
		for i, n := range completed {
			out = append(out, result.Second{TNS: int64(i) * second, Completed: n})
		}
		return out
	}
	fast, slow := int64(1e6), int64(2e9)
	tests := []struct {
		name    string
		fastest *int64
		series  []result.Second
		want    int64
	}{
		{"answers of 150 ms", &fast, rows(85, 100, 15), 200},
		{"one answer that hangs", &fast, rows(100, 99, 0, 0, 1), 199},
		{"half the rate", &fast, rows(50, 50, 50, 50), 150},
		{"answers of 2 s", &slow, rows(0, 0, 100, 100), 200},
		{"nothing", nil, rows(0, 0, 0), 0},
	}
	for _, tt := range tests {
		l := &result.Load{DurationNS: 2 * second, Series: tt.series, Service: result.Distribution{MinNS: tt.fastest}}
		if got := completedInTime(l); got != tt.want {
			t.Errorf("%s: completedInTime = %d, want %d", tt.name, got, tt.want)
		}
	}
}
