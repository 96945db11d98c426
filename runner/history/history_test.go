package history

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

// store writes a run whose p50 and p99 are these, in ms.
func store(t *testing.T, dir string, i int, p50, p99 float64) string {
	t.Helper()
	name := fmt.Sprintf("2026%04d-%06x", i, i)
	if err := os.MkdirAll(filepath.Join(dir, name), 0o777); err != nil {
		t.Fatal(err)
	}
	at := func(ms float64) *int64 { return new(int64(ms * 1e6)) }
	d := result.Distribution{Count: 1000, MinNS: at(1), P50NS: at(p50), P90NS: at(p50), P95NS: at(p99), P99NS: at(p99), P999NS: at(p99), MaxNS: at(p99), MeanNS: new(p50 * 1e6)}
	c := result.Counts{Offered: 1000, Sent: 1000, Completed: 1000}
	micro := 100 * p50
	r := &result.Result{SchemaVersion: result.SchemaVersion, Tool: result.Tool{Name: result.ToolName}, RunID: name, Plan: result.Plan{Name: "p", Hash: "h"}, Outcome: result.Pass,
		Started: time.Date(2026, 1, 1, 0, i, 0, 0, time.UTC), Finished: new(time.Date(2026, 1, 1, 0, i, 30, 0, time.UTC)), Environment: result.Environment{Commit: fmt.Sprintf("%040x", i), Fingerprint: "f"},
		Targets: []result.Target{}, Warnings: []result.Warning{}, Stages: []result.Stage{
			{Name: "hold", Kind: "load", State: result.Complete, Outcome: result.Pass, SLO: []result.SLO{}, Warnings: []result.Warning{},
				Load: &result.Load{Counts: c, ThroughputPerS: 100, Response: d, LimitsNS: []int64{}, Errors: []result.Error{}, Segments: []result.Segment{{Name: "hold 100/s", Kind: "hold", Counts: c, Response: d}}}},
			{Name: "predict", Kind: "microbenchmark", State: result.Complete, Outcome: result.Pass, SLO: []result.SLO{}, Warnings: []result.Warning{},
				Microbenchmark: &result.Microbenchmark{Sizes: []result.Size{{Size: 10, Samples: 1, P50NS: &micro, Forks: []result.Fork{}}}}}}}
	if err := result.Write(filepath.Join(dir, name), r); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestHistory(t *testing.T) {
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 2))
	const n, at = 500, 320
	for i := range n {
		f := math.Exp(0.03 * r.NormFloat64())
		if i >= at {
			f *= 1.08
		}
		store(t, dir, i, 5*f, 20*math.Exp(0.03*r.NormFloat64()))
	}
	h, err := Load(dir, false)
	if err != nil || len(h.Runs) != n || h.Read != n || len(h.Problems) > 0 {
		t.Fatalf("%d runs, %d read, problems %v, %v", len(h.Runs), h.Read, h.Problems, err)
	}
	first, err := os.ReadFile(filepath.Join(dir, IndexName))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, trend := range Trends(h.Runs, 0.05) {
		switch trend.Series {
		case "hold: p50", "hold: p90", "predict: time p50 of size 10":
			found++
			if len(trend.Points) != 1 || trend.Points[0].Run < at-2 || trend.Points[0].Run > at+2 || math.Abs(trend.Points[0].Change-0.08) > 0.02 {
				t.Errorf("%s: %+v, want one of 8 %% at %d", trend.Series, trend.Points, at)
			}
		default:
			if len(trend.Points) > 0 || len(trend.Values) != n {
				t.Errorf("%s: %+v, %d values, want no change", trend.Series, trend.Points, len(trend.Values))
			}
		}
	}
	if found != 3 {
		t.Errorf("%d series with the step, want 3", found)
	}

	// the index saves reading, is the same when it is made again, and a damaged one does no harm
	if h, _ := Load(dir, false); h.Read != 0 || len(h.Runs) != n {
		t.Errorf("with an index %d records were read, %d runs", h.Read, len(h.Runs))
	}
	if h, _ := Load(dir, true); h.Read != n {
		t.Errorf("afresh %d records were read", h.Read)
	}
	if again, _ := os.ReadFile(filepath.Join(dir, IndexName)); !bytes.Equal(first, again) {
		t.Error("the index made again is another one")
	}
	if err := os.WriteFile(filepath.Join(dir, IndexName), first[:len(first)/2], 0o600); err != nil {
		t.Fatal(err)
	}
	h, err = Load(dir, false)
	if again, _ := os.ReadFile(filepath.Join(dir, IndexName)); err != nil || len(h.Runs) != n || !bytes.Equal(first, again) {
		t.Errorf("after damage: %d runs, %v", len(h.Runs), err)
	}
}

func TestLoadLeavesOut(t *testing.T) {
	dir := t.TempDir()
	good := store(t, dir, 1, 5, 20)
	for name, text := range map[string]string{"damaged": "{", "other": `{"schema_version": 9}`} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name, result.FileName), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "empty"), 0o777); err != nil {
		t.Fatal(err)
	}
	under := filepath.Join(dir, store(t, dir, 2, 5, 20))
	r, err := result.Read(filepath.Join(under, result.FileName))
	if err != nil {
		t.Fatal(err)
	}
	r.Finished = nil
	if err := result.Write(under, r); err != nil {
		t.Fatal(err)
	}
	invalid := filepath.Join(dir, store(t, dir, 3, 500, 20))
	if r, err = result.Read(filepath.Join(invalid, result.FileName)); err != nil {
		t.Fatal(err)
	}
	r.Stages[0].Warnings = []result.Warning{{Code: "x", Severity: result.Invalid}}
	r.Stages[0].Outcome, r.Outcome = result.Inconclusive, result.Inconclusive
	if err := result.Write(invalid, r); err != nil {
		t.Fatal(err)
	}
	h, err := Load(dir, false)
	if err != nil || len(h.Runs) != 2 || h.Runs[0].Folder != good || len(h.Problems) != 2 {
		t.Fatalf("%+v, %v, want two runs and two problems", h, err)
	}
	if slices.ContainsFunc(h.Runs[1].Figures, func(f Figure) bool { return f.Stage == "hold" }) {
		t.Errorf("a stage that is not valid has figures: %+v", h.Runs[1].Figures)
	}
	if _, err := Load(filepath.Join(dir, "gone"), false); err == nil {
		t.Error("a folder that is not there gave no error")
	}
}

func TestPrune(t *testing.T) {
	dir := t.TempDir()
	var names []string
	for i := range 6 {
		names = append(names, store(t, dir, i, 5, 20))
	}
	if err := os.Symlink(names[1], filepath.Join(dir, "latest")); err != nil {
		t.Skip("no links here")
	}
	if err := os.Mkdir(filepath.Join(dir, "mine"), 0o777); err != nil {
		t.Fatal(err)
	}
	gone, err := Prune(dir, 2)
	if want := []string{names[0], names[2], names[3]}; err != nil || !slices.Equal(gone, want) {
		t.Fatalf("Prune = %v, %v, want %v", gone, err, want)
	}
	h, err := Load(dir, false)
	if err != nil || len(h.Runs) != 3 || h.Read != 0 {
		t.Errorf("afterwards %d runs, %d read, %v", len(h.Runs), h.Read, err)
	}
	if _, err := os.Stat(filepath.Join(dir, "mine")); err != nil {
		t.Error("a folder that is no run is gone")
	}
}
