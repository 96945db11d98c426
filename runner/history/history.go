// Package history reads the results of many runs of a plan from the folder that they are in. The records are the truth; an
// index beside them, which can be made again from them, saves reading those that have not changed.
package history

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// IndexName is the name of the index in a folder of runs.
const IndexName = "index.jsonl"

// A Run is what trends need of one run.
type Run struct {
	ID          string         `json:"id"`
	Folder      string         `json:"folder"` // its name in the folder of runs
	Started     time.Time      `json:"started"`
	Commit      string         `json:"commit,omitempty"`
	Dirty       bool           `json:"dirty,omitempty"`
	PlanHash    string         `json:"plan_hash"`
	Fingerprint string         `json:"fingerprint"` // of the machine
	Outcome     result.Outcome `json:"outcome"`
	Figures     []Figure       `json:"figures"`
}

// A Figure is a value of a stage that was measured whole and validly.
type Figure struct {
	Stage   string  `json:"stage"`
	Metric  string  `json:"metric"`            // p50, p90, p99, throughput, error_rate, or time p50 of a microbenchmark
	Segment string  `json:"segment,omitempty"` // of the load, or cell of a microbenchmark
	Unit    string  `json:"unit"`              // ns, per_s or share
	Value   float64 `json:"value"`
}

// Series names what a figure is of.
func (f Figure) Series() string {
	if f.Segment == "" {
		return f.Stage + ": " + f.Metric
	}
	return f.Stage + ": " + f.Metric + " of " + f.Segment
}

// An entry is a line of the index.
type entry struct {
	Bytes int64 `json:"bytes"` // of the record, and when it was last written: another record is read anew
	MTime int64 `json:"mtime_ns"`
	Run   Run   `json:"run"`
}

// A History is the runs of a folder, oldest first.
type History struct {
	Runs     []Run
	Problems []error // of records that cannot be read; they are left out
	Read     int     // records that were read because the index did not have them
}

// Load reads the runs of a folder, those with a record that has ended. With fresh it does not trust the index. It writes the
// index anew where it was not up to date; that it cannot is one of the problems.
func Load(dir string, fresh bool) (*History, error) {
	folders, err := os.ReadDir(dir)
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return nil, fmt.Errorf("%s: %w", dir, err)
	}
	known := map[string]entry{}
	if !fresh {
		known = readIndex(filepath.Join(dir, IndexName))
	}
	h := &History{}
	var entries []entry
	for _, d := range folders {
		if !d.IsDir() {
			continue
		}
		path := filepath.Join(dir, d.Name(), result.FileName)
		info, err := os.Stat(path)
		if err != nil {
			continue // no run, or one that has just begun
		}
		e, ok := known[d.Name()]
		if !ok || e.Bytes != info.Size() || e.MTime != info.ModTime().UnixNano() {
			r, err := result.Read(path)
			if err != nil {
				h.Problems = append(h.Problems, err)
				continue
			}
			if r.Finished == nil {
				continue // under way, or killed
			}
			h.Read++
			e = entry{info.Size(), info.ModTime().UnixNano(), runOf(d.Name(), r)}
		}
		entries = append(entries, e)
	}
	slices.SortFunc(entries, func(a, b entry) int {
		return cmp.Or(a.Run.Started.Compare(b.Run.Started), cmp.Compare(a.Run.Folder, b.Run.Folder))
	})
	for _, e := range entries {
		h.Runs = append(h.Runs, e.Run)
	}
	if h.Read > 0 || len(known) != len(entries) {
		if err := writeIndex(filepath.Join(dir, IndexName), entries); err != nil {
			h.Problems = append(h.Problems, fmt.Errorf("the index cannot be written: %w", err))
		}
	}
	return h, nil
}

// readIndex reads what it can of an index: it is only a copy.
func readIndex(path string) map[string]entry {
	all := map[string]entry{}
	f, err := os.Open(path)
	if err != nil {
		return all
	}
	defer f.Close()
	sc := bufio.NewScanner(f)
	sc.Buffer(nil, 16<<20)
	for sc.Scan() {
		var e entry
		if json.Unmarshal(sc.Bytes(), &e) == nil && e.Run.Folder != "" {
			all[e.Run.Folder] = e
		}
	}
	return all
}

