//go:build amd64 || arm64

package load

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// TestBenchClient is the process of one of our runs.
func TestBenchClient(t *testing.T) {
	var c contest
	if err := json.Unmarshal([]byte(os.Getenv(clientEnv)), &c); err != nil {
		t.Skip("a part of TestBenchEngine")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var base baseFinder
	look, soak := base.tick, newSoaker(t, c.Seconds)
	if c.Soak {
		look = soak.tick
	}
	l := ourLoad(t, c, look)
	runtime.ReadMemStats(&after)
	if l.Completed < l.Sent*99/100 {
		t.Fatalf("%+v, %+v", l.Counts, l.Errors)
	}
	us := func(ns *int64) float64 { return float64(*ns) / 1e3 }
	f := figure{Requests: l.Completed, Of: map[measure]float64{
		perSecond: float64(l.Completed) / float64(l.DurationNS+l.DrainNS) * 1e9,
		allocs:    float64(after.Mallocs-before.Mallocs) / float64(l.Completed),
		serv50:    us(l.Service.P50NS),
	}}
	if c.Rate > 0 {
		f.Of[resp50], f.Of[resp90], f.Of[resp99] = us(l.Response.P50NS), us(l.Response.P90NS), us(l.Response.P99NS)
		f.Of[lag50], f.Of[lag90] = us(l.Lag.P50NS), us(l.Lag.P90NS)
	}
	if c.Rate > 0 {
		f.Of[sentInTime] = inTime(l)
	}
	soak.figures(f.Of)
	f.BaseNS, f.LeastLagNS = base.base, *l.Lag.MinNS
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("FIGURE %s\n", text)
}

// ourSchedule is that of a contest. A closed loop is a schedule far above what the connections carry, which takes as
// long as it takes.
func ourSchedule(t *testing.T, c contest) *schedule.Schedule {
	rate, over := c.Rate, time.Duration(c.Seconds*1e9)
	if rate == 0 {
		rate, over = 1e6, time.Duration(c.Seconds*1e8)
		if c.Requests > 0 {
			over = time.Duration(c.Requests) * time.Microsecond
		}
	}
	process := schedule.Uniform
	if c.Poisson {
		process = schedule.Poisson
	}
	s, err := schedule.New([]schedule.Segment{hold(rate, over)}, process, 1)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// ourLoad makes the run.
func ourLoad(t *testing.T, c contest, look func(Tick) bool) *result.Load {
	drain := 10 * time.Second
	if c.Rate == 0 {
		drain = 5 * time.Minute
	}
	scheme, address, _ := strings.Cut(strings.TrimSuffix(c.URL, "/"), "://")
	u := urlOf(address)
	u.Scheme = scheme
	req := &plans.Request{Name: "get", Method: "GET", Path: literal("/"), Expect: statusRange(200, 200),
		Target: &plans.Target{URLs: []plans.URL{u}, TLS: plans.TLS{SkipVerify: true}}}
	if c.Varied {
		vary(req)
	}
	hosts, err := Resolve(t.Context(), req.Target)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Run(t.Context(), Config{Hosts: hosts, Request: req, Schedule: ourSchedule(t, c), MaxInFlight: c.Conns, Timeout: 30 * time.Second,
		Drain: drain, KeepAlive: true, Engine: c.Engine, Pacing: c.Pacing, Tick: time.Duration(c.TickNS), InTurn: c.InTurn, OnTick: look, TickEvery: time.Duration(c.TickEveryNS)})
	if err != nil {
		t.Fatal(err)
	}
	return l
}
