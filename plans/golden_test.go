package plans

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "rewrite the golden files, schema.json and docs/plan-reference.md")

// goldenEnv reads env.txt of an archive: NAME="quoted value" lines.
func goldenEnv(t *testing.T, a *txtar.Archive) func(string) (string, bool) {
	t.Helper()
	vars := map[string]string{}
	for _, f := range a.Files {
		if f.Name != "env.txt" {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			name, quoted, _ := strings.Cut(strings.TrimSpace(line), "=")
			value, err := strconv.Unquote(quoted)
			if err != nil {
				t.Fatalf("env.txt: %q: %v", line, err)
			}
			vars[name] = value
		}
	}
	return func(name string) (string, bool) {
		value, ok := vars[name]
		return value, ok
	}
}

// goldenOptions are the environment of an archive and the flags of its options.txt: a line for each.
func goldenOptions(t *testing.T, a *txtar.Archive) Options {
	t.Helper()
	o := Options{Env: goldenEnv(t, a)}
	for _, f := range a.Files {
		if f.Name != "options.txt" {
			continue
		}
		for line := range strings.Lines(string(f.Data)) {
			flag, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
			switch flag {
			case "--profile":
				o.Profiles = append(o.Profiles, value)
			case "--set":
				o.Set = append(o.Set, value)
			case "--var":
				o.Vars = append(o.Vars, value)
			default:
				t.Fatalf("options.txt: %q", line)
			}
		}
	}
	return o
}

// unpack writes the files of an archive into a folder; one whose name ends in a slash is a folder.
func unpack(t *testing.T, a *txtar.Archive) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, f := range a.Files {
		path := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(f.Name, "/") {
			if err := os.MkdirAll(path, 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// goldenPlan is the plan.yaml of an archive; a last line that says "no final newline" takes it and its own away.
func goldenPlan(a *txtar.Archive) string {
	for _, f := range a.Files {
		if f.Name == "plan.yaml" {
			return string(f.Data)
		}
	}
	return ""
}

// TestGolden reads every plan of testdata and compares the full list of its problems, or the effective plan.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(files) < 70 {
		t.Fatalf("%d golden files, want at least 70 (%v)", len(files), err)
	}
	bad := 0
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir, o := unpack(t, a), goldenOptions(t, a)
			got := strings.ReplaceAll(describePlan(t, goldenPlan(a), dir, o), dir, "$DIR")
			want := ""
			for i, f := range a.Files {
				if f.Name == "want.txt" {
					want = string(f.Data)
					a.Files[i].Data = []byte(got)
				}
			}
			if *update {
				if err := os.WriteFile(file, txtar.Format(a), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
			if refused.MatchString(want) && !strings.Contains(want, "\nversion: ") {
				bad++
			}
		})
	}
	if bad < 120 && !*update {
		t.Errorf("%d of %d plans are refused, want at least 120 among them", bad, len(files))
	}
}

// refused is a problem with its line and column.
var refused = regexp.MustCompile(`^[a-z./]+\.(yaml|json):[0-9]+:[0-9]+: `)

// describePlan reads a plan: its problems, or its warnings and the effective plan, which must be stable.
func describePlan(t *testing.T, text, dir string, o Options) string {
	t.Helper()
	p, err := Read(strings.NewReader(text), "plan.yaml", dir, o)
	if err != nil {
		return err.Error() + "\n"
	}
	again, err := Read(strings.NewReader(string(p.YAML())), "plan.yaml", dir, Options{Env: o.Env})
	if err != nil {
		t.Fatalf("the effective plan is not a plan: %v\n%s", err, p.YAML())
	}
	if string(again.YAML()) != string(p.YAML()) || again.Hash != p.Hash {
		t.Errorf("the effective plan changes when it is read again:\n%s\n%s", p.YAML(), again.YAML())
	}
	out := Problems(p.Warnings).Error()
	if out != "" {
		out += "\n"
	}
	return out + string(p.YAML())
}
