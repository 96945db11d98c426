package main

import (
	"fmt"
	"io"
	"time"
)

// A test is one of the suite.
type test struct {
	id, about string
	run       func(*rig, *sheet) error
	disturbs  bool // it makes tasks wait for a core itself
	netns     bool // it needs a network namespace of its own, and so root
}

// tests are in the order in which they run.
var tests = []test{
	{id: "T1", about: "fixed delay and the noise floor", run: testFixed},
	{id: "T2", about: "admission stall", run: testStall},
	{id: "T3", about: "work-conserving stall", run: testBacklog},
	{id: "T4", about: "every M-th slow", run: testBimodal},
	{id: "T5", about: "one server under declared arrivals", run: testQueue},
	{id: "T6", about: "overload and drain", run: testOverload},
	{id: "T7", about: "terminal hang", run: testHang},
	{id: "T8", about: "timeouts", run: testTimeouts},
	{id: "T9", about: "resets and replays", run: testResets},
	{id: "T10", about: "slow accept", run: testAccept, netns: true},
	{id: "T12", about: "stall at the start", run: testColdStart},
	{id: "T13", about: "arrivals at the server", run: testArrivals},
	{id: "T14", about: "a stall of the client", run: testFrozen, disturbs: true},
	{id: "T15", about: "in-flight cap", run: testCap},
	{id: "T16", about: "quantiles and merging", run: testLadder},
	{id: "T17", about: "out of ports", run: testPorts, netns: true},
	{id: "T18", about: "slow body", run: testBody},
}

// attempts is how often a run on a noisy machine is repeated.
const attempts = 5

// givenUp is after how many tests in a row that could not be judged the rest is
// not run.
const givenUp = 2

// A suite is what is to be run.
type suite struct {
	rig      *rig
	peers    []peer
	repeat   int
	wanted   func(id string) bool
	accept   bool // run once, however noisy the machine is
	progress io.Writer
}

// run runs the tests.
func (s *suite) run() (checks []check, err error) {
	inARow := 0
	for _, t := range tests {
		if !s.wanted(t.id) {
			continue
		}
		if inARow == givenUp {
			fmt.Fprintf(s.progress, "%s %s: not run, the machine is too noisy\n", t.id, t.about)
			checks = append(checks, check{Test: t.id, Tool: perfplan, Name: "not run", Unit: unitFlag, Timing: true, Noisy: true})
			continue
		}
		more, noisy, err := s.repeats(t)
		if err == nil {
			checks = append(checks, more...)
			more, err = s.beside(t)
		}
		if err != nil {
			return checks, fmt.Errorf("%s: %w", t.id, err)
		}
		checks = append(checks, more...)
		if inARow++; !noisy || s.accept {
			inARow = 0
		}
	}
	return checks, nil
}

// perfplan is the tool's name in the table.
const perfplan = "perfplan"

// repeats runs a test as often as asked for. noisy: the machine never was quiet
// enough for one of the runs, and so the rest was left out.
func (s *suite) repeats(t test) (checks []check, noisy bool, err error) {
	var all [][]check
	for i := range s.repeat {
		for try := 1; ; try++ {
			checks, fault, err := s.once(t, fmt.Sprintf("run %d of %d", i+1, s.repeat))
			if err != nil {
				return nil, false, err
			}
			if fault != "" && try < attempts && !s.accept {
				continue
			}
			for k := range checks {
				checks[k].Noisy = fault != ""
			}
			all = append(all, checks)
			noisy = noisy || fault != ""
			break
		}
		if noisy && !s.accept {
			break
		}
	}
	return merge(all), noisy, nil
}

// once makes one run of a test. fault says what made the machine too noisy.
func (s *suite) once(t test, which string) (checks []check, fault string, err error) {
	sh := &sheet{test: t.id, tool: perfplan}
	if t.netns { // a new one each time: what a run leaves in TIME_WAIT would take the next one's ports
		ns, err := newNetns()
		if err != nil {
			fmt.Fprintf(s.progress, "%s %s: not run, it needs root: %v\n", t.id, t.about, err)
			return nil, "", nil
		}
		defer ns.Close()
		s.rig.netns = ns
		defer func() { s.rig.netns = nil }()
	}
	n, err := s.watched(func() error { return t.run(s.rig, sh) })
	if err != nil {
		return nil, "", err
	}
	n.unjudged = s.rig.realtime || t.disturbs
	s.say(t.id+" "+t.about+", "+which, sh.checks, n)
	return sh.checks, n.fault(), nil
}

func (s *suite) say(what string, checks []check, n noise) {
	out := 0
	for _, c := range checks {
		if !c.OK {
			out++
		}
	}
	line := fmt.Sprintf("%s: %d checks, %d out of bar; pressure %.1f %%, steal %.1f %%, hold p99 %v", what, len(checks), out,
		100*n.pressure, 100*n.steal, n.hold.Round(time.Microsecond))
	if fault := n.fault(); fault != "" {
		line += "; too noisy: " + fault
	}
	fmt.Fprintln(s.progress, line)
}

// watched tells what disturbed the machine during do.
func (s *suite) watched(do func() error) (noise, error) {
	before, err := readCounters()
	if err != nil {
		return noise{}, err
	}
	s.rig.holds = nil
	if err := do(); err != nil {
		return noise{}, err
	}
	after, err := readCounters()
	return between(before, after, s.rig.holds), err
}
