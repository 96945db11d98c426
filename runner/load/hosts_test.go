package load

import (
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
