package result

// A Comparison is the record of a stage that compares two versions.
type Comparison struct {
	Base    string           `json:"base"` // what the versions are: target, and commit
	New     string           `json:"new"`
	Margin  float64          `json:"margin"` // the change that matters
	Most    int              `json:"most"`   // pairs that the plan allows
	Pairs   []ComparedPair   `json:"pairs"`
	Metrics []ComparedMetric `json:"metrics"`
}

// A ComparedPair is one run of each version, one after the other.
type ComparedPair struct {
	NewFirst bool        `json:"new_first"`
	Base     ComparedRun `json:"base"`
	New      ComparedRun `json:"new"`
	Left     string      `json:"left,omitempty"` // why the pair is left out of the comparison
}

// A ComparedRun is one run of one version.
type ComparedRun struct {
	StartNS int64      `json:"start_ns"` // since Result.Started
	Counts  Counts     `json:"counts"`
	Values  []*float64 `json:"values"` // of the metrics, in their order; null: not known
}

// A ComparedMetric is what the pairs say of one metric.
type ComparedMetric struct {
	Metric   string    `json:"metric"`
	Unit     string    `json:"unit"`
	Base     *float64  `json:"base"` // geometric means over the pairs
	New      *float64  `json:"new"`
	Change   *float64  `json:"change"`   // of the metric: 0.1 is 10 % more
	Interval *Interval `json:"interval"` // of the change to the worse
}
