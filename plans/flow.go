package plans

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"
)

// A Flow is what one user does: requests one after another, each once the answer before is there.
type Flow struct {
	Name    string
	Pos     Position
	Cookies bool   // the user keeps cookies from one step to the next
	Steps   []Step // at least one
}

// A Step is one request of a flow.
type Step struct {
	Request *Request
	Think   Pause         // between the answer before and the request
	When    []StatusRange // which status the answer before has to have; nil: any
	End     bool          // otherwise the flow ends there, completed; false: the step is left out
	Extract []Extract     // what is taken from the answer
}

// A Pause is a time that is drawn evenly between two bounds.
type Pause struct{ Least, Most time.Duration }

// An Extract takes a text from an answer, which later steps of the flow have as ${flow.NAME}. One of JSON, Header and
// Pattern is given.
type Extract struct {
	Name    string
	JSON    string         // place in a JSON body; "" for none
	Header  string         // in lower case; "" for none
	Pattern *regexp.Regexp // its first group, or what it matches, in the body; nil for none
	Default *string        // what to take where the answer has no such text; nil: the step has failed then
}

// A WeightedFlow is a flow of a stage.
type WeightedFlow struct {
	*Flow
	Weight int // of the sum of all weights
}

// flowShare is how often an arrival gets a request, or all requests together where request is "", or a flow.
func flowShare(flows []WeightedFlow, name string) float64 {
	sum, own := 0, 0
	for _, f := range flows {
		sum += f.Weight
		n := 0
		for _, s := range f.Steps {
			if name == "" || s.Request.Name == name {
				n++
			}
		}
		if n == 0 && f.Name == name {
			n = 1
		}
		own += n * f.Weight
	}
	return float64(own) / float64(max(sum, 1))
}

// FlowShare is the share of the arrivals that begin a flow of the stage.
func (l *Load) FlowShare(name string) float64 {
	sum, own := 0, 0
	for _, f := range l.Flows {
		sum += f.Weight
		if f.Name == name {
			own += f.Weight
		}
	}
	return float64(own) / float64(max(sum, 1))
}

// longest is how long a request of the stage, or all those of a flow together, can take.
func (l *Load) longest(name string) time.Duration {
	for _, f := range l.Flows {
		if f.Name == name {
			return time.Duration(len(f.Steps)) * l.Timeout
		}
	}
	return l.Timeout
}

// requestsOfFlows are the requests that the steps of flows send, each once.
func requestsOfFlows(flows []WeightedFlow) (all []Weighted) {
	for _, f := range flows {
		for _, s := range f.Steps {
			if !slices.ContainsFunc(all, func(w Weighted) bool { return w.Request == s.Request }) {
				all = append(all, Weighted{Request: s.Request})
			}
		}
	}
	return all
}

// flowText is ${flow.NAME} in a template.
type flowText struct {
	name, path string
	pos        Position
}

var flowRef = regexp.MustCompile(`^flow\.([a-z0-9][a-z0-9_-]*)$`)

