package hist

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Exact is what Encode's text does not hold exactly. Store it beside the text
// and give both to Restore.
type Exact struct {
	Count   int64 `json:"count"`
	Min     int64 `json:"min_ns"`
	Max     int64 `json:"max_ns"`
	Sum     int64 `json:"sum_s"`       // whole seconds of the sum of all samples
	SumFrac int64 `json:"sum_frac_ns"` // the rest of the sum, less than a second
	Clipped int64 `json:"clipped"`
}

// Exact returns the exact figures. A sum beyond math.MaxInt64 seconds is cut
// off there.
func (h *Hist) Exact() Exact {
	e := Exact{Count: h.Count(), Min: h.min, Max: h.max, Clipped: h.clipped, Sum: math.MaxInt64}
	if h.sumHi < 1e9/2 {
		s, ns := bits.Div64(h.sumHi, h.sumLo, 1e9)
		e.Sum, e.SumFrac = int64(s), int64(ns)
	}
	return e
}

// Encode returns the buckets as HdrHistogram V2 compressed text (base64, begins
// with "HISTF"), which other HdrHistogram tools read. The exact minimum, maximum
// and sum are not in it, see Exact. It takes about a millisecond.
func (h *Hist) Encode() (string, error) {
	buckets := h.buckets
	if buckets == nil {
		buckets = hdrhistogram.New(lowest, Highest, digits)
	}
	text, err := buckets.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return "", fmt.Errorf("encode histogram: %w", err)
	}
	return string(text), nil
}

// Decode reads the text of Encode. Minimum and maximum are then the edges of
// their buckets, the sum is that of the buckets' middles, all within 0.1 %, and
// nothing counts as clipped. Use Restore where the exact figures were kept.
func Decode(text string) (*Hist, error) {
	buckets, err := hdrhistogram.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	if low, high, sig := buckets.LowestTrackableValue(), buckets.HighestTrackableValue(), buckets.SignificantFigures(); low != lowest || high != Highest || sig != digits {
		return nil, fmt.Errorf("decode histogram: got %d significant digits from %d to %d, want %d from %d to %d",
			sig, low, high, digits, lowest, Highest)
	}
	h := &Hist{buckets: buckets}
	first := true
	for _, bar := range buckets.Distribution() {
		if bar.Count == 0 {
			continue
		}
		if first {
			h.min, first = bar.From, false
		}
		h.max = bar.To
		h.addSum(bits.Mul64(uint64(bar.From+(bar.To-bar.From)/2), uint64(bar.Count)))
	}
	return h, nil
}

// Restore reads the text of Encode and puts the exact figures back. It refuses
// figures that cannot belong to the text.
func Restore(text string, e Exact) (*Hist, error) {
	h, err := Decode(text)
	if err != nil {
		return nil, err
	}
	if err := h.check(e); err != nil {
		return nil, fmt.Errorf("restore histogram: %w", err)
	}
	h.min, h.max, h.clipped = e.Min, e.Max, e.Clipped
	h.sumHi, h.sumLo = bits.Mul64(uint64(e.Sum), 1e9)
	h.addSum(0, uint64(e.SumFrac))
	return h, nil
}

// check reports why e cannot be the exact figures of the buckets of h.
func (h *Hist) check(e Exact) error {
	if e.Count != h.Count() {
		return fmt.Errorf("got %d samples, want %d", h.Count(), e.Count)
	}
	if e.Sum < 0 || e.SumFrac < 0 || e.SumFrac >= 1e9 || e.Clipped < 0 || e.Clipped > e.Count {
		return errors.New("sum or number of clipped samples out of range")
	}
	if e.Count == 0 {
		if e != (Exact{}) {
			return errors.New("figures without samples")
		}
		return nil
	}
	if e.Min < 0 || e.Max < e.Min || !h.buckets.ValuesAreEquivalent(min(e.Min, Highest), h.min) || !h.buckets.ValuesAreEquivalent(min(e.Max, Highest), h.max) {
		return fmt.Errorf("got samples from %d to %d ns, want %d to %d", h.min, h.max, e.Min, e.Max)
	}
	return nil
}
