package plans

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"
)

// check compares the parts of a plan with each other. It reports, and adds the assertions to their stages;
// everything else of the plan stays as it is.
func (l *loader) check(top *item, p *Plan) {
	stages := top.get("stages").all()
	l.stageNames(stages)
	l.alongside(stages, p)
	wide := l.slos(top.get("slo"), nil, p)
	loads := 0
	for i, st := range p.Stages {
		own := l.slos(stages[i].get("slo"), st, p)
		st.SLOs = slos(own)
		if ld, ok := st.Work.(*Load); ok {
			loads++
			all := append(own, l.planWide(sent(wide, ld), own)...)
			st.SLOs = slos(all)
			l.checkLoad(stages[i].get("load"), st, ld, all)
		}
		if m, ok := st.Work.(*Microbenchmark); ok {
			l.checkTimes(stages[i].get("microbenchmark"), st, m, own)
		}
	}
	if it := top.get("slo"); it != nil && loads == 0 && len(p.Stages) > 0 {
		l.fault(it.fault("assertions for load stages, of which there are none", "", "", "put them under slo of a stage"))
	}
	if l.problems.Errors() == 0 {
		l.unused(top)
	}
}

// sent are the assertions that are not about a request that the stage does not send.
func sent(wide []placed, ld *Load) []placed {
	var out []placed
	for _, w := range wide {
		if w.Metric.Request == "" || ld.Share(w.Metric.Request) > 0 {
			out = append(out, w)
		}
	}
	return out
}

// A placed is an assertion that knows the text of the plan it is from.
type placed struct {
	SLO
	it *item
}

func slos(ps []placed) []SLO {
	var out []SLO
	for _, p := range ps {
		out = append(out, p.SLO)
	}
	return out
}

func (l *loader) stageNames(stages []*item) {
	first := map[string]*item{}
	for _, st := range stages {
		n := st.get("name")
		if n == nil {
			continue
		}
		if f := first[n.value()]; f != nil {
			l.fault(n.fault(fmt.Sprintf("duplicate stage name, first at %d:%d", f.pos.Line, f.pos.Col), n.quoted(), "", ""))
			continue
		}
		first[n.value()] = n
	}
}

// alongside checks that stages that run at the same time are load stages, one behind the other.
func (l *loader) alongside(stages []*item, p *Plan) {
	leader := "" // of the group that the stage before belongs to
	var before []string
	for i, st := range p.Stages {
		at := stages[i].get("alongside")
		if at == nil {
			leader = ""
			if _, ok := st.Work.(*Load); ok {
				leader = st.Name
			}
			before = append(before, st.Name)
			continue
		}
		if c := stages[max(i-1, 0)].get("confirm"); c != nil {
			l.fault(c.fault("a stage that another runs alongside cannot be measured again by itself", c.quoted(), "confirm on other stages", ""))
		}
		if e := stages[max(i-1, 0)].get("extend"); e != nil {
			l.fault(e.fault("a stage that another runs alongside cannot be extended by itself", e.quoted(), "extend on other stages", ""))
		}
		_, load := st.Work.(*Load)
		j := slices.IndexFunc(p.Stages[:i], func(o *Stage) bool { return o.Name == st.Alongside })
		switch {
		case !load && st.Work != nil:
			l.fault(at.fault("a "+st.Work.Kind()+" stage at the same time as another", at.quoted(), "a load stage", "what else the machine does would be in its times"))
		case j < 0:
			l.fault(at.fault("no stage of this name before it", at.quoted(), orNothing(before), didYouMean(st.Alongside, before)))
		case st.Alongside != leader:
			l.fault(at.fault("neither the load stage before it nor the one that runs alongside", at.quoted(), cmp.Or(maybeQuote(leader), "a load stage"), "stages that run at the same time stand one behind the other"))
		}
	}
}

// slos reads the assertions of a stage; of all load stages when st is nil.
func (l *loader) slos(it *item, st *Stage, p *Plan) []placed {
	var before []placed
	var entries []*item
	for _, e := range it.all() {
		if e.form == mapForm { // - get-ranking: p99 < 150ms
			entries = append(entries, e.entries...)
			continue
		}
		entries = append(entries, e)
	}
	for _, e := range entries {
		text := e.value()
		s, err := ParseSLO(text)
		if e.given && e.name != "" && e.keyPos.Line > 0 && err == nil {
			s, err = l.ofRequest(e, s)
		}
		if isMetric(e.name) && e.keyPos.Line > 0 && err != nil {
			l.fault(Problem{Pos: e.keyPos, Path: e.path, What: "not an assertion", Got: "a map of " + quote(e.name), Want: "an assertion like p99 < 150ms",
				Hint: "write " + e.name + " < " + shown(e.text, false)})
			continue
		}
		if fault, bad := errors.AsType[*SLOError](err); bad {
			q := e.fault(fault.What, fault.Got, fault.Want, fault.Hint)
			q.Pos = l.posIn(e.node, origin(e.text, fault.Offset))
			l.fault(q)
			continue
		}
		s.Pos = e.pos
		if !l.applies(e, s.Metric, st, p) {
			continue
		}
		if i := slices.IndexFunc(before, func(b placed) bool { return b.key() == s.key() }); i >= 0 {
			l.fault(e.fault(fmt.Sprintf("duplicate assertion, first at %d:%d", before[i].Pos.Line, before[i].Pos.Col), e.quoted(), "", "keep one of them"))
			continue
		}
		before = append(before, placed{s, e})
	}
	return before
}

