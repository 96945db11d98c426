package plans

import (
	"slices"
	"time"
)

// A Compare runs a load against two versions, again and again in pairs, and says whether the new one is worse.
type Compare struct {
	Base, New   Side
	Request     *Request
	Arrivals    Arrivals
	Seed        uint64
	Rate        float64       // arrivals per second
	For         time.Duration // of each run
	Alternate   time.Duration // both versions of a pair run at once and take turns of this length; 0: one after the other
	Warm        time.Duration // load before each run whose times are thrown away
	Margin      float64       // the change that matters: 0.1 is 10 % worse
	Pairs       int           // most
	Metrics     []Metric      // at least one
	MaxInFlight int
	Timeout     time.Duration
}

// A Side is one of two versions.
type Side struct {
	Target *Target
	Commit string // built and started as it is at that commit; "": as it is
}

// Kind is the word for the stage's work in plans, results and reports.
func (*Compare) Kind() string { return "compare" }

// Duration is that of all runs of so many pairs, warm-ups included, starts left out.
func (c *Compare) Duration(pairs int) time.Duration {
	return times(float64(2*pairs), c.For+c.Warm)
}

// compareWork reads a comparison of two versions.
func (l *loader) compareWork(it *item, p *Plan) *Compare {
	c := &Compare{Request: l.requestOf(it, p), Arrivals: Arrivals(it.get("arrivals").value()), Seed: uint64(it.get("seed").integer()), Rate: it.get("rate").perSecond(),
		For: it.get("for").duration(), Warm: it.get("warm").duration(), MaxInFlight: int(it.get("max_in_flight").integer()), Timeout: it.get("timeout").duration(), Alternate: it.get("alternate").duration()}
	if pairs := it.get("pairs"); pairs != nil {
		c.Pairs = int(pairs.integer())
	}
	if m := it.get("margin"); m != nil {
		share, ok := asShare(m.value())
		if !ok || share <= 0 || share > 1 {
			l.fault(m.fault("not a margin", m.quoted(), "a percentage like 10%, at most 100%", ""))
		}
		c.Margin = share
	}
	for _, e := range it.get("metrics").all() {
		l.comparedMetric(e, c)
	}
	if !it.has("metrics") {
		c.Metrics = []Metric{{Kind: Quantile, Clock: Response, Quantile: 0.5}, {Kind: Quantile, Clock: Response, Quantile: 0.99}}
	}
	if c.Request == nil {
		return c
	}
	at := firstOf(it.get("request"), it)
	l.alone(at.pos, at.path, c.Request)
	if len(c.Request.Data) > 0 {
		if d, n := shortest(tablesOf(c.Request, nil)); d != nil {
			l.fault(at.fault("data that ends", quote(d.Name), "end: cycle", "both versions get the same rows in each run"))
			_ = n
		}
	}
	c.Base, c.New = l.side(it.get("base"), c.Request, p), l.side(it.get("new"), c.Request, p)
	if it.get("base") != nil && c.Base.Target != nil && c.Base == c.New {
		l.fault(firstOf(it.get("base"), it).fault("a version compared with itself", "", "another target or commit in base or new", ""))
	}
	if a := it.get("alternate"); a != nil && c.Base.Target != nil && c.New.Target != nil {
		switch {
		case c.Base.Target == c.New.Target:
			l.fault(a.fault("versions that take turns run at the same time, and these are at one address", a.quoted(), "two targets in base and new", "give the other version a target with a port of its own, or leave out alternate"))
		case c.For > 0 && 2*c.Alternate > c.For:
			l.fault(a.fault("fewer than two turns in each run", a.quoted(), "at most "+formatDuration(c.For/2), ""))
		case c.Rate > 0 && c.Rate*c.Alternate.Seconds() < 5:
			l.fault(a.fault("too few requests in each turn", a.quoted(), "five or more", "make the turns longer or raise the rate"))
		}
	}
	if need := c.needed(); c.Rate > 0 && c.For > 0 && c.Rate*c.For.Seconds() < float64(need) {
		l.fault(it.get("for").fault("too few requests in each run", formatDuration(c.For), "as many as the metrics need", "make it last longer or raise the rate: "+formatDuration(time.Duration(float64(need)/c.Rate*1e9).Round(time.Second)+time.Second)))
	}
	return c
}

// needed is the number of requests of a run that its percentiles need.
func (c *Compare) needed() int {
	most := 1
	for _, m := range c.Metrics {
		if m.Kind == Quantile {
			most = max(most, needed(m.Quantile, "<"))
		}
	}
	return most
}

func (l *loader) comparedMetric(e *item, c *Compare) {
	p := &sloParser{text: e.value()}
	m := p.metric()
	p.end()
	known := m.Kind == Quantile || m.Kind == Mean || m.Kind == Throughput
	switch {
	case p.err != nil || !known || m.Clock == Lag || m.Clock == TTFB || m.Clock == Connect:
		l.fault(e.fault("not a metric that versions are compared by", e.quoted(), "p50, p99, mean, service p99 or throughput", ""))
	case slices.Contains(c.Metrics, m):
		l.fault(e.fault("metric is given twice", e.quoted(), "", ""))
	default:
		c.Metrics = append(c.Metrics, m)
	}
}

// side reads one version; the request's target where it names none.
func (l *loader) side(it *item, r *Request, p *Plan) Side {
	s := Side{Target: r.Target, Commit: it.get("commit").value()}
	if t := it.get("target"); t != nil {
		s.Target = nil
		var names []string
		for _, x := range p.Targets {
			names = append(names, x.Name)
			if x.Name == t.value() {
				s.Target = x
			}
		}
		if s.Target == nil {
			l.fault(t.fault("unknown target", t.quoted(), orNothing(names), didYouMean(t.value(), names)))
		}
	}
	if s.Commit != "" && s.Target != nil && len(s.Target.Start) == 0 {
		l.fault(it.get("commit").fault("a commit of a target that perfplan does not start", it.get("commit").quoted(), "start in target "+quote(s.Target.Name), ""))
	}
	return s
}
