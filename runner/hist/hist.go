// Package hist records durations in a high dynamic range histogram and keeps
// what the histogram rounds, the exact count, minimum, maximum and sum, beside
// it. Values are nanoseconds, with three significant digits from 1 ns to
// Highest. Memory does not grow with the number of samples: about 270 KB for a
// histogram that has one sample, nothing before that.
//
// The counters are this package's own, laid out as HdrHistogram's: a load engine
// records several samples for each request and encodes a histogram each second
// while it sends, and hdrhistogram-go allocates some 5,000 times to encode one.
// hdrhistogram-go reads what is encoded here.
package hist

import (
	"math"
	"math/bits"
)

// Highest is the largest value, in ns, that keeps three significant digits:
// about 73 minutes. Larger ones are counted at Highest and in Clipped.
const Highest int64 = 1<<42 - 1

// Hist is a histogram of durations in ns. The zero value is empty and ready.
// It is not safe for concurrent use: give each worker its own and merge them.
type Hist struct {
	buckets      []int64 // samples in each bucket; nil until the first sample
	low, high    int     // the first bucket that has samples, and the one after the last
	count        int64
	min, max     int64
	clipped      int64
	sumHi, sumLo uint64 // a 128-bit sum: 300 million times 40 s is beyond 63 bits
}

// New returns an empty histogram.
func New() *Hist { return &Hist{} }

// Record adds one sample of ns nanoseconds. No sample is ever lost: one above
// Highest goes into the top bucket, with its value kept for Max and Mean, and a
// negative one is recorded as 0; both are counted in Clipped.
func (h *Hist) Record(ns int64) {
	if h.buckets == nil || uint64(ns) > uint64(Highest) || h.count == math.MaxInt64 {
		h.RecordN(ns, 1)
		return
	}
	i := bucketOf(ns)
	h.buckets[i]++
	h.low, h.high = min(h.low, i), max(h.high, i+1)
	if h.count == 0 || ns < h.min {
		h.min = ns
	}
	h.max = max(h.max, ns)
	h.count++
	h.addSum(0, uint64(ns))
}

// RecordN adds n samples of ns nanoseconds each; n < 1 adds nothing. The count
// stops at math.MaxInt64.
func (h *Hist) RecordN(ns, n int64) {
	n = min(n, math.MaxInt64-h.count)
	if n < 1 {
		return
	}
	if uint64(ns) > uint64(Highest) { // negative or too large
		ns = max(ns, 0)
		h.clipped += n
	}
	h.add(bucketOf(min(ns, Highest)), n)
	if h.count == n || ns < h.min {
		h.min = ns
	}
	h.max = max(h.max, ns)
	hi, lo := bits.Mul64(uint64(ns), uint64(n))
	h.addSum(hi, lo)
}

func (h *Hist) addSum(hi, lo uint64) {
	var carry uint64
	h.sumLo, carry = bits.Add64(h.sumLo, lo, 0)
	h.sumHi, _ = bits.Add64(h.sumHi, hi, carry)
}

// Merge adds all samples of o, which it leaves as it is. The result is the same
// in whatever order histograms are merged. A nil o adds nothing.
func (h *Hist) Merge(o *Hist) {
	if o == nil || o.count == 0 {
		return
	}
	if h.count == 0 {
		h.min = o.min
	}
	h.min = min(h.min, o.min)
	h.max = max(h.max, o.max)
	h.clipped += o.clipped
	h.addSum(o.sumHi, o.sumLo)
	if h.buckets == nil {
		h.buckets = make([]int64, numBuckets)
		h.low, h.high = o.low, o.high
	}
	from, to := h.buckets[o.low:o.high], o.buckets[o.low:o.high]
	for i, n := range to {
		from[i] += n
	}
	h.low, h.high = min(h.low, o.low), max(h.high, o.high)
	h.count += o.count
}

// Reset forgets all samples and keeps the memory.
func (h *Hist) Reset() {
	if h.count > 0 {
		clear(h.buckets[h.low:h.high])
	}
	*h = Hist{buckets: h.buckets, low: numBuckets}
}

// Count returns the number of samples.
func (h *Hist) Count() int64 { return h.count }

// Clipped returns how many samples were negative or above Highest.
func (h *Hist) Clipped() int64 { return h.clipped }

// Min returns the smallest sample in ns, exactly; 0 when there is none.
func (h *Hist) Min() int64 { return h.min }

// Max returns the largest sample in ns, exactly; 0 when there is none.
func (h *Hist) Max() int64 { return h.max }

// Mean returns the mean in ns, from the exact sum; NaN when there is no sample.
func (h *Hist) Mean() float64 {
	return (float64(h.sumHi)*(1<<64) + float64(h.sumLo)) / float64(h.count)
}

// Quantile returns the smallest recorded value that at least the share q of all
// samples does not exceed (the nearest rank, ceil(q·count)), in ns and rounded
// up within three significant digits. It lies between Min and Max always; q = 0
// gives Min and q = 1 gives Max, exactly. A sample above Highest ranks as
// Highest. ok is false when there is no sample or q is not in [0, 1].
func (h *Hist) Quantile(q float64) (ns int64, ok bool) {
	if h.count == 0 || !(q >= 0 && q <= 1) {
		return 0, false
	}
	r := rank(q, h.count)
	switch r {
	case 0:
		return h.min, true
	case h.count:
		return h.max, true
	}
	i := h.low
	for upTo := h.buckets[i]; upTo < r; upTo += h.buckets[i] {
		i++
	}
	return h.clamp(highestIn(i)), true
}

// Above returns how many samples are in buckets above the one that ns is in: all that are longer by more than the
// histogram's resolution.
func (h *Hist) Above(ns int64) (n int64) {
	if h.count == 0 {
		return 0
	}
	from := h.low
	if ns >= 0 {
		from = max(h.low, bucketOf(min(ns, Highest))+1)
	}
	for i := from; i < h.high; i++ {
		n += h.buckets[i]
	}
	return n
}

func (h *Hist) clamp(ns int64) int64 { return min(max(ns, h.min), h.max) }

// rank returns ceil(q·count), where a product that is a whole number but for
// the rounding of q, as 0.9999 of 100,000, is that number.
func rank(q float64, count int64) int64 {
	r := math.Ceil(q * float64(count) * (1 - 1e-15))
	if r >= float64(count) {
		return count
	}
	return int64(r)
}
