//go:build unix && !linux

package process

import (
	"os/exec"
	"syscall"
	"time"
)

// prepare makes the child lead its own group.
func prepare(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }

// end carries out Stop for the process group.
func (p *Process) end(grace time.Duration) error {
	_ = syscall.Kill(-p.PID(), syscall.SIGTERM)
	select {
	case <-p.done:
	case <-time.After(grace):
	}
	_ = syscall.Kill(-p.PID(), syscall.SIGKILL)
	<-p.done
	return nil
}
