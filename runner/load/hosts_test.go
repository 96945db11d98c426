package load

import (
	"context"
	"net"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

// C-12: forms of addresses, default ports, prefixes.
func TestResolve(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url             plans.URL
		address, author string
	}{
		{plans.URL{Scheme: "http", Host: "127.0.0.1", Port: 8080}, "127.0.0.1:8080", "127.0.0.1:8080"},
		{plans.URL{Scheme: "http", Host: "127.0.0.1", Port: 80}, "127.0.0.1:80", "127.0.0.1"},
		{plans.URL{Scheme: "https", Host: "127.0.0.1", Port: 443}, "127.0.0.1:443", "127.0.0.1"},
		{plans.URL{Scheme: "https", Host: "127.0.0.1", Port: 80}, "127.0.0.1:80", "127.0.0.1:80"},
		{plans.URL{Scheme: "http", Host: "::1", Port: 80}, "[::1]:80", "[::1]"},
		{plans.URL{Scheme: "http", Host: "::1", Port: 8080}, "[::1]:8080", "[::1]:8080"},
		{plans.URL{Scheme: "http", Host: "fe80::1%lo", Port: 8080}, "[fe80::1%lo]:8080", "[fe80::1]:8080"},
	} {
		hosts, err := Resolve(t.Context(), &plans.Target{URLs: []plans.URL{c.url}})
		if err != nil || len(hosts) != 1 || hosts[0].Address != c.address || hosts[0].Authority != c.author || (hosts[0].TLS != nil) != (c.url.Scheme == "https") {
			t.Errorf("Resolve(%+v) = %+v, %v, want %s, %s", c.url, hosts, err, c.address, c.author)
		}
	}
	for _, host := range []string{"no-such-host.invalid", ""} {
		_, err := Resolve(t.Context(), &plans.Target{URLs: []plans.URL{{Scheme: "http", Host: host, Port: 80}}})
		if err == nil || !strings.Contains(err.Error(), strconv.Quote(host)) || strings.Contains(err.Error(), "\n") {
			t.Errorf("Resolve(%q) = %v, want one line with the name", host, err)
		}
	}
	if _, err := Resolve(t.Context(), &plans.Target{Name: "x"}); err == nil {
		t.Error("Resolve without URLs: no error")
	}
}

// Several URLs are all used, in the plan's order.
func TestResolveSeveral(t *testing.T) {
	t.Parallel()
	hosts, err := Resolve(t.Context(), &plans.Target{URLs: []plans.URL{
		{Scheme: "http", Host: "127.0.0.2", Port: 1, Path: "/a"}, {Scheme: "http", Host: "127.0.0.1", Port: 2, Path: "/b"}}})
	if err != nil || len(hosts) != 2 || hosts[0].Address != "127.0.0.2:1" || hosts[0].Prefix != "/a" || hosts[1].Prefix != "/b" {
		t.Errorf("Resolve = %+v, %v", hosts, err)
	}
}

// A name of both families stands for the family that answers.
func TestResolveLocalhost(t *testing.T) {
	t.Parallel()
	s := serve(t, func(x *call) { x.ok("") })
	req := get(s)
	req.Target.URLs[0].Host = "localhost"
	hosts, err := Resolve(t.Context(), req.Target)
	if err != nil || slices.ContainsFunc(hosts, func(h Host) bool { return strings.HasPrefix(h.Address, "[::1]") }) {
		t.Fatalf("Resolve(localhost) = %+v, %v, want no address that nobody listens on", hosts, err)
	}
	l := run(t, config(t, req, hold(50, ms(100))), s)
	wantCounts(t, l, 5, 0, 0, 0)
	if port := strconv.Itoa(req.Target.URLs[0].Port); hosts[0].Authority != net.JoinHostPort("localhost", port) {
		t.Errorf("authority = %q, want localhost:%s", hosts[0].Authority, port)
	}
}

// nameServer answers every question for an IPv4 address with addrs, and others with none.
func nameServer(t *testing.T, addrs ...[4]byte) *net.Resolver {
	return nameServerOf(t, func() ([][4]byte, bool) { return addrs, true })
}

// nameServerOf asks for the addresses each time; not ok: the server fails.
func nameServerOf(t *testing.T, now func() (addrs [][4]byte, ok bool)) *net.Resolver {
	t.Helper()
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { pc.Close() })
	go func() {
		buf := make([]byte, 512)
		for {
			n, from, err := pc.ReadFrom(buf)
			if err != nil {
				return
			}
			end := 12 // the name of the question, RFC 1035, 4.1.2
			for end < n && buf[end] != 0 {
				end += int(buf[end]) + 1
			}
			end += 5 // its end, type and class
			if end > n {
				continue
			}
			answer := append([]byte{buf[0], buf[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, buf[12:end]...)
			addrs, ok := now()
			if !ok {
				answer[3] |= 2 // SERVFAIL
			}
			if ok && buf[end-3] == 1 { // type A
				answer[7] = byte(len(addrs))
				for _, a := range addrs {
					answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, a[0], a[1], a[2], a[3])
				}
			}
			pc.WriteTo(answer, from)
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "udp", pc.LocalAddr().String())
	}}
}

// C-12: a name with several addresses: load goes to all of them in turn.
func TestResolveName(t *testing.T) { onEach(t, testResolveName) }

func testResolveName(t *testing.T) {
	a := serve(t, func(x *call) { x.ok("") })
	port := a.url().Port
	b := serveOn(t, net.JoinHostPort("127.0.0.2", strconv.Itoa(port)), func(x *call) { x.ok("") })
	req := get(a)
	req.Target.URLs[0].Host = "service.test"
	cfg := config(t, get(a), hold(400, ms(500)))
	var err error
	cfg.Request = req
	cfg.Hosts, err = resolve(t.Context(), nameServer(t, [4]byte{127, 0, 0, 2}, [4]byte{127, 0, 0, 1}, [4]byte{127, 0, 0, 2}), req.Target)
	if err != nil || len(cfg.Hosts) != 2 || cfg.Hosts[0].Address != a.Addr().String() || cfg.Hosts[1].Address != b.Addr().String() {
		t.Fatalf("resolve = %+v, %v, want both addresses, in order", cfg.Hosts, err)
	}
	if cfg.Hosts[0].LookedUp <= 0 || cfg.Hosts[1].LookedUp != 0 {
		t.Errorf("looked up in %v and %v, want the time once", cfg.Hosts[0].LookedUp, cfg.Hosts[1].LookedUp)
	}
	l := run(t, cfg, a, b)
	wantCounts(t, l, 200, 0, 0, 0)
	if l.Wire.DNS.Count != 1 || nsOf(l.Wire.DNS.MaxNS) != cfg.Hosts[0].LookedUp {
		t.Errorf("look-ups = %+v, want one of %v", l.Wire.DNS, cfg.Hosts[0].LookedUp)
	}
	if a.arrivals.Load() != 100 || b.arrivals.Load() != 100 || cfg.Hosts[1].Authority != "service.test:"+strconv.Itoa(port) {
		t.Errorf("arrivals %d and %d, authority %q, want 100 each, the name", a.arrivals.Load(), b.arrivals.Load(), cfg.Hosts[1].Authority)
	}
}
