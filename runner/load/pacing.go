package load

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// How the event loop waits for arrivals.
const (
	PacingAuto    = "auto"    // exact or tick, by what a timer costs here
	PacingExact   = "exact"   // a timer for each arrival
	PacingTick    = "tick"    // one for all arrivals since the last tick, which are sent at the next one
	PacingPrecise = "precise" // spins ahead of each arrival, and for each answer: takes a whole core
)

// Bounds of the automatic choice.
const (
	maxTimerShare = 0.06 // of a core for timers
	shortestTick  = 250 * time.Microsecond
	longestTick   = 500 * time.Microsecond
	tickArrivals  = 20 // in a tick, unless it is the longest or the shortest
)

// MaxLoops bounds the number of threads that send.
const MaxLoops = 64

// Arrivals a second that one loop is given where there are cores for more: half of what it can carry, or less.
const (
	loopRate    = 50_000
	loopRateTLS = 25_000
)

// loopsFor is how many loops a run has: as many as its rate needs, on half of the cores at most, since the target may
// need the others.
func loopsFor(cfg *Config, cores int) int {
	if cfg.Loops > 0 {
		return cfg.Loops
	}
	each := float64(loopRate)
	if slices.ContainsFunc(cfg.Hosts, func(h Host) bool { return h.TLS != nil }) {
		each = loopRateTLS
	}
	return max(1, min(int(math.Ceil(peakRate(cfg.Schedule)/each)), cores/2/(1+cfg.Beside), cfg.MaxInFlight, MaxLoops))
}

// A pacing is a way to wait, as chosen for a run.
type pacing struct {
	mode   string
	tick   int64 // ns; 0 unless mode is tick
	ahead  int64 // ns: what is due sooner is not slept for
	reason string
	timer  timerCost
}

// A timerCost is what a short sleep costs on this machine, in ns.
type timerCost struct {
	cpu  int64 // of the sleeping thread: median
	late int64 // behind the time that was asked for: high, of few
}

// choosePacing resolves the pacing that the configuration asks for.
func choosePacing(cfg *Config, timer timerCost) (pacing, error) {
	p := pacing{mode: cfg.Pacing, timer: timer, reason: "as asked for"}
	rate := peakRate(cfg.Schedule)
	if p.mode == "" || p.mode == PacingAuto {
		p.mode, p.reason = autoPacing(rate, cfg, timer)
	}
	switch p.mode {
	case PacingExact:
		p.ahead = timer.cpu
	case PacingPrecise:
		p.ahead = timer.late
	case PacingTick:
		p.tick = int64(cfg.Tick)
		if cfg.Tick == 0 {
			p.tick = int64(tickFor(rate))
		}
	default:
		return p, fmt.Errorf("load: got pacing %q, want auto, exact, tick or precise", cfg.Pacing)
	}
	if cfg.Tick < 0 || cfg.Tick > time.Second {
		return p, fmt.Errorf("load: got tick %v, want 0s to 1s", cfg.Tick)
	}
	return p, nil
}

// lowestBound is the lowest bound on requests under way, and what it is called.
func (c *Config) lowestBound() (n int, name string) {
	if n = c.Connections * len(c.Hosts); n > 0 && n < c.MaxInFlight {
		return n, "the number of connections,"
	}
	return c.MaxInFlight, "max_in_flight"
}

func autoPacing(rate float64, cfg *Config, timer timerCost) (mode, reason string) {
	cost := rate * float64(timer.cpu) / 1e9
	said := fmt.Sprintf("a timer costs %v here, one for each of %.4g arrivals a second %.2g of a core", time.Duration(timer.cpu), rate, cost)
	bound, name := cfg.lowestBound()
	switch room := float64(bound) / 2 / rate; {
	case cost <= maxTimerShare:
		return PacingExact, said
	case room < tickFor(rate).Seconds():
		return PacingExact, fmt.Sprintf("%s %d is too low for the arrivals of a tick at %.4g/s", name, bound, rate)
	}
	return PacingTick, said
}

func tickFor(rate float64) time.Duration {
	tick := time.Duration(tickArrivals / max(rate, 1) * 1e9)
	return min(max(tick, shortestTick), longestTick)
}

// peakRate is the highest rate of the schedule, per second.
func peakRate(s *schedule.Schedule) (rate float64) {
	for _, span := range s.Segments() {
		rate = max(rate, span.Peak())
	}
	return rate
}

// frontier is the intended time up to which arrivals are sent at now.
func (p *pacing) frontier(now int64) int64 {
	if p.tick == 0 || now < 0 {
		return now
	}
	return now - now%p.tick
}

// due is when an arrival is sent.
func (p *pacing) due(intended int64) int64 {
	if p.tick == 0 || intended > math.MaxInt64-p.tick {
		return intended
	}
	return (intended + p.tick - 1) / p.tick * p.tick
}

func (p *pacing) record() *result.Pacing {
	return &result.Pacing{Mode: p.mode, TickNS: p.tick, Reason: p.reason, TimerCPUNS: p.timer.cpu, TimerLateNS: p.timer.late}
}
