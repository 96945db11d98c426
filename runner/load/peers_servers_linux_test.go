//go:build amd64 || arm64

package load

import (
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// A benchRig has the servers that the tools compete on.
type benchRig struct {
	urls    map[string]string
	servers []int // process ids
}

// benchServers starts the servers, on a core of their own.
func benchServers(t *testing.T) *benchRig {
	s := &benchRig{urls: map[string]string{}}
	address := freeAddress(t)
	s.urls["sink"] = "http://" + address + "/"
	s.child(t, []string{sinkEnv + "=" + address, benchEnv + "="}, os.Args[0], "-test.run=^TestBenchSink$", "-test.timeout=0")
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		nginx = "/usr/sbin/nginx"
	}
	if _, err := os.Stat(nginx); err == nil {
		plain, secure, dir := freeAddress(t), freeAddress(t), t.TempDir()
		certificateFiles(t, dir)
		conf := filepath.Join(dir, "nginx.conf")
		text := fmt.Sprintf(`daemon off; worker_processes 1; pid %[1]s/pid; error_log %[1]s/error.log; events { worker_connections 8192; }
http { access_log off; keepalive_requests 1000000000; keepalive_timeout 3600;
server { listen %[2]s backlog=4096; location / { return 200 "hello"; } }
server { listen %[3]s ssl backlog=4096; ssl_certificate %[1]s/cert.pem; ssl_certificate_key %[1]s/key.pem; location / { return 200 "hello"; } } }`, dir, plain, secure)
		if err := os.WriteFile(conf, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s.child(t, nil, nginx, "-c", conf)
		s.urls["nginx"], s.urls["nginx-tls"] = "http://"+plain+"/", "https://"+secure+"/"
	}
	s.urls["kts"] = s.knownServer(t, "fixed d=0s")
	s.urls["kts-stalls"] = s.knownServer(t, "bimodal d=0s d2=100ms m=200")
	for _, url := range s.urls {
		awaitServer(t, url)
	}
	return s
}

// awaitServer waits until a server listens.
func awaitServer(t *testing.T, url string) {
	_, address, _ := strings.Cut(strings.TrimSuffix(url, "/"), "://")
	for range 100 {
		c, err := net.Dial("tcp", address)
		if err == nil {
			c.Close()
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatalf("no server at %s", address)
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// child starts a server. It ends with the test.
func (s *benchRig) child(t *testing.T, env []string, args ...string) {
	cmd := exec.Command("taskset", append([]string{"-c", "0"}, args...)...)
	cmd.Env, cmd.Stderr = append(os.Environ(), env...), os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.servers = append(s.servers, cmd.Process.Pid)
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
}

// TestBenchSink is the process of a server that does as little as a server can: one thread, one answer.
func TestBenchSink(t *testing.T) {
	at := os.Getenv(sinkEnv)
	if at == "" {
		t.Skip("a part of TestBenchEngine")
	}
	runtime.LockOSThread()
	address, err := socketAddress(at)
	if err != nil {
		t.Fatal(err)
	}
	listen, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC, 0)
	if err == nil {
		err = unix.Bind(listen, address)
	}
	if err == nil {
		err = unix.Listen(listen, 4096)
	}
	p, pollErr := newPoller()
	if err != nil || pollErr != nil {
		t.Fatal(err, pollErr)
	}
	p.add(listen, int32(listen), 0)
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 5\r\n\r\nhello")
	var rx receiver
	for buf := make([]byte, 4096); ; {
		n, err := p.wait(int64(time.Second), false)
		if err != nil {
			t.Fatal(err)
		}
		for i := range n {
			fd := int(p.events[i].Fd)
			if fd == listen {
				for {
					c, _, err := unix.Accept4(listen, unix.SOCK_NONBLOCK|unix.SOCK_CLOEXEC)
					if err != nil {
						break
					}
					unix.SetsockoptInt(c, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
					p.add(c, int32(c), 0)
				}
				continue
			}
			if p.events[i].Events&unix.EPOLLIN == 0 {
				continue
			}
			if got, _, errno := rx.receive(fd, buf); errno != 0 && errno != syscall.EAGAIN || errno == 0 && got == 0 {
				unix.Close(fd)
			} else if got > 0 {
				write(fd, answer)
			}
		}
	}
}

func certificateFiles(t *testing.T, dir string) {
	_, cert := authorityFor(t, "127.0.0.1")
	key, err := x509.MarshalPKCS8PrivateKey(cert.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	for name, block := range map[string]*pem.Block{"cert.pem": {Type: "CERTIFICATE", Bytes: cert.Certificate[0]}, "key.pem": {Type: "PRIVATE KEY", Bytes: key}} {
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
