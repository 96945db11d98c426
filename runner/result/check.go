package result

import (
	"fmt"
	"slices"
	"strings"
)

// check refuses a record that says what no run says: an unknown word, counts that do not add up, an outcome that is
// better than what it was made of. Errors begin with the path of JSON keys.
func check(r *Result) error {
	c := &checker{}
	c.word("outcome", r.Outcome, Pass, Inconclusive, Fail)
	c.warnings("warnings", r.Warnings)
	for i := range r.Stages {
		key := fmt.Sprintf("stages[%d]", i)
		c.stage(key, &r.Stages[i])
		if r.Finished != nil { // until then the outcome is not known
			c.notBetter("outcome", r.Outcome, key, r.Stages[i].Outcome)
		}
	}
	return c.err
}

// A checker keeps the first fault.
type checker struct{ err error }

func (c *checker) fault(key, format string, args ...any) {
	if c.err == nil {
		c.err = fmt.Errorf("%s: %s", key, fmt.Sprintf(format, args...))
	}
}

// word checks a value of a closed set.
func (c *checker) word(key string, got any, want ...any) {
	if !slices.Contains(want, got) {
		words := strings.Trim(fmt.Sprintf("%q", want), "[]")
		c.fault(key, "got %q, want %s", got, strings.ReplaceAll(words, `" "`, `" or "`))
	}
}

func (c *checker) count(key string, n int64) {
	if n < 0 {
		c.fault(key, "got %d, want a count", n)
	}
}

func (c *checker) notBetter(key string, o Outcome, part string, of Outcome) {
	if Worst(o, of) != o {
		c.fault(key, "got %q, which is better than %q of %s", o, of, part)
	}
}

func (c *checker) warnings(key string, ws []Warning) {
	for i, w := range ws {
		c.word(fmt.Sprintf("%s[%d].severity", key, i), w.Severity, Note, Suspect, Invalid)
	}
}

func (c *checker) stage(key string, st *Stage) {
	c.word(key+".kind", st.Kind, "microbenchmark", "warmup", "load", "compare")
	c.word(key+".state", st.State, Complete, Partial, Skipped)
	c.word(key+".outcome", st.Outcome, Pass, Inconclusive, Fail)
	if st.State != Complete && st.Outcome == Pass {
		c.fault(key+".outcome", "got %q for a stage whose state is %q", st.Outcome, st.State)
	}
	for i, s := range st.SLO {
		slo := fmt.Sprintf("%s.slo[%d]", key, i)
		c.decided(slo, s.State, s.Outcome)
		c.count(slo+".samples", s.Samples)
		for j, part := range s.Segments {
			of := fmt.Sprintf("%s.segments[%d]", slo, j)
			c.decided(of, part.State, part.Outcome)
			c.count(of+".samples", part.Samples)
		}
		if !s.Warn {
			c.notBetter(key+".outcome", st.Outcome, slo, s.Outcome)
		}
	}
	c.warnings(key+".warnings", st.Warnings)
	if st.Observation != nil {
		c.warnings(key+".observation.warnings", st.Observation.Warnings)
	}
	if st.Load != nil {
		c.load(key+".load", st.Load)
	}
	if st.Microbenchmark != nil {
		for i, s := range st.Microbenchmark.Sizes {
			c.count(fmt.Sprintf("%s.microbenchmark.sizes[%d].samples", key, i), s.Samples)
			c.count(fmt.Sprintf("%s.microbenchmark.sizes[%d].iterations", key, i), s.Iterations)
		}
	}
}

// decided checks that the state of an SLO and its outcome say the same.
func (c *checker) decided(key, state string, o Outcome) {
	c.word(key+".state", state, StatePassed, StateFailed, StateInconclusive, StateNoData)
	c.word(key+".outcome", o, Pass, Inconclusive, Fail)
	want := map[string]Outcome{StatePassed: Pass, StateFailed: Fail, StateInconclusive: Inconclusive, StateNoData: Inconclusive}[state]
	if o != want {
		c.fault(key+".outcome", "got %q, want %q for the state %q", o, want, state)
	}
}

