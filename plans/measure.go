package plans

import (
	"math"
	"time"
)

// Planned is the mean number of requests that the stage offers: of a warm-up until it is steady, the most; of a
// microbenchmark 0.
func (s *Stage) Planned() float64 {
	switch w := s.Work.(type) {
	case *Warmup:
		return w.Rate * w.Until.AtMost.Seconds()
	case *Compare:
		return w.Rate * w.Duration(w.Pairs).Seconds()
	case *Load:
		total := 0.0
		for _, seg := range w.Profile {
			total += seg.Planned()
		}
		return total
	}
	return 0
}

// Planned is the mean number of requests that the plan offers, warm-ups included.
func (p *Plan) Planned() float64 {
	total := 0.0
	for _, s := range p.Stages {
		total += s.Planned()
	}
	return total
}

// Duration gives the least and the longest time that the stage takes, building and starting left out. The longest
// counts every wait for an answer up to its timeout.
func (s *Stage) Duration() (least, most time.Duration) {
	switch w := s.Work.(type) {
	case *Warmup:
		least, most = w.Until.AtMost, w.Until.AtMost+w.Timeout
		if w.Until.Steady {
			least = 0
		}
	case *Compare:
		least, most = w.Duration(5), saturated(float64(w.Duration(w.Pairs+3))+float64(times(float64(2*w.Pairs), w.Timeout)))
	case *Load:
		least, most = w.Duration(), w.Duration()+w.Drain
	case *Microbenchmark:
		runs, samples := float64(len(w.Cells())*w.Forks), float64(w.Samples)
		if w.Subject.Kind == SubjectResults {
			break
		}
		least = times(runs*samples, w.MinTime)
		most = saturated(float64(times(runs, w.Warmup.AtMost)) + float64(times(runs*(samples+1), max(w.Timeout, w.MinTime))))
		if !w.Warmup.Steady {
			least = saturated(float64(least) + float64(times(runs, w.Warmup.AtMost)))
		}
	}
	return least, most
}

// times is n × d, at most the longest duration there is.
func times(n float64, d time.Duration) time.Duration { return saturated(n * float64(d)) }

func saturated(ns float64) time.Duration {
	if ns >= math.MaxInt64 {
		return math.MaxInt64
	}
	return time.Duration(ns)
}
