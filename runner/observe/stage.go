package observe

import (
	"fmt"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

// Between cuts the series to a stage. With less than one whole interval in it there are no figures and Samples is 0.
// When the stage ends just now, a last reading is taken first.
func (s *Sampler) Between(from, to time.Time) *result.Observation {
	s.Read()
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &result.Observation{
		IntervalNS: int64(s.cfg.Interval), Host: []result.HostSample{}, Processes: []result.Process{},
		Warnings: s.warnings(),
	}
	in := span{from, to, s.slack()}
	var diffs []diff
	for i := 1; i < len(s.readings); i++ {
		if a, b := s.readings[i-1], s.readings[i]; in.holds(a.at, b.at) {
			diffs = append(diffs, between(a, b))
		}
	}
	for _, d := range diffs {
		o.Host = append(o.Host, d.sample(from))
		o.Backwards += d.backwards
	}
	o.Samples = len(diffs)
	for i := range s.trees { // perfplan's own is the first and comes last
		t := s.trees[(i+1)%len(s.trees)]
		p, backwards := t.process(in)
		o.Processes = append(o.Processes, p)
		o.Backwards += backwards
	}
	o.USE = use(diffs)
	return o
}

// A span is a stage. Readings up to slack outside of it stand for its begin and end.
type span struct {
	from, to time.Time
	slack    time.Duration
}

func (s span) holds(begin, end time.Time) bool {
	return !begin.Before(s.from.Add(-s.slack)) && !end.After(s.to.Add(s.slack))
}

func (s *Sampler) warnings() []result.Warning {
	var all []result.Warning
	add := func(text string) {
		all = append(all, result.Warning{Code: "observe", Severity: result.Note, Text: "not observed: " + text})
	}
	if s.broken != nil {
		add(s.broken.Error())
	}
	for _, p := range s.problems {
		add(p)
	}
	return all
}

// sample is the diff as the columns of vmstat.
func (d diff) sample(from time.Time) result.HostSample {
	h := result.HostSample{
		TNS:                 int64(d.to.Sub(from)),
		RunQueue:            d.gauge("runnable"),
		Blocked:             d.gauge("blocked"),
		FreeBytes:           d.gauge("mem/free"),
		AvailableBytes:      d.gauge("mem/available"),
		BufferBytes:         d.gauge("mem/buffers"),
		CacheBytes:          d.gauge("mem/cached"),
		SwapInPerS:          d.rate("vm/pswpin", 1),
		SwapOutPerS:         d.rate("vm/pswpout", 1),
		BlockInPerS:         d.rate("vm/pgpgin", 1024), // it counts KiB
		BlockOutPerS:        d.rate("vm/pgpgout", 1024),
		InterruptsPerS:      d.rate("interrupts", 1),
		ContextSwitchesPerS: d.rate("switches", 1),
		CPUPressure:         d.share("psi/cpu"),
		MemoryPressure:      d.share("psi/memory"),
		IOPressure:          d.share("psi/io"),
	}
	h.UserShare, h.SystemShare, h.IdleShare = d.cpu("user"), d.cpu("system"), d.cpu("idle")
	h.IOWaitShare, h.StealShare = d.cpu("iowait"), d.cpu("steal")
	if total, free := d.gauge("swap/total"), d.gauge("swap/free"); total != nil && free != nil {
		h.SwapUsedBytes = new(*total - *free)
	}
	if v, ok := d.sum("net/in/"); ok {
		h.NetInPerS = new(v / d.seconds)
	}
	if v, ok := d.sum("net/out/"); ok {
		h.NetOutPerS = new(v / d.seconds)
	}
	if _, v, ok := busiest([]diff{d}, "disk/busy/"); ok {
		h.DiskBusyShare = new(min(v/d.seconds, 1))
	}
	return h
}

// share is the share of the time; two clocks may make it a little more than all.
func (d diff) share(key string) *float64 {
	v := d.rate(key, 1)
	if v != nil {
		*v = min(*v, 1)
	}
	return v
}

// cpu is the share of one kind of CPU time in all that passed.
func (d diff) cpu(kind string) *float64 {
	v, ok := d.counters["cpu/"+kind]
	total, _ := d.sum("cpu/")
	if !ok || total == 0 {
		return nil
	}
	return new(v / total)
}

// process cuts a tree's series to a stage.
func (t *tree) process(in span) (p result.Process, backwards int64) {
	p = result.Process{Name: t.name, PID: t.pid, Series: []result.ProcessSample{}}
	var cores, seconds float64
	for _, q := range t.points {
		if !in.holds(q.from, q.to) {
			continue
		}
		d := q.to.Sub(q.from).Seconds()
		cores, seconds = cores+q.cpu*d, seconds+d
		p.CPUMaxShare = greater(p.CPUMaxShare, q.cpu)
		p.RSSMaxBytes = greater(p.RSSMaxBytes, q.rss)
		p.Series = append(p.Series, result.ProcessSample{
			TNS: int64(q.to.Sub(in.from)), CPUShare: new(q.cpu), RSSBytes: new(q.rss), Threads: new(q.threads), FDs: q.fds,
		})
		backwards += q.backwards
	}
	if seconds > 0 {
		p.CPUShare = new(cores / seconds)
	}
	switch {
	case t.end.IsZero():
		p.Note = t.note
	case t.end.After(in.to.Add(in.slack)): // after the stage
	case t.end.Before(in.from):
		p.Note = t.note + " before this stage"
	default:
		p.Note = fmt.Sprintf("%s, seen %v after the stage began", t.note, t.end.Sub(in.from).Round(10*time.Millisecond))
	}
	return p, backwards
}

func greater[T int64 | float64](old *T, v T) *T {
	if old != nil && *old >= v {
		return old
	}
	return &v
}
