package result

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
)

// BaselineFormat marks a file of stored runs.
const BaselineFormat = "perfplan-baseline"

// BaselineVersion is the version of the files this package writes.
const BaselineVersion = 1

// A Baseline is what runs of one plan on like machines have measured, in a file made to be kept beside the plan: without what
// changes with each run and decides nothing.
type Baseline struct {
	Format  string   `json:"format"`
	Version int      `json:"version"`
	Plan    Plan     `json:"plan"` // without its source
	Runs    []Result `json:"runs"` // oldest first, pruned, at least one
}

// maxBaseline is the largest file of stored runs that is read.
const maxBaseline = 256 << 20

// Prune is what of a record is compared with later runs: plan, machine, and of each stage the counts, distributions with their
// histograms, segments, windows, and the forks of microbenchmarks.
func Prune(r *Result) Result {
	out := *r
	out.Plan.Source, out.Plan.Effective, out.Plan.Description = "", "", ""
	out.Environment.Hostname = ""
	out.Targets, out.Warnings = []Target{}, []Warning{}
	out.Stages = slices.Clone(r.Stages)
	for i := range out.Stages {
		st := &out.Stages[i]
		st.Observation, st.Warnings, st.Looks = nil, []Warning{}, nil
		if st.Load != nil {
			l := *st.Load
			l.Series, l.Intervals, l.Errors, l.DNS = []Second{}, nil, []Error{}, nil
			l.Requests, l.Flows, l.Apart = pruned(l.Requests), pruned(l.Flows), pruned(l.Apart)
			st.Load = &l
		}
		if st.Microbenchmark != nil {
			m := *st.Microbenchmark
			m.Baseline, m.Reference = nil, nil
			m.Sizes = slices.Clone(m.Sizes)
			for j := range m.Sizes {
				m.Sizes[j].Outliers = nil
				m.Sizes[j].Forks = slices.Clone(m.Sizes[j].Forks)
				for k := range m.Sizes[j].Forks {
					m.Sizes[j].Forks[k].WarmupNS, m.Sizes[j].Forks[k].WarmupOf = []float64{}, nil
				}
			}
			st.Microbenchmark = &m
		}
	}
	return out
}

func pruned(all []RequestLoad) []RequestLoad {
	all = slices.Clone(all)
	for i := range all {
		all[i].Errors = []Error{}
	}
	return all
}

// EncodeBaseline returns the bytes of a file of stored runs. Its last key is the SHA-256 of all before it.
func EncodeBaseline(b *Baseline) ([]byte, error) {
	own := *b
	own.Format, own.Version = BaselineFormat, BaselineVersion
	own.Plan.Source, own.Plan.Effective, own.Plan.Description = "", "", ""
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(own); err != nil {
		return nil, err
	}
	body := bytes.TrimSuffix(buf.Bytes(), []byte("\n}\n"))
	body = append(body, ",\n"...)
	sum := sha256.Sum256(body)
	return fmt.Appendf(body, " \"sha256\": %q\n}\n", hex.EncodeToString(sum[:])), nil
}

// WriteBaseline writes a file of stored runs: whole, or not at all.
func WriteBaseline(path string, b *Baseline) error {
	data, err := EncodeBaseline(b)
	if err == nil {
		err = writeFile(path, data)
	}
	if err != nil {
		return fmt.Errorf("write baseline: %w", err)
	}
	return nil
}

var baselineSum = regexp.MustCompile(`\n "sha256": "([0-9a-f]{64})"\n}\n$`)

// ReadBaseline reads a file of stored runs, and refuses one that is not whole to the last bit, is of a newer version, or has a
// run that contradicts itself.
func ReadBaseline(path string) (*Baseline, error) {
	data, err := readFile(path, maxBaseline)
	if err == nil {
		var b *Baseline
		if b, err = decodeBaseline(data); err == nil {
			return b, nil
		}
	}
	if cause, ok := errors.AsType[*fs.PathError](err); ok {
		err = cause.Err
	}
	return nil, fmt.Errorf("read baseline %q: %w", path, err)
}

func decodeBaseline(data []byte) (*Baseline, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the file is empty")
	}
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n")) // as version control may store it
	var head struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return nil, explain(err, len(data))
	}
	switch {
	case head.Format != BaselineFormat:
		return nil, fmt.Errorf("not a baseline: want the key format %q", BaselineFormat)
	case head.Version > BaselineVersion:
		return nil, fmt.Errorf("version: got %d, this perfplan reads up to %d: it was written by a newer one", head.Version, BaselineVersion)
	case head.Version < 1:
		return nil, fmt.Errorf("version: got %d, want 1", head.Version)
	}
	m := baselineSum.FindSubmatchIndex(data)
	if m == nil {
		return nil, errors.New("it does not end with the key sha256: the file was cut or changed by hand")
	}
	if sum := sha256.Sum256(data[:m[0]+1]); hex.EncodeToString(sum[:]) != string(data[m[2]:m[3]]) {
		return nil, errors.New("sha256: the content is not what was written: the file is damaged or was changed by hand")
	}
	var b Baseline
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, explain(err, len(data))
	}
	if len(b.Runs) == 0 {
		return nil, errors.New("runs: got none, want one or more")
	}
	for i := range b.Runs {
		r := &b.Runs[i]
		if r.SchemaVersion != SchemaVersion {
			return nil, fmt.Errorf("runs[%d].schema_version: got %d, want %d (written by %s %s)", i, r.SchemaVersion, SchemaVersion, r.Tool.Name, r.Tool.Version)
		}
		if err := check(r); err != nil {
			return nil, fmt.Errorf("runs[%d].%w", i, err)
		}
	}
	return &b, nil
}

// ReadRuns reads a record, or the runs of a baseline, whichever the file is.
func ReadRuns(path string) ([]*Result, error) {
	data, err := readFile(path, maxBytes)
	if err == nil && bytes.Contains(data[:min(len(data), 200)], []byte(`"format": "`+BaselineFormat)) {
		b, err := ReadBaseline(path)
		if err != nil {
			return nil, err
		}
		var all []*Result
		for i := range b.Runs {
			all = append(all, &b.Runs[i])
		}
		return all, nil
	}
	r, err := Read(path)
	if err != nil {
		return nil, err
	}
	return []*Result{r}, nil
}
