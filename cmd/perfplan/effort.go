package main

import (
	"fmt"
	"math"
	"time"

	"github.com/perfplan/perfplan/plans"
)

// An effort is how long something takes and how many requests it offers. Where that is not known before, least and most
// differ.
type effort struct {
	least, most time.Duration
	few, many   float64
	open        bool // it may take longer than most
	unknown     bool // how many requests there are depends on the target
}

func (e effort) plus(o effort) effort {
	return effort{e.least + o.least, e.most + o.most, e.few + o.few, e.many + o.many, e.open || o.open, e.unknown || o.unknown}
}

// effortOfStage is that of its work, with what it may be extended by.
func effortOfStage(s *plans.Stage) effort {
	e := effortOf(s.Work)
	looks := s.Rounds()
	if more := time.Duration(looks[len(looks)-1] - 1); more > 0 {
		l := s.Work.(*plans.Load)
		e.most += more * (l.Duration() + l.Drain)
		e.many += float64(more) * e.few
	}
	return e
}

func effortOf(w plans.Work) effort {
	switch w := w.(type) {
	case *plans.Microbenchmark:
		if w.Subject.Kind == plans.SubjectResults {
			return effort{}
		}
		forks := time.Duration(len(w.Cells()) * w.Forks)
		samples := forks * time.Duration(w.Samples) * w.MinTime
		e := effort{least: samples, most: samples + forks*w.Warmup.AtMost, open: true}
		if !w.Warmup.Steady {
			e.least = e.most
		}
		return e
	case *plans.Warmup:
		l := plans.Load{Mix: w.Mix, Flows: w.Flows}
		e := effort{most: w.Until.AtMost, many: w.Rate * w.Until.AtMost.Seconds() * l.Share("")}
		if !w.Until.Steady {
			e.least, e.few = e.most, e.many
		}
		return e
	case *plans.Compare:
		return effort{least: w.Duration(min(5, w.Pairs)), most: w.Duration(w.Pairs), few: w.Rate * w.Duration(min(5, w.Pairs)).Seconds(), many: w.Rate * w.Duration(w.Pairs).Seconds()}
	case *plans.Load:
		n := 0.0
		for _, s := range w.Profile {
			n += s.Planned()
		}
		n *= w.Share("")
		return effort{least: w.Duration(), most: w.Duration() + w.Drain, few: n, many: n, unknown: w.Arrivals == plans.Closed}
	}
	return effort{}
}

// span is the time in words.
func (e effort) span() string {
	text := clock(e.least)
	if e.most > e.least {
		text += " to " + clock(e.most)
	}
	if e.open {
		text += ", more where an iteration takes longer than a sample should"
	}
	return text
}

func (e effort) requests() string {
	few, many := whole(e.few), whole(e.many)
	switch {
	case e.unknown && e.many == 0:
		return "as many as are answered"
	case e.unknown:
		return many + ", and as many as users are answered"
	}
	if few == many {
		return few
	}
	return few + " to " + many
}

// whole is a number of arrivals: a begun one counts, as in a uniform schedule, but rounding errors do not.
func whole(n float64) string { return fmt.Sprintf("%.0f", max(math.Ceil(n-1e-6), 0)) }
