package observe

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

func want[T int64 | float64](t *testing.T, what string, got *T, want T) {
	t.Helper()
	if got == nil {
		t.Errorf("%s is not there, want %v", what, want)
	} else if d := *got - want; d > want/1000000 || -d > want/1000000 {
		t.Errorf("%s = %v, want %v", what, *got, want)
	}
}

func find(o *result.Observation, name string) result.Process {
	i := slices.IndexFunc(o.Processes, func(p result.Process) bool { return p.Name == name })
	if i < 0 {
		return result.Process{}
	}
	return o.Processes[i]
}

func onLinux(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
}

func TestHost(t *testing.T) {
	m := newMachine(t)
	m.write("sys/class/net/eth0/speed", "1000\n")
	c := m.sample()
	m.cpu(120, 60, 20) // of 200 ticks in a second on 2 cores
	m.vmstat(map[string]int{"pgpgin": 1, "pgpgout": 2, "pswpin": 3, "pswpout": 4, "oom_kill": 0})
	m.pressure(50_000, 2_000, 500_000)
	m.disk(800, 2500)
	m.net(12_500_000, 0, 0)
	c.tick()
	o := c.Between(c.begin, c.now)
	if o.Samples != 1 || len(o.Host) != 1 || o.Backwards != 0 || o.IntervalNS != 1e9 || len(o.Warnings) > 0 {
		t.Fatalf("observation %+v", o)
	}
	h := o.Host[0]
	for _, v := range []struct {
		what string
		got  *float64
		want float64
	}{
		{"run queue", h.RunQueue, 3}, {"blocked", h.Blocked, 1},
		{"user", h.UserShare, 0.6}, {"system", h.SystemShare, 0}, {"idle", h.IdleShare, 0.3}, {"iowait", h.IOWaitShare, 0.1}, {"steal", h.StealShare, 0},
		{"free", h.FreeBytes, 102400}, {"available", h.AvailableBytes, 409600}, {"buffers", h.BufferBytes, 10240}, {"cache", h.CacheBytes, 204800},
		{"swap used", h.SwapUsedBytes, 30720}, {"swap in", h.SwapInPerS, 3}, {"swap out", h.SwapOutPerS, 4},
		{"blocks in", h.BlockInPerS, 1024}, {"blocks out", h.BlockOutPerS, 2048},
		{"interrupts", h.InterruptsPerS, 0}, {"switches", h.ContextSwitchesPerS, 0},
		{"cpu pressure", h.CPUPressure, 0.05}, {"memory pressure", h.MemoryPressure, 0.002}, {"io pressure", h.IOPressure, 0.5},
		{"net in", h.NetInPerS, 25e6}, {"net out", h.NetOutPerS, 25e6}, {"disk busy", h.DiskBusyShare, 0.8},
	} {
		want(t, v.what, v.got, v.want)
	}
	if h.TNS != 1e9 {
		t.Errorf("t = %d, want 1 s", h.TNS)
	}
	for i, cells := range [][3]string{{"ok", "ok", "n/a"}, {"ok", "ok", "ok"}, {"high", "saturated", "n/a"}, {"ok", "ok", "ok"}} {
		u := o.USE[i]
		if got := [3]string{u.Utilisation.Level, u.Saturation.Level, u.Errors.Level}; got != cells {
			t.Errorf("%s: %v, want %v: %+v", u.Resource, got, cells, u)
		}
	}
	want(t, "cpu utilisation", o.USE[0].Utilisation.Value, 0.6)
	want(t, "memory utilisation", o.USE[1].Utilisation.Value, 0.6)
	want(t, "network utilisation", o.USE[3].Utilisation.Value, 0.1)
}

