package plans

import (
	"math"
	"slices"
	"strconv"
	"time"
)

// computeDefaults fills in the defaults that depend on other keys. After it, nothing changes the plan.
func (l *loader) computeDefaults(top *item) {
	for _, t := range top.get("targets").children() {
		if t.has("start") {
			l.setDefault(t, "stop", "5s")
			l.setDefault(t, "observe", "{}")
		}
	}
	if only := theOnly(top.get("targets")); only != "" {
		for _, r := range top.get("requests").children() {
			l.setDefault(r, "target", only)
		}
	}
	for _, st := range top.get("stages").all() {
		for _, kind := range []string{"warmup", "load"} {
			w := st.get(kind)
			if only := theOnly(top.get("requests")); only != "" && !w.has("mix") && !w.has("flow") {
				l.setDefault(w, "request", only)
			}
			if !w.has("in_flight") {
				l.setDefault(w, "max_in_flight", strconv.Itoa(inFlight(l.peak(w), w.get("timeout").duration()+thinking(top, w))))
			}
		}
		if only := theOnly(top.get("requests")); only != "" {
			l.setDefault(st.get("compare"), "request", only)
		}
		if w := st.get("warmup"); !w.has("for") {
			l.setDefault(w, "until", "steady")
			l.setDefault(w, "at_most", "30s")
		}
		if w := st.get("load"); !w.has("in_flight") {
			l.setDefault(w, "at_max", "wait")
			if !w.has("trace") {
				l.setDefault(w, "arrivals", "uniform")
			}
		}
		if w := st.get("load"); w.get("timeout") != nil {
			l.setDefault(w, "drain", formatDuration(min(w.get("timeout").time+thinking(top, w), 720*time.Hour)))
		}
	}
}

// thinking is the longest think time of a flow that a stage begins.
func thinking(top, w *item) (longest time.Duration) {
	for _, f := range top.get("flows").children() {
		drawn := slices.ContainsFunc(w.get("mix").children(), func(e *item) bool { return e.name == f.name })
		if !drawn && w.get("flow").value() != f.name {
			continue
		}
		var sum time.Duration
		for _, s := range f.get("steps").all() {
			sum += pauseOf(s.get("think")).Most
		}
		longest = max(longest, sum)
	}
	return longest
}

// setDefault gives a map's key its value where the plan has none.
func (l *loader) setDefault(parent *item, name, text string) {
	if parent == nil || parent.has(name) {
		return
	}
	k, _ := parent.shape.find(name)
	k.def = text
	parent.add(l.defaultItem(parent, k), name, parent.pos)
}

// children are the entries of a map.
func (it *item) children() []*item {
	if it == nil {
		return nil
	}
	return it.entries
}

// theOnly is the name of a map's only entry, "" when it has none or several.
func theOnly(it *item) string {
	if it == nil || len(it.written) != 1 {
		return ""
	}
	return it.written[0]
}

// peak is the highest rate that a warm-up or load stage offers, per second; 0 when it cannot be told.
func (l *loader) peak(w *item) float64 {
	rate := w.get("rate").perSecond()
	for _, seg := range l.profile(w) {
		rate = max(rate, seg.Peak())
	}
	return rate
}

// The bounds of the default for max_in_flight.
const (
	minInFlight = 16
	maxInFlight = 10_000
)

// inFlight is the default for max_in_flight: what is under way when every request takes the whole timeout
// (Little's law).
func inFlight(rate float64, timeout time.Duration) int {
	n := math.Ceil(rate*timeout.Seconds() - 1e-9)
	return int(min(max(n, minInFlight), maxInFlight))
}
