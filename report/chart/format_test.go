package chart

import (
	"math"
	"slices"
	"strings"
	"testing"
)

// C-30: every number has its unit, and '.' as its decimal sign.
func TestValueText(t *testing.T) {
	tests := []struct {
		unit Unit
		v    float64
		want string
	}{
		{Duration, 20 * ms, "20 ms"},
		{Duration, 0, "0"},
		{Duration, 150_000, "150 µs"},
		{Duration, 2.5 * ms, "2.5 ms"},
		{Duration, 1.2 * second, "1.2 s"},
		{Duration, 999.96 * ms, "1000 ms"},
		{Duration, 12, "12 ns"},
		{Duration, 90 * minute, "90 min"},
		{Duration, 5 * hour, "5 h"},
		{Duration, -3 * ms, "-3 ms"},
		{Rate, 250, "250/s"},
		{Rate, 1234.56, "1235/s"},
		{Rate, 0.25, "0.25/s"},
		{Percent, 0.001, "0.1%"},
		{Percent, 1, "100%"},
		{Bytes, 1536, "1.5 KiB"},
		{Bytes, 3 << 30, "3 GiB"},
		{Count, 1234567, "1234567"},
		{Number, 1e-9, "1e-09"},
		{Number, 1e300, "1e+300"},
		{Quantile, 0.5, "p50"},
		{Quantile, 0.9999, "p99.99"},
		{Quantile, 0.999999, "p99.9999"},
		{Quantile, 1, "max"},
		{Quantile, 0, "min"},
		{Duration, math.NaN(), "no value"},
		{Duration, math.Inf(1), "infinite"},
		{Duration, math.Inf(-1), "-infinite"},
	}
	for _, tt := range tests {
		if got := valueText(tt.unit, tt.v); got != tt.want {
			t.Errorf("valueText(%v, %v) = %q, want %q", tt.unit, tt.v, got, tt.want)
		}
	}
}

func TestTicks(t *testing.T) {
	tests := []struct {
		name string
		s    scale
		want string
	}{
		{"durations", yScale(Axis{Unit: Duration}, extent{0, 240 * ms, true}, 6), "0 50 ms 100 ms 150 ms 200 ms 250 ms"},
		{"small durations", yScale(Axis{Unit: Duration}, extent{0, 900, true}, 6), "0 0.2 µs 0.4 µs 0.6 µs 0.8 µs 1.0 µs"},
		{"seconds", yScale(Axis{Unit: Duration}, extent{0, 1.2 * second, true}, 6), "0 0.2 s 0.4 s 0.6 s 0.8 s 1.0 s 1.2 s"},
		{"minute", xScale(Axis{Unit: Duration}, extent{0, 60 * second, true}), "0 10 s 20 s 30 s 40 s 50 s 60 s"},
		{"minutes", xScale(Axis{Unit: Duration}, extent{0, 10 * minute, true}), "0 2 min 4 min 6 min 8 min 10 min"},
		{"hours", xScale(Axis{Unit: Duration}, extent{0, 5 * hour, true}), "0 1 h 2 h 3 h 4 h 5 h"},
		{"half hours", xScale(Axis{Unit: Duration}, extent{0, 2.5 * hour, true}), "0 0.5 h 1.0 h 1.5 h 2.0 h 2.5 h"},
		{"rates", xScale(Axis{Unit: Rate}, extent{50, 400, true}), "0 100/s 200/s 300/s 400/s"},
		{"great rates", xScale(Axis{Unit: Rate}, extent{0, 50_000, true}), "0 10k/s 20k/s 30k/s 40k/s 50k/s"},
		{"rates far from zero", xScale(Axis{Unit: Rate}, extent{300, 400, true}), "300/s 320/s 340/s 360/s 380/s 400/s"},
		{"shares", yScale(Axis{Unit: Percent}, extent{0, 0.004, true}, 6), "0 0.1% 0.2% 0.3% 0.4%"},
		{"bytes", yScale(Axis{Unit: Bytes}, extent{0, 5 << 20, true}, 6), "0 1 MiB 2 MiB 3 MiB 4 MiB 5 MiB"},
		{"counts", yScale(Axis{Unit: Count}, extent{0, 2, true}, 6), "0 1 2"},
		{"minus", yScale(Axis{}, extent{-3, 4, true}, 6), "-4 -2 0 2 4"},
		{"one value", xScale(Axis{Unit: Duration}, extent{second, second, true}), "0.6 s 0.8 s 1.0 s 1.2 s 1.4 s"},
		{"nothing", yScale(Axis{Unit: Duration}, extent{}, 6), "0 0.2 ms 0.4 ms 0.6 ms 0.8 ms 1.0 ms"},
		{"log", yScale(Axis{Unit: Duration, Log: true}, extent{1.5 * ms, 80 * ms, true}, 6), "1 ms 2 ms 5 ms 10 ms 20 ms 50 ms 100 ms"},
		{"log decades", yScale(Axis{Unit: Duration, Log: true}, extent{1, 100 * second, true}, 6), "1 ns 100 ns 10 µs 1 ms 100 ms 10 s"},
		{"log bytes", yScale(Axis{Unit: Bytes, Log: true}, extent{1000, 9 << 20, true}, 6), "4 KiB 32 KiB 256 KiB 2 MiB"},
		{"quantiles", xScale(Axis{Unit: Quantile}, extent{0, 0.9999, true}), "p0 p50 p90 p99 p99.9 p99.99"},
		{"quantiles to the max", xScale(Axis{Unit: Quantile}, extent{0, 1, true}).reach(0.999), "p0 p50 p90 p99 p99.9 max"},
		{"only the max", xScale(Axis{Unit: Quantile}, extent{1, 1, true}).reach(0), "p0 p50 p90 max"},
	}
	for _, tt := range tests {
		var texts []string
		last := -1.0
		for _, tick := range tt.s.ticks(6) {
			texts = append(texts, tick.text)
			if !(tick.at > last && tick.at >= 0 && tick.at <= 1) {
				t.Errorf("%s: tick %q at %v after %v", tt.name, tick.text, tick.at, last)
			}
			last = tick.at
		}
		if got := strings.Join(texts, " "); got != tt.want {
			t.Errorf("%s: ticks %q, want %q", tt.name, got, tt.want)
		}
	}
}

