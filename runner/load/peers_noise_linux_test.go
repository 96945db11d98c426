//go:build amd64 || arm64

package load

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Above these the machine had so much other work that a figure over its bar says nothing.
const (
	maxOthers = 0.10 // of a core, for what is not measured
	maxDelay  = 0.05 // of the run's time: the busiest thread of the tool waited for its core
	maxSteal  = 0.02 // of the machine's time
)

// A noise is what else the machine did in a run, or in several.
type noise struct {
	others   float64 // cores busy with other processes
	delay    float64 // share of the time that the tool's busiest thread was ready and had no core
	steal    float64 // share of the machine's time
	pressure float64 // share of the time that some task had no core; the tool's own threads count, too; NaN: not known
	load     float64 // average of a minute
}

// fault says what makes the machine too noisy, "" for nothing.
func (n noise) fault() string {
	switch {
	case n.others > maxOthers:
		return fmt.Sprintf("other processes took %.2f of a core", n.others)
	case n.delay > maxDelay:
		return fmt.Sprintf("the busiest thread waited for its core for %.0f %% of the time", 100*n.delay)
	case n.steal > maxSteal:
		return fmt.Sprintf("the hypervisor took %.0f %% of the time", 100*n.steal)
	}
	return ""
}

func (n noise) String() string {
	return fmt.Sprintf("others %.2f of a core, run delay %.1f %%, steal %.1f %%, PSI some %.0f %%, load %.1f",
		n.others, 100*n.delay, 100*n.steal, 100*n.pressure, n.load)
}

// noiseOf is the median of several.
func noiseOf(all []noise) noise {
	of := func(part func(noise) float64) float64 {
		var v []float64
		for _, n := range all {
			v = append(v, part(n))
		}
		return median(v)
	}
	return noise{
		of(func(n noise) float64 { return n.others }), of(func(n noise) float64 { return n.delay }), of(func(n noise) float64 { return n.steal }),
		of(func(n noise) float64 { return n.pressure }), of(func(n noise) float64 { return n.load }),
	}
}

// A listener listens to the noise around a process.
type listener struct {
	rig     *benchRig
	start   time.Time
	busy    float64 // ticks of the whole machine
	stolen  float64
	all     float64
	waited  float64       // s in which some task had no core
	ownCPU  time.Duration // of the servers and of this process
	stop    chan struct{}
	threads chan map[string]threadTimes
}

// threadTimes are of schedstat: ns on a core, and ns ready without one.
type threadTimes struct{ ran, waited int64 }

func (s *benchRig) listen() *listener {
	l := &listener{rig: s, start: time.Now(), stop: make(chan struct{}), threads: make(chan map[string]threadTimes, 1), ownCPU: s.ownCPU(), waited: machinePressure()}
	l.busy, l.stolen, l.all = machineTimes()
	return l
}

// follow looks at the threads of a process, until end.
func (l *listener) follow(pid int) {
	go func() {
		threads := map[string]threadTimes{}
		for every := time.NewTicker(100 * time.Millisecond); ; {
			select {
			case <-l.stop:
				every.Stop()
				l.threads <- threads
				return
			case <-every.C:
				readThreads(pid, threads)
			}
		}
	}()
}

// end returns the noise since listen, beside a process that took cpu and has ended.
func (l *listener) end(cpu time.Duration) (n noise) {
	close(l.stop)
	wall := time.Since(l.start).Seconds()
	busy, stolen, all := machineTimes()
	own := (cpu + l.rig.ownCPU() - l.ownCPU).Seconds()
	n.others = max(0, (busy-l.busy)/100-own) / wall // USER_HZ is 100
	n.steal = (stolen - l.stolen) / max(all-l.all, 1)
	n.pressure = (machinePressure() - l.waited) / wall
	text, _ := os.ReadFile("/proc/loadavg")
	fmt.Sscan(string(text), &n.load)
	var busiest threadTimes
	for _, t := range <-l.threads {
		if t.ran > busiest.ran {
			busiest = t
		}
	}
	n.delay = float64(busiest.waited) / 1e9 / wall
	return n
}

func readThreads(pid int, into map[string]threadTimes) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	for _, name := range files {
		text, err := os.ReadFile(name)
		var t threadTimes
		if _, scan := fmt.Sscan(string(text), &t.ran, &t.waited); err == nil && scan == nil {
			into[name] = t
		}
	}
}

// ownCPU is what the servers and this process have used.
func (s *benchRig) ownCPU() time.Duration {
	var ru unix.Rusage
	unix.Getrusage(unix.RUSAGE_SELF, &ru)
	sum := time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
	for _, pid := range s.servers {
		sum += cpuOfTree(pid)
	}
	return sum
}

// cpuOfTree is the time of a process and of its children.
func cpuOfTree(pid int) (sum time.Duration) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(text), ") ")
	if fields := strings.Fields(rest); len(fields) > 12 { // from the third on: state is 0, utime 11, stime 12
		for _, f := range fields[11:13] {
			ticks, _ := strconv.ParseInt(f, 10, 64)
			sum += time.Duration(ticks) * 10 * time.Millisecond
		}
	}
	children, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/children", pid, pid))
	for _, f := range strings.Fields(string(children)) {
		if child, err := strconv.Atoi(f); err == nil {
			sum += cpuOfTree(child)
		}
	}
	return sum
}

// machineTimes are of the first line of /proc/stat, in ticks: user nice system idle iowait irq softirq steal.
func machineTimes() (busy, steal, all float64) {
	text, _ := os.ReadFile("/proc/stat")
	line, _, _ := strings.Cut(string(text), "\n")
	for i, f := range strings.Fields(line) {
		v, err := strconv.ParseFloat(f, 64)
		if err != nil || i > 8 {
			continue
		}
		all += v
		switch i {
		case 4, 5:
		case 8:
			steal = v
		default:
			busy += v
		}
	}
	return busy, steal, all
}

// machinePressure is for how long some task had no core, in s, since the machine's start; NaN where it is not counted.
func machinePressure() float64 {
	if s := pressure("/proc/pressure/cpu"); s != nil {
		return *s
	}
	return math.NaN()
}

// machine describes what the comparison runs on.
func machine() string {
	var u unix.Utsname
	unix.Uname(&u)
	cpu := "unknown processor"
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if name, value, _ := strings.Cut(line, ":"); strings.TrimSpace(name) == "model name" {
			cpu = strings.TrimSpace(value)
			break
		}
	}
	return fmt.Sprintf("Linux %s, %d × %s", unix.ByteSliceToString(u.Release[:]), runtime.NumCPU(), cpu)
}
