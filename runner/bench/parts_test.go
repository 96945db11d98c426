package bench

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/process"
	"github.com/perfplan/perfplan/runner/result"
)

func spec(cfg Config) process.Spec {
	return process.Spec{Args: cfg.Subject.Command.Args, Dir: cfg.Subject.Command.Dir, Env: cfg.Env}
}

func TestParseDone(t *testing.T) {
	for _, tt := range []struct {
		line string
		want batch
		err  string
	}{
		{line: "done iterations=20 ns=123", want: batch{iterations: 20, ns: 123}},
		{line: "done ns=123 iterations=20 checksum=a=b new=7", want: batch{iterations: 20, ns: 123, checksum: "a=b"}},
		{line: "done ns=123 iterations=20 gc=7 gc_ns=x", err: `gc_ns: not a whole number: got "x" in "done ns=123 iterations=20 gc=7 gc_ns=x"`},
		{line: "done iterations=1 ns=9223372036854775807", want: batch{iterations: 1, ns: 1<<63 - 1}},
		{line: "done", err: `not a field: got "" in "done", want key=value, fields apart by one space`},
		{line: "done iterations=20", err: `no ns in "done iterations=20", want done iterations=N ns=N`},
		{line: "done ns=20", err: `no iterations in "done ns=20", want done iterations=N ns=N`},
		{line: "done iterations=20  ns=1", err: `not a field: got "" in "done iterations=20  ns=1", want key=value, fields apart by one space`},
		{line: "done iterations=20 ns=", err: `not a field: got "ns=" in "done iterations=20 ns=", want key=value, fields apart by one space`},
		{line: "done iterations=20 ns=1 ns=2", err: `key "ns" twice in "done iterations=20 ns=1 ns=2"`},
		{line: "done iterations=2e1 ns=1", err: `iterations: not a whole number: got "2e1" in "done iterations=2e1 ns=1"`},
		{line: "done iterations=20 ns=-1", err: `ns: not a whole number: got "-1" in "done iterations=20 ns=-1"`},
		{line: "done iterations=20 ns=9223372036854775808", err: `ns: not a whole number: got "9223372036854775808" in "done iterations=20 ns=9223372036854775808"`},
		{line: "done iterations=20 ns=1 bytes=x", err: `bytes: not a whole number: got "x" in "done iterations=20 ns=1 bytes=x"`},
		{line: "ready", err: `not an answer: got "ready", want "done iterations=N ns=N"`},
		{line: "", err: `not an answer: got "", want "done iterations=N ns=N"`},
		{line: "error out of\x1b[31m memory", err: "the subject reports an error: out of\uFFFD[31m memory"},
		{line: strings.Repeat("x", 300), err: `not an answer: got "` + strings.Repeat("x", 200) + `" and 100 bytes more, want "done iterations=N ns=N"`},
	} {
		got, err := parseDone(tt.line)
		if tt.err != "" {
			if err == nil || err.Error() != tt.err {
				t.Errorf("parseDone(%q) = %v, want %s", tt.line, err, tt.err)
			}
		} else if err != nil || got != tt.want {
			t.Errorf("parseDone(%q) = %+v, %v, want %+v", tt.line, got, err, tt.want)
		}
	}
	b, err := parseDone("done iterations=2 ns=1 bytes=64 allocs=0")
	if err != nil || *b.bytes != 64 || *b.allocs != 0 {
		t.Errorf("parseDone with allocations = %+v, %v, want 64 bytes and 0 allocations", b, err)
	}
}

// Whatever a subject prints, the reader gives numbers that are not negative, or an error of one line.
func FuzzParseDone(f *testing.F) {
	for _, line := range []string{"done iterations=20 ns=123", "done iterations=1 ns=1 bytes=2 allocs=3 checksum=x", "error", "done  =", "ready"} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		b, err := parseDone(line)
		if err == nil && (b.iterations < 0 || b.ns < 0 || b.bytes != nil && *b.bytes < 0) {
			t.Errorf("parseDone(%q) = %+v", line, b)
		}
		if err != nil && strings.ContainsAny(err.Error(), "\n\r\x1b") {
			t.Errorf("parseDone(%q): the error %q is not one plain line", line, err)
		}
	})
}

func TestOrder(t *testing.T) {
	sizes := []int{10, 20, 30, 40, 50, 60, 70, 80}
	m := &plans.Microbenchmark{Sizes: sizes, Forks: 4}
	order := func(seed uint64) []int {
		m.Seed = seed
		return sizeOrder(Config{Microbenchmark: m})
	}
	got := order(7)
	for round := range slices.Chunk(got, len(sizes)) {
		if !slices.Equal(slices.Sorted(slices.Values(round)), sizes) {
			t.Errorf("round %v does not have every size once", round)
		}
		if slices.Equal(round, sizes) {
			t.Errorf("round %v is in order", round)
		}
	}
	if slices.Equal(got[:8], got[8:16]) {
		t.Errorf("two rounds in the same order: %v", got)
	}
	if again := order(7); !slices.Equal(got, again) {
		t.Errorf("the same seed gave %v and %v", got, again)
	}
	if other := order(8); slices.Equal(got, other) {
		t.Errorf("seeds 7 and 8 both gave %v", got)
	}
	if want := []int{10, 20, 30, 40, 50, 60, 70, 80}; !slices.Equal(sizes, want) {
		t.Errorf("the plan's sizes became %v", sizes)
	}
}

