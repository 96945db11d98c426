package load

import (
	"crypto/ecdsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

// writePair writes a certificate and its key to PEM files.
func writePair(t *testing.T, pair tls.Certificate) (certFile, keyFile string) {
	t.Helper()
	dir := t.TempDir()
	certFile, keyFile = filepath.Join(dir, "client.pem"), filepath.Join(dir, "client.key")
	key, err := x509.MarshalPKCS8PrivateKey(pair.PrivateKey.(*ecdsa.PrivateKey))
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: pair.Certificate[0]}, keyFile: {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return certFile, keyFile
}

// A server that asks for a client certificate gets the plan's; without one, or with one that it does not know, its
// refusal is a failure of TLS.
func TestClientCertificate(t *testing.T) { onEach(t, testClientCertificate) }

func testClientCertificate(t *testing.T) {
	clientCA, pair := authorityFor(t, "client.example")
	_, stranger := authorityFor(t, "client.example")
	text, err := os.ReadFile(clientCA)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AppendCertsFromPEM(text)
	for name, version := range map[string]uint16{"1.2": tls.VersionTLS12, "1.3": tls.VersionTLS13} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var shown atomic.Int64
			s, ca := serveTLSAs(t, &tls.Config{MaxVersion: version, ClientCAs: pool, ClientAuth: tls.RequireAnyClientCert,
				VerifyConnection: func(c tls.ConnectionState) error {
					_, err := c.PeerCertificates[0].Verify(x509.VerifyOptions{Roots: pool, KeyUsages: []x509.ExtKeyUsage{x509.ExtKeyUsageAny}})
					if err == nil && c.PeerCertificates[0].DNSNames[0] == "client.example" {
						shown.Add(1)
					}
					return err
				}}, func(x *call) { x.ok("") }, "127.0.0.1")
			certFile, keyFile := writePair(t, pair)
			l := run(t, config(t, getTLS(s, plans.TLS{CAFile: ca, CertFile: certFile, KeyFile: keyFile}), hold(50, ms(200))), s)
			wantCounts(t, l, 10, 0, 0, 0)
			if shown.Load() != l.Wire.Opened {
				t.Errorf("the server saw %d certificates on %d connections", shown.Load(), l.Wire.Opened)
			}
			strangerCert, strangerKey := writePair(t, stranger)
			for what, settings := range map[string]plans.TLS{"none": {CAFile: ca}, "unknown": {CAFile: ca, CertFile: strangerCert, KeyFile: strangerKey}} {
				l := run(t, config(t, getTLS(s, settings), hold(50, ms(100))))
				wantCounts(t, l, 0, 5, 0, 0)
				wantError(t, l, kindTLS, 5)
				if len(l.Errors) == 1 && !strings.HasPrefix(l.Errors[0].Example, "remote error: tls: ") {
					t.Errorf("%s: example %q, want the alert of the server", what, l.Errors[0].Example)
				}
			}
		})
	}
}

// What cannot be read any more when the stage begins is an error of the run.
func TestClientCertificateFiles(t *testing.T) {
	t.Parallel()
	_, pair := authorityFor(t, "x")
	certFile, _ := writePair(t, pair)
	_, err := Resolve(t.Context(), &plans.Target{URLs: []plans.URL{{Scheme: "https", Host: "127.0.0.1", Port: 1}},
		TLS: plans.TLS{CertFile: certFile, KeyFile: "/no/such.key"}})
	if err == nil || !strings.Contains(err.Error(), "/no/such.key") {
		t.Errorf("Resolve = %v, want an error with the file", err)
	}
}
