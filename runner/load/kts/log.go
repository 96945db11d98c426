package kts

import "slices"

// A Log is what the server saw and did. Times are CLOCK_MONOTONIC in ns, so that
// other processes of the machine can compare them with their own. The lists have
// one entry per request, in the order in which they were taken up, which may differ from that of
// the stamps where two are microseconds apart.
type Log struct {
	Mode          string  `json:"mode"`
	Conns         int64   `json:"conns"`          // connections accepted
	MaxHeld       int     `json:"max_held"`       // most requests at once between arrival and release
	Replays       int64   `json:"replays"`        // requests whose seq was seen before
	Overlapping   int64   `json:"overlapping"`    // requests on a connection that still awaited an answer
	KernelStamped int64   `json:"kernel_stamped"` // arrivals with the kernel's time; else it is that of the read
	Arrival       []int64 `json:"arrival_ns"`
	Planned       []int64 `json:"planned_ns"` // when the last byte was due; 0: never
	Release       []int64 `json:"release_ns"` // when it was handed to the kernel; 0: never
	Seq           []int64 `json:"seq"`        // -1: none
}

// HoldErrors returns by how many ns each release was late, ascending.
func (l *Log) HoldErrors() []int64 {
	var late []int64
	for i, at := range l.Release {
		if at > 0 {
			late = append(late, at-l.Planned[i])
		}
	}
	slices.Sort(late)
	return late
}

// copy returns a copy with Replays counted.
func (l *Log) copy() Log {
	c := *l
	c.Arrival, c.Planned = slices.Clone(l.Arrival), slices.Clone(l.Planned)
	c.Release, c.Seq = slices.Clone(l.Release), slices.Clone(l.Seq)
	seqs := slices.Sorted(slices.Values(l.Seq))
	for i, seq := range seqs {
		if seq >= 0 && i > 0 && seqs[i-1] == seq {
			c.Replays++
		}
	}
	return c
}