func TestSettled(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	noisy := func(n int, share float64, level func(i int) float64) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = level(i) * (1 + share*(2*r.Float64()-1))
		}
		return s
	}
	for _, tt := range []struct {
		name   string
		series []float64
		ok     bool
		at     int
		within int
	}{
		{"too short", noisy(7, 0, func(int) float64 { return 1 }), false, 0, 0},
		{"constant", noisy(8, 0, func(int) float64 { return 1 }), true, 0, 0},
		{"noisy but steady", noisy(400, 0.3, func(int) float64 { return 1 }), true, 0, 60},
		{"40 at three times the cost", noisy(120, 0.03, func(i int) float64 {
			if i < 40 {
				return 3
			}
			return 1
		}), true, 40, 5},
		{"the same in a long series", noisy(2000, 0.03, func(i int) float64 {
			if i < 400 {
				return 3
			}
			return 1
		}), true, 400, 20},
		{"still on its way down", noisy(60, 0.01, func(i int) float64 { return 100 - float64(i) }), false, 0, 0},
		{"linear drift, long", noisy(5000, 0.01, func(i int) float64 { return 1 + float64(i) }), false, 0, 0},
		{"a plateau that just ended", noisy(48, 0.01, func(i int) float64 {
			if i < 40 {
				return 3
			}
			return 1
		}), false, 0, 0},
	} {
		at, ok := settled(tt.series)
		if ok != tt.ok || ok && (at < tt.at-tt.within || at > tt.at+tt.within) {
			t.Errorf("%s: settled = %d, %v, want %d ± %d, %v", tt.name, at, ok, tt.at, tt.within, tt.ok)
		}
	}
}

func TestWarmupEnd(t *testing.T) {
	for _, tt := range []struct {
		samples []float64
		want    int
	}{
		{nil, 0},
		{[]float64{3, 1}, 0},
		{[]float64{3, 3, 1, 1, 1}, 2},
		{[]float64{3, 3, 1, 1}, 0}, // two cannot tell
		{[]float64{9, 3, 3, 1, 1, 1}, 3},
		{[]float64{1.1, 1, 1, 1, 1}, 0},
		{[]float64{1, 1, 1, 3, 3, 3}, 0}, // slower is no warm-up
		{[]float64{3, 1, 3, 1, 1, 1}, 0}, // noise
	} {
		if got := warmupEnd(tt.samples); got != tt.want {
			t.Errorf("warmupEnd(%v) = %d, want %d", tt.samples, got, tt.want)
		}
	}
}

func TestGrown(t *testing.T) {
	for _, tt := range []struct {
		n, ns int64
		want  int64
	}{
		{1, 0, 10},        // the clock did not tick
		{1, 10, 10},       // not yet known well
		{10, 10000, 1200}, // 1 µs each, a fifth more than 1 ms
		{1000, 2000000, 500},
		{1, 5000000, 1},
	} {
		want := min(tt.want, 10*tt.n)
		if got := grown(batch{iterations: tt.n, ns: tt.ns}, time.Millisecond); got != want {
			t.Errorf("grown(%d iterations in %d ns) = %d, want %d", tt.n, tt.ns, got, want)
		}
	}
}

// Samples of one process agree better with each other than with those of the next.
func TestIntervalIsOverForks(t *testing.T) {
	forks := []result.Fork{
		{SamplesNS: []float64{100, 101, 100, 99, 100, 100}},
		{SamplesNS: []float64{120, 121, 120, 119, 120, 120}},
		{SamplesNS: []float64{140, 141, 140, 139, 140, 140}},
	}
	i := interval(forks, 120)
	// mean and deviation of the logarithms, t(0.95, 2) = 2.920
	if i.NEff != 3 || i.Confidence != 0.95 || !near(*i.Lo, 89.75, 0.01) || !near(*i.Hi, 158.4, 0.01) {
		t.Errorf("interval of 3 forks %v to %v (%v), want 89.75 to 158.4", *i.Lo, *i.Hi, i.NEff)
	}
	i = interval(forks[:2], 110)
	if *i.Lo != 99 || *i.Hi != 121 || i.NEff != 12 {
		t.Errorf("interval of 2 forks %v to %v (%v), want 99 to 121 of 12 samples", *i.Lo, *i.Hi, i.NEff)
	}
	if i := interval([]result.Fork{{SamplesNS: []float64{1, 2, 3}}}, 2); i != nil {
		t.Errorf("interval of 3 samples = %+v, want none", i)
	}
}

func TestQuantileNeedsSamples(t *testing.T) {
	for _, tt := range []struct {
		n    int
		q    float64
		want bool
	}{{28, 0.90, false}, {29, 0.90, true}, {298, 0.99, false}, {299, 0.99, true}} {
		sorted := make([]float64, tt.n)
		for i := range sorted {
			sorted[i] = float64(i + 1)
		}
		if got := quantile(sorted, tt.q); (got != nil) != tt.want {
			t.Errorf("quantile of %d samples at %v: %v, want one: %v", tt.n, tt.q, got, tt.want)
		}
	}
}

func TestEstimate(t *testing.T) {
	m := &plans.Microbenchmark{Sizes: []int{1, 2}, Forks: 3, Samples: 9, MinTime: 100 * time.Millisecond, Warmup: plans.Until{Steady: true, AtMost: 2 * time.Second}}
	least, most := Estimate(m)
	if least != 6*(300+50+1200)*time.Millisecond || most != 6*(2000+50+1200)*time.Millisecond {
		t.Errorf("Estimate = %v, %v, want 9.3s, 19.5s", least, most)
	}
}
