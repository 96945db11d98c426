package report

import (
	"fmt"
	"strings"
	"time"

	"github.com/perfplan/perfplan/report/chart"
	"github.com/perfplan/perfplan/runner/result"
)

// A Model is one run laid out for readers, with every number formatted and every sentence made. It is not changed
// after New and holds on to the record it was made from.
type Model struct {
	view
	r *result.Result
}

// view is what the writers print. Names and texts of the plan stand in it as they are: each writer escapes them.
type view struct {
	Plan        string
	Description string
	RunID       string
	Started     string
	Took        string
	Tool        string
	Verdict     badge
	Headline    string // the verdict in one short sentence
	Why         string // the reason of the run's outcome
	Notices     []string
	SLOs        []sloRow
	SLOCount    string
	Answers     []answer // what the first screen answers beside the verdict
	Warnings    []warning
	Stages      []stage
	Environment []pair
	Targets     table
	Reproduce   []pair
	Command     string
	Source      string
	Glossary    []pair
}

// A badge is an outcome, state or level: its word, and the kind that chooses shape and colour (pass, fail,
// inconclusive, na, suspect, note).
type badge struct{ Word, Kind string }

type pair struct{ Name, Value string }

// An answer is one of the questions of the first screen.
type answer struct {
	Question string
	Badge    badge // zero: none
	Text     string
	Detail   string
	Fix      string
	Findings []string // all of what Detail tells the worst of, one line each; may be empty
	Anchor   string   // of the stage it is about; may be empty
}

type warning struct {
	Stage  string // empty: about the whole run
	Anchor string
	Badge  badge
	Text   string
	Fix    string
}

type sloRow struct {
	Stage, Anchor string
	Text          string
	Badge         badge
	Value         string
	Limit         string // with its operator
	Interval      cell
	Samples       string
	Set           string // which requests the samples are
	Segment       string
	Reason        string
	Segments      table
}

type stage struct {
	Anchor   string
	Name     string
	Kind     string
	Badge    badge
	State    string // empty when the stage is complete
	Reason   string
	Took     string
	Brief    string // its main figures
	Failures string // why requests failed; empty when none did
	SLOs     []sloRow
	Warnings []warning
	Lines    []string // sentences that sum the stage up
	Parts    []part
}

// A part is a piece of a stage under its own heading: sentences, charts, tables, more tables behind a toggle.
type part struct {
	Title  string
	Lines  []string
	Charts []figure
	Tables []table
	More   []table
}

// A figure is a chart with its file's name (without an ending) and its text alternative.
type figure struct {
	Name  string
	Chart chart.Chart
	Alt   string
}

// A table has its row heads in the first column.
type table struct {
	Caption string
	Cols    []column
	Rows    [][]cell
}

type column struct {
	Name string
	Num  bool // right-aligned
}

type cell struct {
	Text  string
	Sub   string // a second, smaller line
	Badge badge  // shown before the text
}

// New lays a run out. It copes with records of runs that ended early or hold no data.
func New(r *result.Result) *Model {
	m := &Model{r: r}
	v := &m.view
	v.Plan, v.Description, v.RunID = orText(r.Plan.Name, "unnamed plan"), r.Plan.Description, r.RunID
	v.Started, v.Took = started(r), took(r)
	v.Tool = r.Tool.Name + " " + r.Tool.Version
	v.Verdict, v.Headline, v.Why = verdictOf(r)
	v.Notices = notices(r)
	files := &names{}
	for i := range r.Stages {
		st := newStage(&r.Stages[i], i, files)
		v.Stages = append(v.Stages, st)
		v.SLOs = append(v.SLOs, st.SLOs...)
		v.Warnings = append(v.Warnings, st.Warnings...)
	}
	v.Warnings = append(warningsOf(r.Warnings, "", ""), v.Warnings...)
	v.SLOCount = sloCount(r)
	v.Answers = []answer{firstFailure(r), bottleneck(r), validity(v.Warnings, r), changed(r)}
	v.Environment, v.Targets = environment(r), targetsTable(r.Targets)
	v.Command, v.Reproduce, v.Source = command(r), reproduce(r), r.Plan.Source
	v.Glossary = glossary()
	return m
}

