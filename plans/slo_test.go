package plans

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// C-22: the accepted forms, with what they mean.
func TestParseSLO(t *testing.T) {
	ms := func(n float64) float64 { return n * float64(time.Millisecond) }
	for _, tt := range []struct {
		text   string
		metric string
		op     string
		limit  float64
		unit   Unit
	}{
		{"p99 < 150ms", "p99", "<", ms(150), Nanoseconds},
		{"p99<=150ms", "p99", "<=", ms(150), Nanoseconds},
		{"p(99.9) <= 150 ms", "p99.9", "<=", ms(150), Nanoseconds},
		{"p99.99 < 1.5s", "p99.99", "<", ms(1500), Nanoseconds},
		{"max<2s", "max", "<", ms(2000), Nanoseconds},
		{"p100 < 2s", "p100", "<", ms(2000), Nanoseconds},
		{"p0.5 > 1us", "p0.5", ">", 1000, Nanoseconds},
		{"rps >= 95", "throughput", ">=", 95, PerSecond},
		{"rps >= 95%", "throughput", ">=", 0.95, Share},
		{"throughput >= 99%", "throughput", ">=", 0.99, Share},
		{"throughput >= 600/m", "throughput", ">=", 10, PerSecond},
		{"throughput > 95 /s", "throughput", ">", 95, PerSecond},
		{"service p50 < 1m30s", "service p50", "<", ms(90000), Nanoseconds},
		{"lag max < 1ms", "lag max", "<", ms(1), Nanoseconds},
		{"response mean < 1ms", "mean", "<", ms(1), Nanoseconds},
		{"error_rate < 0.1%", "error_rate", "<", 0.001, Share},
		{"error_rate <= 0", "error_rate", "<=", 0, Share},
		{"error_rate <= 0.01", "error_rate", "<=", 0.01, Share},
		{"success == 100%", "success", "==", 1, Share},
		{"success >= 99.9 %", "success", ">=", 0.999, Share},
		{"failed == 0", "failed", "==", 0, Count},
		{"dropped <= 3", "dropped", "<=", 3, Count},
		{"cpu(predictor) < 150%", "cpu(predictor)", "<", 1.5, Share},
		{"rss( predictor ) < 500MiB", "rss(predictor)", "<", 500 << 20, Bytes},
		{"rss(a) < 1.5 GB", "rss(a)", "<", 1.5e9, Bytes},
		{"alloc_bytes <= 0", "alloc_bytes", "<=", 0, Bytes},
		{"alloc_bytes < 16B", "alloc_bytes", "<", 16, Bytes},
		{"time[size=1000] p50 < 23.57ms", "time[size=1000] p50", "<", ms(23.57), Nanoseconds},
		{"time[ size = 10 ] max < 1s", "time[size=10] max", "<", ms(1000), Nanoseconds},
		{"time p50 < 1s", "time p50", "<", ms(1000), Nanoseconds},
		{"time[threads=2, size=10, algorithm=quick] p50 < 1s", "time[size=10,algorithm=quick,threads=2] p50", "<", ms(1000), Nanoseconds},
		{"slope[algorithm=quick] < 5us per row", "slope[algorithm=quick]", "<", 5000, NsPerRow},
		{"instructions[size=10] < 1000", "instructions[size=10]", "<", 1000, Count},
		{"alloc_bytes[size=10] < 1kB", "alloc_bytes[size=10]", "<", 1000, Bytes},
		{"slope < 5us per row", "slope", "<", 5000, NsPerRow},
		{"slope <= 25ns", "slope", "<=", 25, NsPerRow},
		{"growth <= linear", "growth", "<=", 2, Class},
		{"growth == constant", "growth", "==", 0, Class},
		{"p99[segment=hold 400/s] < 150ms", "p99[segment=hold 400/s]", "<", ms(150), Nanoseconds},
		{"service p99[host=*, status=2xx] < 150ms", "service p99[host=*,status=2xx]", "<", ms(150), Nanoseconds},
		{"p99[host=[::1]:8080] < 150ms", "p99[host=[::1]:8080]", "<", ms(150), Nanoseconds},
		{"home: failed[status=503] == 0", "home: failed[status=503]", "==", 0, Count},
		{"p99 <= baseline + 10% or 2ms", "p99", "<=", 0, Nanoseconds},
		{"throughput >= baseline - 5%", "throughput", ">=", 0, PerSecond},
		{"ttfb p99.9 < 50ms", "ttfb p99.9", "<", ms(50), Nanoseconds},
		{"connect max < 50ms", "connect max", "<", ms(50), Nanoseconds},
		{"p99 < 150ms for 95% of 10s windows", "p99", "<", ms(150), Nanoseconds},
		{"max < 150ms for 100% of 1m window, warn", "max", "<", ms(150), Nanoseconds},
		{"  p99\t<  150ms  ", "p99", "<", ms(150), Nanoseconds},
	} {
		s, err := ParseSLO(tt.text)
		if err != nil {
			t.Errorf("ParseSLO(%q) = %v", tt.text, err)
			continue
		}
		got := fmt.Sprintf("%s %s %v %s", s.Metric, s.Op, s.Limit, s.Unit)
		if want := fmt.Sprintf("%s %s %v %s", tt.metric, tt.op, tt.limit, tt.unit); got != want {
			t.Errorf("ParseSLO(%q) = %s, want %s", tt.text, got, want)
		}
		if again, err := ParseSLO(s.Metric.String() + " " + s.Op + " " + tt.text[limitAt(tt.text, s.Op):]); s.Metric.Kind != Throughput && (err != nil || again.Metric != s.Metric) {
			t.Errorf("ParseSLO(%q) reads its own metric %q as %q, %v", tt.text, s.Metric, again.Metric, err)
		}
	}
}

