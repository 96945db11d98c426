package observe

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/prometheus/procfs"
)

// ticksPerS is the unit of CPU times in /proc/<pid>/stat: USER_HZ, 100 on every Linux that Go runs on.
const ticksPerS = 100

// selfName is the name of perfplan's own series.
const selfName = "perfplan"

// An entry is what is known of a process that is in no tree, or not yet.
type entry struct {
	ppid  int
	start uint64
}

// A tree is the series of one process tree.
type tree struct {
	name    string
	pid     int
	alone   bool // descendants belong to others
	start   uint64
	members map[int]member
	owed    float64 // see consumed
	points  []point
	last    time.Time // of the last reading, zero before the first
	end     time.Time // zero while it runs
	note    string    // how it ended, or why it cannot be read
}

// A member is a process as it was at the last reading. Times are in ticks.
type member struct {
	start    uint64
	own      float64 // user and system time
	children float64 // the same of the children that ended and were waited for
}

// A point is one interval of a tree.
type point struct {
	from, to  time.Time
	cpu       float64 // cores
	rss       int64
	threads   int64
	fds       *int64
	backwards int64
}

// readTrees takes a point of every tree.
func (s *Sampler) readTrees(at time.Time) {
	if s.trees == nil {
		s.trees = []*tree{{name: selfName, pid: s.self(), alone: true}}
		s.table = map[int]entry{}
	}
	if s.cfg.Processes != nil {
		for _, want := range s.cfg.Processes() {
			known := func(t *tree) bool { return t.name == want.Name && t.pid == want.PID }
			if !slices.ContainsFunc(s.trees, known) {
				s.trees = append(s.trees, &tree{name: want.Name, pid: want.PID})
			}
		}
	}
	if len(s.trees) > 1 {
		s.refresh()
	}
	for _, t := range s.trees {
		if t.end.IsZero() {
			s.readTree(t, at)
		}
	}
}

// self is our own pid as this procfs has it.
func (s *Sampler) self() int {
	if p, err := s.proc.Self(); err == nil {
		return p.PID
	}
	return os.Getpid()
}

// refresh brings the table of processes up to date. Only those that are new are read: a parent changes when the
// old one ends, and then to a process outside of the tree.
func (s *Sampler) refresh() {
	procs, err := s.proc.AllProcs()
	if err != nil {
		s.problem(err)
		return
	}
	table := make(map[int]entry, len(procs))
	for _, p := range procs {
		if e, ok := s.table[p.PID]; ok {
			table[p.PID] = e
		} else if st, err := p.Stat(); err == nil {
			table[p.PID] = entry{st.PPID, st.Starttime}
		}
	}
	s.table = table
}

// candidates are the pids that may belong to the tree.
func (s *Sampler) candidates(t *tree) []int {
	found := map[int]bool{t.pid: true}
	if t.alone {
		return []int{t.pid}
	}
	children := map[int][]int{}
	for pid, e := range s.table {
		children[e.ppid] = append(children[e.ppid], pid)
	}
	for pid := range t.members {
		found[pid] = true
	}
	for queue := slices.Collect(maps.Keys(found)); len(queue) > 0; queue = queue[1:] {
		for _, child := range children[queue[0]] {
			if !found[child] {
				found[child] = true
				queue = append(queue, child)
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// readTree takes one point, or ends the series when its first process is no longer there.
func (s *Sampler) readTree(t *tree, at time.Time) {
	root, err := s.stat(t.pid)
	if note := t.over(root, err); note != "" {
		t.end, t.note = at, note
		return
	}
	if err != nil {
		s.problem(err)
		t.note = fmt.Sprintf("process %d cannot be read", t.pid)
		return
	}
	t.start, t.note = root.Starttime, ""
	now := map[int]member{}
	p := point{from: t.last, to: at}
	pids := s.candidates(t)
	p.fds = new(int64)
	for _, pid := range pids {
		st, err := s.stat(pid)
		if err != nil {
			continue
		}
		s.table[pid] = entry{st.PPID, st.Starttime}
		was, seen := t.members[pid]
		_, found := slices.BinarySearch(pids, st.PPID)
		if seen && was.start != st.Starttime || !seen && pid != t.pid && !found {
			continue // another process with the pid of one that ended
		}
		now[pid] = member{st.Starttime, float64(st.UTime + st.STime), float64(st.CUTime + st.CSTime)}
		if st.State == "Z" { // of a zombie only its times are left
			continue
		}
		p.rss += int64(st.ResidentMemory())
		p.threads += int64(st.NumThreads)
		p.fds = s.addFDs(p.fds, pid)
	}
	if !t.last.IsZero() {
		var ticks float64
		ticks, p.backwards = t.consumed(now)
		p.cpu = ticks / ticksPerS / at.Sub(t.last).Seconds()
		t.points = append(t.points, p)
	}
	t.members, t.last = now, at
}

// over says how the series ends, "" if it does not.
func (t *tree) over(root procfs.ProcStat, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist) && t.last.IsZero():
		return fmt.Sprintf("process %d was not there when sampling began", t.pid)
	case errors.Is(err, fs.ErrNotExist), err == nil && (root.State == "Z" || root.State == "X"):
		return fmt.Sprintf("process %d ended", t.pid)
	case err == nil && !t.last.IsZero() && root.Starttime != t.start:
		return fmt.Sprintf("process %d ended and its pid was given to another", t.pid)
	}
	return ""
}

// stat reads a process. One that ends meanwhile is as good as not there.
func (s *Sampler) stat(pid int) (procfs.ProcStat, error) {
	p, err := s.proc.Proc(pid)
	if err != nil {
		return procfs.ProcStat{}, err
	}
	st, err := p.Stat()
	if err != nil && gone(err) {
		err = fs.ErrNotExist
	}
	return st, err
}

// addFDs adds the open descriptors of a process; once those of one are not readable the sum is nil, not known.
func (s *Sampler) addFDs(sum *int64, pid int) *int64 {
	if sum == nil {
		return nil
	}
	var n int
	p, err := s.proc.Proc(pid)
	if err == nil {
		n, err = p.FileDescriptorsLen()
	}
	switch {
	case errors.Is(err, fs.ErrNotExist) || err != nil && gone(err): // just ended
	case err != nil:
		s.problem(err)
		return nil
	}
	*sum += int64(n)
	return sum
}

// consumed is the CPU time of the tree since the last reading, in ticks. What a process used is handed to its parent
// when it has ended and was waited for; that counts as far as it exceeds what was counted while the process ran. A
// parent may have been read just before it was handed something, so that what is still owed goes into one more reading.
func (t *tree) consumed(now map[int]member) (ticks float64, backwards int64) {
	var handed, counted float64
	for pid, n := range now {
		b, ok := t.members[pid]
		if !ok {
			ticks += n.own + n.children
			continue
		}
		if n.own >= b.own {
			ticks += n.own - b.own
		} else {
			backwards++
		}
		if n.children >= b.children {
			handed += n.children - b.children
		} else {
			backwards++
		}
	}
	if t.alone {
		return ticks, backwards
	}
	for pid, b := range t.members {
		if _, ok := now[pid]; !ok {
			counted += b.own + b.children
		}
	}
	ticks += max(0, handed-counted-t.owed)
	t.owed = max(0, counted-handed)
	return ticks, backwards
}
