package kts

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"syscall"
	"testing"
	"time"
)

func start(t *testing.T, mode string) *Server {
	t.Helper()
	s, err := Start(Options{Mode: mustParse(t, mode), Address: netip.MustParseAddrPort("127.0.0.1:0"), Capacity: 100})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Stop)
	return s
}

func dial(t *testing.T, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", s.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	return c
}

// get makes a request and returns the body and how long the head and all of it took.
func get(c net.Conn, seq int) (body string, head, all time.Duration, err error) {
	begun := time.Now()
	fmt.Fprintf(c, "GET / HTTP/1.1\r\nHost: kts\r\nkts-seq: %d\r\n\r\n", seq)
	r, err := http.ReadResponse(bufio.NewReaderSize(c, 128), nil)
	head = time.Since(begun)
	if err != nil {
		return "", head, head, err
	}
	b, err := io.ReadAll(r.Body)
	return string(b), head, time.Since(begun), err
}

// What the client sees is never shorter than the law, and the log agrees with it.
func TestServerHolds(t *testing.T) {
	t.Parallel()
	s := start(t, "bimodal d=5ms d2=60ms m=4")
	c := dial(t, s)
	for i := range 8 {
		want := 5 * time.Millisecond
		if i%4 == 3 {
			want = 60 * time.Millisecond
		}
		if body, _, all, err := get(c, i); err != nil || body != "ok" || all < want {
			t.Errorf("request %d: %q after %v, %v, want ok after %v or more", i, body, all, err, want)
		}
	}
	log := s.Log()
	if len(log.Arrival) != 8 || log.Conns != 1 || log.MaxHeld != 1 || log.Replays != 0 || log.Overlapping != 0 {
		t.Errorf("log = %+v, want 8 requests on 1 connection", log)
	}
	for i := range log.Arrival {
		want := 5 * ms
		if i%4 == 3 {
			want = 60 * ms
		}
		if log.Planned[i]-log.Arrival[i] != want || log.Release[i] < log.Planned[i] || log.Seq[i] != int64(i) {
			t.Errorf("request %d: arrival %d, planned %d, release %d, seq %d", i, log.Arrival[i], log.Planned[i], log.Release[i], log.Seq[i])
		}
	}
	if late := log.HoldErrors(); len(late) != 8 || late[0] > int64(time.Second) {
		t.Errorf("hold errors = %v", late)
	}
	if log.KernelStamped == 0 {
		t.Log("no arrival has the kernel's stamp")
	}
}

// Many connections at once are held apart; a seq that comes again is a replay.
func TestServerManyAtOnce(t *testing.T) {
	t.Parallel()
	s := start(t, "fixed d=300ms")
	var wg sync.WaitGroup
	for i := range 50 {
		c := dial(t, s)
		wg.Go(func() {
			if body, _, all, err := get(c, i/2); err != nil || body != "ok" || all < 300*time.Millisecond {
				t.Errorf("%q after %v, %v", body, all, err)
			}
		})
	}
	wg.Wait()
	log := s.Log()
	if log.Conns != 50 || log.Replays != 25 || log.MaxHeld < 2 {
		t.Errorf("conns %d, replays %d, held %d, want 50, 25, more than 1", log.Conns, log.Replays, log.MaxHeld)
	}
}

func TestServerSilence(t *testing.T) {
	t.Parallel()
	s := start(t, "mute m=2")
	c := dial(t, s)
	if _, _, _, err := get(c, 0); err != nil {
		t.Fatal(err)
	}
	c.SetDeadline(time.Now().Add(100 * time.Millisecond))
	if _, _, _, err := get(c, 1); err == nil {
		t.Error("the second request was answered")
	}
	log := s.Log()
	if len(log.Arrival) != 2 || log.Release[1] != 0 || log.Planned[1] != 0 {
		t.Errorf("log = %+v, want 2 requests, the second without release", log)
	}
}

func TestServerResets(t *testing.T) {
	t.Parallel()
	for when, want := range map[string]error{Before: syscall.ECONNRESET, Fin: io.ErrUnexpectedEOF, Head: syscall.ECONNRESET} {
		s := start(t, "reset m=2 when="+when)
		c := dial(t, s)
		if _, _, _, err := get(c, 0); err != nil {
			t.Fatal(err)
		}
		_, head, all, err := get(c, 1)
		if !errors.Is(err, want) {
			t.Errorf("when=%s: error %v, want %v", when, err, want)
		}
		if when == Head && all-head < time.Millisecond && all < ResetDelay {
			t.Errorf("the reset came %v after the head", all-head)
		}
		if _, _, _, err := get(dial(t, s), 2); err != nil {
			t.Errorf("when=%s: third request: %v", when, err)
		}
	}
}

