package plans

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func (l *loader) request(it *item, targets []*Target) *Request {
	r := &Request{Name: it.name, Pos: it.keyPos, Redirects: int(it.get("redirects").integer())}
	if t := it.get("target"); t != nil {
		r.Target = l.targetNamed(t, targets)
	} else if !it.has("target") && l.targets != nil {
		l.fault(it.fault("missing key "+quote("target"), "", cmp.Or(orNothing(l.targets), "the name of one under targets"), ""))
	}
	r.Method = l.method(it.get("method"))
	f := &filler{l: l, request: it, data: map[string]*Data{}, used: map[string]bool{}}
	for _, d := range it.get("data").children() {
		f.data[d.name] = l.data(d)
	}
	if d := it.get("data"); d != nil {
		f.names = d.written
		for _, name := range d.written {
			if _, ok := f.data[name]; !ok {
				f.data[name] = nil
			}
		}
	}
	if path := it.get("path"); path != nil {
		r.Path = f.target(path, it.get("query"))
	}
	l.body(r, it, f)
	l.headers(r, it.get("headers"), f)
	l.expect(r, it.get("expect"))
	for _, d := range it.get("data").children() {
		switch {
		case !f.used[d.name]:
			l.spare = append(l.spare, d)
		case f.data[d.name] != nil:
			r.Data = append(r.Data, f.data[d.name])
		}
	}
	return r
}

func (l *loader) targetNamed(it *item, targets []*Target) *Target {
	for _, t := range targets {
		if t.Name == it.value() {
			return t
		}
	}
	if l.targets != nil && !slices.Contains(l.targets, it.value()) {
		l.fault(it.fault("unknown target", it.quoted(), orNothing(l.targets), didYouMean(it.value(), l.targets)))
	}
	return nil
}

// orNothing lists names for a message's want, when there are few enough to read.
func orNothing(names []string) string {
	if len(names) > 5 {
		return ""
	}
	return orList(names)
}

// token is a method or header name (RFC 9110 section 5.6.2).
var token = regexp.MustCompile("^[!#$%&'*+.^_`|~0-9A-Za-z-]+$")

