package load

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfplan/perfplan/plans"
)

// follow makes the requests that w.resp, a redirect, asks for, until an answer
// is none. 307 and 308 send the same request again; 301, 302 and 303 turn it
// into a GET without body (HEAD stays HEAD). A redirect is followed within the
// target only: to the same URL's authority on the same address, or to another
// of the target's URLs on its first address. Everything else ends as a failed
// request, so that load never reaches a third party.
func (w *worker) follow(s *sample, req []byte, bodyAt int, deadline time.Time) *failure {
	e := w.e
	hop := hop{method: w.kind.Method, host: w.host, target: w.kind.render.target(int(w.host), s.index, w.visit)}
	if w.kind.render.sized {
		hop.body = req[bodyAt:]
	}
	for n := 0; isRedirect(&w.resp); n++ {
		if n == w.kind.Redirects {
			return &failure{kind: kindRedirects, text: fmt.Sprintf("too many redirects: the answer after %d is another, to %s", n, clip(w.resp.location))}
		}
		if fail := hop.next(e.hosts, w.kind.render.host, &w.resp); fail != nil {
			return fail
		}
		s.redirects++
		fields := w.kind.render.fields(int(hop.host), s.index, w.visit)
		if !w.kind.render.ownCookie {
			fields += w.visit.cookies(&e.hosts[hop.host], w.kind.render.host, hop.target)
		}
		w.to = hop.target
		next := hop.render(fields)
		if fail := w.hop(s, &hop, next, deadline); fail != nil {
			return fail
		}
	}
	return nil
}

// hop makes one request of a redirect, on a connection of its own if it leads
// to another host.
func (w *worker) hop(s *sample, h *hop, req []byte, deadline time.Time) *failure {
	head, bodyAt := h.method == "HEAD", len(req)-len(h.body)
	if h.host == w.host {
		return w.exchange(s, req, bodyAt, head, deadline)
	}
	guest := &worker{e: w.e, host: h.host, read: w.read, kind: w.kind, visit: w.visit, to: w.to}
	defer guest.drop()
	fail := guest.exchange(s, req, bodyAt, head, deadline)
	w.resp, w.end = guest.resp, guest.end
	return fail
}

// A hop is a request on the way of a redirect.
type hop struct {
	method string
	host   int32
	target string // path and query
	body   []byte // nil: none
}

// next turns h into the request that r redirects to. virtual is the plan's own
// Host header, which a server takes for its name.
func (h *hop) next(hosts []Host, virtual string, r *response) *failure {
	location := strings.TrimSpace(string(r.location))
	bad := func(why string) *failure {
		return &failure{kind: kindRedirects, text: fmt.Sprintf("redirect to %q %s", clip([]byte(location)), why)}
	}
	to, err := url.Parse(location)
	if err != nil {
		return bad("is not a URL")
	}
	at := hosts[h.host]
	base, err := url.Parse(at.Scheme + "://" + at.Authority + h.target)
	if err != nil {
		return bad("does not follow from a request target that is no URL")
	}
	to = base.ResolveReference(to)
	if to.Scheme != "http" && to.Scheme != "https" {
		return bad("is neither http nor https")
	}
	own := virtual != "" && strings.EqualFold(to.Host, virtual) && to.Scheme == at.Scheme
	if !own && !at.is(to) {
		i := slices.IndexFunc(hosts, func(other Host) bool { return other.is(to) })
		if i < 0 {
			return bad("leads out of the target and is not followed")
		}
		h.host = int32(i)
	}
	h.target = to.RequestURI()
	if r.status < 307 && h.method != "GET" && h.method != "HEAD" {
		h.method = "GET"
	}
	if r.status < 307 {
		h.body = nil
	}
	return nil
}

// is tells whether u leads to h.
func (h *Host) is(u *url.URL) bool {
	port, err := strconv.Atoi(u.Port())
	if err != nil {
		port = map[string]int{"http": 80, "https": 443}[u.Scheme]
	}
	name := strings.ToLower(u.Hostname())
	return u.Scheme == h.Scheme && authority(plans.URL{Scheme: u.Scheme, Host: name, Port: port}) == strings.ToLower(h.Authority)
}

// render writes the request. Fields that describe a body go with it (RFC 9110, 15.4).
func (h *hop) render(fields string) []byte {
	encoded, _ := encodeTarget(h.target) // of a parsed URL: never an error
	var b strings.Builder
	b.WriteString(h.method + " " + encoded + " HTTP/1.1\r\n")
	for field := range strings.SplitAfterSeq(fields, "\r\n") {
		lower := strings.ToLower(field)
		if h.body == nil && (strings.HasPrefix(lower, "content-") || strings.HasPrefix(lower, "expect:")) {
			continue
		}
		b.WriteString(field)
	}
	if h.body != nil {
		b.WriteString("Content-Length: " + strconv.Itoa(len(h.body)) + "\r\n")
	}
	b.WriteString("\r\n")
	b.Write(h.body)
	return []byte(b.String())
}
