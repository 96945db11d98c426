package load

import (
	"math"
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// Requests that are the same for all arrivals stay so beside those that are not, on the same connection.
func TestMixOfFixedAndVaried(t *testing.T) {
	onEach(t, func(t *testing.T) {
		s := serve(t, func(c *call) { c.ok("ok") })
		same, varied := get(s), get(s)
		same.Name, varied.Name, varied.Target = "same", "varied", same.Target
		same.Path = literal("/same/for/all/arrivals")
		varied.Path = plans.Template{{Literal: "/v/"}, {Data: users10()}}
		cfg := config(t, same, hold(400, ms(500)))
		cfg.Request, cfg.Mix = nil, []Share{{same, 1}, {varied, 1}}
		l := run(t, cfg, s)
		wantCounts(t, l, 200, 0, 0, 0)
		lines := map[string]int64{}
		for _, line := range s.requestLines() {
			line, _, _ = strings.Cut(line, "user")
			lines[line]++
		}
		if len(lines) != 2 || lines["GET /same/for/all/arrivals HTTP/1.1"] != l.Requests[0].Sent || lines["GET /v/"] != l.Requests[1].Sent {
			t.Errorf("the server saw %v, want %d and %d", lines, l.Requests[0].Sent, l.Requests[1].Sent)
		}
	})
}

// What the server saw of each request of a mix is what the record has of it, and the sums are the total.
func TestMix(t *testing.T) {
	onEach(t, func(t *testing.T) {
		s := serve(t, func(c *call) {
			if strings.HasPrefix(c.line, "DELETE ") {
				c.say("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
				return
			}
			if strings.HasPrefix(c.line, "HEAD ") {
				c.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n")
				return
			}
			c.ok("ok")
		})
		home, create, look, gone := get(s), post("{}", s), get(s), get(s)
		home.Name, create.Name, look.Name, gone.Name = "home", "create", "look", "gone"
		look.Method, gone.Method = "HEAD", "DELETE"
		cfg := config(t, home, hold(400, ms(500)), hold(800, ms(500)))
		cfg.Request = nil
		cfg.Mix = []Share{{home, 6}, {create, 2}, {look, 1}, {gone, 1}}
		l := run(t, cfg, s)
		conserve(t, l)
		lines := map[string]int64{}
		for _, line := range s.requestLines() {
			method, _, _ := strings.Cut(line, " ")
			lines[method]++
		}
		var sum result.Counts
		for i, r := range l.Requests {
			method := []string{"GET", "POST", "HEAD", "DELETE"}[i]
			if r.Sent != lines[method] || r.Sent == 0 {
				t.Errorf("%s: sent %d, the server saw %d", r.Request, r.Sent, lines[method])
			}
			share := float64(cfg.Mix[i].Weight) / 10
			if spread := 5 * math.Sqrt(share*(1-share)*float64(l.Offered)); math.Abs(float64(r.Offered)-share*float64(l.Offered)) > spread {
				t.Errorf("%s: %d of %d offered, want about %.0f%%", r.Request, r.Offered, l.Offered, 100*share)
			}
			if r.Response.Count+r.FailedResponse.Count != r.Sent || len(r.Segments) != 2 || r.Segments[0].Offered+r.Segments[1].Offered != r.Offered {
				t.Errorf("%s: %+v", r.Request, r)
			}
			sum = plus(sum, r.Counts)
		}
		if sum != l.Counts {
			t.Errorf("the requests sum up to %+v, want %+v", sum, l.Counts)
		}
		if g := l.Requests[3]; g.Failed != g.Sent || l.Failed != g.Failed || len(g.Errors) != 1 || g.Status["404"] != g.Sent {
			t.Errorf("gone: %+v, want all failed", g)
		}
	})
}

// The request of an arrival depends on its number and the seed alone, and neither on its host nor on its neighbours.
func TestMixDraws(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64) []int {
		m, err := newMix(&Config{Hosts: []Host{{Authority: "a"}}, Seed: seed, Mix: []Share{{get1(), 1}, {get1(), 1}, {get1(), 2}}})
		if err != nil {
			t.Fatal(err)
		}
		var all []int
		for i := range int64(20000) {
			all = append(all, m.number(i))
		}
		return all
	}
	a, again, b := draw(1), draw(1), draw(2)
	same, pairs := 0, map[[2]int]int{}
	for i := range a {
		if a[i] != again[i] {
			t.Fatalf("arrival %d: %d, then %d", i, a[i], again[i])
		}
		if a[i] == b[i] {
			same++
		}
		pairs[[2]int{i % 2, a[i]}]++
	}
	if share := float64(same) / float64(len(a)); math.Abs(share-0.375) > 0.02 { // 1/16 + 1/16 + 1/4
		t.Errorf("two seeds agree in %.3f of the arrivals, want 0.375", share)
	}
	for parity := range 2 {
		for k, want := range []float64{2500, 2500, 5000} {
			if n := float64(pairs[[2]int{parity, k}]); math.Abs(n-want) > 5*math.Sqrt(want) {
				t.Errorf("request %d at every other arrival: %.0f of 10000, want %.0f", k, n, want)
			}
		}
	}
	for _, shares := range [][]Share{{{get1(), 0}}, {{get1(), MaxWeight + 1}}, {{nil, 1}}} {
		if _, err := newMix(&Config{Hosts: []Host{{Authority: "a"}}, Mix: shares}); err == nil {
			t.Errorf("newMix(%v) is not refused", shares)
		}
	}
}

func get1() *plans.Request { return &plans.Request{Name: "g", Method: "GET", Path: literal("/")} }
