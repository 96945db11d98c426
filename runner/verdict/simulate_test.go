package verdict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// A process makes the response times of a run, in ms, a slice a second.
type process struct {
	name string
	draw func(r *rand.Rand, seconds, rate int) [][]float64
}

// The processes of the design: independent times; stalls of exponential length every 2 s on the average, in which all that comes waits
// for the end; one server at 90 % of its capacity.
func processes() []process {
	return []process{
		{"independent", func(r *rand.Rand, seconds, rate int) [][]float64 {
			out := make([][]float64, seconds)
			for s := range out {
				for range rate {
					out[s] = append(out[s], 5*math.Exp(0.5*r.NormFloat64()))
				}
			}
			return out
		}},
		{"stalls", func(r *rand.Rand, seconds, rate int) [][]float64 {
			out := make([][]float64, seconds)
			next, end := 2*r.ExpFloat64(), -1.0
			for i := range seconds * rate {
				at := float64(i) / float64(rate)
				for at >= next {
					end = next + 0.05*r.ExpFloat64()
					next = max(end, next) + 2*r.ExpFloat64()
				}
				ms := 5 * math.Exp(0.2*r.NormFloat64())
				if at < end {
					ms += 1000 * (end - at)
				}
				out[int(at)] = append(out[int(at)], ms)
			}
			return out
		}},
		{"M/M/1 at 0.9", func(r *rand.Rand, seconds, rate int) [][]float64 {
			out := make([][]float64, seconds)
			mu := float64(rate) / 0.9
			wait, at := r.ExpFloat64()/(mu-float64(rate)), 0.0 // about as in the steady state
			for {
				gap := r.ExpFloat64() / float64(rate)
				if at += gap; at >= float64(seconds) {
					return out
				}
				wait = max(0, wait-gap)
				service := r.ExpFloat64() / mu
				out[int(at)] = append(out[int(at)], 1000*(wait+service))
				wait += service
			}
		}},
	}
}

// trueP99 is the p99 of each process in the long run, ms: two by their formulas.
var trueP99 = map[string]func(r *rand.Rand, p process) float64{
	"independent":  func(*rand.Rand, process) float64 { return 5 * math.Exp(0.5*2.3263478740408408) },
	"M/M/1 at 0.9": func(*rand.Rand, process) float64 { return 1000 * math.Log(100) / (simulatedRate/0.9 - simulatedRate) },
	"stalls":       func(r *rand.Rand, p process) float64 { return p99(p.draw(r, 30000, simulatedRate)) },
}

const simulatedRate = 500

func p99(run [][]float64) float64 {
	all := slices.Concat(run...)
	slices.Sort(all)
	v, _ := stats.Quantile(all, 0.99)
	return v
}

// simulated is the record of a stage with these times in ms, a slice a second, and its SLOs.
func simulated(t *testing.T, run [][]float64, slos []plans.SLO) *result.Stage {
	t.Helper()
	l := &result.Load{DurationNS: int64(len(run)) * 1e9, LimitsNS: LimitsNS(slos)}
	seg := result.Segment{Name: "hold", DurationNS: l.DurationNS, OverResponse: make([]int64, len(l.LimitsNS)), OverService: make([]int64, len(l.LimitsNS))}
	width := min(max(l.DurationNS/40, 50e6), 1e9)
	bins := int((l.DurationNS + width - 1) / width)
	seg.Bins = result.Bins{WidthNS: width, Offered: make([]int64, bins), Over: make([][]int64, len(l.LimitsNS))}
	for i := range seg.Bins.Over {
		seg.Bins.Over[i] = make([]int64, bins)
	}
	all := hist.New()
	var enc hist.Encoder
	for s, times := range run {
		h := hist.New()
		for k, ms := range times {
			ns := int64(ms * 1e6)
			h.Record(ns)
			at := min(int((int64(s)*1e9+int64(k)*1e9/int64(len(times)))/width), bins-1)
			seg.Bins.Offered[at]++
			if over, _ := slices.BinarySearch(l.LimitsNS, ns); over > 0 {
				seg.Bins.Over[over-1][at]++ // the highest limit that it is over; below it counts for those under it, too
			}
		}
		text, err := enc.Encode(h)
		if err != nil {
			t.Fatal(err)
		}
		l.Intervals = append(l.Intervals, result.HistInterval{StartNS: int64(s) * 1e9, EndNS: int64(s+1) * 1e9, Histogram: text})
		all.Merge(h)
	}
	for i := len(l.LimitsNS) - 1; i >= 0; i-- {
		for at := range bins {
			if i+1 < len(l.LimitsNS) {
				seg.Bins.Over[i][at] += seg.Bins.Over[i+1][at]
			}
			seg.OverResponse[i] += seg.Bins.Over[i][at]
		}
	}
	n := all.Count()
	l.Counts = result.Counts{Offered: n, Sent: n, Completed: n}
	l.Response = distribution(t, all)
	l.Service = l.Response
	seg.Counts, seg.Response, seg.Service, seg.Planned = l.Counts, l.Response, l.Response, n
	copy(seg.OverService, seg.OverResponse)
	l.Segments = []result.Segment{seg}
	st := &result.Stage{Name: "hold", Kind: "load", State: result.Complete, Load: l}
	Stage(&plans.Stage{Name: "hold", Work: &plans.Load{}, SLOs: slos}, st)
	return st
}

// TestSimulateGates prints and judges what the gates are worth on streams of which the truth is known (make simulate).
func TestSimulateGates(t *testing.T) {
	if os.Getenv("SIMULATE_GATES") == "" {
		t.Skip("SIMULATE_GATES=1 runs it; it takes minutes")
	}
	t.Run("one stage", simulateStage)
	t.Run("pairs", simulatePairs)
}

