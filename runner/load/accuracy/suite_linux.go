package main

import (
	"fmt"
	"io"
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

// A suite is what is to be run.
type suite struct {
	rig      *rig
	repeat   int
	wanted   func(id string) bool
	accept   bool // run once, however noisy the machine is
	progress io.Writer
}

// run runs the tests. noisy has those whose times cannot be judged.
func (s *suite) run() (checks []check, noisy map[string]bool, err error) {
	noisy = map[string]bool{}
	given := 0 // tests in a row that were given up
	for _, t := range tests {
		if !s.wanted(t.id) {
			continue
		}
		if given == 2 && !s.accept {
			noisy[t.id] = true
			fmt.Fprintf(s.progress, "%s %s: not run, the machine is too noisy\n", t.id, t.about)
			continue
		}
		repeats, why, err := s.test(t)
		if err != nil {
			return checks, noisy, fmt.Errorf("%s: %w", t.id, err)
		}
		checks = append(checks, merge(repeats)...)
		if given++; why == "" {
			given = 0
		} else {
			noisy[t.id] = true
		}
	}
	return checks, noisy, nil
}

// test runs one test as often as it is to be repeated. why says what made the
// machine too noisy to judge times.
func (s *suite) test(t test) (repeats [][]check, why string, err error) {
	if t.netns {
		ns, err := newNetns()
		if err != nil {
			fmt.Fprintf(s.progress, "%s %s: not run, it needs root: %v\n", t.id, t.about, err)
			return nil, "", nil
		}
		defer ns.Close()
		s.rig.netns = ns
		defer func() { s.rig.netns = nil }()
	}
	for i := range s.repeat {
		for try := 1; ; try++ {
			checks, n, err := s.once(t)
			if err != nil {
				return repeats, "", err
			}
			n.unjudged = s.rig.realtime || t.disturbs
			fault := n.fault()
			failed := 0
			for _, c := range checks {
				if !c.OK {
					failed++
				}
			}
			fmt.Fprintf(s.progress, "%s %s, run %d of %d: %d checks, %d out of bar; pressure %.1f %%, steal %.1f %%, hold p99 %v %s\n",
				t.id, t.about, i+1, s.repeat, len(checks), failed, 100*n.pressure, 100*n.steal, n.hold.Round(1000), fault)
			if fault == "" || s.accept || try == attempts {
				repeats = append(repeats, checks)
				if fault != "" {
					why = fault
				}
				break
			}
		}
		if why != "" && !s.accept {
			return repeats, why, nil
		}
	}
	return repeats, why, nil
}

// once makes one run of a test.
func (s *suite) once(t test) ([]check, noise, error) {
	before, err := readCounters()
	if err != nil {
		return nil, noise{}, err
	}
	s.rig.holds = nil
	sh := &sheet{test: t.id, tool: "perfplan"}
	if err := t.run(s.rig, sh); err != nil {
		return nil, noise{}, err
	}
	after, err := readCounters()
	if err != nil {
		return nil, noise{}, err
	}
	return sh.checks, between(before, after, s.rig.holds), nil
}
