//go:build linux

package load

import (
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

// fixture writes a file as the kernel would, and returns its path.
func fixture(t *testing.T, name, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// is compares a figure that may be unknown (below 0).
func is(got *float64, want float64) bool {
	return want < 0 && got == nil || want >= 0 && got != nil && *got == want
}

func TestThrottledIn(t *testing.T) {
	for _, c := range []struct {
		text        string
		ns, periods float64 // below 0: unknown
	}{
		{"usage_usec 5\nnr_periods 0\nnr_throttled 2\nthrottled_usec 1500\n", 1.5e6, 2},
		{"nr_periods 0\nnr_throttled 3\nthrottled_time 25\n", 25, 3},
		{"nr_periods 0\n", -1, -1},
		{"throttled_time many\n", -1, -1},
	} {
		ns, periods := new(procfs).throttledIn(fixture(t, "cpu.stat", c.text))
		if !is(ns, c.ns) || !is(periods, c.periods) {
			t.Errorf("throttledIn(%q) = %v, %v, want %v, %v", c.text, ns, periods, c.ns, c.periods)
		}
	}
	if ns, periods := new(procfs).throttledIn("/no/such/file"); ns != nil || periods != nil {
		t.Error("a missing file: want unknown")
	}
}

func TestPressure(t *testing.T) {
	for text, want := range map[string]float64{
		"some avg10=0.00 avg60=0.10 avg300=1.00 total=2500000\nfull avg10=0.00 avg60=0.00 avg300=0.00 total=9\n": 2.5,
		"full avg10=0.00 total=9\n": -1,
		"some avg10=0.00\n":         -1,
		"":                          -1,
	} {
		if got := pressure(fixture(t, "cpu", text)); !is(got, want) {
			t.Errorf("pressure(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestTCPCounters(t *testing.T) {
	dir := filepath.Dir(fixture(t, "snmp", "Ip: Forwarding DefaultTTL\nIp: 1 64\nTcp: RtoAlgorithm OutSegs RetransSegs\nTcp: 1 1000 7\n"))
	if got := tcpCounters(dir); got != nil {
		t.Errorf("without netstat: %+v, want unknown", got)
	}
	text := "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPBacklogDrop TCPTimeouts\nTcpExt: 0 3 4 5 6\nIpExt: InNoRoutes\nIpExt: 0\n"
	if err := os.WriteFile(filepath.Join(dir, "netstat"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	want := result.TCP{SegmentsOut: 1000, Retransmitted: 7, ListenOverflows: 3, ListenDrops: 4, BacklogDrops: 5, Timeouts: 6}
	if got := tcpCounters(dir); got == nil || *got != want {
		t.Errorf("tcpCounters = %+v, want %+v", got, want)
	}
	later := want
	later.SegmentsOut += 10
	if d := tcpBetween(&want, &later); d == nil || *d != (result.TCP{SegmentsOut: 10}) {
		t.Errorf("tcpBetween = %+v, want 10 segments", d)
	}
	if tcpBetween(&later, &want) != nil || tcpBetween(nil, &want) != nil {
		t.Error("counters that went back, or are not known: want unknown")
	}
}

func TestTimeWait(t *testing.T) {
	if n, ok := new(procfs).timeWaitIn(fixture(t, "sockstat", "sockets: used 31\nTCP: inuse 5 orphan 0 tw 42 alloc 7 mem 1\n")); !ok || n != 42 {
		t.Errorf("timeWaitIn = %d, %v, want 42", n, ok)
	}
	if _, ok := new(procfs).timeWaitIn(fixture(t, "sockstat", "UDP: inuse 5\n")); ok {
		t.Error("no line for TCP: want unknown")
	}
}

// What the auditor looks at several times a second does not allocate more than a few words.
func TestLookAllocatesLittle(t *testing.T) { // not parallel, since it counts allocations
	a := newAuditor(func() int64 { return 0 })
	a.look()
	if n := testing.AllocsPerRun(20, a.look); n > 10 {
		t.Errorf("a look allocates %v times, want 10 at most", n)
	}
	if a.delay.last == nil || a.delay.all < 0 || a.open.n == nil || a.timeWait.n == nil {
		t.Errorf("look: run delay %v, descriptors %v, TIME_WAIT %v, want all known", a.delay.all, a.open.n, a.timeWait.n)
	}
}

func TestShape(t *testing.T) {
	var even, batches shape
	for i := range int64(1000) {
		even.see(i * 1e6)          // ten in each 10 ms
		batches.see(i / 20 * 20e6) // twenty in every second of them
	}
	if cv, idc := even.cv(), even.idc(); cv == nil || *cv > 1e-6 || idc == nil || *idc != 0 {
		t.Errorf("even arrivals: CV %v, dispersion %v, want 0, 0", cv, idc)
	}
	// 19 gaps of 0 and one of 20 ms: √19. Counts of 20 and 0: variance 100, mean 10.
	if cv, idc := batches.cv(), batches.idc(); cv == nil || math.Abs(*cv-math.Sqrt(19)) > 0.1 || idc == nil || math.Abs(*idc-10) > 0.2 {
		t.Errorf("batches of 20: CV %v, dispersion %v, want 4.36, 10", *cv, *idc)
	}
	var none shape
	none.see(5)
	if none.cv() != nil || none.idc() != nil {
		t.Error("one arrival has no shape")
	}
}

func TestDifference(t *testing.T) {
	one, two := 1.0, 2.0
	if d := difference(&one, &two); d == nil || *d != 1 {
		t.Errorf("difference(1, 2) = %v", d)
	}
	for _, c := range [][2]*float64{{nil, &one}, {&one, nil}, {&two, &one}} {
		if d := difference(c[0], c[1]); d != nil {
			t.Errorf("difference of %v = %v, want unknown", c, *d)
		}
	}
}

func TestNewest(t *testing.T) {
	before := &metrics.Float64Histogram{Counts: []uint64{1, 2, 0}, Buckets: []float64{0, 1e-5, 1e-4, 1e-3}}
	after := &metrics.Float64Histogram{Counts: []uint64{1, 3, 0}, Buckets: before.Buckets}
	if got := newest(before, after, 1); got == nil || *got != 100_000 {
		t.Errorf("newest = %v, want 100 µs", got)
	}
	if got := newest(after, after, 1); got == nil || *got != 0 {
		t.Errorf("newest without a collection = %v, want 0", got)
	}
}

// The auditor sees this process burn its time and collect its garbage.
func TestAuditor(t *testing.T) {
	t.Parallel()
	base := time.Now()
	a := newAuditor(func() int64 { return int64(time.Since(base)) })
	a.start()
	before := *readUsage().cpu
	for *readUsage().cpu < before+0.05 {
	}
	runtime.GC()
	r := a.stop()
	if r.CPUShare == nil || *r.CPUShare <= 0 || r.GCPauseMaxNS == nil || *r.GCPauseMaxNS <= 0 || r.GCCycles < 1 || r.SchedDelayP99NS == nil || r.HeartbeatNS <= 0 || r.PauseMaxNS == nil || *r.PauseMaxNS <= 0 {
		t.Errorf("audit = cpu %v, gc %v, pause %v, want all above 0", r.CPUShare, r.GCPauseMaxNS, r.PauseMaxNS)
	}
	if r.DescriptorLimit == nil || r.DescriptorsMax == nil || *r.DescriptorsMax < 3 || *r.DescriptorsMax > *r.DescriptorLimit || r.LocalPorts == nil || *r.LocalPorts < 1 || r.TimeWaitMax == nil || r.TCP == nil {
		t.Errorf("audit = %+v, want descriptors, ports and TCP", r)
	}
	if r.StealShare == nil || *r.StealShare < 0 || *r.StealShare > 1 {
		t.Errorf("steal share = %v, want 0 to 1", r.StealShare)
	}
}
