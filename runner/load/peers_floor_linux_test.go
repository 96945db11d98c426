//go:build amd64 || arm64

package load

import (
	"encoding/json"
	"fmt"
	"os"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/perfplan/perfplan/plans"
)

// floor is no tool: a client that does nothing but wait, read and write, and takes whatever it reads for an answer. No
// client with a connection per request under way and a system call for each send and each receipt costs less or gets
// further; a bar beyond it cannot be reached here.
const floor = "floor"

// floorEnv is a contest, in a process that is the floor.
const floorEnv = "BENCH_ENGINE_FLOOR"

// hasFloor tells whether there is a floor: of closed loops without TLS.
func (c *contest) hasFloor() bool {
	return c.Rate == 0 && c.run == nil && strings.HasPrefix(c.URL, "http://")
}

// TestBenchFloor is its process.
func TestBenchFloor(t *testing.T) {
	var c contest
	if err := json.Unmarshal([]byte(os.Getenv(floorEnv)), &c); err != nil {
		t.Skip("a part of TestBenchEngine")
	}
	runtime.LockOSThread()
	_, address, _ := strings.Cut(strings.TrimSuffix(c.URL, "/"), "://")
	texts := floorTexts(t, c, address)
	peer, err := socketAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	p, err := newPoller()
	if err != nil {
		t.Fatal(err)
	}
	start, sent := time.Now(), 0
	next := func(fd int) {
		write(fd, texts[sent%len(texts)])
		sent++
	}
	for range c.Conns {
		fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
		if err == nil {
			err = unix.Connect(fd, peer)
		}
		if err == nil {
			err = p.add(fd, int32(fd), 0)
		}
		if err != nil {
			t.Fatal(err)
		}
		unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
		next(fd)
	}
	done, buf := int64(0), make([]byte, largeRead)
	for over := time.Duration(c.Seconds * 1e9); time.Since(start) < over; {
		n, err := p.wait(longestHold, true)
		if err != nil {
			t.Fatal(err)
		}
		for _, ev := range p.events[:n] {
			if got, _, errno := syscall.RawSyscall6(unix.SYS_RECVFROM, uintptr(ev.Fd), uintptr(unsafe.Pointer(&buf[0])), uintptr(len(buf)),
				unix.MSG_DONTWAIT, 0, 0); errno == 0 && got > 0 {
				done++
				next(int(ev.Fd))
			}
		}
	}
	text, err := json.Marshal(figure{Requests: done, Of: map[measure]float64{perSecond: float64(done) / time.Since(start).Seconds()}})
	if err != nil {
		t.Fatal(err)
	}
	fmt.Printf("FIGURE %s\n", text)
}

// floorTexts are the requests, rendered beforehand.
func floorTexts(t *testing.T, c contest, address string) (texts [][]byte) {
	req := &plans.Request{Method: "GET", Path: literal("/")}
	n := int64(1)
	if c.Varied {
		vary(req)
		n = variedRows
	}
	r, err := newRenderer(req, []Host{{Authority: address}}, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		text, _ := r.render(nil, 0, i)
		texts = append(texts, text)
	}
	return texts
}

func (s *benchRig) floorRun(t *testing.T, c contest) figure {
	text, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	r := s.pinned(t, []string{floorEnv + "=" + string(text), benchEnv + "="}, os.Args[0], "-test.run=^TestBenchFloor$", "-test.v", "-test.timeout=2h")
	f := ourFigure(t, r.out)
	f.used(r)
	return f
}