// Ends that make no range are ignored.
func TestFixedEnds(t *testing.T) {
	p := func(v float64) *float64 { return &v }
	tests := []struct {
		ax     Axis
		lo, hi float64
	}{
		{Axis{Min: p(2), Max: p(5)}, 2, 5},
		{Axis{Max: p(50)}, 0, 50},
		{Axis{Min: p(5), Max: p(2)}, 0, 10},
		{Axis{Min: p(3), Max: p(3)}, 0, 10},
		{Axis{Min: p(math.NaN())}, 0, 10},
		{Axis{Max: p(math.Inf(1))}, 0, 10},
		{Axis{Max: p(math.MaxFloat64)}, 0, 10},
		{Axis{Log: true, Min: p(-1), Max: p(100)}, 1, 10},
		{Axis{Log: true, Max: p(100)}, 1, 100},
		{Axis{Unit: Quantile, Max: p(1)}, 0, 0.99},
	}
	for _, tt := range tests {
		e := extent{0, 10, true}
		switch {
		case tt.ax.Log:
			e.lo = 1
		case tt.ax.Unit == Quantile:
			e.hi = 0.99
		}
		if s := yScale(tt.ax, e, 5); s.lo != tt.lo || s.hi != tt.hi {
			t.Errorf("yScale(%+v) spans %v to %v, want %v to %v", tt.ax, s.lo, s.hi, tt.lo, tt.hi)
		}
	}
}

func TestRoman(t *testing.T) {
	for _, tt := range []struct{ in, want string }{
		{"plain ü ß é Ω µ – … Ж", "plain ü ß é Ω µ – … Ж"},
		{"10/s → 100/s", "10/s -> 100/s"},
		{"模式", `\u6a21\u5f0f`},
		{"u\u0308ber", "uber"},
		{"ＡＢ１", "AB1"},
		{"a\tb\nc", "a b c"},
		{"🚀", `\u1f680`},
		{"a\xff", "a\ufffd"},
	} {
		if got := roman(tt.in); got != tt.want {
			t.Errorf("roman(%q) = %q, want %q", tt.in, got, tt.want)
		}
	}
}

