package main

import (
	"bytes"
	"io"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/perfplan/perfplan/predictor/model"
)

// session runs the bench command in a process of its own and returns the
// answers, the greeting left out, and the exit code.
func session(t *testing.T, input string, args ...string) ([]string, int) {
	t.Helper()
	cmd := exec.Command(command, append([]string{"bench"}, args...)...)
	cmd.Stdin = strings.NewReader(input)
	out, _ := cmd.Output()
	lines := strings.Split(strings.TrimSuffix(string(out), "\n"), "\n")
	if lines[0] != "perfplan-subject 1" {
		t.Fatalf("first line = %q, want the greeting", lines[0])
	}
	return lines[1:], cmd.ProcessState.ExitCode()
}

var doneLine = regexp.MustCompile(`^done iterations=(\d+) ns=(\d+) bytes=(\d+) allocs=(\d+) gc=\d+ gc_ns=\d+ checksum=([0-9a-f]{16})$`)

func TestBenchSession(t *testing.T) {
	t.Parallel()
	const input = "setup size=1000\nrun iterations=20\nrun iterations=20\nsetup size=2500\nrun iterations=3\nsetup size=1000\nrun iterations=1\nexit\n"
	fast, code := session(t, input)
	if code != 0 || len(fast) != 7 {
		t.Fatalf("got %q and exit code %d", fast, code)
	}
	var sums []string
	for i, want := range []string{"", "20", "20", "", "3", "", "1"} {
		if want == "" {
			if fast[i] != "ready" {
				t.Errorf("answer %d = %q, want ready", i, fast[i])
			}
			continue
		}
		f := doneLine.FindStringSubmatch(fast[i])
		if f == nil || f[1] != want {
			t.Fatalf("answer %d = %q, want %s iterations done", i, fast[i], want)
		}
		if ns, err := strconv.Atoi(f[2]); err != nil || ns <= 0 {
			t.Errorf("answer %d: ns = %s, want more than 0", i, f[2])
		}
		sums = append(sums, f[5])
	}
	if sums[0] != sums[1] || sums[0] != sums[3] || sums[0] == sums[2] {
		t.Errorf("checksums %q: want the same for the same size alone", sums)
	}
	slow, _ := session(t, input, "--slow-path")
	other, _ := session(t, input, "--seed", "2")
	if f := doneLine.FindStringSubmatch(slow[1]); f == nil || f[5] != sums[0] {
		t.Errorf("slow path: %q, want checksum %s", slow[1], sums[0])
	}
	if f := doneLine.FindStringSubmatch(other[1]); f == nil || f[5] == sums[0] {
		t.Errorf("another seed: %q, want another checksum than %s", other[1], sums[0])
	}
}

func TestBenchRefusesAndGoesOn(t *testing.T) {
	t.Parallel()
	tests := []struct{ line, want string }{ // the harness has a table of its own
		{"run iterations=1", "error run before setup"},
		{"setup", `error got "setup"`},
		{"setup size=0", `error size: got 0, want a whole number from 1 to 10000000`},
		{"setup size=10000001", "error size: got 10000001"},
		{"", "error unknown message"},
		{"\xff\x00", "error unknown message"},
		{"setup size=5", "ready"},
		{"run iterations=0", `error got "run iterations=0"`},
		{"run iterations=2\r", "done iterations=2 "},
	}
	var input strings.Builder
	for _, tt := range tests {
		input.WriteString(tt.line + "\n")
	}
	got, code := session(t, strings.TrimSuffix(input.String(), "\n")) // ends by EOF, without exit
	if code != 0 || len(got) != len(tests) {
		t.Fatalf("got %d answers and exit code %d, want %d and 0: %q", len(got), code, len(tests), got)
	}
	for i, tt := range tests {
		if !strings.HasPrefix(got[i], tt.want) {
			t.Errorf("%q: got %q, want %q", tt.line, got[i], tt.want)
		}
	}
}

func TestBenchEnds(t *testing.T) {
	t.Parallel()
	if got, code := session(t, ""); code != 0 || len(got) != 0 {
		t.Errorf("empty input: got %q and exit code %d, want nothing and 0", got, code)
	}
	if got, code := session(t, "exit\nsetup size=5\n"); code != 0 || len(got) != 0 {
		t.Errorf("after exit: got %q and exit code %d, want nothing and 0", got, code)
	}
	got, code := session(t, strings.Repeat("x", 100_000)+"\n")
	if code != 1 || len(got) != 1 || !strings.HasPrefix(got[0], "error got a line of") {
		t.Errorf("long line: got %q and exit code %d, want an error and 1", got, code)
	}
}

// Scores of any setup are all made by the run, none left from before.
func TestBenchScoresEveryRow(t *testing.T) {
	t.Parallel()
	m, err := loadModel("")
	if err != nil {
		t.Fatal(err)
	}
	s := &rows{m: m, scorer: model.NewScorer(m), seed: 1}
	for _, size := range []int{1, 999, 1000, 1001, 20000} {
		s.setup(size)
		if len(s.movies) != size || len(s.scores) != size {
			t.Fatalf("size %d: got %d rows and %d scores", size, len(s.movies), len(s.scores))
		}
		s.iterate()
		for i, v := range s.scores {
			if want := m.RankOne(s.users[i/requestRows], s.movies[i]); v != want {
				t.Fatalf("size %d: row %d scored %v, want %v", size, i, v, want)
			}
		}
	}
}

func TestTrainWritesTheFileWhole(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := replaceFile(dir+"/model.bin", []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := replaceFile(dir+"/none/model.bin", []byte("two")); err == nil {
		t.Error("writing to a missing folder = nil, want an error")
	}
	var out bytes.Buffer
	if code := run([]string{"train", "--out"}, nil, &out, io.Discard); code != 2 {
		t.Errorf("train --out without a file: exit code = %d, want 2", code)
	}
}
