package bench

import (
	"context"
	"errors"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

func near(got, want, share float64) bool { return math.Abs(got-want) <= share*want }

func codes(warnings []result.Warning) (all []string) {
	for _, w := range warnings {
		all = append(all, w.Code)
	}
	return all
}

func sizes(mb *result.Microbenchmark) (all []int) {
	for _, s := range mb.Sizes {
		all = append(all, s.Size)
	}
	return all
}

// sizeOrder is the order in which forks run, by size.
func sizeOrder(cfg Config) (all []int) {
	for _, c := range order(cfg.Cells(), cfg.Forks, cfg.Seed) {
		all = append(all, c.Size)
	}
	return all
}

func TestLinear(t *testing.T) {
	t.Parallel()
	cfg := plan("linear", 100, 200, 300, 400, 500)
	cfg.Forks = 3
	cfg.Reference = &plans.Reference{Name: "JVM", Source: "a paper", Points: []plans.ReferencePoint{{Size: 100, Time: time.Second}}}
	var seen []Progress
	cfg.Progress = func(p Progress) { seen = append(seen, p) }
	mb, warnings, err := Run(t.Context(), cfg)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Run: %v, warnings %v", err, warnings)
	}
	if got := sizes(mb); !slices.Equal(got, cfg.Sizes) {
		t.Fatalf("sizes %v, want %v", got, cfg.Sizes)
	}
	for _, s := range mb.Sizes {
		want := float64(cost("linear", s.Size, 0))
		if s.Samples != 12 || len(s.Forks) != 3 || *s.P50NS != want || *s.MinNS != want || *s.MaxNS != want {
			t.Errorf("size %d: %d samples, %d forks, p50 %v, want 12, 3, %v", s.Size, s.Samples, len(s.Forks), *s.P50NS, want)
		}
		if s.P90NS != nil || s.P99NS != nil {
			t.Errorf("size %d: p90 %v and p99 %v of 12 samples, want none", s.Size, s.P90NS, s.P99NS)
		}
		if i := s.Interval; i == nil || !near(*i.Lo, want, 1e-9) || !near(*i.Hi, want, 1e-9) || i.NEff != 3 {
			t.Errorf("size %d: interval %+v, want %v of 3 forks", s.Size, i, want)
		}
		for _, f := range s.Forks {
			if d := f.SamplesNS[0] * float64(f.SampleIterations); d < float64(cfg.MinTime) {
				t.Errorf("size %d: a sample lasts %v ns, want at least %v", s.Size, d, cfg.MinTime)
			}
		}
		if s.AllocBytes != nil || s.Allocs != nil || s.Checksum != "" {
			t.Errorf("size %d: allocations or a checksum that were not reported", s.Size)
		}
	}
	f := mb.Fit(nil)
	if f == nil || f.Class != "linear" || !near(f.SlopeNS, 1000, 0.01) || !near(f.InterceptNS, 20e3, 0.05) || f.R2 < 0.999 || *f.SlopeLoNS > 1001 || *f.SlopeHiNS < 999 {
		t.Errorf("fit %+v, want linear with 1000 ns a row and 20000 ns", f)
	}
	if mb.Reference.Name != "JVM" || mb.Reference.Points[0].TimeNS != 1e9 || !near(*mb.Reference.Points[0].Ratio, 1e9/120e3, 1e-9) {
		t.Errorf("reference %+v", mb.Reference)
	}
	if len(seen) != 16 || seen[0].Count != 15 || seen[0].Done != 0 || seen[0].Cell.Size != sizeOrder(cfg)[0] || seen[15].Done != 15 {
		t.Errorf("progress %v, want 0 to 15 of 15", seen)
	}
}

func TestQuadratic(t *testing.T) {
	t.Parallel()
	cfg := plan("quadratic", 10, 20, 30, 40, 50)
	cfg.Forks, cfg.Samples = 1, 3
	mb, _, err := Run(t.Context(), cfg)
	if err != nil || mb.Fit(nil) == nil || mb.Fit(nil).Class != "quadratic" {
		t.Errorf("fit %+v, %v, want quadratic", mb.Fits, err)
	}
}

