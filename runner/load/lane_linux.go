//go:build amd64 || arm64

package load

import (
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

type laneState uint8

const (
	laneClosed laneState = iota
	laneConnecting
	laneShaking // in a TLS handshake
	laneSending // a request is under way
	laneIdle
)

// A lane makes one request at a time on a connection to one host, which it
// opens when it has none.
type lane struct {
	sample // of the request under way
	kind   *kind
	loop   *loop
	slot   int32
	gen    int32 // of the connection: events of one before are void
	to     int32 // the host
	fd     int   // -1: none
	state  laneState
	used   int  // requests that the connection carried
	busy   bool // it connects, shakes hands, or has bytes left to write
	gone   bool // the peer closed during the handshake

	spot           // where the connection goes
	began    int64 // when it began to connect
	pieces   int64 // when the first piece of the request was written, if it was not all
	secure   *tls.Conn
	wire     *wire
	buf      []byte // for requests
	req, out []byte // out is the rest of req to be written
	resp     response
	sendErr  error

	up            int64 // when the time of the request is up
	until         int64 // when that of what it does now is, at the latest then
	before, after *lane // in the lineup
}

func (ln *lane) at() int32       { return ln.to }
func (ln *lane) thread() int     { return ln.loop.number }
func (ln *lane) connected() bool { return ln.fd >= 0 }

// A lineup has the lanes with a request under way, the next whose time is up
// first. With one timeout for all and one clock that is nearly always the order
// of the sends.
type lineup struct{ first, last *lane }

func (q *lineup) add(ln *lane) {
	before := q.last
	for before != nil && before.until > ln.until {
		before = before.before
	}
	ln.before = before
	if before != nil {
		ln.after, before.after = before.after, ln
	} else {
		ln.after, q.first = q.first, ln
	}
	if ln.after != nil {
		ln.after.before = ln
	} else {
		q.last = ln
	}
}

func (q *lineup) remove(ln *lane) {
	if ln.before != nil {
		ln.before.after = ln.after
	} else {
		q.first = ln.after
	}
	if ln.after != nil {
		ln.after.before = ln.before
	} else {
		q.last = ln.before
	}
	ln.before, ln.after = nil, nil
}

// bound says when the time of what the lane does now is up, 0 for no bound of its own.
func (l *loop) bound(ln *lane, t int64) {
	if t == 0 {
		t = ln.up
	}
	if t = min(t, ln.up); t != ln.until {
		l.line.remove(ln)
		ln.until = t
		l.line.add(ln)
	}
}

// after is the time d from now, 0 for no d.
func (l *loop) after(d time.Duration) int64 {
	if d == 0 {
		return 0
	}
	return l.now() + int64(d)
}

// begin sends j on the lane, which may be another loop's; nil: on a new one.
func (l *loop) begin(ln *lane, j job) {
	switch {
	case ln == nil:
		ln = l.newLane(j.host)
	case ln.loop != l:
		ln.loop.give(start{ln, j})
		return
	}
	ln.sample = sample{job: j, sent: l.now()}
	ln.up = l.timeUp(&ln.sample)
	ln.until = ln.up
	l.line.add(ln)
	if ln.fd >= 0 && l.outdated(ln.to, ln.spot) {
		l.hangUp(ln)
	}
	if ln.fd < 0 {
		l.connect(ln)
		return
	}
	l.send(ln)
}

func (l *loop) newLane(host int32) *lane {
	if n := len(l.spare); n > 0 {
		ln := l.spare[n-1]
		l.spare = l.spare[:n-1]
		ln.to = host
		return ln
	}
	ln := &lane{loop: l, slot: int32(len(l.lanes)), to: host, fd: -1}
	l.lanes = append(l.lanes, ln)
	return ln
}

// setBusy says whether the lane must not be left alone until the next tick.
func (l *loop) setBusy(ln *lane, busy bool) {
	if ln.busy == busy {
		return
	}
	ln.busy = busy
	if busy {
		l.busy++
	} else {
		l.busy--
	}
}

// connect begins to open a connection.
func (l *loop) connect(ln *lane) {
	ln.began, ln.used, ln.gone = l.now(), 0, false
	ln.spot = l.spot(ln.to)
	l.bound(ln, l.after(l.cfg.Timeouts.Connect))
	peer := l.peer(ln)
	family := unix.AF_INET
	switch peer.(type) {
	case *unix.SockaddrInet6:
		family = unix.AF_INET6
	case *unix.SockaddrUnix:
		family = unix.AF_UNIX
	}
	fd, err := unix.Socket(family, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		l.finish(ln, connectFailure(err, *ln.address), false, l.now())
		return
	}
	ln.fd, ln.state = fd, laneConnecting
	if family != unix.AF_UNIX {
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		unix.SetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TIMESTAMPNS, 1)
	}
	l.setBusy(ln, true)
	l.reach(ln)
}

