package load

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// An account sums up samples. It is used by one goroutine. What belongs to a
// segment or a second is closed as soon as all its arrivals have ended, so that
// its memory does not grow with the length of the run, but for the series: some
// 150 bytes a second.
type account struct {
	part   // all of it
	cfg    *Config
	cursor *schedule.Cursor // next arrival to count as offered
	mix    *mix
	parts  []*part // of the requests of a mix; nil: there is none

	aparts   []*apart        // sets that assertions are about
	flows    []*part         // of flows; nil: there are none
	arrivals int64           // that were counted as flows begun
	open     map[int64]int64 // flows that have not ended, by the second in which they came due

	hosts   []*hostAccount
	first   *hist.Hist
	connect *hist.Hist
	tls     *hist.Hist
	phases  phases
	wire    result.Wire
	capped  int64
	late    int64   // requests with a dispatch lag above lateFrom
	held    float64 // request·ns that those took that were sent, from the send to the end
	series  *series
	spare   *spareHists

	last     result.Counts // total at the last tick
	lastAt   int64
	tickHist *hist.Hist
}

// lateFrom is the dispatch lag, in ns, from which a request counts as sent late.
const lateFrom = int64(1e6)

type errorKey struct{ kind, class, of string }

// times are the distributions of a set of requests.
type times struct {
	response, service, lag, waiting, dispatch *hist.Hist
	prompt                                    *hist.Hist // lag and dispatch lag of requests with waiting 0, not in the others yet
	censoredResponse, censoredService         censored
}

// censored is the shortest censored time, in ns; -1: none.
type censored int64

func (c *censored) see(ns int64) {
	if *c < 0 || ns < int64(*c) {
		*c = censored(ns)
	}
}

func (c *censored) merge(o censored) {
	if o >= 0 {
		c.see(int64(o))
	}
}

func newTimes(spare *spareHists) *times {
	return &times{spare.get(), spare.get(), spare.get(), spare.get(), spare.get(), spare.get(), -1, -1}
}

// add records a request that was sent.
func (t *times) add(s *sample) {
	lag := s.sent - s.intended
	if waiting := min(s.waiting, lag); waiting > 0 {
		t.lag.Record(lag)
		t.waiting.Record(waiting)
		t.dispatch.Record(lag - waiting)
	} else {
		t.prompt.Record(lag)
	}
	switch s.outcome {
	case failed:
		return
	case timedOut, unfinished:
		t.censoredResponse.see(s.end - s.intended)
		t.censoredService.see(s.end - s.sent)
	}
	t.response.Record(s.end - s.intended)
	t.service.Record(s.end - s.sent)
}

// settle completes the histograms.
func (t *times) settle() {
	t.lag.Merge(t.prompt)
	t.dispatch.Merge(t.prompt)
	t.waiting.RecordN(0, t.prompt.Count())
	t.prompt.Reset()
}

// merge adds o, which is settled.
func (t *times) merge(o *times) {
	t.response.Merge(o.response)
	t.service.Merge(o.service)
	t.lag.Merge(o.lag)
	t.waiting.Merge(o.waiting)
	t.dispatch.Merge(o.dispatch)
	t.censoredResponse.merge(o.censoredResponse)
	t.censoredService.merge(o.censoredService)
}

func (t *times) free(spare *spareHists) {
	spare.put(t.response, t.service, t.lag, t.waiting, t.dispatch, t.prompt)
}

// spareHists keeps emptied histograms, which are large, and what encodes them
// for their next use.
type spareHists struct {
	hists   []*hist.Hist
	encoder hist.Encoder
}

func (p *spareHists) get() *hist.Hist {
	n := len(p.hists)
	if n == 0 {
		return hist.New()
	}
	h := p.hists[n-1]
	p.hists = p.hists[:n-1]
	return h
}

func (p *spareHists) put(hists ...*hist.Hist) {
	for _, h := range hists {
		h.Reset()
	}
	p.hists = append(p.hists, hists...)
}

type hostAccount struct {
	counts   result.Counts
	response *hist.Hist
	censored censored
}

