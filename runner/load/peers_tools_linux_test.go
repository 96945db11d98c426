//go:build amd64 || arm64

package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The names of those who take part. wrk2lag is a wrk2 that puts into its second distribution (-U) the lag of the send
// behind its intended time, in place of the time from the send to the answer.
const (
	ours    = "perfplan"
	wrk2    = "wrk2"
	wrk2lag = "wrk2lag"
)

// A peer is another tool; args is nil where it cannot offer the load. Files that it needs are put into dir.
type peer struct {
	name     string
	args     func(c contest, dir string) []string
	requests *regexp.Regexp // its first group is how many there were
}

var peers = []peer{
	{wrk2, wrk2Args, regexp.MustCompile(`(\d+) requests in`)},
	{wrk2lag, func(c contest, dir string) []string {
		if !slices.ContainsFunc(c.bars, func(b bar) bool { return b.times && b.peer() == wrk2lag }) {
			return nil
		}
		return wrk2Args(c, dir)
	}, regexp.MustCompile(`(\d+) requests in`)},
	{"wrk", func(c contest, _ string) []string {
		if c.Rate > 0 {
			return nil
		}
		return []string{"-t1", fmt.Sprint("-c", c.Conns), fmt.Sprintf("-d%.0fs", c.Seconds), c.URL}
	}, regexp.MustCompile(`(\d+) requests in`)},
	{"h2load", func(c contest, _ string) []string {
		if c.Rate > 0 {
			return nil
		}
		return []string{"--h1", "-t1", fmt.Sprint("-c", c.Conns), fmt.Sprintf("-D%.0f", c.Seconds), c.URL}
	}, regexp.MustCompile(`(\d+) done`)},
	{"oha", func(c contest, _ string) []string {
		args := []string{"--no-tui", "--insecure", "-c", fmt.Sprint(c.Conns), "-z", fmt.Sprintf("%.0fs", c.Seconds)}
		if c.Rate > 0 {
			args = append(args, "-q", fmt.Sprintf("%.0f", c.Rate))
		}
		return append(args, c.URL)
	}, regexp.MustCompile(`\[200\] (\d+) responses`)},
	{"hey", func(c contest, _ string) []string {
		args := []string{"-c", fmt.Sprint(c.Conns), "-z", fmt.Sprintf("%.0fs", c.Seconds)}
		if c.Rate > 0 {
			args = append(args, "-q", fmt.Sprintf("%.4g", c.Rate/float64(c.Conns)))
		}
		return append(args, c.URL)
	}, regexp.MustCompile(`\[200\]\s+(\d+) responses`)},
	{"fortio", func(c contest, _ string) []string {
		return []string{"load", "-k", "-c", fmt.Sprint(c.Conns), "-t", fmt.Sprintf("%.0fs", c.Seconds), "-qps", fmt.Sprintf("%.0f", c.Rate), c.URL}
	}, regexp.MustCompile(`All done (\d+) calls`)},
	{"vegeta", func(c contest, _ string) []string {
		if c.Rate == 0 {
			return nil
		}
		attack := fmt.Sprintf("echo GET %s | vegeta attack -insecure -rate %.0f -duration %.0fs -connections %d -max-connections %d | vegeta report", c.URL, c.Rate, c.Seconds, c.Conns, c.Conns)
		return []string{"sh", "-c", attack}
	}, regexp.MustCompile(`Requests\s+\[total, rate, throughput\]\s+(\d+)`)},
	{"k6", func(c contest, dir string) []string {
		if c.Rate == 0 {
			return nil
		}
		script := fmt.Sprintf(`import http from "k6/http"
export const options = {insecureSkipTLSVerify: true, scenarios: {a: {executor: "constant-arrival-rate", rate: %.0f, timeUnit: "1s", duration: "%.0fs", preAllocatedVUs: %d}}}
export default function () { http.get(%q) }`, c.Rate, c.Seconds, c.Conns, c.URL)
		file := filepath.Join(dir, "bench-engine.js")
		if dir != "" {
			os.WriteFile(file, []byte(script), 0o600)
		}
		return []string{"run", "--quiet", file}
	}, regexp.MustCompile(`http_reqs\.*: (\d+)`)},
}

func wrk2Args(c contest, dir string) []string {
	rate := c.Rate
	if rate == 0 {
		rate = 1e6
	}
	args := []string{"-t1", "-L", "-U", fmt.Sprint("-c", c.Conns), fmt.Sprintf("-d%.0fs", c.Seconds), fmt.Sprintf("-R%.0f", rate)}
	if c.Varied {
		args = append(args, "-s", variedScript(dir))
	}
	return append(args, c.URL)
}

func peerOf(name string) peer {
	return peers[slices.IndexFunc(peers, func(p peer) bool { return p.name == name })]
}

