package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner"
)

// A status is how far a run is: what the living line and the plain lines say.
type status struct {
	index, count int    // of the stage, from 0
	name         string // of the stage; "" before the first
	doing        string // what is prepared, "starting predictor"; "" while a stage runs

	elapsed, planned time.Duration // of a load or warm-up
	draining         bool          // all is offered, some is in flight
	figures          bool          // the rest of this group is known
	offered          float64       // per second
	completed        float64       // per second
	p50, p99         time.Duration // response times of what ended last; 0 when nothing did
	failed, dropped  int64         // requests since the stage began

	done, forks int    // of a microbenchmark; forks 0 in other stages
	pairs       bool   // forks are pairs of a comparison
	cell        string // of the grid, of the fork that runs

	round, rounds int // of a load that is offered again, from 2, and most that there may be; 0: once

	others []status // of stages at the same time, those that began first ahead
}

// A glyphs is the characters that a picture is drawn with.
type glyphs struct {
	done, todo string // of a bar
	levels     string // of a column, from nearly empty to full
	axis       string
	separator  string
	more       string // one column: the rest was cut off
}

var (
	unicodeGlyphs = glyphs{"━", "─", "▁▂▃▄▅▆▇█", "┤", " · ", "…"}
	asciiGlyphs   = glyphs{"#", "-", ".:|#", "|", ", ", "~"}
)

// barWidth is the columns of the bar in a living line that has room for it.
const barWidth = 20

// line is the living line: one line of at most width columns, without a newline. Where it gets narrow the bar goes
// first, then what stands at the end is cut off.
func (s status) line(width int, g glyphs) string {
	if s.doing != "" {
		return cut(s.doing, width, g)
	}
	if len(s.others) > 0 {
		var all []string
		for _, one := range append(slices.Clip(s.others), s) {
			all = append(all, one.head()+" "+strings.Join(one.fields(), g.separator))
		}
		return cut(strings.Join(all, " "+g.axis+" "), width, g)
	}
	head, fields := s.head(), s.fields()
	full := head + " " + s.bar(barWidth, g) + " " + strings.Join(fields, g.separator)
	if columns(full) <= width {
		return full
	}
	return cut(head+" "+strings.Join(fields, g.separator), width, g)
}

// plain is the same for a log file.
func (s status) plain() string {
	if s.doing != "" {
		return s.doing
	}
	text := ""
	for _, one := range s.others {
		text += one.plain() + "; "
	}
	return text + s.head() + ": " + strings.Join(s.fields(), ", ")
}

func (s status) head() string {
	text := fmt.Sprintf("[%d/%d] %s", s.index+1, s.count, s.name)
	if s.round > 0 {
		text += fmt.Sprintf(" (round %d of up to %d)", s.round, s.rounds)
	}
	return text
}

// fields are the figures in the order of how much they would be missed.
func (s status) fields() []string {
	if s.forks > 0 {
		noun := "fork"
		if s.pairs {
			noun = "pair"
		}
		f := []string{fmt.Sprintf("%s %d of %d", noun, min(s.done+1, s.forks), s.forks)}
		if s.cell != "" {
			f = append(f, s.cell)
		}
		return f
	}
	f := []string{clock(max(s.planned-s.elapsed, 0)) + " left"}
	if s.draining {
		f[0] = "draining"
	}
	if !s.figures {
		return f
	}
	f = append(f, "offered "+rate(s.offered), "completed "+rate(s.completed))
	if s.p99 > 0 {
		f = append(f, "p50 "+short(s.p50), "p99 "+short(s.p99))
	}
	f = append(f, fmt.Sprintf("errors %d", s.failed))
	if s.dropped > 0 {
		f = append(f, fmt.Sprintf("dropped %d", s.dropped))
	}
	return f
}

func (s status) bar(width int, g glyphs) string {
	share := 0.0
	switch {
	case s.forks > 0:
		share = float64(s.done) / float64(s.forks)
	case s.planned > 0:
		share = float64(s.elapsed) / float64(s.planned)
	}
	n := int(min(max(share, 0), 1) * float64(width))
	return strings.Repeat(g.done, n) + strings.Repeat(g.todo, width-n)
}

// clock is a time for people to wait for: 45s, 3:05, 1:02:03. A begun second counts.
func clock(d time.Duration) string {
	s := int64((d + time.Second - 1) / time.Second)
	switch {
	case s < 60:
		return fmt.Sprintf("%ds", s)
	case s < 3600:
		return fmt.Sprintf("%d:%02d", s/60, s%60)
	}
	return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
}

