package plans

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (l *loader) stage(it *item, p *Plan) *Stage {
	s := &Stage{Name: it.get("name").value(), Pos: it.pos, Alongside: it.get("alongside").value(), Delay: it.get("delay").duration()}
	if n := it.get("name"); n != nil {
		l.checkName(n.value(), plainNames, n.pos, n.path)
	}
	switch {
	case it.get("microbenchmark") != nil:
		s.Work = l.microbenchmark(it.get("microbenchmark"))
	case it.get("warmup") != nil:
		s.Work = l.warmup(it.get("warmup"), p)
	case it.get("compare") != nil:
		s.Work = l.compareWork(it.get("compare"), p)
	case it.get("load") != nil:
		s.Work = l.loadWork(it.get("load"), p)
	}
	s.Looks = max(1, int(it.get("confirm").integer()))
	if c := it.get("confirm"); c != nil {
		if s.Looks%2 == 0 {
			l.fault(c.fault("an even number of looks may end in a draw", c.quoted(), "an odd number", fmt.Sprintf("write %d", s.Looks+1)))
		}
		if it.has("alongside") {
			l.fault(c.fault("a stage that runs alongside another cannot be measured again by itself", c.quoted(), "confirm on other stages", ""))
		}
		if it.has("compare") {
			l.fault(c.fault("a comparison looks again by itself", c.quoted(), "no confirm with compare", ""))
		}
		if it.has("warmup") {
			l.fault(c.fault("a warm-up has no assertion to confirm", c.quoted(), "no confirm with warmup", ""))
		}
	}
	l.spend(it, s)
	l.extend(it, s)
	return s
}

// extend reads for how long a load may be offered again.
func (l *loader) extend(it *item, s *Stage) {
	e := it.get("extend")
	if e == nil {
		return
	}
	s.Extend = e.duration()
	w, load := s.Work.(*Load)
	switch {
	case it.has("alongside"):
		l.fault(e.fault("a stage that runs alongside another cannot be extended by itself", e.quoted(), "extend on other stages", ""))
	case !load && s.Work != nil:
		l.fault(e.fault("a "+s.Work.Kind()+" stage has no load to offer again", e.quoted(), "extend on a load stage", ""))
	case load && w.DataEnd != nil:
		l.fault(e.fault("the stage ends with its data, and would have none", e.quoted(), "no extend, or end: cycle", ""))
	case load && e.time > 0 && w.Duration() > e.time:
		l.fault(e.fault("shorter than the load, which is offered as a whole", e.quoted(), fmt.Sprintf("at least %v", w.Duration()), ""))
	}
}

func (l *loader) warmup(it *item, p *Plan) *Warmup {
	sent := l.workOf(it, p)
	w := &Warmup{Request: sent.request, Mix: sent.mix, Flows: sent.flows, Rate: it.get("rate").perSecond(), Timeout: it.get("timeout").duration(),
		TimeoutFrom: TimeoutFrom(it.get("timeout_from").value()), Timeouts: l.timeouts(it), MaxInFlight: int(it.get("max_in_flight").integer()), Connecting: l.connecting(it)}
	for _, k := range []string{"until", "at_most"} {
		if it.has("for") && it.has(k) {
			l.fault(firstOf(it.get(k), it).fault("two ends of the warm-up", "for and "+k, "for alone, or until with at_most", ""))
		}
	}
	w.Until = Until{Steady: !it.has("for"), AtMost: it.get("at_most").duration()}
	if it.has("for") {
		w.Until.AtMost = it.get("for").duration()
	}
	return w
}

func (l *loader) loadWork(it *item, p *Plan) *Load {
	sent := l.workOf(it, p)
	arrivals := Arrivals(it.get("arrivals").value())
	if it.has("trace") {
		arrivals = Trace
		if it.has("arrivals") {
			l.fault(firstOf(it.get("arrivals"), it).fault("arrivals of a trace", "", "no arrivals", "they come as recorded"))
		}
	}
	if it.has("in_flight") {
		arrivals = Closed
	}
	return &Load{Request: sent.request, Mix: sent.mix, Flows: sent.flows, Think: l.userThink(it), Arrivals: arrivals, Seed: uint64(it.get("seed").integer()),
		Profile: l.profile(it), MaxInFlight: int(max(it.get("max_in_flight").integer(), it.get("in_flight").integer())), AtMax: AtMax(it.get("at_max").value()),
		Timeout: it.get("timeout").duration(), TimeoutFrom: TimeoutFrom(it.get("timeout_from").value()), Timeouts: l.timeouts(it), Drain: it.get("drain").duration(), Connecting: l.connecting(it)}
}

