package report

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

// sampleRuns are the runs that the tests print, by name. Each call of one makes a new record.
var sampleRuns = map[string]func() *result.Result{
	"pass": passing, "errors": errorful, "timeouts": timeouts, "capped": capped, "nogood": noGood, "interrupted": interrupted, "bench": benchOnly, "hostile": hostile,
	"empty": func() *result.Result { return &result.Result{SchemaVersion: 1, Tool: result.Tool{Name: "perfplan"}} },
}

const planSource = `version: 1
name: predictor
description: May the ranking service go behind the home page?
targets:
  predictor: {url: "http://127.0.0.1:8080", start: .perfplan/bin/predictor}
stages:
  - name: ladder
    load:
      request: get-ranking
      profile:
        - ramp: {from: 10/s, to: 100/s, over: 5s}
        - step: {from: 100/s, to: 300/s, by: 100/s, each: 10s}
    slo:
      - p99 < 150ms
      - error_rate < 0.1%
`

func run(outcome result.Outcome, exit int, reason string, stages ...result.Stage) *result.Result {
	start := time.Date(2026, 5, 4, 9, 30, 0, 0, time.UTC)
	end := start.Add(87*time.Second + 400*time.Millisecond)
	return &result.Result{
		SchemaVersion: 1, Tool: result.Tool{Name: "perfplan", Version: "0.1.0"}, RunID: "20260504T093000Z-4f2a9c",
		Plan: result.Plan{Name: "predictor", Description: "May the ranking service go behind the home page?", Path: "plans/predictor.yaml",
			Hash: "sha256:6b1f0f0c5d0f9d1b7a8f6f0a4f1f5c2f2d6c5f1e0b9a8d7c6b5a493827160504", Source: planSource},
		Started: start, Finished: &end, Outcome: outcome, Reason: reason, ExitCode: &exit,
		Environment: result.Environment{Hostname: "build-7", OS: "linux", Kernel: "6.18.5", Arch: "amd64", CPUModel: "Intel Xeon 8481C", Cores: 2, MemoryBytes: 8 << 30,
			GoVersion: "go1.26.8", FDLimit: 1048576, Commit: "c96efd8", Fingerprint: "linux/amd64/2/xeon-8481c"},
		Targets: []result.Target{{Name: "predictor", URLs: []string{"http://127.0.0.1:8080"}, Command: ".perfplan/bin/predictor --listen 127.0.0.1:8080", PID: 4711, LogFile: "predictor.log", ReadyNS: 184e6}},
		Stages:  stages,
	}
}

func ladder() simulation {
	return simulation{
		segments: []segmentSpec{{"ramp", 10, 100, 5 * time.Second}, {"step", 100, 100, 10 * time.Second}, {"step", 200, 200, 10 * time.Second}, {"step", 300, 300, 10 * time.Second}},
		median:   31 * time.Millisecond, spread: 0.18, maxInFlight: 64, limit: 150 * time.Millisecond, errorKind: "status",
	}
}

func slo(text, metric, op string, limit float64, unit string, o result.Outcome, value float64, n int64, reason string) result.SLO {
	state := map[result.Outcome]string{result.Pass: "passed", result.Fail: "failed", result.Inconclusive: "inconclusive"}[o]
	return result.SLO{Text: text, Metric: metric, Op: op, Limit: limit, Unit: unit, Outcome: o, State: state, Value: &value, Samples: n, Reason: reason}
}