func newAccount(cfg *Config, m *mix) (*account, error) {
	a := &account{
		cfg: cfg, cursor: cfg.Schedule.Cursor(), mix: m, spare: &spareHists{},
		first: hist.New(), connect: hist.New(), tls: hist.New(), tickHist: hist.New(),
	}
	a.part = newPart(cfg, a.spare)
	if cfg.WireLimits {
		a.wire.OverFirstByte, a.wire.OverConnect = make([]int64, len(cfg.LimitsNS)), make([]int64, len(cfg.LimitsNS))
	}
	for range cfg.Mix {
		p := newPart(cfg, a.spare)
		a.parts = append(a.parts, &p)
	}
	for range cfg.Flows {
		p := newPart(cfg, a.spare)
		a.flows = append(a.flows, &p)
	}
	a.open = map[int64]int64{}
	a.phases = newPhases(cfg.Hosts)
	a.series = newSeries(cfg.Schedule.Duration(), a.spare)
	for range cfg.Hosts {
		a.hosts = append(a.hosts, &hostAccount{response: hist.New(), censored: -1})
	}
	var err error
	a.aparts, err = newAparts(cfg, a.spare)
	return a, err
}

// offered counts arrivals as offered up to due of them.
func (a *account) offered(due int64) {
	if a.cfg.grows() {
		a.begun(due)
		return
	}
	for a.total.Offered < due {
		index := a.cursor.Index()
		offset, segment, _ := a.cursor.Next()
		a.hosts[a.cfg.Schedule.Own(index)%int64(len(a.hosts))].counts.Offered++
		if segment > a.segment {
			for _, p := range a.parts {
				p.sealTo(segment, a.spare)
			}
		}
		a.part.offer(int64(offset), segment, a.spare)
		if a.parts != nil {
			a.parts[a.mix.number(index)].offer(int64(offset), segment, a.spare)
		}
		a.series.offer(int64(offset))
	}
}

// ended brings samples to account. Their arrivals were counted by offered.
func (a *account) ended(samples []sample) {
	for i := range samples {
		s := &samples[i]
		if s.outcome == opened {
			a.wire.Opened++
			a.connect.Record(s.connect)
			for i := range a.wire.OverConnect {
				if s.connect > a.cfg.LimitsNS[i] {
					a.wire.OverConnect[i]++
				}
			}
			if s.tls > 0 {
				a.tls.Record(s.tls)
			}
			if s.resumed {
				a.wire.Resumed++
			}
			continue
		}
		if a.cfg.grows() {
			a.grown(s)
			continue
		}
		a.addEnd(s)
	}
}

// partOf is that of the request of a mix that a sample is of; nil: there is none.
func (a *account) partOf(s *sample) *part {
	if a.parts == nil {
		return nil
	}
	return a.parts[a.numberOf(s)]
}

// numberOf is the index of a sample's request among those of a mix.
func (a *account) numberOf(s *sample) int {
	if a.flows != nil {
		return int(s.kind)
	}
	return a.mix.number(s.index)
}

func (a *account) addEnd(s *sample) {
	host := a.hosts[s.host]
	s.waitedOut = s.outcome == timedOut && a.cfg.TimeoutFrom == plans.FromIntended && s.waiting > s.end-s.sent
	count(&host.counts, s)
	if s.capped {
		a.capped++
	}
	a.part.add(s, a.cfg.LimitsNS, a.spare)
	if p := a.partOf(s); p != nil {
		p.add(s, a.cfg.LimitsNS, a.spare)
	}
	if a.aparts != nil {
		a.addApart(s, a.numberOf(s))
	}
	a.series.add(s)
	if s.outcome == dropped {
		return
	}
	a.held += float64(s.end - s.sent)
	if s.sent-s.intended-s.waiting > lateFrom {
		a.late++
	}
	response := s.end - s.intended
	switch s.outcome {
	case failed:
	default:
		if len(a.hosts) > 1 { // else it is the total
			host.response.Record(response)
		}
		if a.cfg.OnTick != nil {
			a.tickHist.Record(response)
		}
		if s.outcome != completed {
			host.censored.see(response)
		}
	}
	a.addWire(s)
}

func (a *account) addWire(s *sample) {
	a.wire.Attempts += int64(s.attempts)
	a.wire.Reused += int64(s.reused)
	a.wire.Redirects += int64(s.redirects)
	a.wire.BytesOut += s.bytesOut
	a.wire.BytesIn += s.bytesIn
	a.wire.BodyBytes += s.bodyBytes
	if s.first > 0 {
		a.first.Record(s.first - s.sent)
	}
	for i := range a.wire.OverFirstByte {
		if s.first == 0 || s.first-s.sent > a.cfg.LimitsNS[i] {
			a.wire.OverFirstByte[i]++
		}
	}
	a.phases.add(s)
}

