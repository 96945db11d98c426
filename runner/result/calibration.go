package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// CalibrationFormat marks a file that says what a plan's gates are worth on a machine.
const CalibrationFormat = "perfplan-calibration"

// CalibrationVersion is the version of the files this package writes.
const CalibrationVersion = 1

// A Calibration is what runs of a plan that differ in nothing showed on one machine.
type Calibration struct {
	Format      string    `json:"format"`
	Version     int       `json:"version"`
	Plan        string    `json:"plan"` // its name
	Hash        string    `json:"plan_hash"`
	Fingerprint string    `json:"fingerprint"` // of the machine
	CPUModel    string    `json:"cpu_model"`
	Cores       int       `json:"cores"`
	Taken       time.Time `json:"taken"`
	Runs        int       `json:"runs"`
	Noise       []Noise   `json:"noise"`
	SLOs        []SLOTry  `json:"slos"`
}

// A Noise is how one figure scatters between runs of which nothing differs.
type Noise struct {
	Stage   string    `json:"stage"`
	Metric  string    `json:"metric"`            // as in an SLO
	Segment string    `json:"segment,omitempty"` // or cell of a microbenchmark
	Unit    string    `json:"unit"`              // ns, per_s; ratio: of the runs of a pair, new ÷ base
	Values  []float64 `json:"values"`            // one a run, or a pair
	Spread  float64   `json:"spread"`            // standard deviation of their logarithms: 0.1 is about 10 %
	// FalseAlarms of Of comparisons in which nothing differs call a change to the worse.
	FalseAlarms int `json:"false_alarms"`
	Of          int `json:"of"`
	// Passes is the share of such comparisons of versions that end without doubt; of compare stages.
	Passes  float64 `json:"passes,omitempty"`
	Visible float64 `json:"visible"` // smallest change to the worse, 0.1 is 10 %, that 95 of 100 comparisons call; 0: none up to 100 %
}

// An SLOTry is how an SLO with a limit of its own came out of these runs.
type SLOTry struct {
	Stage     string   `json:"stage"`
	Text      string   `json:"text"`
	Passed    int      `json:"passed"`
	Failed    int      `json:"failed"`
	Undecided int      `json:"undecided"`
	Low       *float64 `json:"low"` // smallest and largest value, in the unit of the SLO; null: there was none
	High      *float64 `json:"high"`
	Unit      string   `json:"unit"`
	Visible   *float64 `json:"visible"` // change of the value, 0.1 is 10 %, from which on every run would break the limit
}

// CalibrationFile is the path of the calibration of a plan on the machine with a fingerprint, in the folder for results.
func CalibrationFile(out, plan, fingerprint string) string {
	return filepath.Join(out, plan, "calibration-"+fingerprint+".json")
}

// WriteCalibration stores c in the folder for results, whole or not at all.
func WriteCalibration(out string, c *Calibration) (path string, err error) {
	c.Format, c.Version = CalibrationFormat, CalibrationVersion
	path = CalibrationFile(out, c.Plan, c.Fingerprint)
	data, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = os.MkdirAll(filepath.Dir(path), 0o777)
	}
	if err == nil {
		err = writeFile(path, append(data, '\n'))
	}
	return path, err
}

// ReadCalibration reads a calibration of a plan on a machine. It is nil without an error where there is none.
func ReadCalibration(out, plan, fingerprint string) (*Calibration, error) {
	path := CalibrationFile(out, plan, fingerprint)
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var c Calibration
	if err == nil {
		err = json.Unmarshal(data, &c)
	}
	switch {
	case err != nil:
		return nil, fmt.Errorf("read calibration %q: %w", path, err)
	case c.Format != CalibrationFormat || c.Version != CalibrationVersion:
		return nil, fmt.Errorf("read calibration %q: got format %q version %d, want %q version %d: calibrate again", path, c.Format, c.Version, CalibrationFormat, CalibrationVersion)
	}
	return &c, nil
}
