package main

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"
)

// A peer is another load generator, as it is run here.
type peer struct {
	name    string // in the table
	program string // on PATH
	closed  bool   // closed model: it has no rate, so numbers of requests say nothing
	lasting bool   // it cannot open a connection per request
	// skips is what the tool leaves out at its start, so that it runs for longer by that.
	skips   time.Duration
	command func(o offer) []string
	read    func(o offer, out []byte) (figures, error)
}

// An offer is what a peer is asked for: rate requests a second for over.
type offer struct {
	program string
	url     string
	rate    int
	over    time.Duration
	timeout time.Duration
	fresh   bool   // a connection per request
	dir     string // for files
}

// conns is the number of connections for tools that want one.
const conns = 20

// figures are what a peer reports. Quantiles that it does not print are NaN.
type figures struct {
	q            quantiles
	done, failed int64
}

// named are quantiles by their rank in percent, from printed ones.
func named(ns map[float64]float64) quantiles {
	return func(p float64) float64 {
		for rank, x := range ns {
			if math.Abs(rank-100*p) < 1e-6 {
				return x
			}
		}
		return math.NaN()
	}
}

// findPeers returns the peers whose program is on PATH.
func findPeers() (found []peer) {
	for _, p := range knownPeers() {
		if _, err := exec.LookPath(p.program); err == nil {
			found = append(found, p)
		}
	}
	return found
}

func names(peers []peer) (list []string) {
	for _, p := range peers {
		list = append(list, p.name)
	}
	return list
}

// A scene is a test as peers can run it, all at 200/s.
type scene struct {
	test    string
	mode    func(over time.Duration) string
	truth   func(over time.Duration) truth // nil: none
	ranks   string
	slack   time.Duration // beside the bars of the quantiles
	fresh   bool          // a connection per request
	timeout time.Duration // 0: a long one
	failed  func(n int64) int64
	shape   bool // judge the arrivals at the server
}

const peerRate = 200

func scenes() []scene {
	always := func(mode string, args ...any) func(time.Duration) string {
		return func(time.Duration) string { return fmt.Sprintf(mode, args...) }
	}
	same := func(t truth) func(time.Duration) truth { return func(time.Duration) truth { return t } }
	const hang = 2 * time.Second // a timeout of the tools
	return []scene{
		{test: "T2", mode: always("stall d=%v s=%v t=%v", stallD, stallS, stallT), truth: same(stalled(stallD, stallS, stallT)), ranks: allRanks},
		{test: "T3", mode: always("qstall mu=400 s=%v t=%v", stallS, stallT),
			truth: same(drained(2500*time.Microsecond, stallS, stallT, 0.5)), ranks: allRanks},
		{test: "T4", mode: always("bimodal d=5ms d2=250ms m=50"), truth: same(bimodal(5*ms, 250*ms, 50)), ranks: "p50 p90 p95 p99"},
		{test: "T6", mode: always("slots d=20ms k=2"), truth: func(over time.Duration) truth { return uniform(20*ms, 20*ms+over) },
			ranks: "p50 p90 p95 p99"},
		{test: "T7", mode: func(over time.Duration) string { return fmt.Sprintf("hang d=5ms h=%v", over*2/3) }, timeout: hang,
			truth: func(time.Duration) truth { return bimodal(5*ms, hang, 3) }, ranks: "p50 p95 p99",
			failed: func(n int64) int64 { return n / 3 }},
		{test: "T9", mode: always("reset d=0s m=50 when=before"), failed: func(n int64) int64 { return n / 50 }},
		{test: "T10", mode: always("accept d=5ms backlog=5 s=150ms t=2s"), fresh: true, slack: 64 * ms, // the kernel's timers of a second
			truth: same(bimodal(5*ms, 1005*ms, 16)), ranks: "p50 p90 p95 p99"},
		{test: "T12", mode: always("coldstart d=5ms h=2s"), truth: func(over time.Duration) truth { return stalled(5*ms, 2*time.Second, over) },
			ranks: "p50 p90 p95 p99"},
		{test: "T13", mode: always("fixed d=5ms"), truth: same(point(5 * ms)), ranks: "p50 p99", shape: true},
	}
}