func TestFewSizesHaveNoFit(t *testing.T) {
	for n := range 7 {
		var sizes []result.Size
		for i := range n {
			p50 := float64(100 * (i + 1))
			sizes = append(sizes, result.Size{Size: i + 1, P50NS: &p50, Forks: []result.Fork{{SamplesNS: []float64{p50}}}})
		}
		if f := growth(sizes); (f != nil) != (n >= 5) {
			t.Errorf("fit of %d sizes: %+v", n, f)
		}
	}
}

func TestMemoryAndChecksum(t *testing.T) {
	t.Parallel()
	mb, warnings, err := Run(t.Context(), plan("memory", 7))
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Run: %v, warnings %v", err, warnings)
	}
	if s := mb.Sizes[0]; *s.AllocBytes != 48 || *s.Allocs != 2 || s.Checksum != "c7" {
		t.Errorf("bytes %v, allocations %v, checksum %q, want 48, 2, c7", *s.AllocBytes, *s.Allocs, s.Checksum)
	}
}

// 40 iterations at 3 ms, then 1 ms: the end of the warm-up is found to within five iterations and none of the slow
// ones is in a sample.
func TestPlateau(t *testing.T) {
	t.Parallel()
	cfg := plan("plateau", 1)
	cfg.Warmup = plans.Until{Steady: true, AtMost: 20 * time.Second}
	mb, warnings, err := Run(t.Context(), cfg)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Run: %v, warnings %v", err, warnings)
	}
	for _, f := range mb.Sizes[0].Forks {
		if !f.Settled || f.SettledIterations == nil || *f.SettledIterations < 35 || *f.SettledIterations > 45 {
			t.Errorf("settled %v after %v iterations, want 40 ± 5", f.Settled, deref(f.SettledIterations))
		}
		if f.WarmupIterations < 40 || slices.Max(f.SamplesNS) > 1.01e6 {
			t.Errorf("%d iterations thrown away, slowest sample %v ns, want at least 40 and 1 ms", f.WarmupIterations, slices.Max(f.SamplesNS))
		}
	}
}

func deref(n *int64) int64 {
	if n == nil {
		return -1
	}
	return *n
}