func (c *checker) load(key string, l *Load) {
	c.counts(key, l.Counts)
	c.count(key+".planned", l.Planned)
	for _, d := range []struct {
		name string
		of   Distribution
	}{{"response", l.Response}, {"service", l.Service}, {"lag", l.Lag}, {"failed_response", l.FailedResponse}} {
		c.count(key+"."+d.name+".count", d.of.Count)
	}
	if d := l.DNS; d != nil {
		c.count(key+".dns.lookups", d.Lookups)
		c.count(key+".dns.failed", d.Failed)
		for i, change := range d.Changes {
			if change.Host < 0 || change.Host >= len(l.Hosts) {
				c.fault(fmt.Sprintf("%s.dns.changes[%d].host", key, i), "got %d, want one of %d hosts", change.Host, len(l.Hosts))
			}
		}
	}
	for i, e := range l.Errors {
		c.word(fmt.Sprintf("%s.errors[%d].class", key, i), e.Class, ClassTarget, ClassGenerator)
		c.count(fmt.Sprintf("%s.errors[%d].count", key, i), e.Count)
	}
	c.segments(key, l.Segments)
	for i, a := range l.Apart {
		part := fmt.Sprintf("%s.apart[%d]", key, i)
		c.counts(part, a.Counts)
		c.segments(part, a.Segments)
	}
	for i, w := range l.Windows {
		if w.LengthNS <= 0 || len(w.Bad) != len(w.Offered) {
			c.fault(fmt.Sprintf("%s.windows[%d]", key, i), "got %d counts of offered and %d of bad requests of %d ns, want as many of each", len(w.Offered), len(w.Bad), w.LengthNS)
		}
	}
	for i, f := range l.Flows {
		part := fmt.Sprintf("%s.flows[%d]", key, i)
		c.counts(part, f.Counts)
		c.segments(part, f.Segments)
	}
	if len(l.Requests) == 0 {
		return
	}
	var sum Counts
	for i, r := range l.Requests {
		part := fmt.Sprintf("%s.requests[%d]", key, i)
		c.counts(part, r.Counts)
		if len(r.Segments) != len(l.Segments) {
			c.fault(part+".segments", "got %d, want %d as the stage has", len(r.Segments), len(l.Segments))
		}
		c.segments(part, r.Segments)
		sum.Offered, sum.Sent, sum.Completed, sum.Failed = sum.Offered+r.Offered, sum.Sent+r.Sent, sum.Completed+r.Completed, sum.Failed+r.Failed
	}
	if sum.Offered != l.Offered || sum.Sent != l.Sent || sum.Completed != l.Completed || sum.Failed != l.Failed {
		c.fault(key+".requests", "got %d offered, %d sent, %d completed and %d failed in all, want those of the stage: %d, %d, %d, %d",
			sum.Offered, sum.Sent, sum.Completed, sum.Failed, l.Offered, l.Sent, l.Completed, l.Failed)
	}
}

func (c *checker) segments(key string, list []Segment) {
	for i, s := range list {
		segment := fmt.Sprintf("%s.segments[%d]", key, i)
		c.word(segment+".kind", s.Kind, "ramp", "hold", "step", "sine", "csv", "trace", "closed")
		c.counts(segment, s.Counts)
		c.count(segment+".planned", s.Planned)
	}
}

// counts checks that every request has one end.
func (c *checker) counts(key string, n Counts) {
	for _, f := range []struct {
		name string
		of   int64
	}{{"offered", n.Offered}, {"sent", n.Sent}, {"completed", n.Completed}, {"failed", n.Failed}, {"dropped", n.Dropped}, {"unfinished", n.Unfinished}, {"waited_out", n.WaitedOut}} {
		c.count(key+"."+f.name, f.of)
	}
	if n.WaitedOut > n.Failed {
		c.fault(key+".waited_out", "got %d, want %d, those failed, at most", n.WaitedOut, n.Failed)
	}
	if n.Offered-n.Sent != n.Dropped {
		c.fault(key+".offered", "got %d, want the sum of %d sent and %d dropped", n.Offered, n.Sent, n.Dropped)
	}
	if n.Sent-n.Completed-n.Failed != n.Unfinished {
		c.fault(key+".sent", "got %d, want the sum of %d completed, %d failed and %d unfinished", n.Sent, n.Completed, n.Failed, n.Unfinished)
	}
}
