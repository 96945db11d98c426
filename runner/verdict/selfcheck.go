package verdict

import (
	"fmt"

	"github.com/perfplan/perfplan/runner/result"
)

// causes names what kept the load generator from sending in time. By itself none of them is a reason to distrust the
// figures, since what it did to the load shows in the dispatch lag: only where that harmed is a cause beyond its second
// bound as invalid as the lag.
func causes(a result.Audit, harmed bool) []result.Warning {
	var ws []result.Warning
	add := func(code string, suspect, bad bool, text, fix string) {
		switch {
		case bad && harmed:
			ws = append(ws, result.Warning{Code: code, Severity: result.Invalid, Text: text, Fix: fix})
		case suspect || bad:
			ws = append(ws, result.Warning{Code: code, Severity: result.Suspect, Text: text, Fix: fix})
		}
	}
	delay, pressure := known(a.RunDelayShare), known(a.CPUPressureShare)
	held := known64(a.ThrottledNS)
	if held > 0 {
		add(codeThrottled, true, true, fmt.Sprintf("the load generator's cgroup was throttled for %s, in %d periods", dur(int64(held)), int64(known64(a.ThrottledPeriods))), "raise the CPU quota")
	}
	add(codeStarved, pressure > 0.3, delay > 0.05,
		fmt.Sprintf("the load generator's threads waited for a core for %s of the time, and tasks of the machine for %s", share(a.RunDelayShare), share(a.CPUPressureShare)),
		"leave the load generator a core of its own")
	steal := known(a.StealShare)
	add(codeSteal, steal > 0.01, steal > 0.05, fmt.Sprintf("the hypervisor took %s of the machine's time", pct(steal)), "measure on a machine that is not shared")
	gc := known64(a.GCPauseMaxNS)
	add(codeGC, gc > 5e6, gc > 20e6 && delay <= 0.05 && held == 0, fmt.Sprintf("a collection of garbage stopped the load generator for %s", dur(int64(gc))), "lower max_in_flight or the size of bodies, or give the load generator more cores")
	stall, still := known64(a.PauseMaxNS), float64(a.FrozenNS)
	if held > 0 {
		still = 0 // a throttled process waits for no core either
	}
	add(codeFrozen, stall > 20e6, still > 20e6, fmt.Sprintf("the load generator stood still for up to %s, %s", dur(int64(stall)), times64(a.PausesOver20ms, "longer than 20 ms")),
		"nothing may stop the load generator (SIGSTOP, a debugger, a suspended machine)")
	return ws
}

// limits warns of bounds of the system that were near.
func limits(a result.Audit) []result.Warning {
	var ws []result.Warning
	if tw, ports := known64(a.TimeWaitMax), known64(a.LocalPorts); ports > 0 && tw > ports/2 {
		ws = append(ws, result.Warning{Code: "ports", Severity: result.Suspect, Text: fmt.Sprintf("up to %.0f connections were in TIME_WAIT, of %.0f local ports", tw, ports), Fix: errorFix("ports")})
	}
	if open, limit := known64(a.DescriptorsMax), known64(a.DescriptorLimit); limit > 0 && open > 0.9*limit {
		ws = append(ws, result.Warning{Code: "descriptors", Severity: result.Suspect, Text: fmt.Sprintf("up to %.0f files and connections were open, of %.0f that are allowed", open, limit), Fix: errorFix("descriptors")})
	}
	return ws
}

// network tells of what TCP lost. It may be the target's doing, and is in its response times then: a note or a doubt, no
// more.
func network(t *result.TCP) []result.Warning {
	if t == nil {
		return nil
	}
	var ws []result.Warning
	if n := max(t.ListenOverflows, t.ListenDrops); n > 0 {
		ws = append(ws, result.Warning{Code: "listen_drops", Severity: result.Suspect, Text: fmt.Sprintf("attempts to connect were dropped %d times on this machine, because a listener's queue was full: each waits a second or more", n),
			Fix: "if the target runs here, let it accept faster or listen with a larger backlog"})
	}
	if n := t.Retransmitted + t.BacklogDrops; float64(n) > 1e-4*float64(t.SegmentsOut) && n > 1 {
		ws = append(ws, result.Warning{Code: "retransmits", Severity: result.Suspect, Text: fmt.Sprintf("%d of %d TCP segments were sent again, %d after a timeout", t.Retransmitted, t.SegmentsOut, t.Timeouts),
			Fix: "look for loss on the way to the target, or a host that is overloaded"})
	}
	return ws
}

