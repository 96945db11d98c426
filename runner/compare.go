package runner

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/load"
	"github.com/perfplan/perfplan/runner/process"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
	"github.com/perfplan/perfplan/runner/verdict"
)

// A side is one version of a comparison, made ready.
type side struct {
	name   string
	target *plans.Target
}

// compare runs two versions in pairs, each run in a fresh process, in the order ABBA, until a look at the pairs decides.
func (r *run) compare(ctx context.Context, st *plans.Stage, c *plans.Compare, rec *result.Stage) (err error) {
	rec.Comparison = &result.Comparison{Margin: c.Margin, Most: c.Pairs, Pairs: []result.ComparedPair{}}
	var sides [2]side
	for i, s := range []plans.Side{c.Base, c.New} {
		var done func()
		sides[i], done, err = r.version(ctx, s)
		defer done()
		if err != nil {
			return err
		}
	}
	rec.Comparison.Base, rec.Comparison.New = sides[0].name, sides[1].name
	restart := r.targets.pause(c.Base.Target, c.New.Target)
	defer func() {
		if ctx.Err() == nil && err == nil {
			err = restart(ctx)
		}
	}()
	const spare = 3 // pairs more, for those that are left out
	whole := 0
	for n := 0; whole < c.Pairs && n < c.Pairs+spare; n++ {
		pair := result.ComparedPair{NewFirst: n%2 == 1}
		begin := func(which int) {
			r.opt.Events(CompareProgress{Stage: st, Pair: n + 1, Most: c.Pairs, Version: sides[which].name})
		}
		err := r.pair(ctx, c, sides, &pair, begin)
		if ctx.Err() != nil {
			return nil // whatever it broke off
		}
		if err != nil {
			return err
		}
		rec.Comparison.Pairs = append(rec.Comparison.Pairs, pair)
		if pair.Left == "" {
			whole++
		}
		if decided := verdict.Compared(c, rec, false); !r.opt.AllPairs && stats.IsLook(whole) && (decided || rec.Outcome == result.Fail) {
			break
		}
	}
	return nil
}

// pair measures both versions, one after the other or in turns. begin is told which is about to run.
func (r *run) pair(ctx context.Context, c *plans.Compare, sides [2]side, pair *result.ComparedPair, begin func(which int)) error {
	order := []int{0, 1}
	if pair.NewFirst {
		order = []int{1, 0}
	}
	runs := [2]*result.ComparedRun{&pair.Base, &pair.New}
	take := func(which int, l *result.Load) {
		runs[which].Counts = l.Counts
		for _, m := range c.Metrics {
			runs[which].Values = append(runs[which].Values, verdict.Measured(m, l))
		}
		if why := verdict.Invalid(l); why != "" && pair.Left == "" {
			pair.Left = sides[which].name + ": " + why
		}
	}
	if c.Alternate == 0 {
		for _, which := range order {
			begin(which)
			l, err := r.oneRun(ctx, c, sides[which], &runs[which].StartNS)
			if err != nil {
				return fmt.Errorf("%s: %w", sides[which].name, err)
			}
			if l == nil || ctx.Err() != nil {
				return nil
			}
			take(which, l)
		}
		return nil
	}
	var ready [2]*version
	for _, which := range order {
		begin(which)
		v, err := r.start(ctx, c, sides[which])
		defer v.own.stop()
		if err != nil {
			return fmt.Errorf("%s: %w", sides[which].name, err)
		}
		ready[which] = v
	}
	var loads [2]*result.Load
	turns := max(2, int((c.For+c.Alternate/2)/c.Alternate))
	for turn := range turns {
		for k := range order {
			which := order[(k+turn)%2] // base, new, new, base
			if turn == 0 {
				runs[which].StartNS = int64(time.Since(r.begin))
			}
			l, err := ready[which].offer(ctx, c.Alternate, c.Seed+uint64(turn))
			if err != nil {
				return fmt.Errorf("%s: %w", sides[which].name, err)
			}
			if l == nil || ctx.Err() != nil {
				return nil
			}
			if loads[which] == nil {
				loads[which] = l
			} else if err := load.Append(loads[which], l); err != nil {
				return err
			}
		}
	}
	for _, which := range order {
		take(which, loads[which])
	}
	return nil
}

// oneRun is one run of one version: its process started, warmed up, measured and stopped.
func (r *run) oneRun(ctx context.Context, c *plans.Compare, s side, startNS *int64) (*result.Load, error) {
	v, err := r.start(ctx, c, s)
	defer v.own.stop()
	if err != nil {
		return nil, err
	}
	*startNS = int64(time.Since(r.begin))
	return v.offer(ctx, c.For, c.Seed)
}

// A version is one that runs, in a fresh process where perfplan starts it.
type version struct {
	own   *targets
	offer func(ctx context.Context, d time.Duration, seed uint64) (*result.Load, error)
}

