//go:build unix

package load

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"
)

// T9: faults of the connection are failures by name, once each, and nothing is sent again.
func TestConnectionFaults(t *testing.T) { onEach(t, testConnectionFaults) }

func testConnectionFaults(t *testing.T) {
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
func TestIdleClose(t *testing.T) { onEach(t, testIdleClose) }

func testIdleClose(t *testing.T) {
	for name, idle := range map[string]time.Duration{"at once": 0, "after 20ms": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) {
				x.ok("hi") // says nothing of closing
				time.Sleep(idle)
				x.close()
			})
			l := run(t, config(t, get(s), hold(1, 2*time.Second)), s)
			wantCounts(t, l, 2, 0, 0, 0)
			if l.Wire.Opened != 2 || l.Wire.Reused != 0 {
				t.Errorf("opened %d, reused %d, want 2, 0", l.Wire.Opened, l.Wire.Reused)
			}
		})
	}
}

// An idle connection on which the server said something unasked is not used again.
func TestIdleBytes(t *testing.T) { onEach(t, testIdleBytes) }

func testIdleBytes(t *testing.T) {
	s := serve(t, func(x *call) {
		x.ok("hi")
		time.Sleep(20 * time.Millisecond)
		x.say("HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\n\r\n")
	})
	l := run(t, config(t, get(s), hold(1, 2*time.Second)), s)
	wantCounts(t, l, 2, 0, 0, 0)
	if l.Wire.Opened != 2 {
		t.Errorf("opened %d, want 2", l.Wire.Opened)
	}
}

// A server killed in mid-run: all arrivals are accounted for and the run ends on time.
func TestServerKilled(t *testing.T) { onEach(t, testServerKilled) }

func testServerKilled(t *testing.T) {
	s := serve(t, nil)
	s.setAnswer(func(x *call) {
		if x.n == 100 {
			s.kill()
		}
		x.ok("")
	})
	l := run(t, config(t, get(s), hold(200, time.Second)))
	if l.Offered != 200 || l.Sent != 200 || l.Completed == 0 || l.Failed < 50 || l.Unfinished != 0 {
		t.Errorf("counts = %+v, errors %v, want about half completed, half failed", l.Counts, l.Errors)
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
func TestConnectTimeout(t *testing.T) { onEach(t, testConnectTimeout) }

func testConnectTimeout(t *testing.T) {
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

// again runs one test of this binary in a process of its own, which finds value in its
// environment, and returns its output once it has ended well.
func again(t *testing.T, value string, started func(*os.Process)) {
	t.Helper()
	name := t.Name()
	var out bytes.Buffer
	cmd := exec.Command(os.Args[0], "-test.run=^"+strings.ReplaceAll(name, "/", "$/^")+"$", "-test.v")
	cmd.Env = append(os.Environ(), childEnv+"="+value)
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	started(cmd.Process)
	if err := cmd.Wait(); err != nil || !strings.Contains(out.String(), "--- PASS: "+name) {
		t.Errorf("in its own process: %v\n%s", err, out.String())
	}
}

const childEnv = "LOAD_TEST_CHILD"

// C-31: no descriptors left is the generator's failure.
func TestOutOfDescriptors(t *testing.T) { onEach(t, testOutOfDescriptors) }

func testOutOfDescriptors(t *testing.T) {
	at := os.Getenv(childEnv)
	if at == "" {
		s := serve(t, func(x *call) {
			time.Sleep(2 * time.Second)
			x.ok("")
		})
		again(t, s.Addr().String(), func(*os.Process) {})
		return
	}
	limit := syscall.Rlimit{Cur: 64, Max: 64}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
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

// T14: a generator that stood still confesses it: the lag is its own, not the target's or the bound's.
func TestGeneratorStopped(t *testing.T) { onEach(t, testGeneratorStopped) }

func testGeneratorStopped(t *testing.T) {
	const stop = 400 * time.Millisecond
	at := os.Getenv(childEnv)
	if at == "" {
		begun := make(chan bool)
		s := serve(t, func(x *call) {
			if x.n == 20 {
				close(begun)
			}
			x.ok("")
		})
		again(t, s.Addr().String(), func(p *os.Process) {
			select {
			case <-begun:
			case <-time.After(20 * time.Second):
			}
			p.Signal(syscall.SIGSTOP)
			time.Sleep(stop)
			p.Signal(syscall.SIGCONT)
		})
		return
	}
	req := get()
	req.Target.URLs = append(req.Target.URLs, urlOf(at))
	l := run(t, config(t, req, hold(100, 2*time.Second)))
	wantCounts(t, l, 200, 0, 0, 0)
	least := stop * 9 / 10
	if got := nsOf(l.Audit.PauseMaxNS); got < least {
		t.Errorf("longest pause = %v, want %v or more", got, least)
	}
	if got := nsOf(l.DispatchLag.MaxNS); got < least || l.Waiting.SumNS != 0 {
		t.Errorf("longest dispatch lag = %v, waiting %v ns, want %v or more, none", got, l.Waiting.SumNS, least)
	}
	if got := nsOf(l.Response.MaxNS); got < least {
		t.Errorf("longest response = %v, want it to include the lag", got)
	}
}
