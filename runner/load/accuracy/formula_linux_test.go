package main

import (
	"math"
	"slices"
	"testing"
	"time"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/load/kts"
	"github.com/perfplan/perfplan/runner/schedule"
)

func within(t *testing.T, what string, got, want, bar float64) {
	t.Helper()
	if !(math.Abs(got-want) <= bar) {
		t.Errorf("%s = %v, want %v ± %v", what, got, want, bar)
	}
}

// The quantiles of each law, in ms.
func TestTruths(t *testing.T) {
	s := time.Second
	for _, tt := range []struct {
		name  string
		t     truth
		ranks map[float64]float64
		mean  float64
	}{
		{"stall", stalled(5*ms, 200*ms, 2*s), map[float64]float64{.5: 5, .9: 5, .95: 105, .98: 165, .99: 185, .999: 203}, 15},
		{"backlog", drained(2500*time.Microsecond, 200*ms, 2*s, 0.5), map[float64]float64{.9: 102.5, .95: 152.5, .99: 192.5}, 22.5},
		{"every 50th", bimodal(5*ms, 100*ms, 50), map[float64]float64{.5: 5, .97: 5, .98: 5, .99: 100}, 6.9},
		{"overload", uniform(20*ms, 8020*ms), map[float64]float64{.5: 4020, .9: 7220, .99: 7940, 1: 8020}, 4020},
		{"cold start", stalled(5*ms, 2*s, 12*s), map[float64]float64{.5: 5, .9: 805, .95: 1405, .99: 1885}, 5 + 2000./12},
		{"client stopped", stalled(0, 300*ms, 2*s), map[float64]float64{.9: 100, .95: 200, .99: 280}, 22.5},
		{"point", point(7 * ms), map[float64]float64{0: 7, .999: 7}, 7},
		{"sample", sampled([]float64{3e6, 1e6, 2e6, 4e6}), map[float64]float64{.25: 1, .26: 2, .5: 2, .99: 4}, 2.5},
	} {
		for p, want := range tt.ranks {
			within(t, tt.name, tt.t.q(p)/1e6, want, 1e-6)
		}
		within(t, tt.name+", mean", tt.t.mean/1e6, tt.mean, 1e-6)
	}
}

// p99 · mu of M/M/1 and D/M/1.
func TestQueueTruths(t *testing.T) {
	const mu = 1000.0
	for rho, want := range map[float64][3]float64{.5: {.2032, 9.21, 5.78}, .8: {.6286, 23.0, 12.4}, .9: {.8069, 46.1, 23.9}} {
		s := sigma(rho)
		within(t, "sigma", s, want[0], 5e-5)
		within(t, "M/M/1", exponential(mu*(1-rho)).q(0.99)/1e6, want[1], 0.06)
		within(t, "D/M/1", exponential(mu*(1-s)).q(0.99)/1e6, want[2], 0.06)
	}
}

// Lindley's recursion agrees with the formulas.
func TestLindley(t *testing.T) {
	const mu, rate, over = 500.0, 250.0, 400 * time.Second
	services := kts.Services(mu, 3, 110_000)
	for _, poisson := range []bool{false, true} {
		due, err := (&job{Segments: hold(rate, over), Poisson: poisson, Seed: 5}).due()
		if err != nil {
			t.Fatal(err)
		}
		want := exponential(mu * (1 - sigma(rate/mu)))
		if poisson {
			want = exponential(mu - rate)
		}
		got := sampled(lindley(due, services))
		for _, p := range []float64{0.5, 0.9, 0.99} {
			within(t, "Lindley", got.q(p)/want.q(p), 1, 0.05)
		}
	}
}

func TestOver(t *testing.T) {
	st := stalled(5*ms, 200*ms, 2*time.Second)
	for x, want := range map[time.Duration]float64{0: 1, 4 * ms: 1, 5 * ms: 0.1, 105 * ms: 0.05, 205 * ms: 0, 300 * ms: 0} {
		within(t, x.String(), st.over(float64(x)), want, 1e-9)
	}
	within(t, "every 50th", bimodal(5*ms, 100*ms, 50).over(float64(50*ms)), 0.02, 1e-9)
}

func TestW1(t *testing.T) {
	st := uniform(0, 100*ms)
	within(t, "itself", st.w1(st.q), 0, 1e-12)
	within(t, "shifted", st.w1(func(p float64) float64 { return st.q(p) + 5e6 }), 0.1, 1e-9)
}

// A sender of batches of c has CV sqrt(c-1) and, in windows shorter than a
// batch's period, dispersion c - rate·width.
func TestArrivalShape(t *testing.T) {
	const c, rate = 20, 200.0
	var batches, even []float64
	for i := range 4000 {
		even = append(even, float64(i)*1e9/rate)
		batches = append(batches, float64(i/c*c)*1e9/rate)
	}
	within(t, "CV of batches", gapsCV(batches), math.Sqrt(c-1), 0.05)
	within(t, "CV of even gaps", gapsCV(even), 0, 1e-9)
	const width = 10e6
	within(t, "dispersion of batches", dispersion(batches, 0, 20e9, width), c-rate*0.01, 0.1)
	within(t, "dispersion of even gaps", dispersion(even, -2.5e6, 20e9, width), 0, 1e-3)
	if got := deficit(even, even); got != 0 {
		t.Errorf("deficit of a punctual sender = %d", got)
	}
	late := slices.Clone(even)
	for i := 100; i < 120; i++ { // twenty arrivals come together with the last of them
		late[i] = even[119]
	}
	if got := deficit(even, late); got != 19 {
		t.Errorf("deficit = %d, want 19", got)
	}
}

func TestKolmogorov(t *testing.T) {
	s, err := schedule.New(hold(200, 20*time.Second), schedule.Poisson, 1)
	if err != nil {
		t.Fatal(err)
	}
	var poisson, even []float64
	for i := range s.Len() {
		poisson = append(poisson, float64(s.At(i)))
		even = append(even, float64(i)*5e6)
	}
	if p := kolmogorov(poisson, 200); p < 0.05 {
		t.Errorf("a Poisson process has p = %v", p)
	}
	if p := kolmogorov(even, 200); p > 1e-6 {
		t.Errorf("even gaps have p = %v", p)
	}
	if p := kolmogorov(poisson, 260); p > 1e-6 {
		t.Errorf("another rate has p = %v", p)
	}
}

func TestQuantilesOfNothing(t *testing.T) {
	if x := quantilesOf(hist.New())(0.5); !math.IsNaN(x) {
		t.Errorf("a quantile of nothing is %v", x)
	}
}
