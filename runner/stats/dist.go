// Package stats turns samples into intervals and tests that say how much the
// samples can carry: order-statistic intervals for quantiles, exact intervals
// for shares of dependent samples, t intervals, trend and growth. Every function
// is pure and works on copies; confidence is a probability such as 0.95.
package stats

import "math"

// NormalQuantile returns the z with P(Z <= z) = p for a standard normal Z; NaN
// unless 0 <= p <= 1.
func NormalQuantile(p float64) float64 { return -math.Sqrt2 * math.Erfcinv(2*p) }

// NormalCDF returns P(Z <= z) for a standard normal Z.
func NormalCDF(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }

// TCDF returns P(T <= t) for Student's t with df > 0 degrees of freedom.
func TCDF(t, df float64) float64 {
	if t2 := t * t; t2 < df { // where the tail's argument would round to 1
		half := BetaCDF(t2/(df+t2), 0.5, df/2) / 2
		return 0.5 + math.Copysign(half, t)
	}
	tail := BetaCDF(df/(df+t*t), df/2, 0.5) / 2
	if t > 0 {
		return 1 - tail
	}
	return tail
}

// TQuantile returns the t with P(T <= t) = p for Student's t with df degrees of
// freedom; NaN unless 0 < p < 1 and df > 0.
func TQuantile(p, df float64) float64 {
	if !(p > 0 && p < 1 && df > 0) {
		return math.NaN()
	}
	if p > 0.5 {
		return -TQuantile(1-p, df)
	}
	// With X = df/(df+T²) ~ Beta(df/2, 1/2), P(T <= -t) = P(X <= x)/2. Near
	// the middle 1-x is taken from the mirrored beta, where it is exact.
	x := BetaQuantile(2*p, df/2, 0.5)
	rest := 1 - x
	if x > 0.5 {
		rest = BetaQuantile(1-2*p, 0.5, df/2)
		x = 1 - rest
	}
	return -math.Sqrt(df * rest / x)
}

// BetaCDF returns P(X <= x) for X ~ Beta(a, b), the regularized incomplete beta
// function; NaN unless a and b are above 0.
func BetaCDF(x, a, b float64) float64 {
	switch {
	case !(a > 0 && b > 0) || math.IsNaN(x):
		return math.NaN()
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2): // where the fraction of the mirror converges faster
		return 1 - betaKernel(x, a, b)*betaFraction(1-x, b, a)/b
	default:
		return betaKernel(x, a, b) * betaFraction(x, a, b) / a
	}
}

// BetaQuantile returns the x with P(X <= x) = p for X ~ Beta(a, b); NaN unless
// 0 <= p <= 1 and a and b are above 0.
func BetaQuantile(p, a, b float64) float64 {
	if !(p >= 0 && p <= 1 && a > 0 && b > 0) {
		return math.NaN()
	}
	if p == 0 || p == 1 {
		return p
	}
	// Newton's steps, held inside a bracket that halves when one leaves it.
	lo, hi := 0.0, 1.0
	x := a / (a + b)
	for range 1100 { // enough halvings for the smallest float64
		f := BetaCDF(x, a, b) - p
		if f > 0 {
			hi = x
		} else {
			lo = x
		}
		density := betaKernel(x, a, b) / (x * (1 - x))
		next := x - f/density
		if !(next > lo && next < hi) {
			next = lo + (hi-lo)/2
		}
		if next == x || math.Abs(next-x) <= 1e-15*x {
			return next
		}
		x = next
	}
	return x
}

// betaFraction is the continued fraction of the incomplete beta function (DLMF
// 8.17.22) by the modified Lentz method. It needs some sqrt(max(a, b)) terms.
func betaFraction(x, a, b float64) float64 {
	const tiny = 1e-300
	c, d := 1.0, 1-(a+b)*x/(a+1)
	d = 1 / nonzero(d, tiny)
	f := d
	for m := 1.0; m < 1e6; m++ {
		even := m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		d = 1 / nonzero(1+even*d, tiny)
		c = nonzero(1+even/c, tiny)
		f *= d * c
		odd := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		d = 1 / nonzero(1+odd*d, tiny)
		c = nonzero(1+odd/c, tiny)
		f *= d * c
		if math.Abs(d*c-1) < 1e-15 {
			break
		}
	}
	return f
}

func nonzero(x, tiny float64) float64 {
	if math.Abs(x) < tiny {
		return tiny
	}
	return x
}

// betaKernel returns x^a (1-x)^b / B(a, b) by Loader's saddle point form ("Fast
// and accurate computation of binomial probabilities", 2000), which keeps its
// digits when a and b are in the millions.
func betaKernel(x, a, b float64) float64 {
	n := a + b
	exponent := stirlingError(n) - stirlingError(a) - stirlingError(b) - deviance(a, n*x) - deviance(b, n*(1-x))
	return math.Sqrt(a*b/n/(2*math.Pi)) * math.Exp(exponent)
}

// stirlingError returns ln Γ(x+1) less Stirling's formula.
func stirlingError(x float64) float64 {
	if x > 16 {
		x2 := x * x
		return (1./12 - (1./360-(1./1260-(1./1680-1./1188/x2)/x2)/x2)/x2) / x
	}
	lg, _ := math.Lgamma(x + 1)
	return lg - (x+0.5)*math.Log(x) + x - math.Log(2*math.Pi)/2
}

// deviance returns x ln(x/m) + m - x without cancellation near x = m.
func deviance(x, m float64) float64 {
	if math.Abs(x-m) > 0.1*(x+m) {
		return x*math.Log(x/m) + m - x
	}
	v := (x - m) / (x + m)
	sum := (x - m) * v
	term := 2 * x * v
	for j := 1.0; ; j++ {
		term *= v * v
		next := sum + term/(2*j+1)
		if next == sum {
			return sum
		}
		sum = next
	}
}
