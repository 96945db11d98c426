package bench

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/process"
	"github.com/perfplan/perfplan/runner/stats"
)

// A talk is one fork of a subject while it is measured.
type talk interface {
	// run has the subject do n iterations, or as many as it chooses itself, and returns what it reports and how long we
	// waited for it.
	run(ctx context.Context, n int64) (batch, time.Duration, error)
	meter() *process.Meter // nil: its batches say what they used, or nothing does
	peak() int64           // most memory until now, in bytes; 0: not known
	close() (text string)  // ends it; the text says what was wrong with the end, "" for nothing
	kill()
	withOutput(error) error // adds the subject's last output
}

// An opener opens forks of a microbenchmark's subject.
type opener struct {
	plan *plans.Microbenchmark
	env  []string

	binary, dir string // of a Go test
}

// prepare makes what all forks need. The caller calls done in the end.
func (s *opener) prepare(ctx context.Context) (done func(), err error) {
	if s.plan.Subject.Kind != plans.SubjectGo {
		return func() {}, nil
	}
	tmp, err := os.MkdirTemp("", "perfplan-bench-")
	if err != nil {
		return func() {}, err
	}
	done = func() { os.RemoveAll(tmp) }
	s.binary = filepath.Join(tmp, "bench.test")
	pkg := s.plan.Subject.Package
	if s.dir, err = s.goTool(ctx, "list", "-f", "{{.Dir}}", pkg); err != nil {
		return done, fmt.Errorf("package %s: %w", pkg, err)
	}
	if _, err := s.goTool(ctx, "test", "-c", "-o", s.binary, pkg); err != nil {
		return done, fmt.Errorf("cannot build the benchmarks of %s: %w", pkg, err)
	}
	if _, err := os.Stat(s.binary); err != nil {
		return done, fmt.Errorf("package %s has no test files", pkg)
	}
	return done, nil
}

// goTool runs the go command in the subject's folder and returns the first line of what it prints.
func (s *opener) goTool(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Env = s.plan.Subject.Command.Dir, s.env
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		if text := strings.TrimSpace(errs.String()); text != "" {
			return "", fmt.Errorf("%s", text)
		}
		return "", err
	}
	line, _, _ := strings.Cut(out.String(), "\n")
	return line, nil
}

// open starts a fork.
func (s *opener) open(ctx context.Context, c plans.Cell) (talk, error) {
	sub, timeout := s.plan.Subject, s.plan.Timeout
	command := sub.At(c)
	switch sub.Kind {
	case plans.SubjectGo:
		return s.openGo(ctx, c)
	case plans.SubjectTime:
		return openTimed(ctx, process.Spec{Args: command.Args, Dir: command.Dir, Env: s.env, Discard: true}, timeout, sub.Shell)
	}
	return open(ctx, process.Spec{Args: command.Args, Dir: command.Dir, Env: s.env}, timeout, c)
}

// A timed talk runs a command for each iteration, and times it from its start to its end.
type timed struct {
	spec     process.Spec
	timeout  time.Duration
	overhead float64 // ns of an empty shell
	most     int64   // memory
	tail     string  // last output
}

// shellRuns is how many empty shells tell what the start of one takes.
const shellRuns = 11

func openTimed(ctx context.Context, spec process.Spec, timeout time.Duration, shell bool) (*timed, error) {
	t := &timed{spec: spec, timeout: timeout}
	if !shell {
		return t, nil
	}
	empty := &timed{spec: spec, timeout: timeout}
	empty.spec.Args = []string{"sh", "-c", ""}
	var times []float64
	for range shellRuns {
		b, _, err := empty.run(ctx, 1)
		if err != nil {
			return nil, fmt.Errorf("an empty shell: %w", err)
		}
		times = append(times, float64(b.ns))
	}
	t.overhead = stats.Median(times)
	return t, nil
}

func (t *timed) run(ctx context.Context, n int64) (batch, time.Duration, error) {
	b := batch{iterations: n, cpuNS: new(int64)}
	for range n {
		took, cpu, err := t.once(ctx)
		if err != nil {
			return batch{}, 0, err
		}
		b.ns += int64(took)
		*b.cpuNS += int64(cpu)
	}
	wall := time.Duration(b.ns)
	b.ns = max(b.ns-n*int64(t.overhead), 1)
	return b, wall, nil
}

func (t *timed) once(ctx context.Context) (took, cpu time.Duration, err error) {
	p, err := process.Start(ctx, t.spec)
	if err != nil {
		return 0, 0, err
	}
	defer p.Stop(0)
	timer := time.NewTimer(t.timeout)
	defer timer.Stop()
	select {
	case <-p.Done():
	case <-timer.C:
		t.tail = p.LogTail(10)
		return 0, 0, fmt.Errorf("the command did not end within %v", t.timeout)
	case <-ctx.Done():
		return 0, 0, ctx.Err()
	}
	t.tail = p.LogTail(10)
	if p.ExitCode() != 0 {
		return 0, 0, fmt.Errorf("the command ended with %s, want exit status 0", p.Exit())
	}
	cpu, rss, _ := p.Used()
	t.most = max(t.most, rss)
	return p.Ended().Sub(p.Started()), cpu, nil
}

