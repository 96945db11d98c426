//go:build amd64 || arm64

package load

import (
	"bytes"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"math"
	"net"
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

	"golang.org/x/sys/unix"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// What the comparison with other tools is made of. It runs with BENCH_ENGINE set, see make bench-engine; BENCH_ENGINE_ONLY
// and BENCH_ENGINE_PEERS are expressions for the loads and the tools that are wanted.
const (
	benchEnv  = "BENCH_ENGINE"        // how many rounds; runs of one round come one after another
	clientEnv = "BENCH_ENGINE_CLIENT" // a contest, in a process that is one of our runs
	sinkEnv   = "BENCH_ENGINE_SINK"   // in a process that is the server
)

// A contest is one load that every tool is to offer.
type contest struct {
	Name     string
	Server   string // nginx, nginx-tls or sink
	URL      string
	Rate     float64 // 0: as much as Conns connections carry
	Conns    int
	Seconds  float64
	Engine   string
	Pacing   string
	TickNS   int64
	InTurn   bool
	Template bool
}

// A figure is what one run came to.
type figure struct {
	Requests         int64
	CPUNS            float64 // per request
	PerS             float64
	RespP50, RespP90 float64 // ns; 0: not known
	ServP50          float64
	LagP50, LagP90   float64
	Allocs           float64 // per request
	RSSKB            int64
}

func contests() []contest {
	ours := func(c contest, pacing string, tick time.Duration) contest {
		c.Pacing, c.TickNS = pacing, int64(tick)
		return c
	}
	closed := contest{Name: "closed", Server: "nginx", Conns: 32, Seconds: 5, Pacing: PacingExact}
	sink := contest{Name: "closed, sink", Server: "sink", Conns: 32, Seconds: 5, Pacing: PacingExact}
	tls := contest{Name: "closed, https", Server: "nginx-tls", Conns: 32, Seconds: 5, Pacing: PacingExact}
	at := func(rate float64, conns int) contest {
		return contest{Name: fmt.Sprintf("%g/s", rate), Server: "nginx", Rate: rate, Conns: conns, Seconds: 6}
	}
	tls20 := at(20000, 32)
	tls20.Name, tls20.Server = "20000/s, https", "nginx-tls"
	many := at(20000, 1000)
	many.Name, many.InTurn, many.Seconds = "20000/s, 1000 connections", true, 14 // wrk2 takes 5 s to connect
	goroutines := closed
	goroutines.Name, goroutines.Engine = "closed, goroutines", EngineGoroutine
	const half, whole = 500 * time.Microsecond, time.Millisecond
	return []contest{closed, goroutines, sink, tls,
		ours(at(20000, 32), PacingTick, whole), ours(at(20000, 32), PacingTick, half), ours(at(50000, 32), PacingTick, half),
		ours(at(1000, 32), PacingExact, 0), ours(at(1000, 32), PacingPrecise, 0), ours(at(20000, 32), PacingPrecise, 0),
		ours(many, PacingTick, half), ours(tls20, PacingTick, half)}
}

// TestBenchEngine compares the engine with the tools that are on PATH. nginx, if there, is the server.
func TestBenchEngine(t *testing.T) {
	rounds, err := strconv.Atoi(os.Getenv(benchEnv))
	if err != nil || rounds < 1 {
		t.Skipf("set %s to the number of rounds to compare with other tools", benchEnv)
	}
	urls := benchServers(t)
	only, whom := regexp.MustCompile(os.Getenv(benchEnv+"_ONLY")), regexp.MustCompile(os.Getenv(benchEnv+"_PEERS"))
	fmt.Println("| load | tool | CPU µs/request | × wrk2 (by minima) | requests/s | response p50, p90 µs | service p50 µs | lag p50, p90 µs | allocs/request | RSS MB |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|---|")
	for _, c := range contests() {
		if c.URL = urls[c.Server]; c.URL == "" || !only.MatchString(c.Name) {
			continue
		}
		names := []string{"perfplan"}
		for _, p := range peers {
			if _, err := exec.LookPath(p.name); err == nil && whom.MatchString(p.name) && p.args(c) != nil {
				names = append(names, p.name)
			}
		}
		runs := map[string][]figure{}
		for range rounds {
			for _, name := range names {
				if f, ok := compete(t, name, c); ok {
					runs[name] = append(runs[name], f)
				}
			}
		}
		printContest(c, names, runs)
	}
}

func printContest(c contest, names []string, runs map[string][]figure) {
	med := func(name string, of func(figure) float64) float64 {
		var v []float64
		for _, f := range runs[name] {
			v = append(v, of(f))
		}
		if len(v) == 0 {
			return 0
		}
		slices.Sort(v)
		return v[len(v)/2]
	}
	us := func(ns float64) string {
		if ns == 0 {
			return "–"
		}
		return strconv.FormatFloat(ns/1e3, 'f', 1, 64)
	}
	least := func(name string) float64 {
		low := math.Inf(1)
		for _, f := range runs[name] {
			low = min(low, f.CPUNS)
		}
		return low
	}
	base := med("wrk2", func(f figure) float64 { return f.CPUNS })
	for _, name := range names {
		m := func(of func(figure) float64) float64 { return med(name, of) }
		ratio := "–"
		cpu := m(func(f figure) float64 { return f.CPUNS })
		if base > 0 {
			ratio = fmt.Sprintf("%.2f (%.2f)", cpu/base, least(name)/least("wrk2"))
		}
		label := name
		if name == "perfplan" {
			label += " " + strings.TrimSpace(c.Engine+" "+c.Pacing)
			if c.TickNS > 0 {
				label += " " + time.Duration(c.TickNS).String()
			}
		}
		fmt.Printf("| %s | %s | %.2f | %s | %.0f | %s, %s | %s | %s, %s | %.4f | %.0f |\n", c.Name, label, cpu/1e3, ratio,
			m(func(f figure) float64 { return f.PerS }), us(m(func(f figure) float64 { return f.RespP50 })), us(m(func(f figure) float64 { return f.RespP90 })),
			us(m(func(f figure) float64 { return f.ServP50 })), us(m(func(f figure) float64 { return f.LagP50 })), us(m(func(f figure) float64 { return f.LagP90 })),
			m(func(f figure) float64 { return f.Allocs }), m(func(f figure) float64 { return float64(f.RSSKB) })/1024)
	}
}

// A peer is another tool; args is nil where it cannot offer the load.
type peer struct {
	name     string
	args     func(c contest) []string
	requests *regexp.Regexp // its first group is how many there were
}

var peers = []peer{
	{"wrk2", func(c contest) []string {
		rate := c.Rate
		if rate == 0 {
			rate = 1e6
		}
		return []string{"-t1", "-L", "-U", fmt.Sprint("-c", c.Conns), fmt.Sprintf("-d%.0fs", c.Seconds), fmt.Sprintf("-R%.0f", rate), c.URL}
	}, regexp.MustCompile(`(\d+) requests in`)},
	{"wrk", func(c contest) []string {
		if c.Rate > 0 {
			return nil
		}
		return []string{"-t1", fmt.Sprint("-c", c.Conns), fmt.Sprintf("-d%.0fs", c.Seconds), c.URL}
	}, regexp.MustCompile(`(\d+) requests in`)},
	{"h2load", func(c contest) []string {
		if c.Rate > 0 {
			return nil
		}
		return []string{"--h1", "-t1", fmt.Sprint("-c", c.Conns), fmt.Sprintf("-D%.0f", c.Seconds), c.URL}
	}, regexp.MustCompile(`(\d+) done`)},
	{"oha", func(c contest) []string {
		args := []string{"--no-tui", "--insecure", "-c", fmt.Sprint(c.Conns), "-z", fmt.Sprintf("%.0fs", c.Seconds)}
		if c.Rate > 0 {
			args = append(args, "-q", fmt.Sprintf("%.0f", c.Rate))
		}
		return append(args, c.URL)
	}, regexp.MustCompile(`\[200\] (\d+) responses`)},
	{"hey", func(c contest) []string {
		args := []string{"-c", fmt.Sprint(c.Conns), "-z", fmt.Sprintf("%.0fs", c.Seconds)}
		if c.Rate > 0 {
			args = append(args, "-q", fmt.Sprintf("%.4g", c.Rate/float64(c.Conns)))
		}
		return append(args, c.URL)
	}, regexp.MustCompile(`\[200\]\s+(\d+) responses`)},
	{"fortio", func(c contest) []string {
		return []string{"load", "-k", "-c", fmt.Sprint(c.Conns), "-t", fmt.Sprintf("%.0fs", c.Seconds), "-qps", fmt.Sprintf("%.0f", c.Rate), c.URL}
	}, regexp.MustCompile(`All done (\d+) calls`)},
	{"vegeta", func(c contest) []string {
		if c.Rate == 0 {
			return nil
		}
		attack := fmt.Sprintf("echo GET %s | vegeta attack -insecure -rate %.0f -duration %.0fs -connections %d -max-connections %d | vegeta report", c.URL, c.Rate, c.Seconds, c.Conns, c.Conns)
		return []string{"sh", "-c", attack}
	}, regexp.MustCompile(`Requests\s+\[total, rate, throughput\]\s+(\d+)`)},
	{"k6", func(c contest) []string {
		if c.Rate == 0 {
			return nil
		}
		script := fmt.Sprintf(`import http from "k6/http"
export const options = {insecureSkipTLSVerify: true, scenarios: {a: {executor: "constant-arrival-rate", rate: %.0f, timeUnit: "1s", duration: "%.0fs", preAllocatedVUs: %d}}}
export default function () { http.get(%q) }`, c.Rate, c.Seconds, c.Conns, c.URL)
		file := filepath.Join(os.TempDir(), "bench-engine.js")
		os.WriteFile(file, []byte(script), 0o600)
		return []string{"run", "--quiet", file}
	}, regexp.MustCompile(`http_reqs\.*: (\d+)`)},
}

// compete makes one run; ok is false where its figures are void.
func compete(t *testing.T, name string, c contest) (f figure, ok bool) {
	time.Sleep(200 * time.Millisecond)
	if name == "perfplan" {
		return ourRun(t, c)
	}
	p := peers[slices.IndexFunc(peers, func(p peer) bool { return p.name == name })]
	args := p.args(c)
	if args[0] != "sh" {
		args = append([]string{name}, args...)
	}
	out, state := pinned(t, 1, nil, args...)
	m := p.requests.FindSubmatch(out)
	if m == nil {
		t.Logf("%s: no number of requests in its output:\n%s", name, out)
		return f, false
	}
	f.Requests, _ = strconv.ParseInt(string(m[1]), 10, 64)
	f = used(f, state)
	f.PerS = float64(f.Requests) / c.Seconds
	if name == "wrk2" {
		f.RespP50, f.ServP50 = wrkQuantile(out, "50.000%")
		f.RespP90, _ = wrkQuantile(out, "90.000%")
		// At its start it loses a second now and then: what it does then is not the load. It also opens a connection in 5 ms.
		if lost := c.Rate*(c.Seconds-float64(c.Conns)*0.0025) - float64(f.Requests); c.Rate > 0 && lost > 0.9*c.Rate {
			t.Logf("%s: lost a second at its start: left out", c.Name)
			return f, false
		}
	}
	return f, true
}

// wrkQuantile reads a quantile of the corrected and of the uncorrected distribution, in ns.
func wrkQuantile(out []byte, q string) (corrected, uncorrected float64) {
	var ns []float64
	for line := range bytes.Lines(out) {
		if fields := strings.Fields(string(line)); len(fields) == 2 && fields[0] == q {
			d, _ := time.ParseDuration(fields[1])
			ns = append(ns, float64(d))
		}
	}
	if len(ns) < 2 {
		return 0, 0
	}
	return ns[0], ns[1]
}

func used(f figure, state *os.ProcessState) figure {
	f.CPUNS = float64(state.UserTime()+state.SystemTime()) / float64(max(f.Requests, 1))
	f.RSSKB = state.SysUsage().(*syscall.Rusage).Maxrss
	return f
}

// pinned runs a command on one core.
func pinned(t *testing.T, core int, env []string, args ...string) ([]byte, *os.ProcessState) {
	cmd := exec.Command("taskset", append([]string{"-c", strconv.Itoa(core % runtime.NumCPU())}, args...)...)
	cmd.Env = append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatalf("%v: %v", args, err)
	}
	return out, cmd.ProcessState
}

