//go:build linux

package load

import (
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"
)

func TestThrottledIn(t *testing.T) {
	for _, c := range []struct {
		text string
		unit float64
		want float64 // below 0: unknown
	}{
		{"usage_usec 5\nnr_periods 0\nthrottled_usec 1500\n", 1e3, 1.5e6},
		{"nr_periods 0\nnr_throttled 3\nthrottled_time 25\n", 1, 25},
		{"nr_periods 0\n", 1, -1},
		{"throttled_time many\n", 1, -1},
	} {
		file := filepath.Join(t.TempDir(), "cpu.stat")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got := throttledIn(file, c.unit)
		if c.want < 0 && got != nil || c.want >= 0 && (got == nil || *got != c.want) {
			t.Errorf("throttledIn(%q) = %v, want %v", c.text, got, c.want)
		}
	}
	if throttledIn("/no/such/file", 1) != nil {
		t.Error("a missing file: want unknown")
	}
}

func TestDifference(t *testing.T) {
	one, two := 1.0, 2.0
	if d := difference(&one, &two); d == nil || *d != 1 {
		t.Errorf("difference(1, 2) = %v", d)
	}
	for _, c := range [][2]*float64{{nil, &one}, {&one, nil}, {&two, &one}} {
		if d := difference(c[0], c[1]); d != nil {
			t.Errorf("difference of %v = %v, want unknown", c, *d)
		}
	}
}

func TestNewestPause(t *testing.T) {
	before := &metrics.Float64Histogram{Counts: []uint64{1, 2, 0}, Buckets: []float64{0, 1e-5, 1e-4, 1e-3}}
	after := &metrics.Float64Histogram{Counts: []uint64{1, 3, 0}, Buckets: before.Buckets}
	if got := newestPause(before, after); got == nil || *got != 100_000 {
		t.Errorf("newestPause = %v, want 100 µs", got)
	}
	if got := newestPause(after, after); got == nil || *got != 0 {
		t.Errorf("newestPause without a collection = %v, want 0", got)
	}
}

// The auditor sees this process burn its time and collect its garbage.
func TestAuditor(t *testing.T) {
	t.Parallel()
	base := time.Now()
	a := newAuditor(func() int64 { return int64(time.Since(base)) })
	a.start()
	before := *readUsage().cpu
	for *readUsage().cpu < before+0.05 {
	}
	runtime.GC()
	r := a.stop()
	if r.CPUShare == nil || *r.CPUShare <= 0 || r.GCPauseMaxNS == nil || *r.GCPauseMaxNS <= 0 || r.PauseMaxNS == nil || *r.PauseMaxNS <= 0 {
		t.Errorf("audit = cpu %v, gc %v, pause %v, want all above 0", r.CPUShare, r.GCPauseMaxNS, r.PauseMaxNS)
	}
	if r.StealShare == nil || *r.StealShare < 0 || *r.StealShare > 1 {
		t.Errorf("steal share = %v, want 0 to 1", r.StealShare)
	}
}