// consistency checks that the load was the declared one and that the accounts agree with each other.
func consistency(l *result.Load, harmed bool) []result.Warning {
	var ws []result.Warning
	add := func(code, severity, text, fix string) {
		ws = append(ws, result.Warning{Code: code, Severity: severity, Text: text, Fix: fix})
	}
	if n := l.Wire.Attempts - l.Wire.Redirects - l.Sent; n > 0 {
		add("replays", result.Invalid, fmt.Sprintf("%d more requests went out than were to be sent", n), "this is a fault of perfplan: please report it")
	}
	if a, b := l.Audit.MeanInFlight, l.Audit.MeanInFlightByTimes; l.Sent >= 100 && known64(l.DispatchLag.P99NS) < prompt {
		off := abs(a - b)
		each := off * float64(l.DurationNS+l.DrainNS) / float64(l.Sent) // ns a request
		text := fmt.Sprintf("%.4g requests were in flight on average, but by their times (Little's law) it would be %.4g", a, b)
		switch {
		case off > 0.05*max(a, b) && each > prompt:
			add("littles_law", result.Invalid, text, "this is a fault of perfplan: please report it")
		case off > 0.02*max(a, b) && each > prompt:
			add("littles_law", result.Suspect, text, "")
		}
	}
	if l.Audit.Capped > 0 { // the bound shapes the arrivals: another warning says so
		return ws
	}
	if at, ratio := worstSecond(l); ratio < 0.99 {
		severity := result.Suspect
		if ratio < 0.95 && harmed {
			severity = result.Invalid
		}
		add(codeNotOffered, severity, fmt.Sprintf("in second %d only %s of what was due was sent", at, pct(ratio)), "leave the load generator a core of its own, or lower the rate")
	}
	a := l.Audit
	if a.Dispersion != nil && a.PlannedDispersion != nil && *a.Dispersion > 1+2**a.PlannedDispersion {
		severity := result.Suspect
		if harmed {
			severity = result.Invalid
		}
		add(codeShape, severity, fmt.Sprintf("arrivals came in bunches: their number in 10 ms has an index of dispersion of %.3g, planned was %.3g", *a.Dispersion, *a.PlannedDispersion),
			"leave the load generator a core of its own, or lower the rate")
	}
	return ws
}

// prompt is the dispatch lag, in ns, up to which the number in flight is counted as exactly as times are: who is late to
// see an answer counts its request for longer.
const prompt = 1.5e6

// fewInSecond is the number of arrivals below which a second's share says nothing.
const fewInSecond = 20

// worstSecond is the second in which the smallest share of what was due by its end had been sent, and that share of its
// own arrivals.
func worstSecond(l *result.Load) (at int, ratio float64) {
	ratio = 1
	var due, sent int64
	for i, row := range l.Series {
		due += row.Offered - row.Dropped
		sent += row.Sent
		if row.Offered < fewInSecond {
			continue
		}
		if r := 1 - float64(due-sent)/float64(row.Offered); r < ratio {
			at, ratio = i, max(r, 0)
		}
	}
	return at, ratio
}

func known(v *float64) float64 {
	if v == nil {
		return 0
	}
	return *v
}

func known64(v *int64) float64 {
	if v == nil {
		return 0
	}
	return float64(*v)
}

func share(v *float64) string {
	if v == nil {
		return "an unknown share"
	}
	return pct(*v)
}

func times64(n int64, what string) string {
	if n == 1 {
		return "once " + what
	}
	return fmt.Sprintf("%d times %s", n, what)
}

func abs(x float64) float64 { return max(x, -x) }
