//go:build unix

package load

import (
	"crypto/tls"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfplan/perfplan/plans"
)

// socketPath is a path that is short enough for a socket.
func socketPath(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "pp")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, "s.sock")
}

func listenUnix(t *testing.T) (net.Listener, string) {
	t.Helper()
	path := socketPath(t)
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	return l, path
}

// through is a request for / through a Unix socket.
func through(path string) *plans.Request {
	return &plans.Request{Name: "get", Method: "GET", Path: literal("/"), Expect: statusRange(200, 200),
		Target: &plans.Target{Name: "server", Unix: path, URLs: []plans.URL{{Scheme: "http", Host: "localhost", Port: 80}}}}
}

// Requests go through a Unix socket, with the URL's Host, under each connection policy.
func TestUnix(t *testing.T) { onEach(t, testUnix) }

func testUnix(t *testing.T) {
	listener, path := listenUnix(t)
	s := serveListener(t, listener, func(x *call) {
		if x.host != "localhost" {
			x.say("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n")
			return
		}
		x.ok(strings.Repeat("x", map[string]int{"GET /large HTTP/1.1": 100_000}[x.line]))
	})
	for _, c := range []struct {
		name   string
		path   string
		set    func(*Config)
		opened int64
		body   int64
	}{
		{"kept alive", "/large", func(cfg *Config) { cfg.MaxInFlight = 1 }, 1, 4_000_000},
		{"new ones", "/", func(cfg *Config) { cfg.KeepAlive = false }, 40, 0},
		{"ahead", "/", func(cfg *Config) { cfg.Connections = 4 }, 4, 0},
		{"in ticks", "/", func(cfg *Config) { cfg.Connections, cfg.Pacing, cfg.Tick = 50, PacingTick, 400*time.Millisecond }, 50, 0},
	} {
		req := through(path)
		req.Path = literal(c.path)
		cfg := config(t, req, hold(200, ms(200)))
		c.set(&cfg)
		before := s.conns.Load()
		l := run(t, cfg)
		wantCounts(t, l, 40, 0, 0, 0)
		if l.Wire.Opened != c.opened || s.conns.Load()-before != c.opened || l.Hosts[0].Address != "unix:"+path || l.Wire.BodyBytes != c.body {
			t.Errorf("%s: opened %d, server saw %d, address %q, body bytes %d, want %d, as many, the path, %d",
				c.name, l.Wire.Opened, s.conns.Load()-before, l.Hosts[0].Address, l.Wire.BodyBytes, c.opened, c.body)
		}
		// The kernel has no receive times for such a socket: the answers must not wait for the next tick.
		if got := nsOf(l.Service.P50NS); cfg.Tick > 0 && got > cfg.Tick/2 {
			t.Errorf("%s: half of the answers took %v or more, of ticks of %v", c.name, got, cfg.Tick)
		}
	}
}

// TLS goes through a Unix socket as through any other.
func TestUnixTLS(t *testing.T) { onEach(t, testUnixTLS) }

func testUnixTLS(t *testing.T) {
	listener, path := listenUnix(t)
	caFile, cert := authorityFor(t, "shop.example")
	s := serveListener(t, tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{cert}}), func(x *call) { x.ok("") })
	req := through(path)
	req.Target.URLs[0] = plans.URL{Scheme: "https", Host: "shop.example", Port: 443}
	req.Target.TLS.CAFile = caFile
	cfg := config(t, req, hold(100, ms(100)))
	cfg.KeepAlive, cfg.MaxInFlight = false, 1
	l := run(t, cfg, s)
	wantCounts(t, l, 10, 0, 0, 0)
	if l.Wire.TLS.Count != 10 || l.Wire.Resumed != 9 {
		t.Errorf("TLS %d, resumed %d, want 10, 9", l.Wire.TLS.Count, l.Wire.Resumed)
	}
}

// A path where nothing listens is a refusal.
func TestUnixRefused(t *testing.T) { onEach(t, testUnixRefused) }

