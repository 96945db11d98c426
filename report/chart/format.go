package chart

import (
	"math"
	"strconv"
)

// measure is a unit of display: a value is divided by div and followed by suffix.
type measure struct {
	div    float64
	suffix string
}

const (
	microsecond = 1e3
	millisecond = 1e6
	second      = 1e9
	minute      = 60 * second
	hour        = 60 * minute
	day         = 24 * hour
	kib         = 1024.0
)

// measureFor picks the display unit for numbers of about the size of v.
func measureFor(u Unit, v float64) measure {
	v = math.Abs(v)
	switch u {
	case Duration:
		return durationMeasure(v)
	case Percent:
		return measure{0.01, "%"}
	case Bytes:
		return bytesMeasure(v)
	case Rate:
		return measure{1, "/s"}
	}
	return measure{1, ""}
}

func durationMeasure(v float64) measure {
	switch {
	case v < microsecond:
		return measure{1, " ns"}
	case v < millisecond:
		return measure{microsecond, " µs"}
	case v < second:
		return measure{millisecond, " ms"}
	case v < 10*minute:
		return measure{second, " s"}
	case v < 3*hour:
		return measure{minute, " min"}
	case v < 3*day:
		return measure{hour, " h"}
	}
	return measure{day, " d"}
}

func bytesMeasure(v float64) measure {
	switch {
	case v < kib:
		return measure{1, " B"}
	case v < kib*kib:
		return measure{kib, " KiB"}
	case v < kib*kib*kib:
		return measure{kib * kib, " MiB"}
	case v < kib*kib*kib*kib:
		return measure{kib * kib * kib, " GiB"}
	}
	return measure{kib * kib * kib * kib, " TiB"}
}

// tickMeasure picks one display unit for all ticks of a linear axis.
func tickMeasure(u Unit, step, largest float64) measure {
	if u == Duration && largest >= second {
		switch {
		case step >= day:
			return measure{day, " d"}
		case step >= 30*minute:
			return measure{hour, " h"}
		case step >= minute:
			return measure{minute, " min"}
		}
		return measure{second, " s"}
	}
	m := measureFor(u, largest)
	if u == Number || u == Count || u == Rate {
		p := thousands(largest)
		return measure{p.div, p.suffix + m.suffix}
	}
	return m
}

// thousands abbreviates from 10 000 on, and leaves numbers past 10^15 alone.
func thousands(v float64) measure {
	v = math.Abs(v)
	switch {
	case v < 1e4 || v >= 1e15:
		return measure{1, ""}
	case v < 1e6:
		return measure{1e3, "k"}
	case v < 1e9:
		return measure{1e6, "M"}
	}
	return measure{1e9, "G"}
}

// tickText shows v with the decimals that multiples of step need.
func tickText(m measure, step, v float64) string {
	if v == 0 {
		return "0"
	}
	return plain(v/m.div, decimals(step/m.div)) + m.suffix
}

// decimals is the number of decimals that multiples of step need; -1 is too many.
func decimals(step float64) int {
	for d := range 10 {
		scaled := step * math.Pow10(d)
		if scaled >= 0.5 && math.Abs(scaled-math.Round(scaled)) < 1e-6*scaled {
			return d
		}
	}
	return -1
}

// plain prints with a fixed number of decimals where that is short, else with
// an exponent.
func plain(v float64, decimals int) string {
	if decimals < 0 || math.Abs(v) >= 1e15 {
		return strconv.FormatFloat(v, 'g', 4, 64)
	}
	return strconv.FormatFloat(v, 'f', decimals, 64)
}

// valueText shows one value to four significant digits; whole digits are
// never dropped.
func valueText(u Unit, v float64) string {
	switch {
	case math.IsNaN(v):
		return "no value"
	case math.IsInf(v, 1):
		return "infinite"
	case math.IsInf(v, -1):
		return "-infinite"
	case u == Quantile:
		return quantileText(v)
	case v == 0:
		return "0"
	}
	m := measureFor(u, v)
	x := v / m.div
	return trimZeros(significant(x)) + m.suffix
}

func significant(x float64) string {
	mag := math.Floor(math.Log10(math.Abs(x)))
	if mag < -6 || mag >= 15 {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return strconv.FormatFloat(x, 'f', max(0, 3-int(mag)), 64)
}

// quantileText names a quantile as percentile: 0.999 is p99.9.
func quantileText(q float64) string {
	switch q {
	case 0:
		return "min"
	case 1:
		return "max"
	}
	return "p" + trimZeros(strconv.FormatFloat(q*100, 'f', 6, 64))
}

// trimZeros drops zeros at the end of a decimal fraction.
func trimZeros(s string) string {
	mantissa, exponent := s, ""
	dot := -1
	for i := range len(s) {
		switch s[i] {
		case '.':
			dot = i
		case 'e':
			mantissa, exponent = s[:i], s[i:]
		}
	}
	if dot < 0 {
		return s
	}
	end := len(mantissa)
	for end > dot+1 && mantissa[end-1] == '0' {
		end--
	}
	if end == dot+1 {
		end = dot
	}
	return mantissa[:end] + exponent
}
