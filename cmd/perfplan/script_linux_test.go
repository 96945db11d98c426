package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// TestMain lets scripts start this test binary as a target, and as perfplan-tested, which has the race detector when the
// tests have it. What they start as perfplan is built without: the charts of one report take it ten seconds.
func TestMain(m *testing.M) {
	testscript.Main(built{m}, map[string]func(){"perfplan-tested": main, "testserver": testserver})
}

// built builds perfplan before the tests run.
type built struct{ *testing.M }

func (b built) Run() int {
	dir, err := os.MkdirTemp("", "perfplan-bin")
	if err != nil {
		log.Print(err)
		return 1
	}
	defer os.RemoveAll(dir)
	build := exec.Command("go", "build", "-buildvcs=false", "-o", dir, ".")
	build.Stdout, build.Stderr = os.Stderr, os.Stderr
	if err := build.Run(); err != nil {
		log.Printf("go build: %v", err)
		return 1
	}
	os.Setenv("PATH", dir+string(filepath.ListSeparator)+os.Getenv("PATH"))
	return b.M.Run()
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(env *testscript.Env) error {
			env.Setenv("NO_COLOR", "")
			env.Setenv("TERM", "xterm")
			env.Setenv("LC_ALL", "C.UTF-8")
			env.Setenv("GORACE", "atexit_sleep_ms=0") // the race detector's rest of a second at each exit
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"closedport": closedPort,
			"exits":      exits,
			"freeport":   freePort,
			"gone":       gone,
			"json":       jsonValue,
			"lines":      lines,
			"serve":      serve,
			"serveonce":  serveOnce,
			"signalled":  signalled,
		},
	})
}

// exits N program [args...] runs a program and checks its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits code program [args...]")
	}
	checkExit(ts, args[0], ts.Exec(args[1], args[2:]...))
}

func checkExit(ts *testscript.TestScript, want string, err error) {
	got := 0
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		got = exited.ExitCode()
		if got < 0 {
			ts.Fatalf("ended by %v, want exit code %s", exited, want)
		}
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if strconv.Itoa(got) != want {
		ts.Fatalf("exit code %d, want %s", got, want)
	}
}

// signalled N TEXT SIGNALS perfplan [args...] starts a program, sends it the signals (INT, TERM or QUIT, with commas between)
// once its standard error has said TEXT, a further one with each line after that, and checks its exit code.
func signalled(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: signalled code text signals program [args...]")
	}
	path, err := exec.LookPath(args[3])
	ts.Check(err)
	cmd := exec.Command(path, args[4:]...)
	cmd.Dir = ts.Getenv("WORK")
	for _, name := range []string{"PATH", "WORK", "TMPDIR", "HOME", "TERM", "NO_COLOR", "LC_ALL", "GORACE", "URL", "PORT"} {
		cmd.Env = append(cmd.Env, name+"="+ts.Getenv(name))
	}
	stderr, err := cmd.StderrPipe()
	ts.Check(err)
	ts.Check(cmd.Start())
	signals, begun := strings.Split(args[2], ","), false
	for in := bufio.NewScanner(stderr); in.Scan(); {
		ts.Logf("%s", in.Text())
		begun = begun || strings.Contains(in.Text(), args[1])
		if !begun || len(signals) == 0 {
			continue
		}
		sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "QUIT": syscall.SIGQUIT}[signals[0]]
		if sig == nil {
			ts.Fatalf("unknown signal %q", signals[0])
		}
		ts.Check(cmd.Process.Signal(sig))
		signals = signals[1:]
	}
	err = cmd.Wait()
	if len(signals) > 0 {
		ts.Fatalf("it ended before it got the signals %v", signals)
	}
	checkExit(ts, args[0], err)
}

// serve NAME BEHAVIOUR starts a server on a free loopback port and puts its URL into the variable NAME.
func serve(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: serve name behaviour")
	}
	b, err := parseBehaviour(args[1])
	ts.Check(err)
	server := httptest.NewServer(b)
	ts.Setenv(args[0], server.URL)
	ts.Defer(func() {
		server.CloseClientConnections()
		server.Close()
	})
}

// closedport NAME puts the URL of a port that refuses connections into the variable NAME: it is bound, so nobody else
// gets it, but does not listen.
func closedPort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: closedport name")
	}
	ts.Setenv(args[0], fmt.Sprintf("http://127.0.0.1:%d", reserve(ts, 0)))
}

