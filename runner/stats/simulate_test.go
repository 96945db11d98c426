package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"
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

func p99(run [][]float64) float64 {
	all := slices.Sorted(slices.Values(slices.Concat(run...)))
	v, _ := Quantile(all, 0.99)
	return v
}

// TestSimulateGates prints and judges what the gates are worth on streams of which the truth is known (make simulate): how often the bounds of
// the share over a limit hold, and what comparisons in pairs decide when runs differ by 3 % besides.
func TestSimulateGates(t *testing.T) {
	if os.Getenv("SIMULATE_GATES") == "" {
		t.Skip("SIMULATE_GATES=1 runs it; it takes two minutes")
	}
	const rate, seconds = 500, 60
	r := rand.New(rand.NewPCG(1, 2))
	fmt.Printf("bounds of the share of requests over the true p99, %d s at %d/s, 1000 runs: each is to hold in 95 %%\n", seconds, rate)
	limits := map[string]float64{}
	for _, p := range processes() {
		limits[p.name] = p99(p.draw(r, 4000, rate))
		lower, upper, refused := 0, 0, 0
		const n = 1000
		for range n {
			var exceed, total []int64
			for _, second := range p.draw(r, seconds, rate) {
				over := int64(0)
				for _, ms := range second {
					if ms > limits[p.name] {
						over++
					}
				}
				exceed, total = append(exceed, over), append(total, int64(len(second)))
			}
			iv := ExceedanceInterval(exceed, total, 0.95)
			if iv.Lag1 > maxLag1 {
				refused++ // the verdict says that the stage is too short for its memory
			}
			if iv.Lo <= 0.01 {
				lower++
			}
			if iv.Hi >= 0.01 {
				upper++
			}
		}
		fmt.Printf("  %-14s lower %.1f %%, upper %.1f %%, both %.1f %%\n", p.name, 100*float64(lower)/n, 100*float64(upper)/n, 100*float64(lower+upper-n)/n)
		if lower+upper-n < 900 {
			t.Errorf("%s: both bounds hold in %.1f %%, want 90", p.name, 100*float64(lower+upper-n)/n)
		}
	}
	fmt.Printf("comparisons of p99 in up to 12 pairs of runs of %d s that differ by 3 %% besides: passes, fails, undecided\n", seconds)
	for _, p := range processes() {
		const n = 200
		ok := false
		for _, margin := range []float64{0.1, 0.2, 0.3, 0.5, 0.8} {
			var rates [2][3]float64 // without a change, at the margin
			for k, truth := range []float64{0, margin} {
				for range n {
					var ratios []float64
					d := Undecided
					for len(ratios) < MaxPairs && d == Undecided {
						run := func() float64 { return p99(p.draw(r, seconds, rate)) * math.Exp(0.03*r.NormFloat64()) }
						ratios = append(ratios, (1+truth)*run()/run())
						if IsLook(len(ratios)) {
							c, _ := Paired(ratios, margin, 1)
							d = c.Decision
						}
					}
					rates[k][map[Decision]int{NoWorse: 0, Worse: 1, Undecided: 2}[d]] += 1.0 / n
				}
			}
			fmt.Printf("  %-14s margin %3.0f %%: no change %.2f/%.2f/%.2f, at the margin %.2f/%.2f/%.2f\n", p.name, 100*margin, rates[0][0], rates[0][1], rates[0][2], rates[1][0], rates[1][1], rates[1][2])
			if rates[0][1] > 0.05 || rates[1][0] > 0.08 { // 5 %, and what 200 draws may be off by
				t.Errorf("%s, margin %v: %.3f wrong failures, %.3f wrong passes", p.name, margin, rates[0][1], rates[1][0])
			}
			if ok = rates[0][0] >= 0.8; ok {
				break
			}
		}
		if !ok {
			t.Errorf("%s: no margin lets 80 %% of comparisons without a change pass", p.name)
		}
	}
}