// beside runs the peers through a test, once.
func (s *suite) beside(t test) (checks []check, err error) {
	for _, sc := range scenes() {
		if sc.test != t.id {
			continue
		}
		for _, p := range s.peers {
			if sc.fresh && p.lasting {
				continue
			}
			sh := &sheet{test: t.id, tool: p.name}
			n, err := s.watched(func() error { return s.rig.peer(sh, sc, p) })
			if err != nil {
				return checks, fmt.Errorf("%s: %w", p.name, err)
			}
			n.unjudged = s.rig.realtime
			s.say(t.id+" "+p.name, sh.checks, n)
			for i := range sh.checks {
				sh.checks[i].Noisy = n.fault() != ""
			}
			checks = append(checks, sh.checks...)
		}
	}
	return checks, nil
}

// peer runs one peer through one scene.
func (r *rig) peer(s *sheet, sc scene, p peer) error {
	over := r.pick(4*stallT, 6*stallT).Truncate(time.Second) + p.skips
	dir, err := os.MkdirTemp("", "accuracy")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	n := int64(over.Seconds() * peerRate)
	srv, err := r.serve(sc.mode(over), "0", int(n))
	if err != nil {
		return err
	}
	o := offer{program: p.program, url: "http://" + srv.addr.String() + "/", rate: peerRate, over: over, fresh: sc.fresh, dir: dir,
		timeout: cmp.Or(sc.timeout, 30*time.Second)}
	out, err := r.call(p.command(o), over+o.timeout+15*time.Second)
	if err != nil {
		srv.kill()
		return err
	}
	got, err := p.read(o, out)
	if err != nil {
		srv.kill()
		return fmt.Errorf("%w in\n%s", err, out)
	}
	log, err := srv.stop()
	if err != nil {
		return err
	}
	if sc.truth != nil {
		s.printed(got.q, sc.truth(over), sc.ranks, sc.slack)
	}
	if sc.failed != nil && !p.closed {
		s.count("failed", sc.failed(n), got.failed, 1+0.005*float64(n))
	}
	if !p.closed {
		s.count("completed and failed", n, got.done+got.failed, 0.01*float64(n)+1)
		s.count("arrivals at the server", n, int64(len(log.Arrival)), 0.01*float64(n)+1)
	}
	if sc.shape && !p.closed && len(log.Arrival) > 100 {
		s.seen(log.Arrival)
	}
	return nil
}

// printed compares the quantiles that the tool prints.
func (s *sheet) printed(q quantiles, t truth, ranks string, slack time.Duration) {
	some := false
	for rank := range strings.FieldsSeq(ranks) {
		var p float64
		fmt.Sscanf(rank, "p%g", &p)
		if x := q(p / 100); !math.IsNaN(x) {
			s.quantile(q, t, rank, slack)
			some = true
		}
	}
	if !some {
		s.add(check{Name: "quantiles", Unit: unitNS, Truth: t.q(0.5), Measured: math.NaN(), Note: "none printed"})
	}
}

// seen judges arrivals at the server by themselves.
func (s *sheet) seen(arrivals []int64) {
	var at []float64
	for _, t := range slices.Sorted(slices.Values(arrivals)) {
		at = append(at, float64(t))
	}
	const window = float64(10 * ms)
	s.add(check{Name: "dispersion in 10ms", Unit: unitNumber, Measured: dispersion(at, at[0]-window/8, at[len(at)-1], window), Bar: 0.3, Timing: true})
	s.add(check{Name: "CV of the gaps", Unit: unitNumber, Measured: gapsCV(at), Bar: 0.1, Timing: true})
}

// call runs a program on the load's cores and returns what it prints. Its exit
// code says nothing here: some fail when a request does.
func (r *rig) call(args []string, atMost time.Duration) ([]byte, error) {
	ctx, cancel := context.WithTimeout(r.ctx, atMost)
	defer cancel()
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = time.Second
	if err := r.launch(cmd, place{}); err != nil {
		return nil, fmt.Errorf("start %s: %w", args[0], err)
	}
	cmd.Wait()
	return out.Bytes(), r.ctx.Err()
}
