package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// times decides an SLO on a percentile or the maximum in each segment.
func times(s plans.SLO, l *result.Load, out *result.SLO) []result.SLOSegment {
	if l == nil {
		return nil
	}
	out.Set = "offered requests; failed, dropped and unfinished ones count as over the limit"
	if s.Metric.Clock != plans.Response {
		out.Set = "sent requests; failed ones count as over the limit"
	}
	if s.Metric.Clock == plans.Lag {
		out.Set = "sent requests"
	}
	var parts []result.SLOSegment
	for i := range l.Segments {
		seg := &l.Segments[i]
		if seg.Offered == 0 && len(l.Segments) > 1 && seg.Planned == 0 {
			continue
		}
		p := timeSegment(s, l, seg)
		p.Segment = seg.Name
		parts = append(parts, p)
	}
	return parts
}

// shareOver is what the bounds of an SLO on a percentile are of.
const shareOver = "share over the limit"

// evidence is how many of n requests were over a limit, with bounds on the share.
type evidence struct {
	over, n        int64
	share          float64
	lo, hi, effN   float64
	allowed        float64 // largest share that the percentile allows
	confidence     float64 // of each bound
	breach, within bool
}

// confidence of each bound: what may go wrong is split over the looks that a stage may have.
func confidence(l *result.Load) float64 { return 1 - (1-Confidence)/float64(max(l.Looks, 1)) }

func timeSegment(s plans.SLO, l *result.Load, seg *result.Segment) result.SLOSegment {
	if seg.Offered == 0 {
		return noData("no request was offered in this segment")
	}
	q := rank(s.Metric)
	if s.Metric.Clock == plans.Lag {
		return plain(s, seg.Lag, q)
	}
	at, ok := slices.BinarySearch(l.LimitsNS, limitNS(s))
	if !ok || at >= len(seg.OverResponse) {
		return noData("requests over this limit were not counted")
	}
	resp := responseEvidence(seg, at, q, confidence(l))
	serv := serviceEvidence(seg, at, q, resp)
	e := resp
	p := result.SLOSegment{Samples: seg.Offered}
	p.Value, p.Censored = ranked(seg.Response, seg.Offered, q)
	if s.Metric.Clock == plans.Service {
		e = serv
		p.Samples = seg.Sent
		p.Value, p.Censored = ranked(seg.Service, seg.Sent, q)
	}
	if e.n == 0 {
		return noData("no request was sent in this segment")
	}
	if s.Op[0] == '>' {
		e = e.slower(e.n - countedIn(s, seg))
	}
	p.Interval = &result.Interval{Of: shareOver, Lo: &e.lo, Hi: &e.hi, Confidence: e.confidence, NEff: e.effN}
	good, bad := e.within, e.breach
	if s.Op[0] == '>' {
		good, bad = e.breach, e.within
	}
	said := fmt.Sprintf("%d of %d requests (%s) were over the limit, allowed are %s", e.over, e.n, pct(e.share), pct(e.allowed))
	switch {
	case good:
		p.Outcome, p.State, p.Reason = result.Pass, result.StatePassed, said
	case !bad:
		return undecided(p, fmt.Sprintf("%s, and the share may lie anywhere from %s to %s (%.4g%% bounds, %.0f independent samples): too close or too few to tell",
			said, pct(e.lo), pct(e.hi), e.confidence*100, e.effN))
	default:
		p.Outcome, p.State, p.Reason = result.Fail, result.StateFailed, said+valueSaid(p)
		if why := excuse(s, l, seg, e, serv); why != "" && s.Op[0] == '<' {
			return undecided(p, said+", but "+why)
		}
	}
	return p
}

// rank is the quantile that a metric looks at; the maximum is the last.
func rank(m plans.Metric) float64 {
	if m.Kind == plans.Max {
		return 1
	}
	return m.Quantile
}

// countedIn is how many requests of the segment have a time on the SLO's clock.
func countedIn(s plans.SLO, seg *result.Segment) int64 {
	if s.Metric.Clock == plans.Service {
		return seg.Service.Count
	}
	return seg.Response.Count
}

