package plans

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// rendered is what request i sends for a template.
func rendered(t Template, i int) string {
	var b strings.Builder
	for _, p := range t {
		if p.Data != nil {
			b.WriteString(p.Text(p.Data.Rows[i%len(p.Data.Rows)][p.Column]))
		}
		b.WriteString(p.Literal)
	}
	return b.String()
}

// C-11: the request target, byte for byte.
func TestRequestTarget(t *testing.T) {
	for path, want := range map[string]string{
		"/a%2Fb?q=a+b%20c&r=100%25": "/a%2Fb?q=a+b%20c&r=100%25",
		"//x":                       "//x",
		"/a/../b":                   "/a/../b",
		"/?a=1;b=2":                 "/?a=1;b=2",
		"/a b":                      "/a%20b",
		"/é?ü=1":                    "/%C3%A9?%C3%BC=1",
		"/p#frag":                   "/p",
		"/p?a#frag":                 "/p?a",
		"/x?a?b/c":                  "/x?a?b/c",
		"/x?f[a]={1}|\\\"<>^`":      "/x?f%5Ba%5D=%7B1%7D%7C%5C%22%3C%3E%5E%60",
		"/%e2%82%ac":                "/%e2%82%ac",
		"/-._~!$&'()*+,;=:@":        "/-._~!$&'()*+,;=:@",
	} {
		p := mustRead(t, goodHead+"requests: {r: {path: "+doubleQuoted(strings.ReplaceAll(path, "$", "$$"))+"}}\nstages: [{name: one, load: {rate: 100/s, for: 10s}}]\n", ".")
		if got := rendered(p.Requests[0].Path, 0); got != want {
			t.Errorf("path %q is sent as %q, want %q", path, got, want)
		}
	}
}

// C-11: parameters of a map are encoded once, in their order; a list repeats its key.
func TestQuery(t *testing.T) {
	for query, want := range map[string]string{
		`{q: "a+b c&d=e", empty: "", list: [1, 2]}`: "/s?q=a%2Bb%20c%26d%3De&empty=&list=1&list=2",
		`{z: 1, a: 2, "ü x": "é"}`:                  "/s?z=1&a=2&%C3%BC%20x=%C3%A9",
		`{none: []}`:                                "/s",
		`{}`:                                        "/s",
	} {
		text := goodHead + "requests: {r: {path: /s, query: " + query + "}}\nstages: [{name: one, load: {rate: 100/s, for: 10s}}]\n"
		if got := rendered(mustRead(t, text, ".").Requests[0].Path, 0); got != want {
			t.Errorf("query %s is sent as %q, want %q", query, got, want)
		}
		text = strings.Replace(text, "path: /s", "path: \"/s?x\"", 1)
		want = strings.Replace(strings.Replace(want, "/s?", "/s&", 1), "/s", "/s?x", 1)
		if got := rendered(mustRead(t, text, ".").Requests[0].Path, 0); got != want {
			t.Errorf("query %s behind another is sent as %q, want %q", query, got, want)
		}
	}
}

// Data values are encoded in path and query, and stand as they are in headers and body.
func TestData(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "users.csv", "\ufeffid,name\n1,Anna Lena\n2,\"B/o?b\"\n")
	write(t, dir, "items.jsonl", "{\"item\": {\"a\": [1,  2]}, \"tags\": \"x & y\"}\n\n{\"tags\": \"é\", \"item\": 7.50}\n")
	p := mustRead(t, goodHead+`requests:
  r:
    method: POST
    path: /users/${u.name}?id=${u.id}&again=${u.name}
    query: {tag: "a ${j.tags}"}
    headers: {x-user: "u-${u.name}"}
    body: '{"item": ${j.item}, "tags": "${j.tags}", "cost": "$$5"}'
    data: {u: users.csv, j: items.jsonl}
stages: [{name: one, load: {rate: 100/s, for: 10s}}]
`, dir)
	r := p.Requests[0]
	for i, want := range []string{
		`/users/Anna%20Lena?id=1&again=Anna%20Lena&tag=a%20x%20%26%20y u-Anna Lena {"item": {"a":[1,2]}, "tags": "x & y", "cost": "$5"}`,
		`/users/B%2Fo%3Fb?id=2&again=B%2Fo%3Fb&tag=a%20%C3%A9 u-B/o?b {"item": 7.50, "tags": "é", "cost": "$5"}`,
	} {
		if got := rendered(r.Path, i) + " " + rendered(r.Headers[0].Value, i) + " " + rendered(r.Body, i); got != want {
			t.Errorf("request %d:\n%s, want\n%s", i, got, want)
		}
	}
	if len(r.Data) != 2 || r.Data[0].Name != "u" || len(r.Data[0].Columns) != 2 || r.Data[0].Columns[0] != "id" {
		t.Errorf("data %+v", r.Data)
	}
}

