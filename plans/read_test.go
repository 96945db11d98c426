package plans

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

const (
	goodHead = "version: 1\nname: a\ntargets: {s: {url: \"http://127.0.0.1:8080\"}}\n"
	goodRest = "requests: {r: {path: /}}\nstages: [{name: one, load: {rate: 100/s, for: 10s}}]\n"
)

// mustRead reads a plan that has to be good.
func mustRead(t *testing.T, text, dir string) *Plan {
	t.Helper()
	p, err := Read(strings.NewReader(text), "plan.yaml", dir, Options{})
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return p
}

// problems reads a plan that has to be refused.
func problems(t *testing.T, text string) Problems {
	t.Helper()
	_, err := Read(strings.NewReader(text), "plan.yaml", t.TempDir(), Options{})
	ps, ok := errors.AsType[Problems](err)
	if !ok {
		t.Fatalf("got %v, want Problems for\n%s", err, text)
	}
	return ps
}

// write makes a file below dir.
func write(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// Every plan that is shipped is a good one.
func TestShippedPlans(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.yaml", "../examples/*/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		t.Fatal("no plan found")
	}
	for _, file := range files {
		p, err := ReadFile(file, Options{})
		if err != nil {
			t.Errorf("%s:\n%v", file, err)
			continue
		}
		for _, w := range p.Warnings {
			t.Errorf("%s: %v", file, w)
		}
		again, err := Read(strings.NewReader(string(p.YAML())), file, p.Dir, Options{})
		if err != nil || again.Hash != p.Hash {
			t.Errorf("%s: the effective plan reads as %v, %v", file, again, err)
		}
	}
}

// C-03 (d): bombs of a few hundred bytes are refused without much time or memory.
func TestAliasBombs(t *testing.T) {
	bomb := func(first, open, shut, each string) string {
		var b strings.Builder
		fmt.Fprintf(&b, "x-a: &a %s\n", first)
		for i := range 9 {
			from, to := string(rune('a'+i)), string(rune('b'+i))
			entries := make([]string, 9)
			for j := range entries {
				entries[j] = fmt.Sprintf(each, j, "*"+from)
			}
			fmt.Fprintf(&b, "x-%s: &%s %s%s%s\n", to, to, open, strings.Join(entries, ", "), shut)
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"lists":  goodHead + bomb("[x,x,x,x,x,x,x,x,x]", "[", "]", "%[2]s") + "requests: {r: {path: /, expect: {json: {$.a: {equals: *j}}}}}\n",
		"maps":   goodHead + bomb("{k: 1}", "{", "}", "k%d: %s") + "requests: {r: {path: /, expect: {json: {$.a: {equals: *j}}}}}\n",
		"merges": goodHead + bomb("{rate: 1/s}", "{<<: [", "]}", "%[2]s") + "stages: [{name: a, load: *j}]\n",
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		start := time.Now()
		ps := problems(t, text)
		took := time.Since(start)
		runtime.ReadMemStats(&after)
		if !strings.Contains(ps.Error(), "aliases expand too far") {
			t.Errorf("%s: %v", name, ps)
		}
		if took > 10*time.Second { // far less on a machine of its own; without the bound it would be hours
			t.Errorf("%s: refused after %v", name, took)
		}
		if used := after.TotalAlloc - before.TotalAlloc; used > 100<<20 {
			t.Errorf("%s: refused with %d MiB, want at most 100", name, used>>20)
		}
	}
}

// What is small and grows, or large and wrong all over, is refused without growing much.
func TestExcess(t *testing.T) {
	var keys, lines strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&keys, "k%d: value\n", i)
		fmt.Fprintf(&lines, "  - {a: %d}\n", i)
	}
	chain := "vars: {v0: " + strings.Repeat("x", 1000)
	for i := range 9 {
		chain += fmt.Sprintf(", v%d: \"%s\"", i+1, strings.Repeat(fmt.Sprintf("${v%d}", i), 9))
	}
	for _, tt := range []struct{ name, text, want string }{
		{"unknown keys", keys.String(), "plan.yaml: more than 1000 problems, not all are shown"},
		{"bad stages", "stages:\n" + lines.String(), "plan.yaml: more than 1000 problems, not all are shown"},
		{"unknown variables", goodHead + "requests: {r: {path: /, body: \"" + strings.Repeat("${a}", 100_000) + "\"}}\n", "plan.yaml: more than 1000 problems, not all are shown"},
		{"variables of variables", chain + "}\nname: ${v9}\n", "variables expand too far"},
		{"a long line", "a: [" + strings.Repeat("x, ", 100_000) + "x: y: z]\n", "plan.yaml:1:1: not YAML: did not find expected ',' or ']'"},
		{"deep lists", strings.Repeat("[", 20_000), "plan.yaml:1:1: not YAML: exceeded max depth of 10000"},
		{"a fault behind many lines", "version: 1\n" + strings.Repeat("# comment\n", 20_000) + "name: a: b\n", "plan.yaml:20002:8: a second ':' in one line"},
	} {
		if ps := problems(t, tt.text); !strings.Contains(ps.Error(), tt.want) || len(ps) > 1001 {
			t.Errorf("%s: %d problems, want %q in them; the first is %v", tt.name, len(ps), tt.want, ps[0])
		}
	}
}

// C-03 (e): many uses of one anchor are no bomb.
func TestManyAliases(t *testing.T) {
	var b strings.Builder
	b.WriteString(goodHead + "requests: {r: {path: /}}\nx-l: &l {rate: 100/s, for: 10s, timeout: 1s}\nx-s: &s [p99 < 150ms, error_rate < 1%]\nstages:\n")
	for i := range 200 {
		fmt.Fprintf(&b, "  - {name: s%d, load: {<<: *l, seed: %d}, slo: *s}\n", i, i)
	}
	p := mustRead(t, b.String(), ".")
	if len(p.Stages) != 200 || len(p.Stages[199].SLOs) != 2 || p.Stages[199].Work.(*Load).Seed != 199 {
		t.Errorf("got %d stages, the last %+v", len(p.Stages), p.Stages[len(p.Stages)-1])
	}
}

// The plan with fifteen faults tells all of them, in order, and runs none of its commands.
func TestFifteenFaultsStartNothing(t *testing.T) {
	dir := t.TempDir()
	text := strings.Replace(goodHead, "8080\"}", "8080\", build: [touch, built], start: [touch, started]}", 1) + `requests:
  r: {path: items, method: get, redirects: 20, headers: {connection: close}, expect: {status: 99}, body_file: none}
  q: {path: /%zz, target: t, query: 1}
stages:
  - {name: one, load: {request: x, rate: 10, for: 10, arrivals: some, kep_alive: true}, slo: [p99 < 1]}
  - {name: one, load: {request: r, rate: 1/s, for: 1s}}
`
	_, err := Read(strings.NewReader(text), "plan.yaml", dir, Options{})
	ps, ok := errors.AsType[Problems](err)
	if !ok || ps.Errors() != 15 {
		t.Errorf("%d errors, want 15:\n%v", ps.Errors(), err)
	}
	if !slices.IsSortedFunc(ps, func(a, b Problem) int { return (a.Pos.Line-b.Pos.Line)*1000 + a.Pos.Col - b.Pos.Col }) {
		t.Errorf("not sorted:\n%v", err)
	}
	if files, err := os.ReadDir(dir); err != nil || len(files) != 0 {
		t.Errorf("reading left %v, %v", files, err)
	}
}

// C-32: paths start at the plan's folder, wherever the process is; for standard input at the current one.
func TestPathsStartAtThePlan(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "plans/data/b.json", `{"a": 1}`)
	write(t, dir, "base/x", "")
	text := goodHead[:strings.Index(goodHead, "}}")] + ", dir: ../base, build: make}}\n" + "requests: {r: {method: POST, path: /, body_file: data/b.json}}\nstages: [{name: one, load: {rate: 100/s, for: 10s}}]\n"
	write(t, dir, "plans/p.yaml", text)
	t.Chdir("/")
	relative, err := filepath.Rel("/", filepath.Join(dir, "plans", "p.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(dir, "plans", "p.yaml"), relative} {
		p, err := ReadFile(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if p.Path != path || p.Dir != filepath.Join(dir, "plans") || p.Targets[0].Build.Dir != filepath.Join(dir, "base") {
			t.Errorf("ReadFile(%q): path %q, dir %q, build in %q", path, p.Path, p.Dir, p.Targets[0].Build.Dir)
		}
		if got := p.Requests[0].Body; len(got) != 1 || got[0].Literal != `{"a": 1}` {
			t.Errorf("body %v", got)
		}
	}
	t.Chdir(filepath.Join(dir, "plans"))
	stdin := os.Stdin
	defer func() { os.Stdin = stdin }()
	if os.Stdin, err = os.Open("p.yaml"); err != nil {
		t.Fatal(err)
	}
	defer os.Stdin.Close()
	p, err := ReadFile("-", Options{})
	if err != nil || p.Path != "-" || p.Dir != filepath.Join(dir, "plans") {
		t.Errorf("ReadFile(-) = %+v, %v", p, err)
	}
	_, err = Read(strings.NewReader("version: 2\n"), "-", ".", Options{})
	if err == nil || !strings.HasPrefix(err.Error(), "stdin:1:") {
		t.Errorf("a fault of standard input is told as %v", err)
	}
}

// C-32: body files that are empty or large.
func TestBodyFiles(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "empty", "")
	write(t, dir, "large", strings.Repeat("0123456789abcdef", 50<<16))
	for name, size := range map[string]int{"empty": 0, "large": 50 << 20} {
		p := mustRead(t, goodHead+"requests: {r: {method: POST, path: /, body_file: "+name+"}}\nstages: [{name: one, load: {rate: 100/s, for: 10s}}]\n", dir)
		r := p.Requests[0]
		got := 0
		for _, part := range r.Body {
			got += len(part.Literal)
		}
		if got != size || !r.HasBody {
			t.Errorf("%s: %d bytes, HasBody %v, want %d, true", name, got, r.HasBody, size)
		}
	}
}

func TestReadFileThatIsNotThere(t *testing.T) {
	for path, want := range map[string]string{
		"none/plan.yaml": "none/plan.yaml: cannot read the plan: got no such file or directory",
		"testdata":       "testdata: cannot read the plan: got is a directory",
	} {
		_, err := ReadFile(path, Options{})
		if err == nil || err.Error() != want {
			t.Errorf("ReadFile(%q) = %v, want %s", path, err, want)
		}
	}
}

func TestPlanTooLarge(t *testing.T) {
	ps := problems(t, goodHead+goodRest+"# "+strings.Repeat("x", maxSource))
	if len(ps) != 1 || ps[0].What != "the plan is too large" {
		t.Errorf("got %v", ps)
	}
}

// The hash is that of what is measured: not of comments, layout, anchors or folders, but of files' contents.
func TestHash(t *testing.T) {
	dir, other := t.TempDir(), t.TempDir()
	write(t, dir, "d.csv", "id\n1\n")
	write(t, other, "d.csv", "id\n2\n")
	data := strings.Replace(goodRest, "path: /", "path: \"/${u.id}\", data: {u: d.csv}", 1)
	base := mustRead(t, goodHead+goodRest, dir)
	for _, tt := range []struct {
		name, text string
		same       bool
	}{
		{"again", goodHead + goodRest, true},
		{"comments and layout", "# hi\nname: 'a'\nversion: 1 # one\ntargets:\n    s:\n        url: http://127.0.0.1:8080\n" + goodRest, true},
		{"a default written out", goodHead + strings.Replace(goodRest, "for: 10s", "for: 10s, timeout: 10000ms", 1), true},
		{"an anchor", "x-r: &r 100/s\n" + goodHead + strings.Replace(goodRest, "100/s", "*r", 1), true},
		{"a variable", "vars: {r: '100'}\n" + goodHead + strings.Replace(goodRest, "100/s", "\"${r}/s\"", 1), true},
		{"another rate", goodHead + strings.Replace(goodRest, "100/s", "101/s", 1), false},
		{"another seed", goodHead + strings.Replace(goodRest, "for: 10s", "for: 10s, seed: 2", 1), false},
		{"another assertion", goodHead + goodRest + "slo: [p99 < 1s]\n", false},
	} {
		p := mustRead(t, tt.text, other)
		if same := p.Hash == base.Hash; same != tt.same {
			t.Errorf("%s: the same hash is %v, want %v", tt.name, same, tt.same)
		}
	}
	if a, b := mustRead(t, goodHead+data, dir), mustRead(t, goodHead+data, other); a.Hash == b.Hash {
		t.Error("other rows of data have the same hash")
	}
	if !strings.HasPrefix(base.Hash, "sha256:") || len(base.Hash) != len("sha256:")+64 {
		t.Errorf("hash %q", base.Hash)
	}
}

// C-06: the environment's values reach the request, and neither the effective plan nor vars nor the hash.
func TestEnvironmentIsNotShown(t *testing.T) {
	text := goodHead + `vars: {auth: "Bearer ${env.TOKEN}"}
requests: {r: {method: POST, path: "/${env.TOKEN}", query: {t: "${auth}"}, headers: {authorization: "${auth}"}, body: "${auth}"}}
stages: [{name: one, load: {rate: 100/s, for: 10s}}]
`
	env := func(value string) func(string) (string, bool) {
		return func(string) (string, bool) { return value, true }
	}
	p, err := Read(strings.NewReader(text), "plan.yaml", ".", Options{Env: env("a: b # c")})
	if err != nil {
		t.Fatal(err)
	}
	r := p.Requests[0]
	for name, got := range map[string]string{
		"header": r.Headers[0].Value[0].Literal + "|Bearer a: b # c",
		"body":   r.Body[0].Literal + "|Bearer a: b # c",
		"path":   r.Path[0].Literal + "|/a:%20b%20%23%20c?t=Bearer%20a%3A%20b%20%23%20c",
	} {
		got, want, _ := strings.Cut(got, "|")
		if got != want {
			t.Errorf("%s %q, want %q", name, got, want)
		}
	}
	if shown := string(p.YAML()) + fmt.Sprint(p.Vars) + string(p.Source); strings.Contains(shown, "a: b") {
		t.Errorf("the value is shown:\n%s", shown)
	}
	if len(p.Vars) != 1 || p.Vars[0] != (Var{"auth", "Bearer ${env.TOKEN}"}) {
		t.Errorf("vars %v", p.Vars)
	}
	if q, err := Read(strings.NewReader(text), "plan.yaml", ".", Options{Env: env("other")}); err != nil || q.Hash != p.Hash {
		t.Errorf("another token gives another hash (%v)", err)
	}
}

// What an editor has not saved yet takes the place of an included file, and its problems have their lines.
func TestUnsaved(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "part.yaml", "targets: {s: {url: \"http://127.0.0.1:8080\"}}\n")
	text := "version: 1\nname: a\ninclude: part.yaml\n" + goodRest
	if _, err := Read(strings.NewReader(text), "plan.yaml", dir, Options{}); err != nil {
		t.Fatal(err)
	}
	part := filepath.Join(dir, "part.yaml")
	_, err := Read(strings.NewReader(text), "plan.yaml", dir, Options{Unsaved: map[string][]byte{part: []byte("\ntargets: {s: {ulr: x}}\n")}})
	ps, _ := errors.AsType[Problems](err)
	if len(ps) != 1 || ps[0].Pos != (Position{File: "part.yaml", Line: 2, Col: 15}) || ps[0].What != "unknown key" {
		t.Errorf("got %v, want one unknown key", ps)
	}
}