func (l *loader) flow(it *item, p *Plan) *Flow {
	f := &Flow{Name: it.name, Pos: it.keyPos, Cookies: it.get("cookies").isTrue()}
	if slices.Contains(l.requests, it.name) {
		l.fault(Problem{Pos: it.keyPos, Path: it.path, What: "a request has the same name", Got: quote(it.name), Want: "names that tell flows and requests apart"})
	}
	var taken []string // from the answers so far
	for i, e := range it.get("steps").all() {
		s := Step{Think: pauseOf(e.get("think")), End: e.get("when").get("otherwise").value() == "end"}
		if think := e.get("think"); think != nil {
			switch {
			case i == 0:
				l.fault(think.fault("think time before the first step", "", "a step behind it", "a flow begins when it arrives"))
			case s.Think.Least > s.Think.Most:
				l.fault(think.fault("bounds that nothing meets", formatDuration(s.Think.Least)+" to "+formatDuration(s.Think.Most), "from not above to", ""))
			}
		}
		if when := e.get("when"); when != nil {
			s.When = l.statuses(when.get("status"))
			if i == 0 {
				l.fault(when.fault("condition on the answer before the first step", "", "a step behind it", ""))
			}
		}
		s.Request = l.stepRequest(e.get("request"), p)
		if s.Request != nil {
			l.needed(e.get("request"), s.Request, taken)
			if first := f.first(); first != nil && first.Target != nil && s.Request.Target != nil && first.Target != s.Request.Target {
				l.fault(e.get("request").fault("request to another target", quote(s.Request.Target.Name), quote(first.Target.Name)+", as "+first.Name, "a flow goes to one target"))
			}
		}
		for _, x := range e.get("extract").children() {
			if s.Request != nil && s.Request.Method == "HEAD" && x.get("header") == nil {
				l.fault(x.fault("answers to HEAD have no body", "", "header", ""))
			}
			s.Extract = append(s.Extract, l.extract(x))
			taken = append(taken, x.name)
		}
		f.Steps = append(f.Steps, s)
	}
	return f
}

// first is the request of the first step that has one.
func (f *Flow) first() *Request {
	for _, s := range f.Steps {
		if s.Request != nil {
			return s.Request
		}
	}
	return nil
}

// complete reports whether all steps could be read.
func (f *Flow) complete() bool {
	return len(f.Steps) > 0 && !slices.ContainsFunc(f.Steps, func(s Step) bool { return s.Request == nil })
}

// stepRequest finds the request of a step.
func (l *loader) stepRequest(it *item, p *Plan) *Request {
	i := slices.IndexFunc(p.Requests, func(r *Request) bool { return r.Name == it.value() })
	if i >= 0 {
		return p.Requests[i]
	}
	if it != nil && l.requests != nil && !slices.Contains(l.requests, it.value()) {
		l.fault(it.fault("unknown request", it.quoted(), orNothing(l.requests), didYouMean(it.value(), l.requests)))
	}
	return nil
}

// needed checks that earlier steps have taken what a request sends.
func (l *loader) needed(it *item, r *Request, taken []string) {
	for _, t := range r.flowTexts {
		if !slices.Contains(taken, t.name) {
			l.fault(it.fault(fmt.Sprintf("the request sends ${flow.%s} (%d:%d), which no earlier step extracts", t.name, t.pos.Line, t.pos.Col), it.quoted(), orNothing(taken), didYouMean(t.name, taken)))
			return
		}
	}
}

// alone checks that a request that a stage sends by itself has nothing from a flow.
func (l *loader) alone(pos Position, path string, r *Request) {
	for _, t := range r.flowTexts {
		l.fault(Problem{Pos: pos, Path: path, What: fmt.Sprintf("the request sends ${flow.%s} (%d:%d), which only a flow has", t.name, t.pos.Line, t.pos.Col), Got: quote(r.Name), Hint: "make it a step of a flow"})
		return
	}
}

func (l *loader) extract(it *item) Extract {
	x := Extract{Name: it.name, Header: strings.ToLower(it.get("header").value()), Pattern: l.pattern(it.get("regex"))}
	if j := it.get("json"); j != nil {
		if x.JSON = j.value(); !jsonPath.MatchString(x.JSON) {
			l.fault(j.fault("not a place in a JSON body", j.quoted(), "$.items or $.items[0].title", ""))
		}
	}
	if h := it.get("header"); h != nil && !token.MatchString(x.Header) {
		l.fault(h.fault("not a header name", h.quoted(), "letters, digits and -", ""))
	}
	if d := it.get("default"); d != nil {
		text := d.value()
		x.Default = &text
	}
	return x
}

