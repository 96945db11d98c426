package main

import (
	"os"
	"os/signal"
	"syscall"
)

// noSIGPIPE keeps a closed standard output from ending the process: writes then return EPIPE. The signal is caught,
// not ignored, because child processes inherit what is ignored.
func noSIGPIPE() {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
}
