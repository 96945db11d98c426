package load

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
)

// authorityFor makes a CA and a certificate of it for the names, and returns the
// CA's PEM file.
func authorityFor(t *testing.T, names ...string) (caFile string, cert tls.Certificate) {
	t.Helper()
	make1 := func(template, parent *x509.Certificate, signer *ecdsa.PrivateKey) ([]byte, *ecdsa.PrivateKey) {
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		if signer == nil {
			signer = key
		}
		der, err := x509.CreateCertificate(rand.Reader, template, parent, &key.PublicKey, signer)
		if err != nil {
			t.Fatal(err)
		}
		return der, key
	}
	ca := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test CA"}, IsCA: true,
		BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	caDER, caKey := make1(ca, ca, nil)
	leaf := &x509.Certificate{SerialNumber: big.NewInt(2), DNSNames: names, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}
	for _, name := range names {
		if ip := net.ParseIP(name); ip != nil {
			leaf.IPAddresses = append(leaf.IPAddresses, ip)
		}
	}
	der, key := make1(leaf, ca, caKey)
	caFile = filepath.Join(t.TempDir(), "ca.pem")
	text := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: caDER})
	if err := os.WriteFile(caFile, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return caFile, tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// serveTLS starts a server with a certificate for the names.
func serveTLS(t *testing.T, maxVersion uint16, answer func(*call), names ...string) (s *server, caFile string) {
	return serveTLSAs(t, &tls.Config{MaxVersion: maxVersion}, answer, names...)
}

// serveTLSAs is serveTLS with more of the server's settings.
func serveTLSAs(t *testing.T, cfg *tls.Config, answer func(*call), names ...string) (s *server, caFile string) {
	caFile, cert := authorityFor(t, names...)
	cfg.Certificates = []tls.Certificate{cert}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveListener(t, tls.NewListener(l, cfg), answer), caFile
}

func getTLS(s *server, t plans.TLS) *plans.Request {
	req := get(s)
	req.Target.URLs[0].Scheme, req.Target.TLS = "https", t
	return req
}

func TestTLS(t *testing.T) { onEach(t, testTLS) }

func testTLS(t *testing.T) {
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ca := serveTLS(t, version, func(x *call) { x.ok(strings.Repeat("x", 100_000)) }, "127.0.0.1")
			cfg := config(t, getTLS(s, plans.TLS{CAFile: ca}), hold(50, ms(400)))
			cfg.MaxInFlight = 2
			l := run(t, cfg, s)
			wantCounts(t, l, 20, 0, 0, 0)
			if l.Wire.Opened > 2 || l.Wire.TLS.Count != l.Wire.Opened || l.Wire.Connect.Count != l.Wire.Opened || l.Wire.BodyBytes != 2_000_000 {
				t.Errorf("opened %d, TLS times %d, connect times %d, body bytes %d, want at most 2, as many, 2000000",
					l.Wire.Opened, l.Wire.TLS.Count, l.Wire.Connect.Count, l.Wire.BodyBytes)
			}
		})
	}
}

// Certificates are verified unless the plan says otherwise.
func TestTLSVerification(t *testing.T) { onEach(t, testTLSVerification) }

func testTLSVerification(t *testing.T) {
	s, ca := serveTLS(t, 0, func(x *call) { x.ok("") }, "right.example")
	otherCA, _ := authorityFor(t, "x")
	for _, c := range []struct {
		name string
		tls  plans.TLS
		ok   bool
		want string
	}{
		{"wrong name", plans.TLS{CAFile: ca}, false, "127.0.0.1"},
		{"server name", plans.TLS{CAFile: ca, ServerName: "right.example"}, true, ""},
		{"wrong server name", plans.TLS{CAFile: ca, ServerName: "wrong.example"}, false, "wrong.example"},
		{"system's roots", plans.TLS{ServerName: "right.example"}, false, "unknown authority"},
		{"another CA", plans.TLS{CAFile: otherCA, ServerName: "right.example"}, false, "unknown authority"},
		{"verification off", plans.TLS{SkipVerify: true}, true, ""},
	} {
		l := run(t, config(t, getTLS(s, c.tls), hold(20, ms(100))))
		if c.ok {
			wantCounts(t, l, 2, 0, 0, 0)
			continue
		}
		wantCounts(t, l, 0, 2, 0, 0)
		wantError(t, l, kindTLS, 2)
		if len(l.Errors) == 1 && !strings.Contains(l.Errors[0].Example, c.want) {
			t.Errorf("%s: example %q, want %q in it", c.name, l.Errors[0].Example, c.want)
		}
		if l.Wire.Attempts != 0 {
			t.Errorf("%s: %d requests went out", c.name, l.Wire.Attempts)
		}
	}
}

// https to a server that speaks no TLS, and to one that goes away.
func TestTLSFaults(t *testing.T) { onEach(t, testTLSFaults) }

func testTLSFaults(t *testing.T) {
	for name, greet := range map[string]func(net.Conn){
		"http": func(c net.Conn) {
			c.Read(make([]byte, 1))
			c.Write([]byte("HTTP/1.1 400 Bad Request\r\n\r\n"))
			time.Sleep(50 * time.Millisecond)
			c.Close()
		},
		"close": func(c net.Conn) { c.Close() },
	} {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				go greet(c)
			}
		}()
		r := run(t, config(t, getTLS(&server{Listener: l}, plans.TLS{SkipVerify: true}), hold(20, ms(100))))
		wantCounts(t, r, 0, 2, 0, 0)
		if len(r.Errors) != 1 || r.Errors[0].Kind != kindTLS {
			t.Errorf("%s: errors = %+v, want tls", name, r.Errors)
		}
	}
}

// A TLS connection closed by the server while it was idle is replaced; its session
// tickets are no reason to.
func TestTLSIdle(t *testing.T) { onEach(t, testTLSIdle) }

func testTLSIdle(t *testing.T) {
	for name, idle := range map[string]time.Duration{"stays": time.Minute, "closes": 20 * time.Millisecond} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			done := t.Context().Done()
			s, _ := serveTLS(t, 0, func(x *call) {
				x.ok("hi")
				if idle < time.Minute {
					select {
					case <-time.After(idle):
					case <-done:
					}
					x.close()
				}
			}, "127.0.0.1")
			cfg := config(t, getTLS(s, plans.TLS{SkipVerify: true}), hold(1, 2*time.Second))
			cfg.MaxInFlight = 1
			l := run(t, cfg, s)
			wantCounts(t, l, 2, 0, 0, 0)
			if idle < time.Minute && l.Wire.Opened != 2 || idle == time.Minute && l.Wire.Opened != 1 {
				t.Errorf("opened %d", l.Wire.Opened)
			}
		})
	}
}

func TestTLSFiles(t *testing.T) {
	t.Parallel()
	empty := filepath.Join(t.TempDir(), "empty.pem")
	if err := os.WriteFile(empty, []byte("no certificate"), 0o600); err != nil {
		t.Fatal(err)
	}
	for file, want := range map[string]string{"/no/such/file.pem": "/no/such/file.pem", empty: "no certificate in the CA file"} {
		_, err := Resolve(t.Context(), &plans.Target{URLs: []plans.URL{{Scheme: "https", Host: "127.0.0.1", Port: 1}}, TLS: plans.TLS{CAFile: file}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Resolve with CA %q = %v, want %q", file, err, want)
		}
	}
}