// excuse says why a breach may be the client's doing: requests that the client itself lost, waiting at its in-flight
// bound, or its own lateness. It is empty when the target breached the limit without all that.
func excuse(s plans.SLO, l *result.Load, seg *result.Segment, e, serv evidence) string {
	capped := capSaid(l, seg.Capped, seg.Offered, seg.MeanInFlight)
	own, why := clientLoss(l, seg.Counts, capped)
	if s.Metric.Clock == plans.Service {
		own -= seg.Dropped // they were never sent
	}
	if own > 0 && !e.without(own).breach {
		return why
	}
	if s.Metric.Clock == plans.Response && !serv.without(own-seg.Dropped).breach {
		if why := blame(l, seg); why != "" {
			return why
		}
	}
	if lag, yes := starved(s, seg); yes {
		return fmt.Sprintf("the load generator itself ran %s late, and so may have seen the answers: that explains the breach", dur(lag))
	}
	return ""
}

// without is the evidence when k of the requests over the limit are left out.
func (e evidence) without(k int64) evidence {
	k = min(max(k, 0), e.over, e.n)
	if k == 0 || e.n == k {
		e.breach = e.breach && k == 0
		return e
	}
	e.effN *= float64(e.n-k) / float64(e.n)
	e.over, e.n = e.over-k, e.n-k
	return e.again()
}

// slower is the evidence when k requests that have no time do not count as over the limit: for an SLO that wants times
// to be long, failures must not help either.
func (e evidence) slower(k int64) evidence {
	if k <= 0 {
		return e
	}
	e.over = max(e.over-k, 0)
	return e.again()
}

// again computes share and bounds from over, n and effN.
func (e evidence) again() evidence {
	e.share = float64(e.over) / float64(e.n)
	if e.allowed == 0 {
		return exact(e)
	}
	e.lo = stats.ClopperPearsonLower(e.share*e.effN, e.effN, e.confidence)
	e.hi = stats.ClopperPearsonUpper(e.share*e.effN, e.effN, e.confidence)
	return judged(e)
}

// starved says that the generator was so late that its own delay, which is in the service time as well since it also
// reads answers late, may be what broke the limit: the service time's quantile is above it by less than the
// dispatch lag's. Only a lag that makes the measurement invalid counts.
func starved(s plans.SLO, seg *result.Segment) (lag int64, yes bool) {
	q := rank(s.Metric)
	lag, ok := quantile(seg.DispatchLag, q)
	if !ok || s.Op[0] != '<' || float64(lag) <= lagInvalid*s.Limit {
		return 0, false
	}
	v, _ := ranked(seg.Service, seg.Sent, q)
	return lag, v != nil && *v < s.Limit+float64(lag)
}

func valueSaid(p result.SLOSegment) string {
	switch {
	case p.Value == nil:
		return "; the percentile lies among requests that failed"
	case p.Censored:
		return "; the percentile is at least " + dur(int64(*p.Value)) + ", where waiting for an answer ended"
	}
	return ""
}

func responseEvidence(seg *result.Segment, at int, q, confidence float64) evidence {
	e := evidence{over: seg.OverResponse[at], n: seg.Offered, allowed: 1 - q, confidence: confidence}
	e.share = float64(e.over) / float64(e.n)
	if q == 1 {
		return exact(e)
	}
	iv := stats.ExceedanceInterval(seg.Bins.Over[at], seg.Bins.Offered, memory(seg, q), confidence)
	e.lo, e.hi, e.effN = iv.Lo, iv.Hi, iv.NEff
	return judged(e)
}

// serviceEvidence takes the dependence between requests from the response times, which it is part of.
func serviceEvidence(seg *result.Segment, at int, q float64, resp evidence) evidence {
	e := evidence{over: seg.OverService[at], n: seg.Sent, allowed: 1 - q, confidence: resp.confidence}
	if e.n == 0 {
		return e
	}
	e.effN = float64(e.n)
	if resp.effN > 0 {
		e.effN *= resp.effN / float64(resp.n)
	}
	return e.again()
}

func judged(e evidence) evidence {
	// 1 − 0.99 is a hair below 0.01: compare with room for one rounding error, not for one request.
	const eps = 1e-12
	e.within = e.hi <= e.allowed+eps
	e.breach = e.lo > e.allowed+eps
	return e
}

