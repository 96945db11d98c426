package process

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The test binary plays several parts, so that the processes are real ones.
func TestMain(m *testing.M) {
	switch os.Getenv("PROCESS_TEST_PART") {
	case "":
		os.Exit(m.Run())
	case "parent": // starts a child, prints its pid, waits to be killed
		p, err := Start(context.Background(), sh("exec sleep 600"))
		if err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
		fmt.Println(p.PID())
		time.Sleep(time.Hour) // not select {}, which the runtime calls a deadlock
	case "stubborn": // ignores SIGTERM
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		time.Sleep(time.Hour) // not select {}, which the runtime calls a deadlock
	case "family": // one grandchild in the group, one in its own session, one with two forks in between and no environment
		spawn(&syscall.SysProcAttr{}, nil, "sleep", "600")
		spawn(&syscall.SysProcAttr{Setsid: true}, nil, "sleep", "600")
		spawn(&syscall.SysProcAttr{Setsid: true}, []string{"PATH=" + os.Getenv("PATH")}, "sh", "-c", "sleep 600 & wait")
		fmt.Println("ready")
		time.Sleep(time.Hour) // not select {}, which the runtime calls a deadlock
	case "daemon": // leaves a process in its own session behind and ends
		spawn(&syscall.SysProcAttr{Setsid: true}, nil, "sh", "-c", "trap '' TERM; sleep 600 & wait; wait")
		fmt.Println("ready")
	case "sweep":
		sweep()
	}
}

// sweep has a child leave a process behind that nothing tells from a stranger, and prints which processes live before
// and after a Sweep.
func sweep() {
	spawn(nil, nil, "sh", "-c", "sleep 600 & wait") // as a shell that execs perfplan leaves it
	time.Sleep(200 * time.Millisecond)
	s := NewSweeper()
	older := len(processesOf(os.Getpid()))
	p, err := Start(context.Background(), sh("env -i $(command -v setsid) sh -c '/bin/sleep 600 & exit 0'"))
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	<-p.Done()
	err = p.Stop(0)
	before := len(processesOf(os.Getpid()))
	err = errors.Join(err, s.Sweep())
	after := processesOf(os.Getpid())
	fmt.Println(older, before, len(after), err)
	for _, id := range after {
		kill(id, syscall.SIGKILL)
	}
}

// processesOf lists the descendants of a process, zombies too.
func processesOf(pid int) []identity {
	var all []identity
	for _, s := range processTable() {
		if s.ppid == pid {
			all = append(append(all, s.identity), processesOf(s.pid)...)
		}
	}
	return all
}

// An orphan without its parent, its session and its environment is found as our own child. What was there before is
// spared, with its children.
func TestSweep(t *testing.T) {
	t.Parallel()
	p := start(t, part("sweep"))
	if got, want := firstLine(t, p), "2 3 2 <nil>"; got != want {
		t.Errorf("processes before, after the child and after the sweep: %q, want %q", got, want)
	}
}

func spawn(attr *syscall.SysProcAttr, env []string, args ...string) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.SysProcAttr, cmd.Env = attr, env
	if err := cmd.Start(); err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
}

func part(name string) Spec {
	return Spec{Args: []string{os.Args[0]}, Env: append(os.Environ(), "PROCESS_TEST_PART="+name), Talk: true}
}

// firstLine reads what a part prints once it has done its part.
func firstLine(t *testing.T, p *Process) string {
	t.Helper()
	line, err := bufio.NewReader(p.Stdout).ReadString('\n')
	if err != nil {
		t.Fatalf("no line: %v; output: %s", err, p.LogTail(10))
	}
	return strings.TrimSpace(line)
}

// alive tells whether exactly this process still runs.
func alive(id identity) bool {
	s, err := readStat(id.pid)
	return err == nil && s.identity == id && !s.zombie
}

func identities(pids []int) []identity {
	var ids []identity
	for _, pid := range pids {
		ids = append(ids, identify(pid))
	}
	return ids
}

func TestStopKillsTheStubborn(t *testing.T) {
	t.Parallel()
	p := start(t, part("stubborn"))
	firstLine(t, p)
	begin := time.Now()
	if err := p.Stop(100 * time.Millisecond); err != nil {
		t.Error(err)
	}
	if took := time.Since(begin); took < 100*time.Millisecond {
		t.Errorf("Stop took %v, want at least the grace of 100ms", took)
	}
	if p.Exit() != "killed by SIGKILL" {
		t.Errorf("Exit = %q, want killed by SIGKILL", p.Exit())
	}
}

