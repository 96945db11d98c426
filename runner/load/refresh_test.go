package load

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// A host goes where its name goes: new requests on new connections to the new address, those under way to their end.
// Answers without an address change nothing.
func TestRefresh(t *testing.T) { onEach(t, testRefresh) }

func testRefresh(t *testing.T) {
	var moved, silent, hung atomic.Bool
	old, late := serve(t, nil), atomic.Int64{}
	next := serveOn(t, net.JoinHostPort("127.0.0.2", strconv.Itoa(old.url().Port)), func(x *call) { x.ok("") })
	old.setAnswer(func(x *call) {
		if next.arrivals.Load() >= 100 { // long after what was on its way
			late.Add(1)
		}
		if x.n >= 5 {
			moved.Store(true)
		}
		if moved.Load() && hung.CompareAndSwap(false, true) { // this one is under way when the name changes
			for next.arrivals.Load() < 3 {
				time.Sleep(time.Millisecond)
			}
		}
		x.ok("")
	})
	names := nameServerOf(t, func() ([][4]byte, bool) {
		switch {
		case silent.Load():
			return nil, false
		case moved.Load():
			return [][4]byte{{127, 0, 0, 2}}, true
		}
		return [][4]byte{{127, 0, 0, 1}}, true
	})
	req := get(old)
	cfg := config(t, req, hold(200, 15*time.Second))
	req.Target.URLs[0].Host = "service.test"
	var err error
	if cfg.Hosts, err = resolve(t.Context(), names, req.Target); err != nil {
		t.Fatal(err)
	}
	cfg.Refresh, cfg.Resolver, cfg.TickEvery = 30*time.Millisecond, names, 20*time.Millisecond
	after := 0
	cfg.OnTick = func(Tick) bool {
		if next.arrivals.Load() >= 10 {
			silent.Store(true)
			after++
		}
		return after < 5 || next.arrivals.Load() < 200
	}
	l := run(t, cfg, old, next)
	if l.Failed != 0 || l.Unfinished != 0 || next.arrivals.Load() < 10 {
		t.Errorf("%d at the new address, failed %d, unfinished %d, want from 10, none: %v", next.arrivals.Load(), l.Failed, l.Unfinished, l.Errors)
	}
	if n := late.Load(); n > 0 {
		t.Errorf("%d requests came to the old address after 100 at the new one", n)
	}
	d := l.DNS
	if d == nil || d.Changed != 1 || len(d.Changes) != 1 || d.Lookups < 2 || d.Failed < 1 || d.RefreshNS != 30e6 {
		t.Fatalf("dns = %+v, want 1 change, failed lookups after it", d)
	}
	if c := d.Changes[0]; c.Host != 0 || !slices.Equal(c.From, []string{old.Addr().String()}) || !slices.Equal(c.To, []string{next.Addr().String()}) || c.TNS <= 0 || l.Hosts[0].Address != c.From[0] {
		t.Errorf("change = %+v, host %q", c, l.Hosts[0].Address)
	}
}

// A name that gets more addresses than there are hosts is served by all of them, and one that has fewer again by those:
// their idle connections are closed at once, not when they would be used next.
func TestRefreshGrows(t *testing.T) { onEach(t, testRefreshGrows) }

func testRefreshGrows(t *testing.T) {
	answer := func(x *call) { x.ok("") }
	a := serve(t, answer)
	port := strconv.Itoa(a.url().Port)
	b, c := serveOn(t, net.JoinHostPort("127.0.0.2", port), answer), serveOn(t, net.JoinHostPort("127.0.0.3", port), answer)
	var state atomic.Int32 // 0: a; 1: all; 2: c
	names := nameServerOf(t, func() ([][4]byte, bool) {
		all := [][4]byte{{127, 0, 0, 1}, {127, 0, 0, 2}, {127, 0, 0, 3}}
		return [][][4]byte{all[:1], all, all[2:]}[state.Load()], true
	})
	req := get(a)
	cfg := config(t, req, hold(200, 20*time.Second))
	req.Target.URLs[0].Host = "service.test."
	var err error
	if cfg.Hosts, err = resolve(t.Context(), names, req.Target); err != nil || len(cfg.Hosts) != 1 {
		t.Fatalf("resolve = %+v, %v, want one host", cfg.Hosts, err)
	}
	// Connections end by and by, so that new ones are opened; and more are open than are needed, so that some idle.
	cfg.Refresh, cfg.Resolver, cfg.TickEvery = 20*time.Millisecond, names, 20*time.Millisecond
	cfg.Connections, cfg.RequestsPerConnection = 12, 4
	var closed bool
	cfg.OnTick = func(Tick) bool {
		switch state.Load() {
		case 0:
			if a.arrivals.Load() >= 10 {
				state.Store(1)
			}
		case 1:
			if b.arrivals.Load() >= 10 && c.arrivals.Load() >= 10 {
				state.Store(2)
			}
		case 2:
			closed = a.talking.Load() == 0 && b.talking.Load() == 0
			return !closed
		}
		return true
	}
	l := run(t, cfg, a, b, c)
	if l.Failed != 0 || l.Unfinished != 0 || state.Load() != 2 || !closed {
		t.Errorf("state %d, connections to old addresses closed: %v; failed %d, unfinished %d: %v", state.Load(), closed, l.Failed, l.Unfinished, l.Errors)
	}
	if d := l.DNS; d.Changed != 2 || len(d.Changes) != 2 || len(d.Changes[0].To) != 3 || !slices.Equal(d.Changes[1].To, []string{c.Addr().String()}) {
		t.Errorf("dns = %+v, want a change to three addresses, and one to the last of them", d)
	}
}

