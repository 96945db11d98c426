//go:build unix

package observe

import (
	"math"

	"golang.org/x/sys/unix"
)

// kernel is the release of the running kernel.
func kernel() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Release[:])
}

// fdLimit is the soft limit of open descriptors; 0 when it is not known.
func fdLimit() int64 {
	var r unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &r) != nil {
		return 0
	}
	return int64(min(uint64(r.Cur), math.MaxInt64))
}
