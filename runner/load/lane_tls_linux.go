//go:build amd64 || arm64

package load

import (
	"crypto/tls"
	"net"
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// largestRecord is what goes into one TLS record (RFC 8446, 5.1).
const largestRecord = 16 << 10

// A wire is the connection below a lane's TLS. During the handshake it is the
// embedded one, which blocks; then it is the lane's socket and never does: where
// there is nothing to read it says so by errNothingYet, after which crypto/tls
// can go on, and what the socket does not take it keeps.
type wire struct {
	net.Conn // nil after the handshake
	l        *loop
	ln       *lane
	drained  bool  // there was less to read than there was room
	ended    bool  // the peer has closed: read until its end
	at       int64 // when the last bytes came
	rest     []byte
}

func (w *wire) Read(p []byte) (n int, err error) {
	if w.Conn != nil {
		return w.Conn.Read(p)
	}
	if w.drained {
		return 0, errNothingYet{}
	}
	n, at, err := w.l.readSocket(w.ln.fd, p, w.ln.sent)
	if n > 0 {
		w.at = at
		w.drained = n < len(p) && !w.ended
	}
	return n, err
}

func (w *wire) Write(p []byte) (n int, err error) {
	if w.Conn != nil {
		return w.Conn.Write(p)
	}
	if len(w.rest) == 0 {
		n, err = w.push(p)
	}
	w.rest = append(w.rest, p[n:]...)
	return len(p), err
}

// push writes what the socket takes.
func (w *wire) push(p []byte) (n int, err error) {
	n, errno := write(w.ln.fd, p)
	if errno != 0 && errno != syscall.EAGAIN {
		err = errno
	}
	return n, err
}

// waits tells whether there are bytes that the socket did not take; w may be nil.
func (w *wire) waits() bool { return w != nil && len(w.rest) > 0 }

// writeTLS writes a record at most, and none before the one before is written.
func (ln *lane) writeTLS() (n int, err error) {
	w := ln.wire
	if len(w.rest) > 0 {
		n, err := w.push(w.rest)
		w.rest = w.rest[:copy(w.rest, w.rest[n:])]
		if err == nil && len(w.rest) > 0 {
			err = syscall.EAGAIN
		}
		return 0, err
	}
	n, err = ln.secure.Write(ln.out[:min(len(ln.out), largestRecord)])
	if err == nil && len(w.rest) > 0 {
		err = syscall.EAGAIN
	}
	return n, err
}

// handshakes are those that have ended and wait for the loop.
type handshakes struct {
	wait  sync.WaitGroup
	mu    sync.Mutex
	ended []handshake
}

type handshake struct {
	lane          *lane
	gen           int32
	secure        *tls.Conn
	wire          *wire
	err           error
	connect, took int64
}

// shake lets a goroutine make the handshake.
func (l *loop) shake(ln *lane, connect int64) {
	ln.state = laneShaking
	hs := handshake{lane: ln, gen: ln.gen, connect: connect}
	dup, err := unix.FcntlInt(uintptr(ln.fd), unix.F_DUPFD_CLOEXEC, 0)
	if err != nil {
		l.finish(ln, handshakeFailure(err, *ln.address), false, l.now())
		return
	}
	begun, deadline, host := l.now(), l.base.Add(time.Duration(ln.until)), &l.hosts[ln.to]
	l.shaken.wait.Go(func() {
		hs.wire = &wire{l: l, ln: hs.lane}
		hs.secure, hs.err = hs.wire.handshake(dup, host.TLS, deadline)
		hs.took = l.now() - begun
		l.shaken.mu.Lock()
		l.shaken.ended = append(l.shaken.ended, hs)
		l.shaken.mu.Unlock()
		l.poll.wake()
	})
}

// handshake makes the handshake on a socket of its own, which it closes.
func (w *wire) handshake(fd int, cfg *tls.Config, deadline time.Time) (*tls.Conn, error) {
	f := os.NewFile(uintptr(fd), "")
	c, err := net.FileConn(f)
	f.Close()
	if err != nil {
		return nil, err
	}
	defer c.Close()
	if err := c.SetDeadline(deadline); err != nil {
		return nil, err
	}
	w.Conn = c
	secure := tls.Client(w, cfg)
	err = secure.Handshake()
	w.Conn = nil
	return secure, err
}

// takeShaken goes on with the lanes whose handshake has ended.
func (l *loop) takeShaken() {
	l.shaken.mu.Lock()
	ended := l.shaken.ended
	l.shaken.ended = nil
	l.shaken.mu.Unlock()
	for _, hs := range ended {
		ln := hs.lane
		if ln.gen != hs.gen || ln.state != laneShaking {
			continue // its time was up
		}
		if hs.err != nil {
			fail := handshakeFailure(hs.err, *ln.address)
			if fail.kind == kindTimeout {
				fail = l.late(ln)
			}
			l.finish(ln, fail, false, l.now())
			continue
		}
		ln.secure, ln.wire = hs.secure, hs.wire
		l.setBusy(ln, false)
		l.report(&sample{outcome: opened, connect: hs.connect, tls: hs.took, resumed: hs.secure.ConnectionState().DidResume})
		l.send(ln)
		if ln.gen == hs.gen && ln.state == laneSending {
			l.receive(ln, ln.gone) // what came with the handshake made its event then
		}
	}
}
