package verdict

import (
	"fmt"
	"slices"
	"strings"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// A narrow is what a metric's scope leaves of a load.
type narrow struct {
	name string // of the host, where each is apart; "" for none
	load *result.Load
}

// narrowed is the record that a metric is about, or for each host one; without a load, or where the scope was not counted,
// the record is nil.
func narrowed(m plans.Metric, l *result.Load) []narrow {
	if l == nil || !m.Counted() {
		return []narrow{{load: ofSegment(m.Segment, of(m.Request, l))}}
	}
	hosts := []string{m.Host}
	if m.Host == "*" {
		hosts = nil
		for _, h := range l.Hosts {
			hosts = append(hosts, h.Address)
		}
	}
	var all []narrow
	for _, host := range hosts {
		one := m
		one.Host = host
		n := narrow{load: ofSegment(m.Segment, counted(one, l))}
		if m.Host == "*" {
			n.name = "host " + host
		}
		all = append(all, n)
	}
	return all
}

// counted is the record of requests that were counted apart.
func counted(m plans.Metric, l *result.Load) *result.Load {
	set := from(apartName(m), l.Apart, l)
	if set == nil || m.Status == "" || m.Kind != plans.ErrorRate && m.Kind != plans.Failed {
		return set
	}
	// Failures with that status, among all requests.
	without := m
	without.Status = ""
	base := of(m.Request, l)
	if without.Host != "" {
		base = from(apartName(without), l.Apart, l)
	}
	if base == nil {
		return nil
	}
	own := *base
	own.Counts, own.Errors = only(base.Counts, set.Failed), set.Errors
	own.Segments = slices.Clone(base.Segments)
	for i := range own.Segments {
		own.Segments[i].Counts = only(base.Segments[i].Counts, set.Segments[i].Failed)
	}
	return &own
}

// only are counts in which no more than so many have failed.
func only(c result.Counts, failed int64) result.Counts {
	return result.Counts{Offered: c.Offered, Sent: c.Offered, Completed: c.Offered - failed, Failed: failed}
}

// apartName is how the record calls the requests of a scope.
func apartName(m plans.Metric) string {
	scope := m.Scope
	scope.Segment = ""
	return strings.TrimSpace(m.Request + " " + scope.String())
}

// ofSegment is one segment of a load, in the form of the whole; nil where there is none.
func ofSegment(name string, l *result.Load) *result.Load {
	if name == "" || l == nil {
		return l
	}
	i := slices.IndexFunc(l.Segments, func(s result.Segment) bool { return s.Name == name })
	if i < 0 {
		return nil
	}
	s, own := l.Segments[i], *l
	own.Counts, own.Segments = s.Counts, []result.Segment{s}
	own.Response, own.Service, own.Lag, own.DispatchLag = s.Response, s.Service, s.Lag, s.DispatchLag
	own.FailedResponse = result.Distribution{Count: s.Sent - s.Response.Count}
	own.DurationNS, own.PlannedNS = s.DurationNS, s.DurationNS
	own.ThroughputPerS, own.OfferedPerS = s.ThroughputPerS, float64(s.Offered)/max(float64(s.DurationNS)/1e9, 1e-9)
	own.Audit.Capped, own.Audit.MeanInFlight = s.Capped, s.MeanInFlight
	return &own
}

// wire decides an SLO on the time to the first byte, or to connect, of the whole stage.
func wire(s plans.SLO, l *result.Load, out *result.SLO) []result.SLOSegment {
	if l == nil {
		return nil
	}
	d, over, n := l.Wire.FirstByte, l.Wire.OverFirstByte, l.Sent
	out.Set = "sent requests; those without an answer count as over the limit"
	if s.Metric.Clock == plans.Connect {
		d, over, n = l.Wire.Connect, l.Wire.OverConnect, l.Wire.Connect.Count
		out.Set = "connections"
	}
	at, ok := slices.BinarySearch(l.LimitsNS, limitNS(s))
	if !ok || at >= len(over) || n == 0 {
		return []result.SLOSegment{noData("nothing was measured that this can be decided by")}
	}
	q := rank(s.Metric)
	e := evidence{over: over[at], n: n, allowed: 1 - q, effN: float64(n) * independence(l, at, q), confidence: confidence(l)}
	e = e.again()
	if s.Op[0] == '>' {
		e = e.slower(n - d.Count)
	}
	p := result.SLOSegment{Samples: n}
	p.Value, p.Censored = ranked(d, n, q)
	p.Interval = &result.Interval{Of: shareOver, Lo: &e.lo, Hi: &e.hi, Confidence: e.confidence, NEff: e.effN}
	good, bad := e.within, e.breach
	if s.Op[0] == '>' {
		good, bad = bad, good
	}
	said := fmt.Sprintf("%d of %d (%s) were over the limit, allowed are %s", e.over, e.n, pct(e.share), pct(e.allowed))
	switch {
	case good:
		p.Outcome, p.State, p.Reason = result.Pass, result.StatePassed, said
	case !bad:
		p = undecided(p, fmt.Sprintf("%s, and the share may lie anywhere from %s to %s: too close or too few to tell", said, pct(e.lo), pct(e.hi)))
	default:
		p.Outcome, p.State, p.Reason = result.Fail, result.StateFailed, said
		if lag := l.DispatchLag.P99NS; lag != nil && s.Op[0] == '<' && float64(*lag) > lagInvalid*s.Limit && p.Value != nil && *p.Value < s.Limit+float64(*lag) {
			p = undecided(p, said+fmt.Sprintf(", but the load generator itself ran %s late, and so may have seen the answers", dur(*lag)))
		}
	}
	return []result.SLOSegment{p}
}

// independence is the share of requests that count as independent of each other, by their response times: the least of
// all segments.
func independence(l *result.Load, at int, q float64) float64 {
	share := 1.0
	for i := range l.Segments {
		seg := &l.Segments[i]
		if seg.Offered == 0 || at >= len(seg.OverResponse) {
			continue
		}
		if e := responseEvidence(seg, at, q, Confidence); e.effN > 0 {
			share = min(share, e.effN/float64(seg.Offered))
		}
	}
	return share
}
