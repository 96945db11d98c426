package stats

import (
	"math"
	"testing"
)

func nearly(got, want, rel float64) bool {
	return got == want || math.Abs(got-want) <= rel*math.Abs(want)
}

func TestNormalQuantile(t *testing.T) {
	t.Parallel()
	// Abramowitz and Stegun, table 26.1 and its usual extensions.
	for _, tt := range []struct{ p, want float64 }{
		{0.5, 0}, {0.9, 1.2815515655446004}, {0.95, 1.6448536269514722}, {0.975, 1.959963984540054},
		{0.995, 2.5758293035489004}, {0.05, -1.6448536269514722}, {1e-6, -4.753424308822899},
	} {
		if got := NormalQuantile(tt.p); math.Abs(got-tt.want) > 1e-9 {
			t.Errorf("NormalQuantile(%v) = %v, want %v", tt.p, got, tt.want)
		}
		if got := NormalCDF(tt.want); !nearly(got, tt.p, 1e-9) {
			t.Errorf("NormalCDF(%v) = %v, want %v", tt.want, got, tt.p)
		}
	}
}

func TestTQuantile(t *testing.T) {
	t.Parallel()
	// NIST/SEMATECH e-Handbook, 1.3.6.7.2, and the closed forms for 1 and 2
	// degrees of freedom.
	for _, tt := range []struct{ p, df, want, rel float64 }{
		{0.975, 1, 12.706, 1e-4}, {0.975, 2, 4.303, 1e-4}, {0.975, 4, 2.776, 2e-4}, {0.95, 9, 1.833, 2e-4},
		{0.975, 9, 2.262, 2e-4}, {0.975, 19, 2.093, 2e-4}, {0.995, 29, 2.756, 2e-4}, {0.999, 5, 5.893, 2e-4},
		{0.95, 100, 1.660, 3e-4}, {0.025, 9, -2.262, 2e-4},
		{0.9999, 1, math.Tan(math.Pi * 0.4999), 1e-9}, {0.6, 1, math.Tan(math.Pi * 0.1), 1e-12},
		{0.5000001, 1, math.Tan(math.Pi * 1e-7), 1e-6},
		{0.99, 2, 0.98 * math.Sqrt(1/(2*0.99*0.01)), 1e-12},
		{0.975, 1e7, 1.959964, 1e-6},
	} {
		if got := TQuantile(tt.p, tt.df); !nearly(got, tt.want, tt.rel) {
			t.Errorf("TQuantile(%v, %v) = %v, want %v", tt.p, tt.df, got, tt.want)
		}
		if got := TCDF(TQuantile(tt.p, tt.df), tt.df); !nearly(got, tt.p, 1e-12) {
			t.Errorf("TCDF(TQuantile(%v, %v)) = %v", tt.p, tt.df, got)
		}
	}
	for _, bad := range [][2]float64{{0, 5}, {1, 5}, {0.5, 0}, {math.NaN(), 5}, {0.5, math.NaN()}} {
		if got := TQuantile(bad[0], bad[1]); !math.IsNaN(got) {
			t.Errorf("TQuantile(%v, %v) = %v, want NaN", bad[0], bad[1], got)
		}
	}
}

func TestBetaCDF(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ x, a, b, want float64 }{
		{0.3, 1, 1, 0.3},
		{0.3, 2, 1, 0.09},
		{0.3, 1, 3, 1 - 0.7*0.7*0.7},
		{0.25, 0.5, 0.5, 2 / math.Pi * math.Asin(0.5)}, // the arcsine law
		{0.5, 1234.5, 1234.5, 0.5},
		{0.4, 3, 5, 0.580096}, // P(Bin(7, .4) >= 3)
		{1e-3, 1, 1e6, -math.Expm1(1e6 * math.Log1p(-1e-3))},
		{1e-6, 1, 1e6, -math.Expm1(1e6 * math.Log1p(-1e-6))},
		{0, 2, 3, 0}, {1, 2, 3, 1}, {-1, 2, 3, 0}, {2, 2, 3, 1},
	} {
		if got := BetaCDF(tt.x, tt.a, tt.b); !nearly(got, tt.want, 1e-12) {
			t.Errorf("BetaCDF(%v, %v, %v) = %v, want %v", tt.x, tt.a, tt.b, got, tt.want)
		}
	}
	if got := BetaCDF(0.5, 0, 1); !math.IsNaN(got) {
		t.Errorf("BetaCDF(0.5, 0, 1) = %v, want NaN", got)
	}
}

// The distribution function against a sum of binomial terms, for sizes at which
// the sum is exact enough.
func TestBetaCDFSumsBinomials(t *testing.T) {
	t.Parallel()
	for _, n := range []int{1, 7, 60, 1000} {
		for _, p := range []float64{0.001, 0.2, 0.5, 0.97} {
			sum, term := 0.0, math.Pow(1-p, float64(n))
			for k := 0; k < n; k++ {
				sum += term
				term *= float64(n-k) / float64(k+1) * p / (1 - p)
				if got := binomialCDF(int64(k), int64(n), p); math.Abs(got-sum) > 1e-11 && term > 0 {
					t.Fatalf("binomialCDF(%d, %d, %v) = %v, want %v", k, n, p, got, sum)
				}
			}
		}
	}
}

func TestBetaQuantileInverts(t *testing.T) {
	t.Parallel()
	for _, a := range []float64{0.1, 0.5, 1, 3, 40, 1e3, 1e6, 1e9} {
		for _, b := range []float64{0.1, 0.5, 1, 3, 40, 1e3, 1e6, 1e9} {
			for _, p := range []float64{1e-4, 0.05, 0.5, 0.95, 0.9999} {
				x := BetaQuantile(p, a, b)
				// Next to 1 the spacing of float64 is what limits.
				lo, hi := BetaCDF(x-2e-15, a, b), BetaCDF(x+2e-15, a, b)
				if got := BetaCDF(x, a, b); !nearly(got, p, 1e-7) && !(lo <= p && p <= hi) {
					t.Errorf("BetaCDF(BetaQuantile(%v, %v, %v) = %v) = %v", p, a, b, x, got)
				}
			}
		}
	}
	if got := BetaQuantile(0, 2, 3); got != 0 {
		t.Errorf("BetaQuantile(0, 2, 3) = %v, want 0", got)
	}
	if got := BetaQuantile(-1, 2, 3); !math.IsNaN(got) {
		t.Errorf("BetaQuantile(-1, 2, 3) = %v, want NaN", got)
	}
}
