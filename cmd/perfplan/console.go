package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"

	"golang.org/x/term"

	"github.com/perfplan/perfplan/plans"
)

// A console is what a command may read and write, and how.
type console struct {
	in     io.Reader
	out    *stream
	err    *stream
	lookup func(string) (string, bool) // of the environment
	color  choice                      // of --color
}

func newConsole() *console {
	return &console{
		in:     os.Stdin,
		out:    &stream{file: os.Stdout},
		err:    &stream{file: os.Stderr},
		lookup: os.LookupEnv,
		color:  choice{"auto", []string{"auto", "always", "never"}},
	}
}

func (c *console) env(name string) string {
	v, _ := c.lookup(name)
	return v
}

// colored reports whether text to s may hold colour: as --color says, else on a terminal unless NO_COLOR is set and
// not empty (no-color.org) or the terminal is dumb.
func (c *console) colored(s *stream) bool {
	switch c.color.word {
	case "always":
		return true
	case "never":
		return false
	}
	return c.env("NO_COLOR") == "" && c.interactive(s)
}

// interactive reports whether s is a terminal that can redraw a line.
func (c *console) interactive(s *stream) bool {
	return c.env("TERM") != "dumb" && s.terminal()
}

// unicode reports whether block and line characters may be printed: unless the locale names another character set.
// Without any locale, as in many CI jobs, logs are read as UTF-8.
func (c *console) unicode() bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(c.env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return true
}

func (c *console) glyphs() glyphs {
	if c.unicode() {
		return unicodeGlyphs
	}
	return asciiGlyphs
}

// warnf prints one line on standard error.
func (c *console) warnf(format string, args ...any) {
	fmt.Fprintf(c.err, "perfplan: "+format+"\n", args...)
}

// A stream is standard output or error. A reader that goes away early, as in "perfplan run … | head -1", is no
// error: what it did not want is thrown away. Any other error is kept for the end.
// It is safe for concurrent use.
type stream struct {
	file *os.File

	mu   sync.Mutex
	hide io.Writer // takes secrets out on the way to the file; nil: there are none
	gone bool
	fail error // the first one
}

func (s *stream) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.gone || s.fail != nil {
		return len(p), nil
	}
	var to io.Writer = s.file
	if s.hide != nil {
		to = s.hide
	}
	if _, err := to.Write(p); errors.Is(err, syscall.EPIPE) {
		s.gone = true
	} else if err != nil {
		s.fail = err
	}
	return len(p), nil
}

// conceal takes secrets out of all that follows.
func (s *stream) conceal(secrets plans.Secrets) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(secrets) > 0 {
		s.hide = wholeWrites{secrets.Redactor(), s.file}
	}
}

// wholeWrites takes secrets out of each write on its own: what is printed here comes in whole messages.
type wholeWrites struct {
	redact func(string) string
	to     io.Writer
}

func (w wholeWrites) Write(p []byte) (int, error) {
	if _, err := io.WriteString(w.to, w.redact(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *stream) terminal() bool { return term.IsTerminal(int(s.file.Fd())) }

// width is the terminal's in columns, or 80.
func (s *stream) width() int {
	if w, _, err := term.GetSize(int(s.file.Fd())); err == nil && w > 0 {
		return w
	}
	return 80
}
