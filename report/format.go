package report

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

// na stands for a number that was not measured.
const na = "n/a"

// growthClasses are the words for limits and values of the unit class, in the order plans define.
var growthClasses = [...]string{"constant", "logarithmic", "linear", "linearithmic", "quadratic", "cubic"}

// A scale is a unit of display: a value is divided by div and followed by suffix.
type scale struct {
	div    float64
	suffix string
}

var (
	timeScales    = []scale{{1, " ns"}, {1e3, " µs"}, {1e6, " ms"}, {1e9, " s"}}
	decimalScales = []scale{{1e3, " kB"}, {1e6, " MB"}, {1e9, " GB"}, {1e12, " TB"}}
	byteScales    = []scale{{1, " B"}, {1 << 10, " KiB"}, {1 << 20, " MiB"}, {1 << 30, " GiB"}, {1 << 40, " TiB"}}
)

// scaleOf picks the largest scale that v reaches, with what it is rounded to taken into account.
func scaleOf(scales []scale, v float64) scale {
	s := scales[0]
	for _, next := range scales[1:] {
		if math.Abs(v) >= next.div*(1-5e-5) {
			s = next
		}
	}
	return s
}

// duration shows nanoseconds with four significant digits.
func duration(ns float64) string { return in(scaleOf(timeScales, ns), ns, 4) }

// columnTime is duration for a column of a table: with zeros at the end, so that points stand below each other.
func columnTime(ns float64) string {
	s := scaleOf(timeScales, ns)
	if ns == 0 || s.div == 1 || math.IsNaN(ns) || math.IsInf(ns, 0) {
		return duration(ns)
	}
	mag := int(math.Floor(math.Log10(math.Abs(ns / s.div * (1 + 5e-5)))))
	return commas(strconv.FormatFloat(ns/s.div, 'f', max(0, 3-mag), 64)) + s.suffix
}

func size(bytes float64) string { return in(scaleOf(byteScales, bytes), bytes, 4) }

func percent(share float64) string { return in(scale{0.01, "%"}, share, 3) }

func perSecond(v float64) string { return in(scale{1, "/s"}, v, 4) }

// leastShare is the smallest share that is shown as more than nothing: one in a hundred million.
const leastShare = 1e-8

// in shows v in a scale with so many significant digits; whole digits are never dropped.
func in(s scale, v float64, digits int) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return na
	}
	if s.suffix == "%" && math.Abs(v) < leastShare {
		v = 0
	}
	return number(v/s.div, digits) + s.suffix
}

// number shows v with so many significant digits, without zeros at the end of a fraction, and with commas between
// thousands.
func number(v float64, digits int) string {
	if v == 0 {
		return "0"
	}
	mag := int(math.Floor(math.Log10(math.Abs(v))))
	if mag < -6 || mag > 15 {
		return strconv.FormatFloat(v, 'g', digits, 64)
	}
	text := strconv.FormatFloat(v, 'f', max(0, digits-1-mag), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return commas(text)
}

// commas puts commas between the thousands of a decimal number.
func commas(text string) string {
	digits, fraction, _ := strings.Cut(text, ".")
	if fraction != "" {
		fraction = "." + fraction
	}
	sign := ""
	if strings.HasPrefix(digits, "-") {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits + fraction
}

func count(n int64) string { return commas(strconv.FormatInt(n, 10)) }

// counted is a number with its noun, which gets an s unless the number is 1.
func counted(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}

// span shows how long something took, in the way people say it.
func span(ns int64) string {
	d := time.Duration(ns)
	if d < 2*time.Minute {
		return in(scaleOf(timeScales, float64(ns)), float64(ns), 3)
	}
	d = d.Round(time.Second)
	h, m, s := int64(d/time.Hour), int64(d/time.Minute)%60, int64(d/time.Second)%60
	if h > 0 {
		return count(h) + " h " + strconv.FormatInt(m, 10) + " min"
	}
	return strconv.FormatInt(m, 10) + " min " + strconv.FormatInt(s, 10) + " s"
}

func orNA(v *float64, show func(float64) string) string {
	if v == nil {
		return na
	}
	return show(*v)
}

// A quantity shows values of an SLO in the one unit that suits its limit, but for times far below it.
type quantity struct {
	unit  string
	scale scale
	per   string // "per row"
}

func quantityOf(s result.SLO) quantity {
	q := quantity{unit: s.Unit}
	switch s.Unit {
	case "ns":
		q.scale = scaleOf(timeScales, s.Limit)
		if s.Limit == 0 {
			q.scale = scale{1e6, " ms"}
		}
	case "ns_per_row":
		q.scale, q.per = scaleOf(timeScales, s.Limit), " per row"
	case "share":
		q.scale = scale{0.01, "%"}
	case "per_s":
		q.scale = scale{1, "/s"}
	case "bytes":
		q.scale = bytesScale(s.Text, s.Limit)
	default:
		q.scale = scale{1, ""}
	}
	return q
}

// bytesScale is the unit that an SLO's text ends with, else the one that suits its limit.
func bytesScale(text string, limit float64) scale {
	unit := text[strings.LastIndexFunc(text, func(r rune) bool { return r < 'A' || r > 'Z' && r < 'a' || r > 'z' })+1:]
	for _, s := range slices.Concat(decimalScales, byteScales[1:]) {
		if strings.EqualFold(unit, s.suffix[1:]) {
			return s
		}
	}
	return scaleOf(byteScales, limit)
}

// show shows a measured value.
func (q quantity) show(v float64) string { return q.digits(v, 4) }

func (q quantity) digits(v float64, digits int) string {
	if i := int(v); q.unit == "class" && v == float64(i) && i >= 0 && i < len(growthClasses) {
		return growthClasses[i]
	}
	own := q.scale
	if (q.unit == "ns" || q.unit == "ns_per_row") && v > 0 && v < q.scale.div/10 {
		own = scaleOf(timeScales, v) // 9.658 ms beside a limit of 1 s, not 0.009658 s
	}
	text := in(own, v, digits)
	if text == na {
		return na
	}
	return text + q.per
}

// limit shows a limit as exactly as the plan gave it; one whose fraction has no end in its unit is rounded.
func (q quantity) limit(v float64) string {
	exact := q.digits(v, 12)
	if len(exact) > len(q.digits(v, 6))+3 {
		return q.digits(v, 4)
	}
	return exact
}

// apart shows a value with as many digits as it takes to tell it from the limit, where they differ.
func (q quantity) apart(v, limit float64) string {
	for digits := 4; digits < 12; digits++ {
		if text := q.digits(v, digits); v == limit || text != q.limit(limit) {
			return text
		}
	}
	return q.digits(v, 12)
}
