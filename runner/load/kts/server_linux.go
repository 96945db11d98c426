package kts

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Options say how a Server is to be.
type Options struct {
	Mode     Mode
	Address  netip.AddrPort // IPv4; port 0 picks one
	Capacity int            // requests that memory is made ready for
}

// A Server runs until Stop.
type Server struct {
	addr netip.AddrPort
	stop int // eventfd
	done chan struct{}

	mu sync.Mutex // held while the server works, not while it waits
	loop
}

// A loop is what the server's thread works on.
type loop struct {
	epoll, listener, timer int

	law     *law
	agenda  agenda
	armed   int64 // what the timer is set to; 0: nothing
	conns   map[int32]*conn
	arrived []arrival // of one round
	held    int
	clock   stampClock
	log     Log
	frozen  bool
	buf     []byte
	oob     []byte
}

// An arrival is a request before the law was asked.
type arrival struct {
	conn *conn
	at   int64
	seq  int64
}

// backlog is that of listeners but with Accept; the system's bound applies.
const backlog = 4096

// Start starts a server.
func Start(o Options) (*Server, error) {
	if err := o.Mode.check(); err != nil {
		return nil, err
	}
	s := &Server{done: make(chan struct{})}
	s.law = newLaw(o.Mode)
	s.conns = map[int32]*conn{}
	s.buf, s.oob = make([]byte, 64<<10), make([]byte, 128)
	s.log = Log{Mode: o.Mode.String()}
	for _, list := range []*[]int64{&s.log.Arrival, &s.log.Planned, &s.log.Release, &s.log.Seq} {
		*list = make([]int64, 0, o.Capacity)
	}
	s.agenda = make(agenda, 0, o.Capacity)
	s.epoll, s.listener, s.timer, s.stop = -1, -1, -1, -1
	if err := s.open(o); err != nil {
		s.closeAll()
		return nil, fmt.Errorf("kts: %w", err)
	}
	go s.run()
	return s, nil
}

func (s *Server) open(o Options) (err error) {
	if s.epoll, err = unix.EpollCreate1(unix.EPOLL_CLOEXEC); err != nil {
		return os.NewSyscallError("epoll_create1", err)
	}
	if s.timer, err = unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_NONBLOCK|unix.TFD_CLOEXEC); err != nil {
		return os.NewSyscallError("timerfd_create", err)
	}
	if s.stop, err = unix.Eventfd(0, unix.EFD_NONBLOCK|unix.EFD_CLOEXEC); err != nil {
		return os.NewSyscallError("eventfd", err)
	}
	n := backlog
	if o.Mode.Kind == Accept {
		n = o.Mode.Backlog
	}
	if err = s.listen(o.Address, n); err != nil {
		return err
	}
	for _, fd := range []int{s.timer, s.stop, s.listener} {
		if err = s.watch(fd, unix.EPOLL_CTL_ADD, unix.EPOLLIN); err != nil {
			return err
		}
	}
	return nil
}

func (s *Server) listen(at netip.AddrPort, backlog int) (err error) {
	if !at.Addr().Is4() {
		return fmt.Errorf("got address %v, want IPv4", at)
	}
	if s.listener, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0); err != nil {
		return os.NewSyscallError("socket", err)
	}
	// Accepted sockets inherit both.
	if err = unix.SetsockoptInt(s.listener, unix.SOL_SOCKET, unix.SO_REUSEADDR, 1); err == nil {
		err = unix.SetsockoptInt(s.listener, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}
	if err != nil {
		return os.NewSyscallError("setsockopt", err)
	}
	if err = unix.Bind(s.listener, &unix.SockaddrInet4{Port: int(at.Port()), Addr: at.Addr().As4()}); err != nil {
		return fmt.Errorf("bind %v: %w", at, err)
	}
	if err = unix.Listen(s.listener, backlog); err != nil {
		return fmt.Errorf("listen on %v: %w", at, err)
	}
	name, err := unix.Getsockname(s.listener)
	if err != nil {
		return os.NewSyscallError("getsockname", err)
	}
	in4, ok := name.(*unix.SockaddrInet4)
	if !ok {
		return errors.New("the listener has no IPv4 address")
	}
	s.addr = netip.AddrPortFrom(netip.AddrFrom4(in4.Addr), uint16(in4.Port))
	return nil
}

