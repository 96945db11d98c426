package stats

import "math"

// Decision is what a comparison comes to.
type Decision int

// The decisions.
const (
	Undecided Decision = iota
	NoWorse            // surely by less than the margin
	Worse              // surely worse, and by the margin or more
)

// PairedLooks are the numbers of pairs after which a comparison may be decided.
var pairedLooks = [...]int{5, 8, 12}

// MaxPairs is the number of pairs after the last look.
const MaxPairs = 12

// IsLook tells whether a comparison may be decided after so many pairs.
func IsLook(pairs int) bool {
	for _, n := range pairedLooks {
		if n == pairs {
			return true
		}
	}
	return false
}

// A PairedChange is what pairs say of how much larger the new values are than the old: 0.1 is 10 % larger.
type PairedChange struct {
	By       float64 // exponent of the mean logarithm of the ratios, less 1
	Lo, Hi   float64 // one-sided bounds that hold for all looks together, each with 95 % confidence
	Decision Decision
}

// Paired decides by pairs of runs of an old and a new version, one after the other: ratios are new ÷ old. The pair is the unit,
// since runs differ by more than their samples tell, and what changes slowly is in both runs of a pair. The logarithms of the
// ratios are taken for normal (Student's t); the error of 5 % is split over the three looks, and that of calling something worse
// over so many metrics as well (Bonferroni). Worse is surely above 0 and at least margin; no worse is surely below margin. With
// fewer than 5 pairs nothing is decided. ok is false with fewer than 2 pairs or a ratio that is not positive and finite.
func Paired(ratios []float64, margin float64, metrics int) (c PairedChange, ok bool) {
	for _, r := range ratios {
		if !(r > 0) || math.IsInf(r, 0) {
			return PairedChange{}, false
		}
	}
	n := float64(len(ratios))
	if len(ratios) < 2 {
		return PairedChange{}, false
	}
	const level = 0.05 / float64(len(pairedLooks))
	x := logs(ratios)
	mean, se := Mean(x), math.Max(StdDev(x), 1e-3)/math.Sqrt(n)
	up := mean + TQuantile(1-level, n-1)*se
	down := mean - TQuantile(1-level/float64(max(metrics, 1)), n-1)*se
	c = PairedChange{By: math.Expm1(mean), Lo: math.Expm1(down), Hi: math.Expm1(up)}
	switch {
	case len(ratios) < pairedLooks[0]:
	case c.Hi < margin:
		c.Decision = NoWorse
	case c.Lo > 0 && c.By >= margin:
		c.Decision = Worse
	}
	return c, true
}
