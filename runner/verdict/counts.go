package verdict

import (
	"fmt"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// counts decides an SLO on error_rate, success, failed or dropped, over the whole stage and in each segment for
// the two shares.
func counts(s plans.SLO, l *result.Load, out *result.SLO) []result.SLOSegment {
	if l == nil {
		return nil
	}
	out.Set = "offered requests"
	if s.Metric.Kind == plans.Failed || s.Metric.Kind == plans.Dropped {
		if l.Offered == 0 {
			return nil
		}
		return []result.SLOSegment{countOf(s, l, l.Counts)}
	}
	if len(l.Segments) < 2 {
		return []result.SLOSegment{shareOf(s, l, l.Counts, capSaid(l, l.Audit.Capped, l.Offered, l.Audit.MeanInFlight))}
	}
	var parts []result.SLOSegment
	for i := range l.Segments {
		seg := &l.Segments[i]
		if seg.Offered == 0 && seg.Planned == 0 {
			continue
		}
		p := shareOf(s, l, seg.Counts, capSaid(l, seg.Capped, seg.Offered, seg.MeanInFlight))
		p.Segment = seg.Name
		parts = append(parts, p)
	}
	return parts
}

// shareOf compares k of n with the limit as k against limit·n, so that 1 of 100 meets "<= 1%" exactly. capped says that
// the in-flight bound shaped the stage, or is empty: what it held back until the end is then not the target's failure.
func shareOf(s plans.SLO, l *result.Load, c result.Counts, capped string) result.SLOSegment {
	if c.Offered == 0 {
		return noData("no request was offered")
	}
	k := c.Failed + c.Dropped + c.Unfinished
	word := "failed, were dropped or did not finish"
	if s.Metric.Kind == plans.SuccessRate {
		k, word = c.Completed, "were answered as expected"
	}
	v := float64(k) / float64(c.Offered)
	p := result.SLOSegment{Value: &v, Samples: c.Offered, Outcome: result.Fail, State: result.StateFailed}
	p.Reason = fmt.Sprintf("%d of %d requests (%s) %s", k, c.Offered, pct(v), word)
	if holdsShare(k, c.Offered, s.Op, s.Limit) {
		p.Outcome, p.State = result.Pass, result.StatePassed
		return p
	}
	own, why := clientLoss(l, c, capped)
	rest := max(k-own, 0)
	if s.Metric.Kind == plans.SuccessRate {
		rest = min(k+own, c.Offered)
	}
	if own > 0 && holdsShare(rest, c.Offered, s.Op, s.Limit) {
		return undecided(p, p.Reason+", but "+why)
	}
	return p
}

func countOf(s plans.SLO, l *result.Load, c result.Counts) result.SLOSegment {
	if s.Metric.Kind == plans.Dropped {
		return compared(s, float64(c.Dropped), c.Offered)
	}
	k := c.Failed + c.Unfinished
	p := compared(s, float64(k), c.Offered)
	own, why := clientLoss(l, c, capSaid(l, l.Audit.Capped, l.Offered, l.Audit.MeanInFlight))
	own -= c.Dropped
	if p.Outcome == result.Fail && own > 0 && holds(float64(k-own), s.Op, s.Limit) {
		return undecided(p, p.Reason+", but "+why)
	}
	return p
}

// clientLoss is how many of c's requests that did not complete may be the client's doing, with the reason: those it
// dropped or could not send; with capped, those that its in-flight bound sent so late that the drain ended first, or that
// waited there for the most part of their timeout; and timeouts, when it stood still for so long that an answer may have
// been there.
func clientLoss(l *result.Load, c result.Counts, capped string) (n int64, why string) {
	if own := c.Dropped + min(generatorErrors(l), c.Failed); own > 0 {
		n += own
		why = "without those that the load generator itself dropped or could not send the limit would be met"
	}
	held := c.Unfinished + c.WaitedOut
	shortest := l.TimeoutNS
	for _, part := range []int64{l.ConnectTimeoutNS, l.FirstByteTimeoutNS} {
		if part > 0 {
			shortest = min(shortest, part)
		}
	}
	if pause := l.Audit.PauseMaxNS; pause != nil && shortest > 0 && *pause >= shortest/2 {
		if late := min(errorsOf(l, "timeout"), c.Failed); late > 0 {
			n, held = n+late, c.Unfinished // timeouts count once
			why = fmt.Sprintf("the load generator stood still for up to %s, so timeouts of %s may be its own", dur(*pause), dur(shortest))
		}
	}
	switch cut := l.DurationNS < l.PlannedNS-int64(time.Millisecond); {
	case capped != "":
		n, why = n+held, capped
	case cut && c.Unfinished > 0:
		n, why = n+c.Unfinished, "the stage was cut short while some were under way"
	}
	return n, why
}

func errorsOf(l *result.Load, kind string) int64 {
	var n int64
	for _, e := range l.Errors {
		if e.Kind == kind {
			n += e.Count
		}
	}
	return n
}

// holdsShare compares k/n with limit. Limits come from decimal text, so a share that is equal as a decimal is
// equal here: the slack is far below one request.
func holdsShare(k, n int64, op string, limit float64) bool {
	diff := float64(k) - limit*float64(n)
	const slack = 1e-6
	switch op {
	case "<":
		return diff < -slack
	case "<=":
		return diff <= slack
	case ">":
		return diff > slack
	case ">=":
		return diff >= -slack
	}
	return diff <= slack && diff >= -slack
}

func generatorErrors(l *result.Load) int64 {
	var n int64
	for _, e := range l.Errors {
		if e.Class == result.ClassGenerator {
			n += e.Count
		}
	}
	return n
}

// throughput decides an SLO on completed requests per second, or on their share of the offered ones.
func throughput(s plans.SLO, l *result.Load) []result.SLOSegment {
	if l == nil || l.Offered == 0 || l.DurationNS <= 0 {
		return nil
	}
	v := l.ThroughputPerS
	word := fmt.Sprintf("%s requests a second were completed in time", digits(v))
	if s.Unit == plans.Share {
		if l.OfferedPerS <= 0 {
			return nil
		}
		v /= l.OfferedPerS
		word += fmt.Sprintf(", of %s offered", digits(l.OfferedPerS))
	}
	p := compared(s, v, l.Offered)
	p.Reason = word
	if p.Outcome == result.Fail && s.Op[0] == '>' {
		why := capSaid(l, l.Audit.Capped, l.Offered, l.Audit.MeanInFlight)
		if own, lost := clientLoss(l, l.Counts, ""); why == "" && own > 0 && holds(v*(1+float64(own)/float64(max(l.Completed, 1))), s.Op, s.Limit) {
			why = lost
		}
		if why != "" {
			p = undecided(p, p.Reason+", but "+why)
		}
	}
	return []result.SLOSegment{p}
}
