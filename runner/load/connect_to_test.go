package load

import (
	"crypto/tls"
	"net"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

// Load is spread evenly over several addresses of one URL, each a host of its own.
func TestConnectToSeveral(t *testing.T) { onEach(t, testConnectToSeveral) }

func testConnectToSeveral(t *testing.T) {
	var other atomic.Int64
	answer := func(x *call) {
		if x.host != "shop.example" {
			other.Add(1)
		}
		x.ok("")
	}
	a, b := serve(t, answer), serve(t, answer)
	req := get(a)
	req.Target.URLs[0].Host, req.Target.URLs[0].Port = "shop.example", 80
	req.Target.To = []plans.URL{a.url(), b.url()}
	l := run(t, config(t, req, hold(100, ms(200))), a, b)
	wantCounts(t, l, 20, 0, 0, 0)
	if a.arrivals.Load() != 10 || b.arrivals.Load() != 10 || other.Load() != 0 {
		t.Errorf("servers saw %d and %d requests, %d of them for another host, want 10 each, none", a.arrivals.Load(), b.arrivals.Load(), other.Load())
	}
	if len(l.Hosts) != 2 || l.Hosts[0].Address != a.Addr().String() || l.Hosts[1].Address != b.Addr().String() || l.Hosts[1].Completed != 10 {
		t.Errorf("hosts = %+v, want both addresses with 10 each", l.Hosts)
	}
}

// Connections go to another address; Host, the name that TLS asks for and the verification stay those of the URL.
func TestConnectTo(t *testing.T) { onEach(t, testConnectTo) }

func testConnectTo(t *testing.T) {
	for _, at := range []string{"127.0.0.1", "::1"} {
		listener, err := net.Listen("tcp", net.JoinHostPort(at, "0"))
		if err != nil {
			t.Logf("cannot listen on %s: %v", at, err)
			continue
		}
		caFile, cert := authorityFor(t, "shop.example")
		var mu sync.Mutex
		names := map[string]int{}
		cfg := &tls.Config{Certificates: []tls.Certificate{cert}, GetConfigForClient: func(h *tls.ClientHelloInfo) (*tls.Config, error) {
			mu.Lock()
			defer mu.Unlock()
			names[h.ServerName]++
			return nil, nil
		}}
		s := serveListener(t, tls.NewListener(listener, cfg), func(x *call) {
			mu.Lock()
			names["host "+x.host]++
			mu.Unlock()
			x.ok("")
		})
		req := getTLS(s, plans.TLS{CAFile: caFile})
		req.Target.To = []plans.URL{{Host: at, Port: s.url().Port}}
		req.Target.URLs[0].Host, req.Target.URLs[0].Port = "shop.example", 443
		run1 := config(t, req, hold(100, ms(100)))
		run1.MaxInFlight = 1
		l := run(t, run1, s)
		wantCounts(t, l, 10, 0, 0, 0)
		mu.Lock()
		if int64(names["shop.example"]) != l.Wire.Opened || names["host shop.example"] != 10 || len(names) != 2 || l.Hosts[0].Address != s.Addr().String() {
			t.Errorf("server saw %v; host %q, want %d handshakes and 10 requests for shop.example, %q", names, l.Hosts[0].Address, l.Wire.Opened, s.Addr())
		}
		mu.Unlock()

		req.Target.URLs[0].Host = "other.example" // the certificate is not for it
		l = run(t, config(t, req, hold(100, ms(50))))
		wantError(t, l, kindTLS, 5)
	}
}
