package process

import (
	"bytes"
	"io"
	"os"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
)

const (
	keepBytes = 64 << 10 // output kept in memory without a log file
	tailBytes = 16 << 10 // most that LogTail returns
)

// A capture takes the output of a process: straight to a file, or through a pipe into memory.
type capture struct {
	child *os.File // the end that the process writes to
	path  string   // of the log file; "" without one
	begin int64    // size of the log file before this process

	pipe    *os.File       // our end, without a log file or with a filter
	filter  io.WriteCloser // what is drained goes there
	file    *os.File       // behind the filter; nil: kept
	drained chan struct{}
	mu      sync.Mutex
	kept    []byte // under mu
}

func newCapture(path string, filter func(io.Writer) io.WriteCloser) (*capture, error) {
	c := &capture{path: path, drained: make(chan struct{})}
	var to io.Writer = keeper{c}
	if path != "" {
		f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
		if err != nil {
			close(c.drained)
			return c, err
		}
		if info, err := f.Stat(); err == nil {
			c.begin = info.Size()
		}
		if filter == nil {
			close(c.drained)
			c.child = f
			return c, nil
		}
		c.file, to = f, f
	}
	r, w, err := os.Pipe()
	if err != nil {
		close(c.drained)
		return c, err
	}
	c.pipe, c.child = r, w
	c.filter = unfiltered{to}
	if filter != nil {
		c.filter = filter(to)
	}
	go c.drain()
	return c, nil
}

// unfiltered passes everything on.
type unfiltered struct{ io.Writer }

func (unfiltered) Close() error { return nil }

// A keeper keeps the end of the output in memory.
type keeper struct{ c *capture }

func (k keeper) Write(p []byte) (int, error) {
	k.c.mu.Lock()
	defer k.c.mu.Unlock()
	k.c.kept = append(k.c.kept, p...)
	if len(k.c.kept) > 2*keepBytes {
		k.c.kept = append(k.c.kept[:0], k.c.kept[len(k.c.kept)-keepBytes:]...)
	}
	return len(p), nil
}

// drain reads until the last writer has closed, so that no writer ever waits.
func (c *capture) drain() {
	defer close(c.drained)
	defer func() {
		c.filter.Close()
		if c.file != nil {
			c.file.Close()
		}
	}()
	buf := make([]byte, 32<<10)
	for {
		n, err := c.pipe.Read(buf)
		c.filter.Write(buf[:n]) // a disk that is full must not hold up the process
		if err != nil {
			return
		}
	}
}

func (c *capture) wait(d time.Duration) {
	select {
	case <-c.drained:
	case <-time.After(d):
	}
}

func (c *capture) close() {
	if c.pipe != nil {
		c.wait(outputWait)
		c.pipe.Close()
	}
}

func (c *capture) tail(lines int) string {
	b, cut := c.last()
	if cut { // the first line is not whole
		if i := bytes.IndexByte(b, '\n'); i >= 0 {
			b = b[i+1:]
		}
	}
	b = bytes.TrimRight(b, "\r\n")
	for i := len(b); lines > 0; lines-- {
		if i = bytes.LastIndexByte(b[:i], '\n'); i < 0 {
			break
		} else if lines == 1 {
			b = b[i+1:]
		}
	}
	return printable(strings.ToValidUTF8(string(b), "\uFFFD"))
}

// escapes are the control sequences of ECMA-48: those that set colours and move the cursor, and the strings for the
// terminal, titles and links among them, which end in BEL or ST.
var escapes = regexp.MustCompile("\x1b\\[[0-?]*[ -/]*[@-~]|\x1b[\\]PX^_][^\x07\x1b]*(?:\x07|\x1b\\\\)")

// printable takes out of s what would work on a terminal. What is no known sequence leaves a mark.
func printable(s string) string {
	s = strings.ReplaceAll(escapes.ReplaceAllString(s, ""), "\r\n", "\n")
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsGraphic(r) {
			return r
		}
		return '\uFFFD'
	}, s)
}

// last returns the end of the output and whether something before it was left out.
func (c *capture) last() (b []byte, cut bool) {
	if c.path == "" {
		c.mu.Lock()
		defer c.mu.Unlock()
		from := max(0, len(c.kept)-tailBytes)
		return bytes.Clone(c.kept[from:]), from > 0
	}
	f, err := os.Open(c.path)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	size, err := f.Seek(0, io.SeekEnd)
	if err != nil {
		return nil, false
	}
	from := max(c.begin, size-tailBytes)
	b, _ = io.ReadAll(io.NewSectionReader(f, from, tailBytes))
	return b, from > c.begin
}