// start starts a version and warms it up. The caller stops its processes, whatever the error.
func (r *run) start(ctx context.Context, c *plans.Compare, s side) (*version, error) {
	v := &version{own: &targets{list: instancesOf(s.target, filepath.Join(r.opt.Dir, "logs"), r.plan)}}
	if err := v.own.start(ctx, func(Event) {}); err != nil {
		return v, err
	}
	sub := within(r, v.own)
	request := *c.Request
	request.Target = s.target
	v.offer = func(ctx context.Context, d time.Duration, seed uint64) (*result.Load, error) {
		rec := &result.Stage{}
		cfg := load.Config{Request: &request, MaxInFlight: c.MaxInFlight, AtMax: plans.Wait, Timeout: c.Timeout, TimeoutFrom: plans.FromSent, Drain: c.Timeout, KeepAlive: true,
			TickEvery: time.Second, OnTick: func(load.Tick) bool { return true }, Values: valueSeed(request.Name, seed)}
		segs := []plans.Segment{{Name: "run", Kind: "hold", From: c.Rate, To: c.Rate, Over: d}}
		err := sub.offer(ctx, cfg, profile{segs, c.Arrivals, seed, nil}, rec)
		return rec.Load, err
	}
	if c.Warm > 0 {
		if _, err := v.offer(ctx, c.Warm, c.Seed); err != nil {
			return v, err
		}
	}
	return v, nil
}

// within is the run with other targets, for a load within a stage.
func within(r *run, own *targets) *run {
	return &run{plan: r.plan, opt: r.opt, rec: r.rec, begin: r.begin, targets: own, sampler: r.sampler}
}

// version makes a side ready: of a commit, the repository is checked out beside, and the target built there.
func (r *run) version(ctx context.Context, s plans.Side) (side, func(), error) {
	if s.Commit == "" {
		return side{s.Target.Name, s.Target}, func() {}, nil
	}
	git := func(dir string, args ...string) (string, error) {
		cmd := exec.CommandContext(ctx, "git", append([]string{"-C", dir}, args...)...)
		out, err := cmd.Output()
		if exit, ok := errors.AsType[*exec.ExitError](err); ok {
			err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(exit.Stderr)))
		}
		return strings.TrimSpace(string(out)), err
	}
	top, err := git(r.plan.Dir, "rev-parse", "--show-toplevel")
	if err != nil {
		return side{}, func() {}, err
	}
	hash, err := git(top, "rev-parse", "--verify", s.Commit+"^{commit}")
	if err != nil {
		return side{}, func() {}, fmt.Errorf("commit %s: %w", s.Commit, err)
	}
	tmp, err := os.MkdirTemp("", "perfplan-commit-")
	if err != nil {
		return side{}, func() {}, err
	}
	tree := filepath.Join(tmp, "tree")
	done := func() {
		back := exec.Command("git", "-C", top, "worktree", "remove", "--force", tree)
		_ = back.Run()
		os.RemoveAll(tmp)
	}
	if _, err := git(top, "worktree", "add", "--detach", tree, hash); err != nil {
		return side{}, done, err
	}
	t, err := moved(s.Target, top, tree)
	if err != nil {
		return side{}, done, err
	}
	if t.Build != nil {
		r.opt.Events(Preparing{Target: "target " + t.Name + " at " + s.Commit, Doing: "building"})
		if err := process.Run(ctx, process.Spec{Args: t.Build.Args, Dir: t.Build.Dir}, time.Second); err != nil {
			return side{}, done, fmt.Errorf("cannot build target %s at %s: %w", t.Name, s.Commit, err)
		}
	}
	return side{t.Name + " at " + s.Commit + " (" + hash[:12] + ")", t}, done, nil
}

// moved is a target whose commands run in another checkout of its repository.
func moved(t *plans.Target, top, tree string) (*plans.Target, error) {
	out := *t
	there := func(c *plans.Command) error {
		dir, err := filepath.EvalSymlinks(c.Dir)
		if err != nil {
			return err
		}
		root, err := filepath.EvalSymlinks(top)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, dir)
		if err != nil || strings.HasPrefix(rel, "..") {
			return fmt.Errorf("target %s runs in %s, outside of the repository %s", t.Name, c.Dir, top)
		}
		c.Dir = filepath.Join(tree, rel)
		return nil
	}
	if t.Build != nil {
		b := *t.Build
		if err := there(&b); err != nil {
			return nil, err
		}
		out.Build = &b
	}
	out.Start = slices.Clone(t.Start)
	for i := range out.Start {
		if err := there(&out.Start[i]); err != nil {
			return nil, err
		}
	}
	return &out, nil
}

// pause stops the processes of targets, so that others can be started in their place, and returns what starts them again.
func (ts *targets) pause(of ...*plans.Target) (restart func(context.Context) error) {
	var paused []*instance
	for _, in := range ts.list {
		if in.proc != nil && slices.Contains(of, in.target) {
			in.proc.Stop(in.target.Stop)
			for _, c := range in.claims {
				c.Close()
			}
			in.mu.Lock()
			in.proc, in.claims = nil, nil
			in.mu.Unlock()
			paused = append(paused, in)
		}
	}
	return func(ctx context.Context) error {
		for _, in := range paused {
			if err := in.start(ctx); err != nil {
				return err
			}
		}
		for _, in := range paused {
			if err := in.await(ctx); err != nil {
				return err
			}
		}
		return nil
	}
}