// A plateau longer than the warm-up that was judged ends among the samples.
func TestPlateauAmongTheSamples(t *testing.T) {
	t.Parallel()
	cfg := plan("plateau", 1)
	cfg.Forks, cfg.Samples = 1, 20
	cfg.Warmup = plans.Until{Steady: true, AtMost: 20 * time.Second}
	f := &fork{plan: cfg.Microbenchmark, cell: plans.Cell{Size: 1}, rec: result.Fork{Settled: true}}
	s, err := open(t.Context(), spec(cfg), cfg.Timeout, plans.Cell{Size: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.kill()
	f.talk, f.begin = s, time.Now()
	for f.rec.WarmupIterations < 30 { // as if they had been judged steady
		if _, err := f.thrown(t.Context(), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.take(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !f.rec.Settled || slices.Max(f.rec.SamplesNS) > 1.01e6 || len(f.rec.SamplesNS) != 20 || deref(f.rec.SettledIterations) != 40 {
		t.Errorf("settled %v after %d iterations, samples %v, want 40 and samples of 1 ms", f.rec.Settled, deref(f.rec.SettledIterations), f.rec.SamplesNS)
	}
}

func TestDriftNeverSettles(t *testing.T) {
	t.Parallel()
	cfg := plan("drift", 1)
	cfg.Samples = 1
	cfg.Warmup = plans.Until{Steady: true, AtMost: 600 * time.Millisecond}
	mb, warnings, err := Run(t.Context(), cfg)
	if err != nil || !slices.Equal(codes(warnings), []string{"warmup_unsettled"}) {
		t.Fatalf("Run: %v, warnings %v", err, warnings)
	}
	for _, f := range mb.Sizes[0].Forks {
		if f.Settled || f.SettledIterations != nil {
			t.Errorf("settled %v after %d iterations, want never", f.Settled, deref(f.SettledIterations))
		}
	}
	if !strings.Contains(warnings[0].Text, "2 of 2 forks (size 1)") {
		t.Errorf("warning %q does not say where", warnings[0].Text)
	}
}

func TestFixedWarmup(t *testing.T) {
	t.Parallel()
	for _, d := range []time.Duration{0, 50 * time.Millisecond} {
		cfg := plan("constant", 1)
		cfg.Forks, cfg.Warmup = 1, plans.Until{AtMost: d}
		mb, warnings, err := Run(t.Context(), cfg)
		if err != nil || len(warnings) > 0 {
			t.Fatalf("Run: %v, warnings %v", err, warnings)
		}
		f := mb.Sizes[0].Forks[0]
		if !f.Settled || d > 0 && f.WarmupIterations < 2 || int64(len(f.WarmupNS)) > f.WarmupIterations {
			t.Errorf("warm-up of %v: settled %v, %d iterations in %d batches", d, f.Settled, f.WarmupIterations, len(f.WarmupNS))
		}
	}
}

func TestBadSubjects(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ mode, want string }{
		{"silent", `size 1, fork 1 of 2: no answer: the subject did not send its greeting within `},
		{"gone", `size 1, fork 1 of 2: the subject ended early, with exit status 0, while perfplan waited for its greeting`},
		{"stranger", `size 1, fork 1 of 2: not a greeting: got "Hello, world", want "perfplan-subject 1" as the first line on standard output (logs belong on standard error)`},
		{"future", `size 1, fork 1 of 2: the subject speaks protocol version "2", this perfplan speaks version 1`},
		{"refuse", `size 1, fork 1 of 2: the subject reports an error: no data for this size`},
		{"garbage", `size 1, fork 1 of 2: not an answer: got "iteration 1 done\a", want "done iterations=N ns=N"`},
		{"endless", `size 1, fork 1 of 2: the subject sent a line longer than 64 KiB in place of an answer to "run iterations=1"`},
		{"fewer", `size 1, fork 1 of 2: asked for 1 iterations, the subject did 0`},
		{"fast", `size 1, fork 1 of 2: the subject reports 1s for 1 iterations, but perfplan waited only `},
		{"nothing", `size 1, fork 1 of 2: 1000000000000 iterations take only 0s: the subject seems to do nothing`},
		{"huge", `size 1, fork 1 of 2: the subject reports 2251799813685248 bytes for 1 iterations, more than any machine has`},
		{"many", `size 1, fork 1 of 2: the subject reports 2251799813685248 allocations for 1 iterations, more than any machine has`},
		{"zero", `size 1, fork 1 of 2: the subject reports 0 ns for 100 iterations, perfplan waited `},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			cfg := plan(tt.mode, 1)
			if tt.mode == "silent" {
				cfg.Timeout = 50 * time.Millisecond
			}
			mb, warnings, err := Run(t.Context(), cfg)
			if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
				t.Fatalf("Run = %v, want %s…", err, tt.want)
			}
			if mb == nil || len(mb.Sizes) != 0 {
				t.Errorf("record %+v, want one without sizes", mb)
			}
			if clock := slices.Contains([]string{"fast", "zero", "nothing"}, tt.mode); clock != slices.Contains(codes(warnings), "subject_clock") {
				t.Errorf("warnings %v", warnings)
			}
			if tt.mode == "garbage" && !strings.HasSuffix(err.Error(), "; its last output:\nlog of mode garbage") {
				t.Errorf("error %q does not end with the subject's log", err)
			}
		})
	}
}

// What was measured before a fork failed is kept.
func TestPartial(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ mode, want string }{
		{"crash", "the subject ended early, with exit status 3, while perfplan waited for an answer to \"run iterations=1\"; its last output:\nlog of mode crash\npanic: index out of range"},
		{"hang", "no answer: the subject did not send an answer to \"run iterations=1\" within 3s; its last output:\nlog of mode hang"},
		{"children", "the subject ended early, with exit status 4, while perfplan waited for an answer to \"run iterations=1\"; its last output:\nlog of mode children\npid "},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			cfg := plan(tt.mode, 1, 2, 3)
			for sizeOrder(cfg)[0] == 2 { // something is to be measured before
				cfg.Seed++
			}
			cfg.Timeout = 3 * time.Second
			mb, _, err := Run(t.Context(), cfg)
			at := slices.Index(sizeOrder(cfg), 2)
			want := slices.Sorted(slices.Values(sizeOrder(cfg)[:at]))
			if got := sizes(mb); !slices.Equal(got, want) || len(want) == 0 {
				t.Errorf("kept sizes %v, want %v", got, want)
			}
			if err == nil || !strings.HasPrefix(err.Error(), "size 2, fork 1 of 2: "+tt.want) {
				t.Fatalf("Run = %v\nwant … %s", err, tt.want)
			}
			if _, pid, ok := strings.Cut(err.Error(), "\npid "); ok {
				checkGone(t, pid)
			}
		})
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ mode, code, severity, text string }{
		{"slow", "subject_clock", result.Invalid, "the subject's clock counted "},
		{"third", "subject_clock", result.Suspect, "the subject's clock counted "},
		{"sums", "checksum", result.Suspect, "2 different checksums of size 1, the first two "},
		{"badexit", "subject_exit", result.Note, `the subject ended with exit status 5 after "exit", want exit status 0, in 2 of 2 forks`},
		{"stays", "subject_exit", result.Note, `the subject did not end within 2s of "exit" and was killed, in 1 of 1 forks`},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			cfg := plan(tt.mode, 1)
			switch tt.mode {
			case "stays":
				cfg.Forks = 1
			case "third": // a busy machine adds a little to each wait
				cfg.MinTime = 20 * time.Millisecond
			}
			mb, warnings, err := Run(t.Context(), cfg)
			if err != nil || mb.Sizes[0].Samples != int64(4*cfg.Forks) {
				t.Fatalf("Run: %v, record %+v", err, mb)
			}
			if len(warnings) != 1 || warnings[0].Code != tt.code || warnings[0].Severity != tt.severity || !strings.HasPrefix(warnings[0].Text, tt.text) {
				t.Errorf("warnings %+v, want %s %s: %s…", warnings, tt.severity, tt.code, tt.text)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cfg := plan("hang", 1, 2, 3)
	cfg.Progress = func(p Progress) {
		if p.Cell.Size == 2 {
			time.AfterFunc(300*time.Millisecond, cancel)
		}
	}
	begin := time.Now()
	_, _, err := Run(ctx, cfg)
	if !errors.Is(err, context.Canceled) || strings.Contains(err.Error(), "size") {
		t.Errorf("Run = %v, want %v", err, context.Canceled)
	}
	if took := time.Since(begin); took > 15*time.Second {
		t.Errorf("a cancel took %v", took)
	}
}

func TestNoSuchSubject(t *testing.T) {
	t.Parallel()
	cfg := plan("constant", 1)
	cfg.Subject.Command.Args = []string{"./no-such-subject"}
	cfg.Subject.Command.Dir = t.TempDir()
	_, _, err := Run(t.Context(), cfg)
	if err == nil || !strings.HasPrefix(err.Error(), `size 1, fork 1 of 2: command "./no-such-subject": not found`) {
		t.Errorf("Run = %v", err)
	}
}

// The Python subject of the document does what the document says.
func TestDocumentedSubject(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip("no python3")
	}
	doc, err := os.ReadFile("../../docs/subject-protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	code := regexp.MustCompile("(?s)```python\n(.*?)```").FindSubmatch(doc)
	if code == nil {
		t.Fatal("no Python in docs/subject-protocol.md")
	}
	file := filepath.Join(t.TempDir(), "sort.py")
	if err := os.WriteFile(file, code[1], 0o644); err != nil {
		t.Fatal(err)
	}
	ask := exec.Command(python, "-c", string(code[1])+"\nprint(len(set(data)))")
	ask.Stdin = strings.NewReader("setup size=10\nexit\n")
	if out, err := ask.Output(); err != nil || !strings.HasSuffix(strings.TrimSpace(string(out)), "ready\n10") {
		t.Errorf("the document's subject, and how many different numbers its 10 are: %q, %v, want 10", out, err)
	}
	cfg := plan("", 10, 1000)
	cfg.Subject.Command.Args, cfg.Env = []string{python, file}, nil
	mb, warnings, err := Run(t.Context(), cfg)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Run: %v, warnings %v", err, warnings)
	}
	if small, large := *mb.Sizes[0].MinNS, *mb.Sizes[1].MinNS; small <= 0 || large < 5*small {
		t.Errorf("sorting 10 takes %v ns, 1000 takes %v, want at least 5 times that", small, large)
	}
	if mb.Sizes[0].Checksum == "" {
		t.Error("no checksum")
	}
}