func (l *loop) watch(fd, op int, events uint32) error {
	err := unix.EpollCtl(l.epoll, op, fd, &unix.EpollEvent{Events: events, Fd: int32(fd)})
	return os.NewSyscallError("epoll_ctl", err)
}

// Addr is where the server listens.
func (s *Server) Addr() netip.AddrPort { return s.addr }

// Log returns what was logged until now.
func (s *Server) Log() Log {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.log.copy()
}

// Stop ends the server and its connections. The log can still be read.
func (s *Server) Stop() {
	unix.Write(s.stop, []byte{1, 0, 0, 0, 0, 0, 0, 0})
	<-s.done
}

func (s *Server) closeAll() {
	for _, c := range s.conns {
		s.close(c)
	}
	for _, fd := range []int{s.epoll, s.listener, s.timer, s.stop} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

func (s *Server) run() {
	runtime.LockOSThread() // and never unlocked: the thread ends with the server
	defer close(s.done)
	events := make([]unix.EpollEvent, 256)
	for {
		n, err := unix.EpollWait(s.epoll, events, -1)
		if err != nil && err != unix.EINTR {
			n = 0
		}
		s.mu.Lock()
		over := s.round(events[:max(n, 0)])
		if over {
			s.closeAll()
		}
		s.mu.Unlock()
		if over {
			return
		}
	}
}

// round does what is to be done now.
func (s *Server) round(events []unix.EpollEvent) (over bool) {
	s.fire()
	for _, e := range events {
		switch int(e.Fd) {
		case s.stop:
			return true
		case s.timer:
			var count [8]byte
			unix.Read(s.timer, count[:])
			s.armed = 0
		case s.listener:
			s.accept()
		default:
			if c := s.conns[e.Fd]; c != nil {
				s.ready(c, e.Events)
			}
		}
	}
	slices.SortStableFunc(s.arrived, func(a, b arrival) int { return cmp.Compare(a.at, b.at) })
	for _, a := range s.arrived {
		s.admit(a)
	}
	s.arrived = s.arrived[:0]
	s.fire()
	s.arm()
	return false
}

// arm sets the timer to the next event.
func (l *loop) arm() {
	if len(l.agenda) == 0 || l.agenda[0].at == l.armed {
		return
	}
	l.armed = l.agenda[0].at
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(l.armed)}
	unix.TimerfdSettime(l.timer, unix.TFD_TIMER_ABSTIME, &spec, nil)
}

// admit logs a request and plans its answer.
func (l *loop) admit(a arrival) {
	first := len(l.log.Arrival) == 0
	base := a.at
	if l.law.mode.Kind == Accept {
		base = max(base, a.conn.accepted)
	}
	do, when := l.law.next(base)
	if first && l.law.mode.Kind == Accept {
		l.agenda.add(event{at: base + int64(l.law.mode.T)/2, kind: freeze})
	}
	req := len(l.log.Arrival)
	l.log.Arrival = append(l.log.Arrival, a.at)
	l.log.Seq = append(l.log.Seq, a.seq)
	l.log.Release = append(l.log.Release, 0)
	l.log.Planned = append(l.log.Planned, 0)
	if a.conn.pending > 0 {
		l.log.Overlapping++
	}
	a.conn.pending++
	a.conn.uses++
	if l.held++; l.held > l.log.MaxHeld {
		l.log.MaxHeld = l.held
	}
	l.plan(a, req, do, when)
}

// pieces is the number of bytes of a dripped body, each sent by itself.
const pieces = 10

