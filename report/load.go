package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/perfplan/perfplan/runner/result"
)

// loadLines sum a load stage up in sentences: what was offered and what became of it.
func loadLines(l *result.Load) []string {
	what := "Request "
	switch {
	case len(l.Flows) > 0:
		return append([]string{flowLine(l)}, conservation(l.Counts))
	case l.Users > 0:
		return append([]string{usersLine(l, what+orText(l.Request, na))}, conservation(l.Counts))
	case len(l.Requests) > 0:
		what = "Mix of "
	}
	lines := []string{fmt.Sprintf(what+"%s to target %s: %s arrivals, %s offered for %s (planned: %s in %s), throughput %s.",
		orText(l.Request, na), orText(l.Target, na), orText(l.Arrivals, "unknown"), perSecond(l.OfferedPerS), span(l.DurationNS),
		counted(l.Planned, "request"), span(l.PlannedNS), perSecond(l.ThroughputPerS))}
	return append(lines, conservation(l.Counts))
}

// brief has the main figures of a load stage.
func brief(l *result.Load) string {
	if l.Offered == 0 {
		return "No request was offered."
	}
	d := l.Response
	return fmt.Sprintf("Response time p50 %s, p90 %s, p99 %s, most %s. %s",
		timeOf(d, d.P50NS), timeOf(d, d.P90NS), timeOf(d, d.P99NS), timeOf(d, d.MaxNS), endsOf(l.Counts))
}

// conservation is the sum that must come out even in every run.
func conservation(c result.Counts) string {
	text := fmt.Sprintf("%s offered = %s sent + %s dropped; %s sent = %s completed + %s failed + %s unfinished", count(c.Offered), count(c.Sent), count(c.Dropped),
		count(c.Sent), count(c.Completed), count(c.Failed), count(c.Unfinished))
	if c.Offered != c.Sent+c.Dropped || c.Sent != c.Completed+c.Failed+c.Unfinished {
		return text + ": the sums do not come out even, so these counts cannot be trusted."
	}
	return text + "."
}

func loadParts(l *result.Load, st *result.Stage, file string) []part {
	if st.Warmup != nil {
		return warmupParts(l, st, file)
	}
	parts := []part{responsePart(l, st, file)}
	if len(l.Flows) > 0 {
		parts = append(parts, flowPart(l))
	} else if len(l.Requests) > 0 {
		parts = append(parts, mixPart(l))
	}
	if len(l.Segments) > 0 {
		parts = append(parts, segmentPart(l))
	}
	if series, ok := seriesPart(l, st, file); ok {
		parts = append(parts, series)
	}
	return append(parts, errorsPart(l), networkPart(l), auditPart(l))
}

// warmupParts show less: what was thrown away is no result.
func warmupParts(l *result.Load, st *result.Stage, file string) []part {
	p := part{Title: "While it warmed up"}
	if len(l.Series) > 0 {
		p.Charts = secondCharts(l, st, file)
	}
	t := table{Caption: "Times of requests", Cols: distributionCols("Time")}
	t.Rows = [][]cell{distributionRow("response", "last byte − intended", l.Response), distributionRow("service", "last byte − sent", l.Service)}
	p.Tables = []table{t}
	return []part{p, errorsPart(l)}
}

func responsePart(l *result.Load, st *result.Stage, file string) part {
	p := part{Title: "Response and service time", Lines: []string{measuredSet(l)}}
	if f, ok := rateChart(l, st, file); ok {
		p.Charts = append(p.Charts, f)
	}
	if f, ok := spectrumChart(l, st, file); ok {
		p.Charts = append(p.Charts, f)
	}
	t := table{Caption: "Times of requests", Cols: distributionCols("Time")}
	for _, row := range []struct {
		name, sub string
		d         result.Distribution
	}{
		{"response", "last byte − intended", l.Response},
		{"service", "last byte − sent", l.Service},
		{"schedule lag", "sent − intended", l.Lag},
		{"waiting", waitedFor(l), l.Waiting},
		{"dispatch lag", "part of lag: the generator's own", l.DispatchLag},
		{"response of other failures", "in no other row", l.FailedResponse},
	} {
		t.Rows = append(t.Rows, distributionRow(row.name, row.sub, row.d))
	}
	p.Tables = append(p.Tables, t)
	if known, ok := knownTable(l); ok {
		p.Lines = append(p.Lines, "Below a percentile stands where it lies with 95 % for such requests, those of one stall taken for one.")
		p.More = append(p.More, known)
	}
	return p
}

