package load

import (
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/schedule"
)

// An account server knows its users: it gives each a session by cookie and a token by body, and answers only to both.
type accounts struct {
	mu    sync.Mutex
	wrong []string
	seen  map[string]int // requests by path
}

func (a *accounts) answer(c *call) {
	method, rest, _ := strings.Cut(c.line, " ")
	target, _, _ := strings.Cut(rest, " ")
	u, _ := url.Parse(target)
	a.mu.Lock()
	a.seen[u.Path]++
	a.mu.Unlock()
	cookie := c.header.Get("Cookie")
	switch u.Path {
	case "/login":
		user := string(c.body)
		if method != "POST" || cookie != "" {
			a.mistake("login of %s as %s with cookies %q", user, method, cookie)
		}
		body := fmt.Sprintf(`{"token": "t-%s", "ids": [7, {"a": 1}]}`, user)
		c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nSet-Cookie: sid=s-%s; Path=/; HttpOnly\r\nX-Next: next of %s\r\nSet-Cookie: gone=1; Max-Age=0\r\nSet-Cookie: deep=1; Path=/deep\r\nContent-Length: %d\r\n\r\n%s", user, user, len(body), body))
	case "/basket", "/deep/basket":
		user := strings.TrimPrefix(c.header.Get("Authorization"), "Bearer t-")
		want := "sid=s-" + user
		if u.Path == "/deep/basket" {
			want = "deep=1; " + want
		}
		if user == "" || cookie != want || u.Query().Get("next") != "next of "+user || u.Query().Get("id") != "7" || string(c.body) != `{"a": 1}`+user {
			a.mistake("%s with %q, cookies %q, body %q", target, c.header.Get("Authorization"), cookie, c.body)
		}
		c.ok("<a href='/item/" + user + "'>")
	case "/item":
		if u.RawQuery == "" || cookie == "" {
			a.mistake("%s with cookies %q", target, cookie)
		}
		c.ok("ok")
	default:
		c.say("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
	}
}

func (a *accounts) mistake(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.wrong = append(a.wrong, fmt.Sprintf(format, args...))
}

func users10() *plans.Data {
	d := &plans.Data{Name: "user", Columns: []string{"name"}}
	for i := range 10 {
		d.Rows = append(d.Rows, []string{fmt.Sprintf("user%d", i)})
	}
	return d
}

func called(name string, r *plans.Request) *plans.Request {
	r.Name = name
	return r
}

// flows is a run of one flow; its requests are to one target.
func flows(t *testing.T, f *plans.Flow, segs ...schedule.Segment) Config {
	cfg := config(t, f.Steps[0].Request, segs...)
	cfg.Request, cfg.Engine, cfg.Loops = nil, EngineAuto, 0
	for _, s := range f.Steps {
		if !slices.ContainsFunc(cfg.Mix, func(m Share) bool { return m.Request == s.Request }) {
			cfg.Mix = append(cfg.Mix, Share{Request: s.Request})
		}
	}
	cfg.Flows = []FlowShare{{f, 1}}
	return cfg
}

// shopping is a flow with everything in it: cookies, texts of all kinds, think times.
func shopping(s *server) *plans.Flow {
	users := users10()
	login, basket, deep, item := called("login", post("", s)), called("basket", post("", s)), called("deep", post("", s)), called("item", get(s))
	basket.Target, deep.Target, item.Target = login.Target, login.Target, login.Target
	login.Path, login.Body = literal("/login"), plans.Template{{Data: users}}
	login.Data = []*plans.Data{users}
	basket.Path = plans.Template{{Literal: "/basket?id="}, {Flow: "id", Encode: true}, {Literal: "&next="}, {Flow: "next", Encode: true}}
	basket.Headers = []plans.Header{{Name: "authorization", Value: plans.Template{{Literal: "Bearer "}, {Flow: "token"}}}}
	basket.Body = plans.Template{{Flow: "rest"}, {Data: users}}
	basket.Data = []*plans.Data{users}
	deep.Path = append(literal("/deep"), basket.Path...)
	deep.Headers, deep.Body, deep.Data = basket.Headers, basket.Body, basket.Data
	item.Path = plans.Template{{Literal: "/item?"}, {Flow: "item", Encode: true}}
	return &plans.Flow{Name: "shopping", Cookies: true, Steps: []plans.Step{
		{Request: login, Extract: []plans.Extract{{Name: "token", JSON: "$.token"}, {Name: "id", JSON: "$.ids[0]"}, {Name: "rest", JSON: "$.ids[1]"}, {Name: "next", Header: "x-next"}}},
		{Request: basket, Extract: []plans.Extract{{Name: "item", Pattern: regexp.MustCompile(`/item/(\w+)`)}}},
		{Request: deep, Think: plans.Pause{Least: 20 * time.Millisecond, Most: 60 * time.Millisecond}},
		{Request: item, When: []plans.StatusRange{{From: 200, To: 299}}},
	}}
}

// Each user of a flow keeps to itself, and the record has requests and flows.
func TestFlow(t *testing.T) {
	t.Parallel()
	shop := &accounts{seen: map[string]int{}}
	s := serve(t, shop.answer)
	f := shopping(s)
	cfg := flows(t, f, hold(100, ms(500)), hold(200, ms(500)))
	l := run(t, cfg, s)
	wantCounts(t, l, 600, 0, 0, 0)
	if len(shop.wrong) > 0 {
		t.Errorf("%d mistakes, the first: %s", len(shop.wrong), shop.wrong[0])
	}
	if l.Engine != EngineGoroutine || !strings.Contains(l.EngineReason, "flows") || l.Planned != 150 || len(l.Flows) != 1 || len(l.Requests) != 4 {
		t.Fatalf("engine %s (%s), %d planned, %d flows, %d requests", l.Engine, l.EngineReason, l.Planned, len(l.Flows), len(l.Requests))
	}
	for i, r := range l.Requests {
		if r.Request != f.Steps[i].Request.Name || r.Completed != 150 || r.Offered != 150 || r.Segments[0].Offered+r.Segments[1].Offered != 150 {
			t.Errorf("request %d: %+v", i, r.Counts)
		}
	}
	whole := l.Flows[0]
	if whole.Completed != 150 || whole.Segments[0].Offered != 50 || whole.Segments[1].Offered != 100 || whole.Response.Count != 150 {
		t.Errorf("flow: %+v, segments %+v", whole.Counts, whole.Segments)
	}
	if sum := l.Response.SumNS; whole.Response.SumNS < sum || whole.Response.SumNS > sum+150*20e6 && quiet(t, l) {
		t.Errorf("flows took %.0f ns, want that of the requests, %.0f, without the think time", whole.Response.SumNS, sum)
	}
	if in := l.Audit.MeanInFlight * float64(l.DurationNS+l.DrainNS); in < 150*20e6 {
		t.Errorf("%.0f ns in flight in all, want the think time in it", in)
	}
}

// A step that fails ends the flow, which has failed; a status may leave out a step, or end the flow as completed.
func TestFlowEnds(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *call) {
		switch {
		case strings.Contains(c.line, "/found"):
			c.ok(`{"id": null}`)
		default:
			c.say("HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\n\r\n{}")
		}
	})
	request := func(name, path string, status int) *plans.Request {
		r := called(name, get(s))
		r.Path, r.Expect.Status = literal(path), []plans.StatusRange{{From: status, To: status}}
		return r
	}
	only := func(status int) []plans.StatusRange { return []plans.StatusRange{{From: status, To: status}} }
	found, missing, bad := request("found", "/found", 200), request("missing", "/missing", 404), request("bad", "/missing", 200)
	needs := request("needs", "/found", 200)
	needs.Path = plans.Template{{Literal: "/found/"}, {Flow: "id"}}
	needs.Headers = []plans.Header{{Name: "x-id", Value: plans.Template{{Flow: "id"}}}}
	text := "a\r\nb: c"
	for name, c := range map[string]struct {
		steps                   []plans.Step
		sent, completed, failed int64 // of 10 flows, requests
		flow                    int64 // completed
		of                      string
	}{
		"all":       {[]plans.Step{{Request: found}, {Request: missing}}, 20, 20, 0, 10, ""},
		"fails":     {[]plans.Step{{Request: found}, {Request: bad}, {Request: missing}}, 20, 10, 10, 0, ""},
		"skips":     {[]plans.Step{{Request: missing}, {Request: found, When: only(200)}, {Request: missing, When: only(404)}}, 20, 20, 0, 10, ""},
		"ends":      {[]plans.Step{{Request: missing}, {Request: found, When: only(200), End: true}, {Request: missing}}, 10, 10, 0, 10, ""},
		"lacks":     {[]plans.Step{{Request: found, Extract: []plans.Extract{{Name: "id", JSON: "$.id"}}}, {Request: missing}}, 10, 0, 10, 0, "extract.id"},
		"header":    {[]plans.Step{{Request: found, Extract: []plans.Extract{{Name: "id", Header: "x-id"}}}}, 10, 0, 10, 0, "extract.id"},
		"pattern":   {[]plans.Step{{Request: found, Extract: []plans.Extract{{Name: "id", Pattern: regexp.MustCompile("x+")}}}}, 10, 0, 10, 0, "extract.id"},
		"default":   {[]plans.Step{{Request: found, Extract: []plans.Extract{{Name: "id", JSON: "$.id", Default: new("9")}}}, {Request: needs}}, 20, 20, 0, 10, ""},
		"left out":  {[]plans.Step{{Request: missing}, {Request: found, When: only(200), Extract: []plans.Extract{{Name: "id", JSON: "$"}}}, {Request: needs}}, 20, 10, 10, 0, "flow.id"},
		"no header": {[]plans.Step{{Request: found, Extract: []plans.Extract{{Name: "id", JSON: "$.id", Default: &text}}}, {Request: needs}}, 20, 10, 10, 0, "flow.id"},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := Run(t.Context(), flows(t, &plans.Flow{Name: "f", Steps: c.steps}, hold(50, ms(200))))
			if err != nil {
				t.Fatal(err)
			}
			conserve(t, l)
			if l.Sent != c.sent || l.Completed != c.completed || l.Failed != c.failed {
				t.Errorf("counts = %+v, want %d sent, %d completed, %d failed", l.Counts, c.sent, c.completed, c.failed)
			}
			if f := l.Flows[0]; f.Offered != 10 || f.Completed != c.flow || f.Failed != 10-c.flow {
				t.Errorf("flow: %+v, want %d completed", f.Counts, c.flow)
			}
			if c.of != "" && (len(l.Errors) != 1 || l.Errors[0].Of != c.of || l.Errors[0].Kind != kindExpect) {
				t.Errorf("errors = %+v, want one of %s", l.Errors, c.of)
			}
		})
	}
}

