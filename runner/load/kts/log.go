package kts

import (
	"cmp"
	"slices"
)

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

// HoldErrors returns by how many ns each release was late, ascending. Of several
// that were due at the same time, as at the end of a stall, each one but the
// first counts from the one before it: they take their time one by one.
func (l *Log) HoldErrors() []int64 {
	type answer struct{ planned, release int64 }
	var all []answer
	for i, at := range l.Release {
		if at > 0 {
			all = append(all, answer{l.Planned[i], at})
		}
	}
	slices.SortFunc(all, func(a, b answer) int {
		return cmp.Or(cmp.Compare(a.planned, b.planned), cmp.Compare(a.release, b.release))
	})
	late := make([]int64, len(all))
	for i, a := range all {
		late[i] = a.release - a.planned
		if i > 0 && all[i-1].planned == a.planned {
			late[i] = a.release - all[i-1].release
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