// timeouts reads the bounds of parts of a request.
func (l *loader) timeouts(it *item) Timeouts {
	ts := it.get("timeouts")
	if whole := it.get("timeout"); whole != nil {
		for _, t := range ts.children() {
			if t.time >= whole.time {
				l.fault(t.fault("bound that is never reached: requests end at the timeout", t.quoted(), "less than "+whole.value(), "raise timeout or lower it"))
			}
		}
	}
	if ts != nil && len(ts.written) == 0 {
		l.fault(ts.fault("empty condition", "", "connect or first_byte", ""))
	}
	return Timeouts{Connect: ts.get("connect").duration(), FirstByte: ts.get("first_byte").duration()}
}

// connecting reads how a stage uses connections.
func (l *loader) connecting(it *item) Connecting {
	c := Connecting{KeepAlive: it.get("keep_alive").isTrue(), RequestsPerConnection: int(it.get("requests_per_connection").integer()),
		Connections: int(it.get("connections").integer())}
	if it.get("keep_alive") != nil && !c.KeepAlive {
		for _, k := range []struct{ name, hint string }{
			{"requests_per_connection", "without keep_alive each has one"}, {"connections", "without keep_alive each request opens its own; max_in_flight bounds them"},
		} {
			if it.has(k.name) {
				l.fault(firstOf(it.get(k.name), it).fault("two connection policies", "keep_alive: false and "+k.name, "one of them", k.hint))
			}
		}
		return c
	}
	if n := it.get("requests_per_connection"); n != nil && c.RequestsPerConnection == 1 {
		l.fault(n.fault("a connection for each request", n.quoted(), "2 or more", "write keep_alive: false"))
	}
	return c
}

// requestOf finds the request that a stage sends.
func (l *loader) requestOf(it *item, p *Plan) *Request {
	r := it.get("request")
	switch {
	case r == nil && (it.has("request") || l.requests == nil):
		return nil
	case r == nil && len(l.requests) == 0:
		l.fault(it.fault("no request to send", "", "one under requests", ""))
		return nil
	case r == nil:
		l.fault(it.fault("missing key "+quote("request"), "", cmp.Or(orNothing(l.requests), "the name of one under requests"), ""))
		return nil
	}
	for _, q := range p.Requests {
		if q.Name == r.value() {
			return q
		}
	}
	if l.requests != nil && !slices.Contains(l.requests, r.value()) {
		l.fault(r.fault("unknown request", r.quoted(), orNothing(l.requests), didYouMean(r.value(), l.requests)))
	}
	return nil
}

// profile gives the segments of a load, read once.
func (l *loader) profile(it *item) []Segment {
	if it == nil || it.path == "" || !strings.HasSuffix(it.path, ".load") {
		return nil
	}
	segs, known := l.segments[it]
	if !known {
		segs = l.readProfile(it)
		l.segments[it] = segs
	}
	return segs
}

// readProfile reads the segments of a load: profile, or rate with for as one hold, or a trace.
func (l *loader) readProfile(it *item) []Segment {
	var segs []Segment
	if it.has("in_flight") {
		return l.closed(it)
	}
	short := it.has("rate") || it.has("for")
	switch {
	case it.has("trace") && (short || it.has("profile")):
		l.fault(firstOf(it.get("trace"), it).fault("two profiles", "trace and rate, for or profile", "one of them", ""))
		return nil
	case it.has("trace"):
		return l.trace(it.get("trace"))
	case short && it.has("profile"):
		l.fault(it.fault("two profiles", "profile and rate or for", "one of them", ""))
		return nil
	case !short && !it.has("profile"):
		l.fault(it.fault("nothing to offer", "", "rate and for, profile or trace", ""))
		return nil
	case short && !it.has("rate"):
		l.fault(it.fault("missing key "+quote("rate"), "", rateShape.want(), "for has no effect alone"))
		return nil
	case short && !it.has("for"):
		l.fault(it.fault("missing key "+quote("for"), "", durationShape.want(), "how long to hold the rate"))
		return nil
	case short:
		if r, d := it.get("rate"), it.get("for"); r != nil && d != nil {
			segs = append(segs, hold(r, d, r.pos))
		}
	}
	for _, e := range it.get("profile").all() {
		segs = append(segs, l.segment(e)...)
	}
	if len(segs) > maxSegments {
		l.fault(firstOf(it.get("profile"), it).fault("too many segments", "", fmt.Sprintf("at most %d", maxSegments), ""))
		return nil
	}
	uniqueNames(segs)
	return segs
}

