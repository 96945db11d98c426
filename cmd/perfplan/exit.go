package main

import (
	"fmt"

	"github.com/perfplan/perfplan/runner/result"
)

// Exit codes of every command. docs/cli.md explains them to users.
const (
	exitPass         = 0   // every SLO holds, or the command did what it was asked
	exitFailed       = 1   // an SLO failed
	exitUsage        = 2   // the command line cannot be understood
	exitPlan         = 3   // the plan cannot be read or has faults; nothing was started
	exitBroken       = 4   // the run or command could not be carried out
	exitInconclusive = 5   // nothing failed, but an SLO could not be decided
	exitInterrupted  = 130 // stopped by a signal; partial results were written
)

// exitCode is the exit code of a run that has ended. An interruption comes first, since the figures are partial;
// then a failed SLO, which stays a finding even if the run broke later.
func exitCode(r *result.Result) int {
	switch {
	case r.Interrupted:
		return exitInterrupted
	case r.Outcome == result.Fail:
		return exitFailed
	case r.Error != "":
		return exitBroken
	case r.Outcome == result.Pass:
		return exitPass
	}
	return exitInconclusive
}

// unfinished is the exit code of a run whose outputs could not be written: one that would have passed or been undecided
// has not done its job, but a failed SLO or an interruption stays what it is.
func unfinished(code int) int {
	if code == exitPass || code == exitInconclusive {
		return exitBroken
	}
	return code
}

// A failure ends a command with an exit code. Without err, all that there is to say has been printed.
type failure struct {
	code int
	err  error
}

func (f *failure) Error() string {
	if f.err == nil {
		return fmt.Sprintf("exit code %d", f.code)
	}
	return f.err.Error()
}

func (f *failure) Unwrap() error { return f.err }

// fail returns a failure with a message.
func fail(code int, format string, args ...any) error {
	return &failure{code: code, err: fmt.Errorf(format, args...)}
}

// exit returns a failure that has been explained already, or nil for exitPass.
func exit(code int) error {
	if code == exitPass {
		return nil
	}
	return &failure{code: code}
}