func TestServerDribbles(t *testing.T) {
	t.Parallel()
	s := start(t, "dribble d=200ms")
	body, head, all, err := get(dial(t, s), 0)
	if err != nil || body != "0123456789" || all < 200*time.Millisecond || all-head < 50*time.Millisecond {
		t.Errorf("%q, head after %v, all after %v, %v", body, head, all, err)
	}
	cut := start(t, "cut d=200ms")
	body, _, all, err = get(dial(t, cut), 0)
	if err != io.ErrUnexpectedEOF || body != "01234" || all < 100*time.Millisecond {
		t.Errorf("cut: %q after %v, %v, want half and an unexpected end", body, all, err)
	}
	if log := cut.Log(); log.Release[0] < log.Planned[0] || log.Planned[0]-log.Arrival[0] < 100*ms {
		t.Errorf("cut: log = %+v", log)
	}
}

func TestServerClosesIdle(t *testing.T) {
	t.Parallel()
	s := start(t, "idleclose i=50ms")
	c := dial(t, s)
	if _, _, _, err := get(c, 0); err != nil {
		t.Fatal(err)
	}
	if n, err := c.Read(make([]byte, 1)); n != 0 || err != io.EOF {
		t.Errorf("idle connection: %d bytes, %v, want its end", n, err)
	}
}

// While frozen, nothing is accepted: what the backlog holds waits for the thaw.
func TestServerFreezesAccept(t *testing.T) {
	t.Parallel()
	s := start(t, "accept backlog=16 s=400ms t=1s") // frozen in [500, 900) after the first arrival
	if _, _, _, err := get(dial(t, s), 0); err != nil {
		t.Fatal(err)
	}
	first := s.Log().Arrival[0]
	time.Sleep(time.Duration(first + 600*ms - monotonic()))
	sent := monotonic()
	if _, _, _, err := get(dial(t, s), 1); err != nil {
		t.Fatal(err)
	}
	if thaw, answered := first+900*ms, monotonic(); sent < thaw && answered < thaw {
		t.Errorf("answered %v before the thaw", time.Duration(thaw-answered))
	}
}

func TestServerLogOverHTTP(t *testing.T) {
	t.Parallel()
	s := start(t, "fixed")
	c := dial(t, s)
	for i := range 3000 { // a log that is larger than a socket's buffer takes at once
		if _, _, _, err := get(c, i); err != nil {
			t.Fatal(err)
		}
	}
	r, err := http.Get("http://" + s.Addr().String() + LogPath)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var log Log
	if err := json.NewDecoder(r.Body).Decode(&log); err != nil {
		t.Fatal(err)
	}
	if log.Mode != "fixed d=0s" || log.Conns != 1 || len(log.Arrival) != 3000 || len(log.Seq) != 3000 || log.Seq[2999] != 2999 {
		t.Errorf("log has mode %q, %d connections, %d requests", log.Mode, log.Conns, len(log.Arrival))
	}
}

func TestStartRefuses(t *testing.T) {
	for _, o := range []Options{
		{Mode: Mode{Kind: Mute}, Address: netip.MustParseAddrPort("127.0.0.1:0")},
		{Mode: Mode{Kind: Fixed}, Address: netip.MustParseAddrPort("[::1]:0")},
	} {
		if s, err := Start(o); err == nil {
			s.Stop()
			t.Errorf("Start(%v) has no error", o)
		}
	}
	s := start(t, "fixed")
	if other, err := Start(Options{Mode: Mode{Kind: Fixed}, Address: s.Addr()}); err == nil {
		other.Stop()
		t.Error("two servers listen on one address")
	}
}

func TestAgenda(t *testing.T) {
	var a agenda
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		a.add(event{at: r.Int64N(100)})
	}
	last := int64(-1)
	for range 1000 {
		e := a.take()
		if e.at < last {
			t.Fatalf("%d comes after %d", e.at, last)
		}
		last = e.at
	}
	if len(a) != 0 {
		t.Errorf("%d events are left", len(a))
	}
}
