package imported

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// What differs in more than the number of its line is a series of its own.
func TestReadSeries(t *testing.T) {
	const google = `{"benchmarks": [{"name": "a", "run_name": "a", "run_type": "iteration", "real_time": 1, "time_unit": "us"%s}]}`
	for _, tt := range []struct {
		format Format
		text   string
		want   []string
	}{
		{GoBench, "BenchmarkX 10 5 ns/op\nBenchmarkX-4 10 9 ns/op\n", []string{"BenchmarkX cpu=1", "BenchmarkX cpu=4"}},
		{GoBench, "BenchmarkX-4 10 5 ns/op\nBenchmarkY-4 10 9 ns/op\n", []string{"BenchmarkX", "BenchmarkY"}},
		{GoBench, "pkg: a/b\nBenchmarkX 10 5 ns/op\npkg: a/c\r\nBenchmarkX 10 9 ns/op\r\n", []string{"BenchmarkX pkg=a/b", "BenchmarkX pkg=a/c"}},
		{GoBench, "pkg: a/b\nBenchmarkX 10 5 ns/op\npkg: a/b\nBenchmarkX 10 9 ns/op\n", []string{"BenchmarkX"}},
		{GoBench, "BenchmarkX/z=1/n=5/a=2/quick 10 5 ns/op\n", []string{"BenchmarkX 5 a=2 case=quick z=1"}},
		{Hyperfine, `{"results": [{"command": "a b c", "times": [1], "parameters": {"a": "b", "b": "c", "e": ""}}]}`, []string{"a {a} {b} a=b b=c e="}},
		{PytestBenchmark, `{"benchmarks": [{"name": "t[a\"<b]", "params": {"p": "a\"<b"}, "stats": {"data": [1]}}]}`, []string{`t p=a"<b`}},
		{PytestBenchmark, `{"benchmarks": [{"name": "t[50]", "params": {"length": 50}, "stats": {"data": [1]}}]}`, []string{"t 50"}},
		{PytestBenchmark, `{"benchmarks": [{"name": "t[50]", "params": null, "stats": {"data": [1]}}]}`, []string{"t 50"}},
		{GoogleBenchmark, strings.Replace(google, "%s", `}, {"name": "b", "run_type": "iteration", "real_time": 0, "time_unit": "ns", "skipped": true`, 1), []string{"a"}},
	} {
		all, _, err := Read(write(t, tt.text), tt.format)
		var got []string
		for _, s := range all {
			got = append(got, s.key())
		}
		if err != nil || !slices.Equal(got, tt.want) {
			t.Errorf("Read(%q, %s) = %q, %v, want %q", tt.text, tt.format, got, err, tt.want)
		}
	}
}

func TestReadCosts(t *testing.T) {
	text := "BenchmarkX 10 5 ns/op 8 B/op 2 allocs/op\nBenchmarkX 10 5 ns/op\nBenchmarkX 10 5 ns/op 16 B/op 4 allocs/op\n"
	all, _, err := Read(write(t, text), GoBench)
	if err != nil || *all[0].AllocBytes != 12 || *all[0].Allocs != 3 {
		t.Errorf("Read(%q) = %+v, %v, want 12 bytes and 3 allocations", text, all, err)
	}
	text = `{"benchmarks": [{"name": "a", "real_time": 1, "time_unit": "ns", "allocs_per_iter": 2.5}]}`
	all, _, err = Read(write(t, text), GoogleBenchmark)
	if err != nil || all[0].Allocs == nil || *all[0].Allocs != 2.5 {
		t.Errorf("Read(%q) = %+v, %v, want 2.5 allocations", text, all, err)
	}
}

