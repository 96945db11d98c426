package runner

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

// Stages at the same time overlap, and stand in the record in the plan's order; the one behind them begins when all have
// ended.
func TestStagesAlongside(t *testing.T) {
	p := read(t, fmt.Sprintf(planHead, freeAddress(t, "127.0.0.1"), os.Args[0], "ok", "")+`
stages:
  - {name: long, load: {request: get, rate: 100/s, for: 2s}, slo: [success == 100%]}
  - {name: short, alongside: long, load: {request: get, rate: 50/s, for: 1s}}
  - {name: late, alongside: long, delay: 500ms, load: {request: get, in_flight: 2, think: 10ms, for: 1s}}
  - {name: last, delay: 200ms, load: {request: get, rate: 20/s, for: 1s}}
`)
	var finished []string
	r, _ := runPlan(t, t.Context(), p, func(e Event) {
		if f, ok := e.(StageFinished); ok {
			finished = append(finished, f.Stage.Name)
		}
	})
	if r.Outcome != result.Pass || len(r.Stages) != 4 || len(finished) != 4 || finished[3] != "last" {
		t.Fatalf("outcome %s (%s), %d stages, finished %v", r.Outcome, r.Reason, len(r.Stages), finished)
	}
	for i, name := range []string{"long", "short", "late", "last"} {
		st := r.Stages[i]
		if st.Name != name || st.State != result.Complete || st.Load.Completed == 0 || st.Observation == nil {
			t.Errorf("stage %d: %s is %s with %+v", i, st.Name, st.State, st.Load.Counts)
		}
		conserved(t, name, st.Load.Counts)
	}
	long, short, late, last := r.Stages[0], r.Stages[1], r.Stages[2], r.Stages[3]
	end := long.StartNS + long.DurationNS
	if short.StartNS >= end || late.StartNS < long.StartNS+400e6 || late.StartNS >= end || last.StartNS < end+200e6 || short.Alongside != "long" || long.Load.Offered != 200 {
		t.Errorf("long from %d to %d, short from %d, late from %d, last from %d", long.StartNS, end, short.StartNS, late.StartNS, last.StartNS)
	}
}

// An interrupt ends all of them, and those behind are skipped; what was measured is kept.
func TestInterruptedStagesAlongside(t *testing.T) {
	p := read(t, fmt.Sprintf(planHead, freeAddress(t, "127.0.0.1"), os.Args[0], "ok", "")+`
stages:
  - {name: one, load: {request: get, rate: 100/s, for: 60s}}
  - {name: two, alongside: one, load: {request: get, rate: 100/s, for: 60s}}
  - {name: never, alongside: one, delay: 50s, load: {request: get, rate: 100/s, for: 60s}}
  - {name: after, load: {request: get, rate: 100/s, for: 60s}}
`)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := map[string]bool{}
	r, _ := runPlan(t, ctx, p, func(e Event) {
		if l, ok := e.(LoadProgress); ok {
			if seen[l.Stage.Name] = true; len(seen) == 2 {
				cancel()
			}
		}
	})
	if !r.Interrupted || len(r.Stages) != 4 || r.Stages[3].State != result.Skipped {
		t.Fatalf("interrupted %v, stages %+v", r.Interrupted, r.Stages)
	}
	for i, name := range []string{"one", "two", "never"} {
		if st := r.Stages[i]; st.Name != name || st.State != result.Partial || i < 2 && st.Load.Completed == 0 {
			t.Errorf("stage %s is %s", st.Name, st.State)
		}
	}
}