// loadSLOs are three SLOs as the stage ended.
func loadSLOs(l *result.Load, p99 result.Outcome) []result.SLO {
	value := float64(*l.Response.P99NS)
	a := slo("p99 < 150ms", "p99", "<", 150e6, "ns", p99, value, l.Offered, "0 of 3,275 offered requests were over 150 ms; 1 % may be")
	if p99 != result.Pass {
		a.Reason = fmt.Sprintf("%d of %d offered requests were over 150 ms; 1 %% may be", l.Segments[len(l.Segments)-1].OverResponse[0], l.Offered)
	}
	a.Set = "offered requests; failed ones count as over the limit"
	a.Censored = l.Response.CensoredFromNS != nil
	a.Segment = l.Segments[len(l.Segments)-1].Name
	over := float64(l.Segments[len(l.Segments)-1].OverResponse[0]) / float64(max(1, l.Segments[len(l.Segments)-1].Offered))
	a.Interval = &result.Interval{Of: "share over the limit", Lo: ref(over * 0.9), Hi: ref(min(1, over*1.1+0.001)), Confidence: .95}
	for _, seg := range l.Segments {
		a.Segments = append(a.Segments, result.SLOSegment{Segment: seg.Name, Outcome: p99, State: a.State, Value: floatOf(seg.Response.P99NS), Samples: seg.Offered,
			Interval: a.Interval, Reason: a.Reason})
	}
	rate := float64(l.Failed) / float64(l.Offered)
	b := slo("error_rate < 0.1%", "error_rate", "<", 0.001, "share", result.Pass, rate, l.Offered, fmt.Sprintf("%d of %d requests failed, were dropped or did not finish", l.Failed, l.Offered))
	if rate >= 0.001 {
		b.Outcome, b.State = result.Fail, result.StateFailed
	}
	b.Set = "offered requests"
	c := slo("cpu(predictor) < 80%", "cpu(predictor)", "<", 0.8, "share", result.Pass, 0.412, 35, "measured 41.2 %, limit < 80 % (100 % is one core)")
	return []result.SLO{a, b, c}
}

func observation(n int, level string) *result.Observation {
	o := &result.Observation{IntervalNS: 1e9, Samples: n}
	r := rand.New(rand.NewPCG(5, 6))
	target := result.Process{Name: "predictor", PID: 4711, CPUShare: ref(0.412), CPUMaxShare: ref(0.71), RSSMaxBytes: ref(int64(88 << 20))}
	own := result.Process{Name: "perfplan", PID: 4700, CPUShare: ref(0.21), CPUMaxShare: ref(0.3), RSSMaxBytes: ref(int64(41 << 20))}
	for i := range n {
		t := int64(i+1) * 1e9
		busy := 0.2 + 0.012*float64(i) + 0.05*r.Float64()
		o.Host = append(o.Host, result.HostSample{TNS: t, RunQueue: ref(1.0 + float64(i%2)), UserShare: ref(busy / 2), SystemShare: ref(0.05), IdleShare: ref(0.95 - busy/2), StealShare: ref(0.0), AvailableBytes: ref(6.2 * (1 << 30))})
		target.Series = append(target.Series, result.ProcessSample{TNS: t, CPUShare: ref(busy), RSSBytes: ref(int64(80+i/4) << 20)})
		own.Series = append(own.Series, result.ProcessSample{TNS: t, CPUShare: ref(busy / 2), RSSBytes: ref(int64(40) << 20)})
	}
	o.Processes = []result.Process{target, own}
	sat := result.USECell{Level: level, Value: ref(0.02), Unit: "share", Text: "of the time a task waited for a core (pressure)"}
	if level == result.LevelSaturated {
		sat.Value = ref(0.63)
	}
	o.USE = []result.USE{
		{Resource: "cpu", Utilisation: result.USECell{Level: result.LevelOK, Value: ref(0.41), Unit: "share", Text: "of 2 cores busy"}, Saturation: sat, Errors: result.USECell{Level: result.LevelNA, Text: "no counter for CPU errors"}},
		{Resource: "memory", Utilisation: result.USECell{Level: result.LevelOK, Value: ref(0.22), Unit: "share", Text: "of 8 GiB in use"}, Saturation: result.USECell{Level: result.LevelOK, Value: ref(0.0), Unit: "per_s", Text: "pages swapped"}, Errors: result.USECell{Level: result.LevelOK, Value: ref(0.0), Unit: "count", Text: "processes killed for memory"}},
		{Resource: "disk", Utilisation: result.USECell{Level: result.LevelNA, Text: "no disk is visible"}, Saturation: result.USECell{Level: result.LevelOK, Value: ref(0.001), Unit: "share", Text: "of the time a task waited for I/O"}, Errors: result.USECell{Level: result.LevelNA, Text: "not readable"}},
		{Resource: "network", Utilisation: result.USECell{Level: result.LevelOK, Value: ref(0.01), Unit: "share", Text: "of the link's speed"}, Saturation: result.USECell{Level: result.LevelOK, Value: ref(0.0), Unit: "count", Text: "listen queue overflows"}, Errors: result.USECell{Level: result.LevelOK, Value: ref(0.0), Unit: "count", Text: "errors of interfaces"}},
	}
	return o
}

