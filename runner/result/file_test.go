package result

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
)

func sample() *Result {
	p99 := int64(20_000_000)
	value := 0.25
	finished := time.Date(2026, 1, 1, 0, 1, 0, 0, time.UTC)
	return &Result{
		SchemaVersion: SchemaVersion,
		Tool:          Tool{Name: ToolName, Version: "1.2.3"},
		RunID:         "20260101-000000-abcd",
		Plan:          Plan{Name: "predictor", Source: "slo: [p99 < 150ms]\n"},
		Started:       time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC),
		Finished:      &finished,
		Outcome:       Fail,
		ExitCode:      new(1),
		Stages: []Stage{{
			Name: "ladder", Kind: "load", Outcome: Fail, State: Complete,
			SLO:  []SLO{{Text: "p99 < 150ms", Op: "<", Limit: 150e6, Unit: "ns", Outcome: Fail, State: StateFailed, Value: &value}},
			Load: &Load{Counts: Counts{Offered: 7, Sent: 7, Completed: 7}, Response: Distribution{Count: 7, P99NS: &p99}, Status: map[string]int64{"503": 2, "200": 5}},
		}},
	}
}

func TestWriteRead(t *testing.T) {
	dir := t.TempDir()
	want := sample()
	for range 2 { // the second replaces the first
		if err := Write(dir, want); err != nil {
			t.Fatal(err)
		}
	}
	got, err := Read(filepath.Join(dir, FileName))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Read = %+v, want %+v", got, want)
	}
	first, _ := os.ReadFile(filepath.Join(dir, FileName))
	other := t.TempDir()
	if err := Write(other, got); err != nil {
		t.Fatal(err)
	}
	second, _ := os.ReadFile(filepath.Join(other, FileName))
	if !bytes.Equal(first, second) {
		t.Errorf("what was read writes other bytes:\n%s\nwant\n%s", second, first)
	}
	for _, want := range []string{`"p99 < 150ms"`, `"offered": 7`, `"min_ns": null`, "\n  \"run_id\": "} {
		if !strings.Contains(string(first), want) {
			t.Errorf("result.json has no %s:\n%s", want, first)
		}
	}
	if names, _ := filepath.Glob(filepath.Join(dir, ".*")); len(names) > 0 {
		t.Errorf("left behind: %v", names)
	}
}

// C-26: JSON has no NaN; the error names the key and an older file stays as it is.
func TestWriteRefusesNumbersThatAreNotFinite(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, sample()); err != nil {
		t.Fatal(err)
	}
	before, _ := os.ReadFile(filepath.Join(dir, FileName))
	tests := []struct {
		spoil func(*Result)
		want  string
	}{
		{func(r *Result) { r.Stages[0].Load.OfferedPerS = math.NaN() }, "stages[0].load.offered_per_s: got NaN"},
		{func(r *Result) { *r.Stages[0].SLO[0].Value = math.Inf(1) }, "stages[0].slo[0].value: got +Inf"},
		{func(r *Result) { r.Stages[0].Load.Response.SumNS = math.Inf(-1) }, "stages[0].load.response.sum_ns: got -Inf"},
		{func(r *Result) {
			r.Stages[0].Microbenchmark = &Microbenchmark{Sizes: []Size{{Forks: []Fork{{SamplesNS: []float64{1, math.NaN()}}}}}}
		}, "stages[0].microbenchmark.sizes[0].forks[0].samples_ns[1]: got NaN"},
	}
	for _, test := range tests {
		r := sample()
		test.spoil(r)
		err := Write(dir, r)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Write = %v, want an error with %q", err, test.want)
		}
	}
	after, _ := os.ReadFile(filepath.Join(dir, FileName))
	if !bytes.Equal(before, after) {
		t.Error("a refused record changed the file")
	}
}

// A run that has not ended has no exit code, least of all 0.
func TestExitCodeUnknown(t *testing.T) {
	r := sample()
	r.ExitCode = nil
	data, err := Encode(r)
	if err != nil || !strings.Contains(string(data), `"exit_code": null`) {
		t.Errorf("Encode = %s, %v, want exit_code null", data, err)
	}
}

func TestWriteWithoutFolder(t *testing.T) {
	if err := Write(filepath.Join(t.TempDir(), "absent"), sample()); err == nil {
		t.Error("Write into an absent folder = nil, want an error")
	}
}

// C-24: what is no record of ours is told apart from one.
func TestReadRefuses(t *testing.T) {
	whole, err := Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct{ name, text, want string }{
		{"empty", " \n", "the file is empty"},
		{"cut", string(whole[:len(whole)/2]), "ends early"},
		{"cut at the end", string(whole[:len(whole)-3]), "ends early"},
		{"not JSON", "p99 < 150ms", "not JSON"},
		{"other tool", `{"metrics": {"http_req_duration": {}}}`, "not a result of perfplan"},
		{"other tool with a version", `{"schema_version": 1, "tool": "k6"}`, "not a result of perfplan"},
		{"no version", `{"tool": {"name": "perfplan"}}`, "not a result of perfplan"},
		{"array", `[1, 2]`, "got a JSON array, want an object"},
		{"later version", strings.Replace(string(whole), `"schema_version": 1`, `"schema_version": 2`, 1), "schema_version: got 2, want 1 (written by perfplan 1.2.3)"},
		{"wrong kind", strings.Replace(string(whole), `"offered": 7`, `"offered": "seven"`, 1), "offered: got a JSON string"},
		{"null in place of a stage", `{"schema_version": 1, "tool": {"name": "perfplan"}, "outcome": "pass", "stages": [null]}`, "stages[0]: got null, want a stage"},
		{"two records", string(whole) + string(whole), "text after the record"},
	}
	for _, test := range tests {
		path := filepath.Join(t.TempDir(), FileName)
		if err := os.WriteFile(path, []byte(test.text), 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Read(path)
		if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), FileName) {
			t.Errorf("%s: Read = %v, %v, want an error with %q", test.name, r, err, test.want)
		}
	}
	dir := t.TempDir()
	for path, want := range map[string]string{dir: "got a folder", filepath.Join(dir, "absent.json"): "no such file"} {
		if _, err := Read(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%q) = %v, want an error with %q", path, err, want)
		}
	}
}

// C-33: a reader never sees half a record, however often it is rewritten.
func TestReadWhileWriting(t *testing.T) {
	dir := t.TempDir()
	if err := Write(dir, sample()); err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for range 20 {
			if err := Write(dir, sample()); err != nil {
				t.Error(err)
				return
			}
		}
	})
	for range 50 {
		if _, err := Read(filepath.Join(dir, FileName)); err != nil {
			t.Error(err)
			break
		}
	}
	wg.Wait()
}

func FuzzDecode(f *testing.F) {
	whole, err := Encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(whole)
	f.Add([]byte(`{"schema_version":1,"tool":{"name":"perfplan"},"stages":[{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, err := decode(data)
		if err != nil {
			return
		}
		once, err := Encode(r)
		if err != nil {
			t.Fatalf("a record that was read cannot be written: %v", err)
		}
		again, err := decode(once)
		if err != nil {
			t.Fatalf("a record that was written cannot be read: %v", err)
		}
		twice, err := Encode(again)
		if err != nil || !bytes.Equal(once, twice) || !json.Valid(once) {
			t.Errorf("Encode(decode(%s)) is not stable: %v", once, err)
		}
	})
}
