package main

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"
)

// Bounds of a quiet machine.
const (
	maxPressure = 0.10 // of the time some task waited for a core
	maxSteal    = 0.01
	maxHold     = time.Millisecond // p99 of how late the server released
)

// counters are what the machine counts.
type counters struct {
	at       time.Time
	pressure time.Duration // some task waited for a core
	steal    float64       // ticks
	ticks    float64       // all ticks
}

func readCounters() (c counters, err error) {
	c.at = time.Now()
	text, err := os.ReadFile("/proc/pressure/cpu")
	if err != nil {
		return c, fmt.Errorf("pressure of the machine: %w", err)
	}
	_, total, _ := strings.Cut(string(text), "total=")
	var us int64
	if _, err := fmt.Sscan(total, &us); err != nil {
		return c, fmt.Errorf("pressure of the machine: %w", err)
	}
	c.pressure = time.Duration(us) * time.Microsecond
	text, err = os.ReadFile("/proc/stat")
	if err != nil {
		return c, err
	}
	line, _, _ := bytes.Cut(text, []byte("\n"))
	for i, field := range strings.Fields(string(line))[1:] {
		var v float64
		if _, err := fmt.Sscan(field, &v); err != nil {
			return c, fmt.Errorf("/proc/stat: %w", err)
		}
		if i < 8 { // the guest times are in user and nice already
			c.ticks += v
		}
		if i == 7 {
			c.steal = v
		}
	}
	return c, nil
}

// A noise is what disturbed a run.
type noise struct {
	pressure, steal float64
	hold            time.Duration
	// With real-time priority for the rig, and where a test makes tasks wait, the pressure says little.
	unjudged bool
}

// between is the noise between two readings, with the hold errors of the servers
// in between.
func between(before, after counters, holds []int64) (n noise) {
	if wall := after.at.Sub(before.at); wall > 0 {
		n.pressure = float64(after.pressure-before.pressure) / float64(wall)
	}
	if ticks := after.ticks - before.ticks; ticks > 0 {
		n.steal = (after.steal - before.steal) / ticks
	}
	if len(holds) > 0 {
		slices.Sort(holds)
		n.hold = time.Duration(holds[(len(holds)*99-1)/100])
	}
	return n
}

// fault says what makes the machine too noisy, "" for nothing.
func (n noise) fault() string {
	switch {
	case n.pressure > maxPressure && !n.unjudged:
		return fmt.Sprintf("tasks waited for a core for %.0f %% of the time, more than %.0f %%", 100*n.pressure, 100*maxPressure)
	case n.steal > maxSteal:
		return fmt.Sprintf("the hypervisor took %.1f %% of the time, more than %.0f %%", 100*n.steal, 100*maxSteal)
	case n.hold > maxHold:
		return fmt.Sprintf("the server held 1 %% of the answers more than %v too long (%v)", maxHold, n.hold.Round(10*time.Microsecond))
	}
	return ""
}
