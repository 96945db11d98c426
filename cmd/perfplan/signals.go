package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/perfplan/perfplan/runner/process"
)

// noSIGPIPE keeps a closed standard output from ending the process: writes then return EPIPE. The signal is caught,
// not ignored, because child processes inherit what is ignored.
func noSIGPIPE() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}

// interruptible returns a context that the first SIGINT, SIGTERM or SIGHUP ends, after a call of said. The second one
// and any SIGQUIT kill all descendants and exit at once. A SIGHUP that nohup(1) has switched off stays so. Call release
// in the end.
func interruptible(ctx context.Context, sweeper *process.Sweeper, said func(os.Signal)) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancel(ctx)
	wanted := []os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGQUIT}
	if !signal.Ignored(syscall.SIGHUP) {
		wanted = append(wanted, syscall.SIGHUP)
	}
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, wanted...)
	done := make(chan struct{})
	go func() {
		for n := 0; ; n++ {
			select {
			case <-done:
				return
			case sig := <-signals:
				if n > 0 || sig == syscall.SIGQUIT {
					_ = sweeper.Sweep() // there is nobody left to tell
					os.Exit(exitInterrupted)
				}
				said(sig)
				cancel()
			}
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		close(done)
		cancel()
	}
}
