package load

import (
	"net"
	"net/netip"
	"slices"
	"strconv"
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
	if c := d.Changes[0]; c.Host != 0 || c.From != old.Addr().String() || c.To != next.Addr().String() || c.TNS <= 0 || l.Hosts[0].Address != c.From {
		t.Errorf("change = %+v, host %q", c, l.Hosts[0].Address)
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
	long := config(t, req, hold(100, 20*time.Second))
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

func TestRepoint(t *testing.T) {
	for _, c := range []struct{ now, fresh, want []string }{
		{[]string{"a", "b"}, []string{"a", "b"}, []string{"a", "b"}},
		{[]string{"a", "b"}, []string{"b", "a"}, []string{"a", "b"}},
		{[]string{"a", "b"}, []string{"b", "c"}, []string{"c", "b"}},
		{[]string{"a", "b"}, []string{"b"}, []string{"b", "b"}},
		{[]string{"b", "b"}, []string{"a", "b"}, []string{"b", "a"}},
		{[]string{"a", "b"}, []string{"a", "c", "d"}, []string{"a", "c"}},
		{[]string{"a", "b", "c"}, []string{"x", "y"}, []string{"x", "y", "x"}},
		{[]string{"a"}, []string{"z"}, []string{"z"}},
	} {
		if got := repoint(c.now, c.fresh); !slices.Equal(got, c.want) {
			t.Errorf("repoint(%q, %q) = %q, want %q", c.now, c.fresh, got, c.want)
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