func benchStage() result.Stage {
	published := []float64{23.57, 44.48, 74.69, 97.26, 111.29, 134.31, 154.03, 172.68, 195.98, 222.22}
	b := &result.Microbenchmark{Command: ".perfplan/bin/predictor bench", Forks: 3, Samples: 4, MinTimeNS: 50e6, Seed: 7,
		Fits:      []result.Fit{{Class: "linear", SlopeNS: 347.2, SlopeLoNS: ref(341.0), SlopeHiNS: ref(353.1), InterceptNS: 11800, R2: 0.99987, Evidence: 0.97}},
		Reference: &result.Reference{Name: "JVM service", Source: "ScalaMeter, 9 forks × 4 samples, mean"},
		Baseline:  &result.BenchBaseline{Runs: []string{"20260901T101500Z-aa11bb"}, New: []string{"size 1000"}, Vanished: []string{"size 500"}}}
	r := rand.New(rand.NewPCG(3, 4))
	for i, ms := range published {
		n := (i + 1) * 1000
		median := 347.2*float64(n) + 11800
		z := result.Size{Size: n, Samples: 12, Iterations: 1200, MinNS: ref(median * .97), MeanNS: ref(median * 1.012), P50NS: &median, P90NS: ref(median * 1.06), MaxNS: ref(median * 1.11),
			Interval: &result.Interval{Of: "value", Lo: ref(median * .975), Hi: ref(median * 1.03), Confidence: .95}, AllocBytes: ref(4096.0), Allocs: ref(3.0)}
		for j := range 3 {
			f := result.Fork{Order: 3*i + j, Settled: true, WarmupIterations: int64(200 + 10*j), SampleIterations: 100}
			for k := range 14 {
				f.WarmupNS = append(f.WarmupNS, median*(1+1.4*math.Exp(-float64(k)/2.5)+.03*r.Float64()))
			}
			for range 4 {
				f.SamplesNS = append(f.SamplesNS, median*(.97+.1*r.Float64()))
			}
			z.Forks = append(z.Forks, f)
		}
		z.CPUNS, z.RSSBytes, z.GCs, z.GCPauseNS, z.Spread, z.Visible = ref(median*1.01), ref(int64(30<<20+n<<10)), ref(0.002), ref(180.0), ref(0.012), ref(0.043)
		if i == 6 {
			z.Outliers = []result.Outlier{{Fork: 1, Sample: 2, NS: median * 1.4, Cause: result.CauseCPU}, {Fork: 2, Sample: 0, NS: median * 1.3, Cause: result.CauseGC}}
		}
		b.Fits[0].Points = append(b.Fits[0].Points, result.FitPoint{Size: n, TimeNS: median * (1 + 0.004*float64(i%3-1)), Residual: -0.004 * float64(i%3-1)})
		d := result.BenchDelta{Size: n, BaseNS: median * (1 - 0.01*float64(i)), NowNS: median, Change: 1/(1-0.01*float64(i)) - 1, Verdict: result.DeltaUnclear}
		d.Interval = &result.Interval{Of: "change", Lo: ref(d.Change - .03), Hi: ref(d.Change + .03), Confidence: .95}
		switch {
		case i < 2:
			d.Verdict = result.DeltaSame
		case i > 7:
			d.Verdict = result.DeltaSlower
		}
		b.Baseline.Cells = append(b.Baseline.Cells, d)
		b.Sizes = append(b.Sizes, z)
		b.Reference.Points = append(b.Reference.Points, result.ReferencePoint{Size: n, TimeNS: int64(ms * 1e6)})
	}
	s := slo("time[size=1000] p50 < 23.57ms", "time[size=1000] p50", "<", 23.57e6, "ns", result.Pass, 359000, 12, "measured 359µs, limit < 23.57ms, interval 350µs to 370µs")
	s.Interval = &result.Interval{Of: "value", Lo: ref(350e3), Hi: ref(370e3), Confidence: .95}
	g := slo("growth <= linear", "growth", "<=", 2, "class", result.Pass, 2, 0, "the growth is linear (weight of the evidence 97 %), limit <= linear")
	return result.Stage{Name: "predict", Kind: "microbenchmark", Outcome: result.Pass, Reason: "all 2 SLOs hold", State: result.Complete, DurationNS: 19.4e9, SLO: []result.SLO{s, g}, Microbenchmark: b, Observation: observation(18, result.LevelOK)}
}

