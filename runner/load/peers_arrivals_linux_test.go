//go:build amd64 || arm64

package load

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/netip"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfplan/perfplan/runner/load/kts"
	"github.com/perfplan/perfplan/runner/stats"
)

// What the server's kernel sees of a schedule.
const (
	serverLag99 measure = "lag at the server p99 µs"
	gapsCV      measure = "CV of the gaps at the server"
	gapsFit     measure = "p that the gaps are exponential"
)

// ktsEnv is the mode of a server whose truth is known, in the process that is one.
const ktsEnv = "BENCH_ENGINE_KTS"

// TestBenchKTS is the process of such a server. It writes its address, and ends with its standard input.
func TestBenchKTS(t *testing.T) {
	text := os.Getenv(ktsEnv)
	if text == "" {
		t.Skip("a part of TestBenchEngine")
	}
	mode, err := kts.ParseMode(text)
	if err != nil {
		t.Fatal(err)
	}
	s, err := kts.Start(kts.Options{Mode: mode, Address: netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), 0), Capacity: 1 << 19})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("ADDRESS %v\n", s.Addr())
	io.Copy(io.Discard, os.Stdin)
	s.Stop()
}

// knownServer starts one on the core of the servers, for the rest of the test, and returns its URL.
func (s *benchRig) knownServer(t *testing.T, mode string) string {
	t.Helper()
	cmd := exec.Command("taskset", "-c", "0", os.Args[0], "-test.run=^TestBenchKTS$", "-test.v", "-test.timeout=0")
	cmd.Env, cmd.Stderr = append(os.Environ(), ktsEnv+"="+mode, benchEnv+"=", "GOGC=off"), os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		cmd.Wait()
	})
	s.servers = append(s.servers, cmd.Process.Pid)
	lines := bufio.NewScanner(out)
	for lines.Scan() {
		if _, address, ok := strings.Cut(lines.Text(), "ADDRESS "); ok {
			go io.Copy(io.Discard, out)
			return "http://" + address + "/"
		}
	}
	t.Fatalf("the server %q did not start", mode)
	return ""
}

// serverLog returns the arrivals at a known server, in ns of CLOCK_MONOTONIC, the first n left out.
func serverLog(t *testing.T, url string, n int) []int64 {
	r, err := http.Get(strings.TrimSuffix(url, "/") + kts.LogPath)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var log kts.Log
	if err := json.NewDecoder(r.Body).Decode(&log); err != nil {
		t.Fatal(err)
	}
	return slices.Sorted(slices.Values(log.Arrival[n:]))
}

// arrivals is a run whose requests are timed at the server.
func arrivals(t *testing.T, s *benchRig, name string, c contest) (figure, bool) {
	before := len(serverLog(t, c.URL, 0))
	f, ok := compete(t, s, name, c)
	at := serverLog(t, c.URL, before)
	if !ok || len(at) < 2 {
		return f, false
	}
	if name != ours {
		return f, true
	}
	due := dueTimes(t, c)
	if len(at) != len(due) {
		t.Logf("%s: %d requests at the server, want %d", c.Name, len(at), len(due))
		return f, false
	}
	f.Of[serverLag99] = quantile(lagsOf(at, due, f.BaseNS, f.LeastLagNS), 0.99) / 1e3
	f.Of[gapsCV] = variation(at)
	if c.Poisson {
		f.Of[gapsFit] = exponentialFit(at, c.Rate)
	}
	return f, true
}

// dueTimes are the intended times of a contest, in ns.
func dueTimes(t *testing.T, c contest) (all []int64) {
	for cursor := ourSchedule(t, c).Cursor(); ; {
		at, _, ok := cursor.Next()
		if !ok {
			return all
		}
		all = append(all, int64(at))
	}
}

// lagsOf is how long after its intended time each request was at the server. Seen from outside, base is never too early,
// but it may be too late: it is as early as it must be for no request to have lagged less than the engine says.
func lagsOf(at, due []int64, base, least int64) []float64 {
	for i := range at {
		base = min(base, at[i]-due[i]-least)
	}
	lags := make([]float64, len(at))
	for i := range at {
		lags[i] = float64(at[i] - due[i] - base)
	}
	return lags
}

