// Package imported reads what other benchmark tools have measured: their result files, as times per iteration.
package imported

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A Format names the tool that wrote a file.
type Format string

// The formats.
const (
	GoBench         Format = "go"               // text of go test -bench (golang.org/design/14313-benchmark-format)
	JMH             Format = "jmh"              // JSON of -rf json
	GoogleBenchmark Format = "google-benchmark" // JSON of --benchmark_format=json
	Criterion       Format = "criterion"        // the folder target/criterion, or the messages of cargo criterion
	PytestBenchmark Format = "pytest-benchmark" // JSON of --benchmark-json
	Hyperfine       Format = "hyperfine"        // JSON of --export-json
	ScalaMeter      Format = "scalameter"       // a file of DsvReporter
)

// Formats are all of them.
var Formats = [...]Format{GoBench, JMH, GoogleBenchmark, Criterion, PytestBenchmark, Hyperfine, ScalaMeter}

// A Series is what was measured of one benchmark with one set of parameters.
type Series struct {
	Name       string      // without parameters, where the tool keeps them apart
	Size       int         // from a parameter called size, n or rows, or a number at the end of the name; 0: none
	Params     []Param     // in order of name
	ForksNS    [][]float64 // per iteration; one slice a fresh process where the tool has them, else one. None is empty
	MedianNS   *float64    // that the tool states; nil: none
	AllocBytes *float64    // per iteration
	Allocs     *float64

	unnamed int // parts of the name without one of their own
}

// A Param is a parameter besides the size.
type Param struct{ Name, Value string }

// An Error says what is wrong with a file, and where.
type Error struct {
	Path      string
	Line, Col int // from 1; 0: of the whole file
	What      string
}

func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Path + ": " + e.What
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Col, e.What)
}

// maxFile bounds a file, in bytes.
const maxFile = 256 << 20

// A file is one that is read.
type file struct {
	path string
	data []byte
}

// at is an error at a byte offset.
func (f *file) at(offset int64, format string, args ...any) error {
	before := f.data[:min(max(int(offset), 0), len(f.data))]
	line := bytes.Count(before, []byte("\n")) + 1
	return &Error{f.path, line, len(before) - bytes.LastIndexByte(before, '\n'), text(format, args...)}
}

func (f *file) whole(format string, args ...any) error {
	return &Error{Path: f.path, What: text(format, args...)}
}

// maxText bounds what an error says, in bytes: a name may be as long as its file.
const maxText = 400

// text is one line without control characters, whatever names a file has.
func text(format string, args ...any) string {
	all := fmt.Sprintf(format, args...)
	if len(all) > maxText {
		all = strings.ToValidUTF8(all[:maxText], "") + "…"
	}
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, all)
}

// Read reads a file; for Criterion it may be a folder. With format "" it is found out by its content, and returned. Each
// series has one time or more, all of them positive and finite. Errors are of the type *Error.
func Read(path string, format Format) ([]Series, Format, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, format, &Error{Path: path, What: reason(err)}
	}
	if info.IsDir() {
		if format != "" && format != Criterion {
			return nil, format, &Error{Path: path, What: fmt.Sprintf("a folder, want a file of %s", format)}
		}
		all, err := criterionFolder(path)
		return all, Criterion, err
	}
	f, err := open(path, info)
	if err != nil {
		return nil, format, err
	}
	return f.read(format)
}

