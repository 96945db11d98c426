package process

import (
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// A Sweeper ends the descendants of this process that no Process knows: one that left its session, its parent and its
// environment is told from a stranger only by having become our child. It is for programs whose descendants all come
// from Start, so not for a library.
type Sweeper struct {
	spared map[identity]bool
}

// NewSweeper returns a Sweeper that spares the descendants that there are now, and theirs: a shell that execs a program
// hands its own children down.
func NewSweeper() *Sweeper {
	s := &Sweeper{spared: map[identity]bool{}}
	for _, d := range s.descendants(processTable()) {
		s.spared[d.identity] = true
	}
	return s
}

// Sweep sends SIGKILL to every descendant of this process until two looks at the process table find none, and reaps
// those that are our children. A Process that is not stopped yet may lose its exit status. An error says that some
// could not be killed in time.
func (s *Sweeper) Sweep() error {
	deadline := time.Now().Add(killWait)
	for empty := 0; empty < 2; time.Sleep(5 * time.Millisecond) {
		var left []identity
		for _, d := range s.descendants(processTable()) {
			if !d.zombie {
				left = append(left, d.identity)
			} else if d.ppid == os.Getpid() {
				_, _ = unix.Wait4(d.pid, nil, unix.WNOHANG, nil)
			}
		}
		if len(left) == 0 {
			empty++
			continue
		}
		empty = 0
		if time.Now().After(deadline) {
			return fmt.Errorf("%d processes that the commands left behind cannot be killed, the first is %d", len(left), left[0].pid)
		}
		for _, id := range left {
			kill(id, unix.SIGKILL)
		}
	}
	return nil
}

// descendants picks those of this process out of the process table, but not what is spared.
func (s *Sweeper) descendants(table map[int]stat) []stat {
	children := map[int][]stat{}
	for _, p := range table {
		children[p.ppid] = append(children[p.ppid], p)
	}
	var found []stat
	seen := map[int]bool{os.Getpid(): true} // the table is no snapshot, so it may hold a circle
	for queue := children[os.Getpid()]; len(queue) > 0; queue = queue[1:] {
		p := queue[0]
		if seen[p.pid] || s.spared[p.identity] {
			continue
		}
		seen[p.pid] = true
		found = append(found, p)
		queue = append(queue, children[p.pid]...)
	}
	return found
}
