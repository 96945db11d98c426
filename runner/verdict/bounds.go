package verdict

import (
	"slices"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// boundConfidence is that of both ends of the bounds of percentiles together.
const boundConfidence = 0.95

// levels are the percentiles at which the dependence between requests is looked at, for memory.
var levels = []float64{0.5, 0.6, 0.8, 0.9, 0.96, 0.98, 0.99, 0.996, 0.998, 0.9996, 0.9998}

// Bounds fills in how well the percentiles of a load are known: order statistics (David and Nagaraja, Order Statistics, 2003,
// 7.1) of as many independent requests as those of the stage do for. How many that are is told by the share of requests above
// each percentile, and above lower ones, in the intervals of the stage, or of a segment that has ten of them. Percentiles of
// service times, of requests of a mix, flows and hosts have the dependence of the stage. It also fills in the Dependence of
// segments.
func Bounds(l *result.Load) {
	all := intervalsOf(l)
	whole := dependence(l.Response, all)
	setBounds(&l.Response, whole)
	setBounds(&l.Service, whole)
	for i := range l.Segments {
		s := &l.Segments[i]
		own, guess := whole, false
		if len(l.Segments) > 1 {
			own = dependence(s.Response, during(all, l, s))
		}
		s.Dependence = listed(own)
		if guess = len(own) == 0; guess {
			own = whole
		}
		setBounds(&s.Response, own)
		setBounds(&s.Service, own)
		if guess {
			certain(&s.Response)
			certain(&s.Service)
		}
	}
	for _, list := range [][]result.RequestLoad{l.Requests, l.Flows, l.Apart} {
		for i := range list {
			setBounds(&list[i].Response, whole)
			setBounds(&list[i].Service, whole)
			for k := range min(len(list[i].Segments), len(l.Segments)) {
				list[i].Segments[k].Dependence = l.Segments[k].Dependence
			}
		}
	}
	for i := range l.Hosts {
		setBounds(&l.Hosts[i].Response, whole)
	}
}

// memory is the design effect that the q-quantile of a segment has at least: the largest of the levels that two to five times
// as many requests exceed. Few requests above a limit, or none, do not tell whether they come together; more requests do.
func memory(seg *result.Segment, q float64) float64 {
	most := 1.0
	for _, d := range seg.Dependence {
		if below(d.Quantile, q) {
			most = max(most, d.DEFF)
		}
	}
	return most
}

func below(level, q float64) bool {
	times := (1 - level) / (1 - q)
	return times > 1.9 && times < 5.1
}

// An interval is a piece of time with the response times of what was intended in it.
type interval struct {
	start, end int64
	times      *hist.Hist
}

func intervalsOf(l *result.Load) []interval {
	var list []interval
	for _, iv := range l.Intervals {
		h, err := hist.Decode(iv.Histogram)
		if err != nil {
			return nil
		}
		list = append(list, interval{iv.StartNS, iv.EndNS, h})
	}
	return list
}

// during are the intervals that lie wholly in a segment, in any round of the stage.
func during(all []interval, l *result.Load, s *result.Segment) (list []interval) {
	rounds := int64(max(l.Rounds, 1))
	for _, iv := range all {
		at := int64(0) // start of its round
		for _, start := range l.RoundStartsNS {
			if start <= iv.start {
				at = start
			}
		}
		if iv.start-at >= s.StartNS && iv.end-at <= s.StartNS+s.DurationNS/rounds {
			list = append(list, iv)
		}
	}
	return list
}

// dependence is, by quantile, for levels and the percentiles of d, the design effect of the share of requests above. It is empty
// when the intervals are too few to tell.
func dependence(d result.Distribution, list []interval) map[float64]float64 {
	if len(list) < stats.MinBatches {
		return nil
	}
	times, err := hist.Decode(d.Histogram)
	if err != nil {
		return nil
	}
	known := map[float64]float64{}
	see := func(q float64, ns int64) {
		var exceed, total []int64
		for _, iv := range list {
			exceed, total = append(exceed, iv.times.Above(ns)), append(total, iv.times.Count())
		}
		if deff, ok := stats.DesignEffect(exceed, total, boundConfidence); ok {
			known[q] = deff
		}
	}
	for _, q := range levels {
		if ns, ok := times.Quantile(q); ok {
			see(q, ns)
		}
	}
	for _, p := range d.Percentiles() {
		see(p.Quantile, p.NS)
	}
	return known
}

// listed are the levels of a dependence.
func listed(known map[float64]float64) (list []result.Dependence) {
	for _, q := range levels {
		if deff, ok := known[q]; ok {
			list = append(list, result.Dependence{Quantile: q, DEFF: deff})
		}
	}
	return list
}

// setBounds fills in the bounds of the percentiles of d.
func setBounds(d *result.Distribution, dependence map[float64]float64) {
	d.Bounds = nil
	if d.Histogram == "" || len(dependence) == 0 {
		return
	}
	for _, p := range d.Percentiles() {
		deff := dependence[p.Quantile]
		if deff == 0 {
			continue
		}
		for level, effect := range dependence {
			if below(level, p.Quantile) {
				deff = max(deff, effect)
			}
		}
		b := result.Bound{Quantile: p.Quantile, NEff: float64(d.Count) / deff}
		lo, hi, loKnown, hiKnown := stats.EffectiveRanks(b.NEff, p.Quantile, boundConfidence)
		if ns, ok := quantile(*d, lo); loKnown && ok {
			b.LoNS = new(min(ns, p.NS))
		}
		if ns, ok := quantile(*d, hi); hiKnown && ok {
			b.HiNS = new(max(ns, p.NS))
		}
		d.Bounds = append(d.Bounds, b)
	}
}

// certain leaves out the bounds that a dependence which is another's does not give both ends of: it may be too large.
func certain(d *result.Distribution) {
	d.Bounds = slices.DeleteFunc(d.Bounds, func(b result.Bound) bool { return b.LoNS == nil || b.HiNS == nil })
}
