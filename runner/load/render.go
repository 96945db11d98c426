package load

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfplan/perfplan/plans"
)

// A renderer writes the bytes of requests. What is the same for all of them is
// written once, at the start. It never changes and is safe for concurrent use.
type renderer struct {
	start     []string // per host: method and path prefix
	names     []string // per host: Host field
	host      string   // the plan's own Host, "" for none
	hosts     []Host
	path      []textPart // behind the prefix
	headers   []textPart // with names and line ends
	body      []textPart
	sized     bool // Content-Length is sent
	varying   bool // the length of the body is not known before it is written
	fixed     []rendered
	uses      []flowUse // of texts from a flow
	ownCookie bool      // the plan's own Cookie field stands for those of a flow
	streams   []*stream
}

// rendered is one request; the body begins at bodyAt.
type rendered struct {
	bytes  []byte
	bodyAt int
}

// A textPart is a literal, one column of a table by row, a generated value, or a text from a flow.
type textPart struct {
	literal   string
	rows      []string
	order     *order // of rows; nil: row i serves arrival i
	stream    *stream
	want      int // of the stream
	generator *generator
	use       int // number of a text from a flow, counted from 1; 0: none
}

func (p *textPart) isLiteral() bool {
	return p.rows == nil && p.stream == nil && p.generator == nil && p.use == 0
}

// at is the text of arrival i, for all but generated values and those from a flow.
func (p *textPart) at(i int64) string {
	switch {
	case p.order != nil:
		return p.rows[p.order.row(i)]
	case p.rows != nil:
		return p.rows[i%int64(len(p.rows))]
	case p.stream != nil:
		return p.stream.at(p.want, i)
	}
	return p.literal
}

// newRenderer refuses what would not arrive as written: header names that are
// none, header fields that frame the message, line ends in a field. seed decides
// the generated values. It is to be closed.
func newRenderer(req *plans.Request, hosts []Host, keepAlive bool, seed uint64) (*renderer, error) {
	if req.Method == "" || strings.ContainsFunc(req.Method, func(c rune) bool { return c > 127 || !tokenByte[c] }) {
		return nil, fmt.Errorf("request %q: not a method: %q", req.Name, req.Method)
	}
	if _, err := oneLine(req.Host); err != nil {
		return nil, fmt.Errorf("request %q: host: %w", req.Name, err)
	}
	r := &renderer{host: req.Host, hosts: hosts}
	for _, h := range hosts {
		host := req.Host
		if host == "" {
			host = h.Authority
		}
		r.start = append(r.start, req.Method+" "+h.Prefix)
		r.names = append(r.names, "Host: "+host+"\r\n")
	}
	b := &binder{seed: seed, orders: map[*plans.Data]*order{}, streams: map[*plans.Data]*stream{}}
	var err error
	if r.path, err = b.parts(req.Path, encodeTarget); err == nil {
		r.headers, err = b.headers(req, keepAlive)
	}
	if err == nil {
		r.body, err = b.parts(req.Body, nil)
	}
	for _, s := range b.streams {
		if err != nil {
			s.reader.Close()
		} else if err = s.begin(); err == nil {
			r.streams = append(r.streams, s)
		}
	}
	if err != nil {
		r.close()
		return nil, fmt.Errorf("request %q: %w", req.Name, err)
	}
	r.uses = b.uses
	r.ownCookie = slices.ContainsFunc(req.Headers, func(h plans.Header) bool { return strings.EqualFold(h.Name, "cookie") })
	r.varying = slices.ContainsFunc(r.body, func(p textPart) bool { return p.generator != nil || p.use > 0 })
	// RFC 9110, 8.6: a method that usually has content says so when it has none.
	r.sized = req.HasBody || len(req.Body) > 0 || slices.Contains([]string{"POST", "PUT", "PATCH"}, req.Method)
	if isFixed(r.path) && isFixed(r.headers) && isFixed(r.body) {
		fixed := make([]rendered, len(hosts))
		for i := range hosts {
			fixed[i].bytes, fixed[i].bodyAt = r.render(nil, i, 0)
		}
		r.fixed = fixed
	}
	return r, nil
}

// close ends the reading of tables, and returns what went wrong with it.
func (r *renderer) close() (err error) {
	for _, s := range r.streams {
		s.close()
		err = cmp.Or(err, s.err())
	}
	return err
}

// failed tells whether a table can no longer be read.
func (r *renderer) failed() bool {
	return slices.ContainsFunc(r.streams, func(s *stream) bool { return s.err() != nil })
}

