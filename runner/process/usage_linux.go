package process

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// A Meter reads what a process tree uses.
type Meter struct {
	pids     []int
	counters []counter
}

// A counter is one hardware counter of one thread and of all threads and processes that it starts.
type counter struct {
	fd     int
	cycles bool
}

// maxCounters bounds the open files of a meter.
const maxCounters = 512

// NewMeter begins to read the child and its descendants that are alive now. Counters see what these start, too. Close it.
func (p *Process) NewMeter() *Meter {
	m := &Meter{pids: p.PIDs()}
	for _, pid := range m.pids {
		for _, tid := range threads(pid) {
			if !m.count(tid) {
				return m
			}
		}
	}
	return m
}

// count opens the counters of a thread. Where the machine has none it closes those that are open and reports false.
func (m *Meter) count(tid int) bool {
	for _, config := range []uint64{unix.PERF_COUNT_HW_INSTRUCTIONS, unix.PERF_COUNT_HW_CPU_CYCLES} {
		attr := unix.PerfEventAttr{Type: unix.PERF_TYPE_HARDWARE, Config: config, Size: uint32(binary.Size(unix.PerfEventAttr{})),
			Bits: unix.PerfBitInherit | unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
		fd, err := unix.PerfEventOpen(&attr, tid, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
		if errors.Is(err, unix.ESRCH) { // the thread is gone
			return true
		}
		if err != nil || len(m.counters) >= maxCounters {
			if err == nil {
				unix.Close(fd)
			}
			m.stopCounting()
			return false
		}
		m.counters = append(m.counters, counter{fd, config == unix.PERF_COUNT_HW_CPU_CYCLES})
	}
	return true
}

func (m *Meter) stopCounting() {
	for _, c := range m.counters {
		unix.Close(c.fd)
	}
	m.counters = nil
}

// Close lets go of the counters.
func (m *Meter) Close() { m.stopCounting() }

// Read is what was used until now. A thread that has ended is no longer in it.
func (m *Meter) Read() Usage {
	u := Usage{Counted: len(m.counters) > 0, Stolen: stolen()}
	for _, pid := range m.pids {
		for _, tid := range threads(pid) {
			cpu, waited := scheduled(pid, tid)
			u.CPU += cpu
			u.Waited += waited
		}
	}
	for _, c := range m.counters {
		var b [8]byte
		if n, err := unix.Read(c.fd, b[:]); err != nil || n != len(b) {
			u.Counted = false
			break
		}
		v := int64(binary.NativeEndian.Uint64(b[:]))
		if c.cycles {
			u.Cycles += v
		} else {
			u.Instructions += v
		}
	}
	return u
}

func threads(pid int) (tids []int) {
	dir, err := os.Open(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, n := range names {
		if tid, err := strconv.Atoi(n); err == nil {
			tids = append(tids, tid)
		}
	}
	return tids
}

// scheduled reads how long a thread has run and how long it has waited to run (Documentation/scheduler/sched-stats.rst).
func scheduled(pid, tid int) (ran, waited time.Duration) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/task/%d/schedstat", pid, tid))
	if f := bytes.Fields(b); err == nil && len(f) >= 2 {
		r, _ := strconv.ParseInt(string(f[0]), 10, 64)
		w, _ := strconv.ParseInt(string(f[1]), 10, 64)
		return time.Duration(r), time.Duration(w)
	}
	return 0, 0
}

// stolen is the time that the machine's host gave its processors to others (proc_stat(5): the eighth figure, in ticks of
// 10 ms).
func stolen() time.Duration {
	b, err := os.ReadFile("/proc/stat")
	line, _, _ := bytes.Cut(b, []byte("\n"))
	if f := bytes.Fields(line); err == nil && len(f) > 8 && string(f[0]) == "cpu" {
		ticks, _ := strconv.ParseInt(string(f[8]), 10, 64)
		return time.Duration(ticks) * 10 * time.Millisecond
	}
	return 0
}

// PeakRSS is the most memory that the child and its descendants that are alive have had, each on its own, in bytes.
func (p *Process) PeakRSS() (sum int64) {
	for _, pid := range p.PIDs() {
		b, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		if err != nil {
			continue
		}
		_, rest, ok := bytes.Cut(b, []byte("\nVmHWM:"))
		line, _, _ := bytes.Cut(rest, []byte("\n"))
		if f := bytes.Fields(line); ok && len(f) > 0 {
			kib, _ := strconv.ParseInt(string(f[0]), 10, 64)
			sum += kib << 10
		}
	}
	return sum
}

func maxRSS(s *os.ProcessState) (int64, bool) {
	u, ok := s.SysUsage().(*syscall.Rusage)
	if !ok {
		return 0, false
	}
	return u.Maxrss << 10, true // getrusage(2): kilobytes
}