// How often the bounds of p99 hold, how often an assertion at its true value passes or fails, and from which limit on most runs pass.
func simulateStage(t *testing.T) {
	const n = 400
	fmt.Printf("One stage at %d/s, %d runs each. Bounds of p99: how often an end is not known (n/a), and of the others how often the\ntrue value is within (95 %% are claimed); how often bounds are shown that miss it.\n", simulatedRate, n)
	fmt.Println("p99 < its true value: passes and fails, both wrong. The limit, as a multiple of the true value, that 80 % of runs pass; the one that 80 % fail.")
	fmt.Printf("%-14s %5s  %5s %7s %7s  %6s %6s  %7s %7s  %s\n", "process", "s", "n/a", "within", "missed", "passes", "fails", "80 pass", "80 fail", "n_eff")
	multiples := []float64{0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10}
	r := rand.New(rand.NewPCG(1, 2))
	for _, p := range processes() {
		truth := trueP99[p.name](r, p)
		var slos []plans.SLO
		for _, m := range multiples {
			slos = append(slos, parse(t, fmt.Sprintf("p99 < %dns", int64(m*truth*1e6)))...)
		}
		for _, seconds := range []int{20, 60, 240} {
			within, unknown, eff := 0, 0, 0.0
			passes, fails := make([]int, len(multiples)), make([]int, len(multiples))
			for range n {
				st := simulated(t, p.draw(r, seconds, simulatedRate), slos)
				b := st.Load.Segments[0].Response.Bound(0.99)
				switch {
				case b == nil || b.LoNS == nil || b.HiNS == nil:
					unknown++
				case float64(*b.LoNS) <= truth*1e6*1.001 && float64(*b.HiNS) >= truth*1e6*0.999: // the resolution of histograms
					within++
				}
				if b != nil {
					eff += b.NEff / n
				}
				for i, s := range st.SLO {
					switch s.Outcome {
					case result.Pass:
						passes[i]++
					case result.Fail:
						fails[i]++
					}
				}
			}
			at := slices.Index(multiples, 1)
			text := func(m float64) string { return strings.TrimSuffix(fmt.Sprintf("%.2f×", m), "0×") }
			most := func(k []int, of []float64) string {
				for _, m := range of {
					if k[slices.Index(multiples, m)] >= n*8/10 {
						return text(m)
					}
				}
				return "none"
			}
			down := slices.Clone(multiples)
			slices.Reverse(down)
			missed := n - unknown - within
			fmt.Printf("%-14s %5d  %4.0f%% %6s%% %6.1f%%  %5.1f%% %5.1f%%  %7s %7s  %.0f\n", p.name, seconds, 100*float64(unknown)/n, percentOf(within, n-unknown), 100*float64(missed)/n,
				100*float64(passes[at])/n, 100*float64(fails[at])/n, most(passes, multiples), most(fails, down), eff)
			for what, k := range map[string]int{"wrong passes": passes[at], "wrong failures": fails[at]} {
				if k > n*7/100 { // 5 %, and what 400 draws may be off by
					t.Errorf("%s, %d s: %d %s of %d, want 5 %%", p.name, seconds, k, what, n)
				}
			}
			if missed > n/10 {
				t.Errorf("%s, %d s: bounds of p99 that miss it are shown in %d of %d, want 10 %% at most", p.name, seconds, missed, n)
			}
		}
	}
}

// percentOf is k of n in per cent.
func percentOf(k, n int) string {
	if n == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(k)/float64(n))
}

func simulatePairs(t *testing.T) {
	const n = 200
	r := rand.New(rand.NewPCG(3, 4))
	fmt.Printf("\nComparisons of p99 in up to %d pairs of runs at %d/s that differ by 3 %% besides, %d each: how many pass, fail and stay open.\n", stats.MaxPairs, simulatedRate, n)
	fmt.Printf("%-14s %5s  %6s   %-22s   %s\n", "process", "s", "margin", "no change", "worse by the margin")
	for _, p := range processes() {
		seconds := map[string]int{"stalls": 240}[p.name]
		if seconds == 0 {
			seconds = 60
		}
		ok := false
		for _, margin := range []float64{0.1, 0.2, 0.3, 0.4, 0.5, 0.7} {
			var rates [2][3]float64 // without a change, at the margin
			for k, truth := range []float64{0, margin} {
				for range n {
					var ratios []float64
					d := stats.Undecided
					for len(ratios) < stats.MaxPairs && d == stats.Undecided {
						run := func() float64 { return p99(p.draw(r, seconds, simulatedRate)) * math.Exp(0.03*r.NormFloat64()) }
						ratios = append(ratios, (1+truth)*run()/run())
						if stats.IsLook(len(ratios)) {
							c, _ := stats.Paired(ratios, margin, 1)
							d = c.Decision
						}
					}
					rates[k][map[stats.Decision]int{stats.NoWorse: 0, stats.Worse: 1, stats.Undecided: 2}[d]] += 100.0 / n
				}
			}
			fmt.Printf("%-14s %5d  %5.0f%%   %5.1f%% %5.1f%% %5.1f%%     %5.1f%% %5.1f%% %5.1f%%\n", p.name, seconds, 100*margin, rates[0][0], rates[0][1], rates[0][2], rates[1][0], rates[1][1], rates[1][2])
			if rates[0][1] > 8 || rates[1][0] > 8 { // 5 %, and what 200 draws may be off by
				t.Errorf("%s, margin %v: %.1f %% wrong failures, %.1f %% wrong passes", p.name, margin, rates[0][1], rates[1][0])
			}
			if ok = rates[0][0] >= 80; ok {
				break
			}
		}
		if !ok {
			t.Errorf("%s: no margin lets 80 %% of comparisons without a change pass", p.name)
		}
	}
}
