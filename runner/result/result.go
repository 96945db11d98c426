package result

import (
	"fmt"
	"strings"
	"time"
)

// SchemaVersion is the version of the record this package writes. A new optional key keeps it; any other change raises it.
const SchemaVersion = 1

// Outcome is the end of an SLO, a stage or a run.
type Outcome string

// The outcomes, from best to worst.
const (
	Pass         Outcome = "pass"
	Inconclusive Outcome = "inconclusive"
	Fail         Outcome = "fail"
)

// Worst returns the worse of two outcomes: fail over inconclusive over pass. The empty outcome is the best.
func Worst(a, b Outcome) Outcome {
	rank := map[Outcome]int{Pass: 1, Inconclusive: 2, Fail: 3}
	if rank[b] > rank[a] {
		return b
	}
	return a
}

// A Result is one run of one plan.
type Result struct {
	SchemaVersion int         `json:"schema_version"`
	Tool          Tool        `json:"tool"`
	RunID         string      `json:"run_id"`
	Plan          Plan        `json:"plan"`
	Started       time.Time   `json:"started"`
	Finished      *time.Time  `json:"finished"` // null while the run is under way
	Outcome       Outcome     `json:"outcome"`
	Reason        string      `json:"reason"`          // one sentence
	ExitCode      *int        `json:"exit_code"`       // of perfplan run, see exit* in cmd/perfplan; null until it is known
	Interrupted   bool        `json:"interrupted"`     // by a signal
	Error         string      `json:"error,omitempty"` // why the run could not be carried out to its end
	Environment   Environment `json:"environment"`
	Targets       []Target    `json:"targets"`
	Stages        []Stage     `json:"stages"`
	Warnings      []Warning   `json:"warnings"`
}

// A Tool is the program that wrote the record.
type Tool struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// A Plan identifies the plan that was run.
type Plan struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Path        string `json:"path"`
	Hash        string `json:"hash"`
	Source      string `json:"source"` // the file's text, before variables are replaced

	Profiles  []string `json:"profiles,omitempty"`  // that were applied
	Effective string   `json:"effective,omitempty"` // the effective plan, where it is made of more than the file
}

// Environment is the machine and the tool chain that a run was made on.
type Environment struct {
	Hostname    string `json:"hostname"`
	OS          string `json:"os"`
	Kernel      string `json:"kernel"`
	Arch        string `json:"arch"`
	CPUModel    string `json:"cpu_model"`
	Cores       int    `json:"cores"` // usable by this process
	MemoryBytes int64  `json:"memory_bytes"`
	GoVersion   string `json:"go_version"`
	FDLimit     int64  `json:"fd_limit"`
	CI          string `json:"ci,omitempty"`     // name of the CI service, if any
	Commit      string `json:"commit,omitempty"` // of the plan's repository
	Dirty       bool   `json:"dirty,omitempty"`  // the work tree had changes
	Fingerprint string `json:"fingerprint"`      // of what makes two machines alike
}

// Unlike says what makes two machines unlike, of what the fingerprint is about; "" when they are alike.
func (e Environment) Unlike(o Environment) string {
	if e.Fingerprint == o.Fingerprint {
		return ""
	}
	var said []string
	see := func(what, was, is string) {
		if was != is {
			said = append(said, fmt.Sprintf("%s %s, here %s", what, was, is))
		}
	}
	see("processor", o.CPUModel, e.CPUModel)
	see("cores", fmt.Sprint(o.Cores), fmt.Sprint(e.Cores))
	see("architecture", o.Arch, e.Arch)
	see("system", o.OS, e.OS)
	see("kernel", o.Kernel, e.Kernel)
	gib := func(bytes int64) string { return fmt.Sprintf("%d GiB", (bytes+1<<29)>>30) }
	see("memory", gib(o.MemoryBytes), gib(e.MemoryBytes))
	if len(said) == 0 {
		return "its share of the processor, or its fingerprint"
	}
	return strings.Join(said, "; ")
}

// A Target is a system under test as it was in this run.
type Target struct {
	Name     string   `json:"name"`
	Instance int      `json:"instance"` // from 0; a target with several processes has an entry for each
	URLs     []string `json:"urls"`
	Command  string   `json:"command,omitempty"`
	PID      int      `json:"pid,omitempty"`
	LogFile  string   `json:"log_file,omitempty"` // relative to the run's folder
	ReadyNS  int64    `json:"ready_ns,omitempty"` // from start to ready
	Exit     string   `json:"exit,omitempty"`     // how it ended, if it ended before it was stopped
}

