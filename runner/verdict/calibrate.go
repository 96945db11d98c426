package verdict

import (
	"slices"

	"github.com/perfplan/perfplan/runner/result"
)

// A BenchCalibration is what comparisons of two runs of a microbenchmark are worth on a machine.
type BenchCalibration struct {
	Pairs       int
	FalseAlarms int     // pairs of like runs of which a cell was called slower
	Found       int     // pairs in which every cell was called slower once the second run's times were made 10 % longer
	Visible     float64 // smallest change, in proportion, that is found so in 95 % of the pairs; 0: none up to 100 %
}

// CalibrateBench compares runs that differ in nothing, two by two, as a gate would: the first with the second, the third with the
// fourth.
func CalibrateBench(runs []*result.Microbenchmark, margin float64) BenchCalibration {
	c := BenchCalibration{Pairs: len(runs) / 2}
	for i := range c.Pairs {
		if called(runs[2*i], runs[2*i+1], 0, margin) > 0 {
			c.FalseAlarms++
		}
	}
	c.Found = found(runs, 0.10, margin)
	for step := range 100 {
		change := float64(step+1) / 100
		if 100*found(runs, change, margin) >= 95*c.Pairs {
			c.Visible = change
			break
		}
	}
	return c
}

// found counts the pairs in which a change of the second run is seen in every cell.
func found(runs []*result.Microbenchmark, change, margin float64) (n int) {
	for i := range len(runs) / 2 {
		if a, b := runs[2*i], runs[2*i+1]; called(a, b, change, margin) == len(measured(b.Sizes)) {
			n++
		}
	}
	return n
}

// called counts the cells that are called slower when the times of b are made longer by a change.
func called(a, b *result.Microbenchmark, change, margin float64) (n int) {
	longer := *b
	longer.Sizes = slices.Clone(b.Sizes)
	for i := range longer.Sizes {
		forks := slices.Clone(longer.Sizes[i].Forks)
		for j := range forks {
			forks[j].SamplesNS = slices.Clone(forks[j].SamplesNS)
			for k := range forks[j].SamplesNS {
				forks[j].SamplesNS[k] *= 1 + change
			}
		}
		longer.Sizes[i].Forks = forks
	}
	for _, d := range CompareBench([]*result.Microbenchmark{a}, nil, &longer, margin).Cells {
		if d.Verdict == result.DeltaSlower {
			n++
		}
	}
	return n
}
