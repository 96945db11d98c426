package faults

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// through is a client of one connection whose requests go through a proxy.
func through(t *testing.T, address string) (*Proxy, *http.Client) {
	t.Helper()
	p, err := New(address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	tr := &http.Transport{MaxConnsPerHost: 1, TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		DialContext: func(context.Context, string, string) (net.Conn, error) { return net.Dial("tcp", p.Address()) }}
	t.Cleanup(tr.CloseIdleConnections)
	return p, &http.Client{Transport: tr}
}

func get(c *http.Client, url string) (took time.Duration, body string, err error) {
	begin := time.Now()
	resp, err := c.Get(url)
	if err != nil {
		return time.Since(begin), "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return time.Since(begin), string(b), err
}

func TestProxy(t *testing.T) {
	t.Parallel()
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		io.WriteString(w, strings.Repeat("x", 200_000))
	})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	t.Cleanup(plain.Close)
	t.Cleanup(secure.Close)
	for _, s := range []*httptest.Server{plain, secure} {
		p, c := through(t, strings.TrimPrefix(strings.TrimPrefix(s.URL, "http://"), "https://"))
		if _, body, err := get(c, s.URL); err != nil || len(body) != 200_000 {
			t.Fatalf("%s: %d bytes, %v", s.URL, len(body), err)
		}
		p.Set(Fault{Delay: 120 * time.Millisecond})
		for range 3 {
			if took, body, err := get(c, s.URL); err != nil || took < 120*time.Millisecond || len(body) != 200_000 {
				t.Errorf("%s with a delay: %v, %d bytes, %v", s.URL, took, len(body), err)
			}
		}
		p.Set(Fault{BytesPerS: 1_000_000})
		if took, _, err := get(c, s.URL); err != nil || took < 190*time.Millisecond {
			t.Errorf("%s with 1 MB/s: 200 kB in %v, %v", s.URL, took, err)
		}
		begin := time.Now()
		p.Set(Fault{StallEvery: time.Hour, StallFor: 500 * time.Millisecond})
		if _, _, err := get(c, s.URL); err != nil || time.Since(begin) < 500*time.Millisecond {
			t.Errorf("%s with a stall until 500ms: answered after %v, %v", s.URL, time.Since(begin), err)
		}
	}
}

// Exactly the share is reset, and each such request ends as an error of the connection.
func TestResets(t *testing.T) {
	t.Parallel()
	served := 0
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { served++ }))
	t.Cleanup(s.Close)
	p, c := through(t, strings.TrimPrefix(s.URL, "http://"))
	p.Set(Fault{ResetShare: 0.25})
	failed := 0
	for range 40 {
		req, _ := http.NewRequest("POST", s.URL, strings.NewReader("x")) // which net/http does not send again
		resp, err := c.Do(req)
		if err != nil {
			failed++
			continue
		}
		resp.Body.Close()
	}
	if requests, resets := p.Counts(); failed != 10 || served != 30 || requests != 40 || resets != 10 {
		t.Errorf("%d failed, %d served; %d requests, %d reset, want 10, 30, 40, 10", failed, served, requests, resets)
	}
}

func TestUnixAndNobody(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	s := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { io.WriteString(w, "here") })}
	go s.Serve(l)
	t.Cleanup(func() { s.Close() })
	_, c := through(t, "unix:"+path)
	if _, body, err := get(c, "http://x/"); err != nil || body != "here" {
		t.Errorf("unix: %q, %v", body, err)
	}
	_, c = through(t, "127.0.0.1:1")
	if _, _, err := get(c, "http://x/"); err == nil {
		t.Error("nobody behind the proxy gave no error")
	}
}

func TestClose(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	p, err := New(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c, err := net.Dial("tcp", p.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.Write([]byte("x"))
	p.Close() // does not wait for what is open
	if _, err := c.Read(make([]byte, 1)); err == nil {
		t.Error("the connection is still open")
	}
	p.Close()
}