// A mix of flows draws each with its weight, and cookies that a redirect sets are sent with the hop behind it.
func TestFlowMixAndRedirect(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var homes []string
	s := serve(t, func(c *call) {
		switch {
		case strings.Contains(c.line, "/enter"):
			c.say("HTTP/1.1 302 Found\r\nSet-Cookie: sid=1\r\nLocation: /home\r\nContent-Length: 0\r\n\r\n")
		case strings.Contains(c.line, "/home"):
			mu.Lock()
			homes = append(homes, c.header.Get("Cookie"))
			mu.Unlock()
			c.ok("home")
		default:
			c.ok("ok")
		}
	})
	enter, look := called("enter", get(s)), called("look", get(s))
	enter.Path, enter.Redirects = literal("/enter"), 3
	look.Target = enter.Target
	cfg := flows(t, &plans.Flow{Name: "in", Cookies: true, Steps: []plans.Step{{Request: enter}, {Request: look}}}, hold(400, ms(500)))
	cfg.Flows = append(cfg.Flows, FlowShare{&plans.Flow{Name: "look around", Steps: []plans.Step{{Request: look}}}, 3})
	l := run(t, cfg, s)
	in, around := l.Flows[0], l.Flows[1]
	if in.Completed+around.Completed != 200 || in.Completed < 20 || around.Completed < 100 || l.Requests[0].Completed != in.Completed || l.Requests[1].Completed != 200 {
		t.Errorf("in %d, around %d, requests %d and %d", in.Completed, around.Completed, l.Requests[0].Completed, l.Requests[1].Completed)
	}
	if int64(len(homes)) != in.Completed || slices.ContainsFunc(homes, func(c string) bool { return c != "sid=1" }) {
		t.Errorf("homes with cookies %q, want %d with sid=1", homes, in.Completed)
	}
}