// exact judges a maximum: a fact about this run, not an estimate.
func exact(e evidence) evidence {
	e.lo, e.hi, e.effN = e.share, e.share, float64(e.n)
	e.within, e.breach = e.over == 0, e.over > 0
	return e
}

// ranked is the quantile q of n requests of which those that are not in d rank above all that are. It is nil when
// the quantile lies among them.
func ranked(d result.Distribution, n int64, q float64) (v *float64, censored bool) {
	if d.Count == 0 || n <= 0 {
		return nil, false
	}
	rank := int64(math.Ceil(q * float64(n) * (1 - 1e-12)))
	if rank > d.Count {
		return nil, false
	}
	ns, ok := quantile(d, float64(max(rank, 1))/float64(d.Count))
	if !ok {
		return nil, false
	}
	f := float64(ns)
	return &f, d.CensoredFromNS != nil && ns >= *d.CensoredFromNS
}

func quantile(d result.Distribution, q float64) (int64, bool) {
	if q >= 1 && d.MaxNS != nil {
		return *d.MaxNS, true
	}
	h, err := hist.Decode(d.Histogram)
	if err != nil {
		return 0, false
	}
	ns, ok := h.Quantile(q)
	if ok && d.MinNS != nil && d.MaxNS != nil {
		ns = min(max(ns, *d.MinNS), *d.MaxNS)
	}
	return ns, ok
}

// plain compares a quantile of d as measured.
func plain(s plans.SLO, d result.Distribution, q float64) result.SLOSegment {
	v, _ := ranked(d, d.Count, q)
	if v == nil {
		return noData("no sample")
	}
	return compared(s, *v, d.Count)
}

// moment decides an SLO on the mean or the minimum over the whole stage, as measured.
func moment(s plans.SLO, l *result.Load, out *result.SLO) []result.SLOSegment {
	if l == nil {
		return nil
	}
	out.Set = "completed requests, timeouts and unfinished ones"
	d := map[plans.Clock]result.Distribution{plans.Response: l.Response, plans.Service: l.Service, plans.Lag: l.Lag}[s.Metric.Clock]
	var v float64
	switch {
	case s.Metric.Kind == plans.Mean && d.MeanNS != nil:
		v = *d.MeanNS
	case s.Metric.Kind == plans.Min && d.MinNS != nil:
		v = float64(*d.MinNS)
	default:
		return []result.SLOSegment{noData("no request had an answer to measure")}
	}
	p := compared(s, v, d.Count)
	p.Censored = d.CensoredFromNS != nil && s.Metric.Kind == plans.Mean
	why := ""
	if lost := l.FailedResponse.Count; p.Outcome == result.Pass && float64(lost) > 0.01*float64(l.Sent) {
		why = fmt.Sprintf("%d of %d requests failed in another way and have no time, so this says too little", lost, l.Sent)
	}
	if p.Outcome == result.Fail && s.Op[0] == '<' && s.Metric.Clock == plans.Response && l.Service.MeanNS != nil && holds(*l.Service.MeanNS, s.Op, s.Limit) {
		why = capSaid(l, l.Audit.Capped, l.Offered, l.Audit.MeanInFlight)
		if why == "" && l.DispatchLag.MeanNS != nil && *l.DispatchLag.MeanNS > lagInvalid*s.Limit {
			why = fmt.Sprintf("the load generator was late by %s on average, and from the send on the limit holds", dur(int64(*l.DispatchLag.MeanNS)))
		}
	}
	if why != "" {
		p = undecided(p, p.Reason+", but "+why)
	}
	return []result.SLOSegment{p}
}

func compared(s plans.SLO, v float64, n int64) result.SLOSegment {
	p := result.SLOSegment{Value: &v, Samples: n, Outcome: result.Fail, State: result.StateFailed}
	p.Reason = fmt.Sprintf("measured %s, limit %s %s", value(v, s.Unit), s.Op, value(s.Limit, s.Unit))
	if holds(v, s.Op, s.Limit) {
		p.Outcome, p.State, p.Reason = result.Pass, result.StatePassed, "the measured value meets the limit"
	}
	return p
}

func holds(v float64, op string, limit float64) bool {
	switch op {
	case "<":
		return v < limit
	case "<=":
		return v <= limit
	case ">":
		return v > limit
	case ">=":
		return v >= limit
	}
	return v == limit
}
