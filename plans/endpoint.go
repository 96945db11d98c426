package plans

import (
	"fmt"
	"io/fs"
	"os"
)

// Endpoint is where connections for one of the target's URLs go: the network ("tcp" or "unix") and its address there.
func (t *Target) Endpoint(u URL) (network, address string) {
	if t.Unix != "" {
		return "unix", t.Unix
	}
	return "tcp", u.Address()
}

// maxSocketPath is how many bytes the path of a Unix socket has at most on all systems (macOS has the fewest).
const maxSocketPath = 103

// unixSocket reads the Unix socket of a target.
func (l *loader) unixSocket(t *Target, it *item) {
	n := it.get("unix")
	if n == nil {
		return
	}
	t.Unix = l.path(n)
	info, err := os.Stat(t.Unix)
	switch {
	case len(t.URLs) > 1:
		l.fault(n.fault("one socket for several URLs", fmt.Sprintf("%d URLs", len(t.URLs)), "one", "make a target of each"))
	case len(t.Unix) > maxSocketPath:
		l.fault(n.fault("path of the socket is too long", fmt.Sprintf("%d bytes in %s", len(t.Unix), quote(t.Unix)), fmt.Sprintf("at most %d", maxSocketPath), "put it into a shorter folder"))
	case err == nil && info.Mode()&fs.ModeSocket == 0:
		what := "a file, not a socket"
		if info.IsDir() {
			what = "a folder, not a socket"
		}
		l.fault(n.fault(what, quote(t.Unix), "", ""))
	}
}
