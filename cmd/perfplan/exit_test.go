package main

import (
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