func isFixed(parts []textPart) bool {
	return !slices.ContainsFunc(parts, func(p textPart) bool { return !p.isLiteral() })
}

// A binder binds the templates of a request to its tables.
type binder struct {
	seed    uint64
	orders  map[*plans.Data]*order
	streams map[*plans.Data]*stream
	uses    []flowUse
}

// headers writes the fields in the plan's order, then those it lacks.
func (b *binder) headers(req *plans.Request, keepAlive bool) ([]textPart, error) {
	var parts []textPart
	has := map[string]bool{}
	for _, h := range req.Headers {
		name := strings.ToLower(h.Name)
		if name == "" || strings.ContainsFunc(name, func(c rune) bool { return c > 127 || !tokenByte[c] }) {
			return nil, fmt.Errorf("not a header name: %q", h.Name)
		}
		if name == "host" || name == "content-length" || name == "transfer-encoding" {
			return nil, fmt.Errorf("header %q is set by perfplan and cannot be set by headers", h.Name)
		}
		value, err := b.parts(h.Value, oneLine)
		if err != nil {
			return nil, fmt.Errorf("header %q: %w", h.Name, err)
		}
		has[name] = true
		parts = append(parts, textPart{literal: h.Name + ": "})
		parts = append(parts, value...)
		parts = append(parts, textPart{literal: "\r\n"})
	}
	for _, h := range []struct {
		want        bool
		name, value string
	}{
		{true, "User-Agent", "perfplan"},
		{req.Gzip, "Accept-Encoding", "gzip"},
		{!keepAlive, "Connection", "close"},
		{req.ExpectContinue, "Expect", "100-continue"},
	} {
		if h.want && !has[strings.ToLower(h.name)] {
			parts = append(parts, textPart{literal: h.name + ": " + h.value + "\r\n"})
		}
	}
	return joinLiterals(parts), nil
}

// parts binds a template. fit, if given, makes each text fit its place or refuses it.
func (b *binder) parts(t plans.Template, fit func(string) (string, error)) ([]textPart, error) {
	if fit == nil {
		fit = func(s string) (string, error) { return s, nil }
	}
	var parts []textPart
	for _, p := range t {
		var part textPart
		var err error
		switch {
		case p.Generator != nil:
			part.generator, err = newGenerator(p, b.seed, fit)
		case p.Data != nil:
			part, err = b.column(p, fit)
		case p.Flow != "":
			b.uses = append(b.uses, flowUse{name: p.Flow, fit: func(s string) (string, error) { return fit(p.Text(s)) }})
			part.use = len(b.uses)
		default:
			part.literal, err = fit(p.Literal)
		}
		if err != nil {
			return nil, err
		}
		parts = append(parts, part)
	}
	return joinLiterals(parts), nil
}

// column binds the column of a table.
func (b *binder) column(p plans.Part, fit func(string) (string, error)) (part textPart, err error) {
	d := p.Data
	if d.Len() == 0 {
		return part, fmt.Errorf("data %q has no rows", d.Name)
	}
	if d.Streamed != nil {
		if part.stream = b.streams[d]; part.stream == nil {
			if part.stream, err = openStream(d); err != nil {
				return part, err
			}
			b.streams[d] = part.stream
		}
		part.want = len(part.stream.wants)
		part.stream.wants = append(part.stream.wants, wanted{p.Column, func(s string) (string, error) { return fit(p.Text(s)) }})
		return part, nil
	}
	part.rows = make([]string, len(d.Rows))
	for i, row := range d.Rows {
		if part.rows[i], err = fit(p.Text(row[p.Column])); err != nil {
			return part, fmt.Errorf("data %q, column %q, row %d: %w", d.Name, d.Columns[p.Column], i+1, err)
		}
	}
	if d.Order == plans.Shuffled || d.Order == plans.Weighed {
		if b.orders[d] == nil {
			b.orders[d] = newOrder(d)
		}
		part.order = b.orders[d]
	}
	return part, nil
}

func joinLiterals(parts []textPart) []textPart {
	var joined []textPart
	for _, p := range parts {
		if n := len(joined); n > 0 && p.isLiteral() && joined[n-1].isLiteral() {
			joined[n-1].literal += p.literal
			continue
		}
		joined = append(joined, p)
	}
	return joined
}

func oneLine(s string) (string, error) {
	if strings.ContainsAny(s, "\r\n\x00") {
		return "", fmt.Errorf("got %q, want no line end and no zero byte in a header value", s)
	}
	return s, nil
}