// closed is the one segment of a closed model.
func (l *loader) closed(it *item) []Segment {
	for _, k := range []struct{ name, hint string }{
		{"rate", "users send when their answers are there, not at a rate"}, {"profile", "users send when their answers are there, not at a rate"},
		{"trace", "users send when their answers are there, not as recorded"}, {"arrivals", "users send when their answers are there"},
		{"max_in_flight", "in_flight is how many there are"}, {"at_max", "no arrival waits"}, {"connections", "each user has one"},
	} {
		if it.has(k.name) {
			l.fault(firstOf(it.get(k.name), it).fault("closed and open model", "in_flight and "+k.name, "one of them", k.hint))
		}
	}
	n, d := it.get("in_flight"), it.get("for")
	if !it.has("for") {
		l.fault(it.fault("missing key "+quote("for"), "", durationShape.want(), "how long the users go on"))
	}
	if n == nil || d == nil {
		return nil
	}
	return []Segment{{Name: fmt.Sprintf("%d in flight", n.number), Kind: "closed", Pos: it.pos, Over: d.time}}
}

// userThink reads the think time of the users of a closed model.
func (l *loader) userThink(it *item) Pause {
	t := it.get("think")
	p := pauseOf(t)
	switch {
	case it.has("think") && !it.has("in_flight"):
		l.fault(firstOf(t, it).fault("think time without users", "", "it with in_flight, or in a step of a flow", "arrivals of the open model wait for nobody"))
	case p.Least > p.Most:
		l.fault(t.fault("bounds that nothing meets", formatDuration(p.Least)+" to "+formatDuration(p.Most), "from not above to", ""))
	}
	return p
}

// maxSegments bounds the segments of a load, steps counted one by one.
const maxSegments = 1000

func hold(rate, over *item, pos Position) Segment {
	return Segment{Name: "hold " + formatRate(rate.rate, rate.unit()), Kind: "hold", Pos: pos, From: rate.rate, To: rate.rate, Over: over.time}
}

// segment reads one entry of a profile; steps are several segments.
func (l *loader) segment(it *item) []Segment {
	if h := it.get("hold"); h != nil {
		r, d := h.get("rate"), h.get("for")
		if r == nil || d == nil {
			return nil
		}
		return []Segment{hold(r, d, it.pos)}
	}
	if r := it.get("ramp"); r != nil {
		from, to, over := r.get("from"), r.get("to"), r.get("over")
		if from == nil || to == nil || over == nil {
			return nil
		}
		if from.rate == to.rate {
			l.fault(r.fault("a ramp that does not rise or fall", to.quoted(), "two rates", "write hold"))
			return nil
		}
		return []Segment{ramp(from, to, over, it.pos)}
	}
	switch {
	case it.get("spike") != nil:
		return l.spike(it, it.get("spike"))
	case it.get("sine") != nil:
		return l.sine(it, it.get("sine"))
	case it.get("csv") != nil:
		return l.rates(it, it.get("csv").get("file"))
	case it.get("repeat") != nil:
		return l.repeat(it.get("repeat"))
	}
	return l.steps(it, it.get("step"))
}

// repeat is the segments of all rounds.
func (l *loader) repeat(it *item) []Segment {
	var round, all []Segment
	for _, e := range it.get("profile").all() {
		round = append(round, l.segment(e)...)
	}
	times := it.get("times").integer()
	if times*int64(len(round)) > maxSegments {
		l.fault(it.fault("too many segments", "", fmt.Sprintf("at most %d", maxSegments), ""))
		return nil
	}
	for range times {
		all = append(all, round...)
	}
	return all
}

func (l *loader) spike(it, s *item) []Segment {
	base, peak := s.get("base"), s.get("peak")
	if base == nil || peak == nil || s.get("before") == nil || s.get("for") == nil || s.get("after") == nil {
		return nil
	}
	if peak.rate <= base.rate {
		l.fault(peak.fault("a peak that is none", peak.quoted(), "more than "+base.value(), ""))
		return nil
	}
	segs := []Segment{hold(base, s.get("before"), it.pos)}
	way := func(from, to, over *item) {
		if over.duration() > 0 {
			segs = append(segs, ramp(from, to, over, it.pos))
		}
	}
	way(base, peak, s.get("rise"))
	segs = append(segs, hold(peak, s.get("for"), it.pos))
	way(peak, base, s.get("fall"))
	return append(segs, hold(base, s.get("after"), it.pos))
}

