//go:build amd64 || arm64

package load

import (
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// A poller is an epoll instance. Sockets are added once, edge-triggered, and
// leave it by being closed. Only one thread waits on it; any may wake it.
type poller struct {
	fd, event int
	events    [128]unix.EpollEvent
	timeout   struct{ sec, nsec int64 } // a __kernel_timespec
}

// wakeSlot is the slot that a wake-up is an event of.
const wakeSlot = -1

// newPoller fails where the system has no epoll_pwait2 (Linux before 5.11).
func newPoller() (*poller, error) {
	fd, err := unix.EpollCreate1(unix.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	p := &poller{fd: fd, event: -1}
	if p.event, err = unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK); err == nil {
		err = p.add(p.event, wakeSlot, 0)
	}
	if err == nil {
		_, err = p.wait(1, false)
	}
	if err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

func (p *poller) close() {
	unix.Close(p.fd)
	if p.event >= 0 {
		unix.Close(p.event)
	}
}

// add watches a socket for all that may happen to it; events carry slot and gen.
func (p *poller) add(fd int, slot, gen int32) error {
	ev := unix.EpollEvent{Events: unix.EPOLLIN | unix.EPOLLOUT | unix.EPOLLRDHUP | unix.EPOLLET&0xffffffff, Fd: slot, Pad: gen}
	return unix.EpollCtl(p.fd, unix.EPOLL_CTL_ADD, fd, &ev)
}

// wait fills in p.events and returns how many there are. It waits up to ns for
// the first; with 0 it only looks. A signal ends it early.
//
// A long wait lets the scheduler use the thread's turn for others. A short one,
// if held, does not, where there are other turns to be had: to give it up and
// get it back many thousand times a second costs more than all of the sending
// (the runtime's monitor wakes every 20 µs then). A collection's stop of the
// world ends it, by a signal.
func (p *poller) wait(ns int64, held bool) (n int, err error) {
	var r uintptr
	var errno syscall.Errno
	events, room := uintptr(unsafe.Pointer(&p.events)), uintptr(len(p.events))
	p.timeout.sec, p.timeout.nsec = ns/1e9, ns%1e9
	switch {
	case ns <= 0:
		r, _, errno = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT, uintptr(p.fd), events, room, 0, 0, 0)
	case held && ns <= longestHold:
		r, _, errno = syscall.RawSyscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), events, room, uintptr(unsafe.Pointer(&p.timeout)), 0, 0)
	default:
		r, _, errno = syscall.Syscall6(unix.SYS_EPOLL_PWAIT2, uintptr(p.fd), events, room, uintptr(unsafe.Pointer(&p.timeout)), 0, 0)
	}
	if errno != 0 && errno != syscall.EINTR {
		return 0, errno
	}
	if errno != 0 {
		return 0, nil
	}
	return int(r), nil
}

// longestHold bounds a wait, in ns, in which the thread keeps its turn.
const longestHold = int64(time.Millisecond)

// hold sleeps until t, on CLOCK_MONOTONIC, and keeps the thread's turn.
func (p *poller) hold(t int64) {
	p.timeout.sec, p.timeout.nsec = t/1e9, t%1e9
	syscall.RawSyscall6(unix.SYS_CLOCK_NANOSLEEP, unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, uintptr(unsafe.Pointer(&p.timeout)), 0, 0, 0)
}

// wake ends the wait under way or the next one.
func (p *poller) wake() {
	one := [8]byte{1}
	unix.Write(p.event, one[:])
}

// A receiver reads from sockets, and the kernel's time of the receipt with it.
type receiver struct {
	head    unix.Msghdr
	vector  unix.Iovec
	control [8]uint64
}

// receive reads what there is into p. stamp is when the last of it came, on
// CLOCK_REALTIME; 0: not known.
func (r *receiver) receive(fd int, p []byte) (n int, stamp int64, errno syscall.Errno) {
	r.vector.Base = &p[0]
	r.vector.Len = uint64(len(p))
	r.head.Iov, r.head.Iovlen = &r.vector, 1
	r.head.Control = (*byte)(unsafe.Pointer(&r.control))
	for {
		r.head.Controllen = uint64(unsafe.Sizeof(r.control))
		got, _, errno := syscall.RawSyscall(unix.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(&r.head)), 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return 0, 0, errno
		}
		return int(got), r.stamp(), 0
	}
}

// stamp reads the SCM_TIMESTAMPNS message: a cmsghdr and a timespec.
func (r *receiver) stamp() int64 {
	head := (*unix.Cmsghdr)(unsafe.Pointer(&r.control))
	if r.head.Controllen < 32 || head.Level != unix.SOL_SOCKET || head.Type != unix.SCM_TIMESTAMPNS {
		return 0
	}
	return int64(r.control[2])*1e9 + int64(r.control[3])
}

// write writes what the socket takes.
func write(fd int, p []byte) (n int, errno syscall.Errno) {
	for {
		got, _, errno := syscall.RawSyscall6(unix.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(&p[0])), uintptr(len(p)), unix.MSG_NOSIGNAL, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 {
			return 0, errno
		}
		return int(got), 0
	}
}

// A wallClock turns times of CLOCK_REALTIME into the run's. The two differ by a
// constant, but for steps of the former: after one it is not used for a while.
type wallClock struct {
	base   time.Time
	zero   int64 // CLOCK_REALTIME at the run's time 0
	known  bool
	next   int64 // when to look again
	unsure bool  // it was stepped not long ago
}

const (
	wallEvery = int64(time.Second)
	wallStep  = int64(50 * time.Microsecond) // differences below are taken for errors of the look
)

// keep looks at the clocks when it is time to.
func (c *wallClock) keep(now int64) {
	if now < c.next && c.known {
		return
	}
	c.next = now + wallEvery
	zero := int64(0)
	for range 3 { // a pause between the two readings only makes it less
		t := time.Now()
		zero = max(zero, t.UnixNano()-int64(t.Sub(c.base)))
	}
	step := zero - c.zero
	c.unsure = c.known && max(step, -step) > wallStep
	if !c.known || c.unsure {
		c.zero, c.known = zero, true
	}
}

// at is the run's time of a stamp that was read at about now, for a request sent
// at sent; ok is false for a stamp that is not to be trusted.
func (c *wallClock) at(stamp, sent, now int64) (t int64, ok bool) {
	const slack = int64(time.Millisecond)
	t = stamp - c.zero
	if stamp == 0 || c.unsure || t < sent-slack || t > now+slack {
		return 0, false
	}
	return max(t, sent), true
}