func (l *loader) method(it *item) string {
	m := it.value()
	switch {
	case it == nil:
	case !token.MatchString(m):
		l.fault(it.fault("not an HTTP method", it.quoted(), "a word like GET or POST", ""))
	case m == "CONNECT":
		l.fault(it.fault("the method CONNECT is not supported", "", "a word like GET or POST", ""))
	case slices.Contains([]string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"}, strings.ToUpper(m)) && m != strings.ToUpper(m):
		l.fault(it.fault("HTTP methods are written in capitals", it.quoted(), strings.ToUpper(m), ""))
	}
	return m
}

func (l *loader) body(r *Request, it *item, f *filler) {
	body, file := it.get("body"), it.get("body_file")
	if it.has("body") && it.has("body_file") {
		l.fault(it.fault("two bodies", "body and body_file", "one of them", ""))
	}
	switch {
	case body != nil:
		r.Body, r.HasBody = f.text(body, inBody), true
	case file != nil:
		if b, ok := l.readFile(file); ok {
			l.digest(file, b)
			r.HasBody = true
			if len(b) > 0 {
				r.Body = Template{{Literal: string(b)}}
			}
		}
	}
	if it.has("body") || it.has("body_file") {
		b := firstOf(body, file, it)
		switch m := r.Method; m {
		case "GET", "HEAD":
			l.warn(b.fault("a body with the method "+m, "", "", "servers may ignore it; write method: POST to send it as usual"))
		case "TRACE":
			l.fault(b.fault("a body with the method TRACE", "", "no body", ""))
		}
	}
}

// firstOf is the first item that is not nil.
func firstOf(items ...*item) *item {
	for _, it := range items {
		if it != nil {
			return it
		}
	}
	return nil
}

// ownHeaders are those that a plan may not set, and why.
var ownHeaders = map[string]string{
	"content-length":    "it follows from the body",
	"transfer-encoding": "bodies are sent with their length",
	"connection":        "use keep_alive of the load stage",
}

func (l *loader) headers(r *Request, it *item, f *filler) {
	seen := map[string]*item{}
	for _, h := range it.children() {
		name := strings.ToLower(h.name)
		fault := func(what, got, want, hint string) {
			l.fault(Problem{Pos: h.keyPos, Path: h.path, What: what, Got: got, Want: want, Hint: hint})
		}
		if first := seen[name]; first != nil {
			fault(fmt.Sprintf("duplicate header, first at %d:%d", first.keyPos.Line, first.keyPos.Col), "", "", "header names do not differ by case")
			continue
		}
		seen[name] = h
		switch why, own := ownHeaders[name]; {
		case !token.MatchString(h.name):
			fault("not a header name", quote(h.name), "letters, digits and -", "")
			continue
		case own:
			fault("this header is perfplan's own", "", "", why)
			continue
		case !headerText(plain(h.text)):
			l.fault(h.fault("control character in a header value", "", "text on one line", ""))
			continue
		}
		value := f.text(h, inHeader)
		switch name {
		case "host":
			r.Host = l.host(h)
		case "expect":
			if !strings.EqualFold(plain(h.text), "100-continue") {
				l.fault(h.fault("unknown expectation", h.quoted(), "100-continue", ""))
			} else if !r.HasBody {
				l.fault(h.fault("100-continue without a body", "", "body or body_file", ""))
			}
			r.ExpectContinue = true
		default:
			r.Headers = append(r.Headers, Header{Name: h.name, Value: value})
		}
	}
}

// host checks a Host header: HOST or HOST:PORT (RFC 9110 section 7.2).
func (l *loader) host(it *item) string {
	text := it.value()
	if slices.ContainsFunc(it.text, func(p piece) bool { return p.data != "" }) {
		l.fault(it.fault("data in the host header", it.quoted(), "one host for all requests", ""))
		return ""
	}
	if _, _, fault := splitAuthority("http", text); fault != nil {
		l.fault(it.fault(fault.what, it.quoted(), "a host like shop.example or shop.example:8080", ""))
	}
	return text
}

func (l *loader) expect(r *Request, it *item) {
	seen := map[StatusRange]bool{}
	for _, s := range it.get("status").all() {
		st, ok := statusRange(s.value())
		switch {
		case !ok:
			l.fault(s.fault("not a status", s.quoted(), "a status like 200 or 2xx", ""))
			continue
		case st.From < 200:
			l.fault(s.fault("an interim status is never an answer", s.quoted(), "a status from 200 to 599", ""))
			continue
		case seen[st]:
			l.fault(s.fault("status is listed twice", s.quoted(), "", ""))
			continue
		}
		seen[st] = true
		r.Expect.Status = append(r.Expect.Status, st)
	}
	r.Expect.Contains = it.get("contains").value()
	for _, name := range []string{"contains", "json"} {
		if c := it.get(name); c != nil && r.Method == "HEAD" {
			l.fault(c.fault("answers to HEAD have no body", "", "no "+name, ""))
		}
	}
	for _, j := range it.get("json").children() {
		r.Expect.JSON = append(r.Expect.JSON, l.jsonExpect(j))
	}
}

func (l *loader) jsonExpect(j *item) JSONExpect {
	e := JSONExpect{Path: j.name}
	if !jsonPath.MatchString(j.name) {
		hint := ""
		if fixed := "$." + strings.TrimPrefix(j.name, "."); jsonPath.MatchString(fixed) {
			hint = "write " + fixed
		}
		l.fault(Problem{Pos: j.keyPos, Path: j.path, What: "not a place in a JSON body", Got: quote(j.name), Want: "$.items or $.items[0].title", Hint: hint})
	}
	if v := j.get("exists"); v != nil {
		e.Exists = &v.yes
	}
	if v := j.get("equals"); v != nil {
		e.Equals = &v.json
	}
	if v := j.get("length"); v != nil {
		n := int(v.number)
		e.Length = &n
	}
	if e.Exists != nil && !*e.Exists && (e.Equals != nil || e.Length != nil) {
		l.fault(j.fault("conditions on a place that must not exist", "", "exists: false alone", ""))
	}
	if len(j.written) == 0 {
		l.fault(j.fault("empty condition", "", "exists, equals or length", ""))
	}
	return e
}

var (
	jsonPath    = regexp.MustCompile(`^\$(\.[^.*\[\]'"\s]+|\[[0-9]{1,9}\]|\['[^']*'\])*$`)
	statusClass = regexp.MustCompile(`^[1-5][xX][xX]$`)
	statusCode  = regexp.MustCompile(`^[1-5][0-9][0-9]$`)
)

// statusRange reads a status like 200 or a class like 2xx.
func statusRange(text string) (StatusRange, bool) {
	switch {
	case statusClass.MatchString(text):
		from := int(text[0]-'0') * 100
		return StatusRange{from, from + 99}, true
	case statusCode.MatchString(text):
		n, err := strconv.Atoi(text)
		return StatusRange{n, n}, err == nil
	}
	return StatusRange{}, false
}
