package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// fromPlan loads a plan's first stage, so that subjects are as plans write them.
func fromPlan(t *testing.T, dir, text string) Config {
	t.Helper()
	file := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(file, []byte("version: 1\nname: a\nstages:\n  - name: s\n    microbenchmark:\n"+text), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := plans.ReadFile(file, plans.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return Config{Microbenchmark: p.Stages[0].Work.(*plans.Microbenchmark), Env: append(os.Environ(), "GORACE=atexit_sleep_ms=0")}
}

func TestSettings(t *testing.T) {
	t.Parallel()
	cfg := plan("settings", 5, 6)
	cfg.Parameters = []plans.Parameter{{Name: "algorithm", Values: []string{"quick", "heap"}}, {Name: "threads", Values: []string{"1", "2"}}}
	cfg.Forks, cfg.Samples = 1, 2
	mb, warnings, err := Run(t.Context(), cfg)
	busy := func(w result.Warning) bool { return w.Code == "subject_clock" } // what a busy machine may give
	if warnings = slices.DeleteFunc(warnings, busy); err != nil || len(warnings) > 0 {
		t.Fatalf("Run: %v, warnings %v", err, warnings)
	}
	var got []string
	for _, z := range mb.Sizes {
		got = append(got, z.Name()+" "+z.Checksum)
	}
	want := []string{
		"quick, 1, size 5 algorithm=quick,threads=1", "quick, 1, size 6 algorithm=quick,threads=1", "quick, 2, size 5 algorithm=quick,threads=2", "quick, 2, size 6 algorithm=quick,threads=2",
		"heap, 1, size 5 algorithm=heap,threads=1", "heap, 1, size 6 algorithm=heap,threads=1", "heap, 2, size 5 algorithm=heap,threads=2", "heap, 2, size 6 algorithm=heap,threads=2",
	}
	if !slices.Equal(got, want) {
		t.Errorf("cells %q, want %q", got, want)
	}
}

// What a sample took too long for is told, and it stays in the figures.
func TestOutliers(t *testing.T) {
	t.Parallel()
	cfg := plan("collects", 1)
	cfg.Forks, cfg.Samples, cfg.MinTime = 1, 40, 0
	mb, _, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	z := mb.Sizes[0]
	if len(z.Outliers) < 1 || len(z.Outliers) > 4 || z.Samples != 40 || *z.MaxNS < 5e6 {
		t.Fatalf("%d outliers of %d samples up to %v", len(z.Outliers), z.Samples, *z.MaxNS)
	}
	for _, o := range z.Outliers {
		if o.Cause != result.CauseGC || o.NS != 6e6 || z.Forks[o.Fork].SamplesNS[o.Sample] != o.NS {
			t.Errorf("outlier %+v, want one of 6 ms for garbage collection", o)
		}
	}
	if z.GCs == nil || *z.GCs <= 0 || z.GCPauseNS == nil || *z.GCPauseNS <= 0 {
		t.Errorf("collections %v, pauses %v, want some", z.GCs, z.GCPauseNS)
	}
	if runtime.GOOS == "linux" && (z.RSSBytes == nil || *z.RSSBytes < 1<<20 || z.CPUNS == nil) {
		t.Errorf("memory %v, CPU time %v, want them", z.RSSBytes, z.CPUNS)
	}
}

// Work is CPU time, sleep is not.
func TestCPUTime(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("read from /proc")
	}
	for mode, busy := range map[string]bool{"busy linear": true, "linear": false} {
		cfg := plan(mode, 1000)
		cfg.MinTime = 20 * time.Millisecond
		mb, _, err := Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		z := mb.Sizes[0]
		if share := *z.CPUNS / *z.P50NS; busy && share < 0.1 || !busy && share > 0.4 {
			t.Errorf("%s: %v ns of CPU time in %v ns", mode, *z.CPUNS, *z.P50NS)
		}
	}
}

func TestIdle(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]string{"busy nothing": "the checksum is \"1\" for all 3 sizes", "constant sum": "the checksum is \"1\" for all 3 sizes", "settings": ""} {
		cfg := plan(mode, 1, 2, 3)
		if mode == "settings" { // each its own
			cfg.Parameters = []plans.Parameter{{Name: "a", Values: []string{"1", "2"}}}
		}
		_, warnings, err := Run(t.Context(), cfg)
		if err != nil {
			t.Fatal(err)
		}
		if i := slices.IndexFunc(warnings, func(w result.Warning) bool { return w.Code == "no_work" }); (i >= 0) != (want != "") || i >= 0 && !strings.Contains(warnings[i].Text, want) {
			t.Errorf("%s: warnings %+v, want %q", mode, warnings, want)
		}
	}
	fast := &fork{rec: result.Fork{SamplesNS: []float64{0.3, 0.4}}}
	if text := idle(plan("", 1).Microbenchmark, []*fork{fast}); !strings.Contains(text, "an iteration takes 0.35 ns") {
		t.Errorf("0.35 ns: %q", text)
	}
}

