// Package selftest proves that the gates of a plan can fail: it runs each load stage through a proxy, without a fault, when all
// of its assertions have to hold, and once for each assertion with a fault that breaks it by a known margin, when that one has
// to fail.
package selftest

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner"
	"github.com/perfplan/perfplan/runner/faults"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/verdict"
)

// Margin is how far beyond its limit a fault takes what an assertion is about, in proportion.
const Margin = 0.25

// States of a proof.
const (
	Proven   = "proven"   // it failed with the fault, and held without
	Never    = "never"    // it did not fail, or cannot
	Unproven = "unproven" // no fault of a network is about it
)

// A Proof is what came out for one assertion.
type Proof struct {
	Stage  string `json:"stage"`
	SLO    string `json:"slo"`
	State  string `json:"state"`
	Fault  string `json:"fault,omitempty"` // that was injected
	Reason string `json:"reason"`
}

// A Report is what came out of a self-test.
type Report struct {
	Green  []Proof `json:"green"` // assertions that did not hold without a fault
	Proofs []Proof `json:"proofs"`
	Error  string  `json:"error,omitempty"` // why it could not be carried out to its end
}

// Options say how a self-test runs.
type Options struct {
	Dir      string // for the runs' records
	Version  string
	Env      func(string) (string, bool)
	Progress func(text string) // may be nil
}

// Run carries out a self-test.
func Run(ctx context.Context, p *plans.Plan, opt Options) *Report {
	t := &test{plan: p, opt: opt, report: &Report{Green: []Proof{}, Proofs: []Proof{}}, proxies: map[string]*faults.Proxy{}}
	defer t.close()
	for _, st := range p.Stages {
		if err := t.stage(ctx, st); err != nil {
			t.report.Error = err.Error()
			break
		}
	}
	return t.report
}

type test struct {
	plan   *plans.Plan
	opt    Options
	report *Report
	runs   int

	mu      sync.Mutex
	proxies map[string]*faults.Proxy
	failure error
}

func (t *test) close() {
	for _, p := range t.proxies {
		p.Close()
	}
}

func (t *test) proof(st *plans.Stage, s plans.SLO, state string, f faults.Fault, format string, args ...any) {
	pr := Proof{Stage: st.Name, SLO: s.Text, State: state, Reason: fmt.Sprintf(format, args...)}
	if f != (faults.Fault{}) {
		pr.Fault = f.String()
	}
	t.report.Proofs = append(t.report.Proofs, pr)
}

// stage proves the assertions of one stage.
func (t *test) stage(ctx context.Context, st *plans.Stage) error {
	if len(st.SLOs) == 0 {
		return nil
	}
	l, ok := st.Work.(*plans.Load)
	if !ok {
		return t.bench(ctx, st)
	}
	short := shortened(l, st.SLOs)
	green, err := t.run(ctx, st, short, faults.Fault{})
	if err != nil {
		return err
	}
	for i, s := range st.SLOs {
		if o := green.SLO[i]; o.Outcome != result.Pass && !s.Baseline.Set {
			t.report.Green = append(t.report.Green, Proof{Stage: st.Name, SLO: s.Text, State: string(o.Outcome), Reason: o.Reason})
		}
		t.closed(st, s)
	}
	for i, s := range st.SLOs {
		f, impossible, unproven := breaking(s, short)
		switch {
		case s.Warn:
			t.proof(st, s, Never, faults.Fault{}, "it only warns: whatever is measured, no run fails by it")
			continue
		case impossible != "":
			t.proof(st, s, Never, faults.Fault{}, "%s", impossible)
			continue
		case unproven != "":
			t.proof(st, s, Unproven, faults.Fault{}, "%s", unproven)
			continue
		}
		broken, err := t.run(ctx, st, roomFor(short, f), f)
		if err != nil {
			return err
		}
		if o := broken.SLO[i]; o.Outcome == result.Fail {
			t.proof(st, s, Proven, f, "%s", o.Reason)
		} else {
			t.proof(st, s, Never, f, "it came out as %s: %s", o.Outcome, o.Reason)
		}
	}
	return nil
}

// closed checks that an assertion does not pass on nothing: without a record, and without a baseline.
func (t *test) closed(st *plans.Stage, s plans.SLO) {
	for _, empty := range []result.Stage{{Name: st.Name, State: result.Complete}, {Name: st.Name, State: result.Complete, Load: &result.Load{}, Microbenchmark: &result.Microbenchmark{}}} {
		one := *st
		one.SLOs = []plans.SLO{s}
		rec := empty
		verdict.Stage(&one, &rec)
		if rec.SLO[0].Outcome == result.Pass {
			t.proof(st, s, Never, faults.Fault{}, "it passes on a stage that measured nothing")
		}
	}
}

// run runs one stage alone, through proxies with a fault.
func (t *test) run(ctx context.Context, st *plans.Stage, work plans.Work, f faults.Fault) (*result.Stage, error) {
	one := *st
	one.Work, one.Alongside, one.Delay = work, "", 0
	if l, ok := work.(*plans.Load); ok {
		one.Extend = min(st.Extend, 3*l.Duration())
	}
	p := *t.plan
	p.Stages = append(warmups(t.plan.Stages, st), &one)
	t.mu.Lock()
	for _, proxy := range t.proxies {
		proxy.Set(f)
	}
	t.mu.Unlock()
	if t.opt.Progress != nil {
		t.opt.Progress(fmt.Sprintf("stage %s: %s", st.Name, f))
	}
	t.runs++
	dir := filepath.Join(t.opt.Dir, strconv.Itoa(t.runs))
	if err := os.Mkdir(dir, 0o777); err != nil {
		return nil, err
	}
	r := runner.Run(ctx, &p, runner.Options{Dir: dir, RunID: strconv.Itoa(t.runs), Version: t.opt.Version, Env: t.opt.Env,
		Through: func(address string) string { return t.through(address, f) }})
	switch {
	case t.failure != nil:
		return nil, t.failure
	case r.Interrupted:
		return nil, context.Canceled
	case r.Error != "":
		return nil, fmt.Errorf("%s", r.Error)
	}
	return &r.Stages[len(r.Stages)-1], nil
}

