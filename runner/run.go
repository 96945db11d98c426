package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/load"
	"github.com/perfplan/perfplan/runner/observe"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/verdict"
)

// Options say where a run leaves its record and who hears of its progress.
type Options struct {
	Dir       string // the run's own folder, see NewRunDir
	RunID     string
	Version   string                      // of perfplan, for the record
	Env       func(string) (string, bool) // looks up an environment variable
	Events    func(Event)                 // may be nil
	Engine    string                      // of load stages: one of load's names, "" is load.EngineAuto
	Pacing    string                      // of the event loop: one of load's names, "" is load.PacingAuto
	Baselines []*result.Result            // stored runs that SLOs may be relative to
	Through   func(address string) string // where load goes in place of an address of a target; nil: there
	Bench     bool                        // no target is started: the plan has only microbenchmarks
	AllPairs  bool                        // comparisons of versions go on to their last pair
	Loops     int                         // threads of the event loop, 0: chosen
}

// A run is one plan being carried out. It is used by one goroutine, but for stages that run at the same time.
type run struct {
	plan    *plans.Plan
	opt     Options
	rec     *result.Result
	mu      sync.Mutex // for what follows, while stages run at the same time
	begin   time.Time  // rec.Started with the monotonic clock, which the record cannot hold
	targets *targets
	sampler *observe.Sampler
}

// Run carries out p and returns its record, which is also in opt.Dir as result.json after each stage. Whatever
// happens there is a record: Error says why a run could not be carried out, Interrupted that ctx ended. All
// processes that Run started have ended when it returns.
func Run(ctx context.Context, p *plans.Plan, opt Options) *result.Result {
	begin := time.Now()
	r := &run{plan: p, opt: opt, rec: record(ctx, p, opt), begin: begin}
	r.rec.Started = begin.Round(0) // wall clock alone: what is in memory is what is stored
	r.opt.Events = oneAtATime(opt.Events)
	if err := r.carryOut(ctx); err != nil && !errors.Is(err, context.Canceled) {
		r.rec.Error = err.Error()
	}
	r.rec.Interrupted = ctx.Err() != nil
	r.skipRest()
	r.rec.Finished = new(r.rec.Started.Add(time.Since(begin)))
	verdict.Run(r.rec)
	if r.rec.Interrupted && r.rec.Outcome != result.Fail {
		r.rec.Reason = "the run was interrupted"
	}
	if err := r.save(); err != nil && r.rec.Error == "" {
		r.rec.Error = r.plan.Secrets.Redact(err.Error())
	}
	return r.rec
}

// oneAtATime delivers events of stages that run at the same time one after another.
func oneAtATime(events func(Event)) func(Event) {
	if events == nil {
		return func(Event) {}
	}
	var mu sync.Mutex
	return func(e Event) {
		mu.Lock()
		defer mu.Unlock()
		events(e)
	}
}

func record(ctx context.Context, p *plans.Plan, opt Options) *result.Result {
	rec := &result.Result{
		SchemaVersion: result.SchemaVersion,
		Tool:          result.Tool{Name: "perfplan", Version: opt.Version},
		RunID:         opt.RunID,
		Plan: result.Plan{
			Name: p.Name, Description: p.Description, Path: p.Path, Hash: p.Hash, Source: string(p.Source),
		},
		Outcome:     result.Inconclusive,
		Reason:      "the run is under way",
		Environment: observe.Environment(ctx, p.Dir, opt.Env),
		Targets:     []result.Target{},
		Stages:      []result.Stage{},
		Warnings:    []result.Warning{},
	}
	if p.Assembled {
		rec.Plan.Profiles, rec.Plan.Effective = p.Profiles, string(p.YAML())
	}
	for _, w := range p.Warnings {
		rec.Warnings = append(rec.Warnings, result.Warning{Code: "plan", Severity: result.Note, Text: w.String()})
	}
	if opt.Bench {
		rec.Warnings = append(rec.Warnings, result.Warning{Code: "bench", Severity: result.Note, Text: "only the microbenchmarks of the plan were run"})
	}
	rec.Warnings = append(rec.Warnings, descriptorWarnings(p, rec.Environment.FDLimit)...)
	return rec
}

