package load

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
)

func statusRange(from, to int) plans.Expect {
	return plans.Expect{Status: []plans.StatusRange{{From: from, To: to}}}
}

// C-07: answers without a body end at the empty line, and the connection goes on.
func TestNoBody(t *testing.T) { onEach(t, testNoBody) }

func testNoBody(t *testing.T) {
	for _, c := range []struct{ name, method, answer string }{
		{"a", "HEAD", "HTTP/1.1 200 OK\r\nContent-Length: 1234\r\n\r\n"},
		{"b", "GET", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n"},
		{"c", "GET", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n"},
		{"d", "GET", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) { x.say(c.answer) })
			req := get(s)
			req.Method, req.Expect = c.method, statusRange(200, 399)
			cfg := config(t, req, hold(40, time.Second))
			cfg.MaxInFlight = 5
			l := run(t, cfg, s)
			wantCounts(t, l, 40, 0, 0, 0)
			if l.Wire.BodyBytes != 0 || l.Wire.Opened > 5 || l.Wire.Opened+l.Wire.Reused != 40 {
				t.Errorf("body bytes %d, opened %d, reused %d, want 0, at most 5, the rest of 40", l.Wire.BodyBytes, l.Wire.Opened, l.Wire.Reused)
			}
		})
	}
}

// C-08: the plan's Host is the only one that is sent.
func TestHostOverride(t *testing.T) { onEach(t, testHostOverride) }

func testHostOverride(t *testing.T) {
	s := serve(t, func(x *call) {
		if x.host == "shop.example" {
			x.ok("")
			return
		}
		x.say("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
	})
	req := get(s)
	req.Host = "shop.example"
	wantCounts(t, run(t, config(t, req, hold(50, ms(200))), s), 10, 0, 0, 0)

	plain := run(t, config(t, get(s), hold(50, ms(200))))
	wantCounts(t, plain, 0, 10, 0, 0)
	wantError(t, plain, kindStatus, 10)
	if plain.Status["502"] != 10 {
		t.Errorf("status = %v, want 10 of 502", plain.Status)
	}
}

// C-10: as many connections as requests at once, or one each without keep-alive.
func TestConnectionReuse(t *testing.T) { onEach(t, testConnectionReuse) }

func testConnectionReuse(t *testing.T) {
	for name, body := range map[string]string{"2 bytes": "ok", "300 kB": strings.Repeat("x", 300_000)} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) {
				time.Sleep(5 * time.Millisecond)
				x.ok(body)
			})
			cfg := config(t, get(s), hold(10_000, ms(40)))
			cfg.MaxInFlight = 20
			l := run(t, cfg, s)
			wantCounts(t, l, 400, 0, 0, 0)
			if n := s.conns.Load(); n > 20 || n != l.Wire.Opened || l.Wire.Opened+l.Wire.Reused != 400 {
				t.Errorf("server saw %d connections, opened %d, reused %d, want at most 20 and 400 in all", n, l.Wire.Opened, l.Wire.Reused)
			}
			if l.Wire.BodyBytes != int64(400*len(body)) || l.Audit.MaxInFlight != 20 {
				t.Errorf("body bytes %d, in flight at most %d, want %d, 20", l.Wire.BodyBytes, l.Audit.MaxInFlight, 400*len(body))
			}
		})
	}
	t.Run("no keep-alive", func(t *testing.T) {
		t.Parallel()
		var asked atomic.Int64
		s := serve(t, func(x *call) {
			if x.header.Get("Connection") == "close" {
				asked.Add(1)
			}
			x.ok("ok")
		})
		cfg := config(t, get(s), hold(2000, ms(100)))
		cfg.KeepAlive, cfg.MaxInFlight = false, 20
		l := run(t, cfg, s)
		wantCounts(t, l, 200, 0, 0, 0)
		if s.conns.Load() != 200 || l.Wire.Opened != 200 || l.Wire.Reused != 0 || asked.Load() != 200 || l.KeepAlive {
			t.Errorf("connections %d, opened %d, reused %d, asked to close %d, want 200, 200, 0, 200", s.conns.Load(), l.Wire.Opened, l.Wire.Reused, asked.Load())
		}
	})
}

// C-11: the request target goes out as the plan has it.
func TestRequestTarget(t *testing.T) { onEach(t, testRequestTarget) }

