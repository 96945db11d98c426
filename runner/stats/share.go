package stats

import "math"

// ClopperPearson returns the exact two-sided interval for a share, of which k of
// n independent trials were seen; k and n may be fractional, as effective
// numbers are. It is 0 to 1 for n <= 0 or arguments out of range.
func ClopperPearson(k, n, confidence float64) (lo, hi float64) {
	oneSided := 1 - (1-confidence)/2
	return ClopperPearsonLower(k, n, oneSided), ClopperPearsonUpper(k, n, oneSided)
}

// ClopperPearsonUpper returns the exact upper bound alone: the share is not
// above it with the confidence given. It is 1 when there is none.
func ClopperPearsonUpper(k, n, confidence float64) float64 {
	if !validShare(k, n, confidence) || k >= n {
		return 1
	}
	return BetaQuantile(confidence, k+1, n-k)
}

// ClopperPearsonLower returns the exact lower bound alone: the share is not
// below it with the confidence given. It is 0 when there is none.
func ClopperPearsonLower(k, n, confidence float64) float64 {
	if !validShare(k, n, confidence) || k <= 0 {
		return 0
	}
	return BetaQuantile(1-confidence, k, n-k+1)
}

func validShare(k, n, confidence float64) bool {
	return n > 0 && !math.IsInf(n, 0) && k >= 0 && k <= n && confidence > 0 && confidence < 1
}

// MinBatches is the number of batches from which DesignEffect is an estimate.
const MinBatches = 10

const (
	doubleTo   = 20  // batches that must remain when their size doubles
	maxLag1    = 0.2 // correlation of neighbours at which batches are long enough
	manyEnough = 30  // batches from which the normal serves for Student's t
)

// Interval is a share with its confidence bounds.
type Interval struct {
	Share, Lo, Hi float64
	N             int64   // samples
	NEff          float64 // independent samples that say as much: N / DEFF, and no more
	DEFF          float64 // design effect, at least 1
	Batches       int     // batches that DEFF comes from; see ExceedanceInterval for few of them
	Lag1          float64 // correlation of neighbouring batches; above 0.2 the series is too short for its memory
}

// ExceedanceInterval returns the share of samples that exceeded a limit, with a
// lower and an upper bound that each hold alone with the confidence given.
// exceed[i] of total[i] samples exceeded in the i-th of equally long bins, such
// as seconds, in order; bins without samples are left out.
//
// Samples of one run depend on each other, so the bounds are those of
// Clopper and Pearson on n/DEFF samples. With fewer than 30 batches, DEFF is
// itself uncertain and the effective number shrinks by (z/t)², t with
// batches-1 degrees of freedom (Korn and Graubard, Survey Methodology 24, 1998).
// With fewer than MinBatches, DEFF is not estimated but bounded: each bin counts
// as one sample, as if all of its samples had the same fate. When no sample or
// every sample exceeded, nothing tells of dependence and all samples count.
//
// Without samples the interval is 0 to 1 with N = 0.
func ExceedanceInterval(exceed, total []int64, confidence float64) Interval {
	b := newBatches(exceed, total)
	iv := Interval{Share: b.share, Hi: 1, N: b.n, DEFF: 1, Batches: len(b.total)}
	if b.n == 0 {
		return iv
	}
	n := float64(b.n)
	switch {
	case b.share == 0 || b.share == 1:
		iv.NEff = n
	case len(b.total) < MinBatches:
		iv.NEff = float64(len(b.total))
	default:
		b = b.untilIndependent()
		iv.Batches, iv.Lag1 = len(b.total), b.lag1()
		iv.NEff = n / b.designEffect()
		if df := float64(iv.Batches - 1); df+1 < manyEnough && confidence > 0.5 {
			ratio := NormalQuantile(confidence) / TQuantile(confidence, df)
			iv.NEff *= ratio * ratio
		}
	}
	iv.DEFF = n / iv.NEff
	iv.Lo = ClopperPearsonLower(b.share*iv.NEff, iv.NEff, confidence)
	iv.Hi = ClopperPearsonUpper(b.share*iv.NEff, iv.NEff, confidence)
	return iv
}

// DesignEffect returns by how much the variance of the exceedance share is above
// that of independent samples, at least 1, from counts in equally long bins as
// for ExceedanceInterval. Neighbouring bins are joined to batches of twice the
// length until the shares of neighbouring batches correlate by less than 0.2 or
// fewer than 20 batches would remain; the variance is that of a ratio, so that
// batches of unequal size (ramps) count by their size. It is 1 when no sample or
// every sample exceeded. ok is false with fewer than MinBatches bins.
func DesignEffect(exceed, total []int64) (deff float64, ok bool) {
	b := newBatches(exceed, total)
	if b.n > 0 && (b.share == 0 || b.share == 1) {
		return 1, true
	}
	if len(b.total) < MinBatches {
		return math.NaN(), false
	}
	return b.untilIndependent().designEffect(), true
}

// batches are consecutive groups of samples.
type batches struct {
	exceed, total []float64
	n             int64
	share         float64 // of all
}

// newBatches makes a batch of each bin that has samples. Counts out of range
// are brought into it.
func newBatches(exceed, total []int64) batches {
	var b batches
	var exceeded int64
	for i := range min(len(exceed), len(total)) {
		if total[i] <= 0 {
			continue
		}
		x := min(max(exceed[i], 0), total[i])
		b.exceed = append(b.exceed, float64(x))
		b.total = append(b.total, float64(total[i]))
		b.n += total[i]
		exceeded += x
	}
	if b.n > 0 {
		b.share = float64(exceeded) / float64(b.n)
	}
	return b
}

func (b batches) untilIndependent() batches {
	joined := b
	for size := 2; len(b.total)/size >= doubleTo && joined.lag1() >= maxLag1; size *= 2 {
		joined = b.join(size)
	}
	return joined
}

// join makes batches of size bins; bins left over go to the last batch.
func (b batches) join(size int) batches {
	count := len(b.total) / size
	joined := batches{exceed: make([]float64, count), total: make([]float64, count), n: b.n, share: b.share}
	for i := range b.total {
		j := min(i/size, count-1)
		joined.exceed[j] += b.exceed[i]
		joined.total[j] += b.total[i]
	}
	return joined
}

// residual is what batch i has above its part of all exceedances.
func (b batches) residual(i int) float64 { return b.exceed[i] - b.share*b.total[i] }

func (b batches) lag1() float64 {
	var product, square float64
	for i := range b.total {
		r := b.residual(i)
		square += r * r
		if i > 0 {
			product += r * b.residual(i-1)
		}
	}
	if square == 0 {
		return 0
	}
	return product / square
}

// designEffect is the variance of the ratio estimator (Cochran, Sampling
// Techniques, 1977, 6.4) over that of a binomial share. For batches of equal
// size m it is m·Var(batch share)/(share·(1-share)).
func (b batches) designEffect() float64 {
	var square float64
	for i := range b.total {
		r := b.residual(i)
		square += r * r
	}
	count, n := float64(len(b.total)), float64(b.n)
	variance := count / (count - 1) * square / (n * n)
	return max(1, variance*n/(b.share*(1-b.share)))
}