// Idle connections to an address that is gone are closed although no request asks for them.
func TestRefreshClosesIdle(t *testing.T) { onEach(t, testRefreshClosesIdle) }

func testRefreshClosesIdle(t *testing.T) {
	answer := func(x *call) { x.ok("") }
	old := serve(t, answer)
	next := serveOn(t, net.JoinHostPort("127.0.0.2", strconv.Itoa(old.url().Port)), answer)
	var moved atomic.Bool
	names := nameServerOf(t, func() ([][4]byte, bool) {
		if moved.Load() {
			return [][4]byte{{127, 0, 0, 2}}, true
		}
		return [][4]byte{{127, 0, 0, 1}}, true
	})
	req := get(old)
	cfg := config(t, req, hold(1, 20*time.Second)) // one arrival at a time
	req.Target.URLs[0].Host = "service.test."
	var err error
	if cfg.Hosts, err = resolve(t.Context(), names, req.Target); err != nil {
		t.Fatal(err)
	}
	cfg.Refresh, cfg.Resolver, cfg.TickEvery, cfg.Connections = 20*time.Millisecond, names, 20*time.Millisecond, 40
	cfg.OnTick = func(Tick) bool {
		if old.arrivals.Load() == 0 || old.conns.Load() < 40 {
			return true
		}
		moved.Store(true)
		return old.talking.Load() > 0
	}
	l := run(t, cfg, old, next)
	if l.Sent > 19 || l.Failed != 0 || old.conns.Load() != 40 || next.conns.Load() > l.Sent {
		t.Errorf("sent %d, failed %d, %d connections to the old address, %d to the new one, want all of 40 closed before each was used",
			l.Sent, l.Failed, old.conns.Load(), next.conns.Load())
	}
}

// An answer with no address at all is a failed one, too; and without Refresh nothing is looked up.
func TestRefreshEmpty(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	s := serve(t, func(x *call) { x.ok("") })
	var empty atomic.Bool
	names := nameServerOf(t, func() ([][4]byte, bool) {
		asked.Add(1)
		if empty.Load() {
			return nil, true
		}
		return [][4]byte{{127, 0, 0, 1}}, true
	})
	req := get(s)
	cfg := config(t, req, hold(100, ms(300)))
	long := config(t, req, hold(100, 20*time.Second))
	req.Target.URLs[0].Host = "service.test." // its end says that no other name is tried
	var err error
	if cfg.Hosts, err = resolve(t.Context(), names, req.Target); err != nil {
		t.Fatal(err)
	}
	empty.Store(true)
	cfg.Resolver = names
	before := asked.Load()
	if l := run(t, cfg, s); l.DNS != nil || asked.Load() != before {
		t.Errorf("without refresh: dns %+v, asked %d times", l.DNS, asked.Load()-before)
	}
	cfg.Schedule, cfg.Refresh, cfg.TickEvery = long.Schedule, 20*time.Millisecond, 20*time.Millisecond
	before = asked.Load()
	cfg.OnTick = func(Tick) bool { return asked.Load() < before+10 } // two a lookup
	l := run(t, cfg)
	if l.Failed != 0 || l.Completed != l.Offered {
		t.Errorf("completed %d of %d, want all: %v", l.Completed, l.Offered, l.Errors)
	}
	if d := l.DNS; d.Lookups == 0 || d.Failed != d.Lookups || d.Changed != 0 {
		t.Errorf("dns = %+v, want failed lookups alone", d)
	}
}

// Each host keeps its address if it can, addresses are shared evenly, and none is left out.
func TestSpread(t *testing.T) {
	for _, c := range []struct{ now, fresh, want string }{
		{"a b", "a b", "a b"},
		{"a b", "b a", "a b"},
		{"a b", "b c", "c b"},
		{"a b", "b", "b b"},
		{"b b", "a b", "b a"},
		{"a b c", "x y", "x y x"},
		{"a", "z", "z"},
		{"a a b b", "a b c", "a c b b"},
		{"a", "a b c", "a,b,c"},
		{"a b", "a c d", "a,c,d a,c,d"},
		{"a,b,c a,b,c", "a b", "a b"},
		{"a,b,c a,b,c", "c", "c c"},
		{"a,b,c", "b d", "b,d"},
	} {
		var now [][]string
		for list := range strings.FieldsSeq(c.now) {
			now = append(now, strings.Split(list, ","))
		}
		var got []string
		for _, list := range spread(now, strings.Fields(c.fresh)) {
			got = append(got, strings.Join(list, ","))
		}
		if text := strings.Join(got, " "); text != c.want {
			t.Errorf("spread(%q, %q) = %q, want %q", c.now, c.fresh, text, c.want)
		}
	}
}

// A name goes on in the family that answered at the start.
func TestOfFamily(t *testing.T) {
	found := []netip.Addr{netip.MustParseAddr("10.0.0.2"), netip.MustParseAddr("fd00::2")}
	for _, c := range []struct {
		now   string
		found []netip.Addr
		want  []string
	}{
		{"10.0.0.1:80", found, []string{"10.0.0.2:80"}},
		{"[fd00::1]:80", found, []string{"[fd00::2]:80"}},
		{"10.0.0.1:80", found[1:], []string{"[fd00::2]:80"}},
	} {
		if got := ofFamily([]string{c.now}, c.found, "80"); !slices.Equal(got, c.want) {
			t.Errorf("ofFamily(%q, %v) = %q, want %q", c.now, c.found, got, c.want)
		}
	}
}
