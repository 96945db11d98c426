//go:build !linux

package process

import "os"

// An identity is a process; without a start time it is only safe until the child is reaped.
type identity struct{ pid int }

func identify(pid int) identity { return identity{pid} }

// awaitExit leaves the wait to the caller.
func awaitExit(int) {}

func exitText(s *os.ProcessState) string { return s.String() }

func (p *Process) members() []identity { return p.alone() }
