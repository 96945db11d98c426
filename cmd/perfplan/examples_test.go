package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

// Every folder of examples has a README and a plan that runs to its end and passes, from its own folder, as the README says.
// On a machine that other programs keep busy a verdict may stay open; then the run is not judged, but must have ended well.
func TestExamples(t *testing.T) {
	plans, err := filepath.Glob("../../examples/*/plan.yaml")
	if err != nil || len(plans) < 3 {
		t.Fatalf("examples: %v, %v, want at least 3", plans, err)
	}
	for _, plan := range plans {
		dir := filepath.Dir(plan)
		t.Run(filepath.Base(dir), func(t *testing.T) {
			if _, err := os.Stat(filepath.Join(dir, "README.md")); err != nil {
				t.Error(err)
			}
			for ending, program := range map[string]string{"*.py": "python3", "*.mjs": "node"} {
				if files, _ := filepath.Glob(filepath.Join(dir, ending)); len(files) > 0 {
					if _, err := exec.LookPath(program); err != nil {
						t.Skip("needs " + program)
					}
				}
			}
			out := t.TempDir()
			run := exec.Command("perfplan", "run", "--quiet", "--out", out, "plan.yaml")
			run.Dir = dir
			said, err := run.CombinedOutput()
			found, _ := filepath.Glob(filepath.Join(out, "*", "latest", "result.json"))
			if len(found) != 1 {
				t.Fatalf("no result: %v\n%s", err, said)
			}
			r, readErr := result.Read(found[0])
			if readErr != nil {
				t.Fatal(readErr)
			}
			if r.Error != "" || r.ExitCode == nil || *r.ExitCode != 0 && *r.ExitCode != 5 {
				t.Fatalf("exit %d, error %q\n%s", run.ProcessState.ExitCode(), r.Error, said)
			}
			for _, st := range r.Stages {
				for _, w := range st.Warnings {
					if st.Microbenchmark != nil && w.Code == "checksum" {
						t.Errorf("stage %s: %s", st.Name, w.Text)
					}
				}
				if l := st.Load; l != nil && (l.Completed == 0 || l.Failed > 0) {
					t.Errorf("stage %s: %+v, want all completed", st.Name, l.Counts)
				}
			}
			if *r.ExitCode == 5 {
				t.Logf("open on this machine: %s", r.Reason)
			}
		})
	}
}

// A predictor that scores row by row does not pass the gate of the shipped plan. A busy machine may leave that open, but no more.
func TestSlowPathFails(t *testing.T) {
	out := t.TempDir()
	run := exec.Command("perfplan", "bench", "--quiet", "--out", out,
		"--set", "stages.predict.microbenchmark.subject.command=.perfplan/bin/predictor bench --slow-path",
		"--set", "stages.predict.microbenchmark.sizes=[1000, 2000, 3000, 4000, 5000, 10000]", "--set", "stages.predict.microbenchmark.samples=5", "plans/predictor.yaml")
	run.Dir = "../.."
	said, _ := run.CombinedOutput()
	r, err := result.Read(filepath.Join(out, "predictor", "latest", "result.json"))
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	code := run.ProcessState.ExitCode()
	slo := r.Stages[0].SLO[2]
	if r.Stages[0].Name != "predict" || slo.Metric != "slope" || slo.Value == nil || *slo.Value < 1000 || slo.Outcome == result.Pass || code != 1 && code != 5 {
		t.Errorf("exit %d, %s: %v, %s\n%s", code, slo.Text, slo.Value, slo.Outcome, said)
	}
}