// C-08, C-13: what becomes of the headers that mean something.
func TestHeaders(t *testing.T) {
	for _, name := range []string{"Host", "host", "HOST"} {
		p := mustRead(t, goodHead+"requests: {r: {path: /, method: PUT, body: \"\", headers: {b: 1, "+name+": \"shop.example:81\", EXPECT: 100-Continue, a: \"\"}}}\nstages: [{name: one, load: {rate: 100/s, for: 10s}}]\n", ".")
		r := p.Requests[0]
		if r.Host != "shop.example:81" || !r.ExpectContinue || !r.HasBody || len(r.Body) != 0 {
			t.Errorf("host %q, expect %v, body %v %v", r.Host, r.ExpectContinue, r.HasBody, r.Body)
		}
		if len(r.Headers) != 2 || r.Headers[0].Name != "b" || r.Headers[1].Name != "a" || len(r.Headers[1].Value) != 0 {
			t.Errorf("headers %+v, want b and a", r.Headers)
		}
	}
}

// C-12: the addresses that are accepted.
func TestAddresses(t *testing.T) {
	for text, want := range map[string]URL{
		"http://[::1]:8080/":        {"http", "::1", 8080, ""},
		"http://[::1]":              {"http", "::1", 80, ""},
		"https://[fe80::1]/":        {"https", "fe80::1", 443, ""},
		"HTTP://LOCALHOST:8080/":    {"http", "localhost", 8080, ""},
		"https://shop.example/api/": {"https", "shop.example", 443, "/api"},
		"http://127.0.0.1/a%20b//":  {"http", "127.0.0.1", 80, "/a%20b"},
		"http://a_b.example.:1":     {"http", "a_b.example.", 1, ""},
	} {
		got, fault := parseURL(text)
		if fault != nil || got != want {
			t.Errorf("parseURL(%q) = %+v, %v, want %+v", text, got, fault, want)
		}
		if again, fault := parseURL(got.String()); fault != nil || again != got {
			t.Errorf("parseURL(%q) = %+v, %v, want %+v", got.String(), again, fault, got)
		}
	}
	if got := (URL{"http", "::1", 8080, "/x"}).Address(); got != "[::1]:8080" {
		t.Errorf("address %s", got)
	}
}

// Commands are split without a shell; ${address} makes a process for each URL.
func TestCommands(t *testing.T) {
	dir := t.TempDir()
	p := mustRead(t, `version: 1
name: a
vars: {flags: "--a  'b"}
targets:
  s:
    url: ["http://127.0.0.1:8080", "http://[::1]:8081"]
    build: 'go build -o "bin dir/x" ''./cmd/x'' a\ b "q\"\\\n" "" $$HOME c"d"e'
    start: ./x --listen=${address} ${flags}
requests: {r: {path: /}}
stages:
  - {name: one, load: {rate: 100/s, for: 10s}}
  - {name: two, microbenchmark: {build: [a b, "", "$$x"], subject: {command: "./x bench"}, sizes: [1]}}
`, dir)
	target, bench := p.Targets[0], p.Stages[1].Work.(*Microbenchmark)
	for name, tt := range map[string]struct {
		got  Command
		want []string
	}{
		"build":   {*target.Build, []string{"go", "build", "-o", "bin dir/x", "./cmd/x", "a b", `q"\\n`, "", "$HOME", "cde"}},
		"start 0": {target.Start[0], []string{"./x", "--listen=127.0.0.1:8080", "--a  'b"}},
		"start 1": {target.Start[1], []string{"./x", "--listen=[::1]:8081", "--a  'b"}},
		"list":    {*bench.Build, []string{"a b", "", "$x"}},
		"subject": {bench.Subject.Command, []string{"./x", "bench"}},
	} {
		if !reflect.DeepEqual(tt.got.Args, tt.want) || tt.got.Dir != dir || tt.got.Text == "" {
			t.Errorf("%s: %q in %s (%q), want %q", name, tt.got.Args, tt.got.Dir, tt.got.Text, tt.want)
		}
	}
	if len(target.Start) != 2 || !target.Observe || target.Stop != 5*time.Second {
		t.Errorf("target %+v", target)
	}
}