func ourRun(t *testing.T, c contest) (f figure, ok bool) {
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	out, state := pinned(t, 1, []string{clientEnv + "=" + string(text), benchEnv + "=", "GOMAXPROCS=2"}, os.Args[0], "-test.run=^TestBenchClient$", "-test.v")
	_, line, _ := strings.Cut(string(out), "FIGURE ")
	line, _, _ = strings.Cut(line, "\n")
	if err := json.Unmarshal([]byte(line), &f); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return used(f, state), true
}

// TestBenchClient is the process of one of our runs.
func TestBenchClient(t *testing.T) {
	var c contest
	if err := json.Unmarshal([]byte(os.Getenv(clientEnv)), &c); err != nil {
		t.Skip("a part of TestBenchEngine")
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	l := ourLoad(t, c)
	runtime.ReadMemStats(&after)
	if l.Completed < l.Sent*99/100 {
		t.Fatalf("%+v, %+v", l.Counts, l.Errors)
	}
	f := figure{Requests: l.Completed, PerS: float64(l.Completed) / float64(l.DurationNS+l.DrainNS) * 1e9, Allocs: float64(after.Mallocs-before.Mallocs) / float64(l.Completed),
		ServP50: float64(*l.Service.P50NS)}
	if c.Rate > 0 {
		f.RespP50, f.RespP90 = float64(*l.Response.P50NS), float64(*l.Response.P90NS)
		f.LagP50, f.LagP90 = float64(*l.Lag.P50NS), float64(*l.Lag.P90NS)
	}
	text, _ := json.Marshal(f)
	fmt.Printf("FIGURE %s\n", text)
}

// ourLoad makes the run. A closed loop is a schedule far above what the connections carry, which takes as long as it takes.
func ourLoad(t *testing.T, c contest) *result.Load {
	rate, drain, over := c.Rate, 10*time.Second, time.Duration(c.Seconds*1e9)
	if rate == 0 {
		rate, over = 1e6, time.Duration(c.Seconds*1e8)
		drain = time.Minute
	}
	s, err := schedule.New([]schedule.Segment{hold(rate, over)}, schedule.Uniform, 1)
	if err != nil {
		t.Fatal(err)
	}
	scheme, address, _ := strings.Cut(strings.TrimSuffix(c.URL, "/"), "://")
	u := urlOf(address)
	u.Scheme = scheme
	req := &plans.Request{Name: "get", Method: "GET", Path: literal("/"), Expect: statusRange(200, 200),
		Target: &plans.Target{URLs: []plans.URL{u}, TLS: plans.TLS{SkipVerify: true}}}
	hosts, err := Resolve(t.Context(), req.Target)
	if err != nil {
		t.Fatal(err)
	}
	l, err := Run(t.Context(), Config{Hosts: hosts, Request: req, Schedule: s, MaxInFlight: c.Conns, Timeout: 30 * time.Second, Drain: drain,
		KeepAlive: true, Engine: c.Engine, Pacing: c.Pacing, Tick: time.Duration(c.TickNS), InTurn: c.InTurn})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// benchServers starts the servers, on a core of their own, and returns their URLs.
func benchServers(t *testing.T) map[string]string {
	urls := map[string]string{"sink": "http://" + freeAddress(t) + "/"}
	child(t, []string{sinkEnv + "=" + urls["sink"], benchEnv + "="}, os.Args[0], "-test.run=^TestBenchSink$")
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx"
	}
	if _, err := os.Stat(nginx); err == nil {
		plain, secure, dir := freeAddress(t), freeAddress(t), t.TempDir()
		certificateFiles(t, dir)
		conf := filepath.Join(dir, "nginx.conf")
		text := fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/pid; error_log %[1]s/error.log; events { worker_connections 8192; }
http { access_log off; keepalive_requests 1000000000; keepalive_timeout 3600;
server { listen %[2]s backlog=4096; location / { return 200 "hello"; } }
server { listen %[3]s ssl backlog=4096; ssl_certificate %[1]s/cert.pem; ssl_certificate_key %[1]s/key.pem; location / { return 200 "hello"; } } }`, dir, plain, secure)
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		child(t, nil, nginx, "-c", conf)
		urls["nginx"], urls["nginx-tls"] = "http://"+plain+"/", "https://"+secure+"/"
	}
	for _, url := range urls {
		_, address, _ := strings.Cut(strings.TrimSuffix(url, "/"), "://")
		for range 100 {
			c, err := net.Dial("tcp", address)
			if err == nil {
				c.Close()
				break
			}
			time.Sleep(50 * time.Millisecond)
		}
	}
	return urls
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func child(t *testing.T, env []string, args ...string) {
	cmd := exec.Command("taskset", append([]string{"-c", "0"}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
}

// TestBenchSink is the process of a server that does as little as a server can: one thread, one answer.
func TestBenchSink(t *testing.T) {
	url := os.Getenv(sinkEnv)
	if url == "" {
		t.Skip("a part of TestBenchEngine")
	}
	runtime.LockOSThread()
	address, err := socketAddress(strings.TrimSuffix(strings.TrimPrefix(url, "http://"), "/"))
	if err != nil {
		t.Fatal(err)
	}
	listen, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(listen, address)
	}
	if err == nil {
		err = unix.Listen(listen, 4096)
	}
	p, pollErr := newPoller()
	if err != nil || pollErr != nil {
		t.Fatal(err, pollErr)
	}
	p.add(listen, int32(listen), 0)
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
	var rx receiver
	for buf := make([]byte, 4096); ; {
		n, err := p.wait(int64(time.Second), false)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			fd := int(p.events[i].Fd)
			if fd == listen {
				for {
					c, _, err := unix.Accept4(listen, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
					if err != nil {
						break
					}
					unix.SetsockoptInt(c, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
					p.add(c, int32(c), 0)
				}
				continue
			}
			if p.events[i].Events&unix.EPOLLIN == 0 {
				continue
			}
			if got, _, errno := rx.receive(fd, buf); errno != 0 && errno != syscall.EAGAIN || errno == 0 && got == 0 {
				unix.Close(fd)
			} else if got > 0 {
				write(fd, answer)
			}
		}
	}
}

func certificateFiles(t *testing.T, dir string) {
	_, cert := authorityFor(t, "127.0.0.1")
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
