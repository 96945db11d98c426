package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// knownPeers are the peers with the settings that their documentation advises,
// and some with their bounds as users often set them.
func knownPeers() []peer {
	return []peer{
		{name: "wrk2", program: "wrk2", lasting: true, skips: 10 * time.Second, command: wrk2Command, read: readWrk},
		{name: "wrk", program: "wrk", lasting: true, command: wrkCommand, read: readWrk, closed: true},
		{name: "vegeta", program: "vegeta", command: vegetaCommand(0), read: readVegeta},
		{name: "vegeta, 20 workers", program: "vegeta", command: vegetaCommand(conns), read: readVegeta},
		{name: "hey", program: "hey", command: heyCommand, read: readHey},
		{name: "h2load", program: "h2load", lasting: true, command: h2loadCommand, read: readH2load},
		{name: "k6, 400 VUs", program: "k6", command: k6Command(400), read: readK6},
		{name: "k6, 20 VUs", program: "k6", command: k6Command(20), read: readK6},
		{name: "fortio", program: "fortio", command: fortioCommand, read: readFortio},
		{name: "oha", program: "oha", command: ohaCommand, read: readOha},
	}
}

func seconds(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', -1, 64) + "s" }

var errNoFigures = errors.New("no figures")

// wrk and wrk2 open all their connections once; neither can open one per request.
func wrk2Command(o offer) []string {
	return []string{o.program, "-t1", fmt.Sprint("-c", conns), fmt.Sprint("-R", o.rate), "-d" + seconds(o.over), "-L", "--timeout", seconds(o.timeout), o.url}
}

func wrkCommand(o offer) []string {
	return []string{o.program, "-t1", fmt.Sprint("-c", conns), "-d" + seconds(o.over), "--latency", "--timeout", seconds(o.timeout), o.url}
}

var (
	wrkRank   = regexp.MustCompile(`(?m)^\s*([\d.]+)%\s+([\d.]+)(us|ms|s|m|h)\s*$`)
	wrkLine   = regexp.MustCompile(`(?m)^\s+([\d.]+)\s+(0\.\d+)\s+\d+\s+[\d.]+$`) // of the spectrum, in ms
	wrkTotal  = regexp.MustCompile(`(?m)^\s+(\d+) requests in `)
	wrkErrors = regexp.MustCompile(`Socket errors: connect (\d+), read (\d+), write (\d+), timeout (\d+)`)
)

// readWrk reads the text of wrk and wrk2. Timeouts are not counted as failed:
// wrk2 counts the same one every two seconds.
func readWrk(_ offer, out []byte) (figures, error) {
	ranks := map[float64]float64{}
	for _, m := range wrkRank.FindAllStringSubmatch(string(out), -1) {
		rank, _ := strconv.ParseFloat(m[1], 64)
		d, err := time.ParseDuration(m[2] + m[3])
		if err == nil {
			ranks[rank] = float64(d)
		}
	}
	for _, m := range wrkLine.FindAllStringSubmatch(string(out), -1) {
		share, _ := strconv.ParseFloat(m[2], 64)
		if _, seen := ranks[100*share]; !seen {
			value, _ := strconv.ParseFloat(m[1], 64)
			ranks[100*share] = value * 1e6
		}
	}
	total := wrkTotal.FindSubmatch(out)
	if total == nil {
		return figures{}, errNoFigures
	}
	f := figures{q: named(ranks)}
	f.done, _ = strconv.ParseInt(string(total[1]), 10, 64)
	if m := wrkErrors.FindStringSubmatch(string(out)); m != nil {
		for _, field := range m[1:4] {
			n, _ := strconv.ParseInt(field, 10, 64)
			f.failed += n
		}
	}
	return f, nil
}

func vegetaCommand(workers int) func(o offer) []string {
	return func(o offer) []string {
		target := filepath.Join(o.dir, "target")
		os.WriteFile(target, []byte("GET "+o.url+"\n"), 0o600)
		args := []string{o.program, "attack", "-targets", target, "-rate", fmt.Sprint(o.rate), "-duration", seconds(o.over),
			"-timeout", seconds(o.timeout), fmt.Sprintf("-keepalive=%v", !o.fresh), "-output", filepath.Join(o.dir, "results")}
		if workers > 0 {
			args = append(args, "-max-workers", fmt.Sprint(workers))
		}
		return args
	}
}

func readVegeta(o offer, _ []byte) (figures, error) {
	out, err := exec.Command(o.program, "report", "-type", "json", filepath.Join(o.dir, "results")).Output()
	if err != nil {
		return figures{}, err
	}
	return parseVegeta(out)
}

func parseVegeta(out []byte) (figures, error) {
	var r struct {
		Latencies map[string]float64 `json:"latencies"` // ns
		Requests  int64              `json:"requests"`
		Codes     map[string]int64   `json:"status_codes"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return figures{}, err
	}
	l := r.Latencies
	f := figures{q: named(map[float64]float64{50: l["50th"], 90: l["90th"], 95: l["95th"], 99: l["99th"]})}
	f.done = r.Codes["200"]
	f.failed = r.Requests - f.done
	return f, nil
}

func heyCommand(o offer) []string {
	args := []string{o.program, "-z", seconds(o.over), "-c", fmt.Sprint(conns), "-q", fmt.Sprint(o.rate / conns), "-t",
		fmt.Sprint(int(o.timeout.Seconds()))}
	if o.fresh {
		args = append(args, "-disable-keepalive")
	}
	return append(args, o.url)
}

var (
	heyRank  = regexp.MustCompile(`(?m)^\s*(\d+)%+ in ([\d.]+) secs`)
	heyCount = regexp.MustCompile(`(?m)^\s*\[(\d+)\]\s+(.*)$`)
)

func readHey(_ offer, out []byte) (figures, error) {
	text := string(out)
	ranks := map[float64]float64{}
	for _, m := range heyRank.FindAllStringSubmatch(text, -1) {
		rank, _ := strconv.ParseFloat(m[1], 64)
		s, _ := strconv.ParseFloat(m[2], 64)
		ranks[rank] = s * 1e9
	}
	if !strings.Contains(text, "Summary:") {
		return figures{}, errNoFigures
	}
	f := figures{q: named(ranks)}
	codes, errs, _ := strings.Cut(text, "Error distribution:")
	_, codes, _ = strings.Cut(codes, "Status code distribution:")
	for _, m := range heyCount.FindAllStringSubmatch(codes, -1) {
		n, _ := strconv.ParseInt(strings.Fields(m[2])[0], 10, 64)
		f.done += n
	}
	for _, m := range heyCount.FindAllStringSubmatch(errs, -1) {
		n, _ := strconv.ParseInt(m[1], 10, 64)
		f.failed += n
	}
	return f, nil
}

func h2loadCommand(o offer) []string {
	return []string{o.program, "--h1", "-t1", fmt.Sprint("-c", conns), fmt.Sprint("--rps=", o.rate/conns), fmt.Sprint("-D", int(o.over.Seconds())),
		"--log-file", filepath.Join(o.dir, "log"), o.url}
}

var h2loadCounts = regexp.MustCompile(`requests: (\d+) total, (\d+) started, (\d+) done, (\d+) succeeded, (\d+) failed`)

// readH2load takes the quantiles from the log, start, status and time in µs of
// each request, since h2load prints none.
func readH2load(o offer, out []byte) (figures, error) {
	m := h2loadCounts.FindSubmatch(out)
	text, err := os.ReadFile(filepath.Join(o.dir, "log"))
	if m == nil || err != nil {
		return figures{}, errors.Join(errNoFigures, err)
	}
	f := figures{}
	f.done, _ = strconv.ParseInt(string(m[4]), 10, 64)
	f.failed, _ = strconv.ParseInt(string(m[5]), 10, 64)
	f.q = h2loadQuantiles(string(text))
	return f, nil
}

func h2loadQuantiles(log string) quantiles {
	var all []float64
	for line := range strings.Lines(log) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[1] == "-1" {
			continue
		}
		if us, err := strconv.ParseFloat(fields[2], 64); err == nil {
			all = append(all, us*1e3)
		}
	}
	if len(all) == 0 {
		return func(float64) float64 { return math.NaN() }
	}
	return sampled(all).q
}

func k6Command(vus int) func(o offer) []string {
	return func(o offer) []string {
		script := filepath.Join(o.dir, "script.js")
		os.WriteFile(script, fmt.Appendf(nil, `import http from 'k6/http';
export const options = {
  noConnectionReuse: %v,
  summaryTrendStats: ['p(50)', 'p(90)', 'p(95)', 'p(99)', 'p(99.9)'],
  scenarios: {s: {executor: 'constant-arrival-rate', rate: %d, timeUnit: '1s', duration: '%s', gracefulStop: '30s',
    preAllocatedVUs: %d, maxVUs: %d}},
};
export default function () { http.get('%s', {timeout: '%s'}); }
`, o.fresh, o.rate, seconds(o.over), vus, vus, o.url, seconds(o.timeout)), 0o600)
		return []string{o.program, "run", "--quiet", "--no-usage-report", "--summary-export", filepath.Join(o.dir, "summary.json"), script}
	}
}

func readK6(o offer, _ []byte) (figures, error) {
	text, err := os.ReadFile(filepath.Join(o.dir, "summary.json"))
	if err != nil {
		return figures{}, err
	}
	return parseK6(text)
}

// parseK6 reads k6's summary export; its times are ms.
func parseK6(text []byte) (figures, error) {
	var r struct {
		Metrics struct {
			Duration map[string]float64 `json:"http_req_duration"`
			Reqs     struct {
				Count float64 `json:"count"`
			} `json:"http_reqs"`
			Failed struct {
				Passes float64 `json:"passes"` // of the rate "failed"
			} `json:"http_req_failed"`
		} `json:"metrics"`
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return figures{}, err
	}
	ranks := map[float64]float64{}
	for _, rank := range []float64{50, 90, 95, 99, 99.9} {
		if x, ok := r.Metrics.Duration[fmt.Sprintf("p(%g)", rank)]; ok {
			ranks[rank] = x * 1e6
		}
	}
	failed := int64(r.Metrics.Failed.Passes)
	return figures{q: named(ranks), failed: failed, done: int64(r.Metrics.Reqs.Count) - failed}, nil
}

func fortioCommand(o offer) []string {
	return []string{o.program, "load", "-quiet", "-qps", fmt.Sprint(o.rate), "-c", fmt.Sprint(conns), "-t", seconds(o.over), "-timeout", seconds(o.timeout),
		"-p", "50,90,95,99,99.9", "-allow-initial-errors", fmt.Sprintf("-keepalive=%v", !o.fresh), "-json", filepath.Join(o.dir, "out.json"), o.url}
}

func readFortio(o offer, _ []byte) (figures, error) {
	text, err := os.ReadFile(filepath.Join(o.dir, "out.json"))
	if err != nil {
		return figures{}, err
	}
	return parseFortio(text)
}

// parseFortio reads fortio's JSON; its times are s.
func parseFortio(text []byte) (figures, error) {
	var r struct {
		DurationHistogram struct {
			Percentiles []struct{ Percentile, Value float64 }
		}
		RetCodes map[string]int64
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return figures{}, err
	}
	ranks := map[float64]float64{}
	for _, p := range r.DurationHistogram.Percentiles {
		ranks[p.Percentile] = p.Value * 1e9
	}
	f := figures{q: named(ranks)}
	for code, n := range r.RetCodes {
		if code == "200" {
			f.done += n
		} else {
			f.failed += n
		}
	}
	return f, nil
}

func ohaCommand(o offer) []string {
	args := []string{o.program, "--no-tui", "--output-format", "json", "-q", fmt.Sprint(o.rate), "-c", fmt.Sprint(conns), "-z", seconds(o.over),
		"-t", seconds(o.timeout), "--latency-correction"}
	if o.fresh {
		args = append(args, "--disable-keepalive")
	}
	return append(args, o.url)
}

// readOha reads oha's JSON; its times are s.
func readOha(_ offer, out []byte) (figures, error) {
	var r struct {
		Percentiles map[string]*float64 `json:"latencyPercentiles"`
		Codes       map[string]int64    `json:"statusCodeDistribution"`
		Errors      map[string]int64    `json:"errorDistribution"`
	}
	if err := json.Unmarshal(out, &r); err != nil {
		return figures{}, err
	}
	ranks := map[float64]float64{}
	for _, rank := range []float64{50, 90, 95, 99, 99.9} {
		if x := r.Percentiles[fmt.Sprintf("p%g", rank)]; x != nil {
			ranks[rank] = *x * 1e9
		}
	}
	f := figures{q: named(ranks), done: r.Codes["200"]}
	for _, n := range r.Errors {
		f.failed += n
	}
	return f, nil
}
