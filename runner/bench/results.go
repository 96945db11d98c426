package bench

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/bench/imported"
	"github.com/perfplan/perfplan/runner/result"
)

// read takes what another tool has measured as the record of the stage.
func read(m *plans.Microbenchmark) (*result.Microbenchmark, []result.Warning, error) {
	rec := &result.Microbenchmark{Kind: string(m.Subject.Kind), Command: m.Subject.Command.Text, Sizes: []result.Size{}, Reference: reference(m.Reference)}
	all, format, err := imported.Read(m.Subject.File, imported.Format(m.Subject.Format))
	if err != nil {
		return rec, nil, err
	}
	rec.Command += " (" + string(format) + ")"
	series, err := chosen(all, m.Subject.Benchmark)
	if err != nil {
		return rec, nil, fmt.Errorf("%s: %w", m.Subject.File, err)
	}
	for _, s := range series {
		z := result.Size{Size: s.Size, AllocBytes: s.AllocBytes, Allocs: s.Allocs, Forks: []result.Fork{}}
		for _, p := range s.Params {
			z.Settings = append(z.Settings, result.Setting{Name: p.Name, Value: p.Value})
		}
		for i, ns := range s.ForksNS {
			z.Forks = append(z.Forks, result.Fork{Order: i, Settled: true, SampleIterations: 1, SamplesNS: ns})
			z.Iterations += int64(len(ns))
			rec.Samples = max(rec.Samples, len(ns))
		}
		rec.Forks = max(rec.Forks, len(s.ForksNS))
		moments(&z)
		rec.Sizes = append(rec.Sizes, z)
	}
	slices.SortStableFunc(rec.Sizes, func(a, b result.Size) int {
		return cmp.Or(strings.Compare(a.Settings.String(), b.Settings.String()), a.Size-b.Size)
	})
	rec.Fits = fits(rec.Sizes)
	ratios(rec)
	return rec, stale(m), nil
}

// chosen are the series of one benchmark, or all of them with their names as a parameter where there are several.
func chosen(all []imported.Series, name string) ([]imported.Series, error) {
	var names []string
	for _, s := range all {
		if !slices.Contains(names, s.Name) {
			names = append(names, s.Name)
		}
	}
	if name != "" {
		one := slices.DeleteFunc(slices.Clone(all), func(s imported.Series) bool { return s.Name != name })
		if len(one) == 0 {
			return nil, fmt.Errorf("no benchmark %q in it, there are %s", name, strings.Join(names[:min(len(names), 20)], ", "))
		}
		return one, nil
	}
	if len(names) > 1 {
		for i := range all {
			all[i].Params = append([]imported.Param{{Name: "benchmark", Value: all[i].Name}}, all[i].Params...)
		}
	}
	return all, nil
}

// fresh is how old results may be that the stage's build has just made.
const fresh = 10 * time.Minute

// stale warns of results that were there before the build that should have made them.
func stale(m *plans.Microbenchmark) []result.Warning {
	info, err := os.Stat(m.Subject.File)
	if err != nil || m.Build == nil || info.IsDir() || time.Since(info.ModTime()) < fresh {
		return nil
	}
	return []result.Warning{{Code: "old_results", Severity: result.Suspect, Text: fmt.Sprintf("the results were written at %s, long before this run: its build did not make them", info.ModTime().UTC().Format(time.RFC3339)),
		Fix: "let build write the file that the subject names"}}
}
