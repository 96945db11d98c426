package predictor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync/atomic"
	"time"
)

// Faults makes the service worse on purpose, so that a test can be tested. The
// zero value does nothing.
type Faults struct {
	RowCost     time.Duration // busy CPU time a scored row
	Delay       time.Duration // wait of every ranking request
	ErrorRatio  float64       // share of ranking requests answered 500, 0 to 1, evenly spread
	StallLength time.Duration // no request goes on for this long at the end of each StallPeriod
	StallPeriod time.Duration // longer than StallLength
	Workers     int           // ranking requests served at a time, others wait; 0 for no limit
}

// Check returns what is wrong with the settings; it names the command's flags.
func (f Faults) Check() error {
	var errs []error
	for _, d := range []struct {
		name  string
		value time.Duration
		most  time.Duration
	}{
		{"--fault-row-cost", f.RowCost, time.Second},
		{"--fault-delay", f.Delay, time.Minute},
		{"--fault-stall-length", f.StallLength, time.Hour},
		{"--fault-stall-period", f.StallPeriod, 24 * time.Hour},
	} {
		if d.value < 0 || d.value > d.most {
			errs = append(errs, fmt.Errorf("%s: got %v, want 0 to %v", d.name, d.value, d.most))
		}
	}
	if !(f.ErrorRatio >= 0 && f.ErrorRatio <= 1) {
		errs = append(errs, fmt.Errorf("--fault-error-ratio: got %v, want 0 to 1", f.ErrorRatio))
	}
	if f.Workers < 0 || f.Workers > 1_000_000 {
		errs = append(errs, fmt.Errorf("--fault-workers: got %d, want 0 to 1000000", f.Workers))
	}
	switch {
	case (f.StallLength == 0) != (f.StallPeriod == 0):
		errs = append(errs, errors.New("--fault-stall-length and --fault-stall-period: want both or neither"))
	case f.StallLength > 0 && f.StallLength >= f.StallPeriod:
		errs = append(errs, fmt.Errorf("--fault-stall-length: got %v, want less than the period of %v", f.StallLength, f.StallPeriod))
	}
	return errors.Join(errs...)
}

// saboteur carries the faults out.
type saboteur struct {
	f       Faults
	start   time.Time
	workers chan struct{} // nil for no limit
	count   atomic.Uint64
}

func newSaboteur(f Faults) *saboteur {
	s := &saboteur{f: f, start: time.Now()}
	if f.Workers > 0 {
		s.workers = make(chan struct{}, f.Workers)
	}
	return s
}

// begin waits for a worker, then through stall and delay. Unless it returns an
// error, which is the context's, end must be called.
func (s *saboteur) begin(ctx context.Context) error {
	if s.workers != nil {
		select {
		case s.workers <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	err := wait(ctx, s.stallLeft(time.Since(s.start)))
	if err == nil {
		err = wait(ctx, s.f.Delay)
	}
	if err != nil {
		s.end()
	}
	return err
}

func (s *saboteur) end() {
	if s.workers != nil {
		<-s.workers
	}
}

// stallLeft returns how much of a stall is left at a time since the start.
func (s *saboteur) stallLeft(at time.Duration) time.Duration {
	if s.f.StallLength == 0 {
		return 0
	}
	left := s.f.StallPeriod - at%s.f.StallPeriod
	if left > s.f.StallLength {
		return 0
	}
	return left
}

// fails says whether the next request is one of those that fail: of any n in a
// row, n times the ratio, rounded up or down.
func (s *saboteur) fails() bool {
	if s.f.ErrorRatio == 0 {
		return false
	}
	n := float64(s.count.Add(1))
	return math.Floor(n*s.f.ErrorRatio) > math.Floor((n-1)*s.f.ErrorRatio)
}

// burn keeps the processor busy for the rows' extra cost.
func (s *saboteur) burn(rows int) {
	if s.f.RowCost == 0 {
		return
	}
	until := time.Now().Add(time.Duration(rows) * s.f.RowCost)
	for time.Now().Before(until) {
	}
}

func wait(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return nil
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