// count adds one end to c. Offered is counted when an arrival comes due.
func count(c *result.Counts, s *sample) {
	if s.outcome == dropped {
		c.Dropped++
		return
	}
	c.Sent++
	if s.waitedOut {
		c.WaitedOut++
	}
	switch s.outcome {
	case completed:
		c.Completed++
	case unfinished:
		c.Unfinished++
	default:
		c.Failed++
	}
}

// tick looks at what happened since the last tick.
func (a *account) tick(now int64, q queueState) Tick {
	total := a.total
	total.Sent = q.due - q.dropped - q.backlog
	total.Offered = q.due
	if a.cfg.grows() {
		total = a.total
	}
	t := Tick{
		At: time.Duration(max(now, 0)), Length: time.Duration(now - a.lastAt), Segment: a.segment,
		Total: total, InFlight: q.inFlight, Waiting: q.backlog, Samples: a.tickHist.Count(),
		Last: result.Counts{
			Offered: total.Offered - a.last.Offered, Sent: total.Sent - a.last.Sent,
			Completed: total.Completed - a.last.Completed, Failed: total.Failed - a.last.Failed,
			Dropped: total.Dropped - a.last.Dropped,
		},
	}
	if p, ok := a.tickHist.Quantile(0.5); ok {
		t.P50 = time.Duration(p)
		p, _ = a.tickHist.Quantile(0.99)
		t.P99 = time.Duration(p)
	}
	if a.cfg.Watch {
		t.Ended, t.Windows = append(t.Ended, a.part.ended()), append(t.Windows, records(a.windows))
		for _, p := range append(slices.Clip(a.parts), a.flows...) {
			t.Ended, t.Windows = append(t.Ended, p.ended()), append(t.Windows, records(p.windows))
		}
	}
	a.tickHist.Reset()
	a.last, a.lastAt = total, now
	return t
}

// clipText bounds an example, at a whole character.
func clipText(s string) string { return strings.ToValidUTF8(s[:min(len(s), maxExample)], "") }

// ratePerS is n per time, 0 for no time.
func ratePerS(n int64, ns int64) float64 {
	if ns <= 0 {
		return 0
	}
	return float64(n) / (float64(ns) / 1e9)
}

// distribution sums h up. text is its encoded form, "" to leave it out.
func distribution(h *hist.Hist, c censored, text string) result.Distribution {
	d := result.Distribution{Count: h.Count(), Histogram: text}
	if d.Count == 0 {
		return d
	}
	lowest, highest, mean := h.Min(), h.Max(), h.Mean()
	d.MinNS, d.MaxNS, d.MeanNS = &lowest, &highest, &mean
	quantile := func(q float64) *int64 {
		ns, _ := h.Quantile(q)
		return &ns
	}
	d.P50NS, d.P90NS, d.P95NS = quantile(0.5), quantile(0.9), quantile(0.95)
	d.P99NS, d.P999NS = quantile(0.99), quantile(0.999)
	d.SumNS = mean * float64(d.Count)
	if c >= 0 {
		from := int64(c)
		d.CensoredFromNS = &from
	}
	if math.IsInf(d.SumNS, 0) {
		d.SumNS = 0
	}
	return d
}

// An encoding is a histogram and the place that it goes to.
type encoding struct {
	to       *result.Distribution
	hist     *hist.Hist
	censored censored
}

// encodeAll fills in distributions with their histograms, so that records can be joined.
func (p *spareHists) encodeAll(list []encoding) (err error) {
	for _, e := range list {
		if *e.to, err = p.encoded(e.hist, e.censored); err != nil {
			return err
		}
	}
	return nil
}

// encoded is distribution with the histogram. It cannot be left out: an error
// ends the record.
func (p *spareHists) encoded(h *hist.Hist, c censored) (result.Distribution, error) {
	if h.Count() == 0 {
		return distribution(h, c, ""), nil
	}
	text, err := p.encoder.Encode(h)
	return distribution(h, c, text), err
}
