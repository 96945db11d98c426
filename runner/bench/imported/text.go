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

var goName = regexp.MustCompile(`^Benchmark[^\s]*$`)

// goBench reads the text of go test -bench. Lines of one benchmark (-count) are its samples.
func goBench(f *file) ([]Series, error) {
	var all []Series
	var bytesSum, allocsSum []float64
	offset := int64(0)
	for raw := range bytes.Lines(f.data) {
		at := offset
		offset += int64(len(raw))
		fields := strings.Fields(string(raw))
		if len(fields) > 0 && (fields[0] == "---" && len(fields) > 2 && strings.HasPrefix(fields[1], "FAIL:") || fields[0] == "FAIL") {
			return nil, f.at(at, "a benchmark or test failed: %q", strings.TrimSpace(string(raw)))
		}
		if len(fields) < 2 || !goName.MatchString(fields[0]) {
			continue
		}
		n, err := strconv.ParseFloat(fields[1], 64)
		if err != nil { // a line of its log
			continue
		}
		if len(fields)%2 != 0 || len(fields) < 4 || !(n >= 1) || !bytes.HasSuffix(raw, []byte("\n")) && int(offset) == len(f.data) && len(fields) < 4 {
			return nil, f.at(at, "%s: want a number of iterations, and pairs of values and units", fields[0])
		}
		s := goSeries(fields[0])
		i := slices.IndexFunc(all, s.same)
		if i < 0 {
			if err := f.many(len(all), at); err != nil {
				return nil, err
			}
			s.ForksNS = [][]float64{nil}
			i, all = len(all), append(all, s)
			bytesSum, allocsSum = append(bytesSum, 0), append(allocsSum, 0)
		}
		timed := false
		for k := 2; k < len(fields); k += 2 {
			v, err := strconv.ParseFloat(fields[k], 64)
			if err != nil || !(v >= 0) {
				return nil, f.at(at, "%s: %q is not a value of %s", fields[0], fields[k], fields[k+1])
			}
			switch fields[k+1] {
			case "ns/op":
				times, err := f.times(at, fields[0], []float64{v}, 1)
				if err != nil {
					return nil, err
				}
				all[i].ForksNS[0], timed = append(all[i].ForksNS[0], times...), true
			case "B/op":
				bytesSum[i] += v
				all[i].AllocBytes = new(bytesSum[i])
			case "allocs/op":
				allocsSum[i] += v
				all[i].Allocs = new(allocsSum[i])
			}
		}
		if !timed {
			return nil, f.at(at, "%s: no ns/op", fields[0])
		}
	}
	for i := range all {
		n := float64(len(all[i].ForksNS[0]))
		for _, v := range []*float64{all[i].AllocBytes, all[i].Allocs} {
			if v != nil {
				*v /= n
			}
		}
	}
	return all, nil
}

var processors = regexp.MustCompile(`-[0-9]+$`)

func goSeries(name string) Series { return named(processors.ReplaceAllString(name, "")) }

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
		if s.Size == 0 && len(s.Params) == 1 { // the axis of the curve, whatever its name is
			if n, err := strconv.Atoi(s.Params[0].Value); err == nil && n > 0 {
				s.Size, s.Params = n, nil
			}
		}
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