func waitedFor(l *result.Load) string {
	if l.Connections > 0 {
		return "part of lag: for a free connection, or at the in-flight bound"
	}
	return "part of lag: at the in-flight bound"
}

// measuredSet says which requests the times are of, and what became of the others.
func measuredSet(l *result.Load) string {
	text := fmt.Sprintf("Response and service times are of %s of %s offered: those that were completed, that timed out or that did not finish.",
		count(l.Response.Count), counted(l.Offered, "request"))
	if rest := l.Offered - l.Response.Count; rest > 0 {
		text += fmt.Sprintf(" The other %s failed or were dropped; they are not in these percentiles and count as over the limit in every SLO.", count(rest))
	}
	if c := l.Response.CensoredFromNS; c != nil {
		text += fmt.Sprintf(" Some had no answer when their wait ended, the first after %s: a time shown with ≥ is a lower bound.", duration(float64(*c)))
	}
	return text
}

func distributionCols(first string) []column {
	return []column{{first, false}, {"Count", true}, {"Least", true}, {"Mean", true}, {"p50", true}, {"p90", true}, {"p95", true}, {"p99", true}, {"p99.9", true}, {"Most", true}}
}

func distributionRow(name, sub string, d result.Distribution) []cell {
	return []cell{
		{Text: name, Sub: sub}, {Text: count(d.Count)}, {Text: columnOf(d, d.MinNS)}, {Text: meanOf(d)}, percentile(d, d.P50NS), percentile(d, d.P90NS),
		percentile(d, d.P95NS), percentile(d, d.P99NS), percentile(d, d.P999NS), {Text: columnOf(d, d.MaxNS)},
	}
}

// timeOf shows one time of d; one that is only a lower bound is shown with "≥".
func timeOf(d result.Distribution, ns *int64) string { return timeIn(d, ns, duration) }

// columnOf is timeOf for a column of a table.
func columnOf(d result.Distribution, ns *int64) string { return timeIn(d, ns, columnTime) }

func timeIn(d result.Distribution, ns *int64, show func(float64) string) string {
	if ns == nil || d.Count == 0 {
		return na
	}
	need := needs(d, ns)
	if d.Count < need {
		return na + " (n < " + count(need) + ")"
	}
	if b := boundOf(d, ns); b != nil && b.NEff < float64(need) {
		return na + " (n_eff < " + count(need) + ")"
	}
	if d.CensoredFromNS != nil && *ns >= *d.CensoredFromNS {
		return "≥ " + show(float64(*ns))
	}
	return show(float64(*ns))
}

// percentile is columnOf with how well a percentile is known, below.
func percentile(d result.Distribution, ns *int64) cell {
	c := cell{Text: columnOf(d, ns)}
	if b := boundOf(d, ns); b != nil && !strings.HasPrefix(c.Text, na) {
		c.Sub = boundsSaid(d, b)
	}
	return c
}

// boundOf is the bound of ns, one of the percentiles of d; nil: it has none.
func boundOf(d result.Distribution, ns *int64) *result.Bound {
	for _, p := range []struct {
		ns *int64
		q  float64
	}{{d.P50NS, 0.5}, {d.P90NS, 0.9}, {d.P95NS, 0.95}, {d.P99NS, 0.99}, {d.P999NS, 0.999}} {
		if ns != nil && ns == p.ns {
			return d.Bound(p.q)
		}
	}
	return nil
}

// boundsSaid is where a percentile lies with 95 %.
func boundsSaid(d result.Distribution, b *result.Bound) string {
	lo, hi := "", ""
	show := func(ns float64) string { return in(scaleOf(timeScales, ns), ns, 3) }
	if b.LoNS != nil {
		lo = show(float64(*b.LoNS))
	}
	if b.HiNS != nil {
		hi = show(float64(*b.HiNS))
	}
	open := d.CensoredFromNS != nil && b.HiNS != nil && *b.HiNS >= *d.CensoredFromNS
	switch {
	case lo == "" && hi == "":
		return ""
	case hi == "" || open:
		return "from " + cmp.Or(lo, na)
	case lo == "":
		return "up to " + hi
	}
	if n, unit, ok := strings.Cut(lo, " "); ok && strings.HasSuffix(hi, " "+unit) { // 1.2–1.3 ms
		return n + "–" + hi
	}
	return lo + " – " + hi
}

