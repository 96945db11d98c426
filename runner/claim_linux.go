package runner

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"net"
	"syscall"
)

// claim keeps other runs of perfplan off an address until it is closed, or the process ends in whatever way: two runs
// that start their targets at the same moment both find the address free, and one would measure the other's. The claim is an
// abstract Unix socket, which belongs to the network namespace as the address does.
func claim(address string) (io.Closer, error) {
	sum := sha256.Sum256([]byte(address))
	l, err := net.Listen("unix", "@perfplan-target-"+hex.EncodeToString(sum[:16]))
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, errClaimed
	}
	if err != nil {
		return nil, nil // no abstract sockets here: go on without
	}
	return l, nil
}
