//go:build amd64 || arm64

package load

import (
	"context"
	"net"
	"syscall"

	"golang.org/x/sys/unix"
)

// open opens a connection for an idle lane of one of the loops, in turn. They do
// not run yet.
func (g *loops) open(ctx context.Context, host int32) bool {
	return g.all[int(g.opened.Add(1))%len(g.all)].open(ctx, host)
}

// open opens a connection for a lane that is idle.
func (l *loop) open(ctx context.Context, host int32) bool {
	h, at, began, event := &l.hosts[host], l.spot(host), l.now(), sample{outcome: opened}
	deadline, _ := ctx.Deadline()
	c, err := dialAddress(ctx, *at.address, deadline, l.group.dials)
	if err != nil {
		return false
	}
	event.connect = l.now() - began
	fd, err := takeSocket(c)
	if err != nil {
		return false
	}
	unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	hs := handshake{}
	if h.TLS != nil {
		dup, err := unix.FcntlInt(uintptr(fd), unix.F_DUPFD_CLOEXEC, 0)
		if err == nil {
			hs.wire = &wire{l: l}
			hs.secure, err = hs.wire.handshake(dup, h.TLS, deadline)
		}
		if err != nil {
			unix.Close(fd)
			return false
		}
		event.tls = l.now() - began - event.connect
		event.resumed = hs.secure.ConnectionState().DidResume
	}
	l.shaken.mu.Lock()
	defer l.shaken.mu.Unlock()
	ln := l.newLane(host)
	ln.fd, ln.state, ln.secure, ln.wire = fd, laneIdle, hs.secure, hs.wire
	ln.spot = at
	if ln.wire != nil {
		ln.wire.ln = ln
	}
	if err := l.poll.add(fd, ln.slot, ln.gen); err != nil {
		l.hangUp(ln)
		l.spare = append(l.spare, ln)
		return false
	}
	l.mail.put(event)
	l.queue.admit(ln)
	return true
}

// takeSocket takes a connection's socket out of it.
func takeSocket(c net.Conn) (fd int, err error) {
	defer c.Close()
	raw, err := c.(syscall.Conn).SyscallConn()
	if err != nil {
		return -1, err
	}
	if ctlErr := raw.Control(func(s uintptr) { fd, err = unix.FcntlInt(s, unix.F_DUPFD_CLOEXEC, 0) }); ctlErr != nil {
		return -1, ctlErr
	}
	return fd, err
}