// peer is the address of the lane's connection as the system takes it.
func (l *loop) peer(ln *lane) unix.Sockaddr {
	p := &l.peers[ln.to]
	if p.of != ln.address {
		if a, err := socketAddress(*ln.address); err == nil { // an address from a name is one
			*p = remote{ln.address, a}
		}
	}
	return p.Sockaddr
}

// A remote is the address of a host, parsed.
type remote struct {
	of *string
	unix.Sockaddr
}

// reach connects the lane's socket, now or as an event tells.
func (l *loop) reach(ln *lane) {
	peer := l.peer(ln)
	_, local := peer.(*unix.SockaddrUnix)
	if local && len(l.full.lanes) > 0 { // others wait already
		l.full.add(ln, l.now())
		return
	}
	err := unix.Connect(ln.fd, peer)
	if local && err == unix.EAGAIN {
		l.full.add(ln, l.now())
		return
	}
	if err == unix.EINPROGRESS || err == unix.EINTR {
		err = nil
	}
	if err == nil {
		err = l.poll.add(ln.fd, ln.slot, ln.gen)
	}
	if err != nil {
		l.finish(ln, connectFailure(err, *ln.address), false, l.now())
	}
}

// connectedNow goes on once an attempt to connect has ended.
func (l *loop) connectedNow(ln *lane) {
	code, err := unix.GetsockoptInt(ln.fd, unix.SOL_SOCKET, unix.SO_ERROR)
	if err == nil && code != 0 {
		err = syscall.Errno(code)
	}
	if err == nil && metItself(ln.fd, l.peer(ln)) {
		err = unix.ECONNREFUSED
	}
	if err != nil {
		l.finish(ln, connectFailure(err, *ln.address), false, l.now())
		return
	}
	took := l.now() - ln.began
	if l.hosts[ln.to].TLS != nil {
		l.shake(ln, took)
		return
	}
	l.setBusy(ln, false)
	l.report(&sample{outcome: opened, connect: took})
	l.send(ln)
}

// metItself tells whether a socket is connected to itself, as may be where
// nobody listens on a port that the system gives to clients.
func metItself(fd int, peer unix.Sockaddr) bool {
	own, err := unix.Getsockname(fd)
	if err != nil {
		return false
	}
	switch a := own.(type) {
	case *unix.SockaddrInet4:
		b, ok := peer.(*unix.SockaddrInet4)
		return ok && a.Port == b.Port && a.Addr == b.Addr
	case *unix.SockaddrInet6:
		b, ok := peer.(*unix.SockaddrInet6)
		return ok && a.Port == b.Port && a.Addr == b.Addr
	}
	return false
}

// send writes the request of the lane's arrival.
func (l *loop) send(ln *lane) {
	ln.state, ln.sendErr, ln.pieces = laneSending, nil, 0
	l.bound(ln, l.after(l.cfg.Timeouts.FirstByte))
	k := l.mix.of(ln.index)
	ln.kind = k
	ln.req, _ = k.render.into(&ln.buf, int(ln.to), ln.index, nil)
	ln.out = ln.req
	ln.resp.known = &l.heads[int(ln.to)*len(l.mix.kinds)+int(k.number)]
	ln.resp.reset(k.Method == "HEAD", k.check.needBody)
	if k.check.needFields != nil {
		ln.resp.want(k.check.needFields)
	}
	l.flush(ln)
}

