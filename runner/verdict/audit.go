package verdict

import (
	"fmt"
	"math"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// dispatchLag is the code of the warning that the generator was late. It touches times, not counts.
const dispatchLag = "dispatch_lag"

// Shares of a limit at which the dispatch lag, at the limit's percentile, touches the figures, and makes them unfit.
const (
	lagSuspect = 0.02
	lagInvalid = 0.1
)

// cappedLimit is the share of arrivals at the in-flight bound above which it shapes the percentiles.
const cappedLimit = 0.001

// audit says what the load generator's own part in the figures was.
func audit(l *result.Load, slos []plans.SLO) []result.Warning {
	var ws []result.Warning
	add := func(code, severity, text, fix string) {
		ws = append(ws, result.Warning{Code: code, Severity: severity, Text: text, Fix: fix})
	}
	if l.Offered == 0 {
		return nil
	}
	if said := capSaid(l, l.Audit.Capped, l.Offered, l.Audit.MeanInFlight); said != "" {
		add("in_flight_cap", result.Suspect, said, capFix(l))
	} else if l.Audit.Capped > 0 {
		add("in_flight_cap", result.Note, foundCap(l), "")
	}
	if n := generatorErrors(l); n > 0 {
		add("generator_errors", result.Invalid, fmt.Sprintf("the load generator itself could not send %d requests: %s", n, generatorExample(l)),
			"raise the limit that the message names (ulimit -n, the local port range), or lower the rate or max_in_flight")
	}
	ws = append(ws, lagWarnings(l, slos)...)
	return append(ws, hostWarnings(l)...)
}

// capSaid says that the client's in-flight bound shaped the result, by Little's law: requests in flight = rate ×
// service time. It is empty when the bound was hardly met.
func capSaid(l *result.Load, capped, offered int64, inFlight float64) string {
	if offered == 0 || float64(capped) <= cappedLimit*float64(offered) {
		return ""
	}
	rate := float64(offered) / time.Duration(max(l.DurationNS, 1)).Seconds()
	bound := boundOf(l)
	text := fmt.Sprintf("the client's in-flight cap (%s: %d%s) held back %d of %d requests (mean in flight %.1f)", bound.key, bound.value, bound.each, capped, offered, inFlight)
	if l.Service.MeanNS != nil {
		need := rate * *l.Service.MeanNS / 1e9
		text += fmt.Sprintf(": %.4g/s × %s service time need %.0f in flight by Little's law", rate, dur(int64(*l.Service.MeanNS)), math.Ceil(need))
		if m := float64(bound.inFlight); m < need {
			text += fmt.Sprintf(", so the client's ceiling is about %.4g/s", m / *l.Service.MeanNS * 1e9)
		}
	}
	return text
}

func capFix(l *result.Load) string {
	bound := boundOf(l)
	return fmt.Sprintf("raise %s above %d, unless the cap is what you want to test", bound.key, bound.value)
}

func foundCap(l *result.Load) string {
	if bound := boundOf(l); bound.key == "connections" {
		return fmt.Sprintf("%d of %d arrivals found no connection free (connections: %d to each host)", l.Audit.Capped, l.Offered, bound.value)
	}
	return fmt.Sprintf("%d of %d arrivals found max_in_flight (%d) requests under way", l.Audit.Capped, l.Offered, l.MaxInFlight)
}

// A bound is the plan's lowest on requests under way: its key with its value, and how many those are in all.
type bound struct {
	key             string
	value, inFlight int
	each            string // of what the value is
}

func boundOf(l *result.Load) bound {
	if n := l.Connections * max(1, len(l.Hosts)); l.Connections > 0 && n < l.MaxInFlight {
		return bound{"connections", l.Connections, n, " to each host"}
	}
	return bound{"max_in_flight", l.MaxInFlight, l.MaxInFlight, ""}
}

// blame names what on the client's side made a segment's response times longer than its service times.
func blame(l *result.Load, seg *result.Segment) string {
	if said := capSaid(l, seg.Capped, seg.Offered, seg.MeanInFlight); said != "" {
		return said
	}
	if p := seg.DispatchLag.P99NS; p != nil && seg.Service.P99NS != nil && float64(*p) > 0.1*float64(*seg.Service.P99NS) {
		return fmt.Sprintf("the load generator was late: it sent 1%% of the requests more than %s after their time, and from the send on the limit holds", dur(*p))
	}
	return ""
}

// lagWarnings judges dispatch lag, which is the generator's own, against each limit on response time. Response times
// include it, so it can only make them look worse; but beyond a tenth of the limit the load was not the declared one.
func lagWarnings(l *result.Load, slos []plans.SLO) []result.Warning {
	var worst float64
	text := ""
	for _, s := range slos {
		if share, said := lagShare(s, l); share > worst {
			worst, text = share, said
		}
	}
	w := result.Warning{Code: dispatchLag, Severity: result.Suspect, Text: text, Fix: "run the load generator on a machine or core of its own, or lower the rate"}
	if worst > lagInvalid {
		w.Severity = result.Invalid
	}
	if text == "" && l.DispatchLag.P99NS != nil && l.Response.P99NS != nil { // no limit to compare with
		worst = float64(*l.DispatchLag.P99NS) / max(float64(*l.Response.P99NS), 10e6)
		w.Text = fmt.Sprintf("the load generator sent 1%% of the requests more than %s late", dur(*l.DispatchLag.P99NS))
	}
	if worst > lagSuspect {
		return []result.Warning{w}
	}
	return nil
}

// lagShare is the dispatch lag as a share of the limit that s sets on response time, at the same percentile and in
// the segment where it is largest, with a sentence that says so. It is 0 for other SLOs and for a lag below a
// millisecond.
func lagShare(s plans.SLO, l *result.Load) (share float64, text string) {
	if l == nil || s.Metric.Clock != plans.Response || s.Op[0] != '<' || s.Limit <= 0 {
		return 0, ""
	}
	var lag float64
	for _, seg := range l.Segments {
		lag = max(lag, lagOf(s.Metric, seg.DispatchLag))
	}
	if lag < 1e6 {
		return 0, ""
	}
	share = lag / s.Limit
	return share, fmt.Sprintf("the load generator sent late: %s of dispatch lag is %s, %s of the limit in %s", s.Metric, dur(int64(lag)), pct(share), s.Text)
}

// lagOf is what m is of the dispatch lag d, or 0.
func lagOf(m plans.Metric, d result.Distribution) float64 {
	switch m.Kind {
	case plans.Quantile, plans.Max:
		ns, _ := quantile(d, rank(m))
		return float64(ns)
	case plans.Mean:
		if d.MeanNS != nil {
			return *d.MeanNS
		}
	}
	return 0
}

// hostWarnings tell of a machine that starved the generator. They are no reason to distrust the figures by
// themselves: what they did to the load shows in the dispatch lag.
func hostWarnings(l *result.Load) []result.Warning {
	var ws []result.Warning
	a := l.Audit
	add := func(code, text, fix string) {
		ws = append(ws, result.Warning{Code: code, Severity: result.Suspect, Text: text, Fix: fix})
	}
	if a.RunDelayShare != nil && *a.RunDelayShare > 0.05 {
		add("run_delay", fmt.Sprintf("the load generator's threads waited for a core for %s of the time", pct(*a.RunDelayShare)), "leave the load generator a core of its own")
	}
	if a.StealShare != nil && *a.StealShare > 0.05 {
		add("steal", fmt.Sprintf("the hypervisor took %s of the machine's time", pct(*a.StealShare)), "measure on a machine that is not shared")
	}
	if a.ThrottledNS != nil && *a.ThrottledNS > 0 {
		add("throttled", "the load generator's cgroup was throttled for "+dur(*a.ThrottledNS), "raise the CPU quota")
	}
	if a.PauseMaxNS != nil && *a.PauseMaxNS > 20e6 {
		add("pause", "the load generator stood still for up to "+dur(*a.PauseMaxNS), "")
	}
	return ws
}

func generatorExample(l *result.Load) string {
	for _, e := range l.Errors {
		if e.Class == result.ClassGenerator {
			return e.Example
		}
	}
	return ""
}
