package plans

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// A Relative is a limit that is relative to a baseline: what was measured before.
type Relative struct {
	Set    bool
	Change float64 // 0.1 is 10 % more than the baseline, -0.05 is 5 % less
	Floor  float64 // in the unit of the assertion: a change that is smaller is none; 0: none
}

var (
	baselineWord = regexp.MustCompile(`^baseline\b`)
	changeSign   = regexp.MustCompile(`^[ \t]*[+-][ \t]*`)
	orWord       = regexp.MustCompile(`^[ \t]+or[ \t]+`)
)

// relative reads "baseline + 10% or 2ms", if that stands there.
func (p *sloParser) relative(s *SLO) bool {
	at := p.at
	if p.err != nil || p.take(baselineWord) == "" {
		return false
	}
	s.Baseline.Set = true
	m := s.Metric
	kinds := []MetricKind{Quantile, Mean, Min, Max, Throughput, Time, AllocBytes, Instructions}
	switch {
	case !slices.Contains(kinds, m.Kind):
		p.fail(at, "metric that is not compared with a baseline", quote(m.String()), "p99, mean, min, max, throughput, time p50, alloc_bytes or instructions", "")
	case s.Op == "==":
		p.fail(at, "measured values are never equal", "==", "<= or >=", "")
	}
	s.Unit = Nanoseconds
	switch m.Kind {
	case Throughput:
		s.Unit = PerSecond
	case AllocBytes:
		s.Unit = Bytes
	case Instructions:
		s.Unit = Count
	}
	if sign := strings.TrimSpace(p.take(changeSign)); sign != "" {
		start := p.at
		token := p.take(sloRest)
		n, ok := asShare(token)
		if !ok {
			p.fail(start, "not a change", quoteOr(token), "a percentage like 10%", "")
		}
		if sign == "-" {
			n = -n
		}
		if n <= -1 {
			p.fail(start, "change below nothing", quote(token), "less than 100%", "")
		}
		s.Baseline.Change = n
	}
	if p.err == nil && p.take(orWord) != "" {
		if s.Unit != Nanoseconds {
			p.fail(p.at, "floor of a metric that is no time", quote(m.String()), "a percentage alone", "")
			return true
		}
		p.duration(s, Nanoseconds)
		s.Baseline.Floor, s.Limit = s.Limit, 0
	}
	switch up := s.Op == "<" || s.Op == "<="; {
	case up && s.Baseline.Change < 0, !up && s.Baseline.Change > 0:
		p.fail(at, "limit on the other side of the baseline", s.Op+" "+strings.TrimSpace(p.text[at:p.at]), map[bool]string{true: "baseline + …", false: "baseline - …"}[up], "")
	}
	return true
}

// String is the limit as in an assertion, without its floor.
func (r Relative) String() string {
	switch n := strconv.FormatFloat(100*max(r.Change, -r.Change), 'g', 6, 64); {
	case !r.Set:
		return ""
	case r.Change > 0:
		return "baseline + " + n + "%"
	case r.Change < 0:
		return "baseline - " + n + "%"
	}
	return "baseline"
}
