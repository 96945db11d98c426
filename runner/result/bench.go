package result

import (
	"slices"
	"strconv"
	"strings"
)

// A Microbenchmark is the record of a microbenchmark stage.
type Microbenchmark struct {
	Kind       string         `json:"kind,omitempty"` // of subject: command, go, time or results
	Command    string         `json:"command"`
	Forks      int            `json:"forks"`
	Samples    int            `json:"samples"` // per fork and size, as planned
	MinTimeNS  int64          `json:"min_time_ns"`
	Seed       uint64         `json:"seed"`
	OverheadNS *float64       `json:"overhead_ns,omitempty"` // of an empty shell, taken off all times
	Sizes      []Size         `json:"sizes"`                 // the cells of the grid: by settings, then ascending
	Fits       []Fit          `json:"fits,omitempty"`        // one for each combination of settings with at least 5 sizes
	Reference  *Reference     `json:"reference,omitempty"`
	Baseline   *BenchBaseline `json:"baseline,omitempty"`
}

// A Setting is the value of a parameter of the grid.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Settings are those of a cell, in the order of the plan's parameters.
type Settings []Setting

// String names them: "quick, 2"; "" for none.
func (s Settings) String() string {
	var values []string
	for _, p := range s {
		values = append(values, p.Value)
	}
	return strings.Join(values, ", ")
}

// Has tells whether these settings are among them; set is "algorithm=quick,threads=2".
func (s Settings) Has(set string) bool {
	for one := range strings.SplitSeq(set, ",") {
		name, value, ok := strings.Cut(one, "=")
		if ok && !slices.Contains(s, Setting{name, value}) {
			return false
		}
	}
	return true
}

// A Size is what was measured in one cell of the grid: at one size, with one combination of settings. Times are per iteration.
type Size struct {
	Size         int       `json:"size"` // 0: none
	Settings     Settings  `json:"settings,omitempty"`
	Samples      int64     `json:"samples"`
	Iterations   int64     `json:"iterations"` // measured ones, all samples
	MinNS        *float64  `json:"min_ns"`
	MeanNS       *float64  `json:"mean_ns"`
	P50NS        *float64  `json:"p50_ns"`
	P90NS        *float64  `json:"p90_ns"`
	P99NS        *float64  `json:"p99_ns"` // null with too few samples
	MaxNS        *float64  `json:"max_ns"`
	Interval     *Interval `json:"interval"`          // of the median, over forks
	Spread       *float64  `json:"spread,omitempty"`  // standard deviation of the forks' medians, relative; null with one fork
	Visible      *float64  `json:"visible,omitempty"` // smallest change that two such measurements tell from none, relative
	AllocBytes   *float64  `json:"alloc_bytes"`       // per iteration
	Allocs       *float64  `json:"allocs"`
	GCs          *float64  `json:"gcs,omitempty"`          // garbage collections per iteration
	GCPauseNS    *float64  `json:"gc_pause_ns,omitempty"`  // their pauses per iteration
	CPUNS        *float64  `json:"cpu_ns,omitempty"`       // of the subject's process tree, per iteration, user and system
	RSSBytes     *int64    `json:"rss_bytes,omitempty"`    // most of all forks
	Instructions *float64  `json:"instructions,omitempty"` // in user space, per iteration
	Cycles       *float64  `json:"cycles,omitempty"`
	Checksum     string    `json:"checksum,omitempty"`
	Outliers     []Outlier `json:"outliers,omitempty"`
	Forks        []Fork    `json:"forks"`
}

// Name names the cell: "quick, size 1000"; "" for the only one of a subject without sizes.
func (z Size) Name() string {
	text := z.Settings.String()
	if z.Size == 0 {
		return text
	}
	if text != "" {
		text += ", "
	}
	return text + "size " + strconv.Itoa(z.Size)
}

// Same tells whether two cells are the same place of the grid.
func (z Size) Same(o Size) bool { return z.Size == o.Size && slices.Equal(z.Settings, o.Settings) }

// An Outlier is a sample far above the others of its size. It stays in all figures.
type Outlier struct {
	Fork   int     `json:"fork"`   // index in Forks
	Sample int     `json:"sample"` // index in its SamplesNS
	NS     float64 `json:"ns"`
	Cause  string  `json:"cause"` // CauseGC, CauseCPU, CauseSteal or CauseUnknown
}

