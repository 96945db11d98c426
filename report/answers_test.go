package report

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

func answerTo(t *testing.T, r *result.Result, question string) answer {
	t.Helper()
	for _, a := range New(r).Answers {
		if strings.HasPrefix(a.Question, question) {
			return a
		}
	}
	t.Fatalf("no answer to %q", question)
	return answer{}
}

// The load generator's own bound is named first, a busy resource with it, and whose load the cores had.
func TestBottleneckNamesClientAndLoad(t *testing.T) {
	r := capped()
	r.Environment.Cores = 2
	o := observation(4, result.LevelSaturated)
	o.Host = []result.HostSample{{UserShare: ref(0.5), SystemShare: ref(0.1)}, {UserShare: ref(0.6), SystemShare: ref(0.2)}, {}}
	r.Stages[0].Observation = o
	got := answerTo(t, r, "Bottleneck").sentence()
	want := "max_in_flight, the load generator's own bound, in stage hold: Also cpu saturated in stage hold: 63% of the time a task waited for a core (pressure); predictor 41.2%, perfplan 21%, all others 77.8% of one core"
	if got != want {
		t.Errorf("bottleneck = %q, want %q", got, want)
	}
	o.Processes[0].CPUShare = nil
	if got := loadOf(o, 2); got != "" {
		t.Errorf("loadOf without a process's share = %q, want nothing", got)
	}
	o.Processes[0].CPUShare = ref(7.0)
	if got := loadOf(o, 2); !strings.Contains(got, "all others 0% of") {
		t.Errorf("loadOf with more than the machine = %q, want 0%% for others", got)
	}
}

func TestValidityListsAllFindings(t *testing.T) {
	r := capped()
	r.Stages[0].Warnings = append(r.Stages[0].Warnings, result.Warning{Severity: result.Note, Text: "only a note"},
		result.Warning{Severity: result.Invalid, Text: "no descriptor was left", Fix: "raise the limit"})
	a := answerTo(t, r, "Is the measurement valid")
	if len(a.Findings) != 3 || a.Findings[0] != "Invalid, hold: no descriptor was left. Fix: raise the limit" {
		t.Errorf("findings = %q, want three, the invalid one first", a.Findings)
	}
	p := printAll(t, r)
	for format, text := range map[string]string{"Markdown": p.markdown, "text": p.text} {
		for _, want := range []string{"no descriptor was left", "took 7.5 % of the machine's time", "held back 7988 of 8000 requests"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s does not say %q", format, want)
			}
		}
	}
}

// A run that could not be set up says why once, and no more.
func TestNothingRan(t *testing.T) {
	why := "target predictor: did not answer within 20s"
	r := run(result.Inconclusive, 4, why, result.Stage{Name: "hold", Kind: "load", State: result.Skipped, Outcome: result.Inconclusive, Reason: "the run ended before this stage"})
	r.Error = why
	p := printAll(t, r)
	for format, text := range map[string]string{"HTML": plainText(p.html), "Markdown": p.markdown, "text": p.text} {
		if n := strings.Count(text, why); n != 1 {
			t.Errorf("%s says %d times why, want 1", format, n)
		}
	}
	if got, want := answerTo(t, r, "First stage").sentence(), "None: no stage was run."; got != want {
		t.Errorf("first failure = %q, want %q", got, want)
	}
	r.Reason = ""
	if got := New(r).Notices; len(got) != 1 || got[0] != why {
		t.Errorf("notices without a reason = %q, want %q", got, why)
	}
}
