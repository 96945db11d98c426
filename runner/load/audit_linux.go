package load

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

func readUsage() usage {
	u := usage{runDelay: runDelay(), throttled: throttled()}
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

// throttled returns how long this process's cgroup was kept from running, in
// ns: of cgroup v2, else of v1's cpu controller.
func throttled() *float64 {
	text, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		dir, unit := "", 1.0
		switch {
		case parts[0] == "0" && parts[1] == "":
			dir, unit = "/sys/fs/cgroup", 1e3
		case strings.Contains(","+parts[1]+",", ",cpu,"):
			dir = "/sys/fs/cgroup/cpu"
		default:
			continue
		}
		if ns := throttledIn(filepath.Join(dir, parts[2], "cpu.stat"), unit); ns != nil {
			return ns
		}
	}
	return nil
}

// throttledIn reads throttled_usec (v2) or throttled_time (v1, ns).
func throttledIn(file string, unit float64) *float64 {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	for line := range strings.Lines(string(text)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name != "throttled_usec" && name != "throttled_time" {
			continue
		}
		if v, err := strconv.ParseFloat(value, 64); err == nil {
			v *= unit
			return &v
		}
	}
	return nil
}
