package report

import (
	"fmt"

	"github.com/perfplan/perfplan/runner/result"
)

// flowLine sums up a stage of flows.
func flowLine(l *result.Load) string {
	begun, done := int64(0), int64(0)
	for _, f := range l.Flows {
		begun, done = begun+f.Offered, done+f.Completed
	}
	what := counted(int64(len(l.Flows)), "flow") + " of requests " + orText(l.Request, na)
	if l.Users > 0 {
		return usersLine(l, what) + fmt.Sprintf(" Flows: %s begun, %s completed.", count(begun), count(done))
	}
	return fmt.Sprintf("%s to target %s: %s arrivals, %s flows begun in %s (planned: %s in %s), %s completed; they made %s requests, %s; throughput %s.",
		what, orText(l.Target, na), orText(l.Arrivals, "unknown"), count(begun), span(l.DurationNS), count(l.Planned), span(l.PlannedNS), count(done),
		count(l.Offered), perSecond(l.OfferedPerS), perSecond(l.ThroughputPerS))
}

// usersLine sums up a stage of the closed model.
func usersLine(l *result.Load, what string) string {
	think := ""
	switch {
	case l.ThinkMostNS > l.ThinkLeastNS:
		think = fmt.Sprintf(" and %s to %s have passed", duration(float64(l.ThinkLeastNS)), duration(float64(l.ThinkMostNS)))
	case l.ThinkMostNS > 0:
		think = " and " + duration(float64(l.ThinkMostNS)) + " have passed"
	}
	return fmt.Sprintf("%s to target %s: closed model, %s for %s (planned: %s), who each send when their answer is there%s; %s requests, throughput %s.",
		what, orText(l.Target, na), counted(int64(l.Users), "user"), span(l.DurationNS), span(l.PlannedNS), think, count(l.Offered), perSecond(l.ThroughputPerS))
}

// flowPart has each flow, and each request of their steps, apart.
func flowPart(l *result.Load) part {
	p := part{Title: "Flows", Lines: []string{"The time of a flow is that from when it was to begin to its last answer, without think time; one whose step fails has failed. The figures of the stage are those of the requests."}}
	var begun int64
	for _, f := range l.Flows {
		begun += f.Offered
	}
	p.Tables = append(p.Tables, apart("Flows, response times", "Flow", l.Flows, begun), apart("Requests of their steps, response times", "Request", l.Requests, l.Offered))
	return p
}