// gridStage is a microbenchmark of two algorithms, one stored as what another tool measured.
func gridStage() result.Stage {
	b := &result.Microbenchmark{Kind: "time", Command: "./sort --with ${algorithm} ${size}", Forks: 3, Samples: 5, Seed: 1, OverheadNS: ref(812e3)}
	for k, name := range []string{"quick", "heap"} {
		set := result.Settings{{Name: "algorithm", Value: name}}
		f := result.Fit{Settings: set, Class: "linearithmic", ClassLo: "linear", ClassHi: "linearithmic", Evidence: 0.7, SlopeNS: 90, SlopeLoNS: ref(70.0), SlopeHiNS: ref(110.0), InterceptNS: 4e5, R2: 0.98}
		for i := range 5 {
			n := []int{100, 1000, 10_000, 100_000, 1_000_000}[i]
			median := 4e5 + float64(k+1)*6*float64(n)*math.Log(float64(n))
			z := result.Size{Size: n, Settings: set, Samples: 15, Iterations: 15, MinNS: ref(median * .98), MeanNS: ref(median), P50NS: ref(median), MaxNS: ref(median * 1.05), CPUNS: ref(median * .9), RSSBytes: ref(int64(5 << 20))}
			for j := range 3 {
				z.Forks = append(z.Forks, result.Fork{Order: i*3 + j, Settled: true, SampleIterations: 1, WarmupIterations: 2, WarmupNS: []float64{median * 1.5, median}, SamplesNS: []float64{median * .98, median, median * 1.01, median, median * 1.05}})
			}
			f.Points = append(f.Points, result.FitPoint{Size: n, TimeNS: median * 1.01, Residual: -.01})
			b.Sizes = append(b.Sizes, z)
		}
		b.Fits = append(b.Fits, f)
	}
	return result.Stage{Name: "sorting", Kind: "microbenchmark", Outcome: result.Pass, Reason: "no SLO was declared for it", State: result.Complete, DurationNS: 9e9, SLO: []result.SLO{}, Microbenchmark: b}
}

func warmStage() result.Stage {
	l := simulation{segments: []segmentSpec{{"hold", 50, 50, 6 * time.Second}}, median: 33 * time.Millisecond, spread: 0.3, maxInFlight: 64, limit: time.Second}.run()
	return result.Stage{Name: "warm", Kind: "warmup", Outcome: result.Pass, Reason: "settled after 4s", State: result.Complete, StartNS: 20e9, DurationNS: 6.04e9,
		Warmup: &result.Warmup{Until: "steady", Settled: true, SettledNS: ref(int64(4e9)), Excluded: l.Offered}, Load: l, Observation: observation(5, result.LevelOK)}
}

