//go:build unix

package load

import (
	"syscall"

	"golang.org/x/sys/unix"
)

const canPeek = true

// peek looks at a socket without waiting and without taking anything from it.
func peek(sys syscall.RawConn) socketState {
	var one [1]byte
	state := socketEnded
	sys.Control(func(fd uintptr) {
		n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
		switch {
		case err == unix.EAGAIN || err == unix.EINTR:
			state = socketQuiet
		case err == nil && n > 0:
			state = socketWaiting
		}
	})
	return state
}