func TestFitAndWrap(t *testing.T) {
	long := "one two three four five six seven eight nine ten"
	for _, width := range []float64{30, 60, 120, 1000} {
		if got := ownFont.fit(long, 13, width); ownFont.width(got, 13) > width {
			t.Errorf("fit(%q, %v) = %q is %v wide", long, width, got, ownFont.width(got, 13))
		}
		lines := ownFont.wrap(long, 13, width, 2)
		if len(lines) > 2 {
			t.Errorf("wrap to %v gave %d lines", width, len(lines))
		}
		if joined := strings.Join(lines, " "); width == 1000 && joined != long {
			t.Errorf("wrap to %v gave %q", width, joined)
		}
	}
}

// Thinning keeps the ends, the extremes and the gaps.
func TestThin(t *testing.T) {
	n := 10_000
	at := func(i int) sample {
		p := sample{i: i, x: float64(i), y: 5, lo: math.NaN(), hi: math.NaN()}
		switch i {
		case 1234:
			p.y = 900
		case 5678:
			p.y = -900
		case 7777:
			p.y = math.NaN()
		case 8888:
			p.lo, p.hi = 4, 2000
		}
		return p
	}
	kept := thin(n, 500, at)
	if len(kept) > 520 || !slices.IsSorted(kept) {
		t.Errorf("%d points kept, sorted %v", len(kept), slices.IsSorted(kept))
	}
	for _, i := range []int{0, 1234, 5678, 7777, 8888, n - 1} {
		if !slices.Contains(kept, i) {
			t.Errorf("point %d is lost", i)
		}
	}
}

// A line's dashes are as long in all as the pattern says, however it is divided.
func TestCut(t *testing.T) {
	var fine []xy
	for i := range 1001 {
		fine = append(fine, xy{float64(i) / 10, 0})
	}
	for name, pts := range map[string][]xy{"coarse": {{0, 0}, {100, 0}}, "fine": fine} {
		length := 0.0
		parts := cut(pts, []float64{6, 4})
		for _, part := range parts {
			length += part[len(part)-1].x - part[0].x
		}
		if len(parts) != 10 || math.Abs(length-60) > 1e-6 {
			t.Errorf("%s: %d dashes of %v in all, want 10 of 60", name, len(parts), length)
		}
	}
}

// Every colour can be told from the paper, text better than lines.
func TestContrast(t *testing.T) {
	ts := tones()
	for i, tone := range ts {
		want := 3.0
		switch ink(i) {
		case paper, grid, band:
			continue
		case text, muted, limit:
			want = 4.5
		}
		for _, pair := range [][2]string{{tone.light, ts[paper].light}, {tone.dark, ts[paper].dark}} {
			if got := contrast(pair[0], pair[1]); got < want {
				t.Errorf("%s: contrast of %s on %s is %.2f, want %v", tone.name, pair[0], pair[1], got, want)
			}
		}
		if !strings.Contains(CSS(), "var(--chart-"+tone.name+","+tone.dark+")") {
			t.Errorf("CSS() lacks the dark %s", tone.name)
		}
	}
}

// contrast is WCAG 2's ratio of two colours, from 1 to 21.
func contrast(a, b string) float64 {
	la, lb := luminance(a), luminance(b)
	return (max(la, lb) + 0.05) / (min(la, lb) + 0.05)
}

func luminance(hex string) float64 {
	tones := [...]tone{{light: hex}}
	c := raster{}
	copy(c.tones[:], tones[:])
	rgb := c.colour(0, 0)
	channel := func(v uint8) float64 {
		f := float64(v) / 255
		if f <= 0.04045 {
			return f / 12.92
		}
		return math.Pow((f+0.055)/1.055, 2.4)
	}
	return 0.2126*channel(rgb.R) + 0.7152*channel(rgb.G) + 0.0722*channel(rgb.B)
}

// Eighty thousand points make an image of moderate size.
func TestThinnedImage(t *testing.T) {
	texts, _ := vectors(t, many())
	if want := "Thinned from 80000 points: each stretch keeps its lowest and highest."; !strings.Contains(texts, want) {
		t.Errorf("SVG does not say %q", want)
	}
	var b strings.Builder
	if err := WriteSVG(&b, many(), Options{}); err != nil || b.Len() > 200_000 {
		t.Errorf("SVG has %d bytes (%v)", b.Len(), err)
	}
}
