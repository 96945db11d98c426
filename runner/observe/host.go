package observe

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// A reading is the machine at one moment, by names made here. What could not be read has no entry.
type reading struct {
	at       time.Time
	counters map[string]float64 // since boot
	gauges   map[string]float64
}

func (s *Sampler) readHost(at time.Time) reading {
	r := reading{at, map[string]float64{}, map[string]float64{}}
	s.readCPU(r)
	s.readMemory(r)
	s.readPressure(r)
	s.readDisks(r)
	s.readNetwork(r)
	return r
}

func (s *Sampler) readCPU(r reading) {
	st, err := s.proc.Stat()
	if err != nil {
		s.problem(err)
		return
	}
	c := st.CPUTotal // guest time is part of user and nice
	for key, v := range map[string]float64{
		"cpu/user": c.User + c.Nice, "cpu/system": c.System + c.IRQ + c.SoftIRQ, "cpu/idle": c.Idle,
		"cpu/iowait": c.Iowait, "cpu/steal": c.Steal,
		"interrupts": float64(st.IRQTotal), "switches": float64(st.ContextSwitches),
	} {
		r.counters[key] = v
	}
	r.gauges["runnable"], r.gauges["blocked"] = float64(st.ProcessesRunning), float64(st.ProcessesBlocked)
	if n := len(st.CPU); n > 0 {
		r.gauges["cores"] = float64(n)
	}
}

func (s *Sampler) readMemory(r reading) {
	m, err := s.proc.Meminfo()
	if err != nil {
		s.problem(err)
	}
	for key, v := range map[string]*uint64{
		"mem/total": m.MemTotalBytes, "mem/free": m.MemFreeBytes, "mem/available": m.MemAvailableBytes,
		"mem/buffers": m.BuffersBytes, "mem/cached": m.CachedBytes,
		"swap/total": m.SwapTotalBytes, "swap/free": m.SwapFreeBytes,
	} {
		if v != nil {
			r.gauges[key] = float64(*v)
		}
	}
	// procfs has no reader for vmstat: "name value" lines.
	b, err := os.ReadFile(filepath.Join(s.cfg.Proc, "vmstat"))
	if err != nil {
		s.problem(err)
	}
	for line := range bytes.Lines(b) {
		name, value, _ := strings.Cut(strings.TrimSpace(string(line)), " ")
		switch name {
		case "pgpgin", "pgpgout", "pswpin", "pswpout", "oom_kill":
			if v, err := strconv.ParseUint(value, 10, 64); err == nil {
				r.counters["vm/"+name] = float64(v)
			}
		}
	}
}

// readPressure reads the time that some task was stalled, in seconds.
func (s *Sampler) readPressure(r reading) {
	for _, resource := range []string{"cpu", "memory", "io"} {
		p, err := s.proc.PSIStatsForResource(resource)
		if err != nil || p.Some == nil { // not in every kernel, and not everywhere switched on
			continue
		}
		r.counters["psi/"+resource] = float64(p.Some.Total) / 1e6
	}
}

func (s *Sampler) readDisks(r reading) {
	disks, err := s.disk.ProcDiskstats()
	if err != nil {
		s.problem(err)
		return
	}
	for _, d := range disks {
		name := d.DeviceName
		if strings.HasPrefix(name, "loop") || strings.HasPrefix(name, "ram") || strings.HasPrefix(name, "zram") {
			continue
		}
		r.counters["disk/busy/"+name] = float64(d.IOsTotalTicks) / 1e3
		r.counters["disk/queue/"+name] = float64(d.WeightedIOTicks) / 1e3
	}
}

func (s *Sampler) readNetwork(r reading) {
	devices, err := s.proc.NetDev()
	if err != nil {
		s.problem(err)
	}
	for name, d := range devices {
		r.counters["net/in/"+name], r.counters["net/out/"+name] = float64(d.RxBytes), float64(d.TxBytes)
		r.counters["net/packets/"+name] = float64(d.RxPackets + d.TxPackets)
		r.counters["net/errors/"+name] = float64(d.RxErrors + d.TxErrors)
		r.counters["net/drops/"+name] = float64(d.RxDropped + d.TxDropped)
		if v, ok := s.linkSpeed(name); ok {
			r.gauges["net/speed/"+name] = v
		}
	}
	self, err := s.proc.Self()
	if err != nil {
		s.problem(err)
		return
	}
	counters := map[string]*float64{}
	if snmp, err := self.Snmp(); err == nil {
		counters["tcp/sent"], counters["tcp/again"] = snmp.Tcp.OutSegs, snmp.Tcp.RetransSegs
	} else {
		s.problem(err)
	}
	if stat, err := self.Netstat(); err == nil {
		counters["tcp/overflows"], counters["tcp/backlog"] = stat.TcpExt.ListenOverflows, stat.TcpExt.TCPBacklogDrop
	} else {
		s.problem(err)
	}
	for key, v := range counters {
		if v != nil {
			r.counters[key] = *v
		}
	}
}

// linkSpeed is the speed of an interface in bytes per second; loopback and virtual ones have none.
func (s *Sampler) linkSpeed(name string) (float64, bool) {
	b, err := os.ReadFile(filepath.Join(s.cfg.Sys, "class/net", name, "speed"))
	if err != nil {
		return 0, false
	}
	mbit, err := strconv.ParseFloat(strings.TrimSpace(string(b)), 64)
	return mbit * 1e6 / 8, err == nil && mbit > 0
}

// A diff is what happened between two readings.
type diff struct {
	from, to  time.Time
	seconds   float64
	counters  map[string]float64 // differences, none below zero
	gauges    map[string]float64 // at the end
	backwards int64
}

func between(a, b reading) diff {
	d := diff{from: a.at, to: b.at, seconds: b.at.Sub(a.at).Seconds(), counters: map[string]float64{}, gauges: b.gauges}
	for key, v := range b.counters {
		if before, ok := a.counters[key]; !ok {
			continue
		} else if v < before {
			d.backwards++
		} else {
			d.counters[key] = v - before
		}
	}
	return d
}

// rate is a counter's difference per second, times scale; nil when there is none.
func (d diff) rate(key string, scale float64) *float64 {
	v, ok := d.counters[key]
	if !ok {
		return nil
	}
	return new(v * scale / d.seconds)
}

// sum adds up the counters that begin with prefix.
func (d diff) sum(prefix string) (sum float64, ok bool) {
	for key, v := range d.counters {
		if strings.HasPrefix(key, prefix) {
			sum, ok = sum+v, true
		}
	}
	return sum, ok
}

func (d diff) gauge(key string) *float64 {
	v, ok := d.gauges[key]
	if !ok {
		return nil
	}
	return &v
}
