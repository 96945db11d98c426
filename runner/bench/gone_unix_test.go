//go:build unix

package bench

import (
	"errors"
	"strconv"
	"syscall"
	"testing"
)

// checkGone fails the test when a process of the group is left.
func checkGone(t *testing.T, group string) {
	t.Helper()
	pid, err := strconv.Atoi(group)
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-pid, 0); !errors.Is(err, syscall.ESRCH) {
		t.Errorf("processes of group %d are left: %v", pid, err)
	}
}
