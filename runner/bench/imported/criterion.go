package imported

import (
	"bytes"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// criterionFolder reads target/criterion: for each benchmark new/sample.json has the iterations and the total time of each
// sample, new/estimates.json the median that the tool prints.
func criterionFolder(root string) ([]Series, error) {
	var all []Series
	err := filepath.WalkDir(root+string(filepath.Separator), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() || d.Name() != "sample.json" || filepath.Base(filepath.Dir(path)) != "new" {
			return nil
		}
		s, err := criterionSample(root, filepath.Dir(path))
		if err != nil {
			return err
		}
		f := &file{path: path}
		if err := f.unique(all, s, 0); err != nil {
			return err
		}
		all = append(all, s)
		return nil
	})
	if _, ours := errors.AsType[*Error](err); err != nil && !ours {
		err = &Error{Path: root, What: reason(err)}
	}
	if err == nil && len(all) == 0 {
		err = &Error{Path: root, What: "no new/sample.json in it: not the folder target/criterion, or nothing was measured"}
	}
	if err != nil {
		return nil, err
	}
	return all, nil
}

// criterionSample reads one benchmark from its folder "new".
func criterionSample(root, dir string) (Series, error) {
	var sample struct {
		Iters []float64 `json:"iters"`
		Times []float64 `json:"times"`
	}
	f, err := jsonFile(filepath.Join(dir, "sample.json"), &sample)
	if err != nil {
		return Series{}, err
	}
	var id struct {
		Full     string  `json:"full_id"`
		Group    string  `json:"group_id"`
		Function *string `json:"function_id"`
		Value    *string `json:"value_str"`
	}
	if _, err := jsonFile(filepath.Join(dir, "benchmark.json"), &id); err != nil {
		if exists(filepath.Join(dir, "benchmark.json")) {
			return Series{}, err
		}
		rel, err := filepath.Rel(root, filepath.Dir(dir))
		if err != nil {
			return Series{}, &Error{Path: dir, What: err.Error()}
		}
		id.Full = filepath.ToSlash(rel)
	}
	s := Series{Name: id.Group}
	switch {
	case id.Group == "":
		s = named(id.Full)
	default:
		if id.Function != nil {
			s.part(*id.Function)
		}
		if id.Value != nil {
			s.part(*id.Value)
		}
	}
	times, err := f.perIteration(0, id.Full, sample.Iters, sample.Times, 1)
	if err != nil {
		return Series{}, err
	}
	s.ForksNS = [][]float64{times}
	var estimates struct {
		Median *struct {
			Point *float64 `json:"point_estimate"`
		} `json:"median"`
	}
	switch _, err := jsonFile(filepath.Join(dir, "estimates.json"), &estimates); {
	case err == nil && estimates.Median != nil:
		s.MedianNS = median(estimates.Median.Point, 1)
	case err != nil && exists(filepath.Join(dir, "estimates.json")):
		return Series{}, err
	}
	return s, nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// named takes a name with slashes apart.
func named(id string) Series {
	parts := strings.Split(id, "/")
	s := Series{Name: parts[0]}
	for _, p := range parts[1:] {
		s.part(p)
	}
	return s
}

func jsonFile(path string, into any) (*file, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, &Error{Path: path, What: reason(err)}
	}
	f, err := open(path, info)
	if err != nil {
		return nil, err
	}
	if err := f.decode(element{f.data, 0}, into); err != nil {
		return nil, err
	}
	return f, nil
}

// perIteration divides the times of samples by their iterations.
func (f *file) perIteration(offset int64, name string, iterations, times []float64, unit float64) ([]float64, error) {
	if len(iterations) != len(times) {
		return nil, f.at(offset, "%s: %d numbers of iterations for %d times", name, len(iterations), len(times))
	}
	each := make([]float64, len(times))
	for i := range times {
		if !(iterations[i] >= 1) {
			return nil, f.at(offset, "%s: %v iterations", name, iterations[i])
		}
		each[i] = times[i] / iterations[i]
	}
	return f.times(offset, name, each, unit)
}

// criterionMessages reads what cargo criterion --message-format=json prints: a JSON object a line.
func criterionMessages(f *file) ([]Series, error) {
	var all []Series
	offset := int64(0)
	for line := range bytes.Lines(f.data) {
		at := offset
		offset += int64(len(line))
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		var m struct {
			Reason     string    `json:"reason"`
			ID         string    `json:"id"`
			Iterations []float64 `json:"iteration_count"`
			Values     []float64 `json:"measured_values"`
			Unit       string    `json:"unit"`
			Median     *struct {
				Estimate *float64 `json:"estimate"`
				Unit     string   `json:"unit"`
			} `json:"median"`
		}
		if err := f.decode(element{json.RawMessage(line), at}, &m); err != nil {
			return nil, err
		}
		if m.Reason != "benchmark-complete" {
			continue
		}
		unit := nanoseconds(m.Unit)
		if unit == 0 {
			return nil, f.at(at, "%s: the unit is %q, want a time", m.ID, m.Unit)
		}
		s := named(m.ID)
		times, err := f.perIteration(at, m.ID, m.Iterations, m.Values, unit)
		if err != nil {
			return nil, err
		}
		s.ForksNS = [][]float64{times}
		if m.Median != nil {
			s.MedianNS = median(m.Median.Estimate, nanoseconds(m.Median.Unit))
		}
		if err := f.unique(all, s, at); err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return all, nil
}