// compete makes one run; ok is false where its figures are void.
func compete(t *testing.T, s *benchRig, name string, c contest) (f figure, ok bool) {
	time.Sleep(200 * time.Millisecond)
	switch name {
	case ours:
		return s.ourRun(t, c), true
	case floor:
		return s.floorRun(t, c), true
	}
	p := peerOf(name)
	args := p.args(c, t.TempDir())
	if args[0] != "sh" {
		args = append([]string{name}, args...)
	}
	r := s.pinned(t, nil, args...)
	m := p.requests.FindSubmatch(r.out)
	if m == nil {
		t.Logf("%s: no number of requests in its output:\n%s", name, r.out)
		return f, false
	}
	f.Requests, _ = strconv.ParseInt(string(m[1]), 10, 64)
	f.Of = map[measure]float64{}
	seconds := c.Seconds
	if name == wrk2 || name == wrk2lag {
		seconds -= float64(c.Conns) * 0.0025 // it opens a connection in 5 ms
		// At its start it loses a second now and then: what it does then is not the load.
		if lost := c.Rate*seconds - float64(f.Requests); c.Rate > 0 && lost > 0.9*c.Rate {
			t.Logf("%s: %s lost a second at its start: left out", c.Name, name)
			return f, false
		}
		f.wrkQuantiles(name, c, r.out)
	}
	f.Of[perSecond] = float64(f.Requests) / seconds
	f.used(r)
	return f, true
}

// wrkQuantiles takes the distributions over: the first is from the intended time to the answer.
func (f *figure) wrkQuantiles(name string, c contest, out []byte) {
	for _, q := range []struct {
		rank                 string
		response, other, lag measure
	}{{"50.000%", resp50, serv50, lag50}, {"90.000%", resp90, "", lag90}, {"99.000%", resp99, "", ""}} {
		first, second, ok := wrkQuantile(out, q.rank)
		if !ok {
			continue
		}
		if c.Rate > 0 { // else it only says how far the schedule was ahead
			f.Of[q.response] = first
		}
		if name == wrk2lag {
			q.other = q.lag
		}
		if q.other != "" {
			f.Of[q.other] = second
		}
	}
}

// wrkQuantile reads a quantile of the two distributions, in µs.
func wrkQuantile(out []byte, q string) (first, second float64, ok bool) {
	var us []float64
	for line := range bytes.Lines(out) {
		if fields := strings.Fields(string(line)); len(fields) == 2 && fields[0] == q {
			d, err := time.ParseDuration(fields[1])
			if err != nil {
				return 0, 0, false
			}
			us = append(us, float64(d)/1e3)
		}
	}
	if len(us) < 2 {
		return 0, 0, false
	}
	return us[0], us[1], true
}

// used adds what a run took.
func (f *figure) used(r ran) {
	f.Of[cpuTime] = float64(cpuOf(r.state)) / 1e3 / float64(max(f.Requests, 1))
	f.Of[rss] = float64(r.state.SysUsage().(*syscall.Rusage).Maxrss) / 1024
	f.noise = r.noise
}

func cpuOf(s *os.ProcessState) time.Duration { return s.UserTime() + s.SystemTime() }

// ran is a process that has ended.
type ran struct {
	out   []byte
	state *os.ProcessState
	noise noise
}

// pinned runs a command on the core of the clients.
func (s *benchRig) pinned(t *testing.T, env []string, args ...string) ran {
	var out bytes.Buffer
	cmd := exec.Command("taskset", append([]string{"-c", strconv.Itoa(1 % runtime.NumCPU())}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdout, cmd.Stderr = &out, &out
	listen := s.listen()
	if err := cmd.Start(); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	listen.follow(cmd.Process.Pid)
	cmd.Wait()
	return ran{out.Bytes(), cmd.ProcessState, listen.end(cpuOf(cmd.ProcessState))}
}

// ourEnv makes a process of this program one of our runs.
func ourEnv(t *testing.T, c contest) []string {
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return []string{clientEnv + "=" + string(text), benchEnv + "=", "GOMAXPROCS=2"}
}

// ourArgs is the command of that process.
func ourArgs() []string {
	return []string{os.Args[0], "-test.run=^TestBenchClient$", "-test.v", "-test.timeout=2h"}
}

func (s *benchRig) ourRun(t *testing.T, c contest) figure {
	r := s.pinned(t, ourEnv(t, c), ourArgs()...)
	f := ourFigure(t, r.out)
	f.used(r)
	return f
}

func ourFigure(t *testing.T, out []byte) (f figure) {
	_, line, _ := strings.Cut(string(out), "FIGURE ")
	line, _, _ = strings.Cut(line, "\n")
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return f
}
