package hist

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
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
// and sum are not in it, see Exact. Where many are encoded, an Encoder does it
// with less memory.
func (h *Hist) Encode() (string, error) { return new(Encoder).Encode(h) }

// An Encoder encodes histograms, one at a time. The zero value is ready.
type Encoder struct {
	plain  []byte
	packed bytes.Buffer
	zip    *zlib.Writer
}

// Cookies of the V2 encoding; 0x10 says that counters take as many bytes as they need.
const (
	plainCookie  = uint32(hdrhistogram.V2EncodingCookieBase) | 0x10
	packedCookie = uint32(hdrhistogram.V2CompressedEncodingCookieBase) | 0x10
)

// Encode is Hist.Encode. The layout is HdrHistogram's V2: a head of 40 bytes, then
// the counters up to the last that is not 0, then all that compressed behind a
// head of 8 bytes.
func (c *Encoder) Encode(h *Hist) (string, error) {
	p := append(c.plain[:0], make([]byte, hdrhistogram.ENCODING_HEADER_SIZE)...)
	p = h.appendCounters(p)
	binary.BigEndian.PutUint32(p[0:], plainCookie)
	binary.BigEndian.PutUint32(p[4:], uint32(len(p)-hdrhistogram.ENCODING_HEADER_SIZE))
	binary.BigEndian.PutUint32(p[12:], digits)
	binary.BigEndian.PutUint64(p[16:], lowest)
	binary.BigEndian.PutUint64(p[24:], uint64(Highest))
	binary.BigEndian.PutUint64(p[32:], math.Float64bits(1)) // ns as they are
	c.plain = p
	c.packed.Reset()
	c.packed.Write(make([]byte, 8))
	if c.zip == nil {
		c.zip = zlib.NewWriter(&c.packed)
	} else {
		c.zip.Reset(&c.packed)
	}
	_, err := c.zip.Write(p)
	if err == nil {
		err = c.zip.Close()
	}
	if err != nil {
		return "", fmt.Errorf("encode histogram: %w", err)
	}
	out := c.packed.Bytes()
	binary.BigEndian.PutUint32(out[0:], packedCookie)
	binary.BigEndian.PutUint32(out[4:], uint32(len(out)-8))
	return base64.StdEncoding.EncodeToString(out), nil
}

// appendCounters writes the counters as ZigZag LEB128, a run of zeros as its
// length below 0.
func (h *Hist) appendCounters(p []byte) []byte {
	zeros := int64(h.low)
	for i := h.low; i < h.high; i++ {
		n := h.buckets[i]
		if n == 0 {
			zeros++
			continue
		}
		p = appendZeros(p, zeros)
		p = appendZigZag(p, n)
		zeros = 0
	}
	return p
}

func appendZeros(p []byte, n int64) []byte {
	switch n {
	case 0:
		return p
	case 1:
		return append(p, 0)
	}
	return appendZigZag(p, -n)
}

// appendZigZag writes n in seven bits a byte, the lowest first, and what is left
// after eight bytes in a ninth, whole.
func appendZigZag(p []byte, n int64) []byte {
	v := uint64(n<<1) ^ uint64(n>>63)
	for range 8 {
		if v < 0x80 {
			return append(p, byte(v))
		}
		p = append(p, byte(v)|0x80)
		v >>= 7
	}
	return append(p, byte(v))
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
	h := &Hist{}
	for i, n := range buckets.Export().Counts {
		if n == 0 {
			continue
		}
		if h.count == 0 {
			h.min = lowestIn(i)
		}
		h.add(i, n)
		h.max = highestIn(i)
		h.addSum(bits.Mul64(uint64(lowestIn(i)+(h.max-lowestIn(i))/2), uint64(n)))
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
	if e.Min < 0 || e.Max < e.Min || bucketOf(min(e.Min, Highest)) != bucketOf(h.min) || bucketOf(min(e.Max, Highest)) != bucketOf(h.max) {
		return fmt.Errorf("got samples from %d to %d ns, want %d to %d", h.min, h.max, e.Min, e.Max)
	}
	return nil
}
