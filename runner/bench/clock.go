package bench

import (
	"fmt"
	"time"
)

const (
	clockSlack = time.Millisecond      // two clocks may differ by this, whatever the length
	clockShare = 1.02                  // and by this factor
	clockZero  = 50 * time.Millisecond // a clock that did not tick in this does not tick
	clockLeast = 0.5                   // share of the wall time below which the subject's clock is doubted
	clockWrong = 0.2                   // share below which it is not believed

	maxPerIteration = 1 << 50 // bytes or allocations of one iteration that no machine has
)

// checkClock compares the subject's clock with ours. We wait at least as long as the subject works, so it cannot have
// worked longer than we waited.
func checkClock(b batch, wall time.Duration) error {
	most := time.Duration(clockShare*float64(wall)) + clockSlack
	if time.Duration(b.ns) > most {
		return &clockError{fmt.Sprintf("the subject reports %v for %d iterations, but perfplan waited only %v for them",
			time.Duration(b.ns), b.iterations, wall.Round(time.Microsecond))}
	}
	if b.ns == 0 && wall > clockZero {
		return &clockError{fmt.Sprintf("the subject reports 0 ns for %d iterations, perfplan waited %v for them",
			b.iterations, wall.Round(time.Microsecond))}
	}
	return nil
}

// checkMemory refuses totals that cannot be true.
func checkMemory(b batch) error {
	for _, total := range []struct {
		of   *int64
		noun string
	}{{b.bytes, "bytes"}, {b.allocs, "allocations"}} {
		if total.of != nil && *total.of/b.iterations > maxPerIteration {
			return fmt.Errorf("the subject reports %d %s for %d iterations, more than any machine has", *total.of, total.noun, b.iterations)
		}
	}
	return nil
}

// A clockError says that a subject's times cannot be true.
type clockError struct{ text string }

func (e *clockError) Error() string { return e.text }