// pauseOf reads a pause: a duration, or two bounds.
func pauseOf(it *item) Pause {
	if it == nil {
		return Pause{}
	}
	if it.form == mapForm {
		return Pause{it.get("from").duration(), it.get("to").duration()}
	}
	return Pause{it.time, it.time}
}

// work is what a load or warm-up stage sends.
type work struct {
	request *Request // the first of a mix or of flows
	mix     []Weighted
	flows   []WeightedFlow
}

// workOf finds the request, the mix or the flow of a stage.
func (l *loader) workOf(it *item, p *Plan) (w work) {
	var ways []string
	for _, name := range []string{"request", "mix", "flow"} {
		if it.has(name) {
			ways = append(ways, name)
		}
	}
	if len(ways) > 1 {
		l.fault(firstOf(it.get(ways[1]), it).fault("two ways to say what is sent", strings.Join(ways, " and "), "one of them", ""))
		return w
	}
	switch {
	case it.has("flow"):
		w.flows = l.flowOf(it.get("flow"), p)
	case it.has("mix"):
		w.mix, w.flows = l.mixOf(it.get("mix"), p)
	default:
		if w.request = l.requestOf(it, p); w.request != nil {
			at := firstOf(it.get("request"), it)
			l.alone(at.pos, at.path, w.request)
		}
		return w
	}
	if w.flows != nil {
		w.mix = requestsOfFlows(w.flows)
	}
	if w.mix != nil {
		w.request = w.mix[0].Request
	}
	return w
}

// flowOf finds the flow of a stage.
func (l *loader) flowOf(it *item, p *Plan) []WeightedFlow {
	if it == nil {
		return nil
	}
	if i := slices.IndexFunc(p.Flows, func(f *Flow) bool { return f.Name == it.value() }); i >= 0 && p.Flows[i].complete() {
		return []WeightedFlow{{p.Flows[i], 1}}
	}
	if l.flows != nil && !slices.Contains(l.flows, it.value()) {
		l.fault(it.fault("unknown flow", it.quoted(), cmp.Or(orNothing(l.flows), "one under flows"), didYouMean(it.value(), l.flows)))
	}
	return nil
}

// mixOf finds what a mix draws from: requests, or flows, among which a request is a flow of one step.
func (l *loader) mixOf(it *item, p *Plan) (mix []Weighted, flows []WeightedFlow) {
	var all []WeightedFlow
	some := false
	for _, e := range it.children() {
		f := l.drawn(e, p)
		if f == nil || !f.complete() {
			continue
		}
		if len(all) > 0 {
			first, own := all[0].first(), f.first()
			if first.Target != own.Target && first.Target != nil && own.Target != nil {
				l.fault(Problem{Pos: e.keyPos, Path: e.path, What: "request to another target", Got: quote(own.Target.Name),
					Want: quote(first.Target.Name) + ", as " + all[0].Name, Hint: "a mix goes to one target"})
				continue
			}
		}
		some = some || slices.Contains(l.flows, e.name)
		all = append(all, WeightedFlow{f, int(e.number)})
	}
	if some {
		return nil, all
	}
	for _, f := range all {
		mix = append(mix, Weighted{f.first(), f.Weight})
	}
	return mix, nil
}

// drawn is an entry of a mix.
func (l *loader) drawn(e *item, p *Plan) *Flow {
	for _, r := range p.Requests {
		if r.Name == e.name {
			l.alone(e.keyPos, e.path, r)
			return &Flow{Name: r.Name, Pos: r.Pos, Steps: []Step{{Request: r}}}
		}
	}
	for _, f := range p.Flows {
		if f.Name == e.name {
			return f
		}
	}
	if names := slices.Concat(l.requests, l.flows); l.requests != nil && l.flows != nil && !slices.Contains(names, e.name) {
		l.fault(Problem{Pos: e.keyPos, Path: e.path, What: "unknown request", Got: quote(e.name), Want: orNothing(names), Hint: didYouMean(e.name, names)})
	}
	return nil
}