func testRequestTarget(t *testing.T) {
	s := serve(t, func(x *call) { x.ok("") })
	for _, c := range []struct{ prefix, path, want string }{
		{"", "/a%2Fb?q=a+b%20c&r=100%25", "/a%2Fb?q=a+b%20c&r=100%25"},
		{"", "//x", "//x"},
		{"", "/a/../b", "/a/../b"},
		{"", "/?a=1;b=2", "/?a=1;b=2"},
		{"", "/x?y=%zz", "/x?y=%zz"},
		{"", "/a b", "/a%20b"},
		{"", "/é?ü=1", "/%C3%A9?%C3%BC=1"},
		{"/v1", "/items", "/v1/items"},
		{"/v1", "", "/v1"},
		{"", "", "/"},
		{"", "/[x]?a[0]=1", "/[x]?a[0]=1"},
		{"", "/a\tb\r\nX: y", "/a%09b%0D%0AX:%20y"},
	} {
		req := get(s)
		req.Path = literal(c.path)
		req.Target.URLs[0].Path = c.prefix
		run(t, config(t, req, hold(50, ms(20))))
		lines := s.requestLines()
		if got, want := lines[len(lines)-1], "GET "+c.want+" HTTP/1.1"; got != want {
			t.Errorf("request line for %q%q = %q, want %q", c.prefix, c.path, got, want)
		}
	}
}

// C-12: IPv6 in brackets.
func TestIPv6(t *testing.T) { onEach(t, testIPv6) }

func testIPv6(t *testing.T) {
	var host atomic.Value
	s := serveOn(t, "[::1]:0", func(x *call) {
		host.Store(x.host)
		x.ok("")
	})
	l := run(t, config(t, get(s), hold(20, ms(100))), s)
	wantCounts(t, l, 2, 0, 0, 0)
	if want := s.Addr().String(); host.Load() != want || l.Hosts[0].Address != want {
		t.Errorf("Host = %q, address = %q, want %q", host.Load(), l.Hosts[0].Address, want)
	}
}

// C-13 a, b: interim answers are passed over.
func TestInterim(t *testing.T) { onEach(t, testInterim) }

func testInterim(t *testing.T) {
	for name, interim := range map[string]string{"a": "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n", "b": "HTTP/1.1 100 Continue\r\n\r\n"} {
		s := serve(t, func(x *call) {
			x.say(interim)
			x.say(interim)
			time.Sleep(20 * time.Millisecond)
			x.ok("hi")
		})
		l := run(t, config(t, get(s), hold(50, ms(100))), s)
		wantCounts(t, l, 5, 0, 0, 0)
		if got := nsOf(l.Service.MinNS); got < 20*time.Millisecond || l.Status["200"] != 5 {
			t.Errorf("%s: shortest service time %v, status %v, want 20ms or more, 5 of 200", name, got, l.Status)
		}
	}
}

// refuse answers 413 without reading the body, and closes.
func refuse(x *call) {
	time.Sleep(100 * time.Millisecond)
	x.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
	x.close()
}

// C-13 c: an answer that comes before the body was sent is not lost, or the early close is named.
func TestEarlyAnswer(t *testing.T) { onEach(t, testEarlyAnswer) }

func testEarlyAnswer(t *testing.T) {
	s := serve(t, refuse)
	s.leaveBody()
	l := run(t, config(t, post(strings.Repeat("x", 8<<20), s), hold(10, ms(300))), s)
	wantCounts(t, l, 0, 3, 0, 0)
	for _, e := range l.Errors {
		if e.Kind != kindStatus && !strings.Contains(e.Example, "while the request was being sent") {
			t.Errorf("error = %+v, want status or one that names the sending", e)
		}
	}
}

// C-13 c, on a connection that stays open: an early answer ends the sending.
func TestEarlyAnswerWithoutClose(t *testing.T) { onEach(t, testEarlyAnswerWithoutClose) }

func testEarlyAnswerWithoutClose(t *testing.T) {
	s := serve(t, func(x *call) {
		x.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
		time.Sleep(time.Second) // and never reads the body
		x.close()
	})
	s.leaveBody()
	l := run(t, config(t, post(strings.Repeat("x", 16<<20), s), hold(10, ms(200))), s)
	wantCounts(t, l, 0, 2, 0, 0)
	wantError(t, l, kindStatus, 2)
	if l.Status["413"] != 2 || l.Wire.Opened != 2 || l.Wire.BytesOut >= 32<<20 {
		t.Errorf("status %v, opened %d, bytes out %d, want 2 of 413, 2, less than 32 MiB", l.Status, l.Wire.Opened, l.Wire.BytesOut)
	}
}