func open(path string, info fs.FileInfo) (*file, error) {
	if info.Size() > maxFile {
		return nil, &Error{Path: path, What: fmt.Sprintf("file is too large: got %d bytes, want at most %d", info.Size(), maxFile)}
	}
	r, err := os.Open(path)
	if err != nil {
		return nil, &Error{Path: path, What: reason(err)}
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	switch {
	case err != nil:
		return nil, &Error{Path: path, What: reason(err)}
	case len(data) > maxFile:
		return nil, &Error{Path: path, What: fmt.Sprintf("file is too large, want at most %d bytes", maxFile)}
	}
	return &file{path, bytes.TrimPrefix(data, []byte("\ufeff"))}, nil
}

func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func (f *file) read(format Format) ([]Series, Format, error) {
	if len(bytes.TrimSpace(f.data)) == 0 {
		return nil, format, f.whole("empty file")
	}
	if format == "" {
		format = f.guess()
	}
	var all []Series
	var err error
	switch format {
	case GoBench:
		all, err = goBench(f)
	case JMH:
		all, err = jmh(f)
	case GoogleBenchmark:
		all, err = googleBenchmark(f)
	case Criterion:
		all, err = criterionMessages(f)
	case PytestBenchmark:
		all, err = pytestBenchmark(f)
	case Hyperfine:
		all, err = hyperfine(f)
	case ScalaMeter:
		all, err = scalaMeter(f)
	default:
		return nil, format, f.whole("not a result of a tool that is known: want one of %v", Formats)
	}
	switch {
	case err != nil:
	case len(all) == 0:
		err = f.whole("no result of %s in it", format)
	case slices.ContainsFunc(all, func(s Series) bool { return s.Name == "" }):
		err = f.whole("a benchmark without a name in it")
	}
	if err != nil {
		return nil, format, err
	}
	return all, format, nil
}

// guess finds out which tool wrote a file; "" when none did.
func (f *file) guess() Format {
	text := bytes.TrimSpace(f.data)
	has := func(s string) bool { return bytes.Contains(text, []byte(s)) }
	switch {
	case text[0] == '[' && has(`"primaryMetric"`):
		return JMH
	case text[0] == '{' && has(`"benchmark-complete"`):
		return Criterion
	case text[0] == '{' && has(`"machine_info"`):
		return PytestBenchmark
	case text[0] == '{' && has(`"benchmarks"`) && has(`"real_time"`):
		return GoogleBenchmark
	case text[0] == '{' && has(`"results"`) && has(`"command"`):
		return Hyperfine
	case bytes.HasPrefix(text, []byte("date")) && has("cilo"):
		return ScalaMeter
	case has("ns/op"):
		return GoBench
	}
	return ""
}

// maxFigure is the first integer above which a float does not hold each.
const maxFigure = 1 << 53

// ok tells whether a time can be one of an iteration: positive, and below what a float holds in exact nanoseconds.
func ok(ns float64) bool { return ns > 0 && ns < maxFigure }

// cost tells whether a number can be one of bytes or allocations.
func cost(v float64) bool { return v >= 0 && v < maxFigure }

// nanoseconds is a unit of time; 0: it is none.
func nanoseconds(unit string) float64 {
	switch unit {
	case "ns":
		return 1
	case "us", "µs", "μs":
		return 1e3
	case "ms":
		return 1e6
	case "s":
		return 1e9
	case "min", "m":
		return 60e9
	}
	return 0
}

// set adds a parameter, or takes it as the size.
func (s *Series) set(name, value string) {
	switch strings.ToLower(name) {
	case "size", "n", "rows":
		if n, err := strconv.Atoi(value); err == nil && n > 0 && s.Size == 0 {
			s.Size = n
			return
		}
	}
	s.add(name, value)
}

func (s *Series) add(name, value string) {
	s.Params = append(s.Params, Param{name, value})
	slices.SortStableFunc(s.Params, func(a, b Param) int { return strings.Compare(a.Name, b.Name) })
}

// only takes a single parameter that is a number as the size, whatever its name is.
func (s *Series) only() {
	if s.Size != 0 || len(s.Params) != 1 {
		return
	}
	if n, err := strconv.Atoi(s.Params[0].Value); err == nil && n > 0 {
		s.Size, s.Params = n, nil
	}
}

// part adds a part of a name that stands behind a slash or in brackets: "size=10", "1000" or "quick".
func (s *Series) part(text string) {
	name, value, found := strings.Cut(text, "=")
	switch n, err := strconv.Atoi(text); {
	case found && name != "" && value != "":
		s.set(name, value)
	case err == nil && n > 0 && s.Size == 0:
		s.Size = n
	default:
		name := "case"
		if s.unnamed++; s.unnamed > 1 {
			name += strconv.Itoa(s.unnamed)
		}
		s.add(name, text)
	}
}

// maxSeries bounds the benchmarks of a file.
const maxSeries = 10_000

// same tells whether two series are of the same benchmark and parameters.
func (s Series) same(o Series) bool {
	return s.Name == o.Name && s.Size == o.Size && slices.Equal(s.Params, o.Params)
}
