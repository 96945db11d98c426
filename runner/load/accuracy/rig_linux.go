package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/load/kts"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/verdict"
)

// A rig starts the processes of a test: the server on core 0, what offers load on
// the others.
type rig struct {
	ctx      context.Context
	self     string // this program
	engine   string
	full     bool
	brief    bool // shorter than short: enough for counts
	pin      bool
	realtime bool
	netns    *os.File // the network namespace of the processes; nil: this one
	holds    []int64  // hold errors of the servers since the last look, ns
}

// pick is the length of a run.
func (r *rig) pick(short, full time.Duration) time.Duration {
	switch {
	case r.full:
		return full
	case r.brief:
		return short / 2
	}
	return short
}

// place says where a process is to run.
type place struct {
	server   bool // core 0
	ordinary bool // not of real-time priority, whatever the rig's is
}

// launch starts a process at its place. Its core, priority and network namespace
// are those of the thread that starts it.
func (r *rig) launch(cmd *exec.Cmd, p place) error {
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its settings
		failed <- func() error {
			if err := r.settle(p); err != nil {
				return err
			}
			return cmd.Start()
		}()
	}()
	return <-failed
}

func (r *rig) settle(p place) error {
	if r.netns != nil {
		if err := unix.Setns(int(r.netns.Fd()), unix.CLONE_NEWNET); err != nil {
			return os.NewSyscallError("setns", err)
		}
	}
	if r.pin && runtime.NumCPU() > 1 {
		var set unix.CPUSet
		if p.server {
			set.Set(0)
		} else {
			for cpu := 1; cpu < runtime.NumCPU(); cpu++ {
				set.Set(cpu)
			}
		}
		if err := unix.SchedSetaffinity(0, &set); err != nil {
			return os.NewSyscallError("sched_setaffinity", err)
		}
	}
	if r.realtime && !p.ordinary {
		attr := unix.SchedAttr{Size: unix.SizeofSchedAttr, Policy: unix.SCHED_FIFO, Priority: 1}
		if err := unix.SchedSetAttr(0, &attr, 0); err != nil {
			return os.NewSyscallError("sched_setattr", err)
		}
	}
	return nil
}

// A server is a kts process.
type server struct {
	rig  *rig
	cmd  *exec.Cmd
	in   io.Closer
	out  *bufio.Reader
	addr netip.AddrPort
}

// serve starts a server on a free port, or on the given one.
func (r *rig) serve(mode, port string, capacity int) (*server, error) {
	cmd := exec.CommandContext(r.ctx, r.self, "serve", mode, "127.0.0.1:"+port, fmt.Sprint(capacity))
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := r.launch(cmd, place{server: true}); err != nil {
		return nil, fmt.Errorf("start the server: %w", err)
	}
	s := &server{rig: r, cmd: cmd, in: in, out: bufio.NewReader(out)}
	line, err := s.out.ReadString('\n')
	if err == nil {
		s.addr, err = netip.ParseAddrPort(strings.TrimSpace(line))
	}
	if err != nil {
		s.kill()
		return nil, fmt.Errorf("the server %q did not start: %w", mode, err)
	}
	return s, nil
}

func (s *server) kill() {
	s.cmd.Process.Kill()
	s.cmd.Wait()
}

// stop ends the server and returns its log.
func (s *server) stop() (log kts.Log, err error) {
	s.in.Close()
	err = json.NewDecoder(s.out).Decode(&log)
	if waited := s.cmd.Wait(); err == nil {
		err = waited
	}
	if err != nil {
		return log, fmt.Errorf("the server's log: %w", err)
	}
	s.rig.holds = append(s.rig.holds, log.HoldErrors()...)
	return log, nil
}

// serveMain is the server process: it answers until standard input ends and then
// writes its log.
func serveMain(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 3 {
		return errors.New("serve: want MODE ADDRESS CAPACITY")
	}
	mode, err := kts.ParseMode(args[0])
	if err != nil {
		return err
	}
	o := kts.Options{Mode: mode}
	if o.Address, err = netip.ParseAddrPort(args[1]); err != nil {
		return err
	}
	if _, err := fmt.Sscan(args[2], &o.Capacity); err != nil {
		return err
	}
	s, err := kts.Start(o)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, s.Addr()); err != nil {
		return err
	}
	io.Copy(io.Discard, in)
	s.Stop()
	log := s.Log()
	return json.NewEncoder(out).Encode(&log)
}

// A generator is a process that offers load.
type generator struct {
	cmd  *exec.Cmd
	done context.CancelFunc
	out  *bufio.Reader
	err  bytes.Buffer
}

// grace is how much longer than its job says a generator may take, on a busy machine.
const grace = time.Minute

// longest is how long the job may take.
func (j *job) longest() time.Duration {
	over := j.Timeout + j.Drain + grace
	for _, s := range j.Segments {
		over += s.Over
	}
	for _, at := range j.Trace[max(0, len(j.Trace)-1):] {
		over += at
	}
	return over
}