func TestStopEndsTheFamily(t *testing.T) {
	t.Parallel()
	p := start(t, part("family"))
	firstLine(t, p)
	// the child, three of its own and the sleep below the shell
	eventually(t, "five processes", func() bool { return len(p.PIDs()) == 5 })
	ids := identities(p.PIDs())
	if !slices.Contains(ids, p.root) {
		t.Errorf("PIDs = %v lack the child %v", ids, p.root)
	}
	if err := p.Stop(5 * time.Second); err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		if alive(id) {
			t.Errorf("process %v of %v is still alive", id, ids)
		}
		if _, err := readStat(id.pid); err == nil && id != p.root {
			if s, _ := readStat(id.pid); s.identity == id {
				t.Errorf("process %v was left a zombie", id)
			}
		}
	}
}

// A daemon's parent is gone and it ignores SIGTERM: it is found by the environment that it inherited.
func TestStopEndsADaemon(t *testing.T) {
	t.Parallel()
	p := start(t, part("daemon"))
	firstLine(t, p)
	waitDone(t, p)
	eventually(t, "two processes left behind", func() bool { return len(p.PIDs()) == 2 })
	ids := identities(p.PIDs())
	if err := p.Stop(50 * time.Millisecond); err != nil {
		t.Error(err)
	}
	for _, id := range ids {
		if alive(id) {
			t.Errorf("process %v of %v is still alive", id, ids)
		}
	}
}

// Processes that are being made while they are killed, each in its own session and without a parent.
func TestStopEndsAStorm(t *testing.T) {
	t.Parallel()
	p := start(t, sh("i=0; while [ $i -lt 150 ]; do (setsid sleep 600 &); i=$((i+1)); done"))
	eventually(t, "the storm has begun", func() bool { return len(p.PIDs()) > 10 })
	if err := p.Stop(0); err != nil {
		t.Error(err)
	}
	for pid, s := range processTable() {
		if hasCookie(pid, p.cookie) && !s.zombie {
			t.Errorf("process %d is left", pid)
			kill(s.identity, syscall.SIGKILL)
		}
	}
}

// A group whose leader has ended gets its SIGTERM too.
func TestStopEndsALeaderlessGroup(t *testing.T) {
	t.Parallel()
	p := start(t, sh("(trap 'echo term >&2; exit' TERM; echo up >&2; while :; do sleep 0.01; done) & exit 0"))
	waitDone(t, p)
	eventually(t, "the process left behind is up", func() bool { return strings.Contains(p.LogTail(5), "up") })
	if err := p.Stop(10 * time.Second); err != nil {
		t.Error(err)
	}
	if !strings.HasSuffix(p.LogTail(5), "term") {
		t.Errorf("output %q does not end with \"term\"", p.LogTail(5))
	}
}

func TestKillSparesARecycledPID(t *testing.T) {
	t.Parallel()
	p := start(t, sh("exec sleep 600"))
	older := identity{p.PID(), p.root.start - 1} // the pid as an earlier process had it
	kill(older, syscall.SIGKILL)
	time.Sleep(50 * time.Millisecond)
	if !alive(p.root) {
		t.Error("a signal for an earlier owner of the pid hit the later one")
	}
	kill(p.root, syscall.SIGKILL)
	waitDone(t, p)
}

// SIGKILL cannot be handled, so only the system can take the child along.
func TestChildDiesWithAKilledParent(t *testing.T) {
	t.Parallel()
	spec := part("parent")
	cmd := exec.Command(spec.Args[0])
	cmd.Env = spec.Env
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	line, _ := bufio.NewReader(out).ReadString('\n')
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		cmd.Process.Kill()
		t.Fatalf("the parent printed %q", line)
	}
	child := identify(pid)
	if !alive(child) {
		t.Fatalf("child %v does not run", child)
	}
	cmd.Process.Kill()
	cmd.Wait()
	eventually(t, "the child is dead", func() bool { return !alive(child) })
}

// C-34: a name with blanks and brackets does not shift the fields.
func TestStatOfAnOddName(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	name := dir + "/a b) R 1 (c"
	sleep, err := exec.LookPath("sleep")
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(sleep)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, b, 0o755); err != nil {
		t.Fatal(err)
	}
	p := start(t, Spec{Args: []string{name, "600"}})
	s, err := readStat(p.PID())
	if err != nil || s.ppid != os.Getpid() || s.pgrp != p.PID() || s.start == 0 {
		t.Errorf("readStat = %+v, %v, want parent %d and group %d", s, err, os.Getpid(), p.PID())
	}
}

func BenchmarkPIDs(b *testing.B) {
	p, err := Start(b.Context(), sh("exec sleep 600"))
	if err != nil {
		b.Fatal(err)
	}
	defer p.Stop(0)
	for b.Loop() {
		p.PIDs()
	}
	b.ReportMetric(float64(len(processTable())), "processes")
}
