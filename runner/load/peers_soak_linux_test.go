//go:build amd64 || arm64

package load

import (
	"bytes"
	"math"
	"os"
	"runtime/metrics"
	"strconv"
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

// What is measured over a long run: from a minute after its start on, of a shorter one from a tenth of it on.
const (
	rssGrowth  measure = "RSS growth MB"
	soakAllocs measure = "allocations/request after a minute"
	sentInTime measure = "sent in time" // share of the schedule, by its end
)

// soakEnv is how long the long run takes; ten minutes without it.
const soakEnv = "BENCH_ENGINE_SOAK"

// A soaker looks at its own process once a tick, without allocating.
type soaker struct {
	from        time.Duration // when the first look counts
	statm       *os.File
	buf         [128]byte
	sample      [2]metrics.Sample // objects, and those that share a block with others
	first, last look
}

type look struct {
	known    bool
	pages    int64 // resident
	allocs   uint64
	requests int64 // completed
}

func newSoaker(t *testing.T, seconds float64) *soaker {
	s := &soaker{from: min(time.Minute, time.Duration(seconds*1e8))}
	s.sample[0].Name, s.sample[1].Name = "/gc/heap/allocs:objects", "/gc/heap/tiny/allocs:objects"
	var err error
	if s.statm, err = os.Open("/proc/self/statm"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.statm.Close() })
	return s
}

func (s *soaker) tick(k Tick) bool {
	if k.At < s.from || k.Draining {
		return true
	}
	metrics.Read(s.sample[:])
	s.last = look{true, s.resident(), s.sample[0].Value.Uint64() + s.sample[1].Value.Uint64(), k.Total.Completed}
	if !s.first.known {
		s.first = s.last
	}
	return true
}

// resident is the second number of statm, in pages.
func (s *soaker) resident() (pages int64) {
	n, _ := s.statm.ReadAt(s.buf[:], 0)
	text := s.buf[:n]
	for _, c := range text[bytes.IndexByte(text, ' ')+1:] {
		if c < '0' || c > '9' {
			break
		}
		pages = pages*10 + int64(c-'0')
	}
	return pages
}

// figures adds what was found out; nothing where the run was too short.
func (s *soaker) figures(of map[measure]float64) {
	if n := s.last.requests - s.first.requests; n > 0 {
		of[rssGrowth] = float64((s.last.pages-s.first.pages)*int64(os.Getpagesize())) / (1 << 20)
		of[soakAllocs] = float64(s.last.allocs-s.first.allocs) / float64(n)
	}
}

// inTime is the share of the schedule that was sent before its end.
func inTime(l *result.Load) float64 {
	var sent int64
	for _, s := range l.Series {
		if s.TNS < l.PlannedNS {
			sent += s.Sent
		}
	}
	return float64(sent) / float64(l.Planned)
}

func soakContests() []contest {
	over := 10 * time.Minute
	if d, err := time.ParseDuration(os.Getenv(soakEnv)); err == nil && d > 0 {
		over = d
	}
	soak := func(name, server string, rate float64, over time.Duration, bars ...bar) contest {
		return contest{Name: name, Server: server, Rate: rate, Conns: 32, Seconds: math.Ceil(over.Seconds()), Pacing: PacingTick, TickNS: int64(500 * time.Microsecond),
			TickEveryNS: int64(time.Second), Soak: true, bars: bars, tools: "^$", long: true}
	}
	many := soak("20000/s, 2000 connections", "nginx", 20000, 14*time.Second, atLeast(sentInTime, 0.999), atMost(rss, 40))
	many.Conns, many.InTurn, many.long = 2000, true, false
	return []contest{many,
		soak("soak, 50000/s", "nginx", 50000, over, atMost(rssGrowth, 1), atMost(soakAllocs, 0.001), atLeast(sentInTime, 0.999)),
		soak("soak, https 20000/s", "nginx-tls", 20000, over/5, atMost(rssGrowth, 1), atMost(soakAllocs, 2.1), atLeast(sentInTime, 0.999)),
	}
}

func TestSoaker(t *testing.T) {
	s := newSoaker(t, 1)
	for i, at := range []time.Duration{0, 200 * time.Millisecond, 300 * time.Millisecond} {
		k := Tick{At: at}
		k.Total.Completed = int64(i)
		s.tick(k)
	}
	if s.first.requests != 1 || s.last.requests != 2 {
		t.Errorf("looks at %d and %d requests, want the first after 0.1 s, the last one", s.first.requests, s.last.requests)
	}
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := strconv.ParseInt(string(bytes.Fields(text)[1]), 10, 64)
	if got := s.resident(); got < want/2 || got > 2*want {
		t.Errorf("resident = %d pages, want about %d", got, want)
	}
	if n := testing.AllocsPerRun(100, func() { s.tick(Tick{At: time.Minute}) }); n > 0 {
		t.Errorf("%v allocations in a tick, want none", n)
	}
	of := map[measure]float64{}
	if s.figures(of); len(of) > 0 {
		t.Errorf("figures of no requests = %v, want none", of)
	}
	s.first = look{true, 100, 1000, 10}
	s.last = look{true, 100 + 2<<20/int64(os.Getpagesize()), 1005, 1010}
	if s.figures(of); of[rssGrowth] != 2 || of[soakAllocs] != 0.005 {
		t.Errorf("figures = %v, want a growth of 2 MB, 0.005 allocations", of)
	}
}

func TestInTime(t *testing.T) {
	l := &result.Load{Planned: 100, PlannedNS: 2e9, Series: []result.Second{{TNS: 0, Sent: 50}, {TNS: 1e9, Sent: 45}, {TNS: 2e9, Sent: 5}}}
	if got := inTime(l); got != 0.95 {
		t.Errorf("inTime = %v, want 0.95", got)
	}
}
