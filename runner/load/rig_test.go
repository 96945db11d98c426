package load

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// TestMain lets many tests run at once: nearly all of them wait for the time to pass.
func TestMain(m *testing.M) {
	flag.Parse()
	if f := flag.Lookup("test.parallel"); f.Value.String() == f.DefValue {
		f.Value.Set("8")
	}
	os.Exit(m.Run())
}

// A server is a TCP server on the loopback that speaks what a test wants. It counts what comes in.
type server struct {
	net.Listener
	arrivals atomic.Int64 // requests whose head was read
	conns    atomic.Int64
	talking  atomic.Int64 // connections that neither side has closed
	mu       sync.Mutex
	lines    []string      // request lines, byte for byte
	at       []time.Time   // of the arrivals
	open     []net.Conn    // accepted
	answer   func(x *call) // called for each request; the connection stays open unless it is closed
	noBody   bool          // leave the request's body unread
}

// A call is one request at a server.
type call struct {
	net.Conn
	n       int64 // from 1, over all connections
	line    string
	header  http.Header
	host    string
	body    []byte
	in      *bufio.Reader
	stopped bool
}

func (c *call) say(text string) { io.WriteString(c.Conn, text) }

func (c *call) ok(body string) {
	c.say("HTTP/1.1 200 OK\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body)
}

func (c *call) close() { c.stopped = true; c.Conn.Close() }

func (c *call) reset() {
	c.Conn.(*net.TCPConn).SetLinger(0)
	c.close()
}

func serve(t *testing.T, answer func(*call)) *server { return serveOn(t, "127.0.0.1:0", answer) }

func serveOn(t *testing.T, address string, answer func(*call)) *server {
	t.Helper()
	l, err := net.Listen("tcp", address)
	if err != nil {
		t.Skipf("cannot listen on %s: %v", address, err)
	}
	return serveListener(t, l, answer)
}

func serveListener(t *testing.T, l net.Listener, answer func(*call)) *server {
	s := &server{Listener: l, answer: answer}
	t.Cleanup(s.kill)
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.conns.Add(1)
			s.mu.Lock()
			s.open = append(s.open, c)
			s.mu.Unlock()
			s.talking.Add(1)
			go func() {
				s.talk(c)
				s.talking.Add(-1)
			}()
		}
	}()
	return s
}

// leaveBody makes the server leave the bodies of requests unread.
func (s *server) leaveBody() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.noBody = true
}

// setAnswer is for an answer that needs the server itself.
func (s *server) setAnswer(answer func(*call)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// kill ends the server as a crash would: all its connections too.
func (s *server) kill() {
	s.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.open {
		c.Close()
	}
}

func (s *server) talk(c net.Conn) {
	defer c.Close()
	in := bufio.NewReader(c)
	for {
		x, err := s.read(c, in)
		if err != nil {
			return
		}
		s.mu.Lock()
		answer := s.answer
		s.mu.Unlock()
		if answer(x); x.stopped {
			return
		}
	}
}

func (s *server) read(c net.Conn, in *bufio.Reader) (*call, error) {
	line, err := in.ReadString('\n')
	if err != nil {
		return nil, err
	}
	x := &call{Conn: c, in: in, line: strings.TrimRight(line, "\r\n"), header: http.Header{}}
	for {
		field, err := in.ReadString('\n')
		if err != nil {
			return nil, err
		}
		if field = strings.TrimRight(field, "\r\n"); field == "" {
			break
		}
		name, value, _ := strings.Cut(field, ": ")
		x.header.Add(name, value)
	}
	now := time.Now()
	x.n = s.arrivals.Add(1)
	s.mu.Lock()
	s.lines = append(s.lines, x.line)
	s.at = append(s.at, now)
	noBody := s.noBody
	s.mu.Unlock()
	x.host = strings.Join(x.header["Host"], "|")
	if n, _ := strconv.Atoi(x.header.Get("Content-Length")); n > 0 && !noBody {
		x.body = make([]byte, n)
		if _, err := io.ReadFull(in, x.body); err != nil {
			return nil, err
		}
	}
	return x, nil
}

func (s *server) url() plans.URL { return urlOf(s.Addr().String()) }

func urlOf(address string) plans.URL {
	host, port, _ := net.SplitHostPort(address)
	n, _ := strconv.Atoi(port)
	return plans.URL{Scheme: "http", Host: host, Port: n}
}

// stamps returns when the requests came in, in order.
func (s *server) stamps() []time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.SortedFunc(slices.Values(s.at), time.Time.Compare)
}

func (s *server) requestLines() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.lines)
}

func literal(s string) plans.Template { return plans.Template{{Literal: s}} }

// get is a request for / of the servers, expecting 200.
func get(servers ...*server) *plans.Request {
	target := &plans.Target{Name: "server"}
	for _, s := range servers {
		target.URLs = append(target.URLs, s.url())
	}
	return &plans.Request{Name: "get", Target: target, Method: "GET", Path: literal("/"),
		Expect: plans.Expect{Status: []plans.StatusRange{{From: 200, To: 200}}}}
}

