package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMannKendall(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		series []float64
		tau, p float64
	}{
		// S = 45, Var = 125: z = 44/sqrt(125).
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 1, math.Erfc(44 / math.Sqrt(250))},
		{[]float64{10, 9, 8, 7, 6, 5, 4, 3, 2, 1}, -1, math.Erfc(44 / math.Sqrt(250))},
		{[]float64{4, 4, 4, 4, 4, 4, 4, 4}, 0, 1},
		// Ties: 23, 24, 29, 6, 29, 24, 24, 29, 23 has S = 3, by hand, and
		// groups of 2, 3 and 3: Var = (9·8·23 - 2·1·9 - 2·3·2·11)/18 = 1506/18.
		{[]float64{23, 24, 29, 6, 29, 24, 24, 29, 23}, 3. / 36, math.Erfc(2 / math.Sqrt(1506./18) / math.Sqrt2)},
	} {
		tau, p, ok := MannKendall(tt.series)
		if !ok || !nearly(tau, tt.tau, 1e-12) || !nearly(p, tt.p, 1e-9) {
			t.Errorf("MannKendall(%v) = %v, %v, %v, want %v, %v", tt.series, tau, p, ok, tt.tau, tt.p)
		}
	}
	if _, _, ok := MannKendall([]float64{1, 2, 3, 4, 5, 6, 7}); ok {
		t.Error("MannKendall of 7 samples is ok, want not")
	}
	if _, _, ok := MannKendall([]float64{1, 2, 3, 4, 5, 6, 7, math.NaN()}); ok {
		t.Error("MannKendall with a NaN is ok, want not")
	}
}

func TestMannKendallFalseAlarms(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(11, 12))
	alarms, found := 0, 0
	const trials = 2000
	for range trials {
		flat, rising := make([]float64, 30), make([]float64, 30)
		for i := range flat {
			flat[i] = r.ExpFloat64()
			rising[i] = r.ExpFloat64() + 0.1*float64(i)
		}
		if _, p, _ := MannKendall(flat); p < 0.05 {
			alarms++
		}
		if tau, p, _ := MannKendall(rising); p < 0.05 && tau > 0 {
			found++
		}
	}
	if share := float64(alarms) / trials; share > 0.065 || share < 0.03 {
		t.Errorf("a flat series has a trend in %.3f of cases, want about 0.05", share)
	}
	if share := float64(found) / trials; share < 0.95 {
		t.Errorf("a rising series has a trend in %.3f of cases, want nearly all", share)
	}
}

func TestTheilSen(t *testing.T) {
	t.Parallel()
	if got := TheilSen([]float64{1, 3, 5, 1000, 9, 11}); got != 2 {
		t.Errorf("TheilSen of slope 2 with an outlier = %v, want 2", got)
	}
	if got := TheilSen([]float64{1}); !math.IsNaN(got) {
		t.Errorf("TheilSen of one sample = %v, want NaN", got)
	}
}

func TestKolmogorovTail(t *testing.T) {
	t.Parallel()
	// Smirnov's table (1948).
	for _, tt := range []struct{ x, want float64 }{{0.5, 0.963945}, {0.83, 0.496}, {1.0, 0.27}, {1.36, 0.0495}, {1.63, 0.0098}, {0, 1}, {0.1, 1}} {
		if got := kolmogorovTail(tt.x); math.Abs(got-tt.want) > 6e-4 {
			t.Errorf("kolmogorovTail(%v) = %v, want %v", tt.x, got, tt.want)
		}
	}
}

func TestKSExponential(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(13, 14))
	rejected := 0
	const trials = 1000
	for range trials {
		x := make([]float64, 100)
		for i := range x {
			x[i] = r.ExpFloat64() / 200
		}
		if _, p, ok := KSExponential(x, 200); !ok || p < 0.05 {
			rejected++
		}
	}
	if share := float64(rejected) / trials; share < 0.025 || share > 0.075 {
		t.Errorf("exponential samples are rejected in %.3f of cases, want about 0.05", share)
	}
	even := make([]float64, 100)
	for i := range even {
		even[i] = 1. / 200
	}
	if d, p, ok := KSExponential(even, 200); !ok || p > 1e-6 || !nearly(d, 1-math.Exp(-1), 1e-12) {
		t.Errorf("KSExponential of even gaps = %v, %v, %v, want %v and nearly 0", d, p, ok, 1-math.Exp(-1))
	}
	for _, bad := range []struct {
		x    []float64
		rate float64
	}{{even[:4], 200}, {even, 0}, {even, math.NaN()}, {[]float64{1, 2, 3, 4, math.NaN()}, 1}} {
		if _, _, ok := KSExponential(bad.x, bad.rate); ok {
			t.Errorf("KSExponential(%v, %v) is ok, want not", bad.x, bad.rate)
		}
	}
}

func TestSettled(t *testing.T) {
	t.Parallel()
	series := func(n int, f func(i float64) float64) []float64 {
		s := make([]float64, n)
		for i := range s {
			s[i] = f(float64(i))
		}
		return s
	}
	r := rand.New(rand.NewPCG(15, 16))
	noise := func() float64 { return 1 + 0.03*r.NormFloat64() }
	for _, tt := range []struct {
		name   string
		series []float64
		lo, hi int // range of the index; lo < 0: not settled
	}{
		{"flat", series(40, func(float64) float64 { return 7 }), 0, 0},
		{"all zero", series(40, func(float64) float64 { return 0 }), 0, 0},
		{"flat noise", series(60, func(float64) float64 { return 100 * noise() }), 0, 0},
		{"step", series(60, func(i float64) float64 { return map[bool]float64{true: 200, false: 100}[i < 20] * noise() }), 20, 26},
		{"decay", series(100, func(i float64) float64 { return 100 * (1 + 5*math.Exp(-i/8)) * noise() }), 30, 50}, // 5 % at 36.8
		{"one outlier", series(40, func(i float64) float64 { return map[bool]float64{true: 900, false: 100}[i == 30] }), 0, 0},
		{"slow drift inside the tolerance", series(100, func(i float64) float64 { return 100 + 0.01*i }), 0, 0},
		{"still falling", series(40, func(i float64) float64 { return 1000 - 20*i }), -1, 0},
		{"falls by less between windows than in all", series(40, func(i float64) float64 { return 100 - 0.4*i }), -1, 0},
		{"step at the end", series(60, func(i float64) float64 { return map[bool]float64{true: 200, false: 100}[i < 50] }), -1, 0},
		{"too short", series(19, func(float64) float64 { return 7 }), -1, 0},
		{"NaN", append(series(40, func(float64) float64 { return 7 }), math.NaN()), -1, 0},
	} {
		index, ok := Settled(tt.series, 10, 0.05)
		if ok != (tt.lo >= 0) || ok && (index < tt.lo || index > tt.hi) {
			t.Errorf("%s: Settled = %d, %v, want %d to %d", tt.name, index, ok, tt.lo, tt.hi)
		}
	}
	if _, ok := Settled(make([]float64, 40), 3, 0.05); ok {
		t.Error("Settled with a window of 3 is ok, want not")
	}
	if _, ok := Settled(make([]float64, 40), 10, 0); ok {
		t.Error("Settled with a tolerance of 0 is ok, want not")
	}
}