// flush writes what the socket takes of the rest of the request. Where it takes
// no more, an event says when it does.
func (l *loop) flush(ln *lane) {
	for ln.sendErr == nil && (len(ln.out) > 0 || ln.wire.waits()) {
		n, err := ln.write()
		if n > 0 && ln.attempts == 0 {
			ln.attempts = 1
			if ln.used > 0 {
				ln.reused = 1
			}
			ln.used++
		}
		ln.bytesOut += int64(n)
		ln.out = ln.out[n:]
		if ln.pieces == 0 && (len(ln.out) > 0 || ln.wire.waits()) {
			ln.pieces = l.now()
		}
		if err == syscall.EAGAIN {
			l.setBusy(ln, true)
			return
		}
		ln.sendErr = err
	}
	l.setBusy(ln, false)
	if ln.sendErr != nil {
		l.receive(ln, true) // the peer may have answered before it went away
		return
	}
	if ln.whole = true; ln.pieces > 0 {
		ln.sending = l.now() - ln.pieces
	}
}

func (ln *lane) write() (n int, err error) {
	if ln.secure != nil {
		return ln.writeTLS()
	}
	n, errno := write(ln.fd, ln.out)
	if errno != 0 {
		return 0, errno
	}
	return n, nil
}

// receive reads what there is of the answer. ended: the peer has closed, so that
// more is to be read until its end is.
func (l *loop) receive(ln *lane, ended bool) {
	for {
		n, at, err := l.read(ln, ended)
		if n > 0 {
			if ln.first == 0 {
				ln.first = at
				l.bound(ln, 0)
			}
			ln.bytesIn += int64(n)
			l.large = l.large || ln.bytesIn > wholeAnswer
			used, bad := ln.resp.feed(l.buf[:n])
			if bad != nil {
				l.finish(ln, &failure{kind: kindProtocol, text: bad.Error()}, false, l.now())
				return
			}
			if ln.resp.done() {
				clean := used == n && !ended && (n < len(l.buf) && ln.secure == nil || l.silent(ln))
				l.answered(ln, clean, at)
				return
			}
		}
		switch {
		case err == nil:
		case isNothing(err):
			return
		default:
			l.broken(ln, err)
			return
		}
		if n < len(l.buf) && ln.secure == nil && !ended {
			return // that was all: more makes a new event
		}
	}
}

// read reads into the loop's buffer; at is when the last of it came.
func (l *loop) read(ln *lane, ended bool) (n int, at int64, err error) {
	if ln.secure != nil {
		ln.wire.drained, ln.wire.ended = false, ended
		n, err = ln.secure.Read(l.buf)
		return n, ln.wire.at, err
	}
	return l.readSocket(ln.fd, l.buf, ln.sent)
}

func (l *loop) readSocket(fd int, p []byte, sent int64) (n int, at int64, err error) {
	n, stamp, errno := l.rx.receive(fd, p)
	switch {
	case errno == syscall.EAGAIN:
		return 0, 0, errNothingYet{}
	case errno != 0:
		return 0, 0, errno
	case n == 0:
		return 0, 0, io.EOF
	}
	at, ok := l.wall.at(stamp, sent, l.polled)
	if !ok {
		at = l.now()
	}
	return n, at, nil
}

// silent tells whether there is nothing more to read, for now.
func (l *loop) silent(ln *lane) bool {
	n, _, err := l.read(ln, false)
	return n == 0 && isNothing(err)
}