func TestGo(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go")
	}
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("go.mod", "module example.test/m\n\ngo 1.24\n")
	write("none/none.go", "package none\n")
	write("broken/broken_test.go", "package broken\n\nvar x int = \"\"\n")
	write("shop/data.txt", "here")
	write("shop/shop_test.go", `package shop

import (
	"fmt"
	"os"
	"testing"
	"time"
)

func BenchmarkSort(b *testing.B) {
	if _, err := os.Stat("data.txt"); err != nil {
		b.Fatal(err)
	}
	for _, n := range []int{1, 2, 4, 8, 16} {
		for _, a := range []string{"quick", "heap"} {
			b.Run(fmt.Sprintf("size=%d/%s", n, a), func(b *testing.B) {
				for range b.N {
					keep = make([]byte, 64*n)
					time.Sleep(time.Duration(n) * time.Millisecond)
				}
			})
		}
	}
}

var keep []byte

func BenchmarkFails(b *testing.B) { b.Fatal("no data") }

func BenchmarkPanics(b *testing.B) { panic("no luck") }
`)
	cfg := fromPlan(t, dir, `      subject: {go: {package: ./shop, benchmark: "BenchmarkSort/size=${size}/${algorithm}"}}
      sizes: {from: 1, to: 16, times: 2}
      parameters: {algorithm: [quick, heap]}
      forks: 1
      samples: 3
      min_time: 10ms
      warmup: none
`)
	mb, _, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if len(mb.Sizes) != 10 || len(mb.Fits) != 2 || mb.Kind != "go" {
		t.Fatalf("%d cells, %d fits, kind %s, want 10, 2, go", len(mb.Sizes), len(mb.Fits), mb.Kind)
	}
	for _, z := range mb.Sizes {
		if z.Samples != 3 || *z.MinNS < float64(z.Size)*1e6 || *z.AllocBytes < 64*float64(z.Size) || *z.Allocs < 1 || z.Iterations < 3 {
			t.Errorf("%s: %d samples, least %v ns, %v bytes, %d iterations", z.Name(), z.Samples, *z.MinNS, *z.AllocBytes, z.Iterations)
		}
	}
	for benchmark, want := range map[string]string{
		"./shop, benchmark: BenchmarkNone":   "the package has no benchmark BenchmarkNone",
		"./shop, benchmark: BenchmarkSort":   "name the sub-benchmark as well",
		"./shop, benchmark: BenchmarkFails":  "no data",
		"./shop, benchmark: BenchmarkPanics": "no luck",
		"./none, benchmark: BenchmarkX":      "package ./none has no test files",
		"./broken, benchmark: BenchmarkX":    "cannot build the benchmarks of ./broken: ",
		"./gone, benchmark: BenchmarkX":      "package ./gone: ",
	} {
		cfg := fromPlan(t, t.TempDir(), "      subject: {go: {package: "+benchmark+"}, dir: "+dir+"}\n      forks: 1\n      samples: 2\n      min_time: 2ms\n      warmup: none\n")
		if _, _, err := Run(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", benchmark, err, want)
		}
	}
}