func limitAt(text, op string) int {
	for i := range text {
		if i+len(op) <= len(text) && text[i:i+len(op)] == op {
			return i + len(op)
		}
	}
	return len(text)
}

// C-22, C-21: what is refused, and where in the text.
func TestParseSLORefuses(t *testing.T) {
	for _, tt := range []struct {
		text   string
		offset int
	}{
		{"p0 > 1us", 0}, {"p(0) < 1us", 0}, {"p101 < 1s", 0}, {"p(-1) < 1s", 0}, {"p(NaN) < 1s", 0}, {"p99 < NaN", 6}, {"p99 < Inf", 6}, {"p99 < +Inf", 6},
		{"p99 < 150", 6}, {"p99 =< 150ms", 4}, {"p99 < 150ms extra", 12}, {"p99", 3}, {"", 0}, {"   ", 0}, {"p99 < -1ms", 6},
		{"latency < 1s", 0}, {"p99 ≤ 150ms", 4}, {"p99 < 150ms; max < 1s", 6}, {"p99 < 1e3ms", 6}, {"p99 << 1s", 4}, {"p99 != 1s", 4},
		{"p99 = 1s", 4}, {"p 99 < 1s", 1}, {"p(99 < 1s", 1}, {"p() < 1s", 2}, {"service < 1s", 8}, {"service error_rate < 1%", 8},
		{"error_rate <= 1", 14}, {"error_rate <= 1.0", 14}, {"error_rate < 2", 13}, {"error_rate < 101%", 13}, {"error_rate < -1%", 13},
		{"error_rate < NaN%", 13}, {"error_rate < 1%%", 13}, {"error_rate < 10ms", 13}, {"p99 < 10%", 6}, {"success >= 0", 11},
		{"success < 0%", 10}, {"success <= 100%", 11}, {"error_rate > 100%", 13}, {"failed < 1.5", 9}, {"failed < 1%", 9}, {"failed < 0", 9},
		{"failed >= 0", 10}, {"p99 < 0ms", 6}, {"p99 == 1s", 7}, {"cpu < 80%", 3}, {"cpu(a) < 80", 9}, {"cpu(a < 80%", 3}, {"rss(a) < 80", 9},
		{"rss(a) < 80%", 9}, {"rss(a) < 80mib", 9}, {"rss(a) < 80M", 9}, {"throughput >= 95", 14}, {"throughput >= 150%", 14},
		{"time < 1s", 5}, {"time[1000] p50 < 1s", 5}, {"time[size=10,size=10] p50 < 1s", 13}, {"slope[size=10] < 1us", 6}, {"time[a=] p50 < 1s", 5}, {"instructions < 1.5", 15}, {"time[size=0] p50 < 1s", 4}, {"time[size=1e3] p50 < 1s", 4},
		{"time[size=10] p95 < 1s", 14}, {"time[size=10] < 1s", 14}, {"slope < 5us per column", 12}, {"growth <= linaer", 10},
		{"growth <= cubic", 10}, {"growth < constant", 9}, {"p99 < 721h", 6}, {"p99 < 150ms for 95% of 10s", 26}, {"p99 < 150ms for 95 of 10s windows", 16}, {"p99[x=1] < 1s", 4}, {"p99[host=a] < 1s", 4},
		{"p99 <= baseline + 10", 18}, {"p99 <= baseline - 10%", 7}, {"\"p99 < 1s\"", 0}, {"P99 < 1s", 0}, {"p99.1.1 < 1s", 0}, {"p1000000000000000000000000 < 1s", 0},
	} {
		s, err := ParseSLO(tt.text)
		fault, ok := errors.AsType[*SLOError](err)
		if !ok {
			t.Errorf("ParseSLO(%q) = %+v, %v, want an *SLOError", tt.text, s, err)
			continue
		}
		if fault.Offset != tt.offset {
			t.Errorf("ParseSLO(%q): offset %d, want %d (%v)", tt.text, fault.Offset, tt.offset, err)
		}
	}
}