func (t *timed) meter() *process.Meter { return nil }
func (t *timed) peak() int64           { return t.most }
func (t *timed) close() string         { return "" }
func (t *timed) kill()                 {}

func (t *timed) withOutput(err error) error { return withTail(err, t.tail) }

// A goTalk reads the lines of a Go test that runs one benchmark over and over.
type goTalk struct {
	*session
	name string // of the benchmark
	last time.Time
	seen int
}

// goCount is more repetitions than anybody waits for: the test is killed when there are enough.
const goCount = 1 << 30

func (s *opener) openGo(ctx context.Context, c plans.Cell) (talk, error) {
	name := s.plan.Subject.BenchmarkAt(c)
	var pattern []string
	for part := range strings.SplitSeq(name, "/") {
		pattern = append(pattern, "^"+regexp.QuoteMeta(part)+"$")
	}
	args := []string{s.binary, "-test.run=^$", "-test.bench=" + strings.Join(pattern, "/"), "-test.benchtime=" + s.plan.MinTime.String(),
		"-test.count=" + strconv.Itoa(goCount), "-test.benchmem", "-test.timeout=0"}
	p, err := process.Start(ctx, process.Spec{Args: args, Dir: s.dir, Env: s.env, Talk: true})
	if err != nil {
		return nil, err
	}
	g := &goTalk{session: &session{proc: p, timeout: s.plan.Timeout, lines: make(chan reply), closed: make(chan struct{})}, name: name, last: p.Started()}
	go g.read()
	return g, nil
}

// run returns the next sample. How many iterations it has is the test's choice.
func (g *goTalk) run(ctx context.Context, _ int64) (batch, time.Duration, error) {
	for {
		r, err := g.await(ctx, "a sample of "+g.name, g.timeout)
		if err != nil && g.seen == 0 && g.proc.Exit() != "" && g.proc.ExitCode() == 0 {
			return batch{}, 0, fmt.Errorf("the package has no benchmark %s, or it does nothing", g.name)
		}
		if err != nil {
			return batch{}, 0, err
		}
		if strings.HasPrefix(r.line, "--- FAIL") {
			return batch{}, 0, g.failed(ctx)
		}
		b, name, ok, err := parseGoLine(r.line)
		if err != nil {
			return batch{}, 0, err
		}
		if !ok {
			continue
		}
		if name != g.name {
			return batch{}, 0, fmt.Errorf("got a sample of %s, want %s: name the sub-benchmark as well", name, g.name)
		}
		wall := r.at.Sub(g.last)
		g.last = r.at
		g.seen++
		return b, wall, nil
	}
}

// failed is the error for a benchmark that says that it failed, with what it says behind that.
func (g *goTalk) failed(ctx context.Context) error {
	var said []string
	for len(said) < 10 {
		r, err := g.await(ctx, "", lastWords)
		if err != nil || r.line == "FAIL" {
			break
		}
		said = append(said, printable(strings.TrimSpace(r.line)))
	}
	return fmt.Errorf("the benchmark failed: %s", strings.Join(said, "; "))
}

// withOutput has room for the stack of a panic, whose first line says what it is.
func (g *goTalk) withOutput(err error) error { return withTail(err, g.proc.LogTail(30)) }

var goName = regexp.MustCompile(`^(Benchmark\S*?)(-[0-9]+)?$`)

// parseGoLine reads a line such as "BenchmarkSort/1000-8  1234  56.7 ns/op  8 B/op  1 allocs/op"
// (golang.org/design/14313-benchmark-format). ok is false for any other line.
func parseGoLine(line string) (b batch, name string, ok bool, err error) {
	f := strings.Fields(line)
	if len(f) < 4 || len(f)%2 != 0 || !goName.MatchString(f[0]) {
		return batch{}, "", false, nil
	}
	n, err := strconv.ParseInt(f[1], 10, 64)
	if err != nil {
		return batch{}, "", false, nil
	}
	b.iterations = n
	for i := 2; i+1 < len(f); i += 2 {
		v, err := strconv.ParseFloat(f[i], 64)
		if err != nil || n < 1 || !(v >= 0 && v*float64(n) < maxPerIteration) {
			return batch{}, "", false, fmt.Errorf("not a sample: got %s", quoted(line))
		}
		total := int64(v * float64(n))
		switch f[i+1] {
		case "ns/op":
			b.ns, ok = total, true
		case "B/op":
			b.bytes = &total
		case "allocs/op":
			b.allocs = &total
		}
	}
	return b, goName.FindStringSubmatch(f[0])[1], ok, nil
}

func (g *goTalk) meter() *process.Meter { return nil }

// close ends the test, which would go on for ever.
func (g *goTalk) close() string {
	g.kill()
	return ""
}

func (s *session) meter() *process.Meter { return s.proc.NewMeter() }
func (s *session) peak() int64           { return s.proc.PeakRSS() }

// withTail adds a subject's last output to an error.
func withTail(err error, tail string) error {
	if tail == "" || ctxEnded(err) {
		return err
	}
	return fmt.Errorf("%w; its last output:\n%s", err, tail)
}
