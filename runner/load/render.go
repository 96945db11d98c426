package load

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/perfplan/perfplan/plans"
)

// A renderer writes the bytes of requests. What is the same for all of them is
// written once, at the start. It never changes and is safe for concurrent use.
type renderer struct {
	start   []string   // per host: method and path prefix
	names   []string   // per host: Host field
	host    string     // the plan's own Host, "" for none
	path    []textPart // behind the prefix
	headers []textPart // with names and line ends
	body    []textPart
	sized   bool // Content-Length is sent
	fixed   []rendered
}

// rendered is one request; the body begins at bodyAt.
type rendered struct {
	bytes  []byte
	bodyAt int
}

// A textPart is a literal, or one column of a table, by row (rows is nil for a literal).
type textPart struct {
	literal string
	rows    []string
}

func (p textPart) at(i int64) string {
	if p.rows == nil {
		return p.literal
	}
	return p.rows[i%int64(len(p.rows))]
}

// newRenderer refuses what would not arrive as written: header names that are
// none, header fields that frame the message, line ends in a field.
func newRenderer(req *plans.Request, hosts []Host, keepAlive bool) (*renderer, error) {
	if req.Method == "" || strings.ContainsFunc(req.Method, func(c rune) bool { return c > 127 || !tokenByte[c] }) {
		return nil, fmt.Errorf("request %q: not a method: %q", req.Name, req.Method)
	}
	if _, err := oneLine(req.Host); err != nil {
		return nil, fmt.Errorf("request %q: host: %w", req.Name, err)
	}
	r := &renderer{host: req.Host}
	for _, h := range hosts {
		host := req.Host
		if host == "" {
			host = h.Authority
		}
		r.start = append(r.start, req.Method+" "+h.Prefix)
		r.names = append(r.names, "Host: "+host+"\r\n")
	}
	var err error
	if r.path, err = templateParts(req.Path, encodeTarget); err == nil {
		r.headers, err = headerParts(req, keepAlive)
	}
	if err == nil {
		r.body, err = templateParts(req.Body, nil)
	}
	if err != nil {
		return nil, fmt.Errorf("request %q: %w", req.Name, err)
	}
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

func isFixed(parts []textPart) bool {
	return !slices.ContainsFunc(parts, func(p textPart) bool { return p.rows != nil })
}

// headerParts writes the fields in the plan's order, then those it lacks.
func headerParts(req *plans.Request, keepAlive bool) ([]textPart, error) {
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
		value, err := templateParts(h.Value, oneLine)
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
		{!keepAlive, "Connection", "close"},
		{req.ExpectContinue, "Expect", "100-continue"},
	} {
		if h.want && !has[strings.ToLower(h.name)] {
			parts = append(parts, textPart{literal: h.name + ": " + h.value + "\r\n"})
		}
	}
	return joinLiterals(parts), nil
}

// templateParts binds a template to its tables. fit, if given, makes each text
// fit its place or refuses it.
func templateParts(t plans.Template, fit func(string) (string, error)) ([]textPart, error) {
	if fit == nil {
		fit = func(s string) (string, error) { return s, nil }
	}
	var parts []textPart
	for _, p := range t {
		if p.Data == nil {
			literal, err := fit(p.Literal)
			if err != nil {
				return nil, err
			}
			parts = append(parts, textPart{literal: literal})
			continue
		}
		if len(p.Data.Rows) == 0 {
			return nil, fmt.Errorf("data %q has no rows", p.Data.Name)
		}
		rows := make([]string, len(p.Data.Rows))
		for i, row := range p.Data.Rows {
			var err error
			if rows[i], err = fit(row[p.Column]); err != nil {
				return nil, fmt.Errorf("data %q, column %q, row %d: %w", p.Data.Name, p.Data.Columns[p.Column], i+1, err)
			}
		}
		parts = append(parts, textPart{rows: rows})
	}
	return joinLiterals(parts), nil
}

func joinLiterals(parts []textPart) []textPart {
	var joined []textPart
	for _, p := range parts {
		if n := len(joined); n > 0 && p.rows == nil && joined[n-1].rows == nil {
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

// render writes the request of arrival i to a host into buf, from its start,
// and returns it with the place where its body begins.
func (r *renderer) render(buf []byte, host int, i int64) (req []byte, bodyAt int) {
	if r.fixed != nil {
		return r.fixed[host].bytes, r.fixed[host].bodyAt
	}
	buf = append(buf[:0], r.start[host]...)
	before := len(buf)
	buf = appendParts(buf, r.path, i)
	if len(buf) == before && strings.HasSuffix(r.start[host], " ") {
		buf = append(buf, '/')
	}
	buf = append(buf, " HTTP/1.1\r\n"...)
	buf = append(buf, r.names[host]...)
	buf = appendParts(buf, r.headers, i)
	if r.sized {
		n := 0
		for _, p := range r.body {
			n += len(p.at(i))
		}
		buf = append(buf, "Content-Length: "...)
		buf = strconv.AppendInt(buf, int64(n), 10)
		buf = append(buf, "\r\n"...)
	}
	buf = append(buf, "\r\n"...)
	bodyAt = len(buf)
	return appendParts(buf, r.body, i), bodyAt
}

func appendParts(buf []byte, parts []textPart, i int64) []byte {
	for _, p := range parts {
		buf = append(buf, p.at(i)...)
	}
	return buf
}

// target returns the path and query of arrival i, with the host's prefix.
func (r *renderer) target(host int, i int64) string {
	_, prefix, _ := strings.Cut(r.start[host], " ")
	target := string(appendParts([]byte(prefix), r.path, i))
	if target == "" {
		return "/"
	}
	return target
}

// fields returns the header fields of arrival i without Content-Length.
func (r *renderer) fields(host int, i int64) string {
	return string(appendParts([]byte(r.names[host]), r.headers, i))
}