// A run that ends while users think leaves their flows unfinished, and requests that were never made are none.
func TestFlowUnfinished(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *call) { c.ok("ok") })
	step := plans.Step{Request: get(s)}
	slow := plans.Step{Request: step.Request, Think: plans.Pause{Least: time.Minute, Most: time.Minute}}
	cfg := flows(t, &plans.Flow{Name: "f", Steps: []plans.Step{step, slow}}, hold(50, ms(200)))
	cfg.Drain = 2 * time.Second
	l := run(t, cfg, s)
	wantCounts(t, l, 10, 0, 0, 0)
	if f := l.Flows[0]; f.Unfinished != 10 || f.Response.CensoredFromNS == nil || l.Series[len(l.Series)-1].InFlight != 10 {
		t.Errorf("flow: %+v", f.Counts)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 150*time.Millisecond)
	defer cancel()
	cfg.Drain = time.Minute
	if l = runCtx(t, ctx, cfg); l.Flows[0].Unfinished == 0 || l.Flows[0].Offered > 10 {
		t.Errorf("cut short: %+v", l.Flows[0].Counts)
	}
}

// Flows that find the bound reached wait or are dropped, and so are their first requests.
func TestFlowBound(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *call) { time.Sleep(100 * time.Millisecond); c.ok("ok") })
	step := plans.Step{Request: get(s)}
	cfg := flows(t, &plans.Flow{Name: "f", Steps: []plans.Step{step, step}}, hold(50, ms(400)))
	cfg.MaxInFlight, cfg.AtMax = 2, plans.Drop
	l := run(t, cfg, s)
	f := l.Flows[0]
	if f.Offered != 20 || f.Dropped == 0 || l.Dropped != f.Dropped || l.Sent != 2*f.Completed || l.Audit.Capped != f.Dropped || l.Audit.MaxInFlight != 2 {
		t.Errorf("dropping: flow %+v, requests %+v, %d capped", f.Counts, l.Counts, l.Audit.Capped)
	}
	cfg.AtMax = plans.Wait
	l = run(t, cfg)
	if f = l.Flows[0]; f.Completed != 20 || l.Completed != 40 || l.Audit.Capped == 0 || nsOf(l.Waiting.MaxNS) < 500*time.Millisecond {
		t.Errorf("waiting: flow %+v, requests %+v, %d capped, waited %v", f.Counts, l.Counts, l.Audit.Capped, nsOf(l.Waiting.MaxNS))
	}
}