// answered ends the request: its answer is complete.
func (l *loop) answered(ln *lane, clean bool, at int64) {
	ln.status, ln.bodyBytes = int32(ln.resp.status), ln.resp.bodyBytes
	keep := clean && ln.resp.keepAlive && l.keepAlive && ln.used != l.cfg.RequestsPerConnection && ln.sendErr == nil && len(ln.out) == 0 && !ln.wire.waits() &&
		!l.outdated(ln.to, ln.spot)
	l.finish(ln, ln.kind.check.check(&ln.resp), keep, at)
}

// broken ends the request at the end of the stream, which may complete the answer.
func (l *loop) broken(ln *lane, err error) {
	address := *ln.address
	fail := broken(err, &ln.resp, address)
	switch {
	case fail == nil:
		l.answered(ln, false, l.now())
		return
	case ln.sendErr != nil && !ln.resp.begun() && fail.kind != kindTLS: // an alert says more than the end it came before
		fail = classify(ln.sendErr, "the request was being sent", address)
	}
	l.finish(ln, fail, false, l.now())
}

// late is the failure of a request whose time is up.
func (l *loop) late(ln *lane) *failure {
	if ln.until < ln.up {
		return l.lateIn(ln.state == laneSending)
	}
	switch ln.state {
	case laneConnecting:
		return connectFailure(os.ErrDeadlineExceeded, *ln.address)
	case laneShaking:
		return handshakeFailure(os.ErrDeadlineExceeded, *ln.address)
	}
	return broken(os.ErrDeadlineExceeded, &ln.resp, *ln.address)
}

// finish ends the request under way at end, and takes what waits for its place.
func (l *loop) finish(ln *lane, fail *failure, keep bool, end int64) {
	ln.sample.end, ln.fail, ln.outcome = end, fail, fail.outcome()
	l.line.remove(ln)
	l.setBusy(ln, false)
	if keep {
		ln.state = laneIdle
	} else {
		l.hangUp(ln)
	}
	l.report(&ln.sample)
	j, to, send, stay := l.queue.release(ln, end)
	if send {
		l.todo = append(l.todo, start{to, j})
	}
	if !stay {
		l.spare = append(l.spare, ln)
	}
}

// disturbed looks at an idle connection on which something came: its end, or
// bytes that nobody asked for, after which it is not used again, or TLS's own.
func (l *loop) disturbed(ln *lane) {
	ln.sent = 0
	if n, _, err := l.read(ln, true); n > 0 || !isNothing(err) {
		l.hangUp(ln)
	}
}

// hangUp closes the connection at once.
func (l *loop) hangUp(ln *lane) {
	if ln.fd < 0 {
		return
	}
	if ln.state == laneShaking { // the handshake has the socket, too
		unix.Shutdown(ln.fd, unix.SHUT_RDWR)
	}
	l.setBusy(ln, false)
	unix.Close(ln.fd)
	ln.fd, ln.state, ln.secure, ln.wire = -1, laneClosed, nil, nil
	ln.gen++
}

// socketAddress turns the address of a Host into what the system takes.
func socketAddress(address string) (unix.Sockaddr, error) {
	if network, at := endpoint(address); network == "unix" {
		return &unix.SockaddrUnix{Name: at}, nil
	}
	a, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, err
	}
	ip := a.Addr().Unmap()
	if ip.Is4() {
		return &unix.SockaddrInet4{Port: int(a.Port()), Addr: ip.As4()}, nil
	}
	to := &unix.SockaddrInet6{Port: int(a.Port()), Addr: ip.As16()}
	if zone := ip.Zone(); zone != "" {
		if n, err := strconv.ParseUint(zone, 10, 32); err == nil {
			to.ZoneId = uint32(n)
		} else if i, err := net.InterfaceByName(zone); err == nil {
			to.ZoneId = uint32(i.Index)
		} else {
			return nil, err
		}
	}
	return to, nil
}

func clockNS(clock int32) int64 {
	var ts unix.Timespec
	if unix.ClockGettime(clock, &ts) != nil {
		return 0
	}
	return ts.Nano()
}