// sinePieces is how many straight pieces a period of a sine is drawn with. The rate is off by 0.12 % of the amplitude at most.
const sinePieces = 64

func (l *loader) sine(it, s *item) []Segment {
	mean, amplitude, period, over := s.get("mean"), s.get("amplitude"), s.get("period"), s.get("for")
	if mean == nil || amplitude == nil || period == nil || over == nil {
		return nil
	}
	step := period.time / sinePieces
	switch {
	case amplitude.rate > mean.rate:
		l.fault(amplitude.fault("a rate below zero", amplitude.quoted(), mean.value()+" at most", ""))
		return nil
	case step < time.Millisecond || over.time/step > maxPoints:
		l.fault(period.fault("period is too short", period.quoted(), "64ms or more, and up to 1500 periods", ""))
		return nil
	}
	seg := Segment{Name: fmt.Sprintf("sine %s to %s", formatRate(mean.rate-amplitude.rate, mean.unit()), formatRate(mean.rate+amplitude.rate, mean.unit())), Kind: "sine", Pos: it.pos, Over: over.time}
	at := func(t time.Duration) RatePoint {
		return RatePoint{t, max(0, mean.rate+amplitude.rate*math.Sin(2*math.Pi*float64(t%period.time)/float64(period.time)))}
	}
	for t := time.Duration(0); t < over.time; t += step {
		seg.Points = append(seg.Points, at(t))
	}
	seg.Points = append(seg.Points, at(over.time))
	seg.From, seg.To = seg.Points[0].Rate, seg.Points[len(seg.Points)-1].Rate
	return []Segment{seg}
}

func ramp(from, to, over *item, pos Position) Segment {
	name := "ramp " + formatRate(from.rate, from.unit()) + " to " + formatRate(to.rate, to.unit())
	return Segment{Name: name, Kind: "ramp", Pos: pos, From: from.rate, To: to.rate, Over: over.time}
}

func (l *loader) steps(it, st *item) []Segment {
	from, to, by, each := st.get("from"), st.get("to"), st.get("by"), st.get("each")
	if from == nil || to == nil || by == nil || each == nil {
		return nil
	}
	way := to.rate - from.rate
	n := math.Round(math.Abs(way) / by.rate)
	switch {
	case way == 0:
		l.fault(st.fault("steps that do not rise or fall", to.quoted(), "two rates", "write hold"))
		return nil
	case n > maxSegments:
		l.fault(st.fault("too many segments", "", fmt.Sprintf("at most %d", maxSegments), ""))
		return nil
	case n < 1 || math.Abs(n*by.rate-math.Abs(way)) > 1e-9*math.Abs(way):
		l.fault(by.fault("steps miss the last rate", by.quoted(), "a rate that divides the way of "+formatRate(math.Abs(way), by.unit()), ""))
		return nil
	}
	var segs []Segment
	for i := range int(n) + 1 {
		rate := from.rate + way*float64(i)/n
		if rounded, err := strconv.ParseFloat(strconv.FormatFloat(rate, 'g', 12, 64), 64); err == nil && i > 0 && i < int(n) {
			rate = rounded
		}
		if i == int(n) {
			rate = to.rate
		}
		segs = append(segs, Segment{Name: "step " + formatRate(rate, from.unit()), Kind: "step", Pos: it.pos, From: rate, To: rate, Over: each.time})
	}
	return segs
}

// uniqueNames tells segments of one name apart.
func uniqueNames(segs []Segment) {
	seen := map[string]int{}
	for i := range segs {
		seen[segs[i].Name]++
		if n := seen[segs[i].Name]; n > 1 {
			segs[i].Name += fmt.Sprintf(" (%d)", n)
		}
	}
}

// unit is the unit that a rate is written in: s, m or h.
func (it *item) unit() string {
	text := it.value()
	return text[len(text)-1:]
}

// formatRate is a rate as people read it, in the unit s, m or h.
func formatRate(perSecond float64, unit string) string {
	rate, err := strconv.ParseFloat(strconv.FormatFloat(perSecond*perUnit[unit], 'g', 12, 64), 64)
	if err != nil { // cannot happen: it was just written
		rate = perSecond * perUnit[unit]
	}
	return strconv.FormatFloat(rate, 'f', -1, 64) + "/" + unit
}

// formatDuration is a duration as a plan has it: 90s is "1m30s", an hour "1h".
func formatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
