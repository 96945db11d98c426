// Package faults is a proxy that stands before a target and does what bad days do: it delays answers, lets them stall, resets
// connections and holds bandwidth down. It passes bytes on and knows no protocol but that requests and answers take turns on a
// connection, so it serves http and https alike.
package faults

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A Fault is what goes wrong. The zero value passes everything on.
type Fault struct {
	Delay      time.Duration // each answer comes that much later
	Jitter     time.Duration // and up to that much more, drawn anew for each
	ResetShare float64       // of requests, 0 to 1, whose connection is reset in place of an answer; spread evenly
	StallEvery time.Duration // answers due within the first StallFor of each such period come at the end of it; 0: never
	StallFor   time.Duration
	BytesPerS  int64 // most that goes to the client of all connections together; 0: no bound
}

// A Proxy passes connections on to one address.
type Proxy struct {
	network  string
	address  string
	listener net.Listener
	begin    time.Time

	mu     sync.Mutex
	fault  Fault
	owed   float64 // resets that are due
	free   time.Time
	conns  map[net.Conn]bool
	closed bool
	all    sync.WaitGroup

	requests, resets atomic.Int64
}

// New starts a proxy on a free port of 127.0.0.1 before an address: host:port, or "unix:" and a path. Close it.
func New(address string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{network: "tcp", address: address, listener: l, begin: time.Now(), conns: map[net.Conn]bool{}}
	if path, ok := strings.CutPrefix(address, "unix:"); ok {
		p.network, p.address = "unix", path
	}
	p.all.Go(p.accept)
	return p, nil
}

// Address is where the proxy listens.
func (p *Proxy) Address() string { return p.listener.Addr().String() }

// Set makes a fault the one of all answers that come from now on.
func (p *Proxy) Set(f Fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.fault, p.owed, p.begin = f, 0, time.Now()
}

// Counts are the requests that came, and those that were reset.
func (p *Proxy) Counts() (requests, resets int64) { return p.requests.Load(), p.resets.Load() }

// Close ends the proxy and all connections.
func (p *Proxy) Close() {
	p.mu.Lock()
	p.closed = true
	for c := range p.conns {
		c.Close()
	}
	p.mu.Unlock()
	p.listener.Close()
	p.all.Wait()
}

func (p *Proxy) accept() {
	for {
		c, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			time.Sleep(10 * time.Millisecond) // out of descriptors
			continue
		}
		p.all.Go(func() { p.serve(c) })
	}
}

// keep notes a connection that Close has to end; false: it is closed already.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.closed {
		p.conns[c] = true
	}
	return !p.closed
}

func (p *Proxy) drop(c net.Conn) {
	p.mu.Lock()
	delete(p.conns, c)
	p.mu.Unlock()
	c.Close()
}

func (p *Proxy) serve(client net.Conn) {
	if !p.keep(client) {
		client.Close()
		return
	}
	defer p.drop(client)
	server, err := net.DialTimeout(p.network, p.address, 10*time.Second)
	if err != nil {
		reset(client)
		return
	}
	if !p.keep(server) {
		server.Close()
		return
	}
	defer p.drop(server)
	var answered atomic.Bool // since the last bytes of the client
	answered.Store(true)
	done := make(chan struct{})
	go func() {
		defer close(done)
		p.answers(client, server, &answered)
	}()
	p.asks(client, server, &answered)
	<-done
}

// asks passes on what the client sends. Where a request is to be reset, it ends the connection.
func (p *Proxy) asks(client, server net.Conn, answered *atomic.Bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := client.Read(buf)
		if n > 0 {
			if answered.Swap(false) && p.next() {
				reset(client)
				server.Close()
				return
			}
			if _, err := server.Write(buf[:n]); err != nil {
				client.Close()
				return
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				closeWrite(server)
			} else {
				server.Close()
			}
			return
		}
	}
}

// next counts a request and tells whether it is to be reset.
func (p *Proxy) next() bool {
	p.requests.Add(1)
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.owed += p.fault.ResetShare; p.owed < 1-1e-9 {
		return false
	}
	p.owed--
	p.resets.Add(1)
	return true
}

// answers passes on what the server sends, when the fault lets it. The first bytes of an answer are delayed, those behind follow
// at once.
func (p *Proxy) answers(client, server net.Conn, answered *atomic.Bool) {
	buf := make([]byte, 64<<10)
	for {
		n, err := server.Read(buf)
		if n > 0 {
			wait := p.wait(time.Now(), !answered.Load(), n)
			if wait > 0 {
				time.Sleep(wait)
			}
			answered.Store(true)
			if _, err := client.Write(buf[:n]); err != nil {
				server.Close()
				return
			}
		}
		if err != nil {
			if errors.Is(err, io.EOF) {
				closeWrite(client)
			} else {
				client.Close()
			}
			return
		}
	}
}

// wait is how long bytes that have come now are held back.
func (p *Proxy) wait(now time.Time, first bool, n int) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.fault
	out := now
	if first {
		out = out.Add(f.Delay)
		if f.Jitter > 0 {
			out = out.Add(rand.N(f.Jitter))
		}
	}
	if f.StallEvery > 0 {
		if in := out.Sub(p.begin) % f.StallEvery; in < f.StallFor {
			out = out.Add(f.StallFor - in)
		}
	}
	if f.BytesPerS > 0 {
		if p.free.Before(out) {
			p.free = out
		}
		p.free = p.free.Add(time.Duration(float64(n) / float64(f.BytesPerS) * 1e9))
		out = p.free
	}
	return out.Sub(now)
}

// reset ends a connection so that the other side sees it reset.
func reset(c net.Conn) {
	if t, ok := c.(*net.TCPConn); ok {
		t.SetLinger(0)
	}
	c.Close()
}

func closeWrite(c net.Conn) {
	if w, ok := c.(interface{ CloseWrite() error }); ok {
		w.CloseWrite()
		return
	}
	c.Close()
}

// String names the fault.
func (f Fault) String() string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	if f.Delay > 0 {
		add("answers %v later", f.Delay)
	}
	if f.Jitter > 0 {
		add("up to %v more", f.Jitter)
	}
	if f.ResetShare > 0 {
		add("%.4g%% of the requests reset", 100*f.ResetShare)
	}
	if f.StallEvery > 0 {
		add("a stall of %v every %v", f.StallFor, f.StallEvery)
	}
	if f.BytesPerS > 0 {
		add("%d bytes a second", f.BytesPerS)
	}
	if parts == nil {
		return "no fault"
	}
	return strings.Join(parts, ", ")
}