// warmups is the warm-up before a stage, if there is one.
func warmups(all []*plans.Stage, st *plans.Stage) []*plans.Stage {
	for i := slices.Index(all, st) - 1; i >= 0; i-- {
		if w, ok := all[i].Work.(*plans.Warmup); ok {
			short := *all[i]
			work := *w
			work.Until.AtMost = min(work.Until.AtMost, 5*time.Second)
			short.Work, short.Delay = &work, 0
			return []*plans.Stage{&short}
		}
	}
	return nil
}

// through is the proxy before an address.
func (t *test) through(address string, f faults.Fault) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.proxies[address]
	if p == nil {
		var err error
		if p, err = faults.New(address); err != nil {
			t.failure = err
			return address
		}
		p.Set(f)
		t.proxies[address] = p
	}
	return p.Address()
}

// The least that a segment lasts in a self-test.
const leastSegment = 2 * time.Second

// shortened is the load with its segments no longer than its assertions need.
func shortened(l *plans.Load, slos []plans.SLO) *plans.Load {
	need, window := 30, time.Duration(0)
	for _, s := range slos {
		need = max(need, 3*s.MinSamples())
		window = max(window, s.Window)
	}
	short := *l
	short.Profile = slices.Clone(l.Profile)
	for i := range short.Profile {
		seg := &short.Profile[i]
		if len(seg.Points) > 0 || len(seg.Trace) > 0 || seg.Over <= leastSegment {
			continue
		}
		mean := (seg.From + seg.To) / 2
		over := leastSegment
		if mean > 0 {
			over = max(over, time.Duration(math.Ceil(float64(need)/mean))*time.Second)
		}
		if window > 0 {
			over = max(over, 4*window)
		}
		if l.Arrivals == plans.Closed {
			over = max(over, 3*leastSegment)
		}
		seg.Over = min(seg.Over, over)
	}
	return &short
}

// roomFor is the load with room for what a fault keeps in flight: its bound is not what is tested.
func roomFor(l *plans.Load, f faults.Fault) *plans.Load {
	if l.Arrivals == plans.Closed {
		return l
	}
	most := 0.0
	for _, seg := range l.Profile {
		most = max(most, seg.Peak())
	}
	room := *l
	room.MaxInFlight = max(l.MaxInFlight, min(100_000, int(2*most*(f.Delay+f.Jitter).Seconds())+64))
	return &room
}

// breaking is the fault that takes what an assertion is about beyond its limit; else why there can be none, or why none of a
// network is about it.
func breaking(s plans.SLO, l *plans.Load) (f faults.Fault, impossible, unproven string) {
	m, upper := s.Metric, s.Op[0] == '<' || s.Op == "=="
	planned := 0.0
	for _, seg := range l.Profile {
		planned += seg.Planned()
	}
	switch {
	case s.Baseline.Set:
		return f, "", "it compares with stored runs, of which a self-test has none"
	case m.Host != "" || m.Status != "":
		return f, "", "it is about some hosts or answers, which the proxy does not tell apart"
	}
	switch m.Kind {
	case plans.Quantile, plans.Max, plans.Mean, plans.Min:
		switch {
		case m.Clock == plans.Lag || m.Clock == plans.Connect:
			return f, "", "what comes after a connection is open does not touch " + string(m.Clock) + " times"
		case !upper:
			return f, "", "no fault makes a target faster"
		}
		delay := time.Duration(s.Limit * (1 + Margin))
		if l.Timeout > 0 && delay >= l.Timeout {
			return f, fmt.Sprintf("requests end at the timeout of %v, below the limit of %v and the margin", l.Timeout, time.Duration(s.Limit)), ""
		}
		return faults.Fault{Delay: max(delay, time.Duration(s.Limit)+5*time.Millisecond)}, "", ""
	case plans.ErrorRate, plans.SuccessRate:
		limit := s.Limit
		if m.Kind == plans.SuccessRate {
			limit, upper = 1-s.Limit, !upper
		}
		share := limit + max(Margin*limit, 0.05)
		switch {
		case !upper:
			return f, "", "no fault makes a target answer better"
		case share > 1:
			return f, "its limit and the margin are more than all requests", ""
		}
		return faults.Fault{ResetShare: share}, "", ""
	case plans.Failed:
		share := (s.Limit*(1+Margin) + 5) / planned
		switch {
		case !upper:
			return f, "", "no fault makes a target answer better"
		case l.Arrivals == plans.Closed:
			share = 0.5
		case s.Limit >= planned:
			return f, fmt.Sprintf("the stage offers %.0f requests, so no more can fail, and its limit is %s", planned, strings.TrimSuffix(strconv.FormatFloat(s.Limit, 'f', 1, 64), ".0")), ""
		}
		return faults.Fault{ResetShare: min(share, 1)}, "", ""
	case plans.Throughput:
		if upper {
			return f, "", "no fault makes a target answer more"
		}
		keep := s.Limit
		if s.Unit == plans.PerSecond {
			keep = s.Limit * l.Duration().Seconds() / planned
		}
		if keep <= 0 {
			return f, "its limit is nothing", ""
		}
		return faults.Fault{ResetShare: min(1, 1-keep*(1-Margin))}, "", ""
	}
	return f, "", "no fault of a network is about " + m.String()
}
