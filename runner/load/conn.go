package load

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// A conn is one connection to a host, used by one worker.
type conn struct {
	net.Conn         // what requests are written to: raw, or TLS over it
	raw      *socket // nil on systems without a way to look at a socket
	used     int     // requests it carried
	host     int32
	spot                 // where it goes
	idle     atomic.Bool // nobody uses it: it is whose who sets it to false
}

// A socket is the TCP or Unix connection below a conn. While probing, Read does not
// block.
type socket struct {
	net.Conn
	peek    *peeker
	probing atomic.Bool
}

// errNothingYet is what Read says while probing, when there is nothing to read.
// crypto/tls takes it as it takes a deadline: the stream stays usable.
type errNothingYet struct{}

func (errNothingYet) Error() string   { return "nothing to read yet" }
func (errNothingYet) Timeout() bool   { return true }
func (errNothingYet) Temporary() bool { return true }

func isNothing(err error) bool {
	_, is := err.(errNothingYet)
	return is
}

func (s *socket) Read(p []byte) (int, error) {
	if s.probing.Load() && s.peek.quiet() {
		return 0, errNothingYet{}
	}
	return s.Conn.Read(p)
}

// usable looks, without waiting, whether an idle connection is still open: the
// peer may have closed it since. A byte that nobody asked for makes it unusable
// too, except for TLS's own messages, which are read here.
func (c *conn) usable() bool {
	if c.raw == nil || c.raw.peek.quiet() {
		return true
	}
	if c.Conn == net.Conn(c.raw) {
		return false
	}
	c.raw.probing.Store(true)
	defer c.raw.probing.Store(false)
	n, err := c.Conn.Read(make([]byte, 1))
	return n == 0 && isNothing(err)
}

// A dialer opens connections, and closes all of them at the end of a run.
type dialer struct {
	ctx    context.Context // ends attempts to connect
	cancel context.CancelFunc
	now    func() int64
	full   turn

	mu     sync.Mutex
	open   map[*conn]struct{}
	closed bool
}

func newDialer(now func() int64) *dialer {
	d := &dialer{now: now, full: newTurn(), open: map[*conn]struct{}{}}
	d.ctx, d.cancel = context.WithCancel(context.Background())
	return d
}

// dial opens a connection, with TLS unless cfg is nil. What it took, as far as it
// came, is noted in event.
func (d *dialer) dial(ctx context.Context, host int32, at spot, cfg *tls.Config, deadline time.Time, event *sample) (*conn, *failure) {
	start := d.now()
	tcp, err := dialAddress(ctx, *at.address, deadline, d.full)
	event.connect = d.now() - start
	if err != nil {
		return nil, connectFailure(err, *at.address)
	}
	c := &conn{Conn: tcp, host: host, spot: at}
	if peek := newPeeker(tcp); peek != nil {
		c.raw = &socket{Conn: tcp, peek: peek}
		c.Conn = c.raw
	}
	if !d.register(c) {
		tcp.Close()
		return nil, classify(net.ErrClosed, "", *at.address)
	}
	if cfg == nil {
		return c, nil
	}
	tcp.SetDeadline(deadline)
	secure := tls.Client(c.Conn, cfg)
	err = secure.Handshake()
	event.tls = d.now() - start - event.connect
	if err != nil {
		d.close(c)
		return nil, handshakeFailure(err, *at.address)
	}
	event.resumed = secure.ConnectionState().DidResume
	d.rewrap(c, secure)
	return c, nil
}

// A turn has room for one of the connections that found a listener's queue full: it
// tries again, while the others wait for it. All of them at once would be a busy loop.
type turn chan struct{}

func newTurn() turn { return make(turn, 1) }

// fullRetry is how long to wait for room in the queue of a Unix socket's listener. Where it is full, TCP tries again by
// itself, while a connection to such a socket fails at once, with EAGAIN, if it must not block (unix(7)).
const fullRetry = time.Millisecond

// dialAddress connects to the address of a Host.
func dialAddress(ctx context.Context, address string, deadline time.Time, full turn) (net.Conn, error) {
	d := net.Dialer{Deadline: deadline, KeepAlive: -1}
	network, at := endpoint(address)
	c, err := d.DialContext(ctx, network, at)
	if network != "unix" || !errors.Is(err, syscall.EAGAIN) {
		return c, err
	}
	late := time.NewTimer(time.Until(deadline))
	defer late.Stop()
	select {
	case full <- struct{}{}:
		defer func() { <-full }()
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-late.C:
		return nil, os.ErrDeadlineExceeded
	}
	for {
		if c, err = d.DialContext(ctx, network, at); !errors.Is(err, syscall.EAGAIN) {
			return c, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-late.C:
			return nil, os.ErrDeadlineExceeded
		case <-time.After(fullRetry):
		}
	}
}

func (d *dialer) register(c *conn) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.closed {
		d.open[c] = struct{}{}
	}
	return !d.closed
}

// closeIdle closes the connections for which old is true and that nobody uses.
func (d *dialer) closeIdle(old func(*conn) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for c := range d.open {
		if old(c) && c.idle.CompareAndSwap(true, false) {
			c.hangUp() // whoever has it finds that it cannot take it
		}
	}
}

func (d *dialer) rewrap(c *conn, secure net.Conn) {
	d.mu.Lock()
	defer d.mu.Unlock()
	c.Conn = secure
}

func (d *dialer) close(c *conn) {
	d.mu.Lock()
	delete(d.open, c)
	d.mu.Unlock()
	c.hangUp()
}

// hangUp closes the socket at once: TLS would send a farewell first and wait
// for it.
func (c *conn) hangUp() {
	if c.raw != nil {
		c.raw.Close()
		return
	}
	if secure, ok := c.Conn.(*tls.Conn); ok {
		secure.NetConn().Close()
		return
	}
	c.Close()
}

// closeAll ends every connection and every attempt to connect, now and later.
func (d *dialer) closeAll() {
	d.cancel()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	for c := range d.open {
		c.hangUp()
	}
}

// over tells whether the run was ended: errors of connections mean nothing then.
func (d *dialer) over() bool { return d.ctx.Err() != nil }
