package verdict

import (
	"fmt"
	"slices"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// Agreed tells whether looks at a stage decide all of its SLOs that gate: each has failed in more than half of the looks that the
// plan allows, or passed in as many. With a chance a of a wrong outcome in one look, that of a wrong one in the end is that of
// more than half of them, for three looks 3a²(1−a) + a³: 0.7 % for 5 %.
func Agreed(st *plans.Stage, looks []result.Stage) bool {
	return !slices.ContainsFunc(looks[0].SLO, func(s result.SLO) bool {
		if s.Warn {
			return false
		}
		i := slices.IndexFunc(looks[0].SLO, func(o result.SLO) bool { return o.Text == s.Text })
		fails, passes := tally(looks, i)
		return 2*fails <= st.Looks && 2*passes <= st.Looks
	})
}

// tally counts the looks in which the i-th SLO failed, and in which it passed.
func tally(looks []result.Stage, i int) (fails, passes int) {
	for _, l := range looks {
		if i < len(l.SLO) {
			switch l.SLO[i].Outcome {
			case result.Fail:
				fails++
			case result.Pass:
				passes++
			}
		}
	}
	return fails, passes
}

// Looks decides the SLOs of a stage that was measured several times, and the stage, by the most of its looks.
func Looks(ps *plans.Stage, st *result.Stage) {
	n := len(st.Looks)
	for i := range st.SLO {
		s := &st.SLO[i]
		fails, passes := tally(st.Looks, i)
		last := s.Reason
		switch {
		case 2*fails > ps.Looks:
			if s.Outcome != result.Fail { // the figures are those of a look in which it failed
				*s = failing(st.Looks, i)
				last = s.Reason
			}
			s.Outcome, s.State, s.Reason = result.Fail, result.StateFailed, fmt.Sprintf("confirmed %d of %d: %s", fails, n, last)
		case fails > 0 && 2*passes > ps.Looks:
			s.Outcome, s.State, s.Reason = result.Pass, result.StatePassed, fmt.Sprintf("not reproduced: it failed in %d of %d looks (%s), and passed in %d", fails, n, failing(st.Looks, i).Reason, passes)
		case 2*passes > ps.Looks:
		default:
			if s.Outcome != result.Inconclusive {
				s.Outcome, s.State = result.Inconclusive, result.StateInconclusive
			}
			s.Reason = fmt.Sprintf("%d looks do not agree: it failed in %d, passed in %d; the last: %s", n, fails, passes, last)
		}
	}
	st.Outcome, st.Reason = stageOutcome(st)
}

// failing is the i-th SLO in the last look in which it failed.
func failing(looks []result.Stage, i int) (s result.SLO) {
	for _, l := range looks {
		if l.SLO[i].Outcome == result.Fail {
			s = l.SLO[i]
		}
	}
	return s
}

// Undecided names the first SLO, warnings aside, that more of the same load may decide: what was measured whole and is valid
// leaves the share of requests over its limit open. It is "" when there is none, or when another fails.
func Undecided(ps *plans.Stage, st *result.Stage) string {
	if st.State != result.Complete || st.Outcome == result.Fail || invalid(st.Warnings) != nil {
		return ""
	}
	for i, s := range st.SLO {
		if s.Warn || s.State != result.StateInconclusive || s.Interval == nil || s.Interval.Lo == nil || s.Interval.Hi == nil || i >= len(ps.SLOs) {
			continue
		}
		allowed := 1 - rank(ps.SLOs[i].Metric)
		if s.Interval.Of == shareOver && *s.Interval.Lo <= allowed && allowed <= *s.Interval.Hi {
			return s.Text
		}
	}
	return ""
}
