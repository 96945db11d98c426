package load

import (
	"math"
	"math/bits"
	"strconv"
	"time"

	"github.com/perfplan/perfplan/plans"
)

// A generator writes a value for each arrival: all but times are a function of the seed and the arrival's number.
type generator struct {
	plans.Generator
	seed uint64
	zipf zipf
}

// newGenerator makes the generator of a part. fit makes each text fit its place or refuses it.
func newGenerator(p plans.Part, seed uint64, fit func(string) (string, error)) (*generator, error) {
	g := &generator{Generator: *p.Generator, seed: scramble(seed + scramble(uint64(p.Generator.Number)))}
	g.Choices = make([]string, len(p.Generator.Choices))
	for i, c := range p.Generator.Choices {
		var err error
		if g.Choices[i], err = fit(p.Text(c)); err != nil {
			return nil, err
		}
	}
	if g.Kind == plans.RandomZipf {
		g.zipf = newZipf(g.Int[0], g.Float[0])
	}
	return g, nil
}

const hexDigits = "0123456789abcdef"

// append writes the value of arrival i.
func (g *generator) append(buf []byte, i int64) []byte {
	r := draws(scramble(g.seed ^ scramble(uint64(i))))
	switch g.Kind {
	case plans.Counter:
		return strconv.AppendInt(buf, i, 10)
	case plans.UUID:
		return appendUUID(buf, r.next(), r.next())
	case plans.RandomInt:
		span := uint64(g.Int[1]-g.Int[0]) + 1 // 0: all numbers
		v := r.next()
		if span > 0 {
			v, _ = bits.Mul64(v, span)
		}
		return strconv.AppendInt(buf, g.Int[0]+int64(v), 10)
	case plans.RandomFloat:
		low, high := g.Float[0], g.Float[1]
		v := low + r.unit()*(high-low)
		if v >= high { // by rounding
			v = low
		}
		return strconv.AppendFloat(buf, v, 'f', -1, 64)
	case plans.RandomNormal: // Box and Muller 1958
		radius := math.Sqrt(-2 * math.Log(1-r.unit()))
		return strconv.AppendFloat(buf, g.Float[0]+g.Float[1]*radius*math.Cos(2*math.Pi*r.unit()), 'f', -1, 64)
	case plans.RandomChoice:
		at, _ := bits.Mul64(r.next(), uint64(len(g.Choices)))
		return append(buf, g.Choices[at]...)
	case plans.RandomZipf:
		return strconv.AppendInt(buf, g.zipf.draw(&r), 10)
	case plans.RandomHex:
		for left := g.Int[0]; left > 0; left -= 16 {
			v := r.next()
			for range min(left, 16) {
				buf = append(buf, hexDigits[v>>60])
				v <<= 4
			}
		}
		return buf
	case plans.TimeUnix:
		return strconv.AppendInt(buf, time.Now().Unix(), 10)
	case plans.TimeUnixMS:
		return strconv.AppendInt(buf, time.Now().UnixMilli(), 10)
	case plans.TimeRFC3339:
		return time.Now().UTC().AppendFormat(buf, "2006-01-02T15:04:05.000Z") // its colons may stand in a path and a query as they are
	}
	return buf
}

// appendUUID writes a UUID of version 4 (RFC 9562) from random bits.
func appendUUID(buf []byte, high, low uint64) []byte {
	high = high&^0xf000 | 0x4000
	low = low&^(0xc<<60) | 0x8<<60
	for i := range 32 {
		if i == 8 || i == 12 || i == 16 || i == 20 {
			buf = append(buf, '-')
		}
		word := high
		if i >= 16 {
			word = low
		}
		buf = append(buf, hexDigits[word>>(60-4*(i%16))&15])
	}
	return buf
}

// zipf draws numbers from 1 to n, k in proportion to k to the power of -exponent, by rejection from the inverse (Hörmann and
// Derflinger, "Rejection-inversion to generate variates from monotone discrete distributions", 1996).
type zipf struct {
	n                int64
	exponent         float64
	first, last, cut float64
}

func newZipf(n int64, exponent float64) zipf {
	z := zipf{n: n, exponent: exponent}
	z.first = z.integral(1.5) - 1
	z.last = z.integral(float64(n) + 0.5)
	z.cut = 2 - z.inverse(z.integral(2.5)-z.height(2))
	return z
}

func (z *zipf) draw(r *draws) int64 {
	for {
		u := z.last + r.unit()*(z.first-z.last)
		x := z.inverse(u)
		k := min(max(int64(x+0.5), 1), z.n)
		if float64(k)-x <= z.cut || u >= z.integral(float64(k)+0.5)-z.height(float64(k)) {
			return k
		}
	}
}

func (z *zipf) height(x float64) float64 { return math.Exp(-z.exponent * math.Log(x)) }

// integral is (x^(1-exponent) - 1) / (1-exponent), or the logarithm of x where the exponent is 1.
func (z *zipf) integral(x float64) float64 {
	log := math.Log(x)
	t := (1 - z.exponent) * log
	if math.Abs(t) < 1e-8 {
		return (1 + t/2) * log
	}
	return math.Expm1(t) / t * log
}

func (z *zipf) inverse(x float64) float64 {
	t := max(x*(1-z.exponent), -1)
	if math.Abs(t) < 1e-8 {
		return math.Exp((1 - t/2) * x)
	}
	return math.Exp(math.Log1p(t) / t * x)
}
