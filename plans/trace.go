package plans

import (
	"bytes"
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// maxTrace bounds the arrivals of a trace.
const maxTrace = 10_000_000

// trace reads recorded arrivals: their times since the first, divided by the speed, in order.
func (l *loader) trace(it *item) []Segment {
	file := it.get("file")
	if file == nil || it.get("speed") == nil || it.get("format") == nil {
		return nil
	}
	speed, err := strconv.ParseFloat(it.get("speed").value(), 64)
	if !numberText.MatchString(it.get("speed").value()) || err != nil || speed <= 0 || speed > 1e6 {
		l.fault(it.get("speed").fault("not a speed", it.get("speed").quoted(), "a number above 0, at most 1000000", "2 replays in half the time"))
		return nil
	}
	format := it.get("format").value()
	if format == "auto" {
		format = map[string]string{".csv": "csv", ".jsonl": "jsonl"}[strings.ToLower(filepath.Ext(file.value()))]
	}
	if format == "" {
		format = "log"
	}
	if it.has("column") && format == "log" {
		l.fault(firstOf(it.get("column"), it).fault("column of an access log", "", "a .csv or .jsonl file", "its time stands in brackets"))
		return nil
	}
	stamps := l.stamps(file, format, it.get("column"))
	if stamps == nil {
		return nil
	}
	slices.Sort(stamps) // logs are written in the order of the ends
	if format == "log" {
		spread(stamps)
	}
	offsets := make([]time.Duration, len(stamps))
	for i, at := range stamps {
		offsets[i] = time.Duration(float64(at-stamps[0]) / speed)
	}
	last := offsets[len(offsets)-1]
	over := last + max(time.Millisecond, last/time.Duration(len(offsets)))
	if over > 720*time.Hour {
		l.fault(file.fault("trace is too long", formatDuration(over.Round(time.Second)), "at most 720h", "raise speed"))
		return nil
	}
	rate := float64(len(offsets)) / over.Seconds()
	return []Segment{{Name: "trace", Kind: "trace", Pos: it.pos, From: rate, To: rate, Over: over, Trace: offsets}}
}

// spread puts arrivals of one second, which is all that an access log tells, evenly over it.
func spread(stamps []int64) {
	for i := 0; i < len(stamps); {
		n := i
		for n < len(stamps) && stamps[n] == stamps[i] {
			n++
		}
		for k := n - 1; k > i; k-- {
			stamps[k] += int64(k-i) * int64(time.Second) / int64(n-i)
		}
		i = n
	}
}

var logTime = regexp.MustCompile(`\[(\d{2}/[A-Z][a-z]{2}/\d{4}:\d{2}:\d{2}:\d{2} [+-]\d{4})\]`)

// stamps reads the times of a file, in ns since 1970; nil when they cannot be read.
func (l *loader) stamps(file *item, format string, column *item) []int64 {
	b, ok := l.readFile(file)
	if !ok {
		return nil
	}
	l.digest(file, b)
	var all []int64
	bad := func(line int, what string) []int64 {
		l.fault(file.fault("bad trace", fmt.Sprintf("%s at %s:%d", what, file.value(), line), "", ""))
		return nil
	}
	switch format {
	case "csv", "jsonl":
		t, line, err := tableOf(b, "."+format)
		if err != nil {
			return bad(line, err.Error())
		}
		name := cmp.Or(column.value(), "time")
		i := slices.Index(t.columns, name)
		if i < 0 {
			l.fault(firstOf(column, file).fault("unknown column of the trace", quote(name), orNothing(t.columns), didYouMean(name, t.columns)))
			return nil
		}
		for k, row := range t.rows {
			at, ok := stamp(row[i])
			if !ok {
				return bad(t.lines[k], fmt.Sprintf("%q is no time", shorten(row[i])))
			}
			all = append(all, at)
		}
	default:
		n := 0
		for line := range bytes.Lines(b) {
			n++
			if len(bytes.TrimSpace(line)) == 0 {
				continue
			}
			m := logTime.FindSubmatch(line)
			if m == nil {
				return bad(n, "no time like [10/Oct/2000:13:55:36 -0700]")
			}
			at, err := time.Parse("02/Jan/2006:15:04:05 -0700", string(m[1]))
			if err != nil || !inTraceYears(at) {
				return bad(n, fmt.Sprintf("%q is no time", m[1]))
			}
			all = append(all, at.UnixNano())
		}
	}
	switch {
	case len(all) == 0:
		return bad(1, "no arrivals")
	case len(all) > maxTrace:
		l.fault(file.fault("trace is too long", fmt.Sprintf("%d arrivals", len(all)), fmt.Sprintf("at most %d", maxTrace), ""))
		return nil
	}
	return all
}

var unixTime = regexp.MustCompile(`^([0-9]{1,11})(?:\.([0-9]{1,9}))?$`)

// stamp reads a time: RFC 3339, or seconds since 1970 with a fraction.
func stamp(text string) (ns int64, ok bool) {
	if m := unixTime.FindStringSubmatch(text); m != nil {
		s, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil || !inTraceYears(time.Unix(s, 0)) {
			return 0, false
		}
		part, err := strconv.ParseInt((m[2] + "000000000")[:9], 10, 64)
		return s*1e9 + part, err == nil
	}
	at, err := time.Parse(time.RFC3339Nano, text)
	if err != nil || !inTraceYears(at) {
		return 0, false
	}
	return at.UnixNano(), true
}

// inTraceYears tells whether a time is one of the years 1970 to 2200, whose ns since 1970 are an int64.
func inTraceYears(at time.Time) bool {
	at = at.UTC()
	return at.Year() >= 1970 && at.Year() <= 2200
}

// maxPoints bounds the points of a rate that a file gives.
const maxPoints = 100_000

// rates reads a rate over time from a file: linear from point to point.
func (l *loader) rates(it *item, file *item) []Segment {
	if file == nil {
		return nil
	}
	b, ok := l.readFile(file)
	if !ok {
		return nil
	}
	l.digest(file, b)
	bad := func(line int, what string) []Segment {
		l.fault(file.fault("bad rates", fmt.Sprintf("%s at %s:%d", what, file.value(), line), "", ""))
		return nil
	}
	t, line, err := tableOf(b, ".csv")
	if err != nil {
		return bad(line, err.Error())
	}
	at, rate := slices.Index(t.columns, "time"), slices.Index(t.columns, "rate")
	if at < 0 || rate < 0 {
		return bad(1, "no columns time and rate")
	}
	seg := Segment{Name: "csv", Kind: "csv", Pos: it.pos}
	for i, row := range t.rows {
		p, why := ratePoint(row[at], row[rate])
		switch n := len(seg.Points); {
		case why != "":
			return bad(t.lines[i], why)
		case n == 0 && p.At != 0:
			return bad(t.lines[i], "the first time is not 0s")
		case n > 0 && p.At <= seg.Points[n-1].At:
			return bad(t.lines[i], "times do not ascend")
		case n == maxPoints:
			return bad(t.lines[i], fmt.Sprintf("more than %d points", maxPoints))
		}
		seg.Points = append(seg.Points, p)
	}
	if len(seg.Points) < 2 {
		return bad(1, "fewer than two points")
	}
	last := seg.Points[len(seg.Points)-1]
	seg.From, seg.To, seg.Over = seg.Points[0].Rate, last.Rate, last.At
	if seg.Peak() == 0 || seg.Over > 720*time.Hour {
		return bad(1, "a rate of 0/s throughout, or longer than 720h")
	}
	seg.Name = fmt.Sprintf("csv up to %s", formatRate(seg.Peak(), "s"))
	return []Segment{seg}
}

// ratePoint reads a row: a duration or seconds, and a rate or arrivals per second.
func ratePoint(at, rate string) (p RatePoint, why string) {
	if numberText.MatchString(at) {
		at += "s"
	}
	if numberText.MatchString(rate) {
		rate += "/s"
	}
	d, what, _ := readDuration(at)
	if what != "" {
		return p, fmt.Sprintf("%q is no time like 10s", at)
	}
	r, what, _ := readRate(rate)
	if what != "" || r > 1e7 {
		return p, fmt.Sprintf("%q is no rate like 100/s, at most 10000000/s", rate)
	}
	return RatePoint{d, r}, ""
}