// C-17: the segments of profiles, with the number of requests they offer.
func TestProfile(t *testing.T) {
	p := mustRead(t, goodHead+`requests: {r: {path: /}}
stages:
  - name: one
    load:
      timeout: 100ms
      profile:
        - ramp: {from: 10/s, to: 100/s, over: 10s}
        - step: {from: 0.1/s, to: 0.4/s, by: 0.1/s, each: 10s}
        - step: {from: 300/s, to: 100/s, by: 100/s, each: 1m}
        - hold: {rate: 6/m, for: 60s}
        - hold: {rate: 10/h, for: 1h}
        - hold: {rate: 100/s, for: 300ms}
        - hold: {rate: 100/s, for: 300ms}
  - {name: two, warmup: {rate: 30/m, until: steady, at_most: 20s}}
  - {name: three, warmup: {rate: 100/s, for: 3s}}
  - {name: four, microbenchmark: {subject: {command: ./x}, sizes: {from: 10, to: 30, step: 10}, forks: 2, samples: 5, min_time: 100ms, warmup: none, timeout: 1s}}
`, ".")
	l := p.Stages[0].Work.(*Load)
	var got []string
	for _, s := range l.Profile {
		got = append(got, fmt.Sprintf("%s %v %.6g", s.Name, s.Over, s.Planned()))
	}
	want := []string{"ramp 10/s to 100/s 10s 550", "step 0.1/s 10s 1", "step 0.2/s 10s 2", "step 0.3/s 10s 3", "step 0.4/s 10s 4",
		"step 300/s 1m0s 18000", "step 200/s 1m0s 12000", "step 100/s 1m0s 6000", "hold 6/m 1m0s 6", "hold 10/h 1h0m0s 10",
		"hold 100/s 300ms 30", "hold 100/s (2) 300ms 30"}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("profile\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if l.MaxInFlight != 30 || l.Drain != 100*time.Millisecond || !l.KeepAlive || l.Arrivals != Uniform || l.AtMax != Wait || l.Seed != 1 {
		t.Errorf("defaults %+v", l)
	}
	for i, want := range []string{"1h4m50.6s 1h4m50.7s 36636", "0s 30s 10", "3s 13s 300", "3s 36s 0"} {
		least, most := p.Stages[i].Duration()
		if got := fmt.Sprintf("%v %v %.6g", least, most, p.Stages[i].Planned()); got != want {
			t.Errorf("stage %d takes and offers %s, want %s", i, got, want)
		}
	}
	if got := p.Planned(); got < 36945.9 || got > 36946.1 {
		t.Errorf("the plan offers %v, want 36946", got)
	}
}

// The default of max_in_flight is rate × timeout within its bounds.
func TestInFlightDefault(t *testing.T) {
	for _, tt := range []struct {
		rate    float64
		timeout time.Duration
		want    int
	}{{100, time.Second, 100}, {0.1, 10 * time.Second, 16}, {33, 1010 * time.Millisecond, 34}, {5000, 10 * time.Second, 10000}, {0, 0, 16}, {0.3, 100 * time.Second, 30}} {
		if got := inFlight(tt.rate, tt.timeout); got != tt.want {
			t.Errorf("inFlight(%v, %v) = %d, want %d", tt.rate, tt.timeout, got, tt.want)
		}
	}
}

// C-05: what is not given and what is given as zero, empty or none.
func TestExplicitZeros(t *testing.T) {
	p := mustRead(t, strings.Replace(goodHead, "8080\"}", "8080\", start: ./s, stop: 0s, observe: {process: false}}", 1)+`requests: {r: {path: /, redirects: 0, body: "", method: POST}}
stages:
  - {name: one, load: {rate: 100/s, for: 10s, drain: 0s, seed: 0, keep_alive: false}, slo: [error_rate <= 0, failed == 0]}
`, ".")
	target, l := p.Targets[0], p.Stages[0].Work.(*Load)
	if target.Stop != 0 || target.Observe || l.Drain != 0 || l.Seed != 0 || l.KeepAlive || !p.Requests[0].HasBody || p.Stages[0].SLOs[0].Limit != 0 {
		t.Errorf("zeros were replaced: %+v %+v", target, l)
	}
}

func TestExpectations(t *testing.T) {
	p := mustRead(t, goodHead+`requests:
  r: {path: /, expect: {status: [200, 3xx], contains: a, json: {$.items: {length: 0}, $.x: {equals: {b: [1, x, null, true], a: NO}, exists: true}}}}
  q: {path: /}
stages: [{name: one, load: {request: r, rate: 100/s, for: 10s}}, {name: two, load: {request: q, rate: 100/s, for: 10s}}]
`, ".")
	e := p.Requests[0].Expect
	if want := []StatusRange{{200, 200}, {300, 399}}; !reflect.DeepEqual(e.Status, want) {
		t.Errorf("status %v, want %v", e.Status, want)
	}
	if len(e.JSON) != 2 || *e.JSON[0].Length != 0 || e.JSON[0].Equals != nil || *e.JSON[1].Equals != `{"b":[1,"x",null,true],"a":"NO"}` || !*e.JSON[1].Exists {
		t.Errorf("json %+v", e.JSON)
	}
	if want := []StatusRange{{200, 299}}; !reflect.DeepEqual(p.Requests[1].Expect.Status, want) {
		t.Errorf("default status %v, want %v", p.Requests[1].Expect.Status, want)
	}
}
