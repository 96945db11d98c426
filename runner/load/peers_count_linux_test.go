//go:build amd64 || arm64

package load

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// Counts of a request come from the difference between a run and one of twice as many requests, so that starts and ends
// cancel out. The tools that count slow a process down, by which what is done by the clock weighs more for each request;
// hence the figures of the thread that sends are apart.
const (
	instructions     measure = "user instructions/request"
	instructionsSend measure = "user instructions/request, sending thread"
	calls            measure = "system calls/request"
	callsSend        measure = "system calls/request, sending thread"
)

// valgrindEnv is the valgrind to count with. The event loop needs one that knows epoll_pwait2.
const valgrindEnv = "BENCH_ENGINE_VALGRIND"

// A counter counts what each thread of a process does.
type counter struct {
	tool      string
	all, send measure
	env       []string                                                // for our process
	command   func(dir string) []string                               // before the command that is counted
	read      func(dir string) (byThread map[string]int64, err error) // what it wrote
}

// countInstructions uses callgrind. It does not survive the signals by which the runtime preempts, nor a collection that
// waits for one.
var countInstructions = counter{
	tool: cmp.Or(os.Getenv(valgrindEnv), "valgrind"), all: instructions, send: instructionsSend,
	env: []string{"GODEBUG=asyncpreemptoff=1", "GOGC=off"},
	command: func(dir string) []string {
		return []string{"--tool=callgrind", "--separate-threads=yes", "--callgrind-out-file=" + filepath.Join(dir, "out")}
	},
	read: readCallgrind,
}

// countCalls uses strace.
var countCalls = counter{
	tool: "strace", all: calls, send: callsSend,
	command: func(dir string) []string {
		return []string{"-f", "-qq", "-e", "signal=none", "-e", "raw=all", "-o", filepath.Join(dir, "out")}
	},
	read: readStrace,
}

// readCallgrind reads the files of the threads, out-01 and so on: their totals.
func readCallgrind(dir string) (map[string]int64, error) {
	files, err := filepath.Glob(filepath.Join(dir, "out-*"))
	if err != nil {
		return nil, err
	}
	threads := map[string]int64{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		_, rest, _ := bytes.Cut(text, []byte("\ntotals: "))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		n, err := strconv.ParseInt(string(bytes.TrimSpace(line)), 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%s: totals: %w", filepath.Base(file), err)
		}
		threads[filepath.Base(file)] = n
	}
	return threads, nil
}

// readStrace counts the lines of each thread, "1234 write(…) = 5", those that take up an earlier one apart.
func readStrace(dir string) (map[string]int64, error) {
	f, err := os.Open(filepath.Join(dir, "out"))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	threads := map[string]int64{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		thread, rest, _ := bytes.Cut(lines.Bytes(), []byte(" "))
		rest = bytes.TrimLeft(rest, " ")
		if !bytes.HasPrefix(rest, []byte("<...")) && bytes.IndexByte(rest, '(') > 0 {
			threads[string(thread)]++
		}
	}
	return threads, lines.Err()
}

// count makes the two runs of one figure.
func (k *counter) count(t *testing.T, s *benchRig, name string, c contest) (f figure, ok bool) {
	if _, err := exec.LookPath(k.tool); err != nil {
		t.Logf("%s: %v", c.Name, err)
		return f, false
	}
	var requests, all, send [2]int64
	for i := range 2 {
		dir := t.TempDir()
		once := c
		once.Requests, once.Seconds = c.Requests*int64(i+1), c.Seconds*float64(i+1)
		var out []byte
		if requests[i], out = k.run(t, s, name, once, dir); requests[i] == 0 {
			t.Logf("%s: %s did not run under %s:\n%s", c.Name, name, k.tool, out)
			return f, false
		}
		threads, err := k.read(dir)
		if err != nil || len(threads) == 0 {
			t.Logf("%s: %s: %d threads, %v", c.Name, name, len(threads), err)
			return f, false
		}
		for n := range maps.Values(threads) {
			all[i] += n
		}
		send[i] = slices.Max(slices.Collect(maps.Values(threads)))
	}
	per := func(n [2]int64) float64 { return float64(n[1]-n[0]) / float64(requests[1]-requests[0]) }
	f.Requests, f.Of = requests[1], map[measure]float64{k.all: per(all), k.send: per(send)}
	return f, requests[1] > requests[0]
}

// run is one run under the tool; requests is 0 where it came to nothing.
func (k *counter) run(t *testing.T, s *benchRig, name string, c contest, dir string) (requests int64, out []byte) {
	command := append([]string{k.tool}, k.command(dir)...)
	if name == ours {
		out = s.pinned(t, slices.Concat(ourEnv(t, c), k.env), append(command, ourArgs()...)...).out
		if !bytes.Contains(out, []byte("FIGURE ")) {
			return 0, out
		}
		return ourFigure(t, out).Requests, out
	}
	p := peerOf(name)
	path, err := exec.LookPath(p.name)
	if err != nil {
		return 0, nil
	}
	out = s.pinned(t, nil, slices.Concat(command, []string{path}, p.args(c, dir))...).out
	if m := p.requests.FindSubmatch(out); m != nil {
		requests, _ = strconv.ParseInt(string(m[1]), 10, 64)
	}
	return requests, out
}

func countContests() []contest {
	var all []contest
	for _, k := range []struct {
		what     string
		counter  *counter
		requests int64 // of ours, and twice as many
		bars     []bar
	}{
		{"instructions", &countInstructions, 40000, []bar{atMost(instructions, 1800), atMost(instructionsSend, 1800)}},
		{"system calls", &countCalls, 20000, []bar{atMost(calls, 2.3), atMost(callsSend, 2.3)}},
	} {
		for _, server := range []string{"nginx", "sink"} {
			c := contest{Name: k.what, Server: server, Conns: 32, Seconds: 2, Requests: k.requests, Engine: EngineLoop, Pacing: PacingExact, tools: "^wrk2?$"}
			if server != "nginx" {
				c.Name += ", " + server
			}
			for _, b := range k.bars {
				c.bars = append(c.bars, b.counted())
			}
			c.run = k.counter.count
			all = append(all, c)
		}
	}
	return all
}

func TestReadStrace(t *testing.T) {
	dir := t.TempDir()
	text := strings.Join([]string{"12 write(0x1, 0x2, 0x3) = 0x3", "13 read(0x1 <unfinished ...>", "12 futex(0x1) = 0x0",
		"13 <... read resumed>, 0x2) = 0x3", "12 --- SIGURG {} ---", "13 +++ exited with 0 +++", "120  close(0x3) = 0x0"}, "\n")
	if err := os.WriteFile(filepath.Join(dir, "out"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := readStrace(dir)
	if want := map[string]int64{"12": 2, "13": 1, "120": 1}; err != nil || !maps.Equal(got, want) {
		t.Errorf("readStrace = %v, %v, want %v", got, err, want)
	}
}

func TestReadCallgrind(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"out": "", "out-01": "thread: 1\nsummary: 7\ntotals: 7\n", "out-02": "x\n\ntotals: 40696124\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	got, err := readCallgrind(dir)
	if want := map[string]int64{"out-01": 7, "out-02": 40696124}; err != nil || !maps.Equal(got, want) {
		t.Errorf("readCallgrind = %v, %v, want %v", got, err, want)
	}
}
