package imported

import (
	"encoding/json"
	"math"
	"regexp"
	"slices"
	"strings"
)

// times checks times and brings them into nanoseconds.
func (f *file) times(offset int64, name string, values []float64, unit float64) ([]float64, error) {
	out := make([]float64, 0, len(values))
	for _, v := range values {
		ns := v * unit
		if !ok(ns) {
			return nil, f.at(offset, "%s: a time of %v is none: want one above 0", name, v)
		}
		out = append(out, ns)
	}
	if len(out) == 0 {
		return nil, f.at(offset, "%s: no times", name)
	}
	return out, nil
}

// median is what a tool states, in nanoseconds; nil when it states none that can be one.
func median(v *float64, unit float64) *float64 {
	if v == nil || !ok(*v*unit) {
		return nil
	}
	return new(*v * unit)
}

// many refuses more benchmarks than anybody has.
func (f *file) many(n int, offset int64) error {
	if n >= maxSeries {
		return f.at(offset, "more than %d benchmarks", maxSeries)
	}
	return nil
}

// unique refuses a second series of the same benchmark and parameters.
func (f *file) unique(all []Series, s Series, offset int64) error {
	if slices.ContainsFunc(all, s.same) {
		return f.at(offset, "%s comes twice with the same parameters", s.Name)
	}
	return f.many(len(all), offset)
}