func orText(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

func anchor(i int) string { return fmt.Sprintf("stage-%d", i+1) }

func started(r *result.Result) string {
	if r.Started.IsZero() {
		return na
	}
	return r.Started.UTC().Format("2006-01-02 15:04:05 UTC")
}

func took(r *result.Result) string {
	if r.Finished == nil || r.Started.IsZero() {
		return na
	}
	return span(int64(r.Finished.Sub(r.Started) / time.Nanosecond))
}

// outcomeBadge is the badge of a run, a stage or an SLO that has no finer state.
func outcomeBadge(o result.Outcome) badge {
	switch o {
	case result.Pass:
		return badge{"Pass", "pass"}
	case result.Fail:
		return badge{"Fail", "fail"}
	case result.Inconclusive:
		return badge{"Inconclusive", "inconclusive"}
	}
	return badge{"No verdict", "na"}
}

// stateBadge is the badge of an SLO's state.
func stateBadge(state string, o result.Outcome) badge {
	switch state {
	case result.StatePassed:
		return badge{"Passed", "pass"}
	case result.StateFailed:
		return badge{"Failed", "fail"}
	case result.StateInconclusive:
		return badge{"Inconclusive", "inconclusive"}
	case result.StateNoData:
		return badge{"No data", "na"}
	}
	return outcomeBadge(o)
}

// verdictOf is the run's verdict as a badge, in a short sentence, and its reason.
func verdictOf(r *result.Result) (b badge, headline, why string) {
	b = outcomeBadge(r.Outcome)
	n := tally(r)
	switch {
	case r.Error != "":
		headline = "The run could not be carried out to its end."
	case r.Interrupted:
		headline = "The run was interrupted."
	case r.Outcome == result.Pass && n.total == 0:
		headline = "The run ended; its plan declares no SLO."
	case r.Outcome == result.Pass && n.total == 1:
		headline = "The SLO holds."
	case r.Outcome == result.Pass:
		headline = fmt.Sprintf("All %d SLOs hold.", n.total)
	case r.Outcome == result.Fail && n.open > 0:
		headline = fmt.Sprintf("%d of %s failed, %d could not be decided.", n.failed, counted(int64(n.total), "SLO"), n.open)
	case r.Outcome == result.Fail:
		headline = fmt.Sprintf("%d of %s failed.", n.failed, counted(int64(n.total), "SLO"))
	case r.Outcome == result.Inconclusive && n.open > 0:
		headline = fmt.Sprintf("%d of %s could not be decided.", n.open, counted(int64(n.total), "SLO"))
	case r.Outcome == result.Inconclusive:
		headline = "The measurement does not allow a verdict."
	default:
		headline = "The run has not ended."
	}
	if strings.EqualFold(strings.TrimSuffix(headline, "."), r.Reason) {
		return b, headline, "" // the same, said twice
	}
	return b, headline, r.Reason
}

// A score counts SLOs by outcome; open ones are inconclusive or have no data.
type score struct{ total, failed, open int }

func tally(r *result.Result) score {
	var n score
	for _, st := range r.Stages {
		for _, s := range st.SLO {
			if s.Warn {
				continue
			}
			n.total++
			switch s.Outcome {
			case result.Pass:
			case result.Fail:
				n.failed++
			default:
				n.open++
			}
		}
	}
	return n
}

// notices are what a reader must know before any figure.
func notices(r *result.Result) []string {
	var out []string
	if r.Error != "" && !strings.Contains(r.Reason, r.Error) { // else the reason tells it
		out = append(out, r.Error)
	}
	if r.Interrupted {
		out = append(out, "A signal ended the run early; what was measured until then is below.")
	} else if r.Finished == nil {
		out = append(out, "The run had not ended when this was written; what was measured until then is below.")
	}
	return out
}

// sloCount says how many SLOs ended in which state.
func sloCount(r *result.Result) string {
	n := map[string]int{}
	total := 0
	for _, st := range r.Stages {
		for _, s := range st.SLO {
			total++
			switch {
			case s.Warn && s.Outcome == result.Fail:
				n["warned"]++
			case s.Warn && s.Outcome != result.Pass:
				n["undecided"]++
			default:
				n[s.State]++
			}
		}
	}
	if total == 0 {
		return "no SLO was evaluated"
	}
	text := ""
	for _, state := range []struct{ state, word string }{
		{result.StateFailed, "failed"}, {result.StateInconclusive, "inconclusive"}, {result.StateNoData, "without data"}, {"warned", "warned"}, {"undecided", "undecided"}, {result.StatePassed, "passed"},
	} {
		if n[state.state] > 0 {
			text += fmt.Sprintf(", %d %s", n[state.state], state.word)
		}
	}
	return counted(int64(total), "SLO") + text
}
