package result

// A Microbenchmark is the record of a microbenchmark stage.
type Microbenchmark struct {
	Command   string     `json:"command"`
	Forks     int        `json:"forks"`
	Samples   int        `json:"samples"` // per fork and size, as planned
	MinTimeNS int64      `json:"min_time_ns"`
	Seed      uint64     `json:"seed"`
	Sizes     []Size     `json:"sizes"` // ascending
	Fit       *Fit       `json:"fit"`   // null with fewer than 5 sizes
	Reference *Reference `json:"reference,omitempty"`
}

// A Size is what was measured at one size. Times are per iteration.
type Size struct {
	Size       int       `json:"size"`
	Samples    int64     `json:"samples"`
	Iterations int64     `json:"iterations"` // measured ones, all samples
	MinNS      *float64  `json:"min_ns"`
	MeanNS     *float64  `json:"mean_ns"`
	P50NS      *float64  `json:"p50_ns"`
	P90NS      *float64  `json:"p90_ns"`
	P99NS      *float64  `json:"p99_ns"` // null with too few samples
	MaxNS      *float64  `json:"max_ns"`
	Interval   *Interval `json:"interval"`    // of the median, over forks
	AllocBytes *float64  `json:"alloc_bytes"` // per iteration
	Allocs     *float64  `json:"allocs"`
	Checksum   string    `json:"checksum,omitempty"`
	Forks      []Fork    `json:"forks"`
}

// A Fork is one fresh process at one size.
type Fork struct {
	Order             int       `json:"order"` // place in the run, from 0
	Settled           bool      `json:"settled"`
	SettledIterations *int64    `json:"settled_iterations"` // after how many it was steady; null: never, or the plan sets a fixed time
	WarmupIterations  int64     `json:"warmup_iterations"`  // all that were thrown away
	WarmupNS          []float64 `json:"warmup_ns"`          // per iteration, thrown away
	SampleIterations  int64     `json:"sample_iterations"`
	SamplesNS         []float64 `json:"samples_ns"` // per iteration
}

// A Fit is the growth of the median over sizes.
type Fit struct {
	Class       string   `json:"class"`            // constant, logarithmic, linear, linearithmic, quadratic, cubic
	ClassLo     string   `json:"class_lo"`         // slowest class that the points do not speak against
	ClassHi     string   `json:"class_hi"`         // fastest one
	SlopeNS     float64  `json:"slope_ns_per_row"` // of the straight line
	SlopeLoNS   *float64 `json:"slope_lo_ns_per_row"`
	SlopeHiNS   *float64 `json:"slope_hi_ns_per_row"`
	InterceptNS float64  `json:"intercept_ns"`
	R2          float64  `json:"r2"`       // of the straight line
	Evidence    float64  `json:"evidence"` // weight of the class among all classes, 0 to 1
	Misfit      float64  `json:"misfit"`   // how far the sizes are off the class: relative, root mean square
	Misses      bool     `json:"misses"`   // that is more than the scatter explains: no class fits
}

// A Reference is a published series drawn beside the measured one.
type Reference struct {
	Name   string           `json:"name"`
	Source string           `json:"source,omitempty"`
	Points []ReferencePoint `json:"points"`
}

// A ReferencePoint is a published time.
type ReferencePoint struct {
	Size   int   `json:"size"`
	TimeNS int64 `json:"time_ns"`
}
