package runner

import (
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/load"
	"github.com/perfplan/perfplan/runner/result"
)

// An Event tells how a run is going, for a progress display. The kinds are Preparing, StageStarted, StageExtended,
// LoadProgress, BenchProgress, CompareProgress and StageFinished. They are delivered one at a time, in order; a receiver must be quick.
type Event interface{ event() }

// Preparing is something done before the first stage or after the last: a build, a start, a stop.
type Preparing struct {
	Target string
	Doing  string // "building", "starting", "ready", "stopping"
}

// StageStarted announces a stage.
type StageStarted struct {
	Index, Count int // Index from 0
	Stage        *plans.Stage
}

// StageExtended announces that the load of a stage is offered again, since an SLO is undecided.
type StageExtended struct {
	Stage       *plans.Stage
	Round, Most int    // round that begins, from 2, and most that there may be
	Open        string // the SLO
}

// LoadProgress is the state of a load or warm-up stage about once a second.
type LoadProgress struct {
	Stage   *plans.Stage
	Elapsed time.Duration
	Planned time.Duration // length of the profile; the longest for a warm-up until steady
	Tick    load.Tick
}

// BenchProgress is the state of a microbenchmark stage, after each fork.
type BenchProgress struct {
	Stage       *plans.Stage
	Done, Count int        // forks over all cells
	Cell        plans.Cell // of the fork that runs
}

// CompareProgress is the state of a comparison, before each run.
type CompareProgress struct {
	Stage      *plans.Stage
	Pair, Most int    // pair that runs, from 1, and most that are planned
	Version    string // that runs
}

// StageFinished brings a stage's record with its verdict. It must not be changed.
type StageFinished struct {
	Index, Count int
	Stage        *result.Stage
}

func (Preparing) event()       {}
func (StageStarted) event()    {}
func (StageExtended) event()   {}
func (LoadProgress) event()    {}
func (BenchProgress) event()   {}
func (CompareProgress) event() {}
func (StageFinished) event()   {}
