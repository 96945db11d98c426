package main

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/load/kts"
)

// Excerpts of what the tools print; those of k6, fortio and oha are after their
// documentation.
const (
	sampleWrk2 = `Running 14s test @ http://127.0.0.1:18778/
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency     6.03s   561.46ms   7.00s    57.58%
    Req/Sec       -nan      -nan   0.00      0.00%
  Latency Distribution (HdrHistogram - Recorded Latency)
 50.000%    6.03s 
 90.000%  681.50ms
 99.000%  870.00us
100.000%    7.00s 

  Detailed Percentile spectrum:
       Value   Percentile   TotalCount 1/(1-Percentile)

    5062.655     0.000000            1         1.00
    6881.279     0.950000          371        20.00
  1915 requests in 2.00s, 123.43KB read
  Socket errors: connect 1, read 39, write 2, timeout 7
`
	sampleWrk = `  Latency Distribution
     50%    5.05ms
     99%    6.87ms
  1915 requests in 2.00s, 123.43KB read
`
	sampleVegeta = `{"latencies":{"total":1084738036,"mean":5423690,"50th":5258627,"90th":5415726,"95th":5723856,"99th":10715351,"max":12949280,"min":5147320},
"requests":200,"rate":100.5,"success":0.975,"status_codes":{"0":5,"200":195},"errors":["EOF"]}`
	sampleHey = `
Summary:
  Total:	2.0144 secs

Response time histogram:
  0.006 [171]	|■■■■■

Latency distribution:
  10% in 0.0052 secs
  50% in 0.0053 secs
  99% in 0.0107 secs

Status code distribution:
  [200]	105 responses

Error distribution:
  [5]	Get "http://127.0.0.1:18780/": context deadline exceeded (Client.Timeout exceeded while awaiting headers)
`
	sampleH2load = "1796084890146142\t200\t5218\n1796084890146130\t200\t5389\n1796084890146225\t-1\t9310\n1796084890146230\t200\t5600\n"
	sampleK6     = `{"metrics":{"http_req_duration":{"p(50)":5.2,"p(99)":185.5,"p(99.9)":203},"http_reqs":{"count":2400,"rate":200},
"http_req_failed":{"passes":48,"fails":2352,"value":0.02}}}`
	sampleFortio = `{"DurationHistogram":{"Count":2400,"Percentiles":[{"Percentile":50,"Value":0.0052},{"Percentile":99.9,"Value":0.203}]},
"RetCodes":{"200":2390,"-1":10}}`
	sampleOha = `{"latencyPercentiles":{"p50":0.0052,"p99":0.1855,"p99.9":null},"statusCodeDistribution":{"200":2390},
"errorDistribution":{"connection closed before message completed":10}}`
)

func TestReadTools(t *testing.T) {
	h2load := func(offer, []byte) (figures, error) {
		return figures{q: h2loadQuantiles(sampleH2load), done: 3, failed: 1}, nil
	}
	of := func(parse func([]byte) (figures, error)) func(offer, []byte) (figures, error) {
		return func(_ offer, out []byte) (figures, error) { return parse(out) }
	}
	for _, tt := range []struct {
		tool, out    string
		read         func(offer, []byte) (figures, error)
		ms           map[float64]float64
		done, failed int64
	}{
		{"wrk2", sampleWrk2, readWrk, map[float64]float64{.5: 6030, .9: 681.5, .95: 6881.279, .99: .87}, 1915, 42},
		{"wrk", sampleWrk, readWrk, map[float64]float64{.5: 5.05, .95: math.NaN(), .99: 6.87}, 1915, 0},
		{"vegeta", sampleVegeta, of(parseVegeta), map[float64]float64{.5: 5.258627, .99: 10.715351, .999: math.NaN()}, 195, 5},
		{"hey", sampleHey, readHey, map[float64]float64{.5: 5.3, .99: 10.7}, 105, 5},
		{"h2load", "", h2load, map[float64]float64{.3: 5.218, .5: 5.389, .99: 5.6}, 3, 1},
		{"k6", sampleK6, of(parseK6), map[float64]float64{.5: 5.2, .9: math.NaN(), .999: 203}, 2352, 48},
		{"fortio", sampleFortio, of(parseFortio), map[float64]float64{.5: 5.2, .999: 203}, 2390, 10},
		{"oha", sampleOha, readOha, map[float64]float64{.5: 5.2, .99: 185.5, .999: math.NaN()}, 2390, 10},
	} {
		f, err := tt.read(offer{}, []byte(tt.out))
		if err != nil {
			t.Errorf("%s: %v", tt.tool, err)
			continue
		}
		if f.done != tt.done || f.failed != tt.failed {
			t.Errorf("%s: completed %d, failed %d, want %d, %d", tt.tool, f.done, f.failed, tt.done, tt.failed)
		}
		for p, want := range tt.ms {
			if got := f.q(p) / 1e6; !(math.Abs(got-want) < 1e-6 || math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("%s: p%g = %v ms, want %v ms", tt.tool, 100*p, got, want)
			}
		}
	}
	for _, read := range []func(offer, []byte) (figures, error){readWrk, readHey, readOha, of(parseVegeta), of(parseK6), of(parseFortio)} {
		if f, err := read(offer{}, []byte("killed")); err == nil {
			t.Errorf("no figures are read as %+v", f)
		}
	}
}

// The scenes belong to tests of the suite, and their servers have a law.
func TestScenes(t *testing.T) {
	for _, sc := range scenes() {
		if !slices.ContainsFunc(tests, func(tt test) bool { return tt.id == sc.test }) {
			t.Errorf("no test %s", sc.test)
		}
		if _, err := kts.ParseMode(sc.mode(9 * time.Second)); err != nil {
			t.Errorf("%s: %v", sc.test, err)
		}
	}
}
