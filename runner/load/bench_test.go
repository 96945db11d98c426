package load

import (
	"bytes"
	"net"
	"runtime"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/schedule"
)

// sink answers every request with the same bytes and allocates nothing on the way.
func sink(tb testing.TB) plans.URL {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { l.Close() })
	answer := []byte("HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Type: text/plain\r\n\r\nhello")
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				buf := make([]byte, 4096)
				for have := 0; ; {
					n, err := c.Read(buf[have:])
					if err != nil {
						return
					}
					if have += n; bytes.HasSuffix(buf[:have], []byte("\r\n\r\n")) {
						have = 0
						c.Write(answer)
					}
				}
			}()
		}
	}()
	return (&server{Listener: l}).url()
}

func benchmarkRun(b *testing.B, rate float64, inFlight int) {
	req := &plans.Request{Name: "get", Target: &plans.Target{URLs: []plans.URL{sink(b)}}, Method: "GET", Path: literal("/"),
		Expect: plans.Expect{Status: []plans.StatusRange{{From: 200, To: 200}}}}
	hosts, err := Resolve(b.Context(), req.Target)
	if err != nil {
		b.Fatal(err)
	}
	over := time.Duration(float64(b.N) / rate * 1e9)
	s, err := schedule.New([]schedule.Segment{hold(rate, max(over, 1000))}, schedule.Uniform, 1)
	if err != nil {
		b.Fatal(err)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	l, err := Run(b.Context(), Config{Hosts: hosts, Request: req, Schedule: s, MaxInFlight: inFlight, Timeout: time.Minute, Drain: time.Minute, KeepAlive: true})
	b.StopTimer()
	if err != nil || l.Completed != l.Offered {
		b.Fatalf("Run: %v, %+v", err, l.Counts)
	}
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/float64(b.N), "allocs/request")
	b.ReportMetric(float64(*l.DispatchLag.P50NS), "dispatch-p50-ns")
	b.ReportMetric(float64(*l.DispatchLag.P99NS), "dispatch-p99-ns")
	b.ReportMetric(float64(*l.Service.P50NS), "service-p50-ns")
	b.ReportMetric(*l.Audit.CPUShare*float64(l.DurationNS+l.DrainNS)/float64(b.N), "cpu-ns/request")
}

func BenchmarkClosed32(b *testing.B)      { benchmarkRun(b, 1e7, 32) }
func BenchmarkOpen1000(b *testing.B)      { benchmarkRun(b, 1000, 1000) }
func BenchmarkOpen10000PerS(b *testing.B) { benchmarkRun(b, 10000, 1000) }

// BenchmarkAccount is what one request costs once it has ended.
func BenchmarkAccount(b *testing.B) {
	const rate = 50_000
	s, err := schedule.New([]schedule.Segment{hold(rate, time.Duration(b.N/rate+1)*time.Second)}, schedule.Uniform, 1)
	if err != nil {
		b.Fatal(err)
	}
	a, _ := newAccount(&Config{Hosts: []Host{{Address: "a"}}, Request: &plans.Request{}, Schedule: s, LimitsNS: []int64{150e6}, OnTick: func(Tick) bool { return true }}, nil)
	batch := make([]sample, 4096)
	b.ReportAllocs()
	b.ResetTimer()
	for from := 0; from < b.N; from += len(batch) {
		n := min(len(batch), b.N-from)
		for i := range n {
			at := int64(from+i) * 1e9 / rate
			batch[i] = sample{job: job{index: int64(from + i), intended: at}, sent: at + 300, end: at + 60_000 + int64(i*97)%50_000, first: at + 50_000, status: 200,
				attempts: 1, reused: 1, bytesOut: 100, bytesIn: 200, bodyBytes: 5}
		}
		a.offered(int64(from + n))
		a.ended(batch[:n])
	}
}