func TestUSELevels(t *testing.T) {
	for _, tt := range []struct {
		what  string
		cell  func([]result.USE) result.USECell
		set   func(m machine)
		level string
		value float64
	}{
		{"busy cores", func(u []result.USE) result.USECell { return u[0].Utilisation }, func(m machine) { m.cpu(192, 8, 0) }, "saturated", 0.96},
		{"waiting for the disk is not busy", func(u []result.USE) result.USECell { return u[0].Utilisation }, func(m machine) { m.cpu(20, 8, 172) }, "ok", 0.1},
		{"cpu pressure", func(u []result.USE) result.USECell { return u[0].Saturation }, func(m machine) { m.pressure(200_000, 0, 0) }, "high", 0.2},
		{"memory pressure", func(u []result.USE) result.USECell { return u[1].Saturation }, func(m machine) { m.pressure(0, 200_000, 0) }, "saturated", 0.2},
		{"killed", func(u []result.USE) result.USECell { return u[1].Errors }, func(m machine) { m.vmstat(map[string]int{"oom_kill": 2}) }, "high", 2},
		{"busy disk", func(u []result.USE) result.USECell { return u[2].Utilisation }, func(m machine) { m.disk(990, 0) }, "saturated", 0.99},
		{"dropped", func(u []result.USE) result.USECell { return u[3].Saturation }, func(m machine) { m.net(98_000, 10, 0) }, "saturated", 10.0 / 980},
		{"sent again", func(u []result.USE) result.USECell { return u[3].Saturation }, func(m machine) { m.tcp(10000, 5, 0, 0) }, "high", 0.0005},
		{"few of few", func(u []result.USE) result.USECell { return u[3].Saturation }, func(m machine) { m.tcp(10, 5, 0, 0) }, "high", 0.5},
		{"accept queue", func(u []result.USE) result.USECell { return u[3].Saturation }, func(m machine) { m.tcp(10000, 0, 1, 0) }, "saturated", 0},
		{"network errors", func(u []result.USE) result.USECell { return u[3].Errors }, func(m machine) { m.net(0, 0, 7) }, "high", 7},
	} {
		m := newMachine(t)
		c := m.sample()
		tt.set(m)
		c.tick()
		cell := tt.cell(c.Between(c.begin, c.now).USE)
		if cell.Level != tt.level || cell.Text == "" {
			t.Errorf("%s: %+v, want %s", tt.what, cell, tt.level)
		}
		want(t, tt.what, cell.Value, tt.value)
	}
}

// What the kernel does not tell is absent, never 0.
func TestAbsent(t *testing.T) {
	m := newMachine(t)
	for _, f := range []string{"pressure", "vmstat", "diskstats", "net", "77/net"} {
		m.remove(f)
	}
	m.write("meminfo", "MemTotal: 1000 kB\nMemFree: 100 kB\n")
	c := m.sample()
	m.cpu(100, 100, 0)
	c.tick()
	o := c.Between(c.begin, c.now)
	if len(o.Warnings) > 0 {
		t.Errorf("warnings %v for files that this kernel does not have", o.Warnings)
	}
	h := o.Host[0]
	for what, v := range map[string]*float64{
		"available": h.AvailableBytes, "swap": h.SwapUsedBytes, "swap in": h.SwapInPerS, "blocks": h.BlockInPerS,
		"cpu pressure": h.CPUPressure, "io pressure": h.IOPressure, "net": h.NetInPerS, "disk": h.DiskBusyShare,
	} {
		if v != nil {
			t.Errorf("%s = %v, want none", what, *v)
		}
	}
	for i, cells := range [][3]string{{"ok", "high", "n/a"}, {"n/a", "n/a", "n/a"}, {"n/a", "n/a", "n/a"}, {"n/a", "n/a", "n/a"}} {
		u := o.USE[i]
		got := [3]string{u.Utilisation.Level, u.Saturation.Level, u.Errors.Level}
		if got != cells { // without pressure the run queue of 3 on 2 cores tells
			t.Errorf("%s: %v, want %v", u.Resource, got, cells)
		}
		for _, c := range []result.USECell{u.Utilisation, u.Saturation, u.Errors} {
			if (c.Value == nil) != (c.Level == "n/a") || c.Text == "" {
				t.Errorf("%s: %+v", u.Resource, c)
			}
		}
	}
}

