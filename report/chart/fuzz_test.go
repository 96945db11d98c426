package chart

import (
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// FuzzChart draws any numbers under any axes: no panic, a valid SVG, and every
// shape inside the image, so that the PNG's library gets nothing it cannot draw.
func FuzzChart(f *testing.F) {
	bytesOf := func(v ...float64) []byte {
		var b []byte
		for _, x := range v {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(x))
		}
		return b
	}
	f.Add([]byte{}, uint32(0), "", 0.0, 0.0)
	f.Add(bytesOf(1, 2, 3, 4), uint32(0x1234), "p99", 0.0, 1.0)
	f.Add(bytesOf(0, math.NaN(), math.Inf(1), -1, 5e-324, math.MaxFloat64), uint32(0xffff), "模", math.Inf(-1), math.NaN())
	f.Add(bytesOf(0, 0.5, 0.9, 0.999, 1, 1, 2, 3, 4, 5), uint32(6), "</svg>", -1.0, 2.0)
	f.Add(bytesOf(1e16, 1e16+2, 1e16, 1e16+2), uint32(1<<20), "\xff", 1e16, 1e16+2)
	f.Fuzz(func(t *testing.T, data []byte, bits uint32, name string, a, b float64) {
		vectors(t, fuzzed(data, bits, name, a, b))
	})
}

// Random charts, of numbers of every size, come out as PNG too.
func TestRandomCharts(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 9))
	some := []float64{0, 1, -1, 0.5, 0.999, 5e-324, 1e-300, 1e16, 1e300, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1)}
	number := func() float64 {
		if rng.IntN(3) == 0 {
			return some[rng.IntN(len(some))]
		}
		return rng.NormFloat64() * math.Pow(10, float64(rng.IntN(12)))
	}
	for i := range 90 {
		var data []byte
		for range rng.IntN(60) {
			data = binary.LittleEndian.AppendUint64(data, math.Float64bits(number()))
		}
		c := fuzzed(data, rng.Uint32(), "name", number(), number())
		if vectors(t, c); i%30 == 0 {
			draw(t, c)
		}
	}
}

// fuzzed makes a chart of raw input: the numbers in data are dealt out to one
// or two series, and bits choose the axes and styles.
func fuzzed(data []byte, bits uint32, name string, a, b float64) Chart {
	var v []float64
	for len(data) >= 8 && len(v) < 4000 {
		v = append(v, math.Float64frombits(binary.LittleEndian.Uint64(data)))
		data = data[8:]
	}
	take := func(n uint32) int { // n bits of choice
		out := bits & (1<<n - 1)
		bits >>= n
		return int(out)
	}
	c := Chart{Title: name, Notes: []string{name}, Bands: []Band{{name, a, b}}}
	c.X = Axis{Label: name, Unit: Unit(take(3)), Log: take(1) == 1}
	c.Y = Axis{Label: name, Unit: Unit(take(3)), Log: take(1) == 1}
	if take(1) == 1 {
		c.X.Min, c.Y.Max = &a, &b
	}
	if take(1) == 1 {
		c.X.Max, c.Y.Min = &b, &a
	}
	if take(1) == 1 {
		c.X.Categories = []string{name, "b", name}
	}
	s := Series{Name: name, Style: Style(take(2)), Interval: Interval(take(1)), Role: Role(take(1)), Color: take(3)}
	half := len(v) / 2
	s.X, s.Y = v[:half], v[half:]
	if take(1) == 1 {
		s.Lo, s.Hi = v, v[half:]
	}
	c.Series = append(c.Series, s)
	if take(1) == 1 {
		c.Series = append(c.Series, Series{Name: "second", X: s.Y, Y: s.X, Style: Style(take(2))})
	}
	if take(1) == 1 {
		c.Limits = []Limit{{name, a}, {"", b}}
		c.Marks = []Mark{{name, b}}
	}
	return c
}
