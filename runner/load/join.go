package load

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// Append adds to a what the same stage measured when it was offered once more, after it: counts and histograms are added up,
// the bins, seconds and intervals of b follow those of a. The figures that describe settings are a's. Neither may be used by others meanwhile; b is not changed.
func Append(a, b *result.Load) error { return join(a, b, false) }

// Merge adds to a what another load generator measured at the same time with another part of the same schedule: counts and
// histograms are added up, bins, seconds and intervals of the same time as well. b is not changed.
func Merge(a, b *result.Load) error { return join(a, b, true) }

// A joiner adds records up and keeps the first error.
type joiner struct {
	side    bool // they are of the same time
	encoder hist.Encoder
	err     error
}

func join(a, b *result.Load, side bool) error {
	if len(a.Segments) != len(b.Segments) || len(a.Hosts) != len(b.Hosts) || !slices.Equal(a.LimitsNS, b.LimitsNS) || a.Request != b.Request {
		return fmt.Errorf("cannot join loads: %d segments, %d hosts and %d limits of %s, want %d, %d and %d of %s",
			len(b.Segments), len(b.Hosts), len(b.LimitsNS), b.Request, len(a.Segments), len(a.Hosts), len(a.LimitsNS), a.Request)
	}
	j := &joiner{side: side}
	seconds := int64(len(a.Series)) * second
	if side {
		j.rates(a, b)
	} else {
		if a.Rounds == 0 {
			a.Rounds, a.RoundStartsNS = 1, []int64{0}
		}
		j.rounds(a, b)
		a.Rounds, a.RoundStartsNS = a.Rounds+1, append(a.RoundStartsNS, seconds)
	}
	a.Counts = sum(a.Counts, b.Counts)
	j.times(&a.Response, b.Response)
	j.times(&a.Service, b.Service)
	j.times(&a.Lag, b.Lag)
	j.times(&a.Waiting, b.Waiting)
	j.times(&a.DispatchLag, b.DispatchLag)
	j.times(&a.FailedResponse, b.FailedResponse)
	a.Errors, a.Status = joinErrors(a.Errors, b.Errors), joinStatus(a.Status, b.Status)
	j.segments(a.Segments, b.Segments)
	a.Requests, a.Flows, a.Apart = j.parts(a.Requests, b.Requests, a), j.parts(a.Flows, b.Flows, a), j.parts(a.Apart, b.Apart, a)
	a.Windows = j.windows(a.Windows, b.Windows)
	for i := range a.Hosts {
		a.Hosts[i].Counts = sum(a.Hosts[i].Counts, b.Hosts[i].Counts)
		j.times(&a.Hosts[i].Response, b.Hosts[i].Response)
	}
	j.wire(&a.Wire, b.Wire)
	j.audit(&a.Audit, b.Audit)
	if side {
		j.sameSeconds(a, b)
	} else {
		for _, row := range b.Series {
			row.TNS += seconds
			a.Series = append(a.Series, row)
		}
		for _, iv := range b.Intervals {
			iv.StartNS, iv.EndNS = iv.StartNS+seconds, iv.EndNS+seconds
			a.Intervals = append(a.Intervals, iv)
		}
	}
	return j.err
}

// rounds joins what is of the length of the stage.
func (j *joiner) rounds(a, b *result.Load) {
	weigh := func(x, y float64) float64 { return weighted(x, y, a.DurationNS, b.DurationNS) }
	a.OfferedPerS, a.ThroughputPerS = weigh(a.OfferedPerS, b.OfferedPerS), weigh(a.ThroughputPerS, b.ThroughputPerS)
	a.Audit.MeanInFlight, a.Audit.MeanInFlightByTimes = weigh(a.Audit.MeanInFlight, b.Audit.MeanInFlight), weigh(a.Audit.MeanInFlightByTimes, b.Audit.MeanInFlightByTimes)
	a.Audit.MaxInFlight = max(a.Audit.MaxInFlight, b.Audit.MaxInFlight)
	a.Planned, a.PlannedNS = a.Planned+b.Planned, a.PlannedNS+b.PlannedNS
	a.DurationNS, a.DrainNS = a.DurationNS+b.DurationNS, a.DrainNS+b.DrainNS
}

