package main

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/perfplan/perfplan/runner"
)

// How often the living line is redrawn, and a plain line printed where there is no terminal.
const (
	redrawEvery = 200 * time.Millisecond
	plainEvery  = 5 * time.Second
)

// A progress shows on standard error how a run is going: on a terminal as one line that lives, elsewhere as a plain line
// now and then. It is safe for concurrent use.
type progress struct {
	w      io.Writer
	glyphs glyphs
	width  func() int // of the terminal; nil where there is none
	quiet  bool
	stop   chan struct{}
	ended  sync.WaitGroup

	mu    sync.Mutex
	s     status
	asOf  time.Time // when s was true
	drawn bool      // a living line is on the screen
	last  string    // the plain line that was printed last …
	when  time.Time // … and when
}

func newProgress(c *console, quiet bool) *progress {
	var width func() int
	if c.interactive(c.err) {
		width = c.err.width
	}
	return startProgress(c.err, c.glyphs(), width, quiet)
}

func startProgress(w io.Writer, g glyphs, width func() int, quiet bool) *progress {
	p := &progress{w: w, glyphs: g, width: width, quiet: quiet, stop: make(chan struct{})}
	every := plainEvery
	if width != nil {
		every = redrawEvery
	}
	if !quiet {
		p.ended.Go(func() { p.tick(every) })
	}
	return p
}

func (p *progress) tick(every time.Duration) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-p.stop:
			return
		case now := <-ticker.C:
			p.show(now)
		}
	}
}

// show brings the display up to date.
func (p *progress) show(now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.s.idle() {
		return
	}
	s := p.s.after(now.Sub(p.asOf))
	if p.width == nil {
		p.plainly(s.plain(), now)
		return
	}
	// One column less than there are: in the last one some terminals wrap at once.
	fmt.Fprintf(p.w, "\r%s\x1b[K", s.line(p.width()-1, p.glyphs))
	p.drawn = true
}

// plainly prints a line, unless it has just been said. Now and then it is a sign of life.
func (p *progress) plainly(line string, now time.Time) {
	if line == p.last && now.Sub(p.when) < plainEvery/2 {
		return
	}
	p.last, p.when = line, now
	fmt.Fprintln(p.w, line)
}

// event takes what the runner tells.
func (p *progress) event(e runner.Event) {
	if p.quiet {
		return
	}
	p.mu.Lock()
	p.s, p.asOf = p.s.apply(e), time.Now()
	p.mu.Unlock()
	if line := p.lasting(e); line != "" {
		p.say(line)
	}
}

// lasting is the line about an event that stays on the screen, or "". A living line shows by itself what begins.
func (p *progress) lasting(e runner.Event) string {
	switch e := e.(type) {
	case runner.StageFinished:
		return finished(e)
	case runner.StageExtended:
		return fmt.Sprintf("  %s: %s is undecided, so its load goes on: round %d of up to %d", e.Stage.Name, e.Open, e.Round, e.Most)
	case runner.Preparing, runner.StageStarted:
		if p.width == nil {
			return p.s.plain()
		}
	}
	return ""
}

// say prints a line that stays.
func (p *progress) say(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
	p.last, p.when = strings.TrimRight(line, "\n"), time.Now()
	fmt.Fprintln(p.w, p.last)
}

// clear takes the living line off the screen.
func (p *progress) clear() {
	if p.drawn {
		io.WriteString(p.w, "\r\x1b[K")
		p.drawn = false
	}
}

// end takes the display down. Nothing is shown after it.
func (p *progress) end() {
	close(p.stop)
	p.ended.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.clear()
}
