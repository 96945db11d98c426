package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/observe"
	"github.com/perfplan/perfplan/runner/process"
	"github.com/perfplan/perfplan/runner/result"
)

// An instance is one process of a target, or a target that somebody else runs.
type instance struct {
	target *plans.Target
	rec    result.Target
	ends   []plans.Endpoint
	mu     sync.Mutex       // for proc, where the sampler looks while it changes
	proc   *process.Process // nil: not ours, or not started
	log    string           // path of its log file
	claims []io.Closer      // of its addresses
	filter func(io.Writer) io.WriteCloser
}

// errClaimed says that another run of perfplan has started a target at an address.
var errClaimed = errors.New("another run of perfplan has its target there: wait for its end, or use another address")

// targets are the systems under test of a run.
type targets struct {
	list []*instance
}

func newTargets(p *plans.Plan, logDir string) *targets {
	ts := &targets{}
	for _, t := range p.Targets {
		ts.list = append(ts.list, instancesOf(t, logDir, p)...)
	}
	return ts
}

// instancesOf are the processes of a target, or the target that somebody else runs.
func instancesOf(t *plans.Target, logDir string, p *plans.Plan) (list []*instance) {
	n := max(len(t.Start), 1)
	for i := range n {
		ends := t.Endpoints()
		if n > 1 {
			ends = ends[i : i+1]
		}
		in := &instance{target: t, ends: ends, rec: result.Target{Name: t.Name, Instance: i}, filter: filter(p)}
		for _, e := range ends {
			if url := e.URL.String(); !slices.Contains(in.rec.URLs, url) {
				in.rec.URLs = append(in.rec.URLs, url)
			}
		}
		if len(t.Start) > 0 {
			in.rec.Command = t.Start[i].Text
			in.log = filepath.Join(logDir, t.Name+"-"+strconv.Itoa(i)+".log")
		}
		list = append(list, in)
	}
	return list
}

// filter takes a plan's secrets out of what its commands print; nil where there are none.
func filter(p *plans.Plan) func(io.Writer) io.WriteCloser {
	if len(p.Secrets) == 0 {
		return nil
	}
	return p.Secrets.Writer
}

// build runs each build command of the plan once.
func (r *run) build(ctx context.Context) error {
	var done []string
	build := func(what string, c *plans.Command) error {
		if c == nil {
			return nil
		}
		key := c.Dir + "\x00" + strings.Join(c.Args, "\x00")
		if slices.Contains(done, key) {
			return nil
		}
		done = append(done, key)
		r.opt.Events(Preparing{Target: what, Doing: "building"})
		if err := process.Run(ctx, process.Spec{Args: c.Args, Dir: c.Dir}, time.Second); err != nil {
			return fmt.Errorf("cannot build %s: %w", what, err)
		}
		return nil
	}
	for _, t := range r.plan.Targets {
		if err := build("target "+t.Name, t.Build); err != nil {
			return err
		}
	}
	for _, st := range r.plan.Stages {
		if m, ok := st.Work.(*plans.Microbenchmark); ok {
			if err := build("the subject of stage "+st.Name, m.Build); err != nil {
				return err
			}
		}
	}
	return nil
}

// start starts every target that is perfplan's to start and waits until all of them answer.
func (ts *targets) start(ctx context.Context, events func(Event)) error {
	for _, in := range ts.list {
		if len(in.target.Start) == 0 {
			continue
		}
		events(Preparing{Target: in.name(), Doing: "starting"})
		if err := in.start(ctx); err != nil {
			return err
		}
	}
	for _, in := range ts.list {
		begin := time.Now()
		if in.proc != nil {
			begin = in.proc.Started()
		}
		if err := in.await(ctx); err != nil {
			return err
		}
		in.rec.ReadyNS = int64(time.Since(begin))
		events(Preparing{Target: in.name(), Doing: "ready"})
	}
	return nil
}