func TestParseGoLine(t *testing.T) {
	for line, want := range map[string]batch{
		"BenchmarkX-2   \t 1000\t   123.5 ns/op":                 {iterations: 1000, ns: 123500},
		"BenchmarkX/size=10/a b-8 \t1 \t5 ns/op":                 {},
		"BenchmarkX 10 5 ns/op 3 widgets/op 48 B/op 2 allocs/op": {iterations: 10, ns: 50, bytes: new(int64(480)), allocs: new(int64(20))},
		"goos: linux":  {},
		"BenchmarkX-2": {},
		"PASS":         {},
	} {
		b, _, ok, err := parseGoLine(line)
		if err != nil || ok != (want.iterations > 0) || b.ns != want.ns || (b.bytes == nil) != (want.bytes == nil) || b.bytes != nil && (*b.bytes != *want.bytes || *b.allocs != *want.allocs) {
			t.Errorf("parseGoLine(%q) = %+v, %v, %v", line, b, ok, err)
		}
	}
	for _, line := range []string{"BenchmarkX 10 NaN ns/op", "BenchmarkX 10 -5 ns/op", "BenchmarkX 0 5 ns/op", "BenchmarkX 10 1e300 ns/op", "BenchmarkX 10 x ns/op"} {
		if b, _, _, err := parseGoLine(line); err == nil {
			t.Errorf("parseGoLine(%q) = %+v, want an error", line, b)
		}
	}
}

func wholePlan(t *testing.T, mode, args, more string) Config {
	t.Helper()
	cfg := fromPlan(t, t.TempDir(), "      subject: {time: ["+os.Args[0]+", whole"+args+"]}\n"+more)
	cfg.Env = append(cfg.Env, "BENCH_TEST_MODE="+mode)
	return cfg
}

func TestWhole(t *testing.T) {
	t.Parallel()
	cfg := wholePlan(t, "sleep", `, "${size}ms"`, "      sizes: [10, 40]\n      forks: 2\n      samples: 3\n      warmup: none\n")
	mb, warnings, err := Run(t.Context(), cfg)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Run: %v, warnings %v", err, warnings)
	}
	for i, z := range mb.Sizes {
		least := []float64{10e6, 40e6}[i]
		if z.Samples != 6 || *z.MinNS < least || z.CPUNS == nil || *z.CPUNS <= 0 || *z.CPUNS > *z.MaxNS+50e6 {
			t.Errorf("%s: %d samples from %v ns, CPU time %v", z.Name(), z.Samples, *z.MinNS, z.CPUNS)
		}
		if runtime.GOOS == "linux" && (z.RSSBytes == nil || *z.RSSBytes < 1<<20) {
			t.Errorf("%s: memory %v", z.Name(), z.RSSBytes)
		}
	}
}

func TestWholeGoesWrong(t *testing.T) {
	t.Parallel()
	more := "      forks: 1\n      samples: 2\n      warmup: none\n      timeout: 10s\n"
	for mode, want := range map[string]string{
		"fails": "fork 1 of 1: the command ended with exit status 7, want exit status 0; its last output:\ncannot open the data",
		"hangs": "fork 1 of 1: the command did not end within 10s; its last output:\nwaiting for the data",
	} {
		mb, _, err := Run(t.Context(), wholePlan(t, mode, "", more))
		if err == nil || err.Error() != want || len(mb.Sizes) != 0 {
			t.Errorf("%s: %v, want %s", mode, err, want)
		}
	}
	pid := filepath.Join(t.TempDir(), "pid")
	if _, _, err := Run(t.Context(), wholePlan(t, "forks", ", "+pid, more)); err != nil {
		t.Fatal(err)
	}
	child, err := os.ReadFile(pid)
	if err != nil {
		t.Fatal(err)
	}
	checkGone(t, string(child))
}

// The first runs, which fill caches, are no samples.
func TestWholeWarmsUp(t *testing.T) {
	t.Parallel()
	cfg := wholePlan(t, "first", ", "+filepath.Join(t.TempDir(), "n"), "      forks: 1\n      samples: 8\n")
	mb, _, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	f := mb.Sizes[0].Forks[0]
	if len(f.WarmupNS) < 3 || f.WarmupNS[0] < 100e6 || len(f.SamplesNS) != 8 {
		t.Errorf("thrown away %v, samples %v", f.WarmupNS, f.SamplesNS)
	}
}