// rates joins what adds up over load generators of the same time.
func (j *joiner) rates(a, b *result.Load) {
	a.OfferedPerS, a.ThroughputPerS = a.OfferedPerS+b.OfferedPerS, a.ThroughputPerS+b.ThroughputPerS
	a.Audit.MeanInFlight, a.Audit.MeanInFlightByTimes = a.Audit.MeanInFlight+b.Audit.MeanInFlight, a.Audit.MeanInFlightByTimes+b.Audit.MeanInFlightByTimes
	a.Audit.MaxInFlight += b.Audit.MaxInFlight
	a.Planned += b.Planned
	a.MaxInFlight, a.Connections, a.Users, a.Loops = a.MaxInFlight+b.MaxInFlight, a.Connections+b.Connections, a.Users+b.Users, max(a.Loops, b.Loops)
	a.PlannedNS, a.DurationNS, a.DrainNS = max(a.PlannedNS, b.PlannedNS), max(a.DurationNS, b.DurationNS), max(a.DrainNS, b.DrainNS)
}

func weighted(x, y float64, wx, wy int64) float64 {
	if wx+wy <= 0 {
		return x
	}
	return (x*float64(wx) + y*float64(wy)) / float64(wx+wy)
}

func sum(a, b result.Counts) result.Counts {
	return result.Counts{Offered: a.Offered + b.Offered, Sent: a.Sent + b.Sent, Completed: a.Completed + b.Completed, Failed: a.Failed + b.Failed,
		Dropped: a.Dropped + b.Dropped, Unfinished: a.Unfinished + b.Unfinished, WaitedOut: a.WaitedOut + b.WaitedOut}
}

// times adds the distribution b to a by their histograms.
func (j *joiner) times(a *result.Distribution, b result.Distribution) {
	if b.Count == 0 || j.err != nil {
		return
	}
	whole, err := restored(*a)
	if err == nil {
		var other *hist.Hist
		if other, err = restored(b); err == nil {
			whole.Merge(other)
		}
	}
	if err != nil {
		j.err = err
		return
	}
	c := censored(-1)
	for _, d := range []*int64{a.CensoredFromNS, b.CensoredFromNS} {
		if d != nil {
			c.see(*d)
		}
	}
	text, err := j.encoder.Encode(whole)
	if err != nil {
		j.err = err
		return
	}
	*a = distribution(whole, c, text)
}

// restored is the histogram of a distribution, with its exact figures.
func restored(d result.Distribution) (*hist.Hist, error) {
	if d.Count == 0 {
		return hist.New(), nil
	}
	if d.Histogram == "" || d.MinNS == nil || d.MaxNS == nil {
		return nil, fmt.Errorf("cannot join a distribution of %d times without its histogram", d.Count)
	}
	e := hist.Exact{Count: d.Count, Min: *d.MinNS, Max: *d.MaxNS, Sum: math.MaxInt64}
	if s := math.Floor(d.SumNS / 1e9); s < math.MaxInt64 {
		e.Sum, e.SumFrac = int64(s), min(int64(d.SumNS-s*1e9), 1e9-1)
	}
	return hist.Restore(d.Histogram, e)
}

func joinErrors(a, b []result.Error) []result.Error {
	p := part{errors: map[errorKey]*result.Error{}}
	for _, e := range slices.Concat(a, b) {
		key := errorKey{e.Kind, e.Class, e.Of}
		if old := p.errors[key]; old != nil {
			old.Count += e.Count
			continue
		}
		p.errors[key] = &e
	}
	return p.errorList()
}

func joinStatus(a, b map[string]int64) map[string]int64 {
	all := maps.Clone(a)
	if all == nil {
		all = map[string]int64{}
	}
	for code, n := range b {
		all[code] += n
	}
	return all
}

func (j *joiner) segments(a, b []result.Segment) {
	for i := range min(len(a), len(b)) {
		s, o := &a[i], b[i]
		if j.side {
			s.FromPerS, s.ToPerS = s.FromPerS+o.FromPerS, s.ToPerS+o.ToPerS
			s.ThroughputPerS, s.MeanInFlight = s.ThroughputPerS+o.ThroughputPerS, s.MeanInFlight+o.MeanInFlight
			s.DurationNS = max(s.DurationNS, o.DurationNS)
		} else {
			s.ThroughputPerS = weighted(s.ThroughputPerS, o.ThroughputPerS, s.DurationNS, o.DurationNS)
			s.MeanInFlight = weighted(s.MeanInFlight, o.MeanInFlight, s.DurationNS, o.DurationNS)
			s.DurationNS += o.DurationNS
		}
		s.Counts, s.Planned, s.Capped = sum(s.Counts, o.Counts), s.Planned+o.Planned, s.Capped+o.Capped
		j.times(&s.Response, o.Response)
		j.times(&s.Service, o.Service)
		j.times(&s.Lag, o.Lag)
		j.times(&s.DispatchLag, o.DispatchLag)
		s.OverResponse, s.OverService = added(s.OverResponse, o.OverResponse), added(s.OverService, o.OverService)
		s.Bins.Offered = j.bins(s.Bins.Offered, o.Bins.Offered)
		s.Bins.Over = j.each(s.Bins.Over, o.Bins.Over, j.bins)
	}
}

