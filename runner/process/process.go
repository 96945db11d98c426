package process

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A Spec says what to start.
type Spec struct {
	Args []string // program and arguments, no shell; a program with a slash is relative to Dir, else it is looked up in PATH
	Dir  string   // working folder; "" is perfplan's own
	Env  []string // whole environment, "KEY=value"; nil is perfplan's own
	// Talk gives the process pipes as standard input and output, see Process.Stdin and Process.Stdout. Without
	// it standard input is empty and standard output goes where standard error goes.
	Talk bool
	// Discard throws standard output away, without Talk.
	Discard bool
	// LogFile takes standard error, appended. With "" only the last 64 KiB are kept, in memory. A process is never
	// held up by its output.
	LogFile string
	// Filter, if not nil, is what the output goes through on its way into LogFile or memory.
	Filter func(io.Writer) io.WriteCloser
}

// outputWait is how long the end of a process waits for its last output, which a grandchild may hold open.
const outputWait = 200 * time.Millisecond

// cookieKey is the environment variable that marks a child and its descendants.
const cookieKey = "PERFPLAN_PROCESS"

// A Process is a started child. Stop must be called in the end, also when the child has ended by itself.
// The methods may be called from several goroutines.
type Process struct {
	// Stdin and Stdout are our ends of the pipes with Spec.Talk, else nil. They take deadlines; Stop closes them.
	Stdin, Stdout *os.File

	cmd     *exec.Cmd
	log     *capture
	started time.Time
	ended   time.Time     // set before done is closed
	cookie  string        // "KEY=value" in the environment of the child and its descendants
	done    chan struct{} // closed when the child has ended and exit is set
	exit    string
	code    int

	mu     sync.Mutex
	root   identity
	reaped bool              // under mu; until then the pid and the group id are the child's
	known  map[identity]bool // descendants seen so far
	stop   func(time.Duration) error
}

// Start starts a process. A later end of ctx does not touch it: call Stop. Errors say in one line why a program
// cannot be run.
func Start(ctx context.Context, spec Spec) (*Process, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	path, err := lookup(spec)
	if err != nil {
		return nil, err
	}
	p := &Process{
		cmd:    &exec.Cmd{Path: path, Args: slices.Clone(spec.Args), Dir: spec.Dir},
		cookie: cookieKey + "=" + rand.Text(),
		done:   make(chan struct{}),
		known:  map[identity]bool{},
	}
	env := spec.Env
	if env == nil {
		env = os.Environ()
	}
	p.cmd.Env = append(slices.Clone(env), p.cookie)
	p.stop = stopOnce(p)
	theirs, err := p.connect(spec)
	defer closeAll(theirs)
	if err != nil {
		p.closeOurs()
		return nil, err
	}
	prepare(p.cmd)
	result := make(chan error)
	go p.run(result)
	if err := <-result; err != nil {
		p.closeOurs()
		return nil, startError(spec, err)
	}
	return p, nil
}

// connect gives the child its standard files and returns those that are to be closed once it runs.
func (p *Process) connect(spec Spec) (theirs []*os.File, err error) {
	p.log, err = newCapture(spec.LogFile, spec.Filter)
	if err != nil {
		return nil, fmt.Errorf("log file: %w", err)
	}
	theirs = append(theirs, p.log.child)
	p.cmd.Stdout, p.cmd.Stderr = p.log.child, p.log.child
	if spec.Discard && !spec.Talk {
		p.cmd.Stdout = nil // exec takes the null device
	}
	if !spec.Talk {
		return theirs, nil
	}
	in, stdin, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.Stdin, p.cmd.Stdin = stdin, in
	theirs = append(theirs, in)
	stdout, out, err := os.Pipe()
	if err != nil {
		return theirs, err
	}
	p.Stdout, p.cmd.Stdout = stdout, out
	return append(theirs, out), nil
}

