package result

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// C-24: a record that contradicts itself is told by the key that does.
func TestReadRefusesContradictions(t *testing.T) {
	tests := []struct {
		spoil func(*Result)
		want  string
	}{
		{func(r *Result) { r.Outcome = "" }, `: outcome: got "", want "pass" or "inconclusive" or "fail"`},
		{func(r *Result) { r.Outcome = "great" }, `: outcome: got "great"`},
		{func(r *Result) { r.Outcome = Inconclusive }, `: outcome: got "inconclusive", which is better than "fail" of stages[0]`},
		{func(r *Result) { r.Stages[0].Outcome = Pass }, `: stages[0].outcome: got "pass", which is better than "fail" of stages[0].slo[0]`},
		{func(r *Result) { r.Stages[0].Kind = "lod" }, `: stages[0].kind: got "lod", want "microbenchmark"`},
		{func(r *Result) { r.Stages[0].State = "" }, `: stages[0].state: got ""`},
		{func(r *Result) { r.Stages[0].Outcome = "PASS" }, `: stages[0].outcome: got "PASS"`},
		{func(r *Result) { r.Stages = []Stage{{Kind: "load", State: Skipped, Outcome: Pass}} }, `: stages[0].outcome: got "pass" for a stage whose state is "skipped"`},
		{func(r *Result) { r.Stages[0].SLO[0].State = "ok" }, `: stages[0].slo[0].state: got "ok"`},
		{func(r *Result) { r.Stages[0].SLO[0].Outcome = "" }, `: stages[0].slo[0].outcome: got ""`},
		{func(r *Result) { r.Stages[0].SLO[0].State = StatePassed }, `: stages[0].slo[0].outcome: got "fail", want "pass" for the state "passed"`},
		{func(r *Result) { r.Stages[0].SLO[0].Samples = -1 }, `: stages[0].slo[0].samples: got -1, want a count`},
		{func(r *Result) { r.Stages[0].SLO[0].Segments = []SLOSegment{{Outcome: "bad", State: StateFailed}} }, `: stages[0].slo[0].segments[0].outcome: got "bad"`},
		{func(r *Result) { r.Warnings = []Warning{{Severity: "fatal"}} }, `: warnings[0].severity: got "fatal"`},
		{func(r *Result) { r.Stages[0].Warnings = []Warning{{Severity: ""}} }, `: stages[0].warnings[0].severity: got ""`},
		{func(r *Result) { r.Stages[0].Observation = &Observation{Warnings: []Warning{{}}} }, `: stages[0].observation.warnings[0].severity: got ""`},
		{func(r *Result) { r.Stages[0].Load.Offered, r.Stages[0].Load.Dropped = 6, -1 }, `: stages[0].load.dropped: got -1, want a count`},
		{func(r *Result) { r.Stages[0].Load.Offered = 8 }, `: stages[0].load.offered: got 8, want the sum of 7 sent and 0 dropped`},
		{func(r *Result) { r.Stages[0].Load.Completed = 5 }, `: stages[0].load.sent: got 7, want the sum of 5 completed, 0 failed and 0 unfinished`},
		{func(r *Result) { r.Stages[0].Load.Response.Count = -7 }, `: stages[0].load.response.count: got -7`},
		{func(r *Result) { r.Stages[0].Load.Errors = []Error{{Class: "nobody", Count: 1}} }, `: stages[0].load.errors[0].class: got "nobody"`},
		{func(r *Result) { r.Stages[0].Load.Segments = []Segment{{Kind: "jump"}} }, `: stages[0].load.segments[0].kind: got "jump"`},
		{func(r *Result) {
			r.Stages[0].Load.Segments = []Segment{{Kind: "hold", Counts: Counts{Sent: 1, Failed: 1}}}
		}, `: stages[0].load.segments[0].offered: got 0, want the sum of 1 sent and 0 dropped`},
		{func(r *Result) { r.Stages[0].Microbenchmark = &Microbenchmark{Sizes: []Size{{Samples: -3}}} }, `: stages[0].microbenchmark.sizes[0].samples: got -3`},
	}
	for _, test := range tests {
		r := sample()
		test.spoil(r)
		if err := readBack(t, r); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("Read = %v, want an error with %q", err, test.want)
		}
	}
}

// A run that was killed has no outcome yet, whatever a stage has come to.
func TestReadTakesARunUnderWay(t *testing.T) {
	r := sample()
	r.Finished, r.ExitCode, r.Outcome = nil, nil, Inconclusive
	if err := readBack(t, r); err != nil {
		t.Errorf("Read = %v, want the record", err)
	}
}

func readBack(t *testing.T, r *Result) error {
	t.Helper()
	dir := t.TempDir()
	if err := Write(dir, r); err != nil {
		t.Fatal(err)
	}
	_, err := Read(filepath.Join(dir, FileName))
	return err
}

func TestReadFileBound(t *testing.T) {
	path := filepath.Join(t.TempDir(), FileName)
	if err := os.WriteFile(path, []byte("12345"), 0o600); err != nil {
		t.Fatal(err)
	}
	if data, err := readFile(path, 5); err != nil || string(data) != "12345" {
		t.Errorf("readFile of 5 bytes, at most 5 = %q, %v", data, err)
	}
	if _, err := readFile(path, 4); err == nil || !strings.Contains(err.Error(), "more than 4 bytes") {
		t.Errorf("readFile of 5 bytes, at most 4: error %v", err)
	}
}