// ofRequest is an assertion that stands behind the name of the request that it is about.
func (l *loader) ofRequest(e *item, s SLO) (SLO, error) {
	if s.Metric.Request != "" {
		return s, &SLOError{0, "assertion about two requests", quote(s.Metric.Request), "one name", ""}
	}
	return ParseSLO(e.name + ": " + e.value())
}

// planWide gives the assertions of the plan that a stage does not make itself, word for word.
func (l *loader) planWide(wide, own []placed) []placed {
	var out []placed
	for _, w := range wide {
		i := slices.IndexFunc(own, func(o placed) bool { return o.key() == w.key() && o.Limit == w.Limit && o.Op == w.Op })
		if i < 0 {
			out = append(out, w)
			continue
		}
		l.fault(own[i].it.fault(fmt.Sprintf("duplicate assertion, %d:%d makes it for all load stages", w.Pos.Line, w.Pos.Col), own[i].it.quoted(), "", "keep one of them"))
	}
	return out
}

// metricsOf are the words for the metrics of a kind of stage, for messages.
var metricsOf = map[string]string{
	"load":           "p99, max, mean, error_rate, success, failed, dropped, throughput, cpu(…) or rss(…)",
	"microbenchmark": "time[size=…] p50, slope, growth, alloc_bytes or instructions",
}

// applies reports whether a stage has the metric; for st nil, whether every load stage has it.
func (l *loader) applies(e *item, m Metric, st *Stage, p *Plan) bool {
	kind := "load"
	if st != nil {
		if st.Work == nil {
			return false
		}
		kind = st.Work.Kind()
	}
	bench := m.Kind.ofBench()
	switch {
	case kind == "warmup":
		l.fault(e.fault("assertion on a warm-up, whose times are thrown away", e.quoted(), "", "put it on a load stage"))
		return false
	case kind == "compare":
		l.fault(e.fault("assertion on a comparison, which decides by itself", e.quoted(), "", "say what matters with margin and metrics"))
		return false
	case bench != (kind == "microbenchmark"):
		hint := ""
		if st == nil {
			hint = "put it under slo of a microbenchmark stage"
		}
		l.fault(e.fault("a "+kind+" stage has no "+m.String(), "", metricsOf[kind], hint))
		return false
	}
	if m.Request != "" && !l.sends(e, m, st, p) {
		return false
	}
	switch m.Kind {
	case CPU, RSS:
		return l.observed(e, m, p)
	case Time, AllocBytes, Instructions, Slope, Growth:
		return l.inGrid(e, m, st.Work.(*Microbenchmark))
	}
	return true
}

// sends checks that the stage sends the request that an assertion is about; for st nil, that any load stage does.
func (l *loader) sends(e *item, m Metric, st *Stage, p *Plan) bool {
	var names []string
	for _, s := range p.Stages {
		ld, ok := s.Work.(*Load)
		if !ok || st != nil && s != st {
			continue
		}
		if ld.Request == nil {
			return false // reported already
		}
		if ld.Share(m.Request) > 0 {
			return true
		}
		if ld.Mix == nil {
			names = append(names, ld.Request.Name)
		}
		for _, w := range ld.Mix {
			names = append(names, w.Name)
		}
		for _, f := range ld.Flows {
			names = append(names, f.Name)
		}
	}
	slices.Sort(names)
	names = slices.Compact(names)
	l.fault(e.fault("assertion about a request that the stage does not send", quote(m.Request), orNothing(names), didYouMean(m.Request, names)))
	return false
}

// fitSizes is how many sizes a fit of growth needs.
const fitSizes = 5

// observed checks that the target of a cpu or rss metric is there and is observed.
func (l *loader) observed(e *item, m Metric, p *Plan) bool {
	var names []string
	for _, t := range p.Targets {
		names = append(names, t.Name)
		if t.Name != m.Target {
			continue
		}
		switch {
		case len(t.Start) == 0:
			l.fault(e.fault("target "+quote(t.Name)+" is not observed", "", "a target that perfplan starts", "add start to it"))
			return false
		case !t.Observe:
			l.fault(e.fault("target "+quote(t.Name)+" is not observed", "", "observe: {process: true}", ""))
			return false
		}
		return true
	}
	if len(names) > 0 {
		l.fault(e.fault("unknown target", quote(m.Target), orNothing(names), didYouMean(m.Target, names)))
	}
	return false
}

