package bench

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const harnesses = "../../examples/12-harnesses"

// talkTo starts a program, gives it input and returns its lines on standard output.
func talkTo(t *testing.T, dir string, args []string, input string) []string {
	t.Helper()
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(input)
	var errs strings.Builder
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", args, err, errs.String())
	}
	return strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
}

// The harnesses of all languages say the same in the same conversations.
func TestHarnesses(t *testing.T) {
	t.Parallel()
	sorted := filepath.Join(t.TempDir(), "sort")
	if out, err := exec.Command("go", "build", "-o", sorted, harnesses+"/go").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	done := func(n, sum string) string {
		return `done iterations=` + n + ` ns=[1-9]\d* (bytes=\d+ allocs=\d+ )?gc=\d+ gc_ns=\d+ checksum=0*` + sum
	}
	for name, args := range map[string][]string{"go": {sorted}, "python3": {"python3", "sort.py"}, "node": {"node", "sort.mjs"}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(args[0]); err != nil {
				t.Skipf("no %s", args[0])
			}
			for _, tt := range []struct {
				in   string
				want []string
			}{
				{"", nil},
				{"exit\nsetup size=1\n", nil},
				{"setup size=3\nrun iterations=2\nrun iterations=1\nexit\n", []string{"ready", done("2", "2f75e56f"), done("1", "2f75e56f")}},
				{"setup size=3 algorithm=quick threads=2\r\nrun iterations=2\r\n", []string{"ready", done("2", "2f75e56f")}},
				{"setup size=3\nrun iterations=1", []string{"ready", done("1", "2f75e56f")}},
				{"setup size=1\nsetup size=3\nrun iterations=1\n", []string{"ready", "ready", done("1", "2f75e56f")}},
				{"run iterations=1\n", []string{"error run before setup"}},
				{"hello\n\nsetup size=3\n", []string{"error unknown message .hello., want setup, run or exit", "error unknown message .*", "ready"}},
				{"setup\nsetup size=\nsetup size=x\nsetup size=-1\nsetup size=1.5\nsetup  size=1\nsetup size=1 size=1\nsetup size=3\n",
					[]string{"error got .*", "error got .*", "error got .*", "error got .*", "error got .*", "error got .*", "error got .*", "ready"}},
				{"setup size=3\nrun\nrun iterations=0\nrun iterations=x\nrun iterations=1\n", []string{"ready", "error got .*", "error got .*", "error got .*", done("1", "2f75e56f")}},
			} {
				got := talkTo(t, harnesses, args, tt.in)
				if got[0] != greeting || len(got) != len(tt.want)+1 {
					t.Errorf("%q is answered with %q, want the greeting and %q", tt.in, got, tt.want)
					continue
				}
				for i, want := range tt.want {
					if !regexp.MustCompile("^" + want + "$").MatchString(got[i+1]) {
						t.Errorf("%q: answer %d is %q, want %q", tt.in, i+1, got[i+1], want)
					}
				}
			}
		})
	}
}

// Work that fails is an error in the conversation, what it prints is not, and what it collects is counted.
func TestHarnessesWork(t *testing.T) {
	t.Parallel()
	subjects := map[string]string{
		"python3": `import gc, perfplan_subject
def setup(size, parameters):
    print("a word to the user")
    if size == 1:
        raise RuntimeError("no data\nfor 1")
    def work():
        if parameters.get("collect") == "yes":
            gc.collect()
        if parameters.get("fail") == "yes":
            raise KeyError("gone")
    return work
perfplan_subject.serve(setup)
`,
		"node": `import { serve } from './perfplan_subject.mjs'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
setFlagsFromString('--expose-gc')
const gc = runInNewContext('gc')
serve((size, parameters) => {
  console.error('a word to the user')
  if (size === 1) throw new RangeError('no data\nfor 1')
  return { work() {
    if (parameters.collect === 'yes') gc()
    if (parameters.fail === 'yes') throw new TypeError('gone')
  } }
})
`,
	}
	for name, text := range subjects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := exec.LookPath(name); err != nil {
				t.Skipf("no %s", name)
			}
			dir := t.TempDir()
			file := map[string]string{"python3": "subject.py", "node": "subject.mjs"}[name]
			harness := "perfplan_" + file
			copied, err := os.ReadFile(filepath.Join(harnesses, harness))
			if err != nil {
				t.Fatal(err)
			}
			for n, content := range map[string]string{harness: string(copied), file: text} {
				if err := os.WriteFile(filepath.Join(dir, n), []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			got := talkTo(t, dir, []string{name, file}, "setup size=1\nsetup size=2 fail=yes\nrun iterations=1\nsetup size=2 collect=yes\nrun iterations=3\nsetup size=2\nrun iterations=100\n")
			for i, want := range []string{greeting, "error no data for 1", "ready", "error .*gone.*", "ready", `done iterations=3 ns=\d+ gc=[3-9]\d* gc_ns=[1-9]\d*`, "ready", `done iterations=100 ns=\d+ gc=\d+ gc_ns=\d+`} {
				if i >= len(got) || !regexp.MustCompile("^"+want+"$").MatchString(got[i]) {
					t.Fatalf("answers %q, want %q as the one at %d", got, want, i)
				}
			}
		})
	}
}
