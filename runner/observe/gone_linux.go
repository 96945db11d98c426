package observe

import (
	"errors"

	"golang.org/x/sys/unix"
)

// gone tells the error of reading a file of a process that has just ended.
func gone(err error) bool { return errors.Is(err, unix.ESRCH) }