// knownTable has how well the percentiles of the response time are known.
func knownTable(l *result.Load) (table, bool) {
	t := table{Caption: "How well the percentiles of the response time are known: bounds that hold with 95 %, and as how many independent requests those measured do",
		Cols: []column{{"Segment", false}, {"Percentile", true}, {"Time", true}, {"At least", true}, {"At most", true}, {"n", true}, {"n_eff", true}}}
	add := func(name string, d result.Distribution) {
		for _, p := range d.Percentiles() {
			b := d.Bound(p.Quantile)
			if b == nil {
				continue
			}
			end := func(ns *int64) cell {
				if ns == nil {
					return cell{Text: na}
				}
				return cell{Text: columnTime(float64(*ns))}
			}
			t.Rows = append(t.Rows, []cell{{Text: name}, {Text: "p" + number(100*p.Quantile, 4)}, {Text: columnTime(float64(p.NS))}, end(b.LoNS), end(b.HiNS), {Text: count(d.Count)}, {Text: count(int64(b.NEff))}})
		}
	}
	add("all", l.Response)
	if len(l.Segments) > 1 {
		for _, s := range l.Segments {
			add(s.Name, s.Response)
		}
	}
	return t, len(t.Rows) > 0
}

// needs is how many requests there have to be for ns, one of the percentiles of d, to be told from the largest: with fewer
// the chance that all of them lie below the true percentile is more than 5 % (docs/slo.md).
func needs(d result.Distribution, ns *int64) int64 {
	for _, p := range []struct {
		ns *int64
		q  float64
	}{{d.P50NS, 0.5}, {d.P90NS, 0.9}, {d.P95NS, 0.95}, {d.P99NS, 0.99}, {d.P999NS, 0.999}} {
		if ns == p.ns {
			return int64(math.Ceil(math.Log(0.05) / math.Log(p.q)))
		}
	}
	return 1
}

func meanOf(d result.Distribution) string {
	if d.MeanNS == nil || d.Count == 0 {
		return na
	}
	if d.CensoredFromNS != nil {
		return "≥ " + columnTime(*d.MeanNS)
	}
	return columnTime(*d.MeanNS)
}

func segmentPart(l *result.Load) part {
	p := part{Title: "Segments of the rate profile"}
	t := table{
		Caption: "Response time by segment; requests belong to a segment by intended time",
		Cols: []column{{"Segment", false}, {"Offered rate", true}, {"Offered", true}, {"Throughput", true}, {"Failed", true}, {"Dropped", true}, {"Unfinished", true},
			{"p50", true}, {"p90", true}, {"p99", true}, {"p99.9", true}, {"Most", true}, {"In flight", true}, {"At the bound", true}},
	}
	service := table{Caption: "Service time and schedule lag by segment", Cols: []column{{"Segment", false}, {"Service p50", true}, {"Service p99", true}, {"Service most", true},
		{"Lag p50", true}, {"Lag p99", true}, {"Lag most", true}, {"Dispatch lag p99", true}}}
	for _, s := range l.Segments {
		t.Rows = append(t.Rows, []cell{
			{Text: s.Name, Sub: span(s.DurationNS)}, {Text: rates(s)}, {Text: count(s.Offered)}, {Text: perSecond(s.ThroughputPerS)}, {Text: count(s.Failed)},
			{Text: count(s.Dropped)}, {Text: count(s.Unfinished)}, percentile(s.Response, s.Response.P50NS), percentile(s.Response, s.Response.P90NS),
			percentile(s.Response, s.Response.P99NS), percentile(s.Response, s.Response.P999NS), {Text: columnOf(s.Response, s.Response.MaxNS)},
			{Text: number(s.MeanInFlight, 3)}, {Text: count(s.Capped)},
		})
		service.Rows = append(service.Rows, []cell{
			{Text: s.Name}, percentile(s.Service, s.Service.P50NS), percentile(s.Service, s.Service.P99NS), {Text: columnOf(s.Service, s.Service.MaxNS)},
			{Text: columnOf(s.Lag, s.Lag.P50NS)}, {Text: columnOf(s.Lag, s.Lag.P99NS)}, {Text: columnOf(s.Lag, s.Lag.MaxNS)}, {Text: columnOf(s.DispatchLag, s.DispatchLag.P99NS)},
		})
	}
	p.Tables, p.More = append(p.Tables, t), append(p.More, service)
	return p
}

