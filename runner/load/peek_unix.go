//go:build unix

package load

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// A peeker looks at a socket without waiting and without taking anything from it.
type peeker struct {
	sys      syscall.RawConn
	look     func(fd uintptr) // made once: a look allocates nothing
	poll     [1]unix.PollFd
	readable bool
}

// newPeeker returns nil where the connection has no socket to look at.
func newPeeker(c any) *peeker {
	sc, ok := c.(syscall.Conn)
	if !ok {
		return nil
	}
	sys, err := sc.SyscallConn()
	if err != nil {
		return nil
	}
	p := &peeker{sys: sys}
	p.look = func(fd uintptr) {
		p.poll[0] = unix.PollFd{Fd: int32(fd), Events: unix.POLLIN}
		n, err := unix.Poll(p.poll[:], 0)
		p.readable = n != 0 && err != unix.EINTR
	}
	return p
}

// quiet tells whether the connection is open and has nothing to read.
func (p *peeker) quiet() bool {
	if err := p.sys.Control(p.look); err != nil {
		return false
	}
	return !p.readable
}
