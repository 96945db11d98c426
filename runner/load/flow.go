package load

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"slices"
	"time"

	"github.com/tidwall/gjson"

	"github.com/perfplan/perfplan/plans"
)

// A FlowShare is a flow that arrivals draw, with its weight among all of them.
type FlowShare struct {
	*plans.Flow
	Weight int // 1 to MaxWeight
}

// A flow is one as the engine runs it.
type flow struct {
	*plans.Flow
	steps []step
}

type step struct {
	plans.Step
	kind    *kind
	extract []extract
}

// An extract takes a text from an answer.
type extract struct {
	plans.Extract
	slot  int    // of the values of a visit
	path  string // in gjson's syntax; "" for none
	field int    // of the fields that the answer's reader keeps; -1 for none
}

// A flowUse is a place of a request that a text of the flow goes to.
type flowUse struct {
	name string
	slot int
	fit  func(string) (string, error)
}

// bindFlows makes the flows of a mix, whose kinds are there.
func (m *mix) bindFlows(shares []FlowShare) error {
	slots := map[string]int{}
	slot := func(name string) int {
		if _, known := slots[name]; !known {
			slots[name] = len(slots)
		}
		return slots[name]
	}
	for i := range m.kinds {
		for u := range m.kinds[i].render.uses {
			use := &m.kinds[i].render.uses[u]
			use.slot = slot(use.name)
		}
	}
	var sum uint64
	for i, share := range shares {
		if share.Flow == nil || len(share.Steps) == 0 || share.Weight < 1 || share.Weight > MaxWeight {
			return fmt.Errorf("load: flow %d: got weight %d, want a flow with steps and a weight from 1 to %d", i, share.Weight, MaxWeight)
		}
		f := flow{Flow: share.Flow}
		for _, s := range share.Steps {
			k := slices.IndexFunc(m.kinds, func(k kind) bool { return k.Request == s.Request })
			if k < 0 {
				return fmt.Errorf("load: flow %q: a step sends a request that is not among those of the mix", share.Name)
			}
			st := step{Step: s, kind: &m.kinds[k]}
			for _, x := range s.Extract {
				bound, err := bindExtract(x, slot(x.Name), st.kind.check)
				if err != nil {
					return fmt.Errorf("load: flow %q: %w", share.Name, err)
				}
				st.extract = append(st.extract, bound)
			}
			f.steps = append(f.steps, st)
		}
		sum += uint64(share.Weight)
		m.flows, m.ends = append(m.flows, f), append(m.ends, sum)
	}
	m.slots = len(slots)
	return nil
}

// bindExtract makes an extract, and has the answer's reader keep what it needs.
func bindExtract(x plans.Extract, slot int, c *checker) (extract, error) {
	bound := extract{Extract: x, slot: slot, field: -1}
	if x.Header != "" {
		bound.field = slices.Index(c.needFields, x.Header)
		if bound.field < 0 {
			bound.field = len(c.needFields)
			c.needFields = append(c.needFields, x.Header)
		}
		return bound, nil
	}
	c.needBody = true
	var err error
	if x.JSON != "" {
		bound.path, err = gjsonPath(x.JSON)
	}
	return bound, err
}

// text is what an answer has for x.
func (x *extract) text(r *response) (text string, ok bool) {
	switch {
	case x.field >= 0:
		f := &r.fields[x.field]
		return string(f.text), f.there
	case x.path != "":
		if !gjson.ValidBytes(r.body) {
			return "", false
		}
		got := gjson.GetBytes(r.body, x.path)
		if got.Type == gjson.String {
			return got.Str, true
		}
		return got.Raw, got.Exists() && got.Type != gjson.Null
	}
	m := x.Pattern.FindSubmatch(r.body)
	if m == nil {
		return "", false
	}
	return string(m[min(1, len(m)-1)]), true
}

// A visit is a flow under way: what its user knows.
type visit struct {
	flow   *flow
	number int64 // of the step, among all that flows of the stage may make: decides generated values
	values []flowValue
	fitted []string // values as the request under way sends them, by its uses
	jar    http.CookieJar
	status int // of the last answer
}

type flowValue struct {
	text string
	set  bool
}

func (m *mix) visit(index int64) *visit {
	f := &m.flows[m.number(index)]
	v := &visit{flow: f, values: make([]flowValue, m.slots)}
	if f.Cookies {
		v.jar, _ = cookiejar.New(nil) // never an error
	}
	return v
}

// due tells whether a step is to be made after the last answer.
func (v *visit) due(s *step) bool {
	return s.When == nil || slices.ContainsFunc(s.When, func(r plans.StatusRange) bool { return r.From <= v.status && v.status <= r.To })
}

