package imported

import (
	"bytes"
	"encoding/csv"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A goText is what was read of the text of go test -bench.
type goText struct {
	all  []goLines
	at   map[string]int // in all, by package and name as the line has it
	pkgs map[string]bool
	cpus map[string]bool
}

// goLines are the lines of one benchmark (-count): its samples.
type goLines struct {
	Series
	pkg, cpu                string
	bytes, allocs           float64 // sums
	bytesLines, allocsLines float64
}

// goBench reads the text of go test -bench. The suffix of the processors and the package are parameters where the text has
// results with several; other units than ns/op, B/op and allocs/op are skipped.
func goBench(f *file) ([]Series, error) {
	g := goText{at: map[string]int{}, pkgs: map[string]bool{}, cpus: map[string]bool{}}
	pkg, offset := "", int64(0)
	for raw := range bytes.Lines(f.data) {
		at := offset
		offset += int64(len(raw))
		fields := strings.Fields(string(raw))
		switch {
		case len(fields) == 0:
		case fields[0] == "pkg:" && len(fields) == 2:
			pkg = fields[1]
		case fields[0] == "FAIL", fields[0] == "---" && len(fields) > 2 && fields[1] == "FAIL:":
			return nil, f.at(at, "a benchmark or test failed: %q", strings.TrimSpace(string(raw)))
		case len(fields) > 1 && strings.HasPrefix(fields[0], "Benchmark"):
			n, err := strconv.ParseFloat(fields[1], 64)
			if err != nil { // a line of its log
				continue
			}
			if len(fields)%2 != 0 || len(fields) < 4 || !(n >= 1 && n < maxFigure) {
				return nil, f.at(at, "%s: want a number of iterations, and pairs of values and units", fields[0])
			}
			if raw[len(raw)-1] != '\n' {
				return nil, f.at(at, "%s: the file ends in the middle of the line", fields[0])
			}
			if err := g.line(f, at, pkg, fields); err != nil {
				return nil, err
			}
		}
	}
	return g.series(), nil
}

// line takes the values of a line.
func (g *goText) line(f *file, at int64, pkg string, fields []string) error {
	s, err := g.find(f, at, pkg, fields[0])
	if err != nil {
		return err
	}
	timed := false
	for k := 2; k < len(fields); k += 2 {
		v, err := strconv.ParseFloat(fields[k], 64)
		unit := fields[k+1]
		switch known := unit == "ns/op" || unit == "B/op" || unit == "allocs/op"; {
		case err != nil || known && !cost(v):
			return f.at(at, "%s: %q is not a value of %s", fields[0], fields[k], unit)
		case unit == "ns/op" && timed:
			return f.at(at, "%s: ns/op comes twice", fields[0])
		case unit == "ns/op":
			times, err := f.times(at, fields[0], []float64{v}, 1)
			if err != nil {
				return err
			}
			s.ForksNS[0], timed = append(s.ForksNS[0], times...), true
		case unit == "B/op":
			s.bytes, s.bytesLines = s.bytes+v, s.bytesLines+1
		case unit == "allocs/op":
			s.allocs, s.allocsLines = s.allocs+v, s.allocsLines+1
		}
	}
	if !timed {
		return f.at(at, "%s: no ns/op", fields[0])
	}
	return nil
}

// find is the series of a name, a new one where there is none.
func (g *goText) find(f *file, at int64, pkg, name string) (*goLines, error) {
	key := pkg + " " + name
	if i, found := g.at[key]; found {
		return &g.all[i], nil
	}
	short := processors.ReplaceAllString(name, "")
	l := goLines{Series: named(short), pkg: pkg, cpu: strings.TrimPrefix(name[len(short):], "-")}
	if l.cpu == "" {
		l.cpu = "1" // go test leaves it out
	}
	i := slices.IndexFunc(g.all, func(o goLines) bool { return o.pkg == l.pkg && o.cpu == l.cpu && o.same(l.Series) })
	if i < 0 {
		if err := f.many(len(g.all), at); err != nil {
			return nil, err
		}
		l.ForksNS = [][]float64{nil}
		i, g.all = len(g.all), append(g.all, l)
	}
	g.at[key], g.pkgs[pkg], g.cpus[l.cpu] = i, true, true
	return &g.all[i], nil
}

func (g *goText) series() []Series {
	var all []Series
	for _, l := range g.all {
		if len(g.pkgs) > 1 && l.pkg != "" {
			l.add("pkg", l.pkg)
		}
		if len(g.cpus) > 1 {
			l.add("cpu", l.cpu)
		}
		if l.bytesLines > 0 {
			l.AllocBytes = new(l.bytes / l.bytesLines)
		}
		if l.allocsLines > 0 {
			l.Allocs = new(l.allocs / l.allocsLines)
		}
		all = append(all, l.Series)
	}
	return all
}

var processors = regexp.MustCompile(`-[0-9]+$`)

// scalaMeter reads a file of ScalaMeter's DsvReporter: a header that begins with "date", the delimiter behind it, and a line for
// each measurement of each run that the history has. The last run is the one that counts.
func scalaMeter(f *file) ([]Series, error) {
	text := string(f.data)
	if !strings.HasPrefix(text, "date") || len(text) < 6 {
		return nil, f.at(0, "no header of DsvReporter: want date, parameters, value, success, cilo, cihi, units and complete")
	}
	r := csv.NewReader(strings.NewReader(text))
	r.Comma, r.ReuseRecord, r.FieldsPerRecord = rune(text[4]), false, 0
	header, err := r.Read()
	if err != nil {
		return nil, f.csvError(r, err)
	}
	column := func(name string) int { return slices.Index(header, name) }
	value, units, complete, success := column("value"), column("units"), column("complete"), column("success")
	if value < 0 || units < 0 || complete < 0 || success < 0 {
		return nil, f.at(0, "no header of DsvReporter: got %q", header)
	}
	var all []Series
	last := ""
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, f.csvError(r, err)
		}
		line, col := r.FieldPos(complete)
		fail := func(format string, args ...any) error {
			e := f.whole(format, args...).(*Error)
			e.Line, e.Col = line, col
			return e
		}
		if row[0] < last {
			return nil, fail("a run of %s behind one of %s", row[0], last)
		}
		if row[0] > last { // of a later run
			all, last = nil, row[0]
		}
		unit := nanoseconds(row[units])
		if unit == 0 {
			return nil, fail("the unit is %q, want a time such as ms", row[units])
		}
		s := Series{Name: "measurement"}
		for i, name := range header {
			if p, ok := strings.CutPrefix(name, "param-"); ok {
				s.set(p, row[i])
			}
		}
		s.only() // the axis of the curve
		var samples []float64
		for _, text := range strings.Fields(row[complete]) {
			v, err := strconv.ParseFloat(text, 64)
			if err != nil || !ok(v*unit) {
				return nil, fail("%q is not a time", text)
			}
			samples = append(samples, v*unit)
		}
		if len(samples) == 0 {
			return nil, fail("no times under complete")
		}
		if slices.ContainsFunc(all, s.same) {
			return nil, fail("the same parameters twice")
		}
		if len(all) >= maxSeries {
			return nil, fail("more than %d measurements of a run", maxSeries)
		}
		s.ForksNS = [][]float64{samples}
		all = append(all, s)
	}
}

func (f *file) csvError(r *csv.Reader, err error) error {
	if p, ok := errors.AsType[*csv.ParseError](err); ok {
		return &Error{f.path, p.Line, max(p.Column, 1), p.Err.Error()}
	}
	return f.at(r.InputOffset(), "%v", err)
}