// bins joins counts by bins of time.
func (j *joiner) bins(a, b []int64) []int64 {
	if j.side {
		return added(a, b)
	}
	return slices.Concat(a, b)
}

// each joins lists of counts one by one.
func (j *joiner) each(a, b [][]int64, one func(a, b []int64) []int64) [][]int64 {
	out := make([][]int64, max(len(a), len(b)))
	for i := range out {
		var x, y []int64
		if i < len(a) {
			x = a[i]
		}
		if i < len(b) {
			y = b[i]
		}
		out[i] = one(x, y)
	}
	if a == nil && b == nil {
		return nil
	}
	return out
}

// added sums counts one by one.
func added(a, b []int64) []int64 {
	if len(b) > len(a) {
		a, b = b, a
	}
	out := slices.Clone(a)
	for i, n := range b {
		out[i] += n
	}
	return out
}

// parts joins the records of requests or flows by their names.
func (j *joiner) parts(a, b []result.RequestLoad, all *result.Load) []result.RequestLoad {
	for _, o := range b {
		i := slices.IndexFunc(a, func(r result.RequestLoad) bool { return r.Request == o.Request })
		if i < 0 {
			a = append(a, o)
			continue
		}
		r := &a[i]
		r.Counts = sum(r.Counts, o.Counts)
		r.OfferedPerS, r.ThroughputPerS = ratePerS(r.Offered, all.DurationNS), ratePerS(r.Completed, all.DurationNS)
		j.times(&r.Response, o.Response)
		j.times(&r.Service, o.Service)
		j.times(&r.Lag, o.Lag)
		j.times(&r.DispatchLag, o.DispatchLag)
		j.times(&r.FailedResponse, o.FailedResponse)
		r.Errors, r.Status = joinErrors(r.Errors, o.Errors), joinStatus(r.Status, o.Status)
		j.segments(r.Segments, o.Segments)
		r.Windows = j.windows(r.Windows, o.Windows)
	}
	return a
}

// windows joins counts by windows; of rounds one after the other, the last window of each is left out when it was cut short.
func (j *joiner) windows(a, b []result.Windows) []result.Windows {
	for i := range min(len(a), len(b)) {
		w, o := &a[i], b[i]
		w.Offered, w.Bad = j.bins(w.Offered, o.Offered), j.bins(w.Bad, o.Bad)
		w.OverResponse, w.OverService = j.each(w.OverResponse, o.OverResponse, j.bins), j.each(w.OverService, o.OverService, j.bins)
	}
	return a
}

func (j *joiner) wire(a *result.Wire, b result.Wire) {
	for _, n := range []struct{ to, more *int64 }{
		{&a.Attempts, &b.Attempts}, {&a.Opened, &b.Opened}, {&a.Ahead, &b.Ahead}, {&a.Resumed, &b.Resumed}, {&a.Reused, &b.Reused}, {&a.Redirects, &b.Redirects},
		{&a.BytesOut, &b.BytesOut}, {&a.BytesIn, &b.BytesIn}, {&a.BodyBytes, &b.BodyBytes},
	} {
		*n.to += *n.more
	}
	if a.OverFirstByte != nil {
		a.OverFirstByte, a.OverConnect = added(a.OverFirstByte, b.OverFirstByte), added(a.OverConnect, b.OverConnect)
	}
	for _, d := range []struct{ to, more *result.Distribution }{
		{&a.DNS, &b.DNS}, {&a.Connect, &b.Connect}, {&a.TLS, &b.TLS}, {&a.Send, &b.Send}, {&a.FirstByte, &b.FirstByte}, {&a.Body, &b.Body},
	} {
		j.times(d.to, *d.more)
	}
}

