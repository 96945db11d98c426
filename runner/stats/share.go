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

// Of batches with an exceedance: from manyEnough on the normal serves for Student's t, whose degrees of freedom are never fewer
// than leastDF.
const (
	manyEnough = 30
	leastDF    = 2
)

// Interval is a share with its confidence bounds.
type Interval struct {
	Share, Lo, Hi float64
	N             int64   // samples
	NEff          float64 // independent samples that say as much: N / DEFF, and no more
	DEFF          float64 // design effect, at least 1
	Batches       int     // bins with samples; see ExceedanceInterval for few of them
}

// ExceedanceInterval returns the share of samples that exceeded a limit, with a
// lower and an upper bound that each hold alone with the confidence given.
// exceed[i] of total[i] samples exceeded in the i-th of equally long bins, such
// as seconds, in order; bins without samples are left out.
//
// Samples of one run depend on each other, so the bounds are those of
// Clopper and Pearson on n/DEFF samples, DEFF from DesignEffect. With fewer than
// MinBatches bins, DEFF is not estimated but bounded: each bin counts as one
// sample, as if all of its samples had the same fate. When few samples exceeded,
// or none, they do not tell of dependence: memory is a design effect that is known
// from elsewhere, such as that of a lower limit which more samples exceed, and DEFF
// is no less than it. Without one it is 1.
//
// Without samples the interval is 0 to 1 with N = 0.
func ExceedanceInterval(exceed, total []int64, memory, confidence float64) Interval {
	b := newBatches(exceed, total)
	iv := Interval{Share: b.share, Hi: 1, N: b.n, DEFF: 1, Batches: len(b.total)}
	if b.n == 0 {
		return iv
	}
	n := float64(b.n)
	iv.DEFF = max(1, memory)
	switch {
	case b.share == 0 || b.share == 1:
	case len(b.total) < MinBatches:
		iv.DEFF = max(iv.DEFF, n/float64(len(b.total)))
	default:
		iv.DEFF = max(iv.DEFF, b.effect(confidence))
	}
	iv.NEff = n / iv.DEFF
	iv.Lo = ClopperPearsonLower(b.share*iv.NEff, iv.NEff, confidence)
	iv.Hi = ClopperPearsonUpper(b.share*iv.NEff, iv.NEff, confidence)
	return iv
}

// DesignEffect returns by how much the variance of the exceedance share is above
// that of independent samples, at least 1, from counts in equally long bins as
// for ExceedanceInterval. Bins are joined to longer batches as long as MinBatches
// remain, and the largest effect of all lengths counts: batches that are shorter
// than the memory of the process hide it. The variance is that of a ratio (Cochran,
// Sampling Techniques, 1977, 6.4), so that batches of unequal size (ramps) count by
// their size. It is as uncertain as the batches with an exceedance are few: what it
// has above 1 grows by (t/z)² for bounds of the confidence given, t with as many
// degrees of freedom less one, as Korn and Graubard do by all batches (Survey
// Methodology 24, 1998). Many requests behind one stall are one event.
// It is 1 when no sample or every sample exceeded. ok is false with fewer than
// MinBatches bins.
func DesignEffect(exceed, total []int64, confidence float64) (deff float64, ok bool) {
	b := newBatches(exceed, total)
	if b.n > 0 && (b.share == 0 || b.share == 1) {
		return 1, true
	}
	if len(b.total) < MinBatches {
		return math.NaN(), false
	}
	return b.effect(confidence), true
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

// effect is the largest design effect of batches of one bin, two, and so on by thirds; at least 1.
func (b batches) effect(confidence float64) float64 {
	most := 1.0
	for size := 1; len(b.total)/size >= MinBatches; size = max(size+1, size*4/3) {
		j := b.join(size)
		e := j.designEffect()
		if hit := j.hit(); e > 1 && hit < manyEnough && confidence > 0.5 {
			ratio := TQuantile(confidence, float64(max(hit-1, leastDF))) / NormalQuantile(confidence)
			e = 1 + (e-1)*ratio*ratio
		}
		most = max(most, e)
	}
	return most
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

// hit is how many batches have an exceedance.
func (b batches) hit() (n int) {
	for _, x := range b.exceed {
		if x > 0 {
			n++
		}
	}
	return n
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
	return variance * n / (b.share * (1 - b.share))
}