// Large bodies arrive whole, on connections that are used again.
func TestLargeBody(t *testing.T) { onEach(t, testLargeBody) }

func testLargeBody(t *testing.T) {
	body := strings.Repeat("0123456789", 50_000)
	s := serve(t, func(x *call) {
		if string(x.body) != body {
			x.say("HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")
			return
		}
		x.ok("got it")
	})
	cfg := config(t, post(body, s), hold(50, ms(200)))
	cfg.MaxInFlight = 2
	l := run(t, cfg, s)
	wantCounts(t, l, 10, 0, 0, 0)
	if l.Wire.Opened > 2 || l.Wire.BytesOut < 5_000_000 {
		t.Errorf("opened %d, bytes out %d, want at most 2, more than 5 MB", l.Wire.Opened, l.Wire.BytesOut)
	}
}

// C-13 d, e and the usual way of Expect: 100-continue, which is the goroutine path's alone (see TestEngineChoice).
func TestExpectContinue(t *testing.T) {
	t.Parallel()
	body := strings.Repeat("x", 8<<20)
	runWith := func(t *testing.T, noBody bool, answer func(*call)) (*server, *Config) {
		s := serve(t, answer)
		if noBody {
			s.leaveBody()
		}
		req := post(body, s)
		req.ExpectContinue = true
		cfg := config(t, req, hold(10, ms(100)))
		return s, &cfg
	}
	t.Run("d", func(t *testing.T) {
		t.Parallel()
		s, cfg := runWith(t, true, refuse)
		l := run(t, *cfg, s)
		wantCounts(t, l, 0, 1, 0, 0)
		if l.Status["413"] != 1 || l.Wire.BytesOut > 1000 {
			t.Errorf("status %v, bytes out %d, want 413 with the body unsent", l.Status, l.Wire.BytesOut)
		}
	})
	t.Run("e", func(t *testing.T) {
		t.Parallel()
		s, cfg := runWith(t, false, func(x *call) { x.ok("") }) // answers once it has the body
		l := run(t, *cfg, s)
		wantCounts(t, l, 1, 0, 0, 0)
		if got := nsOf(l.Service.MinNS); got < time.Second {
			t.Errorf("service time = %v, want 1s or more: the wait for a 100", got)
		}
	})
	t.Run("asked for", func(t *testing.T) {
		t.Parallel()
		s, cfg := runWith(t, true, nil)
		s.setAnswer(func(x *call) {
			x.say("HTTP/1.1 100 Continue\r\n\r\n")
			n, _ := x.in.Discard(len(body))
			x.ok(fmt.Sprint(n))
		})
		l := run(t, *cfg, s)
		wantCounts(t, l, 1, 0, 0, 0)
		if got := nsOf(l.Service.MinNS); got > 900*time.Millisecond && quiet(t, l) {
			t.Errorf("service time = %v, want less than the wait for a 100 that does not come", got)
		}
	})
}

// Answers whose end is the connection's are complete, and each needs a connection.
func TestUntilClose(t *testing.T) { onEach(t, testUntilClose) }

func testUntilClose(t *testing.T) {
	s := serve(t, func(x *call) {
		x.say("HTTP/1.0 200 OK\r\n\r\nall of it")
		x.close()
	})
	l := run(t, config(t, get(s), hold(50, ms(200))), s)
	wantCounts(t, l, 10, 0, 0, 0)
	if l.Wire.Opened != 10 || l.Wire.BodyBytes != 90 {
		t.Errorf("opened %d, body bytes %d, want 10, 90", l.Wire.Opened, l.Wire.BodyBytes)
	}
}

// A malformed answer fails its request alone, by name, and the connection is not used again.
func TestMalformedAnswer(t *testing.T) { onEach(t, testMalformedAnswer) }

func testMalformedAnswer(t *testing.T) {
	s := serve(t, func(x *call) {
		if x.n%2 == 0 {
			x.say("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx")
			return
		}
		x.ok("")
	})
	l := run(t, config(t, get(s), hold(50, ms(200))), s)
	wantCounts(t, l, 5, 5, 0, 0)
	wantError(t, l, kindProtocol, 5)
	if e := l.Errors[0]; e.Example != "two values of Content-Length: 1 and 2" || e.Class != "target" {
		t.Errorf("error = %+v", e)
	}
}
