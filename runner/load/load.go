// Package load sends requests at the times of a schedule, whatever the target
// does (open model), and records what became of each.
//
// Each arrival is handed to a connection at its intended time; nothing waits for
// the target. Connections are opened on demand,
// up to MaxInFlight to each host, and the one used last is used first. A request
// is never pipelined, never sent twice and never redirected unasked.
//
// With Connections, so many are opened to each host before the first arrival and
// used in turn. One that has ended, or served RequestsPerConnection, is opened
// again by the next arrival that takes its place. An arrival that finds none free
// waits for one of its host, behind no arrival for another host.
//
// When MaxInFlight requests are under way an arrival waits in order, its
// intended time kept, or is dropped, as the plan says. After a stall, waiting
// arrivals are sent as fast as requests end: MaxInFlight bounds the catching
// up. The run ends at its planned time plus the drain: what is in flight then
// is unfinished, what still waits is dropped.
//
// A request is sent when its first byte, or the attempt to connect for it, goes
// out. Its timeout counts from there, or from its intended time, as the plan says;
// in the latter case an arrival whose time is up while it waits at MaxInFlight is
// dropped. An idle connection is looked at before it
// is used: one that the server has closed is replaced, which is no failure.
// Once bytes of a request are written, its failure stands.
package load

import (
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"sync/atomic"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// The two paths that requests can take, to the same effect.
const (
	EngineAuto      = "auto"      // loop where it can do what the run needs, else goroutine
	EngineLoop      = "loop"      // an event loop on a thread of its own: cheap and exact; Linux only
	EngineGoroutine = "goroutine" // a goroutine for each connection: everywhere
)

// Config is what to send, when, and within which bounds.
type Config struct {
	Hosts    []Host         // from Resolve; arrival i of the schedule, or of its share, goes to host i mod len(Hosts)
	Request  *plans.Request // of all arrivals, unless there is a Mix
	Mix      []Share        // requests of one target that arrivals draw from; the record has each of them apart
	Flows    []FlowShare    // that arrivals draw instead; Mix has the requests of their steps then, weights have no meaning
	Schedule *schedule.Schedule
	Kinds    []string       // per segment of Schedule: ramp, hold or step; for the record, may be nil
	Arrivals plans.Arrivals // as Schedule was made; for the record
	Seed     uint64         // as Schedule was made; for the record

	// Users, if not 0, are those of a closed model: each makes the next request, or flow, when the one before has ended and
	// its think time is over, for as long as Schedule lasts, which has no arrivals of its own, or until MaxArrivals, if not
	// 0, were begun.
	Users       int
	Think       plans.Pause
	MaxArrivals int64

	Values uint64 // decides the generated values of requests

	MaxInFlight int               // at least 1
	AtMax       plans.AtMax       // "" is Wait
	Timeout     time.Duration     // to the last byte; more than 0
	TimeoutFrom plans.TimeoutFrom // "" is FromSent
	Timeouts    plans.Timeouts    // of parts of a request, each within Timeout
	Drain       time.Duration     // after the schedule's end
	KeepAlive   bool
	LimitsNS    []int64 // thresholds of the Over counters
	WireLimits  bool    // times to the first byte and to connect have Over counters, too

	Windows []time.Duration // lengths of windows that requests are counted in
	Apart   []Apart         // sets of requests that have a record of their own

	RequestsPerConnection int // after which a connection is closed; 0: any number
	// Connections, if not 0, are opened to each host before the first arrival and used in turn, and no more than these: an
	// arrival that finds none free waits for one of its host, as at MaxInFlight.
	Connections int

	// Refresh, if not 0, is how often the names of Hosts are looked up again, by Resolver (nil: the system's). A host whose
	// address is gone goes on at another of its name; where there are more addresses than hosts, new connections go to all.
	Refresh  time.Duration
	Resolver *net.Resolver

	// InTurn uses the connections of a host in turn, once MaxInFlight are open; else the one used last is used first,
	// and no more are opened than are needed.
	InTurn bool

	Engine string        // EngineAuto or "", EngineLoop or EngineGoroutine
	Pacing string        // of the event loop: PacingAuto or "", PacingExact, PacingTick or PacingPrecise
	Tick   time.Duration // of PacingTick; 0: chosen by the rate
	Beside int           // other runs in this process at the same time, for the choice of Loops
	Loops  int           // threads of the event loop; 0: chosen by the rate and the number of cores

	// Watch puts the counts of segments into ticks.
	Watch bool

	// OnTick, if not nil, is called about once in TickEvery, one call at a time. When it
	// returns false the offering ends, and the drain begins. It does not hold up the load.
	OnTick    func(Tick) bool
	TickEvery time.Duration // 0 is a second
}

// A Tick is a look at a run under way.
type Tick struct {
	At       time.Duration // since the start
	Length   time.Duration // since the tick before
	Segment  int           // of the schedule; the last one during the drain
	Draining bool          // the offering has ended
	Last     result.Counts // what happened in this tick; the ends belong to earlier sends, too
	Total    result.Counts // since the start; Sent is ahead of the ends by InFlight
	InFlight int
	Waiting  int64         // arrivals at the in-flight bound
	P50, P99 time.Duration // response times of what ended in this tick (completed and timeouts)
	Samples  int64         // how many those are; 0: P50 and P99 say nothing

	// Ended are, with Watch, the counts and Over counters of what has ended, by segment: of all requests first, then of each
	// of the mix. Offered is what has ended of it.
	Ended [][]result.Segment
	// Windows are, with Watch, the counts of windows so far, of the same sets. They are only good during the call.
	Windows [][]result.Windows
}

// An engine is one run.
type engine struct {
	cfg     Config
	base    time.Time // the run's time 0
	hosts   []Host
	places  []atomic.Pointer[place]
	timeout time.Duration

	keepAlive    bool
	mix          *mix
	ledger       *ledger
	mail         *mailbox
	account      *account
	path         path
	users        *users     // of a closed model; nil: there are none
	names        *refresher // nil: none
	name, reason string     // of the path, and why it is this one
	pace         pacing
	loops        int // threads of the event loop; 0: none

	halt   chan struct{} // closed: the offering ends
	halted atomic.Bool
}

// A path is one of the ways to send: goroutines, or an event loop.
type path interface {
	open(ctx context.Context, host int32) bool // opens an idle connection, before start; several calls at a time
	start(offered chan<- int64)                // begins to offer the schedule, and sends the time when the offering ended
	wake()                                     // says that halt was closed
	leaveOld()                                 // closes idle connections to addresses that hosts have left
	stop()                                     // ends what is under way, and returns when all samples are in the mailbox
}

// now is the time since the start of the run in ns.
func (e *engine) now() int64 { return int64(time.Since(e.base)) }

// timeUp is when a request's timeout is over, in ns since the start of the run.
func (e *engine) timeUp(s *sample) int64 {
	if e.cfg.TimeoutFrom == plans.FromIntended {
		return s.intended + int64(e.timeout)
	}
	return s.sent + int64(e.timeout)
}

// lead is how long the run's time 0 is ahead when it is set, so that the threads
// are there in time.
const lead = 5 * time.Millisecond

// flushEvery is how often samples are brought to account at least.
const flushEvery = 100 * time.Millisecond

// Run offers the whole schedule and returns the record. An error means that it
// could not start. When ctx is cancelled the run stops at once, and the record
// of what was measured until then is returned; what was in flight is
// unfinished.
func Run(ctx context.Context, cfg Config) (*result.Load, error) {
	e, err := newEngine(cfg)
	if err != nil {
		return nil, err
	}
	return e.run(ctx)
}

func (e *engine) run(ctx context.Context) (*result.Load, error) {
	ahead := e.openAhead(ctx)
	audit := newAuditor(e.now)
	e.base = time.Now().Add(lead)
	audit.start()
	offered := make(chan int64, 1)
	e.path.start(offered)
	e.names = e.refresh()
	end := e.watch(ctx, offered)
	if err := e.mix.close(); err != nil {
		return nil, err
	}
	l, err := e.account.record(end, audit.stop())
	if err != nil {
		return nil, err
	}
	l.Wire.Ahead, l.DNS = ahead, end.dns
	l.Started = e.base.Round(0).UTC()
	l.Engine, l.EngineReason, l.Loops, l.Pacing = e.name, e.reason, e.loops, e.pace.record()
	return l, nil
}

func newEngine(cfg Config) (*engine, error) {
	if cfg.AtMax == "" {
		cfg.AtMax = plans.Wait
	}
	if cfg.TimeoutFrom == "" {
		cfg.TimeoutFrom = plans.FromSent
	}
	if cfg.TickEvery <= 0 {
		cfg.TickEvery = time.Second
	}
	switch {
	case len(cfg.Hosts) == 0:
		return nil, errors.New("load: no hosts to send to")
	case cfg.Request == nil && len(cfg.Mix) == 0 || cfg.Schedule == nil:
		return nil, errors.New("load: no request or no schedule")
	case cfg.MaxInFlight < 1:
		return nil, fmt.Errorf("load: got max_in_flight %d, want 1 or more", cfg.MaxInFlight)
	case cfg.Users < 0 || cfg.MaxArrivals < 0 || cfg.Think.Least < 0:
		return nil, fmt.Errorf("load: got %d users, think time from %v, at most %d arrivals, want none below 0", cfg.Users, cfg.Think.Least, cfg.MaxArrivals)
	case cfg.Timeout <= 0:
		return nil, fmt.Errorf("load: got timeout %v, want more than 0s", cfg.Timeout)
	case cfg.Timeouts.Connect < 0 || cfg.Timeouts.FirstByte < 0:
		return nil, fmt.Errorf("load: got timeouts of %v to connect and %v to the first byte, want 0s or more", cfg.Timeouts.Connect, cfg.Timeouts.FirstByte)
	case cfg.Drain < 0:
		return nil, fmt.Errorf("load: got drain %v, want 0s or more", cfg.Drain)
	case cfg.Loops < 0 || cfg.Loops > MaxLoops:
		return nil, fmt.Errorf("load: got %d loops, want 0 to %d", cfg.Loops, MaxLoops)
	case slices.ContainsFunc(cfg.Windows, func(d time.Duration) bool { return d <= 0 }):
		return nil, fmt.Errorf("load: got windows of %v, want lengths above 0s", cfg.Windows)
	case cfg.Beside < 0:
		return nil, fmt.Errorf("load: got %d runs beside, want 0 or more", cfg.Beside)
	case cfg.Refresh < 0:
		return nil, fmt.Errorf("load: got refresh %v, want 0s or more", cfg.Refresh)
	case cfg.RequestsPerConnection < 0 || cfg.Connections < 0:
		return nil, fmt.Errorf("load: got %d requests per connection, %d connections, want 0 or more", cfg.RequestsPerConnection, cfg.Connections)
	case cfg.AtMax != plans.Wait && cfg.AtMax != plans.Drop:
		return nil, fmt.Errorf("load: got at_max %q, want wait or drop", cfg.AtMax)
	case cfg.TimeoutFrom != plans.FromSent && cfg.TimeoutFrom != plans.FromIntended:
		return nil, fmt.Errorf("load: got timeout_from %q, want sent or intended", cfg.TimeoutFrom)
	}
	e := &engine{
		cfg: cfg, hosts: cfg.Hosts, timeout: cfg.Timeout, keepAlive: cfg.KeepAlive,
		ledger: newLedger(cfg.Schedule, len(cfg.Hosts), cfg.MaxInFlight, cfg.AtMax == plans.Drop),
		mail:   newMailbox(), halt: make(chan struct{}),
	}
	e.ledger.inTurn = cfg.InTurn
	if cfg.TimeoutFrom == plans.FromIntended {
		e.ledger.patience = int64(cfg.Timeout)
	}
	if cfg.Connections > 0 {
		e.ledger.boundHosts(cfg.Schedule, cfg.Connections)
	}
	e.places = make([]atomic.Pointer[place], len(e.hosts))
	for i := range e.hosts {
		e.places[i].Store(&place{addresses: []string{e.hosts[i].Address}})
	}
	var err error
	if e.mix, err = newMix(&e.cfg); err != nil {
		return nil, err
	}
	if e.account, err = newAccount(&e.cfg, e.mix); err != nil {
		e.mix.close()
		return nil, err
	}
	if err := e.choosePath(); err != nil {
		e.mix.close()
		return nil, err
	}
	return e, nil
}

// choosePath takes the event loop where it can do what the run needs.
func (e *engine) choosePath() error {
	e.name, e.reason = EngineGoroutine, "as asked for"
	switch e.cfg.Engine {
	case EngineLoop, EngineAuto, "":
		loop, why, err := newLoop(e)
		if err != nil {
			return err
		}
		if loop != nil {
			e.name, e.path = EngineLoop, loop
			if e.cfg.Engine != EngineLoop {
				e.reason = "it can do all that the run needs"
			}
			return nil
		}
		if e.cfg.Engine == EngineLoop {
			return fmt.Errorf("load: %s", why)
		}
		e.reason = why
	case EngineGoroutine:
	default:
		return fmt.Errorf("load: got engine %q, want auto, loop or goroutine", e.cfg.Engine)
	}
	p := newPool(e)
	e.path = p
	e.pace = pacing{mode: PacingExact, reason: "goroutines have a timer for each arrival"}
	if e.cfg.Users > 0 {
		e.users = newUsers(p)
		e.pace.reason = "users have a timer each"
	}
	return nil
}

// runEnd is how a run ended.
type runEnd struct {
	offered int64 // when the offering ended, ns since the start
	drained int64 // when everything had ended
	state   queueState
	level   level // frozen
	sent    shape // frozen
	meant   shape // frozen
	dns     *result.DNS
}

// watch keeps the accounts until the run is over, and ends it.
func (e *engine) watch(ctx context.Context, offered <-chan int64) (end runEnd) {
	flush := time.NewTicker(flushEvery)
	defer flush.Stop()
	ticks := time.NewTicker(e.cfg.TickEvery)
	defer ticks.Stop()
	var drained <-chan time.Time
	stop, quiet := ctx.Done(), e.ledger.quiet
	for over := false; !over; {
		select {
		case <-flush.C:
			e.settle()
		case <-e.mail.wake:
			e.settle()
		case <-ticks.C:
			e.settle()
			if !e.tick(drained != nil) {
				e.stopOffering()
			}
		case end.offered = <-offered:
			offered = nil
			e.ledger.close()
			drained = time.After(e.cfg.Drain)
		case <-stop:
			e.stopOffering()
			if offered != nil {
				end.offered = <-offered
			}
			over = true
		case <-drained:
			over = true
		case <-quiet:
			over = true
		}
	}
	e.end(&end)
	return end
}

func (e *engine) stopOffering() {
	if !e.halted.Swap(true) {
		close(e.halt)
		e.path.wake()
	}
}

// settle brings samples to account.
func (e *engine) settle() {
	floor := int64(math.MaxInt64)
	if e.users != nil {
		floor = e.users.floor() // before the samples
	}
	samples := e.mail.take() // before the state, so that all are of arrivals counted there
	expired := e.ledger.takeExpired()
	e.account.offered(e.ledger.state().due)
	e.account.ended(samples)
	e.drop(expired)
	if e.cfg.grows() {
		e.account.seal(min(floor, e.account.floor()))
	}
	if e.mix.failed() {
		e.stopOffering()
	}
}

// drop brings arrivals that were never sent to account.
func (e *engine) drop(jobs []job) {
	samples := make([]sample, len(jobs))
	for i, j := range jobs {
		samples[i] = sample{job: j, outcome: dropped}
	}
	e.account.ended(samples)
}

// end ends all that is still going on.
func (e *engine) end(end *runEnd) {
	end.drained = e.now()
	e.ledger.stop(end.drained)
	end.state, end.level = e.ledger.state(), e.ledger.level
	end.sent, end.meant = e.ledger.sent, e.ledger.meant
	end.dns = e.names.stop() // ahead of the path, of which it closes connections
	e.path.stop()
	e.settle()
	for {
		jobs := e.ledger.waste(wakeAt)
		if len(jobs) == 0 {
			return
		}
		e.drop(jobs)
	}
}

// tick calls OnTick.
func (e *engine) tick(draining bool) bool {
	t := e.account.tick(e.now(), e.ledger.state())
	t.Draining = draining
	return e.cfg.OnTick == nil || e.cfg.OnTick(t)
}
