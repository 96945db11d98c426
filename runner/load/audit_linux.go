package load

import (
	"bytes"
	"cmp"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/perfplan/perfplan/runner/result"
)

func readUsage() usage {
	u := usage{pressure: pressure("/proc/pressure/cpu"), tcp: tcpCounters("/proc/self/net")}
	var ru unix.Rusage
	if unix.Getrusage(unix.RUSAGE_SELF, &ru) == nil {
		cpu := float64(ru.Utime.Nano()+ru.Stime.Nano()) / 1e9
		u.cpu = &cpu
	}
	u.steal, u.ticks = machineTicks()
	return u
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

// both adds up what is known.
func both(a, b *float64) *float64 {
	if a == nil || b == nil {
		return cmp.Or(a, b)
	}
	sum := *a + *b
	return &sum
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
