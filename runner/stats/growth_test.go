package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestFitLine(t *testing.T) {
	t.Parallel()
	// Anscombe's first set (1973): intercept 3, slope 0.5, R² 0.67,
	// standard error of the slope 0.1179.
	x := []float64{10, 8, 13, 9, 11, 14, 6, 4, 12, 7, 5}
	y := []float64{8.04, 6.95, 7.58, 8.81, 8.33, 9.96, 7.24, 4.26, 10.84, 4.82, 5.68}
	line, ok := FitLine(x, y, 0.95)
	half := 0.117905500 * TQuantile(0.975, 9)
	if !ok || !nearly(line.Slope, 0.500090909, 1e-8) || !nearly(line.Intercept, 3.000090909, 1e-8) || !nearly(line.R2, 0.666542460, 1e-8) ||
		!nearly(line.SlopeHi-line.Slope, half, 1e-6) || !nearly(line.Slope-line.SlopeLo, half, 1e-6) || line.Points != 11 {
		t.Errorf("FitLine = %+v, %v, want Anscombe's", line, ok)
	}
	for _, bad := range []struct {
		name string
		x, y []float64
	}{
		{"two points", []float64{1, 2}, []float64{1, 2}}, {"lengths", []float64{1, 2, 3}, []float64{1, 2}},
		{"one x", []float64{1, 1, 1}, []float64{1, 2, 3}}, {"NaN", []float64{1, 2, 3}, []float64{1, 2, math.NaN()}},
		{"infinite", []float64{1, 2, math.Inf(1)}, []float64{1, 2, 3}}, {"nothing", nil, nil},
	} {
		if line, ok := FitLine(bad.x, bad.y, 0.95); ok {
			t.Errorf("%s: FitLine = %+v, want not ok", bad.name, line)
		}
	}
	if line, ok := FitLine([]float64{1, 2, 3}, []float64{4, 4, 4}, 0.95); !ok || line.Slope != 0 || line.R2 != 0 {
		t.Errorf("FitLine of a flat line = %+v, %v, want slope and R² 0", line, ok)
	}
}

// sizes are ten input sizes, three times each.
func sizes() []float64 {
	var n []float64
	for size := 1000.; size <= 10000; size += 1000 {
		n = append(n, size, size, size)
	}
	return n
}

func TestFitFindsGrowth(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(17, 18))
	for _, tt := range []struct {
		name  string
		f     func(n float64) float64
		want  Class
		sharp float64 // least share of trials in which the best class is want
	}{
		{"constant", func(float64) float64 { return 5000 }, Constant, 0.85},
		{"logarithmic", func(n float64) float64 { return 700 * math.Log(n) }, Logarithmic, 0.9},
		{"linear", func(n float64) float64 { return 50 + 7*n }, Linear, 0.7},
		{"linearithmic", func(n float64) float64 { return 3 * n * math.Log(n) }, Linearithmic, 0.7},
		{"quadratic", func(n float64) float64 { return 1e4 + 0.02*n*n }, Quadratic, 0.99},
		{"cubic", func(n float64) float64 { return 1e-6 * n * n * n }, Cubic, 0.99},
	} {
		const trials = 200
		best, inside := 0, 0
		n := sizes()
		for range trials {
			y := make([]float64, len(n))
			for i := range y {
				y[i] = tt.f(n[i]) * math.Exp(0.02*r.NormFloat64())
			}
			g, ok := Fit(n, y, 0.95)
			if !ok {
				t.Fatalf("%s: Fit is not ok", tt.name)
			}
			if g.Class == tt.want {
				best++
			}
			if g.Lo <= tt.want && tt.want <= g.Hi {
				inside++
			}
		}
		t.Logf("%s: best class right in %.2f, between Lo and Hi in %.2f", tt.name, float64(best)/trials, float64(inside)/trials)
		if share := float64(best) / trials; share < tt.sharp {
			t.Errorf("%s: the best class is right in %.2f of trials, want %.2f", tt.name, share, tt.sharp)
		}
		if share := float64(inside) / trials; share < 0.93 {
			t.Errorf("%s: Lo to Hi holds the truth in %.2f of trials, want 0.93", tt.name, share)
		}
	}
}

func TestFitCoefficients(t *testing.T) {
	t.Parallel()
	n := sizes()
	y := make([]float64, len(n))
	for i := range y {
		y[i] = 500 + 7*n[i]
	}
	g, ok := Fit(n, y, 0.95)
	if !ok || g.Class != Linear || g.Lo != Linear || g.Hi != Linear {
		t.Fatalf("Fit = %v (%v to %v), %v, want linear alone", g.Class, g.Lo, g.Hi, ok)
	}
	if !nearly(g.Slope, 7, 1e-9) || !nearly(g.Intercept, 500, 1e-6) || !nearly(g.R2, 1, 1e-9) || g.Weight < 0.95 || g.Error > 1e-9 {
		t.Errorf("Fit = %+v, want 500 + 7n", g.Candidate)
	}
	if !(g.SlopeLo <= g.Slope && g.Slope <= g.SlopeHi) || !(g.ExponentLo < g.Exponent && g.Exponent < g.ExponentHi) || g.Exponent > 1 || g.Exponent < 0.9 {
		t.Errorf("got slope %v to %v, exponent %v (%v to %v), want around 7, below 1", g.SlopeLo, g.SlopeHi, g.Exponent, g.ExponentLo, g.ExponentHi)
	}
	var sum float64
	for i, c := range g.Candidates {
		sum += c.Weight
		if c.Class != Class(i) || c.Slope < 0 {
			t.Errorf("candidate %d is %+v, want its class and no negative slope", i, c)
		}
	}
	if !nearly(sum, 1, 1e-12) {
		t.Errorf("weights add up to %v, want 1", sum)
	}
}

