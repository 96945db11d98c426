package plans

import (
	"cmp"
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

func (l *loader) request(it *item, targets []*Target) *Request {
	r := &Request{Name: it.name, Pos: it.keyPos, Redirects: int(it.get("redirects").integer()), Gzip: it.get("compression").value() == "gzip"}
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
	l.auth(r, it.get("auth"), f)
	for _, h := range it.get("headers").children() {
		switch own := strings.EqualFold(h.name, "accept-encoding"); {
		case own && r.Gzip:
			l.fault(Problem{Pos: h.keyPos, Path: h.path, What: "two ways to ask for packed answers", Got: "compression and " + h.name, Want: "one of them"})
		case own && looksAtBody(r.Method, it.get("expect")) && !strings.EqualFold(h.value(), "identity"):
			l.warn(Problem{Pos: h.keyPos, Path: h.path, What: "answers may come packed, and are not unpacked for expectations", Hint: "write compression: gzip"})
		}
	}
	l.bodyType(r, it)
	l.expect(r, it.get("expect"))
	r.flowTexts = f.flow
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

// looksAtBody reports whether an expectation is about what a body says.
func looksAtBody(method string, expect *item) bool {
	return method != "HEAD" && slices.ContainsFunc([]string{"contains", "matches", "json", "schema"}, func(name string) bool { return expect.get(name) != nil })
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
	var given []string
	for _, name := range bodyKeys {
		if it.has(name) {
			given = append(given, name)
		}
	}
	if len(given) > 1 {
		l.fault(it.fault("more than one body", strings.Join(given, " and "), "one of them", ""))
	}
	switch {
	case body != nil:
		r.Body, r.HasBody = f.text(body, inBody), true
	case it.get("json") != nil:
		r.HasBody, r.Body = true, Template{{Literal: it.get("json").json}}
	case it.get("form") != nil:
		r.HasBody, r.Body = true, f.form(it.get("form"))
	case it.get("body_template") != nil:
		r.HasBody, r.Body = true, l.bodyTemplate(it.get("body_template"), f)
	case file != nil:
		if b, ok := l.readFile(file); ok {
			l.digest(file, b)
			r.HasBody = true
			if len(b) > 0 {
				r.Body = Template{{Literal: string(b)}}
			}
		}
	}
	if len(given) > 0 {
		b := firstOf(it.get(given[0]), it)
		switch m := r.Method; m {
		case "GET", "HEAD":
			l.warn(b.fault("a body with the method "+m, "", "", "servers may ignore it; write method: POST to send it as usual"))
		case "TRACE":
			l.fault(b.fault("a body with the method TRACE", "", "no body", ""))
		}
	}
}

// bodyKeys are the ways to say what the body is.
var bodyKeys = []string{"body", "body_file", "body_template", "json", "form"}

// form is the template of a form's fields (application/x-www-form-urlencoded).
func (f *filler) form(it *item) Template {
	f.out = Template{}
	separator := ""
	for _, e := range it.children() {
		for _, v := range e.all() {
			f.literal(separator + encodeValue(e.name) + "=")
			separator = "&"
			for _, p := range v.text {
				if p.filled() {
					f.value(v, p, inTarget)
					continue
				}
				f.literal(encodeValue(p.text))
			}
		}
	}
	return f.out
}

// bodyTemplate reads a file in which ${…} is looked up.
func (l *loader) bodyTemplate(it *item, f *filler) Template {
	b, ok := l.readFile(it)
	switch {
	case !ok:
		return nil
	case len(b) > maxText:
		l.fault(it.fault("file is too large", fmt.Sprintf("%d bytes", len(b)), "at most 8 MiB", "write body_file, whose bytes are sent as they are"))
		return nil
	case !utf8.Valid(b):
		l.fault(it.fault("not UTF-8 text", quote(l.path(it)), "", "write body_file, whose bytes are sent as they are"))
		return nil
	}
	l.digest(it, b)
	s := newSource(shown(it.text, false), l.of(it.node).dir, b)
	l.sources = append(l.sources, s)
	n := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.LiteralStyle, Value: string(b), Line: 0, Column: 1}
	l.foreign[n] = s
	text := &item{pos: s.at(1, 1), path: it.path, shape: templateShape, node: n, given: true}
	l.inFile = true
	text.text, ok = l.expand(string(b), 0, n, it.path, templateScalar)
	l.inFile = false
	if !ok {
		return nil
	}
	return f.text(text, inBody)
}

// bodyType sets the content type that follows from the way the body is written.
func (l *loader) bodyType(r *Request, it *item) {
	kind := ""
	switch {
	case it.get("json") != nil:
		kind = "application/json"
	case it.get("form") != nil:
		kind = "application/x-www-form-urlencoded"
	}
	if kind != "" && !slices.ContainsFunc(r.Headers, func(h Header) bool { return strings.EqualFold(h.Name, "content-type") }) {
		r.Headers = append(r.Headers, Header{Name: "Content-Type", Value: Template{{Literal: kind}}})
	}
}

// auth sets the header authorization.
func (l *loader) auth(r *Request, it *item, f *filler) {
	if it == nil {
		return
	}
	if slices.ContainsFunc(r.Headers, func(h Header) bool { return strings.EqualFold(h.Name, "authorization") }) {
		l.fault(it.fault("two authorizations", "auth and the header authorization", "one of them", ""))
		return
	}
	var value Template
	if b := it.get("basic"); b != nil {
		user, password := b.get("user"), b.get("password")
		if user == nil || password == nil {
			return
		}
		if strings.Contains(user.value(), ":") {
			l.fault(user.fault("user with a colon", user.quoted(), "a user without one", "what stands behind it would be taken for the password"))
			return
		}
		value = Template{{Literal: "Basic " + base64.StdEncoding.EncodeToString([]byte(user.value()+":"+password.value()))}}
	} else if b := it.get("bearer"); b != nil {
		if !headerText(plain(b.text)) {
			l.fault(b.fault("control character in a header value", "", "text on one line", ""))
			return
		}
		value = append(Template{{Literal: "Bearer "}}, f.text(b, inHeader)...)
	}
	r.Headers = append(r.Headers, Header{Name: "Authorization", Value: value})
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
	if slices.ContainsFunc(it.text, func(p piece) bool { return p.filled() }) {
		l.fault(it.fault("data in the host header", it.quoted(), "one host for all requests", ""))
		return ""
	}
	if _, _, fault := splitAuthority("http", text); fault != nil {
		l.fault(it.fault(fault.what, it.quoted(), "a host like shop.example or shop.example:8080", ""))
	}
	return text
}

func (l *loader) expect(r *Request, it *item) {
	r.Expect.Status = l.statuses(it.get("status"))
	r.Expect.Contains = it.get("contains").value()
	r.Expect.Matches = l.pattern(it.get("matches"))
	l.expectHeaders(r, it.get("headers"))
	if s := it.get("size"); s != nil {
		r.Expect.Size = &SizeExpect{s.get("min").integer(), s.get("max").integer()}
		if max := s.get("max"); max != nil && max.number < s.get("min").integer() {
			l.fault(max.fault("bounds that nothing meets", max.quoted(), "at least "+s.get("min").value(), ""))
		}
		if len(s.written) == 0 {
			l.fault(s.fault("empty condition", "", "min or max", ""))
		}
		if max := s.get("max"); max != nil && max.number == 0 {
			l.fault(max.fault("out of range", max.quoted(), "1 or more", ""))
		}
	}
	if s := it.get("schema"); s != nil {
		r.Expect.Schema = l.jsonSchema(s)
	}
	for _, name := range []string{"contains", "matches", "size", "json", "schema"} {
		if c := it.get(name); c != nil && r.Method == "HEAD" {
			l.fault(c.fault("answers to HEAD have no body", "", "no "+name, ""))
		}
	}
	for _, j := range it.get("json").children() {
		r.Expect.JSON = append(r.Expect.JSON, l.jsonExpect(j))
	}
}

// statuses reads a status or a list of them.
func (l *loader) statuses(it *item) (all []StatusRange) {
	seen := map[StatusRange]bool{}
	for _, s := range it.all() {
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
		all = append(all, st)
	}
	return all
}

// pattern compiles a regular expression.
func (l *loader) pattern(it *item) *regexp.Regexp {
	if it == nil {
		return nil
	}
	re, err := regexp.Compile(it.value())
	if err != nil {
		l.fault(it.fault("not a regular expression", strings.TrimPrefix(err.Error(), "error parsing regexp: "), "one as in RE2", ""))
	}
	return re
}

func (l *loader) expectHeaders(r *Request, it *item) {
	seen := map[string]bool{}
	for _, h := range it.children() {
		e := HeaderExpect{Name: strings.ToLower(h.name)}
		switch {
		case !token.MatchString(h.name):
			l.fault(Problem{Pos: h.keyPos, Path: h.path, What: "not a header name", Got: quote(h.name), Want: "letters, digits and -"})
			continue
		case seen[e.Name]:
			l.fault(Problem{Pos: h.keyPos, Path: h.path, What: "duplicate header", Got: quote(h.name), Hint: "header names do not differ by case"})
			continue
		}
		seen[e.Name] = true
		if h.form != mapForm {
			text := h.value()
			e.Equals = &text
		} else {
			if v := h.get("exists"); v != nil {
				e.Exists = &v.yes
			}
			if v := h.get("equals"); v != nil {
				text := v.value()
				e.Equals = &text
			}
			e.Matches = l.pattern(h.get("matches"))
			if len(h.written) == 0 {
				l.fault(h.fault("empty condition", "", "exists, equals or matches", ""))
			}
			if e.Exists != nil && !*e.Exists && len(h.written) > 1 {
				l.fault(h.fault("conditions on a field that must not exist", "", "exists: false alone", ""))
			}
		}
		r.Expect.Headers = append(r.Expect.Headers, e)
	}
}

// number reads a JSON number.
func (l *loader) number(it *item) *float64 {
	if it == nil {
		return nil
	}
	v, err := strconv.ParseFloat(it.value(), 64)
	if !jsonNumber.MatchString(it.value()) || err != nil {
		l.fault(it.fault("not a number", it.quoted(), "a number like 0.5", ""))
		return nil
	}
	return &v
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
	e.Min, e.Max, e.Matches = l.number(j.get("min")), l.number(j.get("max")), l.pattern(j.get("matches"))
	if e.Min != nil && e.Max != nil && *e.Min > *e.Max {
		l.fault(j.get("max").fault("bounds that nothing meets", j.get("max").quoted(), "at least "+j.get("min").value(), ""))
	}
	if e.Exists != nil && !*e.Exists && len(j.written) > 1 {
		l.fault(j.fault("conditions on a place that must not exist", "", "exists: false alone", ""))
	}
	if len(j.written) == 0 {
		l.fault(j.fault("empty condition", "", "exists, equals, length, min, max or matches", ""))
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
