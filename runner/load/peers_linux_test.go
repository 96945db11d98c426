//go:build amd64 || arm64

package load

import (
	"fmt"
	"math"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// What the comparison with other tools is made of. It runs with BENCH_ENGINE set, see make bench-engine and docs/performance.md.
const (
	benchEnv  = "BENCH_ENGINE"        // how many rounds; runs of one round come one after another
	onlyEnv   = "BENCH_ENGINE_ONLY"   // an expression for the loads that are wanted; without it all but the long ones
	peersEnv  = "BENCH_ENGINE_PEERS"  // an expression for the tools that are wanted
	tableEnv  = "BENCH_ENGINE_TABLE"  // a file for the tables, as Markdown
	clientEnv = "BENCH_ENGINE_CLIENT" // a contest, in a process that is one of our runs
	sinkEnv   = "BENCH_ENGINE_SINK"   // in a process that is the server
)

// A contest is one load that every tool is to offer.
type contest struct {
	Name        string
	Server      string // a key of benchServers
	URL         string
	Rate        float64 // 0: as much as Conns connections carry
	Conns       int
	Seconds     float64
	Requests    int64 // of our closed loop; 0: as many as take about Seconds
	Engine      string
	Pacing      string
	TickNS      int64
	InTurn      bool
	Varied      bool // posts that differ
	Soak        bool // looks at its memory each second
	Poisson     bool
	TickEveryNS int64 // of looks at the run
	bars        []bar
	tools       string                                                                      // an expression for those that take part beside ours; "": all
	long        bool                                                                        // only on demand, and once
	run         func(t *testing.T, s *benchRig, name string, c contest) (f figure, ok bool) // nil: compete
}

// how says what of ours takes part.
func (c *contest) how() string {
	text := strings.TrimSpace(c.Engine + " " + c.Pacing)
	if c.TickNS > 0 {
		text += " " + time.Duration(c.TickNS).String()
	}
	return text
}

// A measure is one of the figures of a run; its unit is in its name.
type measure string

const (
	cpuTime   measure = "CPU µs/request"
	perSecond measure = "requests/s"
	resp50    measure = "response p50 µs"
	resp90    measure = "response p90 µs"
	resp99    measure = "response p99 µs"
	serv50    measure = "service p50 µs"
	lag50     measure = "lag p50 µs"
	lag90     measure = "lag p90 µs"
	allocs    measure = "allocations/request"
	rss       measure = "RSS MB"
)

// A figure is what one run came to.
type figure struct {
	Requests   int64
	BaseNS     int64               // of ours: its time 0 on CLOCK_MONOTONIC, or a little more
	LeastLagNS int64               // of ours
	Of         map[measure]float64 // what is not known is not there
	noise      noise
}

func contests() []contest {
	return slices.Concat(closedContests(), variedContests(), openContests(), countContests(), arrivalContests(), soakContests())
}

func closedContests() []contest {
	closed := func(name, server string, bars ...bar) contest {
		return contest{Name: name, Server: server, Conns: 32, Seconds: 5, Pacing: PacingExact, bars: bars}
	}
	goroutines := closed("closed, goroutines", "nginx", atMost(cpuTime, 1.15).timesPeer())
	goroutines.Engine = EngineGoroutine
	return []contest{
		closed("closed", "nginx", atMost(cpuTime, 0.95).timesPeer(), atLeast(perSecond, 1).timesPeer()),
		goroutines,
		closed("closed, sink", "sink", atMost(cpuTime, 0.8).timesPeer(), atLeast(perSecond, 1.25).timesPeer()),
		closed("closed, https", "nginx-tls", atMost(cpuTime, 0.8).timesPeer()),
	}
}

func openContests() []contest {
	at := func(rate float64, pacing string, tick time.Duration, bars ...bar) contest {
		return contest{Name: fmt.Sprintf("%g/s", rate), Server: "nginx", Rate: rate, Conns: 32, Seconds: 6, Pacing: pacing, TickNS: int64(tick), bars: bars}
	}
	const half, whole = 500 * time.Microsecond, time.Millisecond
	ticks := []bar{atMost(cpuTime, 0.95).timesPeer(), atMost(lag90, 0.45).timesPeer()}
	spins := []bar{atMost(lag50, 2), atMost(lag90, 20)}
	many := at(20000, PacingTick, half, atMost(cpuTime, 0.45).timesPeer())
	many.Name, many.InTurn, many.Conns, many.Seconds = "20000/s, 1000 connections", true, 1000, 14 // wrk2 takes 5 s to connect
	tls := at(20000, PacingTick, half, atMost(cpuTime, 0.8).timesPeer())
	tls.Name, tls.Server = "20000/s, https", "nginx-tls"
	return []contest{
		at(20000, PacingTick, whole, atMost(cpuTime, 0.7).timesPeer(), atMost(lag90, 0.8).timesPeer()),
		at(20000, PacingTick, half, ticks...),
		at(50000, PacingTick, half, ticks...),
		at(1000, PacingExact, 0, atMost(lag50, 0.15).timesPeer(), atMost(lag90, 0.15).timesPeer()),
		at(1000, PacingPrecise, 0, spins...),
		at(20000, PacingPrecise, 0, spins...),
		many, tls,
	}
}

// TestBenchEngine compares the engine with the tools that are on PATH, and judges it by its bars. nginx, if there, is the server.
func TestBenchEngine(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv(benchEnv))
	if err != nil || rounds < 1 {
		t.Skipf("set %s to the number of rounds to compare with other tools", benchEnv)
	}
	servers := benchServers(t)
	only, whom := regexp.MustCompile(os.Getenv(onlyEnv)), regexp.MustCompile(os.Getenv(peersEnv))
	tables := newTables(os.Getenv(tableEnv), rounds)
	for _, c := range contests() {
		c.URL = servers.urls[c.Server]
		if c.URL == "" || !only.MatchString(c.Name) || c.long && os.Getenv(onlyEnv) == "" {
			continue
		}
		n := rounds
		if c.long {
			n = 1
		}
		if err := tables.add(servers.measure(t, c, n, whom)); err != nil {
			t.Fatal(err)
		}
	}
	if tables.over > 0 {
		t.Errorf("%d figures over their bars", tables.over)
	}
	if err := tables.end(); err != nil {
		t.Fatal(err)
	}
}

