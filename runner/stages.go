package runner

import (
	"context"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/bench"
	"github.com/perfplan/perfplan/runner/load"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
	"github.com/perfplan/perfplan/runner/stats"
	"github.com/perfplan/perfplan/runner/verdict"
)

// A warm-up is steady when the medians of its last two windows of response-time medians are alike.
const (
	warmTick   = 500 * time.Millisecond
	warmWindow = 4    // ticks
	warmTol    = 0.25 // relative
	// warmSlack is added to each median, so that changes far below a millisecond are not taken for warming up.
	warmSlack = time.Millisecond
)

func (r *run) microbenchmark(ctx context.Context, st *plans.Stage, m *plans.Microbenchmark, rec *result.Stage) error {
	mb, warnings, err := bench.Run(ctx, bench.Config{
		Microbenchmark: m,
		Progress: func(p bench.Progress) {
			r.opt.Events(BenchProgress{Stage: st, Done: p.Done, Count: p.Count, Cell: p.Cell})
		},
	})
	rec.Microbenchmark = mb
	if base := r.baselines(st.Name, m); len(base.Stages) > 0 {
		var stored []*result.Microbenchmark
		for _, b := range base.Stages {
			stored = append(stored, b.Microbenchmark)
		}
		mb.Baseline = verdict.CompareBench(stored, base.IDs, mb, verdict.BenchMargin(st.SLOs))
	}
	rec.Warnings = append(rec.Warnings, warnings...)
	return err
}

// load offers the load of a stage once; rounds that follow the first have other arrivals and values.
func (r *run) load(ctx context.Context, st *plans.Stage, l *plans.Load, n, round int, rec *result.Stage) error {
	seed := l.Seed + uint64(round)
	cfg := load.Config{
		Beside:  n - 1,
		Request: l.Request, MaxInFlight: l.MaxInFlight, AtMax: l.AtMax, Timeout: l.Timeout, TimeoutFrom: l.TimeoutFrom, Timeouts: l.Timeouts, Drain: l.Drain,
		KeepAlive: l.KeepAlive, RequestsPerConnection: l.RequestsPerConnection, Connections: l.Connections, LimitsNS: verdict.LimitsNS(st.SLOs), TickEvery: time.Second,
		Watch: slices.ContainsFunc(st.SLOs, func(s plans.SLO) bool { return s.Abort }),
		OnTick: func(t load.Tick) bool {
			r.opt.Events(LoadProgress{Stage: st, Elapsed: t.At, Planned: l.Duration(), Tick: t})
			if rec.Aborted == "" {
				rec.Aborted = aborted(st, l, t)
			}
			return rec.Aborted == ""
		},
	}
	cfg.Mix, cfg.Flows, cfg.Think = shares(l.Mix), flowShares(l.Flows), l.Think
	if l.Arrivals == plans.Closed {
		cfg.Users = l.MaxInFlight
	}
	cfg.Windows, cfg.Apart, cfg.WireLimits = countedFor(st.SLOs)
	cfg.Values = valueSeed(st.Name, seed)
	return r.offer(ctx, cfg, profile{l.Profile, l.Arrivals, seed, l.DataEnd}, rec)
}

// countedFor is what assertions need counted besides: windows, sets of requests, times on the wire.
func countedFor(slos []plans.SLO) (windows []time.Duration, apart []load.Apart, wire bool) {
	for _, s := range slos {
		if s.Window > 0 && !slices.Contains(windows, s.Window) {
			windows = append(windows, s.Window)
		}
		m := s.Metric
		wire = wire || m.Clock == plans.TTFB || m.Clock == plans.Connect
		if !m.Counted() {
			continue
		}
		sets := []load.Apart{{Request: m.Request, Host: m.Host, Status: m.Status}}
		if m.Host != "" && m.Status != "" { // a share of the host's requests
			sets = append(sets, load.Apart{Request: m.Request, Host: m.Host})
		}
		for _, set := range sets {
			if !slices.Contains(apart, set) {
				apart = append(apart, set)
			}
		}
	}
	return windows, apart, wire
}

// valueSeed decides the generated values of a stage: other ones in each, so that a warm-up does not use up those of the load
// behind it.
func valueSeed(stage string, seed uint64) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d %s", seed, stage)
	return h.Sum64()
}

// aborted says why a stage ends before its time; "" while it does not.
func aborted(st *plans.Stage, l *plans.Load, t load.Tick) string {
	limits := verdict.LimitsNS(st.SLOs)
	for _, s := range st.SLOs {
		of := 0
		for i, w := range l.Mix {
			if w.Name == s.Metric.Request {
				of = i + 1
			}
		}
		for i, f := range l.Flows {
			if f.Name == s.Metric.Request {
				of = len(l.Mix) + i + 1
			}
		}
		if of < len(t.Ended) {
			why := ""
			if s.Window > 0 {
				open := t.Waiting + int64(t.InFlight) + t.Total.Offered - t.Total.Sent
				why = verdict.BrokenWindows(s, limits, t.Windows[of], open, t.At, l.Duration())
			} else {
				why = verdict.Broken(s, limits, t.Ended[of], t.At)
			}
			if why != "" {
				return why
			}
		}
	}
	return ""
}

// shares are the requests of a mix as the engine takes them.
func shares(mix []plans.Weighted) []load.Share {
	var all []load.Share
	for _, w := range mix {
		all = append(all, load.Share{Request: w.Request, Weight: w.Weight})
	}
	return all
}

