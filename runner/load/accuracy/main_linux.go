package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Exit codes, see the package comment.
const (
	exitOK      = 0
	exitFailed  = 1
	exitUsage   = 2
	exitBroken  = 4
	exitTooMuch = 5
)

func main() {
	os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}

// run is the program, and each of the processes that it starts.
func run(args []string, in io.Reader, out, errs io.Writer) int {
	var err error
	switch {
	case len(args) > 0 && args[0] == "serve":
		err = serveMain(args[1:], in, out)
	case len(args) > 0 && args[0] == "generate":
		err = generate(in, out)
	case len(args) > 0 && args[0] == "spin":
		spin(in)
	default:
		return checkAll(args, out, errs)
	}
	if err != nil {
		fmt.Fprintln(errs, "accuracy:", err)
		return exitBroken
	}
	return exitOK
}

// options are the flags.
type options struct {
	repeat   int
	only     string
	engine   string
	full     bool
	json     bool
	peers    bool
	noisy    bool
	pin      bool
	realtime bool
}

func parse(args []string, errs io.Writer) (o options, err error) {
	f := flag.NewFlagSet("accuracy", flag.ContinueOnError)
	f.SetOutput(errs)
	f.IntVar(&o.repeat, "repeat", 5, "how often each test is run; all must be within the bars")
	f.StringVar(&o.only, "only", "", "tests to run, like T4,T6; all if empty")
	f.StringVar(&o.engine, "engine", "auto", "engine to check: auto, loop or goroutine")
	f.BoolVar(&o.full, "full", false, "runs of full length")
	f.BoolVar(&o.json, "json", false, "print JSON instead of a table")
	f.BoolVar(&o.peers, "peers", false, "run the load generators on PATH beside it")
	f.BoolVar(&o.noisy, "noisy", false, "go on on a noisy machine, without judging times")
	f.BoolVar(&o.pin, "pin", true, "server on core 0, load on the others")
	f.BoolVar(&o.realtime, "realtime", false, "real-time priority for server and load (needs root); the machine's pressure is not judged then")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	if o.repeat < 1 {
		return o, fmt.Errorf("got --repeat %d, want 1 or more", o.repeat)
	}
	for id := range strings.SplitSeq(o.only, ",") {
		if o.only != "" && !slices.ContainsFunc(tests, func(t test) bool { return t.id == id }) {
			return o, fmt.Errorf("no test %q", id)
		}
	}
	return o, nil
}

// checkAll runs the suite.
func checkAll(args []string, out, errs io.Writer) int {
	o, err := parse(args, errs)
	if errors.Is(err, flag.ErrHelp) {
		return exitOK
	}
	if err != nil {
		fmt.Fprintln(errs, "accuracy:", err)
		return exitUsage
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(errs, "accuracy:", err)
		return exitBroken
	}
	s := &suite{
		rig:    &rig{ctx: ctx, self: self, engine: o.engine, full: o.full, pin: o.pin, realtime: o.realtime},
		repeat: o.repeat, accept: o.noisy, progress: errs,
		wanted: func(id string) bool { return o.only == "" || slices.Contains(strings.Split(o.only, ","), id) },
	}
	if o.peers {
		s.peers = findPeers()
		fmt.Fprintf(errs, "peers: %s\n", strings.Join(names(s.peers), ", "))
	}
	if !o.noisy {
		if why, err := preflight(o.realtime); err != nil || why != "" {
			if err != nil {
				fmt.Fprintln(errs, "accuracy:", err)
				return exitBroken
			}
			fmt.Fprintf(errs, "accuracy: too noisy to judge before anything runs: %s (--noisy goes on)\n", why)
			return exitTooMuch
		}
	}
	checks, err := s.run()
	if o.json {
		err = errors.Join(err, writeJSON(out, checks))
	} else {
		err = errors.Join(err, writeTable(out, checks))
	}
	if err != nil {
		fmt.Fprintln(errs, "accuracy:", err)
		return exitBroken
	}
	return sum(checks, errs)
}

// preflight looks at the machine before anything runs.
func preflight(realtime bool) (string, error) {
	before, err := readCounters()
	if err != nil {
		return "", err
	}
	time.Sleep(2 * time.Second)
	after, err := readCounters()
	n := between(before, after, nil)
	n.unjudged = realtime
	return n.fault(), err
}

// sum says how it ended. Checks of peers are for comparison and decide nothing.
func sum(checks []check, errs io.Writer) int {
	failed, unjudged, all := 0, 0, 0
	for _, c := range checks {
		if c.Tool != "perfplan" {
			continue
		}
		all++
		switch c.verdict() {
		case verdictFail:
			failed++
		case verdictNoisy:
			unjudged++
		}
	}
	fmt.Fprintf(errs, "%d checks: %d failed, %d not judged\n", all, failed, unjudged)
	switch {
	case failed > 0:
		return exitFailed
	case unjudged > 0:
		fmt.Fprintln(errs, "accuracy: the machine was too noisy to judge all of it")
		return exitTooMuch
	}
	return exitOK
}

// writeJSON prints a list of checks; what is no number is null.
func writeJSON(out io.Writer, checks []check) error {
	type row struct {
		check
		Truth    *float64 `json:"truth"`
		Measured *float64 `json:"measured"`
		Error    *float64 `json:"error"`
		Bar      *float64 `json:"bar"`
		Verdict  string   `json:"verdict"` // ok, FAIL or noisy
	}
	number := func(x float64) *float64 {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil
		}
		return &x
	}
	rows := []row{}
	for _, c := range checks {
		rows = append(rows, row{c, number(c.Truth), number(c.Measured), number(c.Error), number(c.Bar), c.verdict()})
	}
	enc := json.NewEncoder(out)
	enc.SetIndent("", "  ")
	return enc.Encode(rows)
}