func writeIndex(path string, entries []entry) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, e := range entries {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	tmp, err := os.CreateTemp(filepath.Dir(path), ".index-*")
	if err != nil {
		return err
	}
	_, err = tmp.Write(b.Bytes())
	if err = errors.Join(err, tmp.Chmod(0o644), tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	if err != nil {
		os.Remove(tmp.Name())
	}
	return err
}

func runOf(folder string, r *result.Result) Run {
	run := Run{ID: r.RunID, Folder: folder, Started: r.Started.UTC(), Commit: r.Environment.Commit, Dirty: r.Environment.Dirty, PlanHash: r.Plan.Hash,
		Fingerprint: r.Environment.Fingerprint, Outcome: r.Outcome, Figures: []Figure{}}
	for _, st := range r.Stages {
		invalid := slices.ContainsFunc(st.Warnings, func(w result.Warning) bool { return w.Severity == result.Invalid })
		if st.State != result.Complete || invalid {
			continue
		}
		if st.Microbenchmark != nil {
			for _, z := range st.Microbenchmark.Sizes {
				if z.P50NS != nil {
					run.Figures = append(run.Figures, Figure{st.Name, "time p50", z.Name(), "ns", *z.P50NS})
				}
			}
		}
		if st.Load != nil && st.Kind == "load" {
			run.Figures = append(run.Figures, loadFigures(st.Name, st.Load)...)
		}
	}
	return run
}

func loadFigures(stage string, l *result.Load) (all []Figure) {
	for _, seg := range l.Segments {
		name := seg.Name
		if len(l.Segments) == 1 {
			name = ""
		}
		for _, q := range []struct {
			name string
			q    float64
			ns   *int64
		}{{"p50", 0.5, seg.Response.P50NS}, {"p90", 0.9, seg.Response.P90NS}, {"p99", 0.99, seg.Response.P99NS}} {
			if q.ns != nil && seg.Offered >= int64(stats.MinSamples(q.q, 0.95, 1)) {
				all = append(all, Figure{stage, q.name, name, "ns", float64(*q.ns)})
			}
		}
	}
	all = append(all, Figure{stage, "throughput", "", "per_s", l.ThroughputPerS})
	if l.Offered > 0 {
		all = append(all, Figure{stage, "error_rate", "", "share", float64(l.Offered-l.Completed) / float64(l.Offered)})
	}
	return all
}

// A Trend is one series over the runs, with where it changed.
type Trend struct {
	Series string    `json:"series"`
	Unit   string    `json:"unit"`
	Runs   []int     `json:"runs"` // indices of the runs that have it
	Values []float64 `json:"values"`
	Points []Changed `json:"change_points"`
}

// A Changed is a change of level.
type Changed struct {
	Run    int     `json:"run"` // index of the first run of the new level
	Before float64 `json:"before"`
	After  float64 `json:"after"`
	Change float64 `json:"change"` // 0.1 is 10 % more
}

// maxSeries bounds the values of a series that are looked at: the newest.
const maxSeries = 2000

// Trends are the series of the runs in the order in which they come up, with their change points of at least magnitude, in
// proportion. Shares have none: what is 0 has no proportion.
func Trends(runs []Run, magnitude float64) []Trend {
	var all []Trend
	at := map[string]int{}
	for i, r := range runs {
		for _, f := range r.Figures {
			k, ok := at[f.Series()]
			if !ok {
				k = len(all)
				at[f.Series()] = k
				all = append(all, Trend{Series: f.Series(), Unit: f.Unit, Points: []Changed{}})
			}
			all[k].Runs, all[k].Values = append(all[k].Runs, i), append(all[k].Values, f.Value)
		}
	}
	for k := range all {
		t := &all[k]
		if n := len(t.Values); n > maxSeries {
			t.Runs, t.Values = t.Runs[n-maxSeries:], t.Values[n-maxSeries:]
		}
		if t.Unit == "share" {
			continue
		}
		for _, p := range stats.ChangePoints(t.Values, magnitude) {
			t.Points = append(t.Points, Changed{t.Runs[p.Index], p.Before, p.After, p.Change()})
		}
	}
	return all
}

// Prune removes the folders of all but the newest runs, and returns their names. What is no folder of a run, and the one that
// "latest" points at, stays.
func Prune(dir string, keep int) ([]string, error) {
	h, err := Load(dir, true)
	if err != nil {
		return nil, err
	}
	latest, _ := filepath.EvalSymlinks(filepath.Join(dir, "latest"))
	var gone []string
	for _, r := range h.Runs[:max(0, len(h.Runs)-keep)] {
		path := filepath.Join(dir, r.Folder)
		if real, err := filepath.EvalSymlinks(path); err != nil || real == latest {
			continue
		}
		if err := os.RemoveAll(path); err != nil {
			return gone, err
		}
		gone = append(gone, r.Folder)
	}
	if len(gone) > 0 {
		_, err = Load(dir, true)
	}
	return gone, err
}
