package main

import (
	"fmt"
	"os"
	"runtime"

	"golang.org/x/sys/unix"
)

// newNetns makes a network namespace with a loopback that is up.
func newNetns() (*os.File, error) { return inNetns(nil, nil) }

// inNetns calls do on a thread within the namespace, or within a new one, which
// it returns.
func inNetns(ns *os.File, do func() error) (*os.File, error) {
	failed := make(chan error)
	go func() {
		runtime.LockOSThread() // and never unlocked: the thread ends with its namespace
		failed <- func() (err error) {
			if ns == nil {
				ns, err = unshared()
			} else {
				err = os.NewSyscallError("setns", unix.Setns(int(ns.Fd()), unix.CLONE_NEWNET))
			}
			if err == nil && do != nil {
				err = do()
			}
			return err
		}()
	}()
	if err := <-failed; err != nil {
		return nil, err
	}
	return ns, nil
}

// unshared gives the calling thread a namespace of its own.
func unshared() (*os.File, error) {
	if err := unix.Unshare(unix.CLONE_NEWNET); err != nil {
		return nil, os.NewSyscallError("unshare", err)
	}
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return nil, os.NewSyscallError("socket", err)
	}
	defer unix.Close(fd)
	lo, err := unix.NewIfreq("lo")
	if err == nil {
		lo.SetUint16(unix.IFF_UP)
		err = unix.IoctlIfreq(fd, unix.SIOCSIFFLAGS, lo)
	}
	if err != nil {
		return nil, fmt.Errorf("bring the loopback up: %w", err)
	}
	return os.Open("/proc/thread-self/ns/net")
}

// sysctl sets net.ipv4 values of the rig's namespace.
func (r *rig) sysctl(values map[string]string) error {
	_, err := inNetns(r.netns, func() error {
		for name, value := range values {
			if err := os.WriteFile("/proc/sys/net/ipv4/"+name, []byte(value), 0); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}