func TestShell(t *testing.T) {
	t.Parallel()
	cfg := fromPlan(t, t.TempDir(), "      subject: {shell: \"sleep 0.05 | cat; : ${size}\"}\n      sizes: [1]\n      forks: 1\n      samples: 3\n      warmup: none\n")
	mb, _, err := Run(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if mb.OverheadNS == nil || *mb.OverheadNS <= 0 || *mb.Sizes[0].MinNS < 50e6-*mb.OverheadNS {
		t.Errorf("shell %v, least %v", mb.OverheadNS, *mb.Sizes[0].MinNS)
	}
	cfg = fromPlan(t, t.TempDir(), "      subject: {shell: \"exit 3\"}\n      forks: 1\n")
	if mb, _, err := Run(t.Context(), cfg); err == nil || mb.OverheadNS != nil {
		t.Errorf("a shell that fails at once: %v, overhead %v", err, mb.OverheadNS)
	}
	cfg = fromPlan(t, t.TempDir(), "      subject: {shell: \":\"}\n      forks: 1\n      samples: 8\n      warmup: none\n")
	for try := 0; ; try++ { // a machine that has just become busy may make the command seem longer than the shell
		_, warnings, err := Run(t.Context(), cfg)
		if err == nil && slices.Contains(codes(warnings), "shell_overhead") {
			break
		}
		if err != nil || try == 10 {
			t.Fatalf("an empty command: %v, warnings %v, want one of the shell", err, warnings)
		}
	}
}

func TestLevel(t *testing.T) {
	for _, tt := range []struct {
		samples []float64
		want    bool
	}{
		{[]float64{1, 1, 1}, true},
		{[]float64{2, 1, 1, 1}, false},
		{[]float64{1, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6, 1.7, 1.8}, false},
		{[]float64{1, 1.01, 0.99, 1, 1.02, 0.98, 1, 1.01, 1}, true},
	} {
		if got := level(tt.samples); got != tt.want {
			t.Errorf("level(%v) = %v, want %v", tt.samples, got, tt.want)
		}
	}
}

func TestResults(t *testing.T) {
	t.Parallel()
	dir, err := filepath.Abs("imported/testdata")
	if err != nil {
		t.Fatal(err)
	}
	cfg := fromPlan(t, t.TempDir(), "      subject: {results: {file: "+dir+"/jmh.json}}\n")
	mb, warnings, err := Run(t.Context(), cfg)
	if err != nil || len(warnings) > 0 {
		t.Fatalf("Run: %v, warnings %v", err, warnings)
	}
	var got []string
	for _, z := range mb.Sizes {
		got = append(got, z.Name())
		if z.Samples != 10 || len(z.Forks) != 2 || z.Spread == nil {
			t.Errorf("%s: %d samples of %d forks", z.Name(), z.Samples, len(z.Forks))
		}
	}
	if want := []string{"boxed, size 1000", "boxed, size 2000", "quick, size 1000", "quick, size 2000"}; !slices.Equal(got, want) || mb.Command != "results of "+dir+"/jmh.json (jmh)" {
		t.Errorf("cells %q of %s, want %q", got, mb.Command, want)
	}
	cfg = fromPlan(t, t.TempDir(), "      subject: {results: {file: "+dir+"/google-benchmark.json}}\n")
	if mb, _, err = Run(t.Context(), cfg); err != nil || len(mb.Sizes) != 3 || mb.Sizes[0].Name() != "BM_Empty" || mb.Sizes[2].Name() != "BM_Sort, size 2000" {
		t.Errorf("several benchmarks: %+v, %v", mb.Sizes, err)
	}
	cfg = fromPlan(t, t.TempDir(), "      subject: {results: {file: "+dir+"/google-benchmark.json, benchmark: BM_Sort}}\n")
	if mb, _, err = Run(t.Context(), cfg); err != nil || len(mb.Sizes) != 2 || len(mb.Sizes[0].Settings) != 0 {
		t.Errorf("one benchmark: %+v, %v", mb.Sizes, err)
	}
	for text, want := range map[string]string{
		"google-benchmark.json, benchmark: BM_None": `google-benchmark.json: no benchmark "BM_None" in it, there are BM_Sort, BM_Empty`,
		"google-benchmark.json, format: jmh":        "google-benchmark.json:1:1: not a JSON array",
		"gone.json":                                 "gone.json: no such file or directory",
	} {
		cfg := fromPlan(t, t.TempDir(), "      subject: {results: {file: "+dir+"/"+text+"}}\n")
		if mb, _, err := Run(t.Context(), cfg); err == nil || !strings.HasSuffix(err.Error(), want) || len(mb.Sizes) != 0 {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}
