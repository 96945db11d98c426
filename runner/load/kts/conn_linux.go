package kts

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A conn is one accepted connection.
type conn struct {
	fd       int32 // -1: closed
	accepted int64
	in       []byte // an incomplete request
	out      []byte // what the socket did not take
	pending  int    // requests without an answer
	silent   int    // those of them that never get one
	uses     int64
	quiet    bool // it asked for the log only
}

// What is sent. The head of a fixed answer is fixedHead.
var (
	fixedAnswer = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
	fixedHead   = fixedAnswer[:len(fixedAnswer)-2]
	dripHead    = []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 10\r\n\r\n")
	dripBody    = []byte("0123456789")
)

// accept takes all connections that wait.
func (l *loop) accept() {
	for !l.frozen {
		fd, _, err := unix.Accept4(l.listener, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
		if err == unix.EINTR || err == unix.ECONNABORTED {
			continue
		}
		if err != nil {
			return
		}
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		c := &conn{fd: int32(fd), accepted: monotonic()}
		if l.watch(fd, unix.EPOLL_CTL_ADD, unix.EPOLLIN) != nil {
			unix.Close(fd)
			continue
		}
		l.conns[c.fd] = c
		l.log.Conns++
	}
}

// ready reads and writes what can be.
func (l *loop) ready(c *conn, events uint32) {
	if events&unix.EPOLLOUT != 0 {
		rest := c.out
		c.out = nil
		l.watch(int(c.fd), unix.EPOLL_CTL_MOD, unix.EPOLLIN)
		l.send(c, rest)
	}
	if c.fd < 0 || events&^uint32(unix.EPOLLOUT) == 0 {
		return
	}
	n, oobn, _, _, err := unix.Recvmsg(int(c.fd), l.buf, l.oob, 0)
	now := monotonic()
	switch {
	case err == unix.EAGAIN || err == unix.EINTR:
		return
	case err != nil || n == 0:
		l.close(c)
		return
	}
	at, stamped := now, false
	if stamp, ok := kernelStamp(l.oob[:oobn]); ok {
		if t, ok := l.clock.monotonic(stamp, now); ok {
			at, stamped = t, true
		}
	}
	p := l.buf[:n]
	if len(c.in) > 0 {
		c.in = append(c.in, p...)
		p = c.in
	}
	l.split(c, p, at, stamped)
}

// split takes the requests in p off and keeps the rest.
func (l *loop) split(c *conn, p []byte, at int64, stamped bool) {
	for {
		r, n := cutRequest(p)
		if n == 0 {
			c.in = append(c.in[:0], p...)
			return
		}
		p = p[n:]
		if r.log {
			if c.uses == 0 && !c.quiet {
				c.quiet = true
				l.log.Conns--
			}
			l.send(c, l.jsonLog())
			continue
		}
		if stamped {
			l.log.KernelStamped++
		}
		l.arrived = append(l.arrived, arrival{c, at, r.seq})
	}
}

// kernelStamp finds the receive time, CLOCK_REALTIME in ns.
func kernelStamp(oob []byte) (ns int64, ok bool) {
	const size = int(unsafe.Sizeof(unix.Timespec{}))
	messages, err := unix.ParseSocketControlMessage(oob)
	if err != nil {
		return 0, false
	}
	for _, m := range messages {
		if m.Header.Level == unix.SOL_SOCKET && m.Header.Type == unix.SCM_TIMESTAMPNS && len(m.Data) >= size && size == 16 {
			seconds := int64(binary.NativeEndian.Uint64(m.Data))
			return seconds*1e9 + int64(binary.NativeEndian.Uint64(m.Data[8:])), true
		}
	}
	return 0, false
}

// send writes p, now or when the socket takes it.
func (l *loop) send(c *conn, p []byte) {
	if c.fd < 0 {
		return
	}
	if len(c.out) > 0 {
		c.out = append(c.out, p...)
		return
	}
	n, err := unix.Write(int(c.fd), p)
	if err != nil && err != unix.EAGAIN && err != unix.EINTR {
		l.close(c)
		return
	}
	if n = max(n, 0); n < len(p) {
		c.out = append(c.out[:0], p[n:]...)
		l.watch(int(c.fd), unix.EPOLL_CTL_MOD, unix.EPOLLIN|unix.EPOLLOUT)
	}
}

// close ends a connection; what was planned on it finds it closed.
func (l *loop) close(c *conn) {
	if c.fd < 0 {
		return
	}
	delete(l.conns, c.fd)
	unix.Close(int(c.fd))
	c.fd = -1
	l.held -= c.silent
}

// reset is close with a RST.
func (l *loop) reset(c *conn) {
	if c.fd >= 0 {
		unix.SetsockoptLinger(int(c.fd), unix.SOL_SOCKET, unix.SO_LINGER, &unix.Linger{Onoff: 1})
	}
	l.close(c)
}
