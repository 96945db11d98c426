package report

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestGolden compares whole reports with those in testdata/golden. Charts are left out of the pages: the chart
// package has golden images of its own.
func TestGolden(t *testing.T) {
	charts := regexp.MustCompile(`(?s)<svg [^>]*class="chart".*?</svg>\n`)
	styles := regexp.MustCompile(`(?s)<style>.*?</style>`)
	for _, name := range []string{"pass", "errors", "capped", "nogood", "interrupted"} {
		p := printSample(t, name)
		page := styles.ReplaceAllString(charts.ReplaceAllString(p.html, "(chart)"), "<style></style>")
		for ending, got := range map[string]string{".html": page, ".junit.xml": p.junit, ".md": p.markdown, ".csv": p.csv, ".txt": p.text} {
			path := filepath.Join("testdata", "golden", name+ending)
			if *update {
				if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				continue
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if got != string(want) {
				t.Errorf("%s differs from %s at %s; run go test ./report -update and read the diff", name, path, difference(got, string(want)))
			}
		}
	}
}

// difference quotes the place where two texts part.
func difference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	from := max(0, i-40)
	return "got " + quoted(got[from:min(len(got), i+60)]) + ", want " + quoted(want[from:min(len(want), i+60)])
}

func quoted(s string) string { return "\"…" + s + "…\"" }
