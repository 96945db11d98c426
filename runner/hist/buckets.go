package hist

import "math/bits"

// The layout of HdrHistogram's counters for values from 1 with three significant
// digits: 2,048 buckets of width 1, and for each doubling after that 1,024 more,
// each twice as wide as those before.
const (
	lowest = 1
	digits = 3

	halfBits   = 10
	half       = 1 << halfBits
	valueBits  = 42 // of Highest
	numBuckets = (valueBits - halfBits + 1) * half
)

// bucketOf is the index of the bucket that has ns, from 0 to Highest.
func bucketOf(ns int64) int {
	doubling := bits.Len64(uint64(ns)|(2*half-1)) - (halfBits + 1)
	return doubling<<halfBits + int(ns>>doubling)
}

// lowestIn and highestIn are the edges, in ns, of bucket i.
func lowestIn(i int) int64 {
	doubling := max(i>>halfBits-1, 0)
	return int64(i-doubling<<halfBits) << doubling
}

func highestIn(i int) int64 {
	doubling := max(i>>halfBits-1, 0)
	return lowestIn(i) + 1<<doubling - 1
}

// add counts n samples in bucket i. The count must have room for them.
func (h *Hist) add(i int, n int64) {
	if h.buckets == nil {
		h.buckets = make([]int64, numBuckets)
		h.low = numBuckets
	}
	h.buckets[i] += n
	h.low, h.high = min(h.low, i), max(h.high, i+1)
	h.count += n
}