// Why a sample is an outlier, as far as that is known.
const (
	CauseGC      = "gc"      // garbage was collected in it, for longer than in the others
	CauseCPU     = "cpu"     // the subject waited for a processor that others had
	CauseSteal   = "steal"   // the machine's host had the processors
	CauseUnknown = "unknown" // none of these
)

// A Fork is one fresh process at one size; of commands that are timed whole, a group of runs.
type Fork struct {
	Order             int       `json:"order"` // place in the run, from 0
	Settled           bool      `json:"settled"`
	SettledIterations *int64    `json:"settled_iterations"`  // after how many it was steady; null: never, or the plan sets a fixed time
	WarmupIterations  int64     `json:"warmup_iterations"`   // all that were thrown away
	WarmupNS          []float64 `json:"warmup_ns"`           // per iteration, thrown away
	WarmupOf          []int64   `json:"warmup_of,omitempty"` // iterations of each of them
	SampleIterations  int64     `json:"sample_iterations"`
	SamplesNS         []float64 `json:"samples_ns"` // per iteration
}

// A Fit is the growth of the median over sizes.
type Fit struct {
	Settings    Settings   `json:"settings,omitempty"`
	Class       string     `json:"class"`            // constant, logarithmic, linear, linearithmic, quadratic, cubic
	ClassLo     string     `json:"class_lo"`         // slowest class that the points do not speak against
	ClassHi     string     `json:"class_hi"`         // fastest one
	SlopeNS     float64    `json:"slope_ns_per_row"` // of the straight line
	SlopeLoNS   *float64   `json:"slope_lo_ns_per_row"`
	SlopeHiNS   *float64   `json:"slope_hi_ns_per_row"`
	InterceptNS float64    `json:"intercept_ns"`
	R2          float64    `json:"r2"`       // of the straight line
	Evidence    float64    `json:"evidence"` // weight of the class among all classes, 0 to 1
	Misfit      float64    `json:"misfit"`   // how far the sizes are off the class: relative, root mean square
	Misses      bool       `json:"misses"`   // that is more than the scatter explains: no class fits
	Points      []FitPoint `json:"points,omitempty"`
}

// A FitPoint is what the class of a fit says at one size.
type FitPoint struct {
	Size     int     `json:"size"`
	TimeNS   float64 `json:"time_ns"`
	Residual float64 `json:"residual"` // measured ÷ said, less 1
}

// A Reference is a published series drawn beside the measured one.
type Reference struct {
	Name   string           `json:"name"`
	Source string           `json:"source,omitempty"`
	Points []ReferencePoint `json:"points"`
}

// A ReferencePoint is a published time.
type ReferencePoint struct {
	Size   int      `json:"size"`
	TimeNS int64    `json:"time_ns"`
	Ratio  *float64 `json:"ratio,omitempty"` // to the median measured at this size; null: none was, or settings give several
}

// A BenchBaseline is how a microbenchmark compares with stored runs of it.
type BenchBaseline struct {
	Runs     []string     `json:"runs"` // their ids
	Cells    []BenchDelta `json:"cells"`
	Vanished []string     `json:"vanished,omitempty"` // cells that only the stored runs have
	New      []string     `json:"new,omitempty"`      // cells that they do not have
}

// A BenchDelta is the change of the median time in one cell.
type BenchDelta struct {
	Size     int       `json:"size"`
	Settings Settings  `json:"settings,omitempty"`
	BaseNS   float64   `json:"base_ns"`
	NowNS    float64   `json:"now_ns"`
	Change   float64   `json:"change"`   // 0.1 is 10 % slower
	Interval *Interval `json:"interval"` // of the change; null with too few forks
	Verdict  string    `json:"verdict"`  // DeltaSlower, DeltaFaster, DeltaSame or DeltaUnclear
}

// What a change is, by its interval and the smallest change that matters.
const (
	DeltaSlower  = "slower"    // surely slower, and by at least that much
	DeltaFaster  = "faster"    // surely faster, and by at least that much
	DeltaSame    = "no change" // surely less than that either way
	DeltaUnclear = "unclear"
)

// Fit is the fit of a combination of settings; nil: there is none.
func (m *Microbenchmark) Fit(s Settings) *Fit {
	for i := range m.Fits {
		if slices.Equal(m.Fits[i].Settings, s) {
			return &m.Fits[i]
		}
	}
	return nil
}