func TestReadRefusesMore(t *testing.T) {
	const complete = `{"reason": "benchmark-complete", "id": "a", "iteration_count": [1], "measured_values": [1], "unit": "ns"}`
	for _, tt := range []struct {
		format     Format
		text, want string
	}{
		{GoBench, "BenchmarkX 10 5 ns/op Inf B/op\n", ":1:1: "},
		{GoBench, "BenchmarkX 10 5 ns/op 1e300 allocs/op\n", ":1:1: "},
		{GoBench, "BenchmarkX 10 5 ns/op\nBenchmarkX 10 5 ns/op 8 B/o", ":2:1: "},
		{GoBench, "BenchmarkX Inf 5 ns/op\n", "number of iterations"},
		{JMH, `[{"benchmark": "a", "primaryMetric": {"scoreUnit": "ns/op", "rawData": [[1]]}}] x`, ":1:81: "},
		{Hyperfine, `{"results": [{"command": "a", "times": [1]}]}{}`, ":1:46: "},
		{Hyperfine, `{"results": [{"command": "a", "times": [1]}], "results": [{"command": "b", "times": [1]}]}`, `"results" comes twice`},
		{GoogleBenchmark, `{"benchmarks": [{"name": "/5", "real_time": 1, "time_unit": "ns"}]}`, "without a name"},
		{GoogleBenchmark, `{"benchmarks": [{"name": "a_median", "run_name": "a", "run_type": "aggregate", "aggregate_name": "median", "real_time": 1, "time_unit": "ns"}]}`, "--benchmark_report_aggregates_only"},
		{GoogleBenchmark, `{"benchmarks": [{"name": "a\nb\u001b[2J", "error_occurred": true}]}`, "a b [2J failed"},
		{Criterion, complete + "\n" + complete + "\n", ":2:1: a comes twice"},
		{Criterion, complete + "\n{\"reason\": }\n", ":2:12: "},
	} {
		path := write(t, tt.text)
		all, _, err := Read(path, tt.format)
		if e, ok := errors.AsType[*Error](err); !ok || e.Path != path || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Read(%q, %s) = %+v, %v, want %s", tt.text, tt.format, all, err, tt.want)
		}
	}
}

// A short file of many large counts does not become as many samples.
func TestReadHistogramBound(t *testing.T) {
	var text strings.Builder
	for i := range 64 {
		fmt.Fprintf(&text, `,{"benchmark": "a%d", "primaryMetric": {"scoreUnit": "ns/op", "rawDataHistogram": [[[[5, 3e9], [7, 1e9]]]]}}`, i)
	}
	all, _, err := Read(write(t, "["+text.String()[1:]+"]"), JMH)
	if err != nil || len(all) != 64 {
		t.Fatalf("Read of 64 histograms = %d series, %v", len(all), err)
	}
	for _, s := range all {
		n, fives := len(s.ForksNS[0]), 0
		for _, ns := range s.ForksNS[0] {
			if ns == 5 {
				fives++
			}
		}
		if n > maxAllUnfolded/64 || n < maxAllUnfolded/64-2 || math.Abs(float64(fives)/float64(n)-0.75) > 1e-4 {
			t.Errorf("%s has %d samples, %d of 5 ns, want %d, three quarters of 5 ns", s.Name, n, fives, maxAllUnfolded/64)
		}
	}
}

// The folder may be a link, and its files may be damaged one by one.
func TestReadCriterionFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("testdata/criterion")); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(dir, link); err != nil {
		t.Skip(err)
	}
	if all, _, err := Read(link, ""); err != nil || len(all) != 3 {
		t.Errorf("through a link: %d series, %v, want 3", len(all), err)
	}
	estimates := filepath.Join(dir, "sum/new/estimates.json")
	if err := os.Truncate(estimates, 100); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(dir, ""); err == nil || !strings.Contains(err.Error(), "estimates.json:") {
		t.Errorf("damaged estimates: %v, want an error that names the file and line", err)
	}
	if err := os.Remove(estimates); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(dir, "sum/new/benchmark.json")); err != nil {
		t.Fatal(err)
	}
	all, _, err := Read(dir+"/./", "")
	if err != nil || len(all) != 3 || all[2].Name != "sum" || all[2].MedianNS != nil {
		t.Errorf("without estimates and name: %+v, %v, want sum without a median", all, err)
	}
}

func TestReadMarks(t *testing.T) {
	for _, name := range []string{"go.txt", "hyperfine.json", "pytest-benchmark.json", "scalameter.dsv", "cargo-criterion.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		want, _, err := Read(filepath.Join("testdata", name), "")
		if err != nil {
			t.Fatal(err)
		}
		got, _, err := Read(write(t, "\ufeff"+strings.ReplaceAll(string(data), "\n", "\r\n")), "")
		if err != nil || len(got) != len(want) || !slices.EqualFunc(got, want, func(a, b Series) bool { return a.same(b) && slices.Equal(a.ForksNS[0], b.ForksNS[0]) }) {
			t.Errorf("%s with a byte order mark and CRLF: %+v, %v, want %+v", name, got, err, want)
		}
	}
}

// finite tells whether a figure that may be left out is one that a result can hold.
func finite(v *float64, least float64) bool {
	return v == nil || *v >= least && *v < 1<<53 && !math.IsNaN(*v)
}
