package verdict

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// windows decides an SLO that has to hold in a share of all windows of a length. Each whole window is a fact: its requests
// meet the assertion or break it. So is the share of those that do.
func windows(s plans.SLO, l *result.Load, out *result.SLO) []result.SLOSegment {
	if l == nil {
		return nil
	}
	out.Set = "whole windows of " + dur(int64(s.Window))
	i := slices.IndexFunc(l.Windows, func(w result.Windows) bool { return w.LengthNS == int64(s.Window) })
	if i < 0 {
		return []result.SLOSegment{noData("windows of this length were not counted")}
	}
	w := &l.Windows[i]
	whole := min(int(l.DurationNS/w.LengthNS), len(w.Offered))
	good, empty := 0, 0
	first := -1
	for k := range whole {
		switch over, allowed, ok := inWindow(s, l.LimitsNS, w, k); {
		case !ok:
			return []result.SLOSegment{noData("requests over this limit were not counted")}
		case w.Offered[k] == 0:
			empty++
		case !breaks(s, over, w.Offered[k], allowed):
			good++
		case first < 0:
			first = k
		}
	}
	n := whole - empty
	if n == 0 {
		return []result.SLOSegment{noData("no whole window had a request")}
	}
	share := float64(good) / float64(n)
	p := result.SLOSegment{Samples: int64(n), Outcome: result.Pass, State: result.StatePassed}
	p.Reason = fmt.Sprintf("%d of %d windows of %s (%s) meet it, needed are %s", good, n, dur(w.LengthNS), pct(share), pct(s.WindowShare))
	if first >= 0 {
		p.Reason += fmt.Sprintf("; the first that does not begins at %s", dur(int64(first)*w.LengthNS))
	}
	if holdsShare(int64(good), int64(n), ">=", s.WindowShare) {
		return []result.SLOSegment{p}
	}
	p.Outcome, p.State = result.Fail, result.StateFailed
	why := capSaid(l, l.Audit.Capped, l.Offered, l.Audit.MeanInFlight)
	if share, said := lagShare(s, l); why == "" && share > lagInvalid {
		why = said
	}
	if why == "" && (generatorErrors(l) > 0 || l.Dropped > 0) {
		why = "the load generator itself dropped or could not send some requests"
	}
	if why != "" {
		return []result.SLOSegment{undecided(p, p.Reason+", but "+why)}
	}
	return []result.SLOSegment{p}
}

// inWindow is how many requests of a window speak against an SLO, and the share of them that it allows.
func inWindow(s plans.SLO, limits []int64, w *result.Windows, k int) (over int64, allowed float64, ok bool) {
	switch s.Metric.Kind {
	case plans.ErrorRate:
		return w.Bad[k], s.Limit, true
	case plans.SuccessRate:
		return w.Bad[k], 1 - s.Limit, true
	}
	at, found := slices.BinarySearch(limits, limitNS(s))
	if !found || at >= len(w.OverResponse) {
		return 0, 0, false
	}
	over = w.OverResponse[at][k]
	if s.Metric.Clock == plans.Service {
		over = w.OverService[at][k]
	}
	return over, 1 - rank(s.Metric), true
}

// breaks tells whether over of n requests break an SLO that allows a share of them. Times are to be below their limit, or
// above it.
func breaks(s plans.SLO, over, n int64, allowed float64) bool {
	switch s.Metric.Kind {
	case plans.ErrorRate, plans.SuccessRate:
		op := s.Op
		if s.Metric.Kind == plans.SuccessRate { // success >= 99% is no more than 1% of others
			op = map[string]string{">": "<", ">=": "<=", "<": ">", "<=": ">=", "==": "=="}[op]
		}
		return !holdsShare(over, n, op, allowed)
	}
	if s.Op[0] == '>' {
		return holdsShare(over, n, "<=", allowed)
	}
	return !holdsShare(over, n, "<=", allowed)
}

// BrokenWindows is Broken for an SLO with windows: so many of them are broken that it cannot be met any more. open is how many
// requests have come due and not ended, planned the length of the stage.
func BrokenWindows(s plans.SLO, limits []int64, list []result.Windows, open int64, at, planned time.Duration) string {
	i := slices.IndexFunc(list, func(w result.Windows) bool { return w.LengthNS == int64(s.Window) })
	if !s.Abort || at < s.AbortAfter || i < 0 {
		return ""
	}
	w := &list[i]
	all := int(int64(planned) / w.LengthNS)
	broken := 0
	for k := range min(all, len(w.Offered)) {
		over, allowed, ok := inWindow(s, limits, w, k)
		if ok && over > 0 && breaks(s, over, w.Offered[k]+open, allowed) && int64(k+1)*w.LengthNS <= int64(at) {
			broken++
		}
	}
	if most := int(math.Floor((1-s.WindowShare)*float64(all) + 1e-9)); broken > most {
		return fmt.Sprintf("%s: after %s %d windows are over the limit, allowed are %d of %d", s.Text, dur(int64(at.Round(time.Second))), broken, most, all)
	}
	return ""
}