func (in *instance) start(ctx context.Context) error {
	for _, e := range in.ends {
		c, err := claim(e.Address)
		if err != nil {
			return fmt.Errorf("target %s: %s: %w", in.target.Name, e.Address, err)
		}
		if c != nil {
			in.claims = append(in.claims, c)
		}
		// Whatever answers there before we start would be measured in place of the target.
		if c, err := net.DialTimeout(e.Network, e.Address, time.Second); err == nil {
			c.Close()
			return fmt.Errorf("target %s: something already listens on %s: stop it, or leave out \"start\" to measure it", in.target.Name, e.Address)
		}
	}
	if err := os.MkdirAll(filepath.Dir(in.log), 0o777); err != nil {
		return err
	}
	c := in.target.Start[in.rec.Instance]
	p, err := process.Start(ctx, process.Spec{Args: c.Args, Dir: c.Dir, LogFile: in.log, Filter: in.filter})
	if err != nil {
		return fmt.Errorf("target %s: cannot start it: %w", in.target.Name, err)
	}
	in.mu.Lock()
	in.proc, in.rec.PID = p, p.PID()
	in.mu.Unlock()
	return nil
}

func (in *instance) name() string {
	if len(in.target.Start) > 1 {
		return fmt.Sprintf("%s[%d]", in.target.Name, in.rec.Instance)
	}
	return in.target.Name
}

// ended is how the process ended by itself, or "" while it runs or is not ours.
func (in *instance) ended() string {
	if in.proc == nil {
		return ""
	}
	select {
	case <-in.proc.Done():
		return in.proc.Exit()
	default:
		return ""
	}
}

// stop ends all processes, at the same time, and their descendants.
func (ts *targets) stop() {
	done := make(chan struct{}, len(ts.list))
	for _, in := range ts.list {
		if in.proc != nil {
			in.rec.Exit = in.ended()
		}
		go func() {
			if in.proc != nil {
				in.proc.Stop(in.target.Stop)
			}
			for _, c := range in.claims {
				c.Close()
			}
			done <- struct{}{}
		}()
	}
	for range ts.list {
		<-done
	}
}

// watch returns a copy of ctx that ends, with the reason as its cause, when a process of target t ends.
func (ts *targets) watch(ctx context.Context, t *plans.Target) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	for _, in := range ts.list {
		if in.target != t || in.proc == nil {
			continue
		}
		go func() {
			select {
			case <-in.proc.Done():
				cancel(in.lost())
			case <-ctx.Done():
			}
		}()
	}
	return ctx, func() { cancel(nil) }
}

// lost is the error for a process that ended by itself.
func (in *instance) lost() error {
	err := fmt.Errorf("target %s ended by itself: %s", in.name(), in.proc.Exit())
	if tail := in.proc.LogTail(5); tail != "" {
		err = fmt.Errorf("%w; its last output:\n%s", err, tail)
	}
	return err
}

// trees tells the sampler what to observe.
func (ts *targets) trees() []observe.Tree {
	var trees []observe.Tree
	for _, in := range ts.list {
		in.mu.Lock()
		if in.proc != nil && in.target.Observe {
			trees = append(trees, observe.Tree{Name: in.target.Name, PID: in.proc.PID()})
		}
		in.mu.Unlock()
	}
	return trees
}

// records are the targets as the result holds them, log files relative to dir.
func (ts *targets) records(dir string) []result.Target {
	out := make([]result.Target, 0, len(ts.list))
	for _, in := range ts.list {
		rec := in.rec
		if in.proc != nil {
			rec.LogFile = relative(dir, in.log)
		}
		out = append(out, rec)
	}
	return out
}

// place is the URL of a path and, where connections go elsewhere, the address.
func place(e plans.Endpoint, path string) string {
	if e.Elsewhere() {
		return fmt.Sprintf("%s%s (through %s)", e.URL, path, e.Address)
	}
	return e.URL.String() + path
}
