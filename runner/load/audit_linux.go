package load

import (
	"bytes"
	"cmp"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/perfplan/perfplan/runner/result"
)

func readUsage() usage {
	u := usage{runDelay: runDelay(), pressure: pressure("/proc/pressure/cpu"), tcp: tcpCounters("/proc/self/net")}
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) == nil {
		cpu := float64(ru.Utime.Nano()+ru.Stime.Nano()) / 1e9
		u.cpu = &cpu
	}
	u.steal, u.ticks = machineTicks()
	return u
}

// runDelay sums the second figure of each thread's schedstat: ns that it was
// ready to run and had no core. Threads that ended are missing.
func runDelay() *float64 {
	files, _ := filepath.Glob("/proc/self/task/*/schedstat")
	sum, known := 0.0, false
	for _, name := range files {
		text, err := os.ReadFile(name)
		fields := bytes.Fields(text)
		if err != nil || len(fields) < 2 {
			continue
		}
		if ns, err := strconv.ParseFloat(string(fields[1]), 64); err == nil {
			sum += ns / 1e9
			known = true
		}
	}
	if !known {
		return nil
	}
	return &sum
}

// machineTicks reads the first line of /proc/stat: user nice system idle iowait
// irq softirq steal guest guest_nice, where the guest times are in user's and
// nice's already.
func machineTicks() (steal, all *float64) {
	text, err := os.ReadFile("/proc/stat")
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := strings.Fields(string(line))
	if err != nil || len(fields) < 9 || fields[0] != "cpu" {
		return nil, nil
	}
	sum := 0.0
	for i, f := range fields[1:9] {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil {
			return nil, nil
		}
		sum += v
		if i == 7 {
			steal = &v
		}
	}
	return steal, &sum
}

// pressure reads for how long, in s, some task had to wait: the first line is
// "some avg10=0.00 avg60=0.00 avg300=0.00 total=1234", total in µs.
func pressure(file string) *float64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	line, _, _ := strings.Cut(string(text), "\n")
	_, total, ok := strings.Cut(line, "total=")
	us, err := strconv.ParseFloat(strings.TrimSpace(total), 64)
	if !ok || err != nil || !strings.HasPrefix(line, "some ") {
		return nil
	}
	us /= 1e6
	return &us
}

// throttled returns for how long this process's cgroup, or one above it, was kept
// from running, in ns, and in how many periods: of cgroup v2, else of v1's cpu
// controller. A limit above holds for all below, and the counters of each are its
// own, so they add up.
func throttled() (group string, ns, periods *float64) {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", nil, nil
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root := ""
		switch {
		case parts[0] == "0" && parts[1] == "":
			root = "/sys/fs/cgroup"
		case strings.Contains(","+parts[1]+",", ",cpu,"):
			root = "/sys/fs/cgroup/cpu"
		default:
			continue
		}
		group += line
		for dir := filepath.Join("/", parts[2]); ; dir = filepath.Dir(dir) {
			t, n := throttledIn(filepath.Join(root, dir, "cpu.stat"))
			ns, periods = both(ns, t), both(periods, n)
			if dir == "/" {
				break
			}
		}
	}
	return group, ns, periods
}

// both adds up what is known.
func both(a, b *float64) *float64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a + *b
	return &sum
}

// throttledIn reads throttled_usec (v2) or throttled_time (v1, ns), and
// nr_throttled.
func throttledIn(file string) (ns, periods *float64) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		v, err := strconv.ParseFloat(value, 64)
		if err != nil {
			continue
		}
		switch name {
		case "throttled_usec":
			v *= 1e3
			ns = &v
		case "throttled_time":
			ns = &v
		case "nr_throttled":
			periods = &v
		}
	}
	return ns, periods
}

// tcpCounters reads the counters of a network namespace: lines in pairs, of names
// and of values.
func tcpCounters(dir string) *result.TCP {
	t := &result.TCP{}
	for file, fields := range map[string]map[string]*int64{
		"snmp": {"Tcp: OutSegs": &t.SegmentsOut, "Tcp: RetransSegs": &t.Retransmitted},
		"netstat": {"TcpExt: TCPTimeouts": &t.Timeouts, "TcpExt: ListenOverflows": &t.ListenOverflows,
			"TcpExt: ListenDrops": &t.ListenDrops, "TcpExt: TCPBacklogDrop": &t.BacklogDrops},
	} {
		text, err := os.ReadFile(filepath.Join(dir, file))
		if err != nil {
			return nil
		}
		var names []string
		for line := range strings.Lines(string(text)) {
			values := strings.Fields(line)
			if len(values) == 0 {
				continue
			}
			if len(names) != len(values) || names[0] != values[0] {
				names = values
				continue
			}
			for i, name := range names {
				if to := fields[names[0]+" "+name]; to != nil {
					*to, _ = strconv.ParseInt(values[i], 10, 64)
				}
			}
			names = nil
		}
	}
	return t
}

// openDescriptors counts the files and sockets of this process.
func openDescriptors() (int64, bool) {
	d, err := os.Open("/proc/self/fd")
	if err != nil {
		return 0, false
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	return int64(len(names)) - 1, err == nil // less the folder itself
}

// timeWaitSockets reads the line "TCP: inuse 5 orphan 0 tw 3 alloc 7 mem 1".
func timeWaitSockets() (int64, bool) { return timeWaitIn("/proc/self/net/sockstat") }

func timeWaitIn(file string) (int64, bool) {
	text, err := os.ReadFile(file)
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		if i := slices.Index(fields, "tw"); len(fields) > 0 && fields[0] == "TCP:" && i > 0 && i+1 < len(fields) {
			n, err := strconv.ParseInt(fields[i+1], 10, 64)
			return n, err == nil
		}
	}
	return 0, false
}

// descriptorLimit is how many descriptors the process may have.
func descriptorLimit() *int64 {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return nil
	}
	n := int64(min(r.Cur, math.MaxInt64))
	return &n
}

// localPorts is how many ports the system has for clients.
func localPorts() *int64 {
	text, err := os.ReadFile("/proc/sys/net/ipv4/ip_local_port_range")
	fields := strings.Fields(string(text))
	if err != nil || len(fields) != 2 {
		return nil
	}
	from, err1 := strconv.ParseInt(fields[0], 10, 64)
	to, err2 := strconv.ParseInt(fields[1], 10, 64)
	if err1 != nil || err2 != nil || to < from {
		return nil
	}
	n := to - from + 1
	return &n
}