func loadStage(name string, o result.Outcome, reason string, sim simulation, p99 result.Outcome) result.Stage {
	l := sim.run()
	level := result.LevelOK
	if o == result.Fail {
		level = result.LevelSaturated
	}
	return result.Stage{Name: name, Kind: "load", Outcome: o, Reason: reason, State: result.Complete, StartNS: 27e9, DurationNS: l.DurationNS + l.DrainNS, SLO: loadSLOs(l, p99), Load: l, Observation: observation(35, level)}
}

func passing() *result.Result {
	l := loadStage("ladder", result.Pass, "all 3 SLOs hold", ladder(), result.Pass)
	l.Warnings = []result.Warning{{Code: "in_flight_cap", Severity: result.Note, Text: "2 of 6275 arrivals found max_in_flight (64) requests under way"}}
	return run(result.Pass, 0, "all 5 SLOs hold", benchStage(), warmStage(), l)
}

func errorful() *result.Result {
	sim := ladder()
	sim.errors, sim.hosts = 0.15, 2
	l := loadStage("ladder", result.Fail, "", sim, result.Fail)
	l.SLO[0].Value, l.SLO[0].Censored = nil, false
	l.Reason = "error_rate < 0.1%: " + l.SLO[1].Reason
	return run(result.Fail, 1, "stage ladder: "+l.Reason, benchStage(), warmStage(), l)
}

func timeouts() *result.Result {
	sim := ladder()
	sim.hang, sim.maxInFlight, sim.segments = 0.03, 1000, sim.segments[1:]
	l := loadStage("ladder", result.Fail, "", sim, result.Fail)
	l.Reason = "p99 < 150ms: " + l.SLO[0].Reason
	return run(result.Fail, 1, "stage ladder: "+l.Reason, l)
}

func capped() *result.Result {
	sim := ladder()
	sim.segments, sim.maxInFlight = []segmentSpec{{"hold", 400, 400, 20 * time.Second}}, 8
	l := loadStage("hold", result.Inconclusive, "", sim, result.Inconclusive)
	said := "the client's in-flight cap (max_in_flight: 8) held back 7988 of 8000 requests (mean in flight 8.0): 400/s × 31.49ms service time need 13 in flight by Little's law, so the client's ceiling is about 254/s"
	l.Warnings = []result.Warning{{Code: "in_flight_cap", Severity: result.Suspect, Text: said, Fix: "raise max_in_flight above 8, unless the cap is what you want to test"},
		{Code: "steal", Severity: result.Suspect, Text: "the hypervisor took 7.5 % of the machine's time", Fix: "measure on a machine that is not shared"}}
	l.SLO[0].Reason = "from the send on the limit holds, but " + said
	l.Reason = "p99 < 150ms: " + l.SLO[0].Reason
	return run(result.Inconclusive, 5, "stage hold: "+l.Reason, l)
}

// C-26: not one request was answered.
func noGood() *result.Result {
	sim := simulation{segments: []segmentSpec{{"hold", 10, 10, time.Second}}, median: time.Millisecond, maxInFlight: 8, errors: 1, errorKind: "refused", limit: 150 * time.Millisecond}
	l := sim.run()
	l.Status = nil
	e := slo("error_rate < 0.1%", "error_rate", "<", 0.001, "share", result.Fail, 1, 10, "10 of 10 requests (100 %) failed, were dropped or did not finish")
	none := result.SLO{Text: "service p50 < 100ms", Metric: "service p50", Op: "<", Limit: 100e6, Unit: "ns", Outcome: result.Inconclusive, State: result.StateNoData, Reason: "no sample"}
	p99 := result.SLO{Text: "p99 < 150ms", Metric: "p99", Op: "<", Limit: 150e6, Unit: "ns", Outcome: result.Fail, State: result.StateFailed, Samples: 10, Reason: "10 of 10 requests were over 150ms, failed or did not finish"}
	failed := result.Stage{Name: "hold", Kind: "load", Outcome: result.Fail, State: result.Complete, Reason: "error_rate < 0.1%: " + e.Reason, DurationNS: 1e9, SLO: []result.SLO{p99, e, none}, Load: l, Observation: &result.Observation{IntervalNS: 1e9}}
	skipped := result.Stage{Name: "later", Kind: "load", Outcome: result.Inconclusive, State: result.Skipped, Reason: "the stage before it had no answer"}
	return run(result.Fail, 1, "stage hold: "+failed.Reason, failed, skipped)
}

