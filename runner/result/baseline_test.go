package result

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// sampleRun is a run of each kind of stage.
func sampleRun(id string) *Result {
	ns, mean, f := int64(5e6), 5e6, 5e6
	d := Distribution{Count: 100, MinNS: &ns, MeanNS: &mean, P50NS: &ns, P90NS: &ns, P95NS: &ns, P99NS: &ns, P999NS: &ns, MaxNS: &ns, Histogram: "HISTFAAAAAAA"}
	counts := Counts{Offered: 100, Sent: 100, Completed: 100}
	load := &Load{Counts: counts, Response: d, Service: d, ThroughputPerS: 10, LimitsNS: []int64{}, Errors: []Error{{Class: "target", Kind: "status"}}, Status: map[string]int64{"200": 100},
		Segments: []Segment{{Name: "hold 10/s", Kind: "hold", Counts: counts, Response: d, Service: d, Lag: d}}, Series: []Second{{}}, Hosts: []Host{}}
	micro := &Microbenchmark{Kind: "command", Command: "x", Forks: 1, Samples: 1, Sizes: []Size{{Size: 1, Samples: 1, Iterations: 1, P50NS: &f, Outliers: []Outlier{{NS: 1}},
		Forks: []Fork{{Settled: true, WarmupNS: []float64{1, 2, 3}, SamplesNS: []float64{5e6}}}}}}
	return &Result{SchemaVersion: SchemaVersion, Tool: Tool{ToolName, "1"}, RunID: id, Plan: Plan{Name: "p", Path: "p.yaml", Hash: "sha256:ab", Source: "version: 1"}, Started: time.Date(2026, 12, 1, 10, 0, 0, 0, time.UTC),
		Outcome: Pass, Environment: Environment{Hostname: "secret-host", Fingerprint: "f"}, Targets: []Target{{Name: "t"}}, Warnings: []Warning{},
		Stages: []Stage{{Name: "hold", Kind: "load", Outcome: Pass, State: Complete, SLO: []SLO{}, Load: load, Observation: &Observation{}, Warnings: []Warning{}},
			{Name: "micro", Kind: "microbenchmark", Outcome: Pass, State: Complete, SLO: []SLO{}, Microbenchmark: micro, Warnings: []Warning{}}}}
}

func baselineFile(t *testing.T, runs ...*Result) (string, []byte) {
	t.Helper()
	b := &Baseline{Plan: runs[0].Plan}
	for _, r := range runs {
		b.Runs = append(b.Runs, Prune(r))
	}
	path := filepath.Join(t.TempDir(), "b.json")
	if err := WriteBaseline(path, b); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return path, data
}

func TestBaseline(t *testing.T) {
	first := sampleRun("1")
	path, data := baselineFile(t, first, sampleRun("2"))
	b, err := ReadBaseline(path)
	if err != nil || len(b.Runs) != 2 || b.Runs[1].RunID != "2" || b.Version != 1 {
		t.Fatalf("ReadBaseline = %+v, %v", b, err)
	}
	st := b.Runs[0].Stages
	if st[0].Load.Response.Histogram == "" || *st[0].Load.Segments[0].Response.P99NS != 5e6 || st[1].Microbenchmark.Sizes[0].Forks[0].SamplesNS[0] != 5e6 {
		t.Errorf("what is compared is not kept: %+v", st)
	}
	for _, gone := range []string{"secret-host", `"source": "version`, `"1,\n"`} {
		if bytes.Contains(data, []byte(gone)) {
			t.Errorf("%q is in the file", gone)
		}
	}
	if first.Stages[0].Load.Series == nil || first.Stages[1].Microbenchmark.Sizes[0].Outliers == nil || len(first.Stages[1].Microbenchmark.Sizes[0].Forks[0].WarmupNS) != 3 {
		t.Error("Prune changed the record that it was given")
	}
	if again, _ := EncodeBaseline(b); !bytes.Equal(again, data) {
		t.Error("the same runs give other bytes")
	}
	if all, err := ReadRuns(path); err != nil || len(all) != 2 {
		t.Errorf("ReadRuns of a baseline: %d, %v", len(all), err)
	}
	dir := t.TempDir()
	if err := Write(dir, first); err != nil {
		t.Fatal(err)
	}
	if all, err := ReadRuns(filepath.Join(dir, FileName)); err != nil || len(all) != 1 || all[0].RunID != "1" {
		t.Errorf("ReadRuns of a record: %v, %v", all, err)
	}
	if err := os.WriteFile(path, bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadBaseline(path); err != nil {
		t.Errorf("with line ends of another system: %v", err)
	}
}

// C-24: a file that is cut at any byte, or has any bit turned, is refused, and says why in a line.
func TestBaselineDamaged(t *testing.T) {
	_, data := baselineFile(t, sampleRun("1"))
	refused := func(what string, damaged []byte) {
		t.Helper()
		b, err := decodeBaseline(damaged)
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Fatalf("%s: %+v, %v, want a refusal", what, b, err)
		}
	}
	for n := range len(data) {
		refused(fmt.Sprintf("the first %d bytes", n), data[:n])
	}
	for i := range data {
		for bit := range 8 {
			damaged := bytes.Clone(data)
			damaged[i] ^= 1 << bit
			refused(fmt.Sprintf("bit %d of byte %d", bit, i), damaged)
		}
	}
	refused("twice", append(bytes.Clone(data), data...))
}

func TestBaselineRefused(t *testing.T) {
	_, data := baselineFile(t, sampleRun("1"))
	sign := func(text string) []byte {
		body, _, _ := strings.Cut(text, "\n \"sha256\"")
		body += "\n"
		sum := sha256.Sum256([]byte(body))
		return fmt.Appendf([]byte(body), " \"sha256\": %q\n}\n", hex.EncodeToString(sum[:]))
	}
	change := func(old, new string) []byte {
		if !bytes.Contains(data, []byte(old)) {
			t.Fatalf("no %s in the file", old)
		}
		return sign(strings.ReplaceAll(string(data), old, new))
	}
	for _, tt := range []struct {
		data []byte
		want string
	}{
		{nil, "the file is empty"},
		{[]byte("{}"), `not a baseline: want the key format "perfplan-baseline"`},
		{[]byte(`[]`), "got a JSON array, want an object"},
		{change(`"version": 1,`, `"version": 2,`), "version: got 2, this perfplan reads up to 1: it was written by a newer one"},
		{change(`"version": 1,`, `"version": 0,`), "version: got 0, want 1"},
		{change(`"schema_version": 1`, `"schema_version": 7`), "runs[0].schema_version: got 7, want 1"},
		{change(`"completed": 100`, `"completed": 99`), "runs[0].stages[0]"},
		{change(`"outcome": "pass"`, `"outcome": "fine"`), `runs[0].outcome: got "fine"`},
		{sign(" \"format\""), ""},
		{bytes.Replace(data, []byte(`"completed": 100`), []byte(`"completed": 101`), 1), "sha256: the content is not what was written"},
	} {
		b, err := decodeBaseline(tt.data)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%.60s…: %+v, %v, want %s", tt.data, b, err, tt.want)
		}
	}
	for path, want := range map[string]string{"gone.json": "no such file", t.TempDir(): "got a folder"} {
		if _, err := ReadBaseline(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", path, err, want)
		}
		if _, err := ReadRuns(path); err == nil {
			t.Errorf("ReadRuns(%s) gave no error", path)
		}
	}
}
