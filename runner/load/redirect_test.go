package load

import (
	"fmt"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// C-09: redirects are followed when the plan says so, and counted.
func TestRedirects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		path, method, body string // of the last request
	}{
		{"/r301", "GET", ""}, {"/r302", "GET", ""}, {"/r303", "GET", ""}, {"/r307", "POST", "abc"}, {"/r308", "POST", "abc"},
	} {
		t.Run(c.path, func(t *testing.T) {
			t.Parallel()
			var wrong atomic.Int64
			s := serve(t, func(x *call) {
				if strings.HasPrefix(x.line, "POST /r") {
					time.Sleep(50 * time.Millisecond)
					x.say("HTTP/1.1 " + c.path[2:] + " Moved\r\nLocation: /ok?x=1\r\nContent-Length: 4\r\n\r\nmove")
					return
				}
				described := x.header.Get("Content-Type") == "text/x"
				if x.line != c.method+" /ok?x=1 HTTP/1.1" || string(x.body) != c.body || described != (c.body != "") || x.header.Get("X-Key") != "v" {
					wrong.Add(1)
				}
				x.ok("here")
			})
			req := post("abc", s)
			req.Path = literal(c.path)
			req.Headers = headers("X-Key", "v", "Content-Type", "text/x")
			req.Expect = statusRange(300, 399)
			l := run(t, config(t, req, hold(50, ms(100))), s)
			wantCounts(t, l, 5, 0, 0, 0)
			if l.Status[c.path[2:]] != 5 || l.Wire.Redirects != 0 || s.arrivals.Load() != 5 {
				t.Errorf("redirects 0: status %v, hops %d, arrivals %d, want 5 of %s, 0, 5", l.Status, l.Wire.Redirects, s.arrivals.Load(), c.path[2:])
			}

			req.Redirects, req.Expect = 5, statusRange(200, 200)
			s.arrivals.Store(0)
			l = run(t, config(t, req, hold(50, ms(100))), s)
			wantCounts(t, l, 5, 0, 0, 0)
			if l.Status["200"] != 5 || l.Wire.Redirects != 5 || wrong.Load() != 0 {
				t.Errorf("redirects 5: status %v, hops %d, wrong requests %d, want 5 of 200, 5, 0; lines %v", l.Status, l.Wire.Redirects, wrong.Load(), s.requestLines())
			}
			if got := nsOf(l.Service.MinNS); got < 50*time.Millisecond {
				t.Errorf("service time %v leaves the hop out", got)
			}
		})
	}
}

// C-09: without following, a redirect is an answer like any other, on each path: one request on the wire, and what the plan
// expects decides. (Redirects are followed on the goroutine path alone; see TestEngineChoice.)
func TestRedirectNotFollowed(t *testing.T) { onEach(t, testRedirectNotFollowed) }

func testRedirectNotFollowed(t *testing.T) {
	for _, status := range []int{301, 302, 303, 307, 308} {
		answer := fmt.Sprintf("HTTP/1.1 %d Moved\r\nLocation: /ok\r\nContent-Length: 4\r\n\r\nmove", status)
		s := serve(t, func(x *call) { x.say(answer) })
		req := post("abc", s)
		req.Expect = statusRange(300, 399)
		l := run(t, config(t, req, hold(50, ms(100))), s)
		wantCounts(t, l, 5, 0, 0, 0)
		if l.Status[strconv.Itoa(status)] != 5 || l.Wire.Redirects != 0 || s.arrivals.Load() != 5 || l.Wire.BodyBytes != 20 {
			t.Errorf("%d expected: status %v, hops %d, arrivals %d, body bytes %d, want 5 of it, 0, 5, 20",
				status, l.Status, l.Wire.Redirects, s.arrivals.Load(), l.Wire.BodyBytes)
		}
		req.Expect = statusRange(200, 299)
		s.arrivals.Store(0)
		l = run(t, config(t, req, hold(50, ms(100))), s)
		wantCounts(t, l, 0, 5, 0, 0)
		wantError(t, l, kindStatus, 5)
		if want := "got status " + strconv.Itoa(status); len(l.Errors) != 1 || l.Errors[0].Example != want || s.arrivals.Load() != 5 {
			t.Errorf("%d not expected: %v, arrivals %d, want %q, 5", status, l.Errors, s.arrivals.Load(), want)
		}
	}
}

