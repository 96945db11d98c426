package bench

import (
	"fmt"
	"math"
	"os"
	"strconv"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
	"github.com/perfplan/perfplan/runner/verdict"
)

// rounds is how often the truth is looked for: BENCH_MICRO, else the test is left out (make bench-micro).
func rounds(t *testing.T) int {
	t.Helper()
	n, err := strconv.Atoi(os.Getenv("BENCH_MICRO"))
	if err != nil || n < 1 {
		t.Skip("BENCH_MICRO=20 runs it; it takes minutes, and its bars are for a quiet machine")
	}
	return n
}

func measure(t *testing.T, cfg Config) *result.Microbenchmark {
	t.Helper()
	mb, _, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	return mb
}

// Growth of a known class and slope: all runs find the class, and the slope within 2 %.
func TestTruthGrowth(t *testing.T) {
	n := rounds(t)
	for _, tt := range []struct {
		mode, class string
		slope       float64 // ns a row, 0: not linear
	}{{"busy linear", "linear", 5000}, {"busy n log n", "linearithmic", 0}, {"busy quadratic", "quadratic", 0}} {
		right, worst := 0, 0.0
		for i := range n {
			cfg := plan(tt.mode, 20, 40, 60, 80, 100, 130, 160, 200)
			cfg.Forks, cfg.Samples, cfg.MinTime, cfg.Seed = 3, 12, 2*time.Millisecond, uint64(i)
			cfg.Warmup = plans.Until{AtMost: 10 * time.Millisecond}
			f := measure(t, cfg).Fit(nil)
			if f.Class == tt.class {
				right++
			}
			if tt.slope > 0 {
				worst = max(worst, math.Abs(f.SlopeNS/tt.slope-1))
			}
		}
		fmt.Printf("%-16s class %s in %d of %d runs, slope off by at most %.2f %%\n", tt.mode, tt.class, right, n, 100*worst)
		if right < n || worst > 0.02 {
			t.Errorf("%s: the class is right in %d of %d runs, the slope off by %.2f %%", tt.mode, right, n, 100*worst)
		}
	}
}

// A warm-up of 40 iterations at three times the cost is found within five iterations, and none of them is in the result; a
// drift without end never settles.
func TestTruthWarmup(t *testing.T) {
	n := rounds(t)
	off, found := int64(0), 0
	for range n {
		cfg := plan("busy plateau", 1)
		cfg.Forks, cfg.Samples, cfg.MinTime = 1, 12, 2*time.Millisecond
		cfg.Warmup = plans.Until{Steady: true, AtMost: 5 * time.Second}
		f := measure(t, cfg).Sizes[0].Forks[0]
		if f.SettledIterations == nil {
			continue
		}
		d := *f.SettledIterations - 40
		if d < 0 {
			d = -d
		}
		off = max(off, d)
		if d <= 5 && stats.Median(f.SamplesNS) < 130_000 {
			found++
		}
	}
	fmt.Printf("warm-up of 40 iterations found within 5 in %d of %d runs, at most %d off\n", found, n, off)
	if found < n {
		t.Errorf("found in %d of %d runs, %d off", found, n, off)
	}
	settled := 0
	for range n {
		cfg := plan("busy drift", 1)
		cfg.Forks, cfg.Samples, cfg.MinTime = 1, 4, 2*time.Millisecond
		cfg.Warmup = plans.Until{Steady: true, AtMost: time.Second}
		if measure(t, cfg).Sizes[0].Forks[0].Settled {
			settled++
		}
	}
	fmt.Printf("drift without end called settled in %d of %d runs\n", settled, n)
	if settled > 0 {
		t.Errorf("a drift settled in %d of %d runs", settled, n)
	}
}

// The same subject twice is called slower in at most 5 of 100 comparisons, one with 10 % more work in at least 95.
func TestTruthComparison(t *testing.T) {
	n := 5 * rounds(t)
	const margin = 0.05
	run := func(mode string, seed int) *result.Microbenchmark {
		cfg := plan(mode, 300)
		cfg.Forks, cfg.Samples, cfg.MinTime, cfg.Seed = 6, 12, 4*time.Millisecond, uint64(seed)
		cfg.Warmup = plans.Until{AtMost: 20 * time.Millisecond}
		return measure(t, cfg)
	}
	slower := func(a, b *result.Microbenchmark) bool {
		return verdict.CompareBench([]*result.Microbenchmark{a}, nil, b, margin).Cells[0].Verdict == result.DeltaSlower
	}
	var like []*result.Microbenchmark
	alarms, found := 0, 0
	for i := range n {
		a := run("busy steps", 3*i)
		more := run("busy more steps", 3*i+1)
		b := run("busy steps", 3*i+2)
		like = append(like, a, b)
		if slower(a, b) {
			alarms++
		}
		if slower(a, more) {
			found++
		}
	}
	c := verdict.CalibrateBench(like, margin)
	fmt.Printf("the same work called slower in %d of %d comparisons, 10 %% more work in %d (margin %.0f %%); smallest change found in 95 of 100: %.0f %%\n",
		alarms, n, found, 100*margin, 100*c.Visible)
	if 20*alarms > n || 20*found < 19*n {
		t.Errorf("%d false alarms, %d found of %d", alarms, found, n)
	}
}
