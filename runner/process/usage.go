package process

import "time"

// Usage is what processes have used until a moment.
type Usage struct {
	CPU    time.Duration // in user and system mode
	Waited time.Duration // ready to run, while other processes had the processors
	Stolen time.Duration // of the whole machine: processors that its host gave to others
	// Instructions and Cycles of processors in user mode; Counted tells whether they could be counted.
	Instructions, Cycles int64
	Counted              bool
}

// Sub is what was used since an earlier moment.
func (u Usage) Sub(o Usage) Usage {
	return Usage{max(u.CPU-o.CPU, 0), max(u.Waited-o.Waited, 0), max(u.Stolen-o.Stolen, 0),
		max(u.Instructions-o.Instructions, 0), max(u.Cycles-o.Cycles, 0), u.Counted && o.Counted}
}

// Ended is when the child ended; the zero time before.
func (p *Process) Ended() time.Time {
	select {
	case <-p.done:
		return p.ended
	default:
		return time.Time{}
	}
}

// Used is the processor time and the most memory, in bytes, of a child that has ended, with those of its descendants that
// were waited for. ok is false while it runs, and where the system does not tell.
func (p *Process) Used() (cpu time.Duration, rss int64, ok bool) {
	select {
	case <-p.done:
	default:
		return 0, 0, false
	}
	s := p.cmd.ProcessState
	if s == nil {
		return 0, 0, false
	}
	rss, ok = maxRSS(s)
	return s.UserTime() + s.SystemTime(), rss, ok
}
