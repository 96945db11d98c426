package load

import (
	"math"
	"math/bits"

	"github.com/perfplan/perfplan/plans"
)

// An order says which row of a table serves an arrival. That is a function of the arrival's number alone, so that all threads
// agree and a run can be repeated.
type order struct {
	kind plans.Order
	n    uint64 // rows
	seed uint64

	high, low uint64 // shuffled: high × low is at least n, and hardly more

	alias []aliasRow // weighted
}

// An aliasRow is a row of Walker's alias table: it stands for itself with chance keep / 2^64, else for other.
type aliasRow struct {
	keep  uint64
	other uint32
}

func newOrder(d *plans.Data) *order {
	o := &order{kind: d.Order, n: uint64(d.Len()), seed: scramble(d.Seed)}
	switch d.Order {
	case plans.Shuffled:
		o.high = uint64(math.Ceil(math.Sqrt(float64(o.n))))
		o.low = (o.n + o.high - 1) / o.high
	case plans.Weighed:
		o.alias = aliasTable(d.Weights)
	}
	return o
}

// row is the row of arrival i.
func (o *order) row(i int64) int {
	switch o.kind {
	case plans.Shuffled:
		return int(o.shuffled(uint64(i)%o.n, scramble(o.seed+uint64(i)/o.n)))
	case plans.Weighed:
		r := draws(scramble(o.seed ^ scramble(uint64(i))))
		at, _ := bits.Mul64(r.next(), o.n)
		if a := &o.alias[at]; r.next() >= a.keep {
			return int(a.other)
		}
		return int(at)
	}
	return int(uint64(i) % o.n)
}

// rounds of the cipher. With fewer, tables of a few rows have permutations that come more often than others.
const rounds = 8

// shuffled gives the place of i in the permutation of [0, n) that key decides: a generalised Feistel cipher on high × low
// numbers, followed until it leads to one below n (Black and Rogaway, "Ciphers with arbitrary finite domains", 2002).
func (o *order) shuffled(i, key uint64) uint64 {
	for {
		left, right := i/o.low, i%o.low
		for r := uint64(0); r < rounds; r += 2 {
			by, _ := bits.Mul64(scramble(key+r<<56+right), o.high)
			if left += by; left >= o.high {
				left -= o.high
			}
			by, _ = bits.Mul64(scramble(key+(r+1)<<56+left), o.low)
			if right += by; right >= o.low {
				right -= o.low
			}
		}
		if i = left*o.low + right; i < o.n {
			return i
		}
	}
}

// aliasTable makes the table by Vose's method ("A linear algorithm for generating random numbers with a given distribution",
// 1991).
func aliasTable(weights []float64) []aliasRow {
	n, sum := len(weights), 0.0
	for _, w := range weights {
		sum += w
	}
	share := make([]float64, n) // in nths
	var small, large []uint32
	for i, w := range weights {
		share[i] = w / sum * float64(n)
		if share[i] < 1 {
			small = append(small, uint32(i))
		} else {
			large = append(large, uint32(i))
		}
	}
	table := make([]aliasRow, n)
	for len(small) > 0 && len(large) > 0 {
		s, l := small[len(small)-1], large[len(large)-1]
		small = small[:len(small)-1]
		table[s] = aliasRow{uint64(share[s] * (1 << 63) * 2), l}
		if share[l] -= 1 - share[s]; share[l] < 1 {
			large = large[:len(large)-1]
			small = append(small, l)
		}
	}
	for _, rest := range [][]uint32{small, large} { // what is left are rounding errors from 1
		for _, i := range rest {
			table[i] = aliasRow{math.MaxUint64, i}
		}
	}
	return table
}

// draws is a stream of random numbers: SplitMix64.
type draws uint64

func (d *draws) next() uint64 {
	z := scramble(uint64(*d))
	*d += 0x9e3779b97f4a7c15
	return z
}

// unit is the next number in [0, 1).
func (d *draws) unit() float64 { return float64(d.next()>>11) / (1 << 53) }