func testUnixRefused(t *testing.T) {
	path := socketPath(t)
	l := run(t, config(t, through(path), hold(100, ms(50))))
	wantCounts(t, l, 0, 5, 0, 0)
	wantError(t, l, kindRefused, 5)
	if len(l.Errors) == 1 && l.Errors[0].Example != "there is no socket unix:"+path {
		t.Errorf("example %q, want the path", l.Errors[0].Example)
	}
	listener, path := listenUnix(t)
	listener.(*net.UnixListener).SetUnlinkOnClose(false)
	listener.Close()
	l = run(t, config(t, through(path), hold(100, ms(50))))
	wantError(t, l, kindRefused, 5)
}

// shortQueue listens on a Unix socket that has a queue of a few connections.
func shortQueue(t *testing.T) (net.Listener, string) {
	t.Helper()
	path := socketPath(t)
	fd, err := unix.Socket(unix.AF_UNIX, unix.SOCK_STREAM, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.Bind(fd, &unix.SockaddrUnix{Name: path}); err != nil {
		t.Fatal(err)
	}
	if err := unix.Listen(fd, 1); err != nil {
		t.Fatal(err)
	}
	f := os.NewFile(uintptr(fd), path)
	defer f.Close()
	l, err := net.FileListener(f)
	if err != nil {
		t.Fatal(err)
	}
	return l, path
}

// A late listener accepts once it is told to.
type lateListener struct {
	net.Listener
	begin chan struct{}
}

func (l lateListener) Accept() (net.Conn, error) {
	<-l.begin
	return l.Listener.Accept()
}

// While the queue of the listener is full, connections wait, and are made when there is room.
func TestUnixFull(t *testing.T) { onEach(t, testUnixFull) }

func testUnixFull(t *testing.T) {
	listener, path := shortQueue(t)
	late := lateListener{listener, make(chan struct{})}
	s := serveListener(t, late, func(x *call) { x.ok("") })
	time.AfterFunc(500*time.Millisecond, func() { close(late.begin) })
	l := run(t, config(t, through(path), hold(200, ms(100))), s)
	wantCounts(t, l, 20, 0, 0, 0)
	if s.conns.Load() < 10 || nsOf(l.Wire.Connect.MaxNS) < 200*time.Millisecond {
		t.Errorf("%d connections, the longest took %v to open, want most of 20, from 200ms", s.conns.Load(), nsOf(l.Wire.Connect.MaxNS))
	}
}

// A queue that stays full is a timeout, no refusal.
func TestUnixStaysFull(t *testing.T) { onEach(t, testUnixStaysFull) }

func testUnixStaysFull(t *testing.T) {
	listener, path := shortQueue(t)
	t.Cleanup(func() { listener.Close() })
	cfg := config(t, through(path), hold(200, ms(50)))
	cfg.Timeout = 300 * time.Millisecond
	l := run(t, cfg)
	wantCounts(t, l, 0, 10, 0, 0)
	wantError(t, l, kindTimeout, 10)
	if nsOf(l.Service.MinNS) < cfg.Timeout {
		t.Errorf("the first ended after %v", nsOf(l.Service.MinNS))
	}
}

// Of many that found the queue full, one tries again at a time: the others wait for their turn, even where there is room
// by then.
func TestUnixFullTurn(t *testing.T) {
	t.Parallel()
	for _, patience := range []time.Duration{50 * time.Millisecond, 500 * time.Millisecond, 3 * time.Second} {
		if waitsForTurn(t, patience) {
			return
		}
	}
	t.Error("dialled out of turn")
}

// waitsForTurn tells whether a dial that found the queue full, which it has patience to do, waits while another has the turn.
func waitsForTurn(t *testing.T, patience time.Duration) bool {
	listener, path := shortQueue(t)
	defer listener.Close()
	queued := 0
	for {
		c, err := net.Dial("unix", path)
		if err != nil {
			break
		}
		defer c.Close()
		queued++
	}
	full, dialled := newTurn(), make(chan error, 1)
	full <- struct{}{}
	go func() {
		c, err := dialAddress(t.Context(), unixPrefix+path, time.Now().Add(20*time.Second), full)
		if err == nil {
			c.Close()
		}
		dialled <- err
	}()
	time.Sleep(patience)
	for range queued {
		c, err := listener.Accept()
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	select {
	case <-dialled:
		return false
	case <-time.After(100 * time.Millisecond):
	}
	<-full
	if err := <-dialled; err != nil {
		t.Errorf("dialled in turn: %v", err)
	}
	select {
	case full <- struct{}{}:
	default:
		t.Error("the turn was kept")
	}
	return true
}
