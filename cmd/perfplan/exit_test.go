package main

import (
	"path/filepath"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

func TestExitCode(t *testing.T) {
	for _, tt := range []struct {
		r    result.Result
		want int
	}{
		{result.Result{Outcome: result.Pass}, 0},
		{result.Result{Outcome: result.Fail}, 1},
		{result.Result{Outcome: result.Fail, Error: "the target ended"}, 1},
		{result.Result{Outcome: result.Inconclusive, Error: "the target ended"}, 4},
		{result.Result{Outcome: result.Pass, Error: "the target ended"}, 4},
		{result.Result{Outcome: result.Inconclusive}, 5},
		{result.Result{}, 5}, // nothing known is never a pass
		{result.Result{Outcome: "?"}, 5},
		{result.Result{Outcome: result.Inconclusive, Interrupted: true}, 130},
		{result.Result{Outcome: result.Fail, Interrupted: true}, 130},
		{result.Result{Outcome: result.Pass, Interrupted: true, Error: "x"}, 130},
	} {
		if got := exitCode(&tt.r); got != tt.want {
			t.Errorf("exitCode(%s, error %q, interrupted %v) = %d, want %d", tt.r.Outcome, tt.r.Error, tt.r.Interrupted, got, tt.want)
		}
	}
}

// A result or report that cannot be written is told, and turns a pass into exit code 4. A failed SLO stays one.
func TestStoreFails(t *testing.T) {
	for before, want := range map[int]int{exitPass: exitBroken, exitInconclusive: exitBroken, exitFailed: exitFailed, exitBroken: exitBroken, exitInterrupted: exitInterrupted} {
		r := &result.Result{ExitCode: &before}
		if err := store(filepath.Join(t.TempDir(), "none"), r); err == nil {
			t.Error("store in a folder that does not exist: no error")
		}
		if *r.ExitCode != want {
			t.Errorf("store fails: exit code %d became %d, want %d", before, *r.ExitCode, want)
		}
	}
}