// A bout is a contest with the runs of each tool that took part.
type bout struct {
	contest
	names []string // ours first
	runs  map[string][]figure
}

// measure makes the runs of a contest, those of the tools in turn.
func (s *benchRig) measure(t *testing.T, c contest, rounds int, whom *regexp.Regexp) *bout {
	b := &bout{c, []string{ours}, map[string][]figure{}}
	tools, run := regexp.MustCompile(c.tools), c.run
	if run == nil {
		run = compete
	}
	for _, p := range peers {
		if _, err := exec.LookPath(p.name); err == nil && whom.MatchString(p.name) && tools.MatchString(p.name) && p.args(c, "") != nil {
			b.names = append(b.names, p.name)
		}
	}
	if c.hasFloor() {
		b.names = append(b.names, floor)
	}
	for range rounds {
		for _, name := range b.names {
			for range 3 { // some runs are void
				if f, ok := run(t, s, name, c); ok {
					b.runs[name] = append(b.runs[name], f)
					break
				}
			}
		}
	}
	b.leaveOut(t)
	return b
}

// leaveOut takes the closed loops out in which wrk2 lost a second at its start. Nothing tells them but that there are
// far fewer requests than in others; to keep the best of its runs does not wrong it.
func (b *bout) leaveOut(t *testing.T) {
	runs := b.runs[wrk2]
	if b.Rate > 0 || len(runs) == 0 {
		return
	}
	best := slices.MaxFunc(runs, func(a, b figure) int { return int(a.Requests - b.Requests) }).Requests
	b.runs[wrk2] = slices.DeleteFunc(runs, func(f figure) bool {
		lost := float64(f.Requests) < 0.85*float64(best)
		if lost {
			t.Logf("%s: wrk2 made %d requests in one run and %d in another: left out", b.Name, f.Requests, best)
		}
		return lost
	})
}

// median is NaN where nothing is known.
func (b *bout) median(name string, m measure) float64 {
	var v []float64
	for _, f := range b.runs[name] {
		if x, ok := f.Of[m]; ok {
			v = append(v, x)
		}
	}
	return median(v)
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return math.NaN()
	}
	slices.Sort(v)
	return v[len(v)/2]
}