// plan puts the events of an answer on the agenda.
func (l *loop) plan(a arrival, req int, do action, when int64) {
	e := event{at: when, conn: a.conn, req: req, do: do}
	switch do {
	case silence:
		a.conn.silent++
		return
	case drip, dripCut:
		d, n := int64(l.law.mode.D), pieces
		if do == dripCut {
			n = pieces / 2
		}
		for e.step = 1; e.step < n; e.step++ {
			e.at, e.kind = when+int64(e.step)*d/pieces, bit
			l.agenda.add(e)
		}
		e.at, e.kind = when+int64(n)*d/pieces, answer
		l.send(a.conn, dripHead)
	case headed:
		e.at += int64(ResetDelay)
		l.send(a.conn, fixedHead)
	}
	l.log.Planned[req] = e.at
	l.agenda.add(e)
}

// fire does what is due.
func (l *loop) fire() {
	for len(l.agenda) > 0 {
		now := monotonic()
		if l.agenda[0].at > now {
			return
		}
		e := l.agenda.take()
		switch e.kind {
		case freeze, thaw:
			l.freeze(e)
		case idle:
			if e.conn.pending == 0 && e.conn.uses == e.uses {
				l.close(e.conn)
			}
		case bit:
			l.send(e.conn, dripBody[e.step-1:e.step])
		default:
			l.finish(e, now)
		}
	}
}

// finish ends a request.
func (l *loop) finish(e event, now int64) {
	c, m := e.conn, &l.law.mode
	c.pending--
	l.held--
	if c.fd < 0 { // the client has gone
		return
	}
	l.log.Release[e.req] = now
	switch e.do {
	case hangUp:
		l.close(c)
	case abort, headed:
		l.reset(c)
	case drip:
		l.send(c, dripBody[e.step-1:])
	case dripCut:
		l.send(c, dripBody[e.step-1:e.step])
		l.close(c)
	default:
		l.send(c, fixedAnswer)
	}
	if m.Kind == IdleClose {
		l.agenda.add(event{at: now + int64(m.I), kind: idle, conn: c, uses: c.uses})
	}
}

// freeze stops accepting for S, once in T.
func (l *loop) freeze(e event) {
	s, t := int64(l.law.mode.S), int64(l.law.mode.T)
	if e.kind == freeze {
		l.frozen = true
		l.watch(l.listener, unix.EPOLL_CTL_DEL, 0)
		l.agenda.add(event{at: e.at + s, kind: thaw})
		return
	}
	l.frozen = false
	l.watch(l.listener, unix.EPOLL_CTL_ADD, unix.EPOLLIN)
	l.agenda.add(event{at: e.at - s + t, kind: freeze})
}

// jsonLog is the log as an HTTP response.
func (l *loop) jsonLog() []byte {
	log := l.log.copy()
	body, err := json.Marshal(&log)
	if err != nil {
		return []byte("HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n")
	}
	head := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n", len(body))
	return append([]byte(head), body...)
}

// monotonic is CLOCK_MONOTONIC in ns.
func monotonic() int64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// A stampClock turns the kernel's receive stamps, of CLOCK_REALTIME, into
// CLOCK_MONOTONIC.
type stampClock struct {
	offset int64 // realtime - monotonic
	at     int64 // when it was read
}

// stampMaxAge is how old a stamp may be before it is not believed.
const stampMaxAge = int64(10 * time.Second)

// monotonic returns the stamp's time, ok false when it cannot be.
func (c *stampClock) monotonic(stamp, now int64) (at int64, ok bool) {
	if c.at == 0 || now-c.at > int64(100*time.Millisecond) {
		var ts unix.Timespec
		before := monotonic()
		unix.ClockGettime(unix.CLOCK_REALTIME, &ts)
		after := monotonic()
		c.offset, c.at = ts.Nano()-(before+after)/2, now
	}
	at = stamp - c.offset
	return min(at, now), at > now-stampMaxAge && at < now+int64(time.Millisecond)
}