func rates(s result.Segment) string {
	if s.Kind == "closed" {
		return "as answered"
	}
	if s.FromPerS == s.ToPerS {
		return perSecond(s.FromPerS)
	}
	return number(s.FromPerS, 4) + " to " + perSecond(s.ToPerS)
}

func errorsPart(l *result.Load) part {
	p := part{Title: "Errors"}
	if len(l.Errors) == 0 && l.Failed == 0 && l.Unfinished == 0 {
		p.Lines = append(p.Lines, "None: every request that was sent was answered as expected.")
	}
	if l.Offered == 0 {
		p.Lines = []string{"No request was offered."}
	}
	if len(l.Errors) > 0 {
		t := table{Caption: "Failures by kind", Cols: []column{{"Kind", false}, {"At fault", false}, {"Count", true}, {"Of offered", true}, {"Example", false}}}
		for _, e := range l.Errors {
			fault := "target"
			if e.Class == result.ClassGenerator {
				fault = "load generator"
			}
			t.Rows = append(t.Rows, []cell{{Text: e.Kind, Sub: e.Of}, {Text: fault}, {Text: count(e.Count)}, {Text: shareOf(e.Count, l.Offered)}, {Text: e.Example}})
		}
		p.Tables = append(p.Tables, t)
	}
	samples := table{Caption: "Answers that did not meet an expectation, the first of each", Cols: []column{{"Expectation", false}, {"Beginning of the body", false}}}
	for _, e := range l.Errors {
		if e.Sample != "" {
			samples.Rows = append(samples.Rows, []cell{{Text: e.Of}, {Text: e.Sample}})
		}
	}
	if len(samples.Rows) > 0 {
		p.More = append(p.More, samples)
	}
	if len(l.Status) > 0 {
		t := table{Caption: "Status codes of answers", Cols: []column{{"Status", false}, {"Count", true}, {"Of offered", true}}}
		for _, code := range sortedKeys(l.Status) {
			t.Rows = append(t.Rows, []cell{{Text: code}, {Text: count(l.Status[code])}, {Text: shareOf(l.Status[code], l.Offered)}})
		}
		p.Tables = append(p.Tables, t)
	}
	return p
}

func sortedKeys(m map[string]int64) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func shareOf(k, n int64) string {
	if n <= 0 {
		return na
	}
	return percent(float64(k) / float64(n))
}

// mixPart has each request of a mix apart, so that none hides in the total.
func mixPart(l *result.Load) part {
	p := part{Title: "Requests of the mix"}
	p.Tables = append(p.Tables, apart("Requests of the mix, response times", "Request", l.Requests, l.Offered))
	return p
}

// apart is a table of requests, or flows, with the share of all that each got.
func apart(caption, what string, list []result.RequestLoad, all int64) table {
	t := table{Caption: caption, Cols: []column{{what, false}, {"Share", true}, {"Offered", true}, {"Completed", true}, {"Failed", true},
		{"p50", true}, {"p90", true}, {"p99", true}, {"Most", true}}}
	for _, r := range list {
		sub := ""
		if len(r.Errors) > 0 {
			sub = "mostly " + r.Errors[0].Kind + ": " + r.Errors[0].Example
		}
		d := r.Response
		t.Rows = append(t.Rows, []cell{{Text: r.Request, Sub: sub}, {Text: shareOf(r.Offered, all)}, {Text: count(r.Offered)}, {Text: count(r.Completed)}, {Text: count(r.Failed)},
			percentile(d, d.P50NS), percentile(d, d.P90NS), percentile(d, d.P99NS), {Text: columnOf(d, d.MaxNS)}})
	}
	return t
}

