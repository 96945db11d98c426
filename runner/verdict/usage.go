package verdict

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// usage decides an SLO on the CPU time or memory of a target's processes, all its instances together.
func usage(s plans.SLO, o *result.Observation) []result.SLOSegment {
	if o == nil || o.Samples == 0 {
		return []result.SLOSegment{noData("the processes were not observed: the stage is shorter than one interval, or /proc is not readable")}
	}
	var v *float64
	for _, p := range o.Processes {
		if p.Name != s.Metric.Target {
			continue
		}
		switch {
		case s.Metric.Kind == plans.CPU && p.CPUShare != nil:
			v = plus(v, *p.CPUShare)
		case s.Metric.Kind == plans.RSS && p.RSSMaxBytes != nil:
			v = plus(v, float64(*p.RSSMaxBytes))
		}
	}
	if v == nil {
		return []result.SLOSegment{noData(fmt.Sprintf("no process of target %q was observed", s.Metric.Target))}
	}
	p := compared(s, *v, int64(o.Samples))
	if s.Metric.Kind == plans.CPU {
		p.Reason += " (100% is one core)"
	}
	return []result.SLOSegment{p}
}

func plus(a *float64, b float64) *float64 {
	if a != nil {
		b += *a
	}
	return &b
}

// dur prints nanoseconds with at most four significant digits.
func dur(ns int64) string {
	v, unit := float64(ns), " ns"
	for _, next := range []string{" µs", " ms", " s"} {
		if math.Abs(v) < 1000 {
			break
		}
		v, unit = v/1000, next
	}
	return digits(v) + unit
}

// digits prints v with at most four significant digits and no exponent; whole digits are never dropped.
func digits(v float64) string {
	decimals := 3
	for w := math.Abs(v); w >= 10 && decimals > 0; w /= 10 {
		decimals--
	}
	if v != 0 && math.Abs(v) < 1 {
		return strconv.FormatFloat(v, 'g', 3, 64)
	}
	text := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// pct prints a share in percent.
func pct(share float64) string { return digits(100*share) + "%" }

// value prints a figure with its unit for a reason.
func value(v float64, u plans.Unit) string {
	switch u {
	case plans.Nanoseconds:
		return dur(int64(v))
	case plans.NsPerRow:
		return dur(int64(v)) + " per row"
	case plans.Share:
		return pct(v)
	case plans.PerSecond:
		return digits(v) + "/s"
	case plans.Bytes:
		return digits(v/(1<<20)) + " MiB"
	}
	return digits(v)
}