// inGrid checks that a microbenchmark measures what a metric is about. What is in results, nobody knows before.
func (l *loader) inGrid(e *item, m Metric, b *Microbenchmark) bool {
	switch {
	case b.Subject.Kind == SubjectResults:
		return true
	case b.unknown || b.Subject.Kind == SubjectProtocol && len(b.Sizes) == 0:
		return false
	}
	for set := range strings.SplitSeq(m.Settings, ",") {
		name, value, ok := strings.Cut(set, "=")
		if !ok {
			continue
		}
		var names []string
		for _, p := range b.Parameters {
			names = append(names, p.Name)
		}
		i := slices.Index(names, name)
		switch {
		case i < 0:
			l.fault(e.fault("the stage has no such parameter", quote(name), orNothing(names), didYouMean(name, names)))
			return false
		case !slices.Contains(b.Parameters[i].Values, value):
			l.fault(e.fault("the stage does not measure this value of "+name, quote(value), orNothing(b.Parameters[i].Values), didYouMean(value, b.Parameters[i].Values)))
			return false
		}
	}
	switch {
	case m.Kind == Slope || m.Kind == Growth:
		if n := len(b.Sizes); n < fitSizes {
			l.fault(e.fault("a fit over so few sizes cannot tell", strconv.Itoa(n), fmt.Sprintf("at least %d sizes", fitSizes), "add sizes to the stage"))
			return false
		}
	case m.Size > 0 && len(b.Sizes) == 0:
		l.fault(e.fault("the stage has no sizes", strconv.Itoa(m.Size), m.Kind.bare()+" without a size", ""))
		return false
	case m.Size > 0 && !slices.Contains(b.Sizes, m.Size):
		near := slices.MinFunc(b.Sizes, func(x, y int) int { return distance(x, m.Size) - distance(y, m.Size) })
		l.fault(e.fault("the stage does not measure this size", strconv.Itoa(m.Size), "one of its sizes", fmt.Sprintf("the nearest is %d", near)))
		return false
	}
	return true
}

// bare is how a quantity of a microbenchmark is written without brackets.
func (k MetricKind) bare() string {
	if k == Time {
		return "time p50"
	}
	return string(k)
}

func distance(a, b int) int { return max(a-b, b-a) }

// checkLoad checks assertions against what the stage is going to do.
func (l *loader) checkLoad(it *item, st *Stage, ld *Load, ss []placed) {
	if len(ld.Profile) == 0 {
		return
	}
	highest := l.peak(it)
	warned := false
	for _, s := range ss {
		m := s.Metric
		limit := time.Duration(s.Limit)
		if !l.inScope(s, st, ld) {
			continue
		}
		if s.Window > 0 {
			l.windowed(s, st, ld)
		}
		switch {
		case s.Unit != Nanoseconds:
			continue
		case !s.Baseline.Set && ld.Timeout > 0 && limit >= ld.longest(m.Request) && m.Clock != Lag:
			l.fault(s.it.fault("limit can never be told: requests end at the timeout of stage "+quote(st.Name), formatDuration(limit),
				"less than "+formatDuration(ld.longest(m.Request)), "raise timeout or lower the limit"))
			continue
		}
		if m.Kind == Quantile && s.Window == 0 && m.Status == "" && m.Clock != Connect {
			l.decidable(s, st, ld)
		}
		if s.Op[0] == '<' && m.Clock != Lag && m.Clock != Connect && !s.Baseline.Set && !warned {
			warned = l.tooTight(it, ld, s, highest)
		}
	}
}

// tooTight warns of a bound on requests under way that the limit may need more of, by Little's law.
func (l *loader) tooTight(it *item, ld *Load, s placed, highest float64) bool {
	limit := time.Duration(s.Limit)
	need := highest*limit.Seconds() - 1e-9
	want := fmt.Sprintf("at least %.0f, which is %s × %s (Little's law)", math.Ceil(need), formatRate(highest, "s"), formatDuration(limit))
	what := "the bound itself may break " + quote(s.Text)
	if n := ld.MaxInFlight; it.has("max_in_flight") && n > 0 && float64(n) < need {
		l.warn(it.get("max_in_flight").fault(what, strconv.Itoa(n), want, ""))
		return true
	}
	if hosts := hostsOf(ld); ld.Connections > 0 && float64(ld.Connections*hosts) < need {
		l.warn(it.get("connections").fault(what, fmt.Sprintf("%d to each of %d", ld.Connections, hosts), want, ""))
		return true
	}
	return false
}