func networkPart(l *result.Load) part {
	p := part{Title: "Hosts and connections"}
	if len(l.Hosts) > 0 {
		t := table{Caption: "Hosts that load was spread over", Cols: []column{{"Host", false}, {"Offered", true}, {"Share", true}, {"Sent", true}, {"Completed", true}, {"Failed", true},
			{"Unfinished", true}, {"p50", true}, {"p99", true}, {"Most", true}}}
		for _, h := range l.Hosts {
			t.Rows = append(t.Rows, []cell{
				{Text: h.Address}, {Text: count(h.Offered)}, {Text: shareOf(h.Offered, l.Offered)}, {Text: count(h.Sent)}, {Text: count(h.Completed)}, {Text: count(h.Failed)},
				{Text: count(h.Unfinished)}, percentile(h.Response, h.Response.P50NS), percentile(h.Response, h.Response.P99NS), {Text: columnOf(h.Response, h.Response.MaxNS)},
			})
		}
		p.Tables = append(p.Tables, t)
	}
	w := l.Wire
	opened := counted(w.Opened, "connection") + " opened"
	if of := openedHow(l); of != "" {
		opened += " (of them " + of + ")"
	}
	p.Lines = append(p.Lines, fmt.Sprintf("On the wire: %s, %s, %s sent on one used before, %s followed; %s out, %s in, of which %s bodies.",
		counted(w.Attempts, "attempt"), opened, counted(w.Reused, "request"), counted(w.Redirects, "redirect"),
		size(float64(w.BytesOut)), size(float64(w.BytesIn)), size(float64(w.BodyBytes))))
	if l.DNS != nil {
		p.Lines = append(p.Lines, dnsLine(l.DNS))
		p.More = append(p.More, changesTable(l)...)
	}
	t := table{Caption: "Times on the wire", Cols: distributionCols("Time")}
	for _, row := range []struct {
		name string
		d    result.Distribution
	}{{"name look-up", w.DNS}, {"connect", w.Connect}, {"TLS handshake", w.TLS}, {"sending the request", w.Send},
		{"first byte − sent", w.FirstByte}, {"last byte − first byte", w.Body}} {
		if row.d.Count > 0 {
			t.Rows = append(t.Rows, distributionRow(row.name, "", row.d))
		}
	}
	if len(t.Rows) > 0 {
		p.More = append(p.More, t)
	}
	return p
}

// timeoutFrom says what the timeout counts from.
func timeoutFrom(l *result.Load) string {
	if l.TimeoutFrom == "intended" {
		return " from the intended time"
	}
	return " from the send"
}

// partTimeouts are those of parts of a request.
func partTimeouts(l *result.Load) string {
	text := ""
	if l.ConnectTimeoutNS > 0 {
		text += ", " + duration(float64(l.ConnectTimeoutNS)) + " to connect"
	}
	if l.FirstByteTimeoutNS > 0 {
		text += ", " + duration(float64(l.FirstByteTimeoutNS)) + " to the first byte"
	}
	return text
}

// openedHow says how connections were opened that were not just needed.
func openedHow(l *result.Load) string {
	var how []string
	if want := int64(l.Connections * len(l.Hosts)); l.Connections > 0 {
		of := count(l.Wire.Ahead)
		if l.Wire.Ahead < want {
			of += " of " + count(want)
		}
		how = append(how, of+" before the first arrival")
	}
	if l.Wire.TLS.Count > 0 {
		how = append(how, count(l.Wire.Resumed)+" resumed a TLS session")
	}
	return strings.Join(how, ", ")
}

