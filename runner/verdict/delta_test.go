package verdict

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// cell is a place of the grid whose forks have these medians, in ms.
func cell(size int, medians ...float64) result.Size {
	z := result.Size{Size: size, Samples: int64(len(medians))}
	for _, m := range medians {
		z.Forks = append(z.Forks, result.Fork{Settled: true, SamplesNS: []float64{m * 1e6}})
	}
	return z
}

func TestBenchAgainst(t *testing.T) {
	base := &result.Microbenchmark{Sizes: []result.Size{cell(1, 10, 10.1, 9.9), cell(2, 20, 20.1, 19.9)}}
	for _, tt := range []struct {
		slo  string
		now  []result.Size
		want string
		says string
	}{
		{"time p50 <= baseline + 10%", base.Sizes, result.StatePassed, "it holds in all 2 cells"},
		{"time p50 <= baseline + 10%", []result.Size{cell(1, 10, 10.1, 9.9), cell(2, 24, 24.2, 23.8)}, result.StateFailed, "+20% from 20 ms of the stored forks, allowed is +10%; surely a change"},
		{"time[size=1] p50 <= baseline + 10%", []result.Size{cell(1, 10, 10.1, 9.9), cell(2, 24, 24.2, 23.8)}, result.StatePassed, "no worse than"},
		{"time p50 <= baseline + 10%", []result.Size{cell(1, 5, 5.1, 4.9), cell(2, 10, 10.1, 9.9)}, result.StatePassed, "it holds"}, // faster
		{"time p50 <= baseline + 10%", []result.Size{cell(1, 10, 14, 12), cell(2, 20, 20.1, 19.9)}, result.StateInconclusive, "anywhere from"},
		{"time p50 <= baseline + 10%", []result.Size{cell(1, 10, 10.1, 9.9), cell(2, 12, 33, 20)}, result.StateInconclusive, "anywhere from"},
		{"time p50 <= baseline + 10% or 5ms", []result.Size{cell(1, 10, 10.1, 9.9), cell(2, 24, 24.2, 23.8)}, result.StatePassed, "it holds"},
		{"time p50 <= baseline + 10%", []result.Size{cell(2, 20, 20.1, 19.9), cell(3, 90, 91, 89)}, result.StatePassed, "1 more cells are new"},
		{"time p50 <= baseline + 10%", []result.Size{cell(3, 90, 91, 89)}, result.StateNoData, "no such cell"},
		{"time p50 <= baseline + 10%", []result.Size{cell(1, 10)}, result.StatePassed, "allowed is +10%"},
		{"time p50 <= baseline + 10%", []result.Size{cell(1, 12)}, result.StateInconclusive, "fewer than 3 forks"},
		{"time p50 >= baseline - 10%", []result.Size{cell(1, 8, 8.1, 7.9)}, result.StateFailed, "surely a change"},
		{"alloc_bytes <= baseline + 10%", base.Sizes, result.StateNoData, "no allocations"},
	} {
		st := &result.Stage{State: result.Complete, Microbenchmark: &result.Microbenchmark{Sizes: tt.now}}
		StageAgainst(&plans.Stage{Work: &plans.Microbenchmark{}, SLOs: parse(t, tt.slo)}, st, Baselines{Stages: []*result.Stage{{Microbenchmark: base}}, IDs: []string{"a"}})
		if got := st.SLO[0]; got.State != tt.want || !strings.Contains(got.Reason, tt.says) {
			t.Errorf("%s: %s (%s), want %s, %s", tt.slo, got.State, got.Reason, tt.want, tt.says)
		}
	}
}

// What is counted does not scatter: a breach is one, from one stored run on.
func TestCountsAgainst(t *testing.T) {
	with := func(bytes float64) *result.Microbenchmark {
		z := cell(1, 10, 10, 10)
		z.AllocBytes, z.Instructions = &bytes, &bytes
		return &result.Microbenchmark{Sizes: []result.Size{z}}
	}
	for now, want := range map[float64]string{100: result.StatePassed, 104: result.StatePassed, 106: result.StateFailed, 50: result.StatePassed} {
		for _, metric := range []string{"alloc_bytes", "instructions"} {
			st := &result.Stage{State: result.Complete, Microbenchmark: with(now)}
			StageAgainst(&plans.Stage{Work: &plans.Microbenchmark{}, SLOs: parse(t, metric+" <= baseline + 5%")}, st, Baselines{Stages: []*result.Stage{{Microbenchmark: with(100)}}})
			if got := st.SLO[0]; got.State != want {
				t.Errorf("%s of %v after 100: %s (%s), want %s", metric, now, got.State, got.Reason, want)
			}
		}
	}
}

func TestCompareBench(t *testing.T) {
	base := &result.Microbenchmark{Sizes: []result.Size{cell(1, 10, 10.1, 9.9), cell(2, 10, 10.1, 9.9), cell(3, 10, 10.1, 9.9), cell(4, 10, 20, 30), cell(5, 10, 10, 10), cell(6, 10)}}
	now := &result.Microbenchmark{Sizes: []result.Size{cell(1, 10, 10.1, 9.9), cell(2, 12, 12.1, 11.9), cell(3, 8, 8.1, 7.9), cell(4, 30, 20, 10), cell(6, 12), cell(7, 1, 1, 1)}}
	d := CompareBench([]*result.Microbenchmark{base}, []string{"a"}, now, 0.05)
	want := map[int]string{1: result.DeltaSame, 2: result.DeltaSlower, 3: result.DeltaFaster, 4: result.DeltaUnclear, 6: result.DeltaUnclear}
	if len(d.Cells) != len(want) || len(d.New) != 1 || d.New[0] != "size 7" || len(d.Vanished) != 1 || d.Vanished[0] != "size 5" {
		t.Fatalf("%d cells, new %v, vanished %v", len(d.Cells), d.New, d.Vanished)
	}
	for _, c := range d.Cells {
		if c.Verdict != want[c.Size] || (c.Interval == nil) != (c.Size == 6) {
			t.Errorf("size %d: %s by %v, %+v, want %s", c.Size, c.Verdict, c.Change, c.Interval, want[c.Size])
		}
	}
}

// Forks of runs that differ in nothing are called slower in no more comparisons than is said.
func TestCalibrateBench(t *testing.T) {
	var like []*result.Microbenchmark
	for i := range 20 {
		f := 1 + 0.002*float64(i%3)
		like = append(like, &result.Microbenchmark{Sizes: []result.Size{cell(1, 10*f, 10.05*f, 9.95*f, 10*f), cell(2, 20*f, 20.1*f, 19.9*f, 20*f)}})
	}
	c := CalibrateBench(like, 0.05)
	if c.Pairs != 10 || c.FalseAlarms != 0 || c.Found != 10 || c.Visible < 0.05 || c.Visible > 0.07 {
		t.Errorf("%+v, want 10 pairs, no false alarm, 10 %% found in all, 5 to 7 %% seen", c)
	}
}
