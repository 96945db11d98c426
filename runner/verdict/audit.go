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

// Shares of the limit at which a dispatch lag's p99 touches the figures, and makes them unfit.
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
		add("in_flight_cap", result.Note, fmt.Sprintf("%d of %d arrivals found max_in_flight (%d) requests under way", l.Audit.Capped, l.Offered, l.MaxInFlight), "")
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
	text := fmt.Sprintf("the client's in-flight cap (max_in_flight: %d) held back %d of %d requests (mean in flight %.1f)", l.MaxInFlight, capped, offered, inFlight)
	if l.Service.MeanNS != nil {
		need := rate * *l.Service.MeanNS / 1e9
		text += fmt.Sprintf(": %.4g/s × %s service time need %.0f in flight by Little's law", rate, dur(int64(*l.Service.MeanNS)), math.Ceil(need))
		if m := float64(l.MaxInFlight); m < need {
			text += fmt.Sprintf(", so the client's ceiling is about %.4g/s", m / *l.Service.MeanNS * 1e9)
		}
	}
	return text
}

func capFix(l *result.Load) string {
	return fmt.Sprintf("raise max_in_flight above %d, unless the cap is what you want to test", l.MaxInFlight)
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

// lagWarnings judges dispatch lag, which is the generator's own, against the tightest response-time limit. Response
// times include it, so it can only make them look worse; but beyond a tenth of the limit the load was not the declared one.
func lagWarnings(l *result.Load, slos []plans.SLO) []result.Warning {
	p99 := l.DispatchLag.P99NS
	if p99 == nil {
		return nil
	}
	limit, of := tightest(slos)
	asserted := limit > 0
	if !asserted {
		if l.Response.P99NS == nil {
			return nil
		}
		limit, of = max(float64(*l.Response.P99NS), 10e6), "the response time's p99"
	}
	share := float64(*p99) / limit
	text := fmt.Sprintf("the load generator sent 1%% of the requests more than %s late, %s of %s", dur(*p99), pct(share), of)
	fix := "run the load generator on a machine or core of its own, or lower the rate"
	switch {
	case share > lagInvalid && *p99 > 1e6 && asserted:
		return []result.Warning{{Code: dispatchLag, Severity: result.Invalid, Text: text, Fix: fix}}
	case share > lagSuspect && *p99 > 1e6:
		return []result.Warning{{Code: dispatchLag, Severity: result.Suspect, Text: text, Fix: fix}}
	}
	return nil
}

func tightest(slos []plans.SLO) (limit float64, of string) {
	for _, s := range slos {
		k := s.Metric.Kind
		if (k == plans.Quantile || k == plans.Max || k == plans.Mean) && s.Metric.Clock == plans.Response && s.Op[0] == '<' {
			if limit == 0 || s.Limit < limit {
				limit, of = s.Limit, "the limit in "+s.Text
			}
		}
	}
	return limit, of
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