// Severity of a Warning.
const (
	Suspect = "suspect" // the figures may be touched
	Invalid = "invalid" // the figures do not describe the target: the stage is inconclusive
	Note    = "note"    // good to know
)

// A Warning is something a reader must know to read the figures rightly.
type Warning struct {
	Code     string `json:"code"`     // stable word for machines, like in_flight_cap
	Severity string `json:"severity"` // note, suspect or invalid
	Text     string `json:"text"`     // one sentence with the figures
	Fix      string `json:"fix,omitempty"`
}

// A Stage is the record of one stage. Exactly one of Microbenchmark and Load is set once it has run;
// a warm-up sets Load and Warmup.
type Stage struct {
	Name           string          `json:"name"`
	Kind           string          `json:"kind"` // microbenchmark, warmup, load or compare
	Outcome        Outcome         `json:"outcome"`
	Reason         string          `json:"reason"`
	State          string          `json:"state"`               // complete, partial or skipped
	Alongside      string          `json:"alongside,omitempty"` // name of the stage at the same time as which it ran
	Aborted        string          `json:"aborted,omitempty"`   // why an SLO ended it before its time
	StartNS        int64           `json:"start_ns"`            // since Result.Started
	DurationNS     int64           `json:"duration_ns"`
	SLO            []SLO           `json:"slo"`
	Microbenchmark *Microbenchmark `json:"microbenchmark,omitempty"`
	Warmup         *Warmup         `json:"warmup,omitempty"`
	Comparison     *Comparison     `json:"comparison,omitempty"`
	Load           *Load           `json:"load,omitempty"`
	Observation    *Observation    `json:"observation,omitempty"`
	Looks          []Stage         `json:"looks,omitempty"` // all measurements of a stage that was measured again, in order; the stage's own figures are those of the last
	Warnings       []Warning       `json:"warnings"`
}

// The states of a stage.
const (
	Complete = "complete"
	Partial  = "partial" // ended before its plan did; its figures are what was measured until then
	Skipped  = "skipped" // never started
)

// An SLO is the end of one assertion of the plan.
type SLO struct {
	Text     string       `json:"text"`
	Metric   string       `json:"metric"` // "p99", "service p50", "error_rate", "cpu(predictor)", "time[size=1000] p50"
	Op       string       `json:"op"`
	Limit    float64      `json:"limit"`
	Unit     string       `json:"unit"`               // ns, share, per_s, count, bytes, ns_per_row, class
	Warn     bool         `json:"warn,omitempty"`     // it decides nothing
	Relative string       `json:"relative,omitempty"` // "baseline + 10%": the limit is relative to stored runs, Limit is 0
	Outcome  Outcome      `json:"outcome"`
	State    string       `json:"state"`              // passed, failed, inconclusive or no_data
	Value    *float64     `json:"value"`              // null: no data
	Censored bool         `json:"censored,omitempty"` // the true value is at least Value
	Interval *Interval    `json:"interval,omitempty"`
	Samples  int64        `json:"samples"`
	Set      string       `json:"set,omitempty"`     // which requests the samples are, in words
	Segment  string       `json:"segment,omitempty"` // the segment that decided
	Reason   string       `json:"reason"`            // one sentence
	Segments []SLOSegment `json:"segments,omitempty"`
}

// The states of an SLO.
const (
	StatePassed       = "passed"
	StateFailed       = "failed"
	StateInconclusive = "inconclusive"
	StateNoData       = "no_data"
)

// An SLOSegment is an SLO's end within one segment of a load stage.
type SLOSegment struct {
	Segment  string    `json:"segment"`
	Outcome  Outcome   `json:"outcome"`
	State    string    `json:"state"`
	Value    *float64  `json:"value"`
	Censored bool      `json:"censored,omitempty"`
	Interval *Interval `json:"interval,omitempty"`
	Samples  int64     `json:"samples"`
	Reason   string    `json:"reason"`
}

// An Interval is a confidence interval. What it is about is said by Of.
type Interval struct {
	Of         string   `json:"of"` // "value" or "share over the limit"
	Lo         *float64 `json:"lo"`
	Hi         *float64 `json:"hi"`
	Confidence float64  `json:"confidence"`      // one-sided, each end
	NEff       float64  `json:"n_eff,omitempty"` // effective number of independent samples
}