// carryOut builds, starts, runs the stages and stops. An error means that the run could not reach its end.
func (r *run) carryOut(ctx context.Context) error {
	if err := r.save(); err != nil {
		return err
	}
	if err := r.build(ctx); err != nil {
		return err
	}
	r.targets = newTargets(r.plan, filepath.Join(r.opt.Dir, "logs"))
	if r.opt.Bench {
		r.targets = &targets{}
	}
	defer func() {
		r.opt.Events(Preparing{Doing: "stopping"})
		r.targets.stop()
		r.rec.Targets = r.targets.records(r.opt.Dir)
	}()
	err := r.targets.start(ctx, r.opt.Events)
	r.rec.Targets = r.targets.records(r.opt.Dir)
	if err != nil {
		return err
	}
	r.sampler = observe.Start(observe.Config{Processes: r.targets.trees})
	defer r.sampler.Stop()
	for i := 0; i < len(r.plan.Stages); {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := together(r.plan.Stages[i:])
		if err := r.stages(ctx, i, n); err != nil {
			return err
		}
		i += n
	}
	return nil
}

// together is how many of the stages run at the same time as the first of them, with it.
func together(list []*plans.Stage) int {
	n := 1
	for n < len(list) && list[n].Alongside != "" {
		n++
	}
	return n
}

// stages runs n stages from the i-th on at the same time. Their records stand in the order of the plan.
func (r *run) stages(ctx context.Context, i, n int) error {
	before := r.rec.Stages
	ended := make([]*result.Stage, n)
	errs := make([]error, n)
	var all sync.WaitGroup
	for k := range n {
		all.Go(func() {
			errs[k] = r.stage(ctx, i+k, n, func(rec result.Stage) *result.Stage {
				ended[k] = &rec
				r.rec.Stages = slices.Clip(before)
				for _, e := range ended {
					if e != nil {
						r.rec.Stages = append(r.rec.Stages, *e)
					}
				}
				return &rec
			})
		})
	}
	all.Wait()
	return errors.Join(errs...)
}

// stage runs, judges and stores the i-th stage, one of n that run at the same time. put brings its record into that of the
// run.
func (r *run) stage(ctx context.Context, i, n int, put func(result.Stage) *result.Stage) error {
	st := r.plan.Stages[i]
	if st.Delay > 0 {
		r.opt.Events(Preparing{Doing: "waiting for " + st.Name})
		select {
		case <-time.After(st.Delay):
		case <-ctx.Done():
		}
	}
	begin := time.Now()
	rec, err := r.look(ctx, i, n, begin)
	for err == nil && ctx.Err() == nil && again(st, &rec) {
		r.mu.Lock()
		put(rec) // what is measured is kept, whatever becomes of the next look
		saveErr := r.save()
		r.mu.Unlock()
		if saveErr != nil {
			return saveErr
		}
		var next result.Stage
		next, err = r.look(ctx, i, n, time.Now())
		looks := rec.Looks
		if looks == nil {
			looks = []result.Stage{rec}
		}
		if err != nil || ctx.Err() != nil { // the one before stands
			rec.Looks = append(looks, next)
			break
		}
		rec = next
		rec.SLO = slices.Clone(next.SLO) // the look keeps its own
		rec.Looks = append(slices.Clone(looks), next)
		verdict.Looks(st, &rec)
	}
	if err != nil && rec.Outcome != result.Fail {
		rec.Reason = err.Error()
	}
	r.mu.Lock()
	stored := put(rec)
	r.rec.Targets = r.targets.records(r.opt.Dir)
	saveErr := r.save()
	r.mu.Unlock()
	r.opt.Events(StageFinished{Index: i, Count: len(r.plan.Stages), Stage: stored})
	if saveErr != nil {
		return saveErr
	}
	if err != nil {
		return fmt.Errorf("stage %s: %w", st.Name, err)
	}
	return nil
}

