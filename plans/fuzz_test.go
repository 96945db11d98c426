package plans

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

// FuzzRead reads any text: it never panics, every fault can be told, and the effective plan of a good one is a
// plan with the same hash.
func FuzzRead(f *testing.F) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) == 0 {
		f.Fatal("no seeds", err)
	}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(goldenPlan(a))
	}
	env := func(name string) (string, bool) {
		return "a $ #\n${b}: \"c", strings.Contains(name, "T")
	}
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Read(strings.NewReader(text), "plan.yaml", dir, Options{Env: env})
		if err != nil {
			ps, ok := errors.AsType[Problems](err)
			if !ok || ps.Errors() == 0 {
				t.Fatalf("got %v, want problems", err)
			}
			for i, q := range ps {
				if strings.ContainsAny(q.String(), "\x00\x1b\r\n") {
					t.Errorf("a problem on more than one line: %q", q.String())
				}
				if q.Excerpt() == "" && q.Pos.Line != 0 {
					t.Errorf("no excerpt for %v", q)
				}
				if i > 0 && q.Pos.Line < ps[i-1].Pos.Line {
					t.Errorf("not sorted: %v", ps)
				}
			}
			return
		}
		for _, w := range p.Warnings {
			if w.String() == "" || w.Excerpt() == "" {
				t.Errorf("warning %+v cannot be told", w)
			}
		}
		again, err := Read(strings.NewReader(string(p.YAML())), "plan.yaml", dir, Options{Env: env})
		if err != nil {
			t.Fatalf("the effective plan is none: %v\n%s", err, p.YAML())
		}
		if again.Hash != p.Hash || string(again.YAML()) != string(p.YAML()) {
			t.Fatalf("the effective plan changes:\n%s\n%s", p.YAML(), again.YAML())
		}
	})
}

// FuzzParseSLO reads any text: it never panics, and an assertion that is one reads the same from its parts.
func FuzzParseSLO(f *testing.F) {
	for _, text := range []string{"p99 < 150ms", "p(99.9) <= 150 ms", "time[size=10] p50 < 1s", "cpu(a) < 80%", "growth <= linear", "slope < 5us per row", "rss(a) < 1.5GiB", "rps >= 95"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSLO(text)
		if err != nil {
			fault, ok := errors.AsType[*SLOError](err)
			if !ok || fault.Offset < 0 || fault.Offset > len(text) || fault.Error() == "" {
				t.Errorf("ParseSLO(%q) = %v", text, err)
			}
			return
		}
		again, err := ParseSLO(s.Text)
		if err != nil || again != s {
			t.Errorf("ParseSLO(%q) = %+v, then %+v, %v", text, s, again, err)
		}
		if s.Limit < 0 || s.Limit != s.Limit || s.Metric.String() == "" {
			t.Errorf("ParseSLO(%q) = %+v", text, s)
		}
	})
}