func quantile(v []float64, p float64) float64 {
	slices.Sort(v)
	return v[min(int(math.Ceil(p*float64(len(v)))), len(v))-1]
}

// variation is the coefficient of variation of the gaps between ascending times.
func variation(at []int64) float64 {
	n := float64(len(at) - 1)
	mean, square := float64(at[len(at)-1]-at[0])/n, 0.0
	for i := range at[1:] {
		gap := float64(at[i+1]-at[i]) - mean
		square += gap * gap
	}
	return math.Sqrt(square/n) / mean
}

// exponentialFit is stats.ExponentialFit of the gaps between ascending times, for the given rate per second.
func exponentialFit(at []int64, rate float64) float64 {
	gaps := make([]float64, len(at)-1)
	for i := range gaps {
		gaps[i] = float64(at[i+1] - at[i])
	}
	return stats.ExponentialFit(gaps, 1e9/rate)
}

// baseFinder finds the run's time 0, on CLOCK_MONOTONIC, from outside: a tick comes soon after its time was taken, and the
// one that came soonest tells best.
type baseFinder struct{ base int64 }

func (b *baseFinder) tick(k Tick) bool {
	if base := clockNS(unix.CLOCK_MONOTONIC) - int64(k.At); k.At > 0 && (b.base == 0 || base < b.base) {
		b.base = base
	}
	return true
}

func arrivalContests() []contest {
	exact := func(name string, bars ...bar) contest {
		return contest{Name: name, Server: "kts", Rate: 1000, Conns: 32, Seconds: 10, Engine: EngineLoop, Pacing: PacingExact, TickEveryNS: int64(50 * time.Millisecond),
			bars: bars, tools: "^$", run: arrivals}
	}
	poisson := exact("1000/s poisson, at the server", atMost(serverLag99, 300), atLeast(gapsFit, 0.01))
	poisson.Poisson = true
	stalls := contest{Name: "4000/s, 1 in 200 stalled 100ms", Server: "kts-stalls", Rate: 4000, Conns: 32, Seconds: 8, Engine: EngineLoop, Pacing: PacingExact,
		bars: []bar{atMost(resp90, 2000), atMost(resp99, 10000)}}
	return []contest{exact("1000/s, at the server", atMost(serverLag99, 300), atMost(gapsCV, 0.1)), poisson, stalls}
}

func TestArrivalFigures(t *testing.T) {
	// Times of base 1000, each 5 late but for one of 25; base was seen 40 late.
	at, due := []int64{1005, 1105, 1225, 1305}, []int64{0, 100, 200, 300}
	if got, want := lagsOf(at, due, 1040, 5), []float64{5, 5, 25, 5}; !slices.Equal(got, want) {
		t.Errorf("lagsOf = %v, want %v", got, want)
	}
	if got := variation([]int64{0, 10, 20, 30}); got != 0 {
		t.Errorf("variation of even gaps = %v, want 0", got)
	}
	if got := variation([]int64{0, 0, 20, 20, 40}); got != 1 {
		t.Errorf("variation of pairs = %v, want 1", got)
	}
	if got := quantile([]float64{4, 1, 3, 2}, 0.5); got != 2 {
		t.Errorf("quantile = %v, want 2", got)
	}
	poisson := dueTimes(t, contest{Rate: 1000, Seconds: 10, Poisson: true})
	if p := exponentialFit(poisson, 1000); p < 0.05 {
		t.Errorf("a Poisson schedule: p = %v, want more than 0.05", p)
	}
	if p := exponentialFit(poisson, 1300); p > 1e-6 {
		t.Errorf("a Poisson schedule of another rate: p = %v, want 0", p)
	}
	if p := exponentialFit(dueTimes(t, contest{Rate: 1000, Seconds: 10}), 1000); p > 1e-6 {
		t.Errorf("even gaps: p = %v, want 0", p)
	}
}