// jmh reads the array of JMH's -rf json: rawData has a list for each fork, rawDataHistogram of sample mode lists of values with
// their counts for each iteration of each fork.
func jmh(f *file) ([]Series, error) {
	list, err := f.elements("")
	if err != nil {
		return nil, err
	}
	var all []Series
	for _, e := range list {
		var b struct {
			Benchmark     string            `json:"benchmark"`
			Params        map[string]string `json:"params"`
			PrimaryMetric *struct {
				Unit        string           `json:"scoreUnit"`
				Percentiles map[string]any   `json:"scorePercentiles"`
				Raw         [][]float64      `json:"rawData"`
				Histogram   [][][][2]float64 `json:"rawDataHistogram"`
			} `json:"primaryMetric"`
			Secondary map[string]struct {
				Score any    `json:"score"`
				Unit  string `json:"scoreUnit"`
			} `json:"secondaryMetrics"`
		}
		if err := f.decode(e, &b); err != nil {
			return nil, err
		}
		m := b.PrimaryMetric
		if b.Benchmark == "" || m == nil {
			return nil, f.at(e.offset, "no benchmark or no primaryMetric: not a result of JMH")
		}
		per, found := strings.CutSuffix(m.Unit, "/op")
		unit := nanoseconds(per)
		if !found || unit == 0 {
			return nil, f.at(e.offset, "%s: the unit is %q, want a time per operation: run JMH with -bm avgt, sample or ss", b.Benchmark, m.Unit)
		}
		s := Series{Name: b.Benchmark}
		for _, name := range sortedKeys(b.Params) {
			s.set(name, b.Params[name])
		}
		forks := m.Raw
		if len(forks) == 0 {
			if forks, err = f.unfold(e.offset, b.Benchmark, m.Histogram, min(maxUnfolded, maxAllUnfolded/min(len(list), maxSeries))); err != nil {
				return nil, err
			}
		}
		for _, fork := range forks {
			times, err := f.times(e.offset, b.Benchmark, fork, unit)
			if err != nil {
				return nil, err
			}
			s.ForksNS = append(s.ForksNS, times)
		}
		if len(s.ForksNS) == 0 {
			return nil, f.at(e.offset, "%s: no rawData", b.Benchmark)
		}
		if v, ok := m.Percentiles["50.0"].(float64); ok {
			s.MedianNS = median(&v, unit)
		}
		for name, metric := range b.Secondary { // of -prof gc: "·gc.alloc.rate.norm" in B/op
			if v, ok := metric.Score.(float64); ok && strings.HasSuffix(name, "gc.alloc.rate.norm") && metric.Unit == "B/op" && cost(v) {
				s.AllocBytes = &v
			}
		}
		if err := f.unique(all, s, e.offset); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// maxUnfolded bounds the samples that are made of one histogram, maxAllUnfolded those of a file: a count is short, what it
// stands for is not.
const (
	maxUnfolded    = 1 << 20
	maxAllUnfolded = 1 << 24
)

// unfold makes samples of the histograms of forks. Where there are more than most, each stands for several.
func (f *file) unfold(offset int64, name string, forks [][][][2]float64, most int) ([][]float64, error) {
	total := 0.0
	for _, iterations := range forks {
		for _, values := range iterations {
			for _, v := range values {
				if !(v[1] >= 0 && v[1] == math.Trunc(v[1])) {
					return nil, f.at(offset, "%s: a count of %v in rawDataHistogram", name, v[1])
				}
				total += v[1]
			}
		}
	}
	share := max(1, total/float64(most))
	var all [][]float64
	for _, iterations := range forks {
		var samples []float64
		rest := 0.0
		for _, values := range iterations {
			for _, v := range values {
				rest += v[1] / share
				for ; rest >= 1; rest-- {
					samples = append(samples, v[0])
				}
			}
		}
		all = append(all, samples)
	}
	return all, nil
}

func sortedKeys(m map[string]string) []string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// googleBenchmark reads the JSON of google/benchmark. Repetitions are samples; of the aggregates only the median is
// taken, to be compared with.
func googleBenchmark(f *file) ([]Series, error) {
	list, err := f.elements("benchmarks")
	if err != nil {
		return nil, err
	}
	var all []Series
	for _, e := range list {
		var b struct {
			Name      string   `json:"name"`
			RunName   string   `json:"run_name"`
			RunType   string   `json:"run_type"`
			Aggregate string   `json:"aggregate_name"`
			Real      *float64 `json:"real_time"`
			Unit      string   `json:"time_unit"`
			Allocs    *float64 `json:"allocs_per_iter"`
			Skipped   bool     `json:"skipped"`
			Failed    bool     `json:"error_occurred"`
			Message   string   `json:"error_message"`
		}
		if err := f.decode(e, &b); err != nil {
			return nil, err
		}
		if b.RunName == "" {
			b.RunName = b.Name
		}
		unit := nanoseconds(b.Unit)
		switch {
		case b.Failed:
			return nil, f.at(e.offset, "%s failed: %s", b.Name, b.Message)
		case b.Skipped:
			continue
		case b.RunType == "aggregate" && b.Aggregate != "median", b.Aggregate == "BigO", b.Aggregate == "RMS":
			continue
		case b.Name == "" || b.Real == nil:
			return nil, f.at(e.offset, "no name or no real_time: not a result of google/benchmark")
		case unit == 0:
			return nil, f.at(e.offset, "%s: time_unit is %q, want ns, us, ms or s", b.Name, b.Unit)
		}
		s := Series{}
		parts := strings.Split(b.RunName, "/")
		s.Name = parts[0]
		for _, p := range parts[1:] {
			if !runOption.MatchString(p) {
				s.part(strings.Replace(p, ":", "=", 1))
			}
		}
		i := slices.IndexFunc(all, s.same)
		if b.RunType == "aggregate" {
			if i < 0 {
				return nil, f.at(e.offset, "%s: no repetitions in it: run without --benchmark_report_aggregates_only", b.Name)
			}
			all[i].MedianNS = median(b.Real, unit)
			continue
		}
		times, err := f.times(e.offset, b.Name, []float64{*b.Real}, unit)
		if err != nil {
			return nil, err
		}
		if i < 0 {
			if err := f.many(len(all), e.offset); err != nil {
				return nil, err
			}
			s.ForksNS = [][]float64{nil}
			i, all = len(all), append(all, s)
		}
		all[i].ForksNS[0] = append(all[i].ForksNS[0], times...)
		if b.Allocs != nil && cost(*b.Allocs) {
			all[i].Allocs = b.Allocs
		}
	}
	return all, nil
}

// runOption is a part of a name that says how google/benchmark ran it.
var runOption = regexp.MustCompile(`^(repeats:\d+|iterations:\d+|min_time:[\d.]+s?|min_warmup_time:[\d.]+|real_time|process_time|manual_time|threads:1)$`)

// pytestBenchmark reads the JSON of --benchmark-json. The times of rounds are there only with --benchmark-save-data.
func pytestBenchmark(f *file) ([]Series, error) {
	list, err := f.elements("benchmarks")
	if err != nil {
		return nil, err
	}
	var all []Series
	for _, e := range list {
		var b struct {
			Name   string         `json:"name"`
			Params map[string]any `json:"params"`
			Stats  *struct {
				Median *float64  `json:"median"`
				Data   []float64 `json:"data"`
			} `json:"stats"`
		}
		if err := f.decode(e, &b); err != nil {
			return nil, err
		}
		if b.Name == "" || b.Stats == nil {
			return nil, f.at(e.offset, "no name or no stats: not a result of pytest-benchmark")
		}
		if len(b.Stats.Data) == 0 {
			return nil, f.at(e.offset, "%s: no times of rounds in it: run pytest with --benchmark-save-data", b.Name)
		}
		name, id, bracket := strings.Cut(b.Name, "[")
		s := Series{Name: name, MedianNS: median(b.Stats.Median, 1e9)}
		params := map[string]string{}
		for k, v := range b.Params {
			if text, ok := v.(string); ok {
				params[k] = text
				continue
			}
			text, err := json.Marshal(v)
			if err != nil {
				return nil, f.at(e.offset, "%s: %v", b.Name, err)
			}
			params[k] = string(text)
		}
		for _, k := range sortedKeys(params) {
			s.set(k, params[k])
		}
		s.only()
		if bracket && len(params) == 0 {
			s.part(strings.TrimSuffix(id, "]"))
		}
		times, err := f.times(e.offset, b.Name, b.Stats.Data, 1e9)
		if err != nil {
			return nil, err
		}
		s.ForksNS = [][]float64{times}
		if err := f.unique(all, s, e.offset); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}

// hyperfine reads the JSON of --export-json. Each run of a command is a fresh process.
func hyperfine(f *file) ([]Series, error) {
	list, err := f.elements("results")
	if err != nil {
		return nil, err
	}
	var all []Series
	for _, e := range list {
		var b struct {
			Command string            `json:"command"`
			Median  *float64          `json:"median"`
			Times   []float64         `json:"times"`
			Exits   []*int            `json:"exit_codes"`
			Params  map[string]string `json:"parameters"`
		}
		if err := f.decode(e, &b); err != nil {
			return nil, err
		}
		if b.Command == "" {
			return nil, f.at(e.offset, "no command: not a result of hyperfine")
		}
		for _, code := range b.Exits {
			if code == nil || *code != 0 {
				return nil, f.at(e.offset, "%s: a run of it did not end with exit status 0", b.Command)
			}
		}
		times, err := f.times(e.offset, b.Command, b.Times, 1e9)
		if err != nil {
			return nil, err
		}
		s := Series{Name: b.Command, ForksNS: [][]float64{times}, MedianNS: median(b.Median, 1e9)}
		var places []string // the file has commands with the values in place of the names
		for _, k := range sortedKeys(b.Params) {
			s.set(k, b.Params[k])
			if b.Params[k] != "" {
				places = append(places, b.Params[k], "{"+k+"}")
			}
		}
		s.Name = strings.NewReplacer(places...).Replace(s.Name)
		if err := f.unique(all, s, e.offset); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