// C-34: less than two readings give no figures.
func TestShortStage(t *testing.T) {
	m := newMachine(t)
	c := m.sample()
	c.tick()
	c.tick()
	for _, d := range []struct {
		from, to time.Duration
		samples  int
	}{
		{0, 2 * time.Second, 2},
		{0, 1900 * time.Millisecond, 2}, // a tenth of an interval too short is as good
		{0, 1500 * time.Millisecond, 1},
		{200 * time.Millisecond, 800 * time.Millisecond, 0},
		{500 * time.Millisecond, 1500 * time.Millisecond, 0},
	} {
		o := c.Between(c.begin.Add(d.from), c.begin.Add(d.to))
		if o.Samples != d.samples || len(o.Host) != d.samples {
			t.Errorf("%v to %v: %d samples, want %d", d.from, d.to, o.Samples, d.samples)
		}
		if d.samples > 0 {
			continue
		}
		if p := find(o, selfName); p.CPUShare != nil || p.RSSMaxBytes != nil || len(o.USE) != 4 || o.USE[0].Utilisation.Level != "n/a" {
			t.Errorf("%v to %v: figures %+v %+v, want none", d.from, d.to, p, o.USE)
		}
	}
}

func TestNoProc(t *testing.T) {
	s := Start(Config{Proc: filepath.Join(t.TempDir(), "none"), Interval: time.Hour})
	defer s.Stop()
	o := s.Between(time.Now().Add(-time.Second), time.Now())
	if o.Samples != 0 || len(o.USE) != 4 || len(o.Warnings) != 1 || o.Warnings[0].Severity != result.Note {
		t.Errorf("without /proc: %+v, want one note and no figures", o)
	}
}

// C-34: differences below zero are left out and counted.
func TestBackwards(t *testing.T) {
	m := newMachine(t)
	m.cpu(100, 100, 50)
	m.vmstat(map[string]int{"pswpin": 5, "pgpgin": 5})
	m.process(100, "target", 1, 5, ticks{user: 50})
	c := m.sample(Tree{"target", 100})
	m.cpu(160, 140, 40)
	m.vmstat(map[string]int{"pswpin": 4, "pgpgin": 6})
	m.process(100, "target", 1, 5, ticks{user: 40})
	c.tick()
	o := c.Between(c.begin, c.now)
	h := o.Host[0]
	if o.Backwards != 3 || h.IOWaitShare != nil || h.SwapInPerS != nil {
		t.Errorf("%d differences left out, iowait %v, swap in %v; want 3 and none", o.Backwards, h.IOWaitShare, h.SwapInPerS)
	}
	want(t, "user", h.UserShare, 0.6)
	want(t, "blocks in", h.BlockInPerS, 1024)
	want(t, "cpu of the target", find(o, "target").CPUShare, 0)
}

// The sampler on this machine: it costs little, and what it says adds up.
func TestThisMachine(t *testing.T) {
	t.Parallel()
	onLinux(t)
	s := Start(Config{Interval: 100 * time.Millisecond})
	defer s.Stop()
	begin := time.Now()
	time.Sleep(450 * time.Millisecond)
	o := s.Between(begin, time.Now())
	if o.Samples < 2 || len(o.Warnings) > 0 {
		t.Fatalf("%d samples, warnings %v", o.Samples, o.Warnings)
	}
	for _, h := range o.Host {
		sum := *h.UserShare + *h.SystemShare + *h.IdleShare + *h.StealShare
		if h.IOWaitShare != nil {
			sum += *h.IOWaitShare
		}
		if sum < 0.999 || sum > 1.001 {
			t.Errorf("CPU shares add up to %v, want 1", sum)
		}
	}
	p := find(o, selfName)
	if p.PID != os.Getpid() || p.RSSMaxBytes == nil || *p.RSSMaxBytes < 1<<20 || *p.Series[0].Threads < 1 || *p.Series[0].FDs < 3 {
		t.Errorf("perfplan itself: %+v", p)
	}
}

func TestStopTwice(t *testing.T) {
	s := Start(Config{Interval: time.Millisecond})
	s.Stop()
	s.Stop()
	if o := s.Between(time.Now().Add(-time.Minute), time.Now()); len(o.USE) != 4 || !strings.Contains(o.USE[0].Errors.Text, "/proc") && o.Samples > 0 {
		t.Errorf("after Stop: %+v", o)
	}
}

func BenchmarkRead(b *testing.B) {
	s := Start(Config{Interval: time.Hour, Processes: func() []Tree { return []Tree{{"test", os.Getpid()}} }})
	defer s.Stop()
	for b.Loop() {
		s.readings = s.readings[:1]
		s.read(time.Now())
	}
}