// auditPart shows what the load generator knows of its own part in the figures, and how it was set.
func auditPart(l *result.Load) part {
	a := l.Audit
	t := table{Caption: "The load generator's own part", Cols: []column{{"Check", false}, {"Figure", true}, {"Meaning", false}}}
	add := func(name, value, meaning string) {
		t.Rows = append(t.Rows, []cell{{Text: name}, {Text: value}, {Text: meaning}})
	}
	atMax := "it waits and keeps its intended time"
	if l.AtMax == "drop" {
		atMax = "it is counted as dropped"
	}
	if l.Users > 0 {
		add("users", count(int64(l.Users)), "of a closed model: each has one request, or flow, under way at most")
	} else {
		add("max_in_flight", count(int64(l.MaxInFlight)), "bound on requests under way; an arrival that finds it reached: "+atMax)
	}
	bound := "the bound of " + count(int64(l.MaxInFlight)) + " in flight"
	if l.Connections > 0 {
		add("connections", count(int64(l.Connections)), "bound on those to each host; an arrival that finds none free: "+atMax)
		bound += ", or that of " + counted(int64(l.Connections), "connection") + " to a host,"
	}
	add("arrivals at the bound", count(a.Capped), shareOf(a.Capped, l.Offered)+" of offered")
	if l.TimeoutFrom == "intended" {
		add("timeouts for want of a place", count(l.WaitedOut), "waited longer at the bound than for the answer")
	}
	add("largest in flight", count(a.MaxInFlight), "")
	add("mean in flight", number(a.MeanInFlight, 4), "throughput × service time, by Little's law")
	add("mean in flight by times", number(a.MeanInFlightByTimes, 4), "what the requests' own times give; must be the same")
	add("sent late", count(a.Late), shareOf(a.Late, l.Sent)+" of sent went out more than 1 ms after they could")
	add("variation of the gaps", orNA(a.GapsCV, ratio), "between arrivals as sent; planned "+orNA(a.PlannedGapsCV, ratio))
	add("dispersion in 10 ms", orNA(a.Dispersion, ratio), "of arrivals as sent; planned "+orNA(a.PlannedDispersion, ratio))
	add("waiting p99", timeOf(l.Waiting, l.Waiting.P99NS), "at the in-flight bound: the target's or the bound's doing")
	add("dispatch lag p99", timeOf(l.DispatchLag, l.DispatchLag.P99NS), "how late the generator itself was")
	add("CPU", orNA(a.CPUShare, percent), "of this process; 100% is one core")
	add("waiting for a core", orNA(a.RunDelayShare, percent), "of the stage's time, its threads")
	add("tasks waiting for a core", orNA(a.CPUPressureShare, percent), "of the stage's time, any task of the machine (PSI)")
	add("longest stall", orNA(floatOf(a.PauseMaxNS), duration), fmt.Sprintf("of a heartbeat in this process; %s above 5 ms, %s above 20 ms", count(a.PausesOver5ms), count(a.PausesOver20ms)))
	add("stood still", duration(float64(a.FrozenNS)), "in stalls above 20 ms without a wait for a core")
	add("longest GC pause", orNA(floatOf(a.GCPauseMaxNS), duration), "of this process; "+count(a.GCCycles)+" collections")
	add("goroutines waiting p99", orNA(floatOf(a.SchedDelayP99NS), duration), "for a thread, in this process")
	add("stolen", orNA(a.StealShare, percent), "of the machine's time, by the hypervisor")
	add("throttled", orNA(floatOf(a.ThrottledNS), duration), "by its cgroup or one above")
	add("open files", orNA(floatOf(a.DescriptorsMax), integer), "at most, connections among them; allowed "+orNA(floatOf(a.DescriptorLimit), integer))
	add("in TIME_WAIT", orNA(floatOf(a.TimeWaitMax), integer), "connections at most; local ports "+orNA(floatOf(a.LocalPorts), integer))
	if t := a.TCP; t != nil {
		add("TCP segments sent again", count(t.Retransmitted), fmt.Sprintf("of %s on this machine; %s after a timeout", count(t.SegmentsOut), count(t.Timeouts)))
		add("listener's drops", count(max(t.ListenDrops, t.ListenOverflows)), "attempts to connect, on this machine")
	}
	keep := "connections are kept alive"
	switch {
	case !l.KeepAlive:
		keep = "a new connection each time"
	case l.PerConnection > 0:
		keep = "a new connection after " + counted(int64(l.PerConnection), "request")
	}
	settings := []string{engine(l), fmt.Sprintf("seed %d", l.Seed), "timeout " + duration(float64(l.TimeoutNS)) + timeoutFrom(l) + partTimeouts(l), keep,
		"drain took " + duration(float64(l.DrainNS))}
	held := fmt.Sprintf("%s of %s arrivals found %s reached", count(a.Capped), count(l.Offered), bound)
	if l.Users > 0 {
		held = counted(int64(l.Users), "user")
	}
	lines := []string{
		fmt.Sprintf("%s; %s in flight on average. Dispatch lag, the generator's own delay: p99 %s. Its CPU: %s of a core; its threads waited for one %s of the time.",
			held, number(a.MeanInFlight, 3), timeOf(l.DispatchLag, l.DispatchLag.P99NS), orNA(a.CPUShare, percent), orNA(a.RunDelayShare, percent)),
		"Settings: " + strings.Join(settings, ", ") + ".",
	}
	return part{Title: "Audit of the load generator", Lines: lines, More: []table{t}}
}

func ratio(v float64) string { return number(v, 3) }

func integer(v float64) string { return count(int64(v)) }

// engine says which way requests took, and how it waited for their times.
func engine(l *result.Load) string {
	text := "engine " + orText(l.Engine, na)
	if l.Loops > 1 {
		text += fmt.Sprintf(" on %d threads", l.Loops)
	}
	if l.EngineReason != "" {
		text += " (" + l.EngineReason + ")"
	}
	p := l.Pacing
	if p == nil {
		return text
	}
	text += ", pacing " + p.Mode
	if p.TickNS > 0 {
		text += " of " + duration(float64(p.TickNS))
	}
	if p.Reason != "" {
		text += " (" + p.Reason + ")"
	}
	return text
}