// Five sizes of a sort that grows by 40 over a range of 16 once came out constant: a fit through the origin paid for an
// intercept that it does not have.
func TestFitOfFewSizesSeesThatTheyGrow(t *testing.T) {
	t.Parallel()
	g, ok := Fit([]float64{1000, 2000, 4000, 8000, 16000}, []float64{74675, 260819, 606587, 1221323, 2989782}, 0.95)
	if !ok || g.Class < Linear || g.Lo < Linear {
		t.Errorf("Fit = %v, from %v to %v, %v, want at least linear", g.Class, g.Lo, g.Hi, ok)
	}
}

// Small inputs may be cheaper than in proportion: a line that cuts the axis on the right is linear, not quadratic.
func TestFitWithNegativeIntercept(t *testing.T) {
	t.Parallel()
	n := sizes()
	y := make([]float64, len(n))
	r := rand.New(rand.NewPCG(5, 6))
	for i := range y {
		y[i] = 150 * (n[i] - 700) * math.Exp(0.005*r.NormFloat64())
	}
	g, ok := Fit(n, y, 0.95)
	if !ok || g.Class != Linear || g.Misses || !(g.Intercept < 0) {
		t.Errorf("Fit = %+v, from %v to %v, %v, want linear", g.Candidate, g.Lo, g.Hi, ok)
	}
	// Medians of sorting random numbers in Python.
	g, ok = Fit([]float64{1000, 1000, 2000, 2000, 3000, 3000, 4000, 4000, 5000, 5000},
		[]float64{46.5, 47.5, 159, 161, 273, 276, 410, 414, 536, 542}, 0.95)
	if !ok || g.Lo > Linearithmic {
		t.Errorf("Fit = %+v, from %v to %v, %v, want not above linearithmic", g.Candidate, g.Lo, g.Hi, ok)
	}
}

// Where no class fits, none is ruled out.
func TestFitOfNoClass(t *testing.T) {
	t.Parallel()
	n := sizes()
	y := make([]float64, len(n))
	r := rand.New(rand.NewPCG(7, 8))
	for i := range y {
		step := 1.0
		if n[i] > 4000 { // no longer in the cache
			step = 4
		}
		y[i] = step * n[i] * math.Exp(0.01*r.NormFloat64())
	}
	g, ok := Fit(n, y, 0.95)
	if !ok || !g.Misses || g.Lo != Constant || g.Hi != Cubic || g.Misfit < wrongClass {
		t.Errorf("Fit = %+v, off by %v, misses %v, from %v to %v, want no class", g.Candidate, g.Misfit, g.Misses, g.Lo, g.Hi)
	}
}

func TestFitOfFallingCostIsConstant(t *testing.T) {
	t.Parallel()
	g, ok := Fit([]float64{1, 2, 3, 4, 5, 6}, []float64{60, 50, 40, 30, 20, 10}, 0.95)
	if !ok || g.Class != Constant || g.Slope != 0 {
		t.Errorf("Fit = %+v, %v, want constant", g.Candidate, ok)
	}
}

func TestFitRefuses(t *testing.T) {
	t.Parallel()
	y := []float64{1, 2, 3, 4, 5}
	for _, tt := range []struct {
		name string
		n, y []float64
		conf float64
	}{
		{"four points", []float64{1, 2, 3, 4}, y[:4], 0.95},
		{"two sizes", []float64{1, 1, 2, 2, 2}, y, 0.95},
		{"size below 1", []float64{0.5, 2, 3, 4, 5}, y, 0.95},
		{"no cost", []float64{1, 2, 3, 4, 5}, []float64{0, 1, 2, 3, 4}, 0.95},
		{"NaN", []float64{1, 2, 3, 4, 5}, []float64{1, 2, 3, 4, math.NaN()}, 0.95},
		{"confidence", []float64{1, 2, 3, 4, 5}, y, 1},
		{"nothing", nil, nil, 0.95},
	} {
		if g, ok := Fit(tt.n, tt.y, tt.conf); ok {
			t.Errorf("%s: Fit = %+v, want not ok", tt.name, g.Candidate)
		}
	}
}

func TestParseClass(t *testing.T) {
	t.Parallel()
	for c := Constant; c <= Cubic; c++ {
		if got, err := ParseClass(c.String()); got != c || err != nil {
			t.Errorf("ParseClass(%q) = %v, %v, want %v", c.String(), got, err, c)
		}
	}
	if _, err := ParseClass("exponential"); err == nil {
		t.Error(`ParseClass("exponential") has no error`)
	}
}
