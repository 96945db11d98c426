package load

import (
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// Sets of requests that are counted apart, and windows, have what the servers saw of them.
func TestApart(t *testing.T) {
	onEach(t, func(t *testing.T) {
		fails := func(c *call) {
			if strings.HasPrefix(c.line, "HEAD") {
				c.say("HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n")
				return
			}
			c.ok("ok")
		}
		a, b := serve(t, fails), serve(t, func(c *call) { time.Sleep(5 * time.Millisecond); c.ok("ok") })
		home, look := get(a, b), get(a, b)
		look.Method, look.Name, look.Target = "HEAD", "look", home.Target
		cfg := config(t, home, hold(200, time.Second), hold(400, 500*time.Millisecond))
		cfg.Request, cfg.Mix = nil, []Share{{home, 3}, {look, 1}}
		cfg.Apart = []Apart{{Host: "*"}, {Status: "503"}, {Status: "2xx", Request: "look"}, {Host: b.Addr().String(), Request: "get"}}
		cfg.Windows, cfg.WireLimits, cfg.LimitsNS = []time.Duration{500 * time.Millisecond}, true, []int64{int64(2 * time.Millisecond)}
		b.setAnswer(func(c *call) {
			time.Sleep(5 * time.Millisecond)
			if strings.HasPrefix(c.line, "HEAD") {
				c.say("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
				return
			}
			c.ok("ok")
		})
		l := run(t, cfg, a, b)
		at := map[string]result.RequestLoad{}
		for _, r := range l.Apart {
			at[r.Request] = r
			if len(r.Segments) != 2 || r.Segments[0].Offered+r.Segments[1].Offered != r.Offered || r.Completed+r.Failed != r.Offered {
				t.Errorf("%s: %+v, segments %+v", r.Request, r.Counts, r.Segments)
			}
		}
		heads := func(s *server) (n int64) {
			for _, line := range s.requestLines() {
				if strings.HasPrefix(line, "HEAD") {
					n++
				}
			}
			return n
		}
		for name, want := range map[string]int64{
			"[host=" + a.Addr().String() + "]": 200, "[host=" + b.Addr().String() + "]": 200, "[status=503]": heads(a),
			"look [status=2xx]": heads(b), "get [host=" + b.Addr().String() + "]": 200 - heads(b),
		} {
			if got, ok := at[name]; !ok || got.Offered != want {
				t.Errorf("%s: %d offered (%v), want %d", name, got.Offered, ok, want)
			}
		}
		if slow := at["[host="+b.Addr().String()+"]"]; slow.Segments[0].OverResponse[0] != 100 || nsOf(slow.Response.MinNS) < 5*time.Millisecond {
			t.Errorf("the slow host: %+v", slow.Segments[0])
		}
		w := l.Windows
		if len(w) != 1 || len(w[0].Offered) != 3 || w[0].Offered[0] != 100 || w[0].Offered[1] != 100 || w[0].Offered[2] != 200 || w[0].Bad[0]+w[0].Bad[1]+w[0].Bad[2] != l.Failed || w[0].OverResponse[0][2] < 100 {
			t.Errorf("windows = %+v", w)
		}
		if over := l.Wire.OverFirstByte[0]; over < 200 || over > 400 || l.Wire.FirstByte.Histogram == "" || l.Wire.OverConnect[0] > l.Wire.Opened {
			t.Errorf("%d first bytes over, want the 200 of the slow host at least; %d connects", over, l.Wire.OverConnect[0])
		}
	})
}

func TestApartRefuses(t *testing.T) {
	s := serve(t, func(c *call) { c.ok("ok") })
	for _, a := range []Apart{{Host: "10.0.0.1:1"}, {Request: "nobody"}, {Status: "9xx"}, {Status: "ok"}} {
		cfg := config(t, get(s), hold(10, time.Second))
		cfg.Apart = []Apart{a}
		if _, err := Run(t.Context(), cfg); err == nil {
			t.Errorf("%+v is not refused", a)
		}
	}
	cfg := config(t, get(s), hold(10, time.Second))
	cfg.Windows = []time.Duration{0}
	if _, err := Run(t.Context(), cfg); err == nil {
		t.Error("windows of 0s are not refused")
	}
	if (plans.Scope{}).Counted() {
		t.Error("no scope is counted apart")
	}
}