// C-21: limits in percent are exact, so that comparing them with a share of counts is.
func TestShareLimitsAreExact(t *testing.T) {
	for _, tt := range []struct {
		text     string
		bad, all int
		want     bool
	}{
		{"error_rate <= 1%", 1, 100, true}, {"error_rate <= 1%", 2, 100, false}, {"error_rate <= 0.01", 1, 100, true},
		{"error_rate < 1%", 1, 100, false}, {"error_rate <= 0.1%", 1, 1000, true}, {"error_rate <= 0.7%", 7, 1000, true},
		{"error_rate <= 29%", 29, 100, true}, {"error_rate <= 57%", 57, 100, true}, {"error_rate <= 1.15%", 115, 10000, true},
		{"success == 100%", 10, 10, true}, {"error_rate <= 33.3%", 333, 1000, true}, {"error_rate <= 0.001%", 3, 300000, true},
	} {
		s, err := ParseSLO(tt.text)
		if err != nil {
			t.Fatal(err)
		}
		share := float64(tt.bad) / float64(tt.all)
		got := s.Op == "<=" && share <= s.Limit || s.Op == "<" && share < s.Limit || s.Op == "==" && share == s.Limit
		if got != tt.want {
			t.Errorf("%d of %d meets %q = %v, want %v", tt.bad, tt.all, tt.text, got, tt.want)
		}
	}
	for n := 1; n <= 1000; n++ {
		s, err := ParseSLO(fmt.Sprintf("error_rate >= %d.%d%%", n/10, n%10))
		if err != nil {
			continue // 100.0% never holds
		}
		if share := float64(n) / 1000; share != s.Limit {
			t.Errorf("%d of 1000 is %v, the limit of %q is %v", n, share, s.Text, s.Limit)
		}
	}
}

// The sample sizes that a one-sided 95 % bound needs.
func TestMinSamples(t *testing.T) {
	for text, want := range map[string]int{"p50 < 1s": 5, "p90 < 1s": 29, "p95 < 1s": 59, "p99 < 1s": 299, "p99.9 < 1s": 2995, "p99.99 < 1s": 29956,
		"p100 < 1s": 1, "p99 > 1s": 1, "p1 > 1s": 299, "max < 1s": 1, "error_rate < 1%": 1,
		"time[size=10] p50 < 1s": 5, "time[size=10] p90 < 1s": 29, "time[size=10] mean < 1s": 1, "time[size=10] max < 1s": 1} {
		s, err := ParseSLO(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.MinSamples(); got != want {
			t.Errorf("%q.MinSamples() = %d, want %d", text, got, want)
		}
	}
}

func ExampleParseSLO() {
	s, _ := ParseSLO("p(99.9) <= 150 ms")
	fmt.Println(s.Metric, s.Op, s.Limit, s.Unit)
	_, err := ParseSLO("p99 < 150")
	fmt.Println(err)
	// Output:
	// p99.9 <= 1.5e+08 ns
	// duration without a unit: got "150", want a duration like 150ms (write 150ms or 150s)
}
