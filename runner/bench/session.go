package bench

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/process"
)

const (
	maxLine   = 64 << 10               // longest line of a subject
	exitWait  = 2 * time.Second        // for a subject to end after "exit"
	lastWords = 500 * time.Millisecond // for what a subject wrote before it ended
)

// A session is a conversation with one fresh process of the subject.
type session struct {
	proc    *process.Process
	timeout time.Duration
	lines   chan reply
	closed  chan struct{} // stops the reader
}

// A reply is a line with the time it came, or why there is none.
type reply struct {
	line string
	at   time.Time
	err  error
}

// open starts a subject, checks its greeting and sets a size up. The session must be closed.
func open(ctx context.Context, spec process.Spec, timeout time.Duration, c plans.Cell) (*session, error) {
	spec.Talk = true
	p, err := process.Start(ctx, spec)
	if err != nil {
		return nil, err
	}
	s := &session{proc: p, timeout: timeout, lines: make(chan reply), closed: make(chan struct{})}
	go s.read()
	if err := s.greet(ctx, c); err != nil {
		err = s.withOutput(err)
		s.kill()
		return nil, err
	}
	return s, nil
}

func (s *session) greet(ctx context.Context, c plans.Cell) error {
	r, err := s.await(ctx, "its greeting", s.timeout)
	if err != nil {
		return err
	}
	if err := checkGreeting(r.line); err != nil {
		return err
	}
	setup := fmt.Sprintf("setup size=%d", c.Size)
	for _, p := range c.Settings {
		setup += " " + p.Name + "=" + p.Value
	}
	line, _, err := s.ask(ctx, setup)
	if err != nil {
		return err
	}
	return parseReady(line)
}

// run has the subject do n iterations and returns what it reports and how long we waited for it.
func (s *session) run(ctx context.Context, n int64) (batch, time.Duration, error) {
	line, wall, err := s.ask(ctx, fmt.Sprintf("run iterations=%d", n))
	if err != nil {
		return batch{}, 0, err
	}
	b, err := parseDone(line)
	if err != nil {
		return batch{}, 0, err
	}
	if b.iterations != n {
		return batch{}, 0, fmt.Errorf("asked for %d iterations, the subject did %d", n, b.iterations)
	}
	if err := checkMemory(b); err != nil {
		return batch{}, 0, err
	}
	return b, wall, checkClock(b, wall)
}

// ask sends a line and waits for one; the time between is the wall time.
func (s *session) ask(ctx context.Context, line string) (string, time.Duration, error) {
	begin := time.Now()
	if _, err := s.proc.Stdin.WriteString(line + "\n"); err != nil && s.proc.Exit() == "" {
		select { // a broken pipe mostly means that the subject is just ending, which says more
		case <-s.proc.Done():
		case <-time.After(lastWords):
			return "", 0, fmt.Errorf("cannot send %q: %w", line, err)
		}
	}
	r, err := s.await(ctx, fmt.Sprintf("an answer to %q", line), s.timeout)
	return r.line, r.at.Sub(begin), err
}

// await returns the next line, or why none came.
func (s *session) await(ctx context.Context, what string, timeout time.Duration) (reply, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	done := s.proc.Done()
	for {
		select {
		case r := <-s.lines:
			if r.err == nil {
				return r, nil
			}
			return reply{}, s.noLine(r.err, what)
		case <-done: // a line may still be on its way, unless a descendant keeps the pipe open
			done = nil
			timer.Reset(lastWords)
		case <-timer.C:
			if exit := s.proc.Exit(); exit != "" {
				return reply{}, fmt.Errorf("the subject ended early, with %s, while perfplan waited for %s", exit, what)
			}
			return reply{}, fmt.Errorf("no answer: the subject did not send %s within %v", what, timeout)
		case <-ctx.Done():
			return reply{}, ctx.Err()
		}
	}
}

// noLine explains the end of the output.
func (s *session) noLine(err error, what string) error {
	if errors.Is(err, bufio.ErrTooLong) {
		return fmt.Errorf("the subject sent a line longer than %d KiB in place of %s", maxLine>>10, what)
	}
	select {
	case <-s.proc.Done():
		return fmt.Errorf("the subject ended early, with %s, while perfplan waited for %s", s.proc.Exit(), what)
	case <-time.After(lastWords):
		return fmt.Errorf("the subject closed its standard output while perfplan waited for %s", what)
	}
}

// read passes on the lines of the subject until its output ends or the session is closed.
func (s *session) read() {
	sc := bufio.NewScanner(s.proc.Stdout)
	sc.Buffer(make([]byte, 4096), maxLine)
	pass := func(r reply) bool {
		select {
		case s.lines <- r:
			return true
		case <-s.closed:
			return false
		}
	}
	for sc.Scan() {
		if !pass(reply{line: strings.TrimSuffix(sc.Text(), "\r"), at: time.Now()}) {
			return
		}
	}
	err := sc.Err()
	if err == nil {
		err = errors.New("end of output")
	}
	pass(reply{err: err})
}

// close says goodbye and ends all processes of the subject. The text says what was wrong with the end, "" for nothing.
func (s *session) close() (text string) {
	defer s.kill()
	s.proc.Stdin.WriteString("exit\n")
	s.proc.Stdin.Close()
	select {
	case <-s.proc.Done():
		if s.proc.ExitCode() != 0 {
			return fmt.Sprintf("the subject ended with %s after \"exit\", want exit status 0", s.proc.Exit())
		}
		return ""
	case <-time.After(exitWait):
		return fmt.Sprintf("the subject did not end within %v of \"exit\" and was killed", exitWait)
	}
}

func (s *session) kill() {
	close(s.closed)
	s.proc.Stop(0)
}

// withOutput adds the subject's last lines on standard error to an error.
func (s *session) withOutput(err error) error { return withTail(err, s.proc.LogTail(10)) }

func ctxEnded(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}
