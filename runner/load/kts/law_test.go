package kts

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"
)

const ms = int64(time.Millisecond)

func mustParse(t *testing.T, text string) Mode {
	t.Helper()
	m, err := ParseMode(text)
	if err != nil {
		t.Fatalf("ParseMode(%q): %v", text, err)
	}
	return m
}

func TestParseMode(t *testing.T) {
	for _, text := range []string{
		"fixed d=5ms", "stall d=5ms s=200ms t=2.003s", "qstall mu=400 s=200ms t=2s", "bimodal d=5ms d2=100ms m=50",
		"mm1 mu=250 seed=7", "slots d=20ms k=2", "hang d=5ms h=8s", "mute d=0s m=50", "reset d=0s m=50 when=before",
		"accept d=5ms backlog=5 s=300ms t=2s", "coldstart d=5ms h=2s", "ladder a=10ms b=1s", "dribble d=100ms",
		"cut d=100ms", "idleclose d=0s i=100ms",
	} {
		if got := mustParse(t, text).String(); got != text {
			t.Errorf("ParseMode(%q).String() = %q", text, got)
		}
	}
	if got := mustParse(t, "fixed").String(); got != "fixed d=0s" {
		t.Errorf("ParseMode(fixed).String() = %q", got)
	}
	for text, want := range map[string]string{
		"":                              "not a mode",
		"fast":                          "unknown kind",
		"fixed d=5ms d=6ms":             "twice",
		"fixed m=5":                     `has no "m"`,
		"ladder a=1ms b=2ms d=1ms":      `has no "d"`,
		"mute d=5ms":                    `needs "m"`,
		"fixed d=5":                     "missing unit",
		"fixed d=-5ms":                  "0s or more",
		"mute m=0":                      "1 or more",
		"slots k=0":                     "1 or more",
		"mm1 mu=NaN seed=1":             "more than 0",
		"stall s=2s t=3s":               "at most half",
		"reset m=5 when=never":          "want before, fin or head",
		"accept backlog=0 s=1ms t=10ms": "1 or more",
		"ladder a=2ms b=1ms":            "at least a",
	} {
		if _, err := ParseMode(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseMode(%q) = %v, want an error with %q", text, err, want)
		}
	}
}

// Arrivals and releases are in ms after the first arrival; -1 is never.
func TestLaw(t *testing.T) {
	const start = 77_000 * ms
	for _, tt := range []struct {
		mode     string
		arrivals []float64
		want     []float64
	}{
		{"fixed d=5ms", []float64{0, 1}, []float64{5, 6}},
		// Stalls are [500, 700), [1500, 1700) …
		{"stall d=5ms s=200ms t=1s", []float64{0, 499, 500, 600, 699, 700, 1650}, []float64{5, 504, 705, 705, 705, 705, 1705}},
		// 10 ms of service; frozen in [500, 700); a request that is served when the stall begins goes on behind it.
		{"qstall mu=100 s=200ms t=1s", []float64{0, 5, 495, 520, 710}, []float64{10, 20, 705, 715, 725}},
		{"bimodal d=5ms d2=100ms m=3", []float64{0, 1, 2, 3, 4, 5}, []float64{5, 6, 102, 8, 9, 105}},
		{"slots d=20ms k=2", []float64{0, 1, 2, 3, 100}, []float64{20, 21, 40, 41, 120}},
		{"hang d=5ms h=10ms", []float64{0, 9, 10, 11}, []float64{5, 14, -1, -1}},
		{"mute d=5ms m=2", []float64{0, 1, 2, 3}, []float64{5, -1, 7, -1}},
		{"coldstart d=5ms h=100ms", []float64{0, 50, 100, 150}, []float64{105, 105, 105, 155}},
		{"ladder a=10ms b=1010ms", []float64{0, 0, 0}, []float64{10, 11, 12}},
	} {
		l := newLaw(mustParse(t, tt.mode))
		var got []float64
		for _, at := range tt.arrivals {
			do, when := l.next(start + int64(at*float64(ms)))
			if do == silence {
				got = append(got, -1)
				continue
			}
			got = append(got, float64(when-start)/float64(ms))
		}
		if !slices.Equal(got, tt.want) {
			t.Errorf("%s: arrivals %v are released at %v, want %v", tt.mode, tt.arrivals, got, tt.want)
		}
	}
}

// A stall that outlasts the service is met several times by a long one.
func TestLawServiceOverSeveralStalls(t *testing.T) {
	l := newLaw(mustParse(t, "qstall mu=0.5 s=200ms t=1s")) // 2 s of service
	if _, when := l.next(0); when != 2400*ms {              // [500, 700) and [1500, 1700) stand still
		t.Errorf("released after %v, want 2.4s", time.Duration(when))
	}
}

func TestLawMM1(t *testing.T) {
	l := newLaw(mustParse(t, "mm1 mu=100 seed=3"))
	services := Services(100, 3, 5000)
	free, sum := int64(0), 0.0
	for i, s := range services {
		at := int64(i) * 8 * ms
		free = max(free, at) + int64(s)
		if _, when := l.next(at); when != free {
			t.Fatalf("request %d is released at %d, want %d", i, when, free)
		}
		sum += s.Seconds()
	}
	if mean := sum / 5000; math.Abs(mean-0.01) > 0.0007 { // 5 standard errors
		t.Errorf("mean service %v s, want 0.01", mean)
	}
}

func TestLawActions(t *testing.T) {
	for text, want := range map[string]action{
		"reset m=1 when=before": abort, "reset m=1 when=fin": hangUp, "reset m=1 when=head": headed,
		"dribble d=1ms": drip, "cut d=1ms": dripCut, "reset m=2 when=fin": reply, "accept backlog=1 s=1ms t=10ms": reply,
	} {
		if do, _ := newLaw(mustParse(t, text)).next(1); do != want {
			t.Errorf("%s: action %d, want %d", text, do, want)
		}
	}
}

func TestLogCounts(t *testing.T) {
	l := Log{Arrival: []int64{1, 2, 3, 4, 5}, Planned: []int64{10, 20, 30, 0, 20}, Release: []int64{12, 21, 0, 0, 24}, Seq: []int64{4, 1, 4, -1, -1}}
	if got, want := l.HoldErrors(), []int64{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("HoldErrors = %v, want %v", got, want)
	}
	if got := l.copy().Replays; got != 1 {
		t.Errorf("replays = %d, want 1", got)
	}
}

func TestCutRequest(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want request
		n    int
	}{
		{"GET / HTTP/1.1\r\nHost: a\r\n\r\n", request{seq: -1}, 27},
		{"GET / HTTP/1.1\r\nHost: a\r\n\r", request{}, 0},
		{"GET / HTTP/1.1\r\nKTS-Seq: 12\r\n\r\nGET", request{seq: 12}, 31},
		{"GET /__kts/log HTTP/1.1\r\n\r\n", request{log: true, seq: -1}, 27},
		{"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabcd", request{seq: -1}, 41},
		{"POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nab", request{}, 0},
	} {
		if r, n := cutRequest([]byte(tt.in)); r != tt.want || n != tt.n {
			t.Errorf("cutRequest(%q) = %+v, %d, want %+v, %d", tt.in, r, n, tt.want, tt.n)
		}
	}
}
