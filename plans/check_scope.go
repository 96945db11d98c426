package plans

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"
)

// inScope checks that the scope of an assertion names what the stage has.
func (l *loader) inScope(s placed, st *Stage, ld *Load) bool {
	m := s.Metric
	if m.Segment != "" && !slices.ContainsFunc(ld.Profile, func(seg Segment) bool { return seg.Name == m.Segment }) {
		var names []string
		for _, seg := range ld.Profile {
			names = append(names, seg.Name)
		}
		l.fault(s.it.fault("stage "+quote(st.Name)+" has no such segment", quote(m.Segment), orNothing(names), didYouMean(m.Segment, names)))
		return false
	}
	if m.Host == "" || m.Host == "*" || ld.Request == nil || ld.Request.Target == nil {
		return true
	}
	var names []string
	for _, e := range ld.Request.Target.Endpoints() {
		name := e.Address
		if e.Network == "unix" {
			name = "unix:" + e.Address
		}
		names = append(names, name)
	}
	if !slices.Contains(names, m.Host) {
		l.fault(s.it.fault("no host of target "+quote(ld.Request.Target.Name), quote(m.Host), orNothing(names), didYouMean(m.Host, names)))
		return false
	}
	return true
}

// part is the share of the arrivals of a load that an assertion is about, as far as that is known before.
func (ld *Load) part(m Metric) float64 {
	share := ld.Share(m.Request)
	if m.Host != "" {
		share /= float64(hostsOf(ld))
	}
	return share
}

// windowed checks that windows fit into the stage, and that each has the samples that the assertion needs.
func (l *loader) windowed(s placed, st *Stage, ld *Load) {
	length := ld.Duration()
	n := int64(length / s.Window)
	switch {
	case n < 1:
		l.fault(s.it.fault("window is longer than stage "+quote(st.Name), formatDuration(s.Window), "at most "+formatDuration(length), ""))
		return
	case n > maxWindows:
		l.fault(s.it.fault("too many windows in stage "+quote(st.Name), strconv.FormatInt(n, 10), fmt.Sprintf("at most %d", maxWindows), "take longer ones"))
		return
	case ld.Arrivals == Closed || s.Metric.Status != "":
		return
	}
	need := s.MinSamples()
	before := 0.0
	for k := range n {
		until := arrivalsUntil(ld.Profile, time.Duration(k+1)*s.Window)
		planned := int(math.Floor((until-before)*ld.part(s.Metric) + 1e-6))
		before = until
		if planned < need {
			l.fault(s.it.fault(fmt.Sprintf("too few requests in a window of stage %q", st.Name), fmt.Sprintf("%d planned from %s on", planned, formatDuration(time.Duration(k)*s.Window)),
				fmt.Sprintf("at least %d for %s", need, s.Metric), "take longer windows, raise the rate or assert a lower percentile"))
			return
		}
	}
}

// arrivalsUntil is the mean number of arrivals of a profile until t.
func arrivalsUntil(profile []Segment, t time.Duration) float64 {
	n := 0.0
	for _, s := range profile {
		if t < s.Over {
			return n + s.Until(t)
		}
		n += s.Planned()
		t -= s.Over
	}
	return n
}
