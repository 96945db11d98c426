package runner

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

// What the plan says of connections reaches the load, and the warm-up too.
func TestConnectionPolicies(t *testing.T) {
	p := read(t, fmt.Sprintf(planHead, freeAddress(t, "127.0.0.1"), os.Args[0], "ok", "")+`
stages:
  - {name: warm, warmup: {rate: 50/s, for: 200ms, connections: 3}}
  - {name: fresh, warmup: {rate: 50/s, for: 200ms, keep_alive: false}}
  - {name: main, load: {rate: 100/s, for: 300ms, connections: 2, max_in_flight: 1, requests_per_connection: 5}}
`)
	r, _ := runPlan(t, t.Context(), p, nil)
	if r.Outcome != result.Pass {
		t.Fatalf("outcome %s (%s), error %q", r.Outcome, r.Reason, r.Error)
	}
	warm, fresh, main := r.Stages[0].Load, r.Stages[1].Load, r.Stages[2].Load
	if warm.Connections != 3 || warm.Wire.Ahead != 3 || warm.Wire.Opened != 3 {
		t.Errorf("warm-up: %d connections, %d ahead, %d opened, want 3 each", warm.Connections, warm.Wire.Ahead, warm.Wire.Opened)
	}
	if fresh.KeepAlive || fresh.Wire.Opened != 10 {
		t.Errorf("warm-up without keep-alive: opened %d, want 10", fresh.Wire.Opened)
	}
	if main.Connections != 2 || main.PerConnection != 5 || main.Wire.Ahead != 2 || main.Wire.Opened < 6 || main.Wire.Opened > 7 {
		t.Errorf("load: %d connections, %d ahead, opened %d for 30 requests, want 2, 2, 6 or 7", main.Connections, main.Wire.Ahead, main.Wire.Opened)
	}
}

// A target behind a Unix socket is started, awaited and loaded through it; nobody else may listen there, and its
// absence is told with the path.
func TestUnixTarget(t *testing.T) {
	dir, err := os.MkdirTemp("", "pp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	path := filepath.Join(dir, "api.sock")
	text := elsewhere("localhost", "unix", path)
	r, _ := runPlan(t, t.Context(), read(t, text), nil)
	if r.Outcome != result.Pass || r.Stages[0].Load.Completed != 30 || r.Stages[0].Load.Hosts[0].Address != "unix:"+path {
		t.Errorf("outcome %s (%s), error %q, want pass through the socket", r.Outcome, r.Reason, r.Error)
	}
	os.Remove(path)
	stranger := regexp.MustCompile(`(?m)^    (start|ready):.*\n`).ReplaceAllString(text, "")
	r, _ = runPlan(t, t.Context(), read(t, stranger), nil)
	if !strings.Contains(r.Error, "http://localhost:80 (through "+path+")") || !strings.Contains(r.Error, "no such file") {
		t.Errorf("error %q, want the URL, the path and why", r.Error)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	r, _ = runPlan(t, t.Context(), read(t, text), nil)
	if !strings.Contains(r.Error, "something already listens on "+path) {
		t.Errorf("error %q, want that somebody else listens", r.Error)
	}
}

// elsewhere is a plan whose target is started, awaited and loaded at another place than its URL's, which key gives.
func elsewhere(host, key, place string) string {
	return fmt.Sprintf(`
version: 1
name: t
targets:
  api:
    url: http://%s
    %s: %s
    start: [%q, serve, "${address}", ok]
    ready: {path: /ready, within: 20s}
requests: {get: {path: /}}
stages: [{name: main, load: {rate: 100/s, for: 300ms}}]
`, host, key, place, os.Args[0])
}

// connect_to is where a target is started, awaited and loaded, whatever its URL.
func TestConnectToTarget(t *testing.T) {
	address := freeAddress(t, "127.0.0.1")
	text := elsewhere("shop.invalid", "connect_to", address)
	r, _ := runPlan(t, t.Context(), read(t, text), nil)
	if r.Outcome != result.Pass || r.Stages[0].Load.Completed != 30 || r.Stages[0].Load.Hosts[0].Address != address {
		t.Errorf("outcome %s (%s), error %q, want pass at %s", r.Outcome, r.Reason, r.Error, address)
	}
}

// Each address of connect_to has a process of its own when the command names it; all are awaited and loaded.
func TestConnectToTargets(t *testing.T) {
	one, two := freeAddress(t, "127.0.0.1"), freeAddress(t, "127.0.0.2")
	text := fmt.Sprintf(`
version: 1
name: t
targets:
  api:
    url: http://shop.invalid
    connect_to: [%q, %q]
    start: [%q, serve, "${address}", ok]
    ready: {path: /ready, within: 20s}
requests: {get: {path: /}}
stages: [{name: main, load: {rate: 100/s, for: 300ms}}]
`, one, two, os.Args[0])
	r, _ := runPlan(t, t.Context(), read(t, text), nil)
	if r.Outcome != result.Pass || len(r.Targets) != 2 || r.Targets[1].PID == r.Targets[0].PID || len(r.Targets[1].URLs) != 1 {
		t.Fatalf("outcome %s (%s), error %q, targets %+v, want pass with two processes", r.Outcome, r.Reason, r.Error, r.Targets)
	}
	hosts := r.Stages[0].Load.Hosts
	if len(hosts) != 2 || hosts[0].Address != one || hosts[1].Address != two || hosts[0].Completed != 15 || hosts[1].Completed != 15 {
		t.Errorf("hosts = %+v, want 15 completed at each of %s and %s", hosts, one, two)
	}
}

// dns.refresh reaches the load.
func TestRefreshOfPlan(t *testing.T) {
	address := freeAddress(t, "127.0.0.1")
	_, port, _ := net.SplitHostPort(address)
	text := fmt.Sprintf(planHead, "localhost:"+port, os.Args[0], "ok", "") + `
stages: [{name: main, load: {rate: 100/s, for: 500ms}}]
`
	text = strings.Replace(text, "    ready:", "    dns: {refresh: 100ms}\n    ready:", 1)
	r, _ := runPlan(t, t.Context(), read(t, text), nil)
	l := r.Stages[0].Load
	if r.Outcome != result.Pass || l == nil || l.DNS == nil || l.DNS.RefreshNS != 100e6 || l.DNS.Lookups == 0 || l.DNS.Failed != 0 || l.DNS.Changed != 0 {
		t.Errorf("outcome %s (%s), error %q, load %+v, want lookups that change nothing", r.Outcome, r.Reason, r.Error, l)
	}
}
