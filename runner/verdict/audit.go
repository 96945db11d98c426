package verdict

import (
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// Codes of warnings, see docs/audit.md. Those of lateness touch times, not counts.
const (
	codeLag        = "dispatch_lag" // the generator sent late; the others name what made it
	codeFrozen     = "frozen"
	codeStarved    = "starved"
	codeThrottled  = "throttled"
	codeSteal      = "steal"
	codeNotOffered = "not_offered"
	codeShape      = "arrival_shape"
	codeGC         = "gc"
)

// late tells whether a warning is about lateness.
func late(code string) bool {
	switch code {
	case codeLag, codeFrozen, codeStarved, codeThrottled, codeSteal, codeGC, codeNotOffered, codeShape:
		return true
	}
	return false
}

// Shares of a limit at which the dispatch lag, at the limit's percentile, touches the figures, and makes them unfit.
const (
	lagSuspect = 0.02
	lagInvalid = 0.1
)

// cappedLimit is the share of arrivals at the in-flight bound above which it shapes the percentiles.
const cappedLimit = 0.001

// audit says what the load generator's own part in the figures was.
func audit(l *result.Load, slos []plans.SLO) []result.Warning {
	if l.Offered == 0 {
		return nil
	}
	var ws []result.Warning
	add := func(code, severity, text, fix string) {
		ws = append(ws, result.Warning{Code: code, Severity: severity, Text: text, Fix: fix})
	}
	if said := capSaid(l, l.Audit.Capped, l.Offered, l.Audit.MeanInFlight); said != "" {
		add("in_flight_cap", result.Suspect, said, capFix(l))
	} else if l.Audit.Capped > 0 {
		add("in_flight_cap", result.Note, foundCap(l), "")
	}
	if l.Users > 0 {
		add("closed_model", result.Note, fmt.Sprintf("closed model: each of %d users waits for its answer before it sends again, so a target that stalls is asked less, and percentiles count its stalls too rarely (coordinated omission)", l.Users), "assert response times on a stage with a rate")
	}
	for _, e := range l.Errors {
		if e.Class == result.ClassGenerator {
			add(e.Kind, result.Invalid, fmt.Sprintf("the load generator itself could not send %d requests: %s", e.Count, e.Example), errorFix(e.Kind))
		}
	}
	lag := lagWarnings(l, slos)
	harmed := invalid(lag) != nil
	ws = append(ws, lag...)
	ws = append(ws, causes(l.Audit, harmed)...)
	ws = append(ws, limits(l.Audit)...)
	ws = append(ws, network(l.Audit.TCP)...)
	return append(ws, consistency(l, harmed)...)
}

// errorFix says what to change against errors of the load generator's own.
func errorFix(kind string) string {
	switch kind {
	case "ports":
		return "keep connections alive, spread the load over more addresses, or widen net.ipv4.ip_local_port_range"
	case "descriptors":
		return "raise the limit of open files (ulimit -n), or lower max_in_flight"
	case "memory":
		return "leave the load generator more memory, or lower max_in_flight"
	}
	return "lower the rate or max_in_flight"
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
	if l.WaitedOut > 0 { // service times are cut short then
		return text + fmt.Sprintf("; %d of the stage's timed out after a longer wait there than for the answer", l.WaitedOut)
	}
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
	w := result.Warning{Code: codeLag, Severity: result.Suspect, Text: text, Fix: "run the load generator on a machine or core of its own, or lower the rate"}
	if worst > lagInvalid {
		w.Severity = result.Invalid
	}
	if p99 := l.DispatchLag.P99NS; !limited(slos) && p99 != nil && l.Response.P99NS != nil {
		worst = lagSuspect * float64(*p99) / max(lagSuspect*float64(*l.Response.P99NS), 1e6)
		w.Text = fmt.Sprintf("the load generator sent 1%% of the requests more than %s late", dur(*p99))
		if float64(*p99) > max(lagInvalid*float64(*l.Response.P99NS), noLimitLag) {
			w.Severity = result.Invalid
		}
	}
	if worst > lagSuspect {
		if l.Audit.Late > 0 {
			w.Text += fmt.Sprintf("; %s of all were sent more than 1 ms late", pct(float64(l.Audit.Late)/float64(max(l.Sent, 1))))
		}
		return []result.Warning{w}
	}
	return nil
}

// noLimitLag is the 99th percentile of dispatch lag, in ns, that is let pass where no SLO limits response times. What
// counts then is the rate, which is told by the second.
const noLimitLag = 1e9

// limited tells whether an SLO limits response times.
func limited(slos []plans.SLO) bool {
	return slices.ContainsFunc(slos, func(s plans.SLO) bool {
		return s.Metric.Clock == plans.Response && s.Op[0] == '<' && s.Limit > 0
	})
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
