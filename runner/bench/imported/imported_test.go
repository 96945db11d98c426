package imported

import (
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"

	"github.com/perfplan/perfplan/runner/stats"
)

func (s Series) key() string {
	text := s.Name
	if s.Size > 0 {
		text += fmt.Sprintf(" %d", s.Size)
	}
	for _, p := range s.Params {
		text += " " + p.Name + "=" + p.Value
	}
	return text
}

// Medians are those that the tools print, to the digits that they print (testdata/README.md).
func TestRead(t *testing.T) {
	for _, tt := range []struct {
		file   string
		format Format
		forks  int
		want   map[string]float64 // ns
		within float64            // relative: half of the last digit that is printed
	}{
		{"go.txt", GoBench, 1, map[string]float64{"BenchmarkSort 1000 case=quick": 16930, "BenchmarkSort 1000 case=stable": 131000, "BenchmarkSort 2000 case=quick": 78840, "BenchmarkSort 2000 case=stable": 346400}, 5e-4},
		{"google-benchmark.json", GoogleBenchmark, 1, map[string]float64{"BM_Sort 1000": 7570, "BM_Sort 2000": 33400, "BM_Empty": 0.337}, 2e-3},
		{"hyperfine.json", Hyperfine, 1, map[string]float64{"sleep 0.0{n} 1": 11366579, "sleep 0.0{n} 2": 21.9e6}, 5e-3},
		{"pytest-benchmark.json", PytestBenchmark, 1, map[string]float64{"test_sum": 4062.6, "test_sort 1000": 100261.0, "test_sort 2000": 375086.5}, 1e-5},
		{"criterion", Criterion, 1, map[string]float64{"sort 1000 case=unstable": 7432.84602, "sort 2000 case=unstable": 18096.956, "sum": 67.923671}, 1e-6},
		{"cargo-criterion.json", Criterion, 1, map[string]float64{"sort 1000 case=unstable": 7500}, 1e-9},
		{"jmh.json", JMH, 2, map[string]float64{"example.Sort.sort 1000 algorithm=quick": 16948.0897, "example.Sort.sort 2000 algorithm=quick": 46157.906, "example.Sort.sort 1000 algorithm=boxed": 84986.3279, "example.Sort.sort 2000 algorithm=boxed": 429241.403}, 1e-6},
		{"jmh-sample.json", JMH, 1, map[string]float64{"example.Sort.sort 1000 algorithm=quick": 55808}, 1e-3},
		{"scalameter.dsv", ScalaMeter, 1, map[string]float64{"measurement 1000": 23.57e6, "measurement 2000": 44.48e6}, 1e-9},
	} {
		for _, format := range []Format{"", tt.format} {
			all, got, err := Read(filepath.Join("testdata", tt.file), format)
			if err != nil || got != tt.format || len(all) != len(tt.want) {
				t.Fatalf("Read(%s, %q) = %d series of %s, %v, want %d of %s", tt.file, format, len(all), got, err, len(tt.want), tt.format)
			}
			for _, s := range all {
				want, known := tt.want[s.key()]
				if !known || len(s.ForksNS) != tt.forks {
					t.Errorf("%s: %s with %d forks, want one of %v with %d", tt.file, s.key(), len(s.ForksNS), tt.want, tt.forks)
				}
				var samples []float64
				for _, f := range s.ForksNS {
					samples = append(samples, f...)
				}
				median := stats.Median(samples)
				if want > 0 && math.Abs(median/want-1) > tt.within {
					t.Errorf("%s: %s has the median %v ns, want %v as the tool prints", tt.file, s.key(), median, want)
				}
				if s.MedianNS != nil && math.Abs(median / *s.MedianNS - 1) > 2e-3 {
					t.Errorf("%s: %s has the median %v ns, the tool states %v", tt.file, s.key(), median, *s.MedianNS)
				}
			}
		}
	}
	all, _, err := Read("testdata/go.txt", "")
	if err != nil || *all[0].AllocBytes != 4096 || *all[0].Allocs != 1 || len(all[0].ForksNS[0]) != 5 {
		t.Errorf("go.txt: %+v, %v, want 5 samples, 4096 bytes, 1 allocation", all[0], err)
	}
}