func post(body string, servers ...*server) *plans.Request {
	r := get(servers...)
	r.Method, r.Body, r.HasBody = "POST", literal(body), true
	return r
}

func hold(rate float64, over time.Duration) schedule.Segment {
	return schedule.Segment{Name: fmt.Sprintf("hold %g/s for %v", rate, over), From: rate, To: rate, Over: over}
}

// severalLoops is the event loop on more than one thread, as a name of a test.
const severalLoops = "loops"

// onEach runs a test on each engine: config takes the one in the test's name.
func onEach(t *testing.T, test func(*testing.T)) {
	t.Parallel()
	for _, engine := range []string{EngineGoroutine, EngineLoop, severalLoops} {
		t.Run(engine, func(t *testing.T) {
			t.Parallel()
			if engine != EngineGoroutine && runtime.GOOS != "linux" {
				t.Skip("no event loop for this system")
			}
			test(t)
		})
	}
}

// engineOf is the engine that a test is for.
func engineOf(t *testing.T) (engine string, loops int) {
	parts := strings.Split(t.Name(), "/")
	switch {
	case len(parts) > 1 && parts[1] == severalLoops:
		return EngineLoop, 3
	case len(parts) > 1 && (parts[1] == EngineLoop || parts[1] == EngineGoroutine):
		return parts[1], 0
	}
	return EngineAuto, 0
}

// config is a run of req with generous bounds.
func config(t *testing.T, req *plans.Request, segs ...schedule.Segment) Config {
	t.Helper()
	s, err := schedule.New(segs, schedule.Uniform, 1)
	if err != nil {
		t.Fatal(err)
	}
	hosts, err := Resolve(t.Context(), req.Target)
	if err != nil {
		t.Fatal(err)
	}
	engine, loops := engineOf(t)
	return Config{Hosts: hosts, Request: req, Schedule: s, MaxInFlight: 1000, Timeout: 20 * time.Second,
		Drain: 20 * time.Second, KeepAlive: true, LimitsNS: []int64{int64(100 * time.Millisecond)}, Engine: engine, Loops: loops}
}

// run makes a run and checks that its figures add up.
func run(t *testing.T, cfg Config, servers ...*server) *result.Load {
	t.Helper()
	return runCtx(t, t.Context(), cfg, servers...)
}

