// Package subject is the harness for microbenchmark subjects in Go: it speaks the subject protocol
// (docs/subject-protocol.md), so that a subject is one function.
//
//	func main() {
//		subject.Main(func(p subject.Params) (subject.Work, error) {
//			data, sorted := load(p.Size), make([]int, p.Size) // outside of the clock
//			return subject.Work{
//				Do:       func() { copy(sorted, data); slices.Sort(sorted) }, // one iteration
//				Checksum: func() uint64 { return hash(sorted) },            // of its result, outside of the clock again
//			}, nil
//		})
//	}
package subject

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"
)

// The bounds of what a subject takes.
const (
	maxLine       = 64 << 10
	maxIterations = 1 << 50
	maxSize       = 1 << 50
)

// Params say which work to set up.
type Params struct {
	Size   int // above 0; 0 for a plan without sizes
	values map[string]string
}

// Value is that of a parameter of the plan; ok is false when the plan has no such parameter.
func (p Params) Value(name string) (value string, ok bool) {
	value, ok = p.values[name]
	return value, ok
}

// Work is what a subject does in one cell of the grid.
type Work struct {
	Do       func()        // one iteration
	Checksum func() uint64 // of the result of the last one; it must depend on nothing but the parameters. nil: none is told
}

// A Setup makes the work of a cell ready, outside of any clock.
type Setup func(Params) (Work, error)

// Main serves standard input and output and ends the process: with status 0 when it was told to exit, with 1 when they cannot
// be read or written.
func Main(setup Setup) {
	if err := Serve(os.Stdin, os.Stdout, setup); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// Serve answers the messages of in until "exit" or its end. What cannot be done, and a panic, is answered with "error" and the
// reason. The error says why no more can be read or written.
func Serve(in io.Reader, out io.Writer, setup Setup) error {
	w := bufio.NewWriter(out)
	say := func(format string, args ...any) error {
		fmt.Fprintf(w, format+"\n", args...)
		return w.Flush()
	}
	if err := say("perfplan-subject 1"); err != nil {
		return err
	}
	var work Work
	sc := bufio.NewScanner(in)
	sc.Buffer(make([]byte, 4096), maxLine)
	for sc.Scan() {
		line := strings.TrimSuffix(sc.Text(), "\r")
		if line == "exit" {
			return nil
		}
		text, err := answer(line, setup, &work)
		if err != nil {
			text = "error " + strings.Join(strings.Fields(err.Error()), " ")
		}
		if err := say("%s", text); err != nil {
			return err
		}
	}
	if errors.Is(sc.Err(), bufio.ErrTooLong) {
		return errors.Join(sc.Err(), say("error got a line of more than %d bytes", maxLine))
	}
	return sc.Err()
}

// answer does what a message asks for.
func answer(line string, setup Setup, work *Work) (text string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
			os.Stderr.Write(debug.Stack())
		}
	}()
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "setup":
		p, err := params(line, rest)
		if err != nil {
			return "", err
		}
		*work = Work{} // so that the old data can go
		if *work, err = setup(p); err != nil {
			return "", err
		}
		if work.Do == nil {
			return "", fmt.Errorf("%q: the setup returned no work", line)
		}
		runtime.GC()
		return "ready", nil
	case "run":
		key, value, _ := strings.Cut(rest, "=")
		n, err := strconv.ParseInt(value, 10, 64)
		switch {
		case key != "iterations" || err != nil || n < 1 || n > maxIterations || value[0] == '+':
			return "", fmt.Errorf("got %q, want run iterations=N with N of 1 or more", line)
		case work.Do == nil:
			return "", errors.New("run before setup")
		}
		return run(*work, n), nil
	}
	return "", fmt.Errorf("unknown message %q, want setup, run or exit", line)
}

// params reads "size=N name=value …". A key comes once.
func params(line, rest string) (Params, error) {
	p := Params{values: map[string]string{}}
	for field := range strings.SplitSeq(rest, " ") {
		key, value, ok := strings.Cut(field, "=")
		if _, twice := p.values[key]; !ok || key == "" || value == "" || twice {
			return Params{}, fmt.Errorf("got %q, want setup size=N and name=value, each once and apart by one space", line)
		}
		p.values[key] = value
	}
	n, err := strconv.ParseInt(p.values["size"], 10, 64)
	if err != nil || n < 0 || n > maxSize || p.values["size"][0] == '+' {
		return Params{}, fmt.Errorf("got %q, want setup size=N with a whole number", line)
	}
	p.Size = int(n)
	delete(p.values, "size")
	return p, nil
}

// run times n iterations. Memory is read outside of the clock.
func run(work Work, n int64) string {
	var before, after runtime.MemStats
	do := work.Do
	runtime.ReadMemStats(&before)
	begin := time.Now()
	for range n {
		do()
	}
	took := time.Since(begin)
	runtime.ReadMemStats(&after)
	text := fmt.Sprintf("done iterations=%d ns=%d bytes=%d allocs=%d gc=%d gc_ns=%d", n, took.Nanoseconds(),
		after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs, after.NumGC-before.NumGC, after.PauseTotalNs-before.PauseTotalNs)
	if work.Checksum != nil {
		text += fmt.Sprintf(" checksum=%016x", work.Checksum())
	}
	return text
}