// hostsOf counts the hosts of a load: its endpoints, which for names of several addresses is too few.
func hostsOf(ld *Load) int {
	if ld.Request == nil || ld.Request.Target == nil {
		return 1
	}
	return max(1, len(ld.Request.Target.Endpoints()))
}

// confidence is one-sided: the chance that all samples miss the true quantile is at most 1 − confidence.
const confidence = 0.95

// needed is how many samples can decide an assertion on a quantile: the largest (for a lower limit the smallest)
// of fewer lies on the wrong side of it with a chance above 5 %.
func needed(q float64, op string) int {
	if op == ">" || op == ">=" {
		q = 1 - q
	}
	if q <= 0 || q >= 1 {
		return 1
	}
	return int(math.Ceil(math.Log(1-confidence)/math.Log(q) - 1e-9))
}

// decidable checks that every segment has the samples that a quantile needs.
func (l *loader) decidable(s placed, st *Stage, ld *Load) {
	need := s.MinSamples()
	if ld.Arrivals == Closed { // how many there will be depends on the target
		return
	}
	for _, seg := range ld.Profile {
		if s.Metric.Segment != "" && s.Metric.Segment != seg.Name {
			continue
		}
		share := ld.part(s.Metric)
		planned := int(math.Floor(seg.Planned()*share + 1e-6))
		if planned >= need {
			continue
		}
		mean := seg.Planned() / seg.Over.Seconds() * share
		longer := time.Duration(math.Ceil(float64(need)/mean)) * time.Second
		l.fault(s.it.fault(fmt.Sprintf("too few requests in segment %q of stage %q", seg.Name, st.Name), fmt.Sprintf("%d planned", planned),
			fmt.Sprintf("at least %d for %s", need, s.Metric), "make it last "+formatDuration(longer)+", raise its rate or assert a lower percentile"))
		return
	}
}

// checkTimes checks the assertions of a microbenchmark against its samples.
func (l *loader) checkTimes(it *item, st *Stage, m *Microbenchmark, ss []placed) {
	if t := it.get("min_time"); t != nil && m.Timeout > 0 && m.MinTime >= m.Timeout {
		l.fault(t.fault("samples last longer than the subject may take for an answer", t.quoted(), "less than "+formatDuration(m.Timeout), "raise timeout or lower min_time"))
	}
	for _, s := range ss {
		if s.Metric.Kind != Time || m.Subject.Kind == SubjectResults {
			continue
		}
		if limit := time.Duration(s.Limit); m.Timeout > 0 && limit >= m.Timeout && !s.Baseline.Set {
			l.fault(s.it.fault("limit can never be told: the subject has to answer within the timeout", formatDuration(limit),
				"less than "+formatDuration(m.Timeout), "raise timeout or lower the limit"))
			continue
		}
		if need, planned := s.MinSamples(), m.Forks*m.Samples; planned > 0 && planned < need {
			l.fault(s.it.fault(fmt.Sprintf("too few samples in stage %q", st.Name), fmt.Sprintf("%d planned (forks × samples)", planned),
				fmt.Sprintf("at least %d for %s", need, s.Metric.Stat), "raise samples or assert a lower percentile"))
		}
	}
}

// unused warns of what the plan defines and no stage uses.
func (l *loader) unused(top *item) {
	for _, v := range top.get("vars").children() {
		if !l.used[v.name] {
			l.warn(Problem{Pos: v.keyPos, Path: v.path, What: "variable is not used"})
		}
	}
	for _, d := range l.spare {
		l.warn(Problem{Pos: d.keyPos, Path: d.path, What: "data is not used", Hint: "use it as ${" + d.name + ".column}"})
	}
	requests, targets, flows := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, st := range top.get("stages").all() {
		for _, side := range []string{"base", "new"} {
			targets[st.get("compare").get(side).get("target").value()] = true
		}
		for _, kind := range []string{"warmup", "load", "compare"} {
			requests[st.get(kind).get("request").value()] = true
			flows[st.get(kind).get("flow").value()] = true
			for _, e := range st.get(kind).get("mix").children() {
				requests[e.name], flows[e.name] = true, true
			}
		}
	}
	for _, f := range top.get("flows").children() {
		for _, s := range f.get("steps").all() {
			requests[s.get("request").value()] = true
		}
		if !flows[f.name] {
			l.warn(Problem{Pos: f.keyPos, Path: f.path, What: "no stage runs this flow"})
		}
	}
	for _, r := range top.get("requests").children() {
		targets[r.get("target").value()] = true
		if !requests[r.name] {
			l.warn(Problem{Pos: r.keyPos, Path: r.path, What: "no stage sends this request"})
		}
	}
	for _, t := range top.get("targets").children() {
		if !targets[t.name] && !t.has("start") && !t.has("build") {
			l.warn(Problem{Pos: t.keyPos, Path: t.path, What: "no request goes to this target"})
		}
	}
}