// prepare fits the texts of the flow to the request of a step. A failure says what is missing.
func (v *visit) prepare(k *kind) *failure {
	v.fitted = v.fitted[:0]
	for _, u := range k.render.uses {
		if !v.values[u.slot].set {
			return &failure{kind: kindExpect, of: "flow." + u.name, text: fmt.Sprintf("the request needs ${flow.%s}, and the step that extracts it was left out", u.name)}
		}
		text, err := u.fit(v.values[u.slot].text)
		if err != nil {
			return &failure{kind: kindExpect, of: "flow." + u.name, text: fmt.Sprintf("${flow.%s} cannot be sent: %v", u.name, err)}
		}
		v.fitted = append(v.fitted, text)
	}
	return nil
}

// learn takes what a step extracts from its answer.
func (v *visit) learn(s *step, r *response) *failure {
	for i := range s.extract {
		x := &s.extract[i]
		text, ok := x.text(r)
		switch {
		case ok:
		case x.Default != nil:
			text = *x.Default
		case x.field < 0 && r.tooLarge:
			return s.kind.check.unmet("extract."+x.Name, fmt.Sprintf("the body is larger than the %d MiB that can be looked at", maxKeptBody>>20), r)
		default:
			return s.kind.check.unmet("extract."+x.Name, x.missing(), r)
		}
		v.values[x.slot] = flowValue{text, true}
	}
	return nil
}

func (x *extract) missing() string {
	switch {
	case x.field >= 0:
		return "nothing to extract: header " + x.Header + " is missing"
	case x.path != "":
		return "nothing to extract: " + x.JSON + " is missing"
	}
	return fmt.Sprintf("nothing to extract: the body does not match %q", x.Pattern)
}

// cookies is the header field with the cookies for a request, "" for none.
func (v *visit) cookies(h *Host, virtual, target string) string {
	if v == nil || v.jar == nil {
		return ""
	}
	var b bytes.Buffer
	for _, c := range v.jar.Cookies(cookieURL(h, virtual, target)) {
		if b.Len() > 0 {
			b.WriteString("; ")
		}
		b.WriteString(c.Name + "=" + c.Value)
	}
	if b.Len() == 0 {
		return ""
	}
	return "Cookie: " + b.String() + "\r\n"
}

// keep takes the cookies that an answer sets.
func (v *visit) keep(h *Host, virtual, target string, fields []string) {
	var all []*http.Cookie
	for _, f := range fields {
		if c, err := http.ParseSetCookie(f); err == nil { // RFC 6265, 5.2: what is none is left out
			all = append(all, c)
		}
	}
	if len(all) > 0 {
		v.jar.SetCookies(cookieURL(h, virtual, target), all)
	}
}

// cookieURL is the URL of a request as its user sees it.
func cookieURL(h *Host, virtual, target string) *url.URL {
	path := target
	if i := bytes.IndexByte([]byte(target), '?'); i >= 0 {
		path = target[:i]
	}
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	return &url.URL{Scheme: h.Scheme, Host: cmp.Or(virtual, h.Authority), Path: plain}
}

// pause draws a time for a user to do nothing.
func pause(p plans.Pause, seed uint64, number int64) int64 {
	least, most := int64(p.Least), int64(p.Most)
	if most <= least {
		return least
	}
	r := draws(scramble(seed ^ scramble(uint64(number)) ^ 0x7468696e6b)) // "think"
	return least + int64(r.unit()*float64(most-least))
}

// serveFlow makes the requests of the arrival's flow, reports each, and the flow as a whole.
func (w *worker) serveFlow(j job) (end int64) {
	e := w.e
	v := e.mix.visit(j.index)
	whole := sample{job: j, sent: e.now(), flow: true, outcome: completed}
	last := int64(0)
	for i := range v.flow.steps {
		st := &v.flow.steps[i]
		v.number = j.index*int64(len(v.flow.steps)) + int64(i)
		s := sample{job: j}
		if i > 0 {
			if !v.due(st) {
				if st.End {
					break
				}
				continue
			}
			think := pause(st.Think, e.cfg.Values, v.number)
			if think > 0 && !e.rest(last+think) {
				whole.outcome = unfinished
				break
			}
			whole.thought += think
			s.intended, s.waiting, s.capped = last+think, 0, false
		}
		s.kind, s.sent = st.kind.number, e.now()
		if i == 0 {
			whole.sent = s.sent
		}
		w.visit = v
		last = w.perform(&s, st.kind, st)
		w.visit = nil
		if s.outcome != completed {
			whole.outcome, whole.fail = s.outcome, s.fail
			break
		}
	}
	whole.end = max(last, whole.sent)
	e.mail.put(whole)
	return whole.end
}

// rest waits until t; false when the run ends first.
func (e *pool) rest(t int64) bool {
	if d := time.Duration(t-e.now()) - coarse; d > 0 {
		timer := time.NewTimer(d)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-e.dialer.ctx.Done():
			return false
		}
	}
	e.exact.sleepUntil(t, e.now)
	return !e.dialer.over()
}
