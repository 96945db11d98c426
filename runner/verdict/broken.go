package verdict

import (
	"fmt"
	"slices"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// beyondDoubt is the confidence at which a breach ends a stage. It is looked at each second, so that it has to be far above
// Confidence.
const beyondDoubt = 0.9999

// Broken says why a stage need not go on: a breach of s, one that aborts, in what has ended of a segment so far, that is beyond
// doubt. limits are those of LimitsNS. It is "" while there is none.
func Broken(s plans.SLO, limits []int64, segments []result.Segment, at time.Duration) string {
	if !s.Abort || at < s.AbortAfter {
		return ""
	}
	for i := range segments {
		seg := &segments[i]
		if seg.Offered == 0 || s.Metric.Segment != "" && s.Metric.Segment != seg.Name {
			continue
		}
		if k, allowed, ok := overOf(s, limits, seg); ok && surely(s, k, seg.Offered, allowed) {
			return fmt.Sprintf("%s: after %s %d of %d requests in %s are over the limit", s.Text, dur(int64(at.Round(time.Second))), k, seg.Offered, seg.Name)
		}
	}
	return ""
}

// overOf is how many requests of a segment speak against an SLO, and the share of them that it allows.
func overOf(s plans.SLO, limits []int64, seg *result.Segment) (k int64, allowed float64, ok bool) {
	switch s.Metric.Kind {
	case plans.ErrorRate:
		return seg.Failed + seg.Dropped, s.Limit, true
	case plans.Failed:
		return seg.Failed, s.Limit, true
	case plans.Dropped:
		return seg.Dropped, s.Limit, true
	}
	i, found := slices.BinarySearch(limits, limitNS(s))
	if !found || i >= len(seg.OverResponse) {
		return 0, 0, false
	}
	k = seg.OverResponse[i]
	if s.Metric.Clock == plans.Service {
		k = seg.OverService[i]
	}
	return k, 1 - rank(s.Metric), true
}

func surely(s plans.SLO, k, n int64, allowed float64) bool {
	switch s.Metric.Kind {
	case plans.Failed, plans.Dropped, plans.Max:
		return !holds(float64(k), s.Op, allowed) && k > 0
	}
	return int(n) >= s.MinSamples() && stats.ClopperPearsonLower(float64(k), float64(n), beyondDoubt) > allowed
}
