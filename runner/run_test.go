package runner

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// The test binary is also the target: "serve ADDRESS MODE".
func TestMain(m *testing.M) {
	if len(os.Args) == 4 && os.Args[1] == "serve" {
		serve(os.Args[2], os.Args[3])
		return
	}
	os.Exit(m.Run())
}

func serve(address, mode string) {
	fmt.Println("serving", mode)
	switch mode {
	case "crash":
		fmt.Fprintln(os.Stderr, "no licence found")
		os.Exit(3)
	case "child":
		// A grandchild that would outlive a runner that kills only what it started.
		c := exec.Command("sleep", "600")
		c.Start()
		os.WriteFile(os.Getenv("CHILD_FILE"), fmt.Append(nil, c.Process.Pid), 0o666)
	}
	handler := func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.URL.Path == "/die":
			os.Exit(9)
		case mode == "500" && r.URL.Path != "/ready":
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprint(w, "ok")
	}
	network := "tcp"
	if strings.Contains(address, "/") {
		network = "unix"
	}
	l, err := net.Listen(network, address)
	if err == nil {
		err = http.Serve(l, http.HandlerFunc(handler))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func freeAddress(t *testing.T, host string) string {
	t.Helper()
	l, err := net.Listen("tcp", host+":0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func read(t *testing.T, text string) *plans.Plan {
	t.Helper()
	p, err := plans.Read(strings.NewReader(text), "plan.yaml", t.TempDir(), plans.Options{Env: os.LookupEnv})
	if err != nil {
		t.Fatalf("plan: %v", err)
	}
	return p
}

func runPlan(t *testing.T, ctx context.Context, p *plans.Plan, events func(Event)) (*result.Result, string) {
	t.Helper()
	dir, id, err := NewRunDir(t.TempDir(), p.Name, time.Now())
	if err != nil {
		t.Fatal(err)
	}
	r := Run(ctx, p, Options{Dir: dir, RunID: id, Version: "test", Env: os.LookupEnv, Events: events})
	stored, err := result.Read(filepath.Join(dir, "result.json"))
	if err != nil {
		t.Fatalf("stored result: %v", err)
	}
	// A report of the record in memory and one of the stored record are the same only if its times are.
	if got, want := r.Finished.Sub(r.Started), stored.Finished.Sub(stored.Started); got != want || !r.Started.Equal(stored.Started) {
		t.Errorf("took %d ns, stored as %d ns", got, want)
	}
	if stored.Outcome != r.Outcome || len(stored.Stages) != len(r.Stages) {
		t.Errorf("stored outcome %s with %d stages, returned %s with %d", stored.Outcome, len(stored.Stages), r.Outcome, len(r.Stages))
	}
	for _, st := range r.Stages {
		if l := st.Load; l != nil {
			conserved(t, st.Name, l.Counts)
			for _, seg := range l.Segments {
				conserved(t, st.Name+"/"+seg.Name, seg.Counts)
			}
		}
	}
	return r, dir
}

func conserved(t *testing.T, where string, c result.Counts) {
	t.Helper()
	if c.Offered != c.Sent+c.Dropped || c.Sent != c.Completed+c.Failed+c.Unfinished {
		t.Errorf("%s: counts are not conserved: %+v", where, c)
	}
}

const planHead = `
version: 1
name: t
targets:
  api:
    url: http://%s
    start: [%q, serve, "${address}", %s]
    ready: {path: /ready, within: 20s}
requests:
  get: {path: /%s}
`

func TestRunStartsLoadsAndStops(t *testing.T) {
	childFile := filepath.Join(t.TempDir(), "child")
	t.Setenv("CHILD_FILE", childFile)
	p := read(t, fmt.Sprintf(planHead, freeAddress(t, "127.0.0.1"), os.Args[0], "child", "")+`
stages:
  - {name: warm, warmup: {request: get, rate: 50/s, for: 500ms}}
  - name: main
    load: {request: get, rate: 300/s, for: 2s}
    slo: [p99 < 5s, error_rate < 1%, rss(api) < 10GiB]
`)
	var events []string
	r, dir := runPlan(t, t.Context(), p, func(e Event) { events = append(events, fmt.Sprintf("%T", e)) })
	if r.Outcome != result.Pass || r.Error != "" {
		t.Errorf("outcome %s (%s), error %q, want pass", r.Outcome, r.Reason, r.Error)
	}
	if l := r.Stages[1].Load; l == nil || l.Offered != 600 || l.Completed != 600 {
		t.Errorf("load %+v, want 600 offered and completed", l)
	}
	if len(r.Targets) != 1 || r.Targets[0].PID == 0 || r.Targets[0].ReadyNS <= 0 {
		t.Errorf("targets %+v, want one with pid and time to ready", r.Targets)
	}
	log, err := os.ReadFile(filepath.Join(dir, r.Targets[0].LogFile))
	if err != nil || !strings.Contains(string(log), "serving child") {
		t.Errorf("log %q, %v, want the target's output", log, err)
	}
	var child int
	if b, err := os.ReadFile(childFile); err != nil {
		t.Error(err)
	} else if _, err := fmt.Sscan(string(b), &child); err != nil {
		t.Error(err)
	}
	for _, pid := range []int{r.Targets[0].PID, child} {
		if syscall.Kill(pid, 0) == nil {
			t.Errorf("process %d is still there after the run", pid)
		}
	}
	if all := strings.Join(events, " "); !strings.Contains(all, "LoadProgress") || !strings.HasSuffix(all, "Preparing") {
		t.Errorf("events %s, want progress and in the end stopping", all)
	}
}

func TestRunThatCannotStart(t *testing.T) {
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	stages := "\nstages:\n  - {name: main, load: {request: get, rate: 10/s, for: 1s}}\n"
	tests := []struct{ name, plan, want string }{
		{"nothing listens", "version: 1\nname: t\ntargets: {api: {url: 'http://" + freeAddress(t, "127.0.0.1") + "'}}\nrequests: {get: {path: /}}" + stages, "nothing answers at"},
		{"crash at start", fmt.Sprintf(planHead, freeAddress(t, "127.0.0.1"), os.Args[0], "crash", "") + stages, "no licence found"},
		{"no such program", fmt.Sprintf(planHead, freeAddress(t, "127.0.0.1"), "/no/such/program", "x", "") + stages, "/no/such/program"},
		{"address taken", fmt.Sprintf(planHead, taken.Addr(), os.Args[0], "ok", "") + stages, "already listens"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, _ := runPlan(t, t.Context(), read(t, tt.plan), nil)
			if !strings.Contains(r.Error, tt.want) || r.Outcome != result.Inconclusive {
				t.Errorf("error %q, outcome %s, want …%s…, inconclusive", r.Error, r.Outcome, tt.want)
			}
			if len(r.Stages) != 1 || r.Stages[0].State != result.Skipped {
				t.Errorf("stages %+v, want one skipped", r.Stages)
			}
		})
	}
}

func TestBuildFails(t *testing.T) {
	p := read(t, fmt.Sprintf(planHead, freeAddress(t, "127.0.0.1"), os.Args[0], "ok", "")+`
stages:
  - {name: main, load: {request: get, rate: 10/s, for: 1s}}
`)
	p.Targets[0].Build = &plans.Command{Text: "false", Args: []string{"sh", "-c", "echo broken code >&2; exit 2"}, Dir: t.TempDir()}
	r, _ := runPlan(t, t.Context(), p, nil)
	if !strings.Contains(r.Error, "cannot build target api") || !strings.Contains(r.Error, "broken code") {
		t.Errorf("error %q, want the build's output", r.Error)
	}
}

func TestTargetDiesInMidStage(t *testing.T) {
	p := read(t, fmt.Sprintf(planHead, freeAddress(t, "127.0.0.1"), os.Args[0], "ok", "")+`
stages:
  - {name: before, load: {request: get, rate: 100/s, for: 1s}, slo: [error_rate < 1%]}
  - {name: killed, load: {request: get, rate: 100/s, for: 60s}, slo: [error_rate < 1%]}
  - {name: after, load: {request: get, rate: 100/s, for: 1s}}
`)
	var pid atomic.Int64
	start := time.Now()
	r, _ := runPlan(t, t.Context(), p, func(e Event) {
		if ev, ok := e.(LoadProgress); ok && ev.Stage.Name == "killed" && pid.Load() == 0 {
			pid.Store(1)
			http.Get("http://" + p.Targets[0].URLs[0].Host + fmt.Sprintf(":%d/die", p.Targets[0].URLs[0].Port))
		}
	})
	if d := time.Since(start); d > 20*time.Second {
		t.Errorf("took %v, want an early end", d)
	}
	if !strings.Contains(r.Error, "ended by itself") || !strings.Contains(r.Error, "killed") {
		t.Errorf("error %q, want that the target ended in stage killed", r.Error)
	}
	states := []string{}
	for _, st := range r.Stages {
		states = append(states, st.State)
	}
	if got := strings.Join(states, " "); got != "complete partial skipped" {
		t.Errorf("states %s, want complete partial skipped", got)
	}
	if r.Stages[0].Outcome != result.Pass || r.Stages[1].Outcome == result.Pass {
		t.Errorf("outcomes %s, %s, want pass and not pass", r.Stages[0].Outcome, r.Stages[1].Outcome)
	}
	if r.Targets[0].Exit == "" {
		t.Error("the target's end is not in the record")
	}
}

func TestInterruptedRunKeepsWhatItMeasured(t *testing.T) {
	p := read(t, fmt.Sprintf(planHead, freeAddress(t, "127.0.0.1"), os.Args[0], "ok", "")+`
stages:
  - {name: main, load: {request: get, rate: 100/s, for: 60s}, slo: [p99 < 5s]}
`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	r, _ := runPlan(t, ctx, p, func(e Event) {
		if _, ok := e.(LoadProgress); ok {
			cancel()
		}
	})
	st := r.Stages[0]
	if !r.Interrupted || r.Outcome != result.Inconclusive || st.State != result.Partial || st.Load == nil || st.Load.Completed == 0 {
		t.Errorf("interrupted %v, outcome %s, stage %s, want partial figures and inconclusive", r.Interrupted, r.Outcome, st.State)
	}
}

func TestErrorsOfTheTargetFail(t *testing.T) {
	p := read(t, fmt.Sprintf(planHead, freeAddress(t, "127.0.0.1"), os.Args[0], "500", "")+`
stages:
  - {name: main, load: {request: get, rate: 300/s, for: 1s}, slo: [p99 < 5s, error_rate < 0.1%]}
`)
	r, _ := runPlan(t, t.Context(), p, nil)
	if r.Outcome != result.Fail || r.Stages[0].SLO[0].Outcome != result.Fail || *r.Stages[0].SLO[1].Value != 1 {
		t.Errorf("outcome %s, SLOs %+v, want fail with all requests failed", r.Outcome, r.Stages[0].SLO)
	}
	if r.Stages[0].Load.Response.P50NS != nil {
		t.Error("failed requests are in the response times")
	}
}

func TestSpreadOverFourHosts(t *testing.T) {
	var urls []string
	for i := range 4 {
		urls = append(urls, "http://"+freeAddress(t, fmt.Sprintf("127.0.0.%d", i+1)))
	}
	p := read(t, fmt.Sprintf(`
version: 1
name: four
targets:
  api:
    url: [%s]
    start: [%q, serve, "${address}", ok]
    ready: {path: /ready, within: 20s}
requests: {get: {path: /}}
stages:
  - {name: main, load: {request: get, rate: 401/s, for: 2s}, slo: [error_rate < 1%%]}
`, strings.Join(urls, ", "), os.Args[0]))
	r, _ := runPlan(t, t.Context(), p, nil)
	if r.Outcome != result.Pass || len(r.Targets) != 4 {
		t.Fatalf("outcome %s (%s), %d processes, want pass with 4", r.Outcome, r.Reason, len(r.Targets))
	}
	hosts := r.Stages[0].Load.Hosts
	if len(hosts) != 4 {
		t.Fatalf("%d hosts, want 4", len(hosts))
	}
	lo, hi := hosts[0].Offered, hosts[0].Offered
	for _, h := range hosts {
		conserved(t, h.Address, h.Counts)
		lo, hi = min(lo, h.Offered), max(hi, h.Offered)
	}
	if hi-lo > 1 || hi < 200 {
		t.Errorf("shares from %d to %d, want 200 or 201 each", lo, hi)
	}
}

func TestNewRunDirIsNeverShared(t *testing.T) {
	out := t.TempDir()
	now := time.Now()
	seen := map[string]bool{}
	for range 50 { // C-33: within one second
		dir, id, err := NewRunDir(out, "p", now)
		if err != nil || seen[dir] || filepath.Base(dir) != id {
			t.Fatalf("NewRunDir = %q, %q, %v, want a new folder", dir, id, err)
		}
		seen[dir] = true
		if err := PointLatest(dir); err != nil {
			t.Fatal(err)
		}
		if got, err := filepath.EvalSymlinks(filepath.Join(out, "p", "latest")); err != nil || filepath.Base(got) != id {
			t.Errorf("latest = %q, %v, want %s", got, err, id)
		}
	}
	file := filepath.Join(out, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, _, err := NewRunDir(file, "p", now); err == nil {
		t.Error("NewRunDir below a file gives no error")
	}
}
