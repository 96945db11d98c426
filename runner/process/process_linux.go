package process

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// killWait is how long SIGKILL may take until a process is reported as not to be killed.
const killWait = 5 * time.Second

// An identity tells a process from a later one with the same pid.
type identity struct {
	pid   int
	start uint64 // clock ticks since boot
}

// prepare makes the child lead its own group and die with us, and makes us the parent of its orphans.
func prepare(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	// Without this (Linux before 3.4) orphans are only found by having been seen before.
	_ = unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
}

// awaitExit returns once the child has ended, and leaves it as a zombie so that its pid stays taken.
func awaitExit(pid int) {
	for {
		err := unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if !errors.Is(err, unix.EINTR) {
			return
		}
	}
}

func exitText(s *os.ProcessState) string {
	if s == nil {
		return "an unknown status" // a Sweeper was quicker
	}
	if w, ok := s.Sys().(syscall.WaitStatus); ok && w.Signaled() {
		if name := unix.SignalName(w.Signal()); name != "" {
			return "killed by " + name
		}
		return fmt.Sprintf("killed by signal %d", w.Signal())
	}
	return s.String()
}

// A stat is a line of the process table.
type stat struct {
	identity
	ppid, pgrp, session int
	zombie              bool
}

// identify reads the identity of a child that was not yet reaped.
func identify(pid int) identity {
	s, _ := readStat(pid)
	return identity{pid, s.start}
}

// readStat reads /proc/<pid>/stat. The command name may hold blanks and brackets, so fields count from the last ')'.
func readStat(pid int) (stat, error) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return stat{}, err
	}
	i := bytes.LastIndexByte(b, ')')
	f := strings.Fields(string(b[i+1:]))
	if i < 0 || len(f) < 20 {
		return stat{}, fmt.Errorf("/proc/%d/stat: got %q", pid, b)
	}
	s := stat{identity: identity{pid: pid}, zombie: f[0] == "Z" || f[0] == "X"}
	for _, v := range []struct {
		to    *int
		field int
	}{{&s.ppid, 1}, {&s.pgrp, 2}, {&s.session, 3}} {
		if *v.to, err = strconv.Atoi(f[v.field]); err != nil {
			return stat{}, err
		}
	}
	s.start, err = strconv.ParseUint(f[19], 10, 64)
	return s, err
}

// processTable reads all processes that can be read.
func processTable() map[int]stat {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	table := map[int]stat{}
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil {
			table[pid] = s
		}
	}
	return table
}

// members returns the child and its descendants that are alive, and remembers them.
func (p *Process) members() []identity {
	table := processTable()
	if len(table) == 0 { // no /proc: the group is all there is
		return p.alone()
	}
	var alive []identity
	for _, s := range p.tree(table) {
		if !s.zombie {
			alive = append(alive, s.identity)
		}
	}
	return alive
}

// tree picks the child and its descendants out of the process table, zombies too, and remembers them.
func (p *Process) tree(table map[int]stat) []stat {
	p.mu.Lock()
	defer p.mu.Unlock()
	children := map[int][]stat{}
	for _, s := range table {
		children[s.ppid] = append(children[s.ppid], s)
	}
	var queue, tree []stat
	for _, s := range table {
		if p.ours(s) {
			queue = append(queue, s)
		}
	}
	found := map[identity]bool{}
	for len(queue) > 0 {
		s := queue[0]
		queue = queue[1:]
		if found[s.identity] || s.pid == os.Getpid() {
			continue
		}
		found[s.identity], p.known[s.identity] = true, true
		tree = append(tree, s)
		queue = append(queue, children[s.pid]...)
	}
	return tree
}

// ours tells the child, what was seen before, and orphans that were handed to us. p.mu is held.
func (p *Process) ours(s stat) bool {
	if s.identity == p.root || p.known[s.identity] {
		return true
	}
	if s.ppid != os.Getpid() {
		return false
	}
	return s.pgrp == p.root.pid || !s.zombie && hasCookie(s.pid, p.cookie)
}

func hasCookie(pid int, cookie string) bool {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/environ")
	return err == nil && slices.Contains(strings.Split(string(b), "\x00"), cookie)
}

// end carries out Stop.
func (p *Process) end(grace time.Duration) error {
	left := p.members()
	grouped := p.signalGroup(unix.SIGTERM)
	for _, id := range left {
		if s, err := readStat(id.pid); err == nil && !(grouped && s.pgrp == p.root.pid) {
			kill(id, unix.SIGTERM)
		}
	}
	for deadline, pause := time.Now().Add(grace), 2*time.Millisecond; len(left) > 0 && time.Now().Before(deadline); left = p.members() {
		p.pause(min(pause, time.Until(deadline)))
		pause = min(2*pause, 50*time.Millisecond)
	}
	if err := p.killAll(left); err != nil {
		return err
	}
	<-p.done // the child is dead, so this comes at once
	p.reapOrphans()
	return nil
}

// killAll sends SIGKILL until nothing is left in two looks at the process table: a process may fork while it is being
// killed, and be gone itself before a look comes to it.
func (p *Process) killAll(left []identity) error {
	deadline := time.Now().Add(killWait)
	for empty := 0; empty < 2; left = p.members() {
		if len(left) == 0 {
			empty++
			continue
		}
		empty = 0
		if time.Now().After(deadline) {
			return fmt.Errorf("command %q: %d of its processes cannot be killed, the first is %d", p.cmd.Args[0], len(left), left[0].pid)
		}
		p.signalGroup(unix.SIGKILL)
		for _, id := range left {
			kill(id, unix.SIGKILL)
		}
		p.pause(5 * time.Millisecond)
	}
	return nil
}

// pause waits for d, or shorter when the child ends.
func (p *Process) pause(d time.Duration) {
	done := p.done
	select {
	case <-done: // ended long ago: there are only descendants to wait for
		done = nil
	default:
	}
	select {
	case <-done:
	case <-time.After(d):
	}
}

// signalGroup signals the process group and tells whether it could: only while the child's pid, which is the group's
// id, cannot be another's.
func (p *Process) signalGroup(sig unix.Signal) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.reaped && unix.Kill(-p.root.pid, sig) == nil
}

// kill sends sig to exactly that process; nothing happens when it is gone.
func kill(id identity, sig unix.Signal) {
	fd, err := unix.PidfdOpen(id.pid, 0)
	if err == nil {
		defer unix.Close(fd)
	}
	if s, e := readStat(id.pid); e != nil || s.identity != id {
		return
	}
	if err == nil {
		_ = unix.PidfdSendSignal(fd, sig, nil, 0)
	} else if errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.EPERM) {
		_ = unix.Kill(id.pid, sig)
	}
}

// reapOrphans takes the zombies of descendants that were handed to us. Nobody else waits for them.
func (p *Process) reapOrphans() {
	for _, s := range p.tree(processTable()) {
		if s.zombie && s.ppid == os.Getpid() {
			_, _ = unix.Wait4(s.pid, nil, unix.WNOHANG, nil)
		}
	}
}