// closedConfig is a closed model of users for a time.
func closedConfig(t *testing.T, req *plans.Request, users int, over time.Duration) Config {
	cfg := config(t, req, hold(1, over))
	var err error
	if cfg.Schedule, err = schedule.NewClosed("users", over); err != nil {
		t.Fatal(err)
	}
	cfg.Engine, cfg.Loops, cfg.Users, cfg.MaxInFlight = EngineAuto, 0, users, users
	return cfg
}

// Users send their next request when the answer is there, and when they have thought.
func TestUsers(t *testing.T) {
	t.Parallel()
	const d = 50 * time.Millisecond
	s := serve(t, func(c *call) { time.Sleep(d); c.ok("ok") })
	cfg := closedConfig(t, get(s), 4, time.Second)
	l := run(t, cfg, s)
	wantCounts(t, l, l.Offered, 0, 0, 0)
	if l.Offered < 20 || l.Offered > 80 || s.conns.Load() != 4 || l.Audit.MaxInFlight != 4 || l.Users != 4 || l.Planned != 0 {
		t.Errorf("%d requests on %d connections, %d in flight, want at most 80 on 4", l.Offered, s.conns.Load(), l.Audit.MaxInFlight)
	}
	if l.DurationNS != int64(time.Second) || len(l.Segments) != 1 || l.Segments[0].Offered != l.Offered || nsOf(l.Response.MinNS) < d {
		t.Errorf("duration %d, segments %+v, response from %v", l.DurationNS, l.Segments, nsOf(l.Response.MinNS))
	}
	if a, b := l.Audit.MeanInFlight, l.Audit.MeanInFlightByTimes; a < 3 || a > 4.01 || b < 0.95*a || b > 1.05*a {
		t.Errorf("%v in flight, %v by times, want about 4", a, b)
	}
	cfg.Think = plans.Pause{Least: 150 * time.Millisecond, Most: 250 * time.Millisecond}
	if l = run(t, cfg); l.Offered > 4*6 || l.Offered < 8 {
		t.Errorf("%d requests with think time, want at most 24", l.Offered)
	}
	cfg.Think, cfg.MaxArrivals = plans.Pause{}, 10
	if l = run(t, cfg); l.Offered != 10 || l.DurationNS >= int64(time.Second) {
		t.Errorf("%d requests in %v, want 10 and the end", l.Offered, time.Duration(l.DurationNS))
	}
}

