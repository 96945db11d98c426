package load

import (
	"crypto/tls"
	"sync/atomic"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

// serveResuming is a TLS server that counts the handshakes that resumed a session.
func serveResuming(t *testing.T, version uint16) (s *server, caFile string, resumed *atomic.Int64) {
	resumed = &atomic.Int64{}
	s, caFile = serveTLSAs(t, &tls.Config{MaxVersion: version, VerifyConnection: func(c tls.ConnectionState) error {
		if c.DidResume {
			resumed.Add(1)
		}
		return nil
	}}, func(x *call) { x.ok("hello") }, "127.0.0.1")
	return s, caFile, resumed
}

// Each connection but the first resumes the session of one before, as the server sees it too. A ticket of TLS 1.3
// comes behind the handshake, with the answer.
func TestResumption(t *testing.T) { onEach(t, testResumption) }

func testResumption(t *testing.T) {
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ca, resumed := serveResuming(t, version)
			cfg := config(t, getTLS(s, plans.TLS{CAFile: ca}), hold(100, ms(200)))
			cfg.KeepAlive, cfg.MaxInFlight = false, 1
			l := run(t, cfg, s)
			wantCounts(t, l, 20, 0, 0, 0)
			if l.Wire.Opened != 20 || l.Wire.Resumed != 19 || resumed.Load() != 19 {
				t.Errorf("opened %d, resumed %d, as the server saw %d, want 20, 19, 19", l.Wire.Opened, l.Wire.Resumed, resumed.Load())
			}
		})
		t.Run(name+" off", func(t *testing.T) {
			t.Parallel()
			s, ca, resumed := serveResuming(t, version)
			cfg := config(t, getTLS(s, plans.TLS{CAFile: ca, NoResume: true}), hold(100, ms(100)))
			cfg.KeepAlive, cfg.MaxInFlight = false, 1
			l := run(t, cfg, s)
			wantCounts(t, l, 10, 0, 0, 0)
			if l.Wire.Opened != 10 || l.Wire.Resumed != 0 || resumed.Load() != 0 {
				t.Errorf("opened %d, resumed %d, as the server saw %d, want 10, 0, 0", l.Wire.Opened, l.Wire.Resumed, resumed.Load())
			}
		})
	}
}

// Hosts of one name have sessions of their own: what one server gave is nothing to another.
func TestResumptionPerHost(t *testing.T) { onEach(t, testResumptionPerHost) }

func testResumptionPerHost(t *testing.T) {
	a, _, _ := serveResuming(t, 0)
	b, _, _ := serveResuming(t, 0)
	req := get(a, b)
	req.Target.URLs[0].Scheme, req.Target.URLs[1].Scheme, req.Target.TLS = "https", "https", plans.TLS{SkipVerify: true, ServerName: "127.0.0.1"}
	cfg := config(t, req, hold(100, ms(200)))
	cfg.KeepAlive, cfg.MaxInFlight = false, 1
	l := run(t, cfg, a, b)
	wantCounts(t, l, 20, 0, 0, 0)
	if l.Wire.Resumed != 18 {
		t.Errorf("resumed %d of %d connections, want all but the first of each host", l.Wire.Resumed, l.Wire.Opened)
	}
}