// C-09: a redirect that is not followed to its end is one failed request, however many hops it took.
func TestRedirectEnds(t *testing.T) {
	t.Parallel()
	other := serve(t, func(x *call) { x.ok("other") })
	for _, c := range []struct {
		location, want string
		hops           int64
	}{
		{"/", "too many redirects: the answer after 5 is another, to /", 5},
		{"http://" + other.Addr().String() + "/", "leads out of the target and is not followed", 0},
		{"//example.invalid/x", "leads out of the target and is not followed", 0},
		{"ftp://127.0.0.1/", "is neither http nor https", 0},
		{"http://[::1", "is not a URL", 0},
	} {
		s := serve(t, func(x *call) {
			x.say("HTTP/1.1 302 Found\r\nLocation: " + c.location + "\r\nContent-Length: 0\r\n\r\n")
		})
		req := get(s)
		req.Redirects = 5
		l := run(t, config(t, req, hold(20, ms(100))), s)
		wantCounts(t, l, 0, 2, 0, 0)
		wantError(t, l, kindRedirects, 2)
		if !strings.Contains(l.Errors[0].Example, c.want) || l.Wire.Redirects != 2*c.hops {
			t.Errorf("redirect to %s: %q after %d hops, want %q after %d", c.location, l.Errors[0].Example, l.Wire.Redirects, c.want, 2*c.hops)
		}
	}
	if n := other.arrivals.Load(); n != 0 {
		t.Errorf("%d requests reached a server outside the target", n)
	}
}

// A redirect to another URL of the target is followed, on a connection of its own.
func TestRedirectWithinTarget(t *testing.T) {
	t.Parallel()
	b := serve(t, func(x *call) { x.ok("b") })
	a := serve(t, func(x *call) {
		x.say("HTTP/1.1 307 Temporary Redirect\r\nLocation: http://" + b.Addr().String() + "/moved\r\nContent-Length: 0\r\n\r\n")
	})
	req := get(a, b)
	req.Redirects = 1
	l := run(t, config(t, req, hold(50, ms(200))), a, b)
	wantCounts(t, l, 10, 0, 0, 0)
	if l.Wire.Redirects != 5 || a.arrivals.Load() != 5 || b.arrivals.Load() != 10 {
		t.Errorf("hops %d, arrivals %d and %d, want 5, 5 and 10", l.Wire.Redirects, a.arrivals.Load(), b.arrivals.Load())
	}
}

func TestHopNext(t *testing.T) {
	hosts := []Host{{Scheme: "http", Authority: "a.example", Prefix: "/v1"}, {Scheme: "https", Authority: "b.example:8443"}}
	for _, c := range []struct {
		from, location string
		host           int32
		target         string
	}{
		{"/v1/x?q=1", "/y", 0, "/y"},
		{"/v1/x?q=1", "y?z=%2F", 0, "/v1/y?z=%2F"},
		{"/v1/x?q=1", "?z", 0, "/v1/x?z"},
		{"/v1/x", "../y#frag", 0, "/y"},
		{"/v1/x", "HTTP://A.example:80/y", 0, "/y"},
		{"/v1/x", "https://b.example:8443", 1, "/"},
		{"/v1/x", "http://shop.example/y", 0, "/y"},
		{"/v1/x", "/a%2Fb/c", 0, "/a%2Fb/c"},
	} {
		h := hop{method: "GET", target: c.from}
		fail := h.next(hosts, "shop.example", &response{status: 302, location: []byte(c.location)})
		if fail != nil || h.host != c.host || h.target != c.target {
			t.Errorf("%s from %s = host %d, %q, %v, want host %d, %q", c.location, c.from, h.host, h.target, fail, c.host, c.target)
		}
	}
}