// flowShares are the flows of a stage as the engine takes them.
func flowShares(flows []plans.WeightedFlow) []load.FlowShare {
	var all []load.FlowShare
	for _, f := range flows {
		all = append(all, load.FlowShare{Flow: f.Flow, Weight: f.Weight})
	}
	return all
}

func (r *run) warmup(ctx context.Context, st *plans.Stage, w *plans.Warmup, rec *result.Stage) error {
	rec.Warmup = &result.Warmup{Until: "duration"}
	if w.Until.Steady {
		rec.Warmup.Until = "steady"
	}
	var medians []float64
	cfg := load.Config{
		Request: w.Request, Mix: shares(w.Mix), Flows: flowShares(w.Flows), MaxInFlight: w.MaxInFlight, AtMax: plans.Wait, Timeout: w.Timeout, TimeoutFrom: w.TimeoutFrom, Timeouts: w.Timeouts, Drain: w.Timeout,
		KeepAlive: w.KeepAlive, RequestsPerConnection: w.RequestsPerConnection, Connections: w.Connections, TickEvery: warmTick,
		OnTick: func(t load.Tick) bool {
			r.opt.Events(LoadProgress{Stage: st, Elapsed: t.At, Planned: w.Until.AtMost, Tick: t})
			if t.Samples > 0 {
				medians = append(medians, float64(t.P50+warmSlack))
			}
			if !w.Until.Steady {
				return true
			}
			_, steady := stats.Settled(medians, warmWindow, warmTol)
			if steady && !rec.Warmup.Settled {
				ns := int64(t.At)
				rec.Warmup.Settled, rec.Warmup.SettledNS = true, &ns
			}
			return !steady
		},
	}
	cfg.Values = valueSeed(st.Name, 1)
	whole := []plans.Segment{{Name: "warm-up", Kind: "hold", From: w.Rate, To: w.Rate, Over: w.Until.AtMost}}
	err := r.offer(ctx, cfg, profile{whole, plans.Uniform, 1, w.DataEnd}, rec)
	if rec.Load != nil {
		rec.Warmup.Excluded = rec.Load.Sent
	}
	return err
}

// A profile is what a stage offers.
type profile struct {
	segments []plans.Segment
	arrivals plans.Arrivals
	seed     uint64
	end      *plans.DataEnd
}

// offer runs the load engine and watches the target's processes meanwhile.
func (r *run) offer(ctx context.Context, cfg load.Config, p profile, rec *result.Stage) error {
	t := cfg.Request.Target
	if err := r.targets.alive(t); err != nil {
		return err
	}
	segments := make([]schedule.Segment, 0, len(p.segments))
	for _, s := range p.segments {
		seg := schedule.Segment{Name: s.Name, From: s.From, To: s.To, Over: s.Over}
		for _, point := range s.Points {
			seg.Points = append(seg.Points, schedule.Point{At: point.At, Rate: point.Rate})
		}
		segments = append(segments, seg)
		cfg.Kinds = append(cfg.Kinds, s.Kind)
	}
	process := schedule.Uniform
	if p.arrivals == plans.Poisson {
		process = schedule.Poisson
	}
	var err error
	switch p.arrivals {
	case plans.Closed:
		cfg.Schedule, err = schedule.NewClosed(p.segments[0].Name, p.segments[0].Over)
	case plans.Trace:
		cfg.Schedule, err = schedule.NewTrace(p.segments[0].Name, p.segments[0].Trace, p.segments[0].Over)
	default:
		cfg.Schedule, err = schedule.New(segments, process, p.seed)
	}
	if err != nil {
		return err
	}
	switch {
	case p.end == nil:
	case p.arrivals == plans.Closed:
		cfg.MaxArrivals = p.end.Requests
		rec.Warnings = append(rec.Warnings, result.Warning{Code: "data_end", Severity: result.Note,
			Text: fmt.Sprintf("The stage ends with the %d rows of data %q, if they do not last for %v.", p.end.Data.Len(), p.end.Data.Name, p.end.Planned)})
	default:
		cfg.Schedule = cfg.Schedule.First(p.end.Requests)
		rec.Warnings = append(rec.Warnings, result.Warning{Code: "data_end", Severity: result.Note,
			Text: fmt.Sprintf("The stage ends with the %d rows of data %q, after %v of the planned %v.", p.end.Data.Len(), p.end.Data.Name, cfg.Schedule.Duration(), p.end.Planned)})
	}
	cfg.Arrivals, cfg.Seed = p.arrivals, p.seed
	cfg.Refresh = t.Refresh
	cfg.Engine, cfg.Pacing, cfg.Loops = r.opt.Engine, r.opt.Pacing, r.opt.Loops
	if cfg.Hosts, err = load.Resolve(ctx, t); err != nil {
		return fmt.Errorf("target %s: %w", t.Name, err)
	}
	if r.opt.Through != nil {
		for i := range cfg.Hosts {
			cfg.Hosts[i].Address = r.opt.Through(cfg.Hosts[i].Address)
		}
		cfg.Refresh = 0
	}
	watched, stop := r.targets.watch(ctx, t)
	defer stop()
	rec.Load, err = load.Run(watched, cfg)
	if err != nil {
		return err
	}
	if ctx.Err() == nil && watched.Err() != nil {
		return context.Cause(watched)
	}
	return nil
}

// alive returns an error when a process of t has ended by itself.
func (ts *targets) alive(t *plans.Target) error {
	for _, in := range ts.list {
		if in.target == t && in.ended() != "" {
			return in.lost()
		}
	}
	return nil
}