// again tells whether a stage is to be measured once more: an SLO has failed, or the looks until now do not agree.
func again(st *plans.Stage, rec *result.Stage) bool {
	if len(rec.Looks) == 0 {
		return st.Looks > 1 && rec.Outcome == result.Fail
	}
	return len(rec.Looks) < st.Looks && !verdict.Agreed(st, rec.Looks)
}

// look measures the i-th stage once, one of n that run at the same time.
func (r *run) look(ctx context.Context, i, n int, begin time.Time) (result.Stage, error) {
	st := r.plan.Stages[i]
	r.opt.Events(StageStarted{Index: i, Count: len(r.plan.Stages), Stage: st})
	r.sampler.Read() // so that the first interval begins with the stage
	rec := result.Stage{
		Name: st.Name, Kind: st.Work.Kind(), Alongside: st.Alongside, State: result.Complete, StartNS: int64(begin.Sub(r.begin)),
		SLO: []result.SLO{}, Warnings: []result.Warning{},
	}
	err := r.work(ctx, st, n, &rec)
	notes := slices.Clone(rec.Warnings)
	looks := st.Rounds()
	if rec.Load != nil && len(looks) > 1 {
		rec.Load.Looks = len(looks)
	}
	judge := func() {
		end := time.Now()
		rec.DurationNS = int64(end.Sub(begin))
		if err != nil || ctx.Err() != nil || rec.Aborted != "" {
			rec.State = result.Partial
		}
		rec.Observation = r.sampler.Between(begin, end)
		rec.Warnings = slices.Clone(notes)
		if c, ok := st.Work.(*plans.Compare); ok {
			verdict.Compared(c, &rec, true)
			return
		}
		m, _ := st.Work.(*plans.Microbenchmark)
		verdict.StageAgainst(st, &rec, r.baselines(st.Name, m))
	}
	judge()
	for round := 1; err == nil && rec.State == result.Complete && round < looks[len(looks)-1]; {
		open := verdict.Undecided(st, &rec)
		if open == "" {
			break
		}
		most := looks[slices.IndexFunc(looks, func(n int) bool { return n > round })]
		for ; round < most && err == nil && rec.State == result.Complete; round++ {
			r.opt.Events(StageExtended{Stage: st, Round: round + 1, Most: looks[len(looks)-1], Open: open})
			err = r.round(ctx, st, n, round, &rec)
		}
		judge()
	}
	return rec, err
}

// round offers the load of a stage once more and adds what it measured to the stage's record.
func (r *run) round(ctx context.Context, st *plans.Stage, n, round int, rec *result.Stage) error {
	more := result.Stage{}
	err := r.load(ctx, st, st.Work.(*plans.Load), n, round, &more)
	rec.Aborted = more.Aborted
	if more.Load == nil {
		return err
	}
	if err != nil || ctx.Err() != nil || rec.Aborted != "" {
		rec.State = result.Partial
	}
	return errors.Join(err, load.Append(rec.Load, more.Load))
}

// baselines are the stored runs of a stage that this one can be compared with. A microbenchmark m can be compared with one of
// the same subject, whatever else of the plan is another.
func (r *run) baselines(stage string, m *plans.Microbenchmark) (b verdict.Baselines) {
	for _, base := range r.opt.Baselines {
		i := slices.IndexFunc(base.Stages, func(s result.Stage) bool { return s.Name == stage })
		unlike := r.rec.Environment.Unlike(base.Environment)
		if slices.Contains(r.plan.Tolerate, "machine") {
			unlike = ""
		}
		samePlan := base.Plan.Hash == r.plan.Hash || slices.Contains(r.plan.Tolerate, "plan")
		switch {
		case m != nil && i >= 0 && base.Stages[i].Microbenchmark != nil && base.Stages[i].Microbenchmark.Kind == string(m.Subject.Kind) &&
			base.Stages[i].Microbenchmark.Command == m.Subject.Command.Text && unlike == "" && base.Stages[i].State == result.Complete:
			b.Stages, b.IDs = append(b.Stages, &base.Stages[i]), append(b.IDs, base.RunID)
		case !samePlan:
			b.Unlike = append(b.Unlike, fmt.Sprintf("run %s is of another plan, or of this one before it changed%s (baseline: {tolerate: [plan]} lets it count)", base.RunID, changedIn(base.Plan, r.rec.Plan)))
		case unlike != "":
			b.Unlike = append(b.Unlike, fmt.Sprintf("run %s was made on another kind of machine: %s (baseline: {tolerate: [machine]} lets it count)", base.RunID, unlike))
		case i < 0 || base.Stages[i].State != result.Complete:
			b.Unlike = append(b.Unlike, fmt.Sprintf("run %s has no whole stage %s", base.RunID, stage))
		default:
			b.Stages, b.IDs = append(b.Stages, &base.Stages[i]), append(b.IDs, base.RunID)
		}
	}
	return b
}

