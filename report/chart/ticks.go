package chart

import (
	"math"
	"strconv"
)

// tick is one labelled place of an axis, at a fraction of its length.
type tick struct {
	at   float64
	text string
}

// ticks divides the scale into about target parts.
func (s scale) ticks(target int) []tick {
	switch s.kind {
	case logarithmic:
		return s.logTicks(target)
	case quantile:
		return s.quantileTicks()
	}
	ts := s.linearTicks(niceStep(s.unit, s.hi-s.lo, target))
	if len(ts) < 2 { // no whole number in reach
		ts = s.linearTicks(ceil125((s.hi - s.lo) / float64(max(target, 2))))
	}
	return ts
}

func (s scale) linearTicks(step float64) []tick {
	m := tickMeasure(s.unit, step, max(math.Abs(s.lo), math.Abs(s.hi)))
	first := math.Ceil(s.lo/step - 1e-9)
	var ts []tick
	for i := range 40 {
		v := (first + float64(i)) * step
		if v > s.hi+step*1e-9 {
			break
		}
		f, _ := s.at(v)
		ts = append(ts, tick{f, tickText(m, step, v)})
	}
	return ts
}

// niceStep is the smallest round step that divides span into at most target parts.
func niceStep(u Unit, span float64, target int) float64 {
	want := span / float64(max(target, 1))
	switch {
	case u == Duration && want > second/2:
		return timeStep(want)
	case u == Bytes && want > 1:
		return math.Exp2(math.Ceil(math.Log2(want) - 1e-9))
	case u == Count && want < 1:
		return 1
	}
	return ceil125(want)
}

// timeStep rounds a step of a second or more up to what clocks count in.
func timeStep(want float64) float64 {
	steps := [...]float64{
		second, 2 * second, 5 * second, 10 * second, 15 * second, 30 * second,
		minute, 2 * minute, 5 * minute, 10 * minute, 15 * minute, 30 * minute,
		hour, 2 * hour, 3 * hour, 6 * hour, 12 * hour, day,
	}
	for _, s := range steps {
		if want <= s*(1+1e-9) {
			return s
		}
	}
	return day * ceil125(want/day)
}

// ceil125 rounds up to 1, 2 or 5 times a power of ten.
func ceil125(v float64) float64 {
	p := math.Pow10(int(math.Floor(math.Log10(v))))
	for _, m := range [...]float64{1, 2, 5} {
		if v <= m*p*(1+1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// floor125 rounds down to 1, 2 or 5 times a power of ten.
func floor125(v float64) float64 {
	p := math.Pow10(int(math.Floor(math.Log10(v) + 1e-9)))
	for _, m := range [...]float64{5, 2} {
		if v >= m*p*(1-1e-9) {
			return m * p
		}
	}
	return p
}

func (s scale) logTicks(target int) []tick {
	decades := s.b - s.a
	if decades < 0.7 {
		return s.linearTicks(niceStep(s.unit, s.hi-s.lo, target))
	}
	if s.unit == Bytes {
		return s.binaryTicks(target)
	}
	mantissas := []float64{1}
	if decades*3 <= float64(target)*2 {
		mantissas = []float64{1, 2, 5}
	}
	stride := max(1, int(math.Ceil(decades/float64(max(target, 1)))))
	var ts []tick
	for e := int(math.Floor(s.a)); e <= int(math.Ceil(s.b)); e++ {
		if mod(e, stride) != 0 {
			continue
		}
		for _, m := range mantissas {
			v := m * math.Pow10(e)
			if s.holds(v) {
				f, _ := s.at(v)
				ts = append(ts, tick{f, logText(s.unit, v)})
			}
		}
	}
	return ts
}

// binaryTicks marks powers of two.
func (s scale) binaryTicks(target int) []tick {
	a, b := math.Log2(s.lo), math.Log2(s.hi)
	stride := max(1, int(math.Ceil((b-a)/float64(max(target, 1)))))
	var ts []tick
	for e := int(math.Floor(a)); e <= int(math.Ceil(b)); e++ {
		v := math.Exp2(float64(e))
		if mod(e, stride) == 0 && s.holds(v) {
			f, _ := s.at(v)
			ts = append(ts, tick{f, logText(s.unit, v)})
		}
	}
	return ts
}

func mod(a, b int) int { return ((a % b) + b) % b }

// logText shows a power of ten; long durations stay in seconds, where they are round.
func logText(u Unit, v float64) string {
	if u == Duration && v >= second {
		return trimZeros(significant(v/second)) + " s"
	}
	if u == Number || u == Count || u == Rate {
		m := thousands(v)
		return trimZeros(significant(v/m.div)) + m.suffix + measureFor(u, v).suffix
	}
	return valueText(u, v)
}

// quantileTicks marks p50, p90, p99, p99.9 …, and the maximum if it is shown.
func (s scale) quantileTicks() []tick {
	var ts []tick
	add := func(q float64, text string) {
		if f, edge := s.at(q); edge == 0 {
			ts = append(ts, tick{f, text})
		}
	}
	add(0, "p0")
	add(0.5, "p50")
	nines := ""
	for e := 1; e <= 15; e++ {
		text := "p90"
		if e > 1 {
			text = "p99" + nines
		}
		if e == 2 {
			nines = "."
		}
		if e >= 2 {
			nines += "9"
		}
		q := 1 - math.Pow10(-e)
		if s.top && q > s.hi && quantile.transform(q) > s.b-0.2 {
			break
		}
		add(q, text)
	}
	if s.top {
		ts = append(ts, tick{1, "max"})
	}
	if len(ts) == 0 {
		ts = append(ts, tick{0, quantileText(s.lo)}, tick{1, quantileText(s.hi)})
	}
	return ts
}

// categoryTicks marks the positions 0, 1, 2 … with their names.
func (s scale) categoryTicks(names []string) []tick {
	var ts []tick
	for i, name := range names {
		if f, edge := s.at(float64(i)); edge == 0 {
			if name == "" {
				name = strconv.Itoa(i)
			}
			ts = append(ts, tick{f, name})
		}
	}
	return ts
}