// generate starts a generator and returns when its load begins.
func (r *rig) generate(j job, p place) (*generator, error) {
	j.Engine = r.engine
	text, err := json.Marshal(&j)
	if err != nil {
		return nil, err
	}
	ctx, done := context.WithTimeout(r.ctx, j.longest())
	g := &generator{cmd: exec.CommandContext(ctx, r.self, "generate"), done: done}
	g.cmd.WaitDelay = grace
	g.cmd.Stdin, g.cmd.Stderr = bytes.NewReader(text), &g.err
	out, err := g.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	g.out = bufio.NewReader(out)
	if err := r.launch(g.cmd, p); err != nil {
		done()
		return nil, fmt.Errorf("start the generator: %w", err)
	}
	if line, err := g.out.ReadString('\n'); err != nil || line != started {
		done()
		g.cmd.Wait()
		return nil, fmt.Errorf("the generator did not start: %s", bytes.TrimSpace(g.err.Bytes()))
	}
	return g, nil
}

// wait returns what the generator reports.
func (g *generator) wait() (rep report, err error) {
	defer g.done()
	err = json.NewDecoder(g.out).Decode(&rep)
	if waited := g.cmd.Wait(); waited != nil {
		err = waited
	}
	if err != nil {
		return rep, fmt.Errorf("the generator: %w: %s", err, bytes.TrimSpace(g.err.Bytes()))
	}
	return rep, nil
}

// An outcome is one run: what the engine reports and what the server saw.
type outcome struct {
	*result.Load
	base     int64 // the run's start, as the server's times
	log      kts.Log
	due      []time.Duration
	response *hist.Hist
}

// A setup is a run to be made.
type setup struct {
	mode string
	job
	during func(pid int) // called while the load is offered
	place  place
	port   string // of the server; "": any
}

// defaults fills in what a job leaves open.
func (j *job) defaults() {
	if j.MaxInFlight == 0 {
		j.MaxInFlight = 4000
	}
	if j.Timeout == 0 {
		j.Timeout = 30 * time.Second
	}
	if j.Drain == 0 {
		j.Drain = j.Timeout + time.Second
	}
	if j.Seed == 0 {
		j.Seed = 1
	}
}

// measure makes a run.
func (r *rig) measure(u setup) (*outcome, error) {
	u.job.defaults()
	o := &outcome{}
	var err error
	if o.due, err = u.job.due(); err != nil {
		return nil, err
	}
	s, err := r.serve(u.mode, cmp.Or(u.port, "0"), 2*len(o.due)+100)
	if err != nil {
		return nil, err
	}
	u.job.Address = s.addr
	g, err := r.generate(u.job, u.place)
	if err != nil {
		s.kill()
		return nil, err
	}
	if u.during != nil {
		u.during(g.cmd.Process.Pid)
	}
	rep, err := g.wait()
	if err != nil {
		s.kill()
		return nil, err
	}
	if o.log, err = s.stop(); err != nil {
		return nil, err
	}
	o.Load, o.base = rep.Load, rep.BaseNS
	o.refine()
	o.response, err = restore(o.Load.Response)
	return o, err
}

// refine moves the run's start forward to where no request is at the server
// sooner after its intended time than the shortest lag allows.
func (o *outcome) refine() {
	if len(o.log.Arrival) != len(o.due) || o.Lag.MinNS == nil {
		return
	}
	for i, at := range slices.Sorted(slices.Values(o.log.Arrival)) {
		o.base = min(o.base, at-int64(o.due[i])-*o.Lag.MinNS)
	}
}

// restore decodes a distribution's histogram with its exact ends.
func restore(d result.Distribution) (*hist.Hist, error) {
	if d.Count == 0 {
		return hist.New(), nil
	}
	h, err := hist.Decode(d.Histogram)
	if err != nil {
		return nil, err
	}
	e := h.Exact()
	e.Min, e.Max = *d.MinNS, *d.MaxNS
	return hist.Restore(d.Histogram, e)
}

// trace is what the server's log says that the responses took: release after
// intended time.
func (o *outcome) trace() (truth, bool) {
	var all []float64
	for i, seq := range o.log.Seq {
		if seq >= 0 && seq < int64(len(o.due)) && o.log.Release[i] > 0 {
			all = append(all, float64(o.log.Release[i]-o.base-int64(o.due[seq])))
		}
	}
	if len(all) == 0 {
		return truth{}, false
	}
	return sampled(all), true
}

// judge is the stage's outcome by these SLOs.
func (o *outcome) judge(slos ...string) (result.Stage, error) {
	ps := &plans.Stage{Name: "accuracy"}
	for _, text := range slos {
		slo, err := plans.ParseSLO(text)
		if err != nil {
			return result.Stage{}, err
		}
		ps.SLOs = append(ps.SLOs, slo)
	}
	st := result.Stage{Name: "accuracy", State: result.Complete, Load: o.Load}
	verdict.Stage(ps, &st)
	return st, nil
}

// warned returns the codes of a stage's warnings of the given severity.
func warned(st result.Stage, severity string) []string {
	codes := []string{}
	for _, w := range st.Warnings {
		if w.Severity == severity {
			codes = append(codes, w.Code)
		}
	}
	return codes
}

// overIn counts the requests above LimitsNS[i].
func (o *outcome) overIn(i int) (over int64) {
	for _, seg := range o.Segments {
		over += seg.OverResponse[i]
	}
	return over
}

// errorsOf counts the failures of one kind.
func (o *outcome) errorsOf(kind string) (n int64) {
	for _, e := range o.Errors {
		if e.Kind == kind {
			n += e.Count
		}
	}
	return n
}
