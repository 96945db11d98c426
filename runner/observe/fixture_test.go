package observe

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// A machine is a /proc in a folder, so that tests can say what the kernel says.
type machine struct {
	t   *testing.T
	dir string
}

const selfPID = 77

// newMachine has 2 cores, one disk, two interfaces and perfplan.
func newMachine(t *testing.T) machine {
	m := machine{t, t.TempDir()}
	m.cpu(0, 0, 0)
	m.write("meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable: 400 kB\nBuffers: 10 kB\nCached: 200 kB\nSwapTotal: 50 kB\nSwapFree: 20 kB\n")
	m.vmstat(map[string]int{"pgpgin": 0, "pgpgout": 0, "pswpin": 0, "pswpout": 0, "oom_kill": 0})
	m.pressure(0, 0, 0)
	m.disk(0, 0)
	m.net(0, 0, 0)
	m.tcp(0, 0, 0, 0)
	m.process(selfPID, "perfplan", 1, 10, ticks{})
	if err := os.Symlink(fmt.Sprint(selfPID), filepath.Join(m.dir, "self")); err != nil {
		t.Fatal(err)
	}
	return m
}

func (m machine) write(name, content string) {
	m.t.Helper()
	path := filepath.Join(m.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		m.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

func (m machine) remove(name string) {
	m.t.Helper()
	if err := os.RemoveAll(filepath.Join(m.dir, name)); err != nil {
		m.t.Fatal(err)
	}
}

// cpu sets the times of the machine, in ticks of 10 ms.
func (m machine) cpu(user, idle, iowait int) {
	m.write("stat", fmt.Sprintf("cpu  %d 0 0 %d %d 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\n"+
		"intr 50 1 2\nctxt 100\nbtime 1700000000\nprocesses 9\nprocs_running 3\nprocs_blocked 1\nsoftirq 0 0 0 0 0 0 0 0 0 0 0\n", user, idle, iowait))
}

func (m machine) vmstat(v map[string]int) {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(v)) {
		fmt.Fprintf(&b, "%s %d\n", key, v[key])
	}
	m.write("vmstat", b.String())
}

// pressure sets the stalled times in microseconds.
func (m machine) pressure(cpu, memory, io int) {
	for name, v := range map[string]int{"cpu": cpu, "memory": memory, "io": io} {
		m.write("pressure/"+name, fmt.Sprintf("some avg10=0.00 avg60=0.00 avg300=0.00 total=%d\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", v))
	}
}

// disk sets the busy and queued time in milliseconds.
func (m machine) disk(busy, queued int) {
	m.write("diskstats", fmt.Sprintf(" 7 0 loop0 9 0 9 9 9 0 9 9 9 99999 99999\n 254 0 vda 1 0 8 1 1 0 8 1 0 %d %d\n", busy, queued))
}

func (m machine) net(bytes, drops, errs int) {
	m.write("net/dev", fmt.Sprintf("Inter-| Receive | Transmit\n face |bytes\n    lo: %[1]d 100 0 0 0 0 0 0 %[1]d 100 0 0 0 0 0 0\n  eth0: %[1]d %[4]d %[3]d %[2]d 0 0 0 0 %[1]d 100 0 0 0 0 0 0\n",
		bytes, drops, errs, 100+bytes/100))
}

func (m machine) tcp(sent, again, overflows, backlog int) {
	m.write(fmt.Sprintf("%d/net/snmp", selfPID), fmt.Sprintf("Tcp: OutSegs RetransSegs\nTcp: %d %d\n", sent, again))
	m.write(fmt.Sprintf("%d/net/netstat", selfPID), fmt.Sprintf("TcpExt: ListenOverflows TCPBacklogDrop\nTcpExt: %d %d\n", overflows, backlog))
}

type ticks struct{ user, system, childUser, childSystem int }

func (m machine) process(pid int, name string, ppid, start int, c ticks) {
	m.state(pid, name, "S", ppid, start, c)
}

// state writes a process of 2 threads, 100 pages and 3 descriptors.
func (m machine) state(pid int, name, state string, ppid, start int, c ticks) {
	m.stat(pid, name, state, ppid, start, c)
	for fd := range 3 {
		m.write(fmt.Sprintf("%d/fd/%d", pid, fd), "")
	}
}

func (m machine) stat(pid int, name, state string, ppid, start int, c ticks) {
	m.write(fmt.Sprintf("%d/stat", pid), fmt.Sprintf("%d (%s) %s %d %d %d 0 -1 4194304 0 0 0 0 %d %d %d %d 20 0 2 0 %d 1000000 100"+
		strings.Repeat(" 0", 28)+"\n", pid, name, state, ppid, pid, pid, c.user, c.system, c.childUser, c.childSystem, start))
}

// A clock drives a sampler over a machine second by second.
type clock struct {
	*Sampler
	begin, now time.Time
}

func (m machine) sample(trees ...Tree) *clock {
	s := Start(Config{Proc: m.dir, Sys: filepath.Join(m.dir, "sys"), Processes: func() []Tree { return trees }})
	s.Stop()
	at := s.readings[0].at
	m.t.Cleanup(s.Stop)
	return &clock{s, at, at}
}

func (c *clock) tick() {
	c.now = c.now.Add(time.Second)
	c.read(c.now)
}