// encodeTarget leaves what may stand in a request target as it is and
// percent-encodes the rest: controls, blanks, bytes beyond ASCII, # and "<>\^`{|}.
func encodeTarget(s string) (string, error) {
	const hex = "0123456789ABCDEF"
	bad := func(c byte) bool { return c <= ' ' || c >= 0x7f || strings.IndexByte("#\"<>\\^`{|}", c) >= 0 }
	var b strings.Builder
	done := 0
	for i := range len(s) {
		if bad(s[i]) {
			b.WriteString(s[done:i])
			b.Write([]byte{'%', hex[s[i]>>4], hex[s[i]&15]})
			done = i + 1
		}
	}
	if done == 0 {
		return s, nil
	}
	b.WriteString(s[done:])
	return b.String(), nil
}

// into is renderFor with a buffer that is kept for the next request, of this kind
// or another. What is returned may be shared by all arrivals: it is not to be changed.
func (r *renderer) into(buf *[]byte, host int, i int64, v *visit) (req []byte, bodyAt int) {
	if req, bodyAt = r.renderFor(*buf, host, i, v); r.fixed == nil || &req[0] != &r.fixed[host].bytes[0] {
		*buf = req
	}
	return req, bodyAt
}

// render writes the request of arrival i to a host into buf, from its start,
// and returns it with the place where its body begins.
func (r *renderer) render(buf []byte, host int, i int64) (req []byte, bodyAt int) {
	return r.renderFor(buf, host, i, nil)
}

// renderFor is render for a step of a flow, whose texts were prepared for it; v is nil without one.
func (r *renderer) renderFor(buf []byte, host int, i int64, v *visit) (req []byte, bodyAt int) {
	if r.fixed != nil && (v == nil || v.jar == nil) {
		return r.fixed[host].bytes, r.fixed[host].bodyAt
	}
	buf = append(buf[:0], r.start[host]...)
	before := len(buf)
	buf = appendParts(buf, r.path, i, v)
	if len(buf) == before && strings.HasSuffix(r.start[host], " ") {
		buf = append(buf, '/')
	}
	buf = append(buf, " HTTP/1.1\r\n"...)
	buf = append(buf, r.names[host]...)
	buf = appendParts(buf, r.headers, i, v)
	if v != nil && !r.ownCookie {
		buf = append(buf, v.cookies(&r.hosts[host], r.host, r.target(host, i, v))...)
	}
	if r.sized && r.varying {
		return r.measured(buf, i, v)
	}
	if r.sized {
		n := 0
		for k := range r.body {
			n += len(r.body[k].at(i))
		}
		buf = append(buf, "Content-Length: "...)
		buf = strconv.AppendInt(buf, int64(n), 10)
		buf = append(buf, "\r\n"...)
	}
	buf = append(buf, "\r\n"...)
	bodyAt = len(buf)
	return appendParts(buf, r.body, i, v), bodyAt
}

// measured goes on with the length of a body that is only known once the body is
// written: it is written behind room for the longest, and moved up.
func (r *renderer) measured(buf []byte, i int64, v *visit) (req []byte, bodyAt int) {
	const room = "0000000000000000000\r\n\r\n"
	buf = append(buf, "Content-Length: "...)
	at := len(buf)
	buf = append(buf, room...)
	from := len(buf)
	buf = appendParts(buf, r.body, i, v)
	bodyAt = len(append(strconv.AppendInt(buf[:at], int64(len(buf)-from), 10), "\r\n\r\n"...))
	return buf[:bodyAt+copy(buf[bodyAt:], buf[from:])], bodyAt
}

func appendParts(buf []byte, parts []textPart, i int64, v *visit) []byte {
	made := i
	if v != nil {
		made = v.number
	}
	for k := range parts {
		switch p := &parts[k]; {
		case p.generator != nil:
			buf = p.generator.append(buf, made)
		case p.use > 0:
			buf = append(buf, v.fitted[p.use-1]...)
		default:
			buf = append(buf, p.at(i)...)
		}
	}
	return buf
}

// target returns the path and query of arrival i, with the host's prefix.
func (r *renderer) target(host int, i int64, v *visit) string {
	_, prefix, _ := strings.Cut(r.start[host], " ")
	target := string(appendParts([]byte(prefix), r.path, i, v))
	if target == "" {
		return "/"
	}
	return target
}

// fields returns the header fields of arrival i without Content-Length.
func (r *renderer) fields(host int, i int64, v *visit) string {
	return string(appendParts([]byte(r.names[host]), r.headers, i, v))
}