// reserve binds a port, 0 for any, until the script ends, without listening on it.
func reserve(ts *testscript.TestScript, port int) int {
	fd, err := syscall.Socket(syscall.AF_INET, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC, 0)
	ts.Check(err)
	ts.Defer(func() { syscall.Close(fd) })
	ts.Check(syscall.SetsockoptInt(fd, syscall.SOL_SOCKET, syscall.SO_REUSEADDR, 1))
	ts.Check(syscall.Bind(fd, &syscall.SockaddrInet4{Addr: [4]byte{127, 0, 0, 1}, Port: port}))
	address, err := syscall.Getsockname(fd)
	ts.Check(err)
	return address.(*syscall.SockaddrInet4).Port
}

// serveonce NAME puts the URL of a server that answers one request, and before that stops to listen, into the variable
// NAME: it is ready, and every later connection is refused.
func serveOnce(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: serveonce name")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.Close()
		w.Header().Set("Connection", "close")
	})}
	ts.Defer(func() { server.Close() })
	ts.Setenv(args[0], "http://"+l.Addr().String())
	go server.Serve(l)
}

// freeport NAME puts a port that a target may listen on into the variable NAME. It is below the ports that the system
// gives to clients, so that no connection of another test takes it.
func freePort(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: freeport name")
	}
	for range 1000 {
		port := strconv.Itoa(20000 + rand.IntN(12000))
		if l, err := net.Listen("tcp", "127.0.0.1:"+port); err == nil {
			l.Close()
			ts.Setenv(args[0], port)
			return
		}
	}
	ts.Fatalf("found no free port")
}

// json FILE KEY WANT compares a value of a JSON file, which may be "stdout", at a path like stages.0.name. An absent
// key is "absent", and len is the length of an array.
func jsonValue(ts *testscript.TestScript, neg bool, args []string) {
	if len(args) != 3 {
		ts.Fatalf("usage: json file key want")
	}
	dec := json.NewDecoder(strings.NewReader(readGlob(ts, args[0])))
	dec.UseNumber()
	var v any
	ts.Check(dec.Decode(&v))
	for key := range strings.SplitSeq(args[1], ".") {
		switch parent := v.(type) {
		case map[string]any:
			value, ok := parent[key]
			if !ok {
				value = "absent"
			}
			v = value
		case []any:
			if key == "len" {
				v = len(parent)
				continue
			}
			i, err := strconv.Atoi(key)
			if err != nil || i >= len(parent) {
				ts.Fatalf("%s: an array of %d entries has no %q", args[1], len(parent), key)
			}
			v = parent[i]
		default:
			ts.Fatalf("%s: %v has no %q", args[1], parent, key)
		}
	}
	got := fmt.Sprint(v)
	if v == nil {
		got = "null"
	}
	if (got == args[2]) == neg {
		ts.Fatalf("%s = %s, want %s (negated: %v)", args[1], got, args[2], neg)
	}
}

// readGlob reads the one file that a pattern finds, or "stdout" or "stderr".
func readGlob(ts *testscript.TestScript, pattern string) string {
	if pattern == "stdout" || pattern == "stderr" {
		return ts.ReadFile(pattern)
	}
	found, err := filepath.Glob(ts.MkAbs(pattern))
	ts.Check(err)
	if len(found) != 1 {
		ts.Fatalf("%s: found %d files, want 1", pattern, len(found))
	}
	return ts.ReadFile(found[0])
}

// lines FILE N checks how many lines a file has, which may be "stdout" or "stderr".
func lines(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: lines file count")
	}
	if got := bytes.Count([]byte(readGlob(ts, args[0])), []byte("\n")); strconv.Itoa(got) != args[1] {
		ts.Fatalf("%s has %d lines, want %s", args[0], got, args[1])
	}
}

// gone FILE checks that the process whose id is in a file has ended, or ends soon.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: gone file")
	}
	pid, err := strconv.Atoi(strings.TrimSpace(ts.ReadFile(args[0])))
	ts.Check(err)
	for range 500 {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		if errors.Is(err, fs.ErrNotExist) || strings.Contains(string(stat), ") Z ") {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	ts.Fatalf("process %d is still there", pid)
}
