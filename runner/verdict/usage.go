package verdict

import (
	"fmt"
	"time"

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
		p.Reason += " (100 % is one core)"
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
	d := time.Duration(ns)
	for unit := time.Duration(1); unit <= time.Second; unit *= 10 {
		if d/unit < 10000 {
			return d.Round(unit).String()
		}
	}
	return d.Round(time.Second).String()
}

// pct prints a share in percent.
func pct(share float64) string { return fmt.Sprintf("%.4g %%", 100*share) }

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
		return fmt.Sprintf("%.4g/s", v)
	case plans.Bytes:
		return fmt.Sprintf("%.4g MiB", v/(1<<20))
	}
	return fmt.Sprintf("%.4g", v)
}