func runCtx(t *testing.T, ctx context.Context, cfg Config, servers ...*server) *result.Load {
	t.Helper()
	l, err := Run(ctx, cfg)
	if err != nil {
		t.Fatalf("Run: %v", err)
	}
	if want := cfg.Engine; want != "" && want != EngineAuto && l.Engine != want {
		t.Errorf("engine = %q, want %q", l.Engine, want)
	}
	conserve(t, l)
	if len(servers) == 0 {
		return l
	}
	seen := func() (n int64) {
		for _, s := range servers {
			n += s.arrivals.Load()
		}
		return n
	}
	for range 500 { // the server may still be reading what an ended run sent
		if seen() >= l.Wire.Attempts {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if n := seen(); l.Wire.Attempts != n {
		t.Errorf("attempts on the wire = %d, want %d as the server saw", l.Wire.Attempts, n)
	}
	return l
}

// conserve checks what holds in every run.
func conserve(t *testing.T, l *result.Load) {
	t.Helper()
	balanced := func(what string, c result.Counts) {
		if c.Offered != c.Sent+c.Dropped {
			t.Errorf("%s: offered %d, want sent %d + dropped %d", what, c.Offered, c.Sent, c.Dropped)
		}
		if c.Sent != c.Completed+c.Failed+c.Unfinished {
			t.Errorf("%s: sent %d, want completed %d + failed %d + unfinished %d", what, c.Sent, c.Completed, c.Failed, c.Unfinished)
		}
	}
	equal := func(what string, got, want int64) {
		if got != want {
			t.Errorf("%s = %d, want %d", what, got, want)
		}
	}
	balanced("run", l.Counts)
	var segs, hosts result.Counts
	var segResponse, segService, segLag, hostResponse, capped int64
	for _, s := range l.Segments {
		balanced(s.Name, s.Counts)
		segs = plus(segs, s.Counts)
		segResponse += s.Response.Count
		segService += s.Service.Count
		segLag += s.Lag.Count
		capped += s.Capped
		var offered int64
		for _, n := range s.Bins.Offered {
			offered += n
		}
		equal(s.Name+": offered in bins", offered, s.Offered)
		for i := range s.OverResponse {
			var over int64
			for _, n := range s.Bins.Over[i] {
				over += n
			}
			equal(s.Name+": over in bins", over, s.OverResponse[i])
			if least := s.Failed + s.Dropped + s.Unfinished; s.OverResponse[i] < least || s.OverResponse[i] > s.Offered {
				t.Errorf("%s: over response = %d, want %d to %d", s.Name, s.OverResponse[i], least, s.Offered)
			}
		}
	}
	for _, h := range l.Hosts {
		balanced(h.Address, h.Counts)
		hosts = plus(hosts, h.Counts)
		hostResponse += h.Response.Count
	}
	if segs != l.Counts || hosts != l.Counts {
		t.Errorf("sum of segments %+v, of hosts %+v, want %+v", segs, hosts, l.Counts)
	}
	equal("capped of segments", capped, l.Audit.Capped)
	equal("response of segments", segResponse, l.Response.Count)
	equal("response of hosts", hostResponse, l.Response.Count)
	equal("service of segments", segService, l.Service.Count)
	equal("lag of segments", segLag, l.Sent)
	for what, d := range map[string]result.Distribution{"lag": l.Lag, "waiting": l.Waiting, "dispatch lag": l.DispatchLag} {
		equal(what+" count", d.Count, l.Sent)
	}
	equal("response + failed response", l.Response.Count+l.FailedResponse.Count, l.Sent)
	equal("service count", l.Service.Count, l.Response.Count)
	// response = lag + service, summed over the same requests, where none failed otherwise.
	if l.FailedResponse.Count == 0 && l.Sent > 0 {
		if sum := l.Lag.SumNS + l.Service.SumNS; !near(sum, l.Response.SumNS) {
			t.Errorf("lag + service = %.0f ns, want response %.0f ns", sum, l.Response.SumNS)
		}
	}
	if sum := l.Waiting.SumNS + l.DispatchLag.SumNS; !near(sum, l.Lag.SumNS) {
		t.Errorf("waiting + dispatch lag = %.0f ns, want lag %.0f ns", sum, l.Lag.SumNS)
	}
	conserveSums(t, l, equal)
}

// conserveSums checks the series, the errors and the status codes against the totals.
func conserveSums(t *testing.T, l *result.Load, equal func(what string, got, want int64)) {
	t.Helper()
	var offered, sent, done, failed, dropped, errors, status int64
	for _, s := range l.Series {
		offered, sent, done, failed, dropped = offered+s.Offered, sent+s.Sent, done+s.Completed, failed+s.Failed, dropped+s.Dropped
	}
	equal("offered in series", offered, l.Offered)
	equal("sent in series", sent, l.Sent)
	equal("completed in series", done, l.Completed)
	equal("failed in series", failed, l.Failed)
	equal("dropped in series", dropped, l.Dropped)
	for _, e := range l.Errors {
		errors += e.Count
		if e.Example == "" || len(e.Example) > 300 {
			t.Errorf("error %s: example of %d bytes", e.Kind, len(e.Example))
		}
	}
	equal("errors", errors, l.Failed)
	for _, n := range l.Status {
		status += n
	}
	if status < l.Completed || status > l.Sent {
		t.Errorf("status codes of %d answers, want %d to %d", status, l.Completed, l.Sent)
	}
}

// near allows for the rounding of sums in float64.
func near(a, b float64) bool { return a-b <= 1+1e-9*b && b-a <= 1+1e-9*b }

func plus(a, b result.Counts) result.Counts {
	return result.Counts{Offered: a.Offered + b.Offered, Sent: a.Sent + b.Sent, Completed: a.Completed + b.Completed,
		Failed: a.Failed + b.Failed, Dropped: a.Dropped + b.Dropped, Unfinished: a.Unfinished + b.Unfinished, WaitedOut: a.WaitedOut + b.WaitedOut}
}

// wantCounts compares completed, failed, dropped and unfinished.
func wantCounts(t *testing.T, l *result.Load, completed, failed, dropped, unfinished int64) {
	t.Helper()
	if l.Completed != completed || l.Failed != failed || l.Dropped != dropped || l.Unfinished != unfinished {
		t.Errorf("completed, failed, dropped, unfinished = %d, %d, %d, %d, want %d, %d, %d, %d; errors %v",
			l.Completed, l.Failed, l.Dropped, l.Unfinished, completed, failed, dropped, unfinished, l.Errors)
	}
}

// wantError wants exactly one kind of error.
func wantError(t *testing.T, l *result.Load, kind string, count int64) {
	t.Helper()
	if len(l.Errors) != 1 || l.Errors[0].Kind != kind || l.Errors[0].Count != count {
		t.Errorf("errors = %+v, want %d of kind %s", l.Errors, count, kind)
	}
}

func ms(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

func nsOf(p *int64) time.Duration {
	if p == nil {
		return -1
	}
	return time.Duration(*p)
}

// headers makes header fields of names and values in turn.
func headers(pairs ...string) (hs []plans.Header) {
	for p := range slices.Chunk(pairs, 2) {
		hs = append(hs, plans.Header{Name: p[0], Value: literal(p[1])})
	}
	return hs
}

// quiet tells whether the machine let the run go on undisturbed. On a busy one only
// counts and lower bounds of times are certain.
func quiet(t *testing.T, l *result.Load) bool {
	t.Helper()
	if lag, pause := nsOf(l.DispatchLag.MaxNS), nsOf(l.Audit.PauseMaxNS); lag > 20*time.Millisecond || pause > 20*time.Millisecond {
		t.Logf("the machine is too busy to judge times: dispatch lag up to %v, pauses up to %v", lag, pause)
		return false
	}
	return true
}
