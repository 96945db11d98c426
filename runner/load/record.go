package load

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/perfplan/perfplan/runner/result"
)

// record closes everything and returns the record of the run.
func (a *account) record(end runEnd, audit result.Audit) (*result.Load, error) {
	a.sealTo(len(a.segments), a.spare)
	a.series.seal(math.MaxInt64 / second)
	cfg := a.cfg
	l := &result.Load{
		Counts: a.total, Request: cfg.name(),
		Arrivals: string(cfg.Arrivals), Seed: cfg.Seed, MaxInFlight: cfg.MaxInFlight, AtMax: string(cfg.AtMax),
		KeepAlive: cfg.KeepAlive, PerConnection: cfg.RequestsPerConnection, Connections: cfg.Connections, TimeoutNS: int64(cfg.Timeout), TimeoutFrom: string(cfg.TimeoutFrom),
		ConnectTimeoutNS: int64(cfg.Timeouts.Connect), FirstByteTimeoutNS: int64(cfg.Timeouts.FirstByte),
		Users: cfg.Users, ThinkLeastNS: int64(cfg.Think.Least), ThinkMostNS: int64(cfg.Think.Most),
		Planned: cfg.Schedule.Len(), PlannedNS: int64(cfg.Schedule.Duration()),
		DurationNS: end.offered, DrainNS: max(0, end.drained-end.offered),
		LimitsNS: slices.Clone(cfg.LimitsNS), Wire: a.wire, Status: a.statusCodes(),
	}
	if t := cfg.first().Target; t != nil {
		l.Target = t.Name
	}
	l.OfferedPerS = ratePerS(l.Offered, l.DurationNS)
	a.phases.settle()
	err := a.spare.encodeAll([]encoding{{&l.FailedResponse, a.failed, -1}, {&l.Wire.TLS, a.tls, -1}, {&l.Wire.Connect, a.connect, -1}, {&l.Wire.FirstByte, a.first, -1},
		{&l.Wire.DNS, a.phases.dns, -1}, {&l.Wire.Send, a.phases.send, -1}, {&l.Wire.Body, a.phases.body, -1}})
	if err != nil {
		return nil, err
	}
	l.Errors = a.errorList()
	if l.Hosts, err = a.hostList(); err != nil {
		return nil, err
	}
	l.Audit = audit
	l.Audit.Capped, l.Audit.Late = a.capped, a.late
	l.Audit.GapsCV, l.Audit.PlannedGapsCV = end.sent.cv(), end.meant.cv()
	l.Audit.Dispersion, l.Audit.PlannedDispersion = end.sent.idc(), end.meant.idc()
	l.Audit.MaxInFlight = int64(end.level.peak)
	if over := l.DurationNS + l.DrainNS; over > 0 {
		l.Audit.MeanInFlight = end.level.total / float64(over)
		l.Audit.MeanInFlightByTimes = a.held / float64(over)
	}
	if err := a.recordTimes(l); err != nil {
		return nil, err
	}
	if err := a.recordParts(l, end); err != nil {
		return nil, err
	}
	l.ThroughputPerS = ratePerS(completedInTime(l), l.DurationNS)
	return l, nil
}

// completedInTime counts, to the second, what was completed no later than a second after the last arrival, or than
// three times the fastest service time if that is longer. Answers that are merely under way when the offering ends are
// no shortfall, a backlog that takes longer is.
func completedInTime(l *result.Load) int64 {
	slack := int64(second)
	if l.Service.MinNS != nil {
		slack = max(slack, 3**l.Service.MinNS)
	}
	var n int64
	for _, row := range l.Series {
		if row.TNS < l.DurationNS+slack {
			n += row.Completed
		}
	}
	return n
}

func (a *account) recordTimes(l *result.Load) error {
	t := a.times
	return a.spare.encodeAll([]encoding{{&l.Waiting, t.waiting, -1}, {&l.DispatchLag, t.dispatch, -1}, {&l.Response, t.response, t.censoredResponse},
		{&l.Service, t.service, t.censoredService}, {&l.Lag, t.lag, -1}})
}

// recordParts fills in the segments, the series and the intervals.
func (a *account) recordParts(l *result.Load, end runEnd) (err error) {
	cfg := a.cfg
	if l.Segments, err = a.segmentRecords(a.spare, end.offered); err != nil {
		return err
	}
	for i := range l.Segments {
		if d := l.Segments[i].DurationNS; d > 0 {
			l.Segments[i].MeanInFlight = end.level.area[i] / float64(d)
		}
	}
	for i, p := range a.parts {
		weight := cfg.Mix[i].Weight
		if cfg.Flows != nil {
			weight = 0
		}
		r, err := p.record(cfg.Mix[i].Name, weight, a.spare, l)
		if err != nil {
			return err
		}
		l.Requests = append(l.Requests, r)
	}
	for _, set := range a.aparts {
		r, err := set.record(set.name, 0, a.spare, l)
		if err != nil {
			return err
		}
		l.Apart = append(l.Apart, r)
	}
	l.Windows = records(a.windows)
	for i, p := range a.flows {
		r, err := p.record(cfg.Flows[i].Name, cfg.Flows[i].Weight, a.spare, l)
		if err != nil {
			return err
		}
		l.Flows = append(l.Flows, r)
	}
	s := a.series
	if end.drained > 0 {
		s.row(end.drained - 1)
	}
	for i := range s.rows {
		if i < len(end.level.seconds) {
			s.rows[i].InFlight = int64(end.level.seconds[i])
		} else {
			s.rows[i].InFlight = int64(end.state.inFlight)
		}
	}
	l.Series = s.rows
	for _, number := range slices.Sorted(maps.Keys(s.done)) {
		l.Intervals = append(l.Intervals, s.done[number])
	}
	return s.err
}

func (p *part) errorList() []result.Error {
	list := []result.Error{}
	for _, e := range p.errors {
		list = append(list, *e)
	}
	slices.SortFunc(list, func(x, y result.Error) int {
		return cmp.Or(cmp.Compare(y.Count, x.Count), cmp.Compare(x.Kind, y.Kind), cmp.Compare(x.Of, y.Of))
	})
	return list
}

func (a *account) hostList() (list []result.Host, err error) {
	if len(a.hosts) == 1 {
		a.hosts[0].response = a.times.response
	}
	for i, h := range a.hosts {
		d, err := a.spare.encoded(h.response, h.censored)
		if err != nil {
			return nil, err
		}
		list = append(list, result.Host{Counts: h.counts, Address: a.cfg.Hosts[i].Address,
			Response: d})
	}
	return list, nil
}