// run starts the child and sees it end. The thread that starts a child must live as long as the child does,
// or the parent death signal comes too early.
func (p *Process) run(result chan<- error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.started = time.Now()
	if err := p.cmd.Start(); err != nil {
		result <- err
		return
	}
	p.root = identify(p.cmd.Process.Pid)
	result <- nil
	awaitExit(p.cmd.Process.Pid)
	p.ended = time.Now()
	p.mu.Lock()
	p.cmd.Wait() // the standard files are *os.File, so this only reaps
	p.reaped = true
	p.mu.Unlock()
	p.log.wait(outputWait)
	p.exit, p.code = exitText(p.cmd.ProcessState), p.cmd.ProcessState.ExitCode()
	close(p.done)
}

// PID is the child's process id.
func (p *Process) PID() int { return p.cmd.Process.Pid }

// Started is the time just before the start.
func (p *Process) Started() time.Time { return p.started }

// Done is closed when the child itself has ended; its descendants may live on until Stop.
func (p *Process) Done() <-chan struct{} { return p.done }

// Exit says how the child ended, "exit status 3" or "killed by SIGKILL"; "" while it runs.
func (p *Process) Exit() string {
	select {
	case <-p.done:
		return p.exit
	default:
		return ""
	}
}

// ExitCode is the child's exit status; -1 while it runs or when a signal ended it.
func (p *Process) ExitCode() int {
	select {
	case <-p.done:
		return p.code
	default:
		return -1
	}
}

// PIDs returns the process ids of the child and its descendants that are alive, ascending. Where the tree cannot be
// read it is the child's alone. It reads all of /proc: once a second is cheap, a thousand times is not.
func (p *Process) PIDs() []int {
	var pids []int
	for _, m := range p.members() {
		pids = append(pids, m.pid)
	}
	slices.Sort(pids)
	return pids
}

// alone is the child if it was not reaped yet.
func (p *Process) alone() []identity {
	select {
	case <-p.done:
		return nil
	default:
		return []identity{p.root}
	}
}

// LogTail returns the last lines of the output, at most n of them and 16 KiB, without a final newline. It is fit for a
// terminal: control sequences are left out, and U+FFFD stands for any other control character but newline and tab.
func (p *Process) LogTail(n int) string { return p.log.tail(n) }

// Stop ends the child and all its descendants: SIGTERM, then SIGKILL to what is still alive after grace. It returns
// once all are gone; an error names those that could not be killed. Further calls wait for the first and return the same.
func (p *Process) Stop(grace time.Duration) error { return p.stop(grace) }

func stopOnce(p *Process) func(time.Duration) error {
	var once sync.Once
	var err error
	return func(grace time.Duration) error {
		once.Do(func() {
			err = p.end(grace)
			p.closeOurs()
		})
		return err
	}
}

func (p *Process) closeOurs() {
	p.log.close()
	closeAll([]*os.File{p.Stdin, p.Stdout})
}

func closeAll(files []*os.File) {
	for _, f := range files {
		if f != nil {
			f.Close()
		}
	}
}

// Run starts a process and waits for its end. The error of a process that did not end with status 0 holds its last
// output. When ctx ends first the process is stopped with that grace and ctx's error is returned.
func Run(ctx context.Context, spec Spec, grace time.Duration) error {
	p, err := Start(ctx, spec)
	if err != nil {
		return err
	}
	select {
	case <-p.Done():
	case <-ctx.Done():
		return errors.Join(ctx.Err(), p.Stop(grace))
	}
	if err := p.Stop(grace); err != nil {
		return err
	}
	if p.ExitCode() == 0 {
		return nil
	}
	if tail := p.LogTail(20); tail != "" {
		return fmt.Errorf("%q ended with %s, its last output:\n%s", spec.Args[0], p.Exit(), tail)
	}
	return fmt.Errorf("%q ended with %s and no output", spec.Args[0], p.Exit())
}