// changedIn says what two plans differ in, as far as records tell: their names, or the first line.
func changedIn(old, now result.Plan) string {
	if old.Name != now.Name {
		return fmt.Sprintf(": it is of plan %s", old.Name)
	}
	a, b := cmp.Or(old.Effective, old.Source), cmp.Or(now.Effective, now.Source)
	if a == "" || b == "" || a == b {
		return fmt.Sprintf(": its hash is %.19s, this one's %.19s", old.Hash, now.Hash)
	}
	was, is := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range max(len(was), len(is)) {
		line := func(of []string) string {
			if i < len(of) {
				return fmt.Sprintf("%q", strings.TrimSpace(of[i]))
			}
			return "nothing"
		}
		if line(was) != line(is) {
			return fmt.Sprintf(": line %d was %.100s and is %.100s", i+1, line(was), line(is))
		}
	}
	return ": only its layout"
}

func (r *run) work(ctx context.Context, st *plans.Stage, n int, rec *result.Stage) error {
	switch w := st.Work.(type) {
	case *plans.Microbenchmark:
		return r.microbenchmark(ctx, st, w, rec)
	case *plans.Warmup:
		return r.warmup(ctx, st, w, rec)
	case *plans.Load:
		return r.load(ctx, st, w, n, 0, rec)
	case *plans.Compare:
		return r.compare(ctx, st, w, rec)
	}
	return fmt.Errorf("stage kind %q is not known here", st.Work.Kind())
}

// skipRest records the stages that never started.
func (r *run) skipRest() {
	for _, st := range r.plan.Stages[len(r.rec.Stages):] {
		r.rec.Stages = append(r.rec.Stages, result.Stage{
			Name: st.Name, Kind: st.Work.Kind(), State: result.Skipped, Outcome: result.Inconclusive,
			Reason: "the run ended before this stage", SLO: []result.SLO{}, Warnings: []result.Warning{},
		})
	}
}

func (r *run) save() error {
	if len(r.plan.Secrets) > 0 {
		result.Redact(r.rec, r.plan.Secrets.Redactor())
	}
	if err := result.Write(r.opt.Dir, r.rec); err != nil {
		return fmt.Errorf("cannot write the result: %w", err)
	}
	return nil
}

// descriptorWarnings compares what the load stages may need with the limit on open files.
func descriptorWarnings(p *plans.Plan, limit int64) []result.Warning {
	const own = 64 // log files, /proc readers, reports
	var ws []result.Warning
	for _, st := range p.Stages {
		l, ok := st.Work.(*plans.Load)
		if !ok || limit <= 0 {
			continue
		}
		most := l.MaxInFlight
		if l.Connections > 0 {
			most = l.Connections
		}
		need := int64(most) * int64(len(l.Request.Target.Endpoints())) // idle connections stay open per host
		if need+own <= limit {
			continue
		}
		ws = append(ws, result.Warning{
			Code: "descriptors", Severity: result.Suspect,
			Text: fmt.Sprintf("stage %s may need %d connections, but this process may open only %d files", st.Name, need, limit),
			Fix:  "raise the limit (ulimit -n) or lower max_in_flight or connections",
		})
	}
	return ws
}

// relative is path as seen from dir, or path itself.
func relative(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil {
		return filepath.ToSlash(rel)
	}
	return path
}