// length is a duration as plans write it: 90s is 1m30s, an hour 1h.
func length(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// rate has three figures at most after the first: 0.5/s, 99.5/s, 400/s, 12500/s.
func rate(perS float64) string {
	if perS < 100 {
		return strings.TrimSuffix(fmt.Sprintf("%.1f", perS), ".0") + "/s"
	}
	return fmt.Sprintf("%.0f/s", perS)
}

// short has three significant figures: 850ns, 12.3ms, 1.25s. It is ASCII, as plans may write it.
func short(d time.Duration) string {
	unit, name := time.Nanosecond, "ns"
	switch {
	case d >= time.Second:
		unit, name = time.Second, "s"
	case d >= time.Millisecond:
		unit, name = time.Millisecond, "ms"
	case d >= time.Microsecond:
		unit, name = time.Microsecond, "us"
	}
	v := float64(d) / float64(unit)
	digits := 2
	switch {
	case unit == time.Nanosecond || v >= 100:
		digits = 0
	case v >= 10:
		digits = 1
	}
	return fmt.Sprintf("%.*f%s", digits, v, name)
}

// columns is the width of s on a terminal, for text of one column a character.
func columns(s string) int { return len([]rune(s)) }

// cut shortens s to width columns and marks that it did.
func cut(s string, width int, g glyphs) string {
	r := []rune(s)
	if len(r) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	return string(r[:width-1]) + g.more
}

// apply is the status after an event.
func (s status) apply(e runner.Event) status {
	switch e := e.(type) {
	case runner.Preparing:
		if s.name != "" { // a stage waits for its turn beside another
			return s
		}
		if e.Doing == "ready" {
			return status{doing: e.Target + " is ready"}
		}
		return status{doing: strings.TrimSpace(e.Doing + " " + e.Target)}
	case runner.StageStarted:
		others := s.others
		if s.name != "" {
			s.others = nil
			others = append(slices.Clip(others), s)
		}
		s = status{index: e.Index, count: e.Count, name: e.Stage.Name, others: others}
		switch w := e.Stage.Work.(type) {
		case *plans.Load:
			s.planned = w.Duration()
		case *plans.Warmup:
			s.planned = w.Until.AtMost
		case *plans.Microbenchmark:
			s.forks = len(w.Sizes) * w.Forks
		}
	case runner.StageExtended:
		s.round, s.rounds, s.elapsed, s.draining = e.Round, e.Most, 0, false
	case runner.LoadProgress:
		if i := s.other(e.Stage.Name); i >= 0 {
			s.others = slices.Clone(s.others)
			s.others[i] = s.others[i].apply(e)
			return s
		}
		s.elapsed, s.planned, s.draining = e.Elapsed, e.Planned, e.Tick.Draining
		s.failed, s.dropped = e.Tick.Total.Failed, e.Tick.Total.Dropped
		if span := e.Tick.Length.Seconds(); span > 0 {
			s.figures = true
			s.offered, s.completed = float64(e.Tick.Last.Offered)/span, float64(e.Tick.Last.Completed)/span
		}
		s.p50, s.p99 = 0, 0
		if e.Tick.Samples > 0 {
			s.p50, s.p99 = e.Tick.P50, e.Tick.P99
		}
	case runner.CompareProgress:
		s.done, s.forks, s.cell = e.Pair-1, e.Most, e.Version
		s.pairs = true
	case runner.BenchProgress:
		s.done, s.forks, s.cell = e.Done, e.Count, e.Cell.String()
	case runner.StageFinished:
		if i := s.other(e.Stage.Name); i >= 0 {
			s.others = slices.Delete(slices.Clone(s.others), i, i+1)
			return s
		}
		if n := len(s.others); n > 0 {
			last := s.others[n-1]
			last.others = s.others[:n-1]
			return last
		}
		return status{}
	}
	return s
}

// other is the index of a stage among the others; -1: it is not one of them.
func (s status) other(name string) int {
	return slices.IndexFunc(s.others, func(o status) bool { return o.name == name })
}

// after is the status d later, when nothing else has been heard.
func (s status) after(d time.Duration) status {
	s.elapsed += d
	s.others = slices.Clone(s.others)
	for i := range s.others {
		s.others[i].elapsed += d
	}
	return s
}

// idle reports whether there is nothing to show.
func (s status) idle() bool { return s.doing == "" && s.name == "" }

// finished is the line about a stage that stays.
func finished(e runner.StageFinished) string {
	return fmt.Sprintf("[%d/%d] %s: %s: %s", e.Index+1, e.Count, e.Stage.Name, e.Stage.Outcome, e.Stage.Reason)
}
