package schedule

import "sort"

// A poisson schedule is a unit-rate Poisson process on [0, R(end)), mapped to
// time. That axis is cut into blocks of blockSize, each with a random stream of
// its own: the process forgets, so starting afresh at a border changes nothing
// in law. In return any arrival is found by generating one block, and the sum
// of exponentials never runs long enough to lose digits.
const blockSize = 1024

// process walks the arrivals of the unit-rate process. The zero index is before
// the first.
type process struct {
	seed  uint64
	total float64
	block uint64
	sum   float64 // from the start of the block
	rand  random
}

func newProcess(seed uint64, total float64, block int) process {
	return process{seed: seed, total: total, block: uint64(block), rand: blockRandom(seed, uint64(block))}
}

// next returns the next arrival on the axis of R; ok is false at the end.
func (p *process) next() (r float64, ok bool) {
	for {
		start := float64(p.block * blockSize)
		if start >= p.total {
			return 0, false
		}
		p.sum += p.rand.exponential()
		if p.sum >= blockSize {
			p.block++
			p.sum = 0
			p.rand = blockRandom(p.seed, p.block)
			continue
		}
		if r = start + p.sum; r >= p.total {
			return 0, false
		}
		return r, true
	}
}

// countPoisson fills s.blocks and returns the index of the first arrival at or
// after each span's start, then the number of arrivals.
func (s *Schedule) countPoisson() []int64 {
	bounds := make([]int64, len(s.integral))
	s.blocks = []int64{0}
	p := newProcess(s.seed, s.total(), 0)
	span := 0
	var n int64
	for {
		r, ok := p.next()
		if !ok {
			break
		}
		for r >= s.integral[span+1] {
			span++
			bounds[span] = n
		}
		for uint64(len(s.blocks)) <= p.block {
			s.blocks = append(s.blocks, n)
		}
		n++
	}
	for i := span + 1; i < len(bounds); i++ {
		bounds[i] = n
	}
	return bounds
}

// poissonAt returns the value of R at arrival i.
func (s *Schedule) poissonAt(i int64) float64 {
	block := sort.Search(len(s.blocks), func(b int) bool { return s.blocks[b] > i }) - 1
	p := newProcess(s.seed, s.total(), block)
	var r float64
	for range i - s.blocks[block] + 1 {
		r, _ = p.next()
	}
	return r
}

// random is SplitMix64 (Steele, Lea, Flood, "Fast splittable pseudorandom
// number generators", OOPSLA 2014). It is written out, like the exponential
// below, so that a seed means the same schedule with every Go version.
type random uint64

const golden = 0x9e3779b97f4a7c15

func (r *random) uint64() uint64 {
	*r += golden
	return mix(uint64(*r))
}

func mix(z uint64) uint64 {
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// blockRandom returns the stream of a block. Both parts are mixed, so that
// neighbouring seeds and blocks have unrelated streams.
func blockRandom(seed, block uint64) random {
	return random(mix(mix(seed+golden) + block*golden))
}

// exponential returns an exponential variable of mean 1 by von Neumann's method
// ("Various techniques used in connection with random digits", 1951): the
// chance that a falling run of uniforms that begins below x has even length is
// exp(-x). It needs comparisons only. A logarithm would not do: math.Log may
// differ in the last bit from one processor to the next.
func (r *random) exponential() float64 {
	for whole := 0.0; ; whole++ {
		first := r.uint64() >> 11
		last, even := first, false
		for {
			next := r.uint64() >> 11
			if next >= last {
				break
			}
			last, even = next, !even
		}
		if !even {
			return whole + float64(float64(first)/(1<<53))
		}
	}
}