// audit keeps the worse of both.
func (j *joiner) audit(a *result.Audit, b result.Audit) {
	for _, v := range []struct{ to, more **float64 }{
		{&a.GapsCV, &b.GapsCV}, {&a.PlannedGapsCV, &b.PlannedGapsCV}, {&a.Dispersion, &b.Dispersion}, {&a.PlannedDispersion, &b.PlannedDispersion},
		{&a.CPUShare, &b.CPUShare}, {&a.RunDelayShare, &b.RunDelayShare}, {&a.CPUPressureShare, &b.CPUPressureShare}, {&a.StealShare, &b.StealShare},
	} {
		*v.to = most(*v.to, *v.more)
	}
	for _, v := range []struct{ to, more **int64 }{
		{&a.PauseMaxNS, &b.PauseMaxNS}, {&a.GCPauseMaxNS, &b.GCPauseMaxNS}, {&a.SchedDelayP99NS, &b.SchedDelayP99NS}, {&a.ThrottledNS, &b.ThrottledNS},
		{&a.ThrottledPeriods, &b.ThrottledPeriods}, {&a.DescriptorsMax, &b.DescriptorsMax}, {&a.TimeWaitMax, &b.TimeWaitMax},
	} {
		*v.to = most(*v.to, *v.more)
	}
	a.Capped, a.Late = a.Capped+b.Capped, a.Late+b.Late
	a.PausesOver5ms, a.PausesOver20ms, a.FrozenNS, a.GCCycles = a.PausesOver5ms+b.PausesOver5ms, a.PausesOver20ms+b.PausesOver20ms, a.FrozenNS+b.FrozenNS, a.GCCycles+b.GCCycles
	if a.TCP != nil && b.TCP != nil {
		t, o := *a.TCP, b.TCP
		t.SegmentsOut, t.Retransmitted, t.Timeouts = t.SegmentsOut+o.SegmentsOut, t.Retransmitted+o.Retransmitted, t.Timeouts+o.Timeouts
		t.ListenOverflows, t.ListenDrops, t.BacklogDrops = t.ListenOverflows+o.ListenOverflows, t.ListenDrops+o.ListenDrops, t.BacklogDrops+o.BacklogDrops
		a.TCP = &t
	}
}

// most is the larger of two figures, or the one that is known.
func most[T int64 | float64](a, b *T) *T {
	if a == nil || b != nil && *b > *a {
		return b
	}
	return a
}

// sameSeconds adds up the seconds and intervals of the same time.
func (j *joiner) sameSeconds(a, b *result.Load) {
	for i, o := range b.Series {
		if i >= len(a.Series) {
			a.Series = append(a.Series, o)
			continue
		}
		row := &a.Series[i]
		row.Offered, row.Sent, row.Completed, row.Failed = row.Offered+o.Offered, row.Sent+o.Sent, row.Completed+o.Completed, row.Failed+o.Failed
		row.Dropped, row.InFlight = row.Dropped+o.Dropped, row.InFlight+o.InFlight
		row.MaxNS, row.LagMaxNS = most(row.MaxNS, o.MaxNS), most(row.LagMaxNS, o.LagMaxNS)
		row.P50NS, row.P99NS = nil, nil // of both together, from their histograms, below
	}
	for _, o := range b.Intervals {
		i, found := slices.BinarySearchFunc(a.Intervals, o.StartNS, func(iv result.HistInterval, at int64) int { return int(iv.StartNS - at) })
		if !found {
			a.Intervals = slices.Insert(a.Intervals, i, o)
			continue
		}
		a.Intervals[i].Histogram = j.merged(a.Intervals[i].Histogram, o.Histogram)
	}
	for _, iv := range a.Intervals {
		at := iv.StartNS / second
		if iv.EndNS-iv.StartNS != second || at >= int64(len(a.Series)) {
			continue
		}
		h, err := hist.Decode(iv.Histogram)
		if err != nil {
			j.err = err
			return
		}
		if p50, ok := h.Quantile(0.5); ok {
			p99, _ := h.Quantile(0.99)
			a.Series[at].P50NS, a.Series[at].P99NS = &p50, &p99
		}
	}
}

// merged is the text of two histograms together.
func (j *joiner) merged(a, b string) string {
	x, err := hist.Decode(a)
	if err == nil {
		var y *hist.Hist
		if y, err = hist.Decode(b); err == nil {
			x.Merge(y)
		}
	}
	text := a
	if err == nil {
		text, err = j.encoder.Encode(x)
	}
	if err != nil && j.err == nil {
		j.err = err
	}
	return text
}
