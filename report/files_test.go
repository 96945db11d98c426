package report

import (
	"bytes"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

func listFiles(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			out = append(out, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestWriteAll(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a folder")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	// C-33: an older, larger report is replaced, and what is not ours stays.
	for name, text := range map[string]string{"report.html": strings.Repeat("old ", 1e6), "notes.txt": "mine", "result.json": "{}"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteAll(dir, noGood()); err != nil {
		t.Fatal(err)
	}
	want := []string{
		"charts/hold-counts.png", "charts/hold-counts.svg", "charts/hold-time.png", "charts/hold-time.svg",
		"hold.hlog", "junit.xml", "notes.txt", "report.html", "result.json", "series.csv", "summary.md",
	}
	if got := listFiles(t, dir); !slices.Equal(got, want) {
		t.Errorf("files = %q, want %q", got, want)
	}
	if page, _ := os.ReadFile(filepath.Join(dir, "report.html")); bytes.Contains(page, []byte("old old")) || !bytes.HasSuffix(bytes.TrimSpace(page), []byte("</html>")) {
		t.Error("report.html holds the old report, or is not whole")
	}
	if mine, _ := os.ReadFile(filepath.Join(dir, "notes.txt")); string(mine) != "mine" {
		t.Errorf("notes.txt = %q, want it as it was", mine)
	}
	for _, name := range want[:4] {
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(name, ".png") {
			if _, err := png.Decode(bytes.NewReader(data)); err != nil {
				t.Errorf("%s: %v", name, err)
			}
		} else if !bytes.HasPrefix(data, []byte("<svg ")) {
			t.Errorf("%s begins with %.20q, want an svg element", name, data)
		}
	}
}

// The charts of the page are those of the folder, under the same names.
func TestCharts(t *testing.T) {
	m := New(benchOnly())
	charts := Charts(m)
	if len(charts) != len(m.figures()) {
		t.Errorf("%d charts, want %d with names of their own", len(charts), len(m.figures()))
	}
	c, ok := charts["predict-sizes"]
	if !ok || len(c.Series) != 4 || len(c.Series[0].X) != 10 || c.Series[1].Name != "fit: linear" || c.Series[2].Name != "baseline" || c.Series[3].Name != "JVM service" {
		t.Errorf("predict-sizes = %+v, want 10 medians, their fit, the baseline and the reference", c)
	}
	h := New(hostile())
	if got, want := len(Charts(h)), len(h.figures()); got != want {
		t.Errorf("%d charts of hostile names, want %d", got, want)
	}
	for name := range Charts(h) {
		if strings.ContainsAny(name, `/\ <>"'`) || strings.HasPrefix(name, ".") || len(name) > 120 {
			t.Errorf("name of a chart's file: %q", name)
		}
	}
}

// The SLO's limit is a line in the charts of response time.
func TestChartsShowTheLimit(t *testing.T) {
	charts := Charts(New(passing()))
	for _, name := range []string{"ladder-rate", "ladder-spectrum", "ladder-time"} {
		c := charts[name]
		if len(c.Limits) != 1 || c.Limits[0].Value != 150e6 || c.Limits[0].Label != "SLO p99 < 150ms" {
			t.Errorf("%s: limits = %+v, want the SLO's 150 ms", name, c.Limits)
		}
	}
	if got := len(charts["ladder-rate"].Series[0].X); got != 3 {
		t.Errorf("%d points against the rate, want 3: the ramp has no one rate", got)
	}
	if got := len(charts["ladder-time"].Bands); got != 4 {
		t.Errorf("%d bands, want one for each of 4 segments", got)
	}
	again := passing()
	for i := range again.Stages {
		if l := again.Stages[i].Load; l != nil {
			l.Rounds, l.RoundStartsNS = 2, []int64{0, 7e9}
		}
	}
	if got := Charts(New(again))["ladder-time"].Bands; len(got) != 2 || got[0].To != 7e9 || got[1].Name != "round 2" {
		t.Errorf("bands of two rounds: %+v", got)
	}
}

// An error with one file does not keep the others from being written.
func TestWriteAllGoesOn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"summary.md", "report.html"} { // a folder that is not empty cannot be replaced
		if err := os.MkdirAll(filepath.Join(dir, name, "x"), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	r := noGood()
	r.Stages[0].Load.Intervals = []result.HistInterval{{EndNS: 1e9, Histogram: "damaged"}}
	err := WriteAll(dir, r)
	if err == nil {
		t.Fatal("WriteAll = nil, want an error")
	}
	for _, want := range []string{"write summary.md: ", "write report.html: ", "write hold.hlog: "} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("error = %v, want %q in it", err, want)
		}
	}
	for _, name := range []string{"junit.xml", "series.csv", "charts/hold-counts.png"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			t.Error(err)
		}
	}
	for _, name := range listFiles(t, dir) {
		if strings.HasPrefix(filepath.Base(name), ".") {
			t.Errorf("left behind: %s", name)
		}
	}
	if err := WriteAll(filepath.Join(dir, "absent"), noGood()); err == nil {
		t.Error("WriteAll into an absent folder = nil, want an error")
	}
}

// The log holds every response time once.
func TestHlog(t *testing.T) {
	r := passing()
	st := &r.Stages[2]
	var b bytes.Buffer
	if err := WriteHlog(&b, r, st); err != nil {
		t.Fatal(err)
	}
	total, lines := int64(0), 0
	for line := range strings.Lines(b.String()) {
		fields := strings.Split(strings.TrimSpace(line), ",")
		if strings.HasPrefix(line, "#") || strings.HasPrefix(line, `"`) {
			continue
		}
		lines++
		h, err := hist.Decode(fields[3])
		if err != nil {
			t.Fatal(err)
		}
		total += h.Count()
	}
	if lines != len(st.Load.Intervals) || total != st.Load.Response.Count {
		t.Errorf("%d lines with %d samples, want %d with %d", lines, total, len(st.Load.Intervals), st.Load.Response.Count)
	}
	if want := "#[StartTime: 1777887027.000 (seconds since epoch), 2026-05-04T09:30:27.000Z]"; !strings.Contains(b.String(), want) {
		t.Errorf("log has no line %q:\n%.300s", want, b.String())
	}
}

// C-28: records with holes and odd figures are printed all the same.
func TestOddRecords(t *testing.T) {
	t.Parallel()
	short := simulation{segments: []segmentSpec{{"ramp", 10, 50, 2 * time.Second}, {"step", 50, 50, 2 * time.Second}}, median: 5e6, maxInFlight: 8, limit: 150e6}
	spoil := map[string]func(r *result.Result){
		"no series":        func(r *result.Result) { r.Stages[1].Load.Series = nil },
		"no segments":      func(r *result.Result) { r.Stages[1].Load.Segments = nil },
		"no histogram":     func(r *result.Result) { r.Stages[1].Load.Response.Histogram = "" },
		"broken histogram": func(r *result.Result) { r.Stages[1].Load.Response.Histogram = "HISTFAAAA" },
		"one second":       func(r *result.Result) { r.Stages[1].Load.Series = r.Stages[1].Load.Series[:1] },
		"no observation":   func(r *result.Result) { r.Stages[1].Observation = nil },
		"nothing observed": func(r *result.Result) { r.Stages[1].Observation = &result.Observation{} },
		"no load":          func(r *result.Result) { r.Stages[1].Load = nil },
		"empty load":       func(r *result.Result) { r.Stages[1].Load = &result.Load{} },
		"no fit":           func(r *result.Result) { r.Stages[0].Microbenchmark.Fits = nil },
		"empty benchmark":  func(r *result.Result) { r.Stages[0].Microbenchmark = &result.Microbenchmark{} },
		"one size, no samples": func(r *result.Result) {
			r.Stages[0].Microbenchmark.Sizes = []result.Size{{Size: 5}}
		},
		"no stage has a name": func(r *result.Result) {
			for i := range r.Stages {
				r.Stages[i].Name = ""
			}
		},
		"empty interval": func(r *result.Result) { r.Stages[1].SLO[0].Interval = &result.Interval{} },
		"under way":      func(r *result.Result) { r.Finished, r.Outcome = nil, "" },
	}
	for name, change := range spoil {
		r := run(result.Pass, 0, "", benchStage(), loadStage("hold", result.Pass, "", short, result.Pass))
		change(r)
		for format, text := range printAll(t, r).all() {
			if strings.Contains(text, "NaN") || strings.Contains(text, "%!") {
				t.Errorf("%s: %s holds NaN or a wrong verb", name, format)
			}
		}
	}
}