// A user whose target hangs is bound by the timeout, an interrupt ends it, and flows work as with arrivals.
func TestUsersEnds(t *testing.T) {
	t.Parallel()
	s := serve(t, hang)
	cfg := closedConfig(t, get(s), 3, 500*time.Millisecond)
	cfg.Timeout = 100 * time.Millisecond
	if l := run(t, cfg, s); l.Failed != l.Offered || l.Failed < 6 || l.Errors[0].Kind != "timeout" || nsOf(l.Response.P50NS) < cfg.Timeout {
		t.Errorf("counts %+v, errors %+v", l.Counts, l.Errors)
	}
	cfg.Timeout, cfg.Drain = 20*time.Second, 100*time.Millisecond
	if l := run(t, cfg); l.Unfinished != 3 || l.Offered != 3 {
		t.Errorf("counts %+v, want 3 unfinished", l.Counts)
	}
	shop := &accounts{seen: map[string]int{}}
	f := flows(t, shopping(serve(t, shop.answer)), hold(1, time.Second))
	f.Schedule, f.Users, f.MaxInFlight = cfg.Schedule, 5, 5
	l := run(t, f)
	if w := l.Flows[0]; w.Completed == 0 || w.Offered != w.Completed || l.Completed != 4*w.Completed || len(shop.wrong) > 0 {
		t.Errorf("flows %+v, requests %+v, %d mistakes", w.Counts, l.Counts, len(shop.wrong))
	}
}

// Memory does not grow with the length of a run of flows: what is over is closed while it goes on.
func TestFlowSeals(t *testing.T) {
	t.Parallel()
	s := serve(t, func(c *call) { c.ok("ok") })
	step := plans.Step{Request: get(s)}
	for name, cfg := range map[string]Config{
		"flows": flows(t, &plans.Flow{Name: "f", Steps: []plans.Step{step, step}}, hold(100, 3500*time.Millisecond)),
		"users": closedConfig(t, get(s), 2, 3500*time.Millisecond),
	} {
		cfg.Think = plans.Pause{Least: ms(10), Most: ms(10)}
		cfg.TickEvery = 100 * time.Millisecond
		var e *engine
		var most int
		cfg.OnTick = func(tick Tick) bool {
			if tick.At > 3200*time.Millisecond && !tick.Draining {
				most = max(most, len(e.account.series.cells))
			}
			return true
		}
		e, err := newEngine(cfg)
		if err != nil {
			t.Fatal(err)
		}
		if l, err := e.run(t.Context()); err != nil || l.Completed != l.Offered || l.Offered < 100 || len(l.Series) < 4 {
			t.Fatalf("%s: %+v, %v", name, l, err)
		}
		if most == 0 || most > 2 {
			t.Errorf("%s: %d seconds are open, want those under way", name, most)
		}
	}
}