func write(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "results")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func TestReadRefuses(t *testing.T) {
	jmhWith := func(metric string) string {
		return "[\n {\"benchmark\": \"a.B.c\",\n  \"primaryMetric\": {" + metric + "}}\n]"
	}
	for _, tt := range []struct {
		format     Format
		text, want string
	}{
		{"", "", "empty file"},
		{"", "   \n", "empty file"},
		{"", "hello", "not a result of a tool that is known"},
		{"", "{}", "not a result of a tool that is known"},
		{JMH, "{}", ":1:1: not a JSON array"},
		{JMH, "[]", "no result of jmh in it"},
		{JMH, "[{}]", ":1:2: no benchmark or no primaryMetric"},
		{JMH, "[1]", ": got a number, want a "},
		{JMH, jmhWith(`"scoreUnit": "ops/s", "rawData": [[1]]`), `:2:2: a.B.c: the unit is "ops/s", want a time per operation: run JMH with -bm avgt, sample or ss`},
		{JMH, jmhWith(`"scoreUnit": "ns/op", "rawData": [[1, -2]]`), ":2:2: a.B.c: a time of -2 is none"},
		{JMH, jmhWith(`"scoreUnit": "ns/op", "rawData": [[0]]`), "a time of 0 is none"},
		{JMH, jmhWith(`"scoreUnit": "ns/op", "rawData": [[1e300]]`), "a time of 1e+300 is none"},
		{JMH, jmhWith(`"scoreUnit": "ns/op", "rawData": [["NaN"]]`), "got a string, want a float64"},
		{JMH, jmhWith(`"scoreUnit": "ns/op", "rawData": [[]]`), "a.B.c: no times"},
		{JMH, jmhWith(`"scoreUnit": "ns/op"`), "a.B.c: no rawData"},
		{JMH, jmhWith(`"scoreUnit": "ns/op", "rawDataHistogram": [[[[5, -1]]]]`), "a count of -1"},
		{JMH, jmhWith(`"scoreUnit": "ns/op", "rawData": [[1`), ":3:55: not JSON: "},
		{GoogleBenchmark, "[]", ":1:1: not a JSON object"},
		{GoogleBenchmark, "{\"context\": {}}", "no \"benchmarks\" in it"},
		{GoogleBenchmark, "{\"benchmarks\": 5}", "\"benchmarks\" is not a JSON array"},
		{GoogleBenchmark, "{\"benchmarks\": [\n{\"name\": \"a\", \"real_time\": 1}]}", `:2:1: a: time_unit is ""`},
		{GoogleBenchmark, "{\"benchmarks\": [{\"name\": \"a\", \"error_occurred\": true, \"error_message\": \"no data\"}]}", "a failed: no data"},
		{GoogleBenchmark, "{\"benchmarks\": [{\"name\": \"a\", \"real_time\": \"fast\", \"time_unit\": \"ns\"}]}", "real_time: got a string, want a float64"},
		{GoogleBenchmark, "{\"benchmarks\": [{\"name\": \"a\", \"real_time\": 1, \"time_unit\": \"ns\"}]", "the file ends in the middle"},
		{Hyperfine, "{\"results\": [{\"command\": \"a\", \"times\": []}]}", "a: no times"},
		{Hyperfine, "{\"results\": [{\"command\": \"a\", \"times\": [1], \"exit_codes\": [1]}]}", "did not end with exit status 0"},
		{Hyperfine, "{\"results\": [{\"command\": \"a\", \"times\": [1]}, {\"command\": \"a\", \"times\": [1]}]}", "a comes twice"},
		{PytestBenchmark, "{\"benchmarks\": [{\"name\": \"a\", \"stats\": {}}]}", "run pytest with --benchmark-save-data"},
		{Criterion, "{\"reason\": \"benchmark-complete\", \"id\": \"a\", \"iteration_count\": [1, 2], \"measured_values\": [1], \"unit\": \"ns\"}", "2 numbers of iterations for 1 times"},
		{Criterion, "{\"reason\": \"benchmark-complete\", \"id\": \"a\", \"iteration_count\": [0], \"measured_values\": [1], \"unit\": \"ns\"}", "0 iterations"},
		{Criterion, "{\"reason\": \"warm\"}\n\n{\"reason\": \"benchmark-complete\", \"id\": \"a\", \"unit\": \"widgets\"}", ":3:1: a: the unit is \"widgets\""},
		{GoBench, "BenchmarkX 10 5 ns/op\nBenchmarkY 10 x ns/op\n", `:2:1: BenchmarkY: "x" is not a value of ns/op`},
		{GoBench, "BenchmarkX 10 5 widgets/op\n", "no ns/op"},
		{GoBench, "BenchmarkX 10 NaN ns/op\n", "is not a value"},
		{GoBench, "BenchmarkX 10 -5 ns/op\n", "is not a value"},
		{GoBench, "BenchmarkX 0 5 ns/op\n", "want a number of iterations"},
		{GoBench, "BenchmarkX 10 5\n", "want a number of iterations"},
		{GoBench, "--- FAIL: BenchmarkX\n    x_test.go:5: no data\nFAIL\n", ":1:1: a benchmark or test failed"},
		{GoBench, "PASS\nok\n", "no result of go in it"},
		{ScalaMeter, "value\n", ":1:1: no header of DsvReporter"},
		{ScalaMeter, "date\tvalue\n", "no header of DsvReporter"},
		{ScalaMeter, "date\tparam-size\tvalue\tsuccess\tcilo\tcihi\tunits\tcomplete\n2026\t1\t1\ttrue\t1\t1\tms\t\"\"\n", ":2:22: no times under complete"},
		{ScalaMeter, "date\tparam-size\tvalue\tsuccess\tcilo\tcihi\tunits\tcomplete\n2026\t1\t1\ttrue\t1\t1\tkB\t\"1\"\n", `the unit is "kB", want a time`},
		{ScalaMeter, "date\tparam-size\tvalue\tsuccess\tcilo\tcihi\tunits\tcomplete\n2026\t1\t1\ttrue\t1\t1\tms\t\"1 x\"\n", `"x" is not a time`},
		{ScalaMeter, "date\tparam-size\tvalue\tsuccess\tcilo\tcihi\tunits\tcomplete\n2026\t1\n", ":2:1: wrong number of fields"},
		{ScalaMeter, "date\tparam-size\tvalue\tsuccess\tcilo\tcihi\tunits\tcomplete\n2026\t1\t1\ttrue\t1\t1\tms\t\"1\n", "extraneous or missing"},
	} {
		path := write(t, tt.text)
		all, _, err := Read(path, tt.format)
		if e, ok := errors.AsType[*Error](err); !ok || e.Path != path || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("Read(%q, %s) = %v, %v, want %s", tt.text, tt.format, all, err, tt.want)
		}
	}
	for path, want := range map[string]string{
		"testdata/none":                               "no such file or directory",
		"testdata":                                    "", // a folder that has one of criterion within
		"testdata/criterion/sum/new/sample.json":      "not a result of a tool that is known",
		"testdata/pytest-benchmark-without-data.json": ":8:3: test_sort[1000]: no times of rounds",
		"testdata/jmh-thrpt.json":                     `example.Sort.sort: the unit is "ops/us"`,
	} {
		if _, _, err := Read(path, ""); (err != nil) != (want != "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("Read(%s) = %v, want %s", path, err, want)
		}
	}
	if _, _, err := Read("testdata/criterion", JMH); err == nil || !strings.Contains(err.Error(), "a folder, want a file of jmh") {
		t.Errorf("a folder as JMH: %v", err)
	}
	empty := t.TempDir()
	if _, _, err := Read(empty, ""); err == nil || !strings.Contains(err.Error(), "no new/sample.json in it") {
		t.Errorf("an empty folder: %v", err)
	}
	if err := os.MkdirAll(filepath.Join(empty, "a/new"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(empty, "a/new/sample.json"), []byte("{\"iters\": [1],\n \"times\": [}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Read(empty, ""); err == nil || !strings.Contains(err.Error(), "a/new/sample.json:2:") {
		t.Errorf("a damaged sample: %v", err)
	}
}

// A file that ends anywhere is refused, with a line, or is a text whose lines until there are whole.
func TestReadTruncated(t *testing.T) {
	for name, format := range map[string]Format{"google-benchmark.json": GoogleBenchmark, "hyperfine.json": Hyperfine, "pytest-benchmark.json": PytestBenchmark, "jmh.json": JMH, "cargo-criterion.json": Criterion, "go.txt": GoBench, "scalameter.dsv": ScalaMeter} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		whole := strings.TrimRight(string(data), "\n")
		for n := 1; n < len(whole); n += 1 + len(whole)/500 {
			f := &file{path: name, data: []byte(whole[:n])}
			all, _, err := f.read(format)
			if err == nil && format == GoBench {
				samples := 0
				for _, s := range all {
					samples += len(s.ForksNS[0])
				}
				if lines := strings.Count(whole[:n], "allocs/op\n"); samples != lines {
					t.Errorf("the first %d bytes of %s: %d samples of %d whole lines", n, name, samples, lines)
				}
			}
			e, ok := errors.AsType[*Error](err)
			lines := format == GoBench || format == ScalaMeter || format == Criterion
			if err == nil && !lines || err != nil && (!ok || e.Line == 0 && !strings.Contains(e.What, "no result") && !strings.Contains(e.What, "no \"")) {
				t.Errorf("the first %d bytes of %s: %v, want an error with a line", n, name, err)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	files, _ := filepath.Glob("testdata/*.*")
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, format := range append(Formats[:], "") {
			all, _, err := (&file{path: "x", data: data}).read(format)
			if err != nil {
				if _, ok := errors.AsType[*Error](err); !ok || strings.ContainsFunc(err.Error(), unicode.IsControl) {
					t.Errorf("%s: %v", format, err)
				}
				continue
			}
			for _, s := range all {
				if s.Name == "" || len(s.ForksNS) == 0 || s.Size < 0 || !finite(s.MedianNS, math.SmallestNonzeroFloat64) || !finite(s.AllocBytes, 0) || !finite(s.Allocs, 0) {
					t.Errorf("%s: %+v", format, s)
				}
				for _, fork := range s.ForksNS {
					if len(fork) == 0 {
						t.Errorf("%s: an empty fork in %+v", format, s)
					}
					for _, ns := range fork {
						if !ok(ns) {
							t.Errorf("%s: %v ns", format, ns)
						}
					}
				}
			}
		}
	})
}
