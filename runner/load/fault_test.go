package load

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// T9: faults of the connection are failures by name, once each, and nothing is sent again.
func TestConnectionFaults(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, kind, example string
		fault               func(*call)
	}{
		{"reset before any byte", kindReset, "connection reset by ", (*call).reset},
		{"reset in the head", kindReset, "connection reset by ", func(x *call) {
			x.say("HTTP/1.1 200 OK\r\nContent-Le")
			time.Sleep(20 * time.Millisecond)
			x.reset()
		}},
		{"close without an answer", kindClosed, "connection closed without an answer", (*call).close},
		{"close in the head", kindClosed, "connection closed within the response head", func(x *call) {
			x.say("HTTP/1.1 200 OK\r\nContent-Le")
			x.close()
		}},
		{"close in the body", kindClosed, "connection closed after 5 of 10 body bytes", func(x *call) {
			x.say("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello")
			x.close()
		}},
		{"close in a chunk", kindClosed, "connection closed within a chunked body", func(x *call) {
			x.say("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel")
			x.close()
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) {
				if x.n%5 == 0 {
					c.fault(x)
					return
				}
				x.ok("")
			})
			l := run(t, config(t, get(s), hold(100, ms(500))), s)
			wantCounts(t, l, 40, 10, 0, 0)
			wantError(t, l, c.kind, 10)
			if len(l.Errors) > 0 && !strings.HasPrefix(l.Errors[0].Example, c.example) {
				t.Errorf("example = %q, want %q", l.Errors[0].Example, c.example)
			}
			if l.FailedResponse.Count != 10 {
				t.Errorf("failed responses = %d, want 10", l.FailedResponse.Count)
			}
		})
	}
}

// T9 idleclose: a connection that the server closed while it was idle is replaced before it is used.
func TestIdleClose(t *testing.T) {
	t.Parallel()
	for name, idle := range map[string]time.Duration{"at once": 0, "after 20ms": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) {
				x.ok("hi") // says nothing of closing
				time.Sleep(idle)
				x.close()
			})
			l := run(t, config(t, get(s), hold(4, time.Second)), s)
			wantCounts(t, l, 4, 0, 0, 0)
			if l.Wire.Opened != 4 || l.Wire.Reused != 0 {
				t.Errorf("opened %d, reused %d, want 4, 0", l.Wire.Opened, l.Wire.Reused)
			}
		})
	}
}

// An idle connection on which the server said something unasked is not used again.
func TestIdleBytes(t *testing.T) {
	t.Parallel()
	s := serve(t, func(x *call) {
		x.ok("hi")
		time.Sleep(20 * time.Millisecond)
		x.say("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
	})
	l := run(t, config(t, get(s), hold(4, time.Second)), s)
	wantCounts(t, l, 4, 0, 0, 0)
	if l.Wire.Opened != 4 {
		t.Errorf("opened %d, want 4", l.Wire.Opened)
	}
}

// A server killed in mid-run: all arrivals are accounted for and the run ends on time.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	s := serve(t, nil)
	s.answer = func(x *call) {
		if x.n == 100 {
			s.kill()
		}
		x.ok("")
	}
	l := run(t, config(t, get(s), hold(200, time.Second)))
	if l.Offered != 200 || l.Sent != 200 || l.Completed == 0 || l.Completed > 99 || l.Unfinished != 0 {
		t.Errorf("counts = %+v, errors %v, want up to 99 completed, the others failed", l.Counts, l.Errors)
	}
	for _, e := range l.Errors {
		if e.Kind != kindRefused && e.Kind != kindClosed && e.Kind != kindReset {
			t.Errorf("error %+v, want refused, closed or reset", e)
		}
	}
	if seen := s.arrivals.Load(); l.Wire.Attempts < seen {
		t.Errorf("attempts = %d, server saw %d", l.Wire.Attempts, seen)
	}
}

// A server that does not accept: the attempt to connect is in the time of the request.
func TestConnectTimeout(t *testing.T) {
	t.Parallel()
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer syscall.Close(fd)
	if err := syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}}); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Listen(fd, 0); err != nil {
		t.Fatal(err)
	}
	name, _ := syscall.Getsockname(fd)
	s := serve(t, nil)
	req := get(s)
	req.Target.URLs[0].Port = name.(*syscall.SockaddrInet4).Port
	cfg := config(t, req, hold(20, ms(400)))
	cfg.Timeout = 300 * time.Millisecond
	l := run(t, cfg)
	wantCounts(t, l, 0, 8, 0, 0)
	wantError(t, l, kindTimeout, 8)
	if l.Response.Count != 8 || nsOf(l.Service.MinNS) < cfg.Timeout || l.Wire.Opened == 8 {
		t.Errorf("response %d, service from %v, opened %d, want 8, 300ms, fewer", l.Response.Count, nsOf(l.Service.MinNS), l.Wire.Opened)
	}
}

// C-31: no descriptors left is the generator's failure. It runs in a process of its own with a low limit.
func TestOutOfDescriptors(t *testing.T) {
	t.Parallel()
	if os.Getenv("LOAD_TEST_FEW_DESCRIPTORS") == "" {
		s := serve(t, func(x *call) {
			time.Sleep(2 * time.Second)
			x.ok("")
		})
		cmd := exec.Command(os.Args[0], "-test.run=^TestOutOfDescriptors$", "-test.v")
		cmd.Env = append(os.Environ(), "LOAD_TEST_FEW_DESCRIPTORS="+s.Addr().String())
		out, err := cmd.CombinedOutput()
		if err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("with few descriptors: %v\n%s", err, out)
		}
		return
	}
	limit := syscall.Rlimit{Cur: 64, Max: 64}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	at := os.Getenv("LOAD_TEST_FEW_DESCRIPTORS")
	req := get()
	req.Target.URLs = append(req.Target.URLs, urlOf(at))
	l := run(t, config(t, req, hold(100, time.Second)))
	if l.Offered != 100 || l.Completed < 30 || l.Failed < 30 || l.Completed+l.Failed != 100 {
		t.Errorf("counts = %+v, want about 55 completed, the others failed", l.Counts)
	}
	wantError(t, l, kindDescriptors, l.Failed)
	if e := l.Errors[0]; e.Class != "generator" || !strings.Contains(e.Example, "file descriptors") {
		t.Errorf("error = %+v, want one of the generator's", e)
	}
	if f, err := os.Open(os.Args[0]); err != nil {
		t.Errorf("no descriptor left for the report: %v", err)
	} else {
		f.Close()
	}
}