func interrupted() *result.Result {
	sim := ladder()
	sim.stop = 12 * time.Second
	l := sim.run()
	p99 := slo("p99 < 150ms", "p99", "<", 150e6, "ns", result.Inconclusive, float64(*l.Response.P99NS), l.Offered, "the stage ended early; until then: 0 of 975 offered requests were over 150 ms")
	cut := result.Stage{Name: "ladder", Kind: "load", Outcome: result.Inconclusive, State: result.Partial, Reason: "the stage ended early", StartNS: 27e9, DurationNS: 12e9, SLO: []result.SLO{p99}, Load: l, Observation: observation(12, result.LevelOK)}
	later := result.Stage{Name: "hold", Kind: "load", Outcome: result.Inconclusive, State: result.Skipped, Reason: "the run was interrupted"}
	r := run(result.Inconclusive, 130, "stage ladder: the stage ended early", benchStage(), warmStage(), cut, later)
	r.Interrupted = true
	return r
}

func benchOnly() *result.Result {
	return run(result.Pass, 0, "all 2 SLOs hold", benchStage(), gridStage())
}

// hostileNames are the names of C-27.
func hostileNames() []string {
	return []string{"/upload/<uuid>", "</script><script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "a&b'c", "{{.}}", "模式 – ü", strings.Repeat("long-name-", 30), "| pipe `code` @team #1 *x*"}
}

func hostile() *result.Result {
	r := run(result.Fail, 1, "")
	short := simulation{segments: []segmentSpec{{"step", 20, 20, time.Second}, {"step", 40, 40, time.Second}}, median: 5 * time.Millisecond, spread: 0.2, maxInFlight: 8, limit: 150 * time.Millisecond, errors: 0.2, errorKind: "status"}
	for _, name := range hostileNames() {
		st := loadStage(name, result.Fail, "of "+name, short, result.Fail)
		st.SLO[0].Text, st.SLO[0].Segment = "p99 < 150ms in "+name, name
		st.Load.Request, st.Load.Target, st.Load.Segments[0].Name, st.Load.Errors[0].Example = name, name, name, name
		st.Load.Hosts[0].Address, st.Observation.Processes[0].Name, st.Observation.USE[0].Resource = name, name, name
		st.Warnings = []result.Warning{{Code: "x", Severity: result.Invalid, Text: name, Fix: name}}
		r.Stages = append(r.Stages, st)
	}
	b := benchStage()
	b.Name, b.Microbenchmark.Reference.Name, b.Microbenchmark.Command = hostileNames()[2], hostileNames()[1], hostileNames()[1]
	r.Stages = append(r.Stages, b)
	r.Plan.Name, r.Plan.Description, r.Plan.Source = hostileNames()[1], hostileNames()[2], strings.Join(hostileNames(), "\n")
	r.Plan.Path, r.Reason, r.Error = hostileNames()[0], strings.Join(hostileNames(), " "), ""
	r.Targets[0].URLs = []string{"http://127.0.0.1:8080/?a=1&b=<2>"}
	r.Environment.Hostname = hostileNames()[2]
	return r
}
