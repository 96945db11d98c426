package plans

import (
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"slices"
	"strconv"
	"strings"
)

// Endpoint is where connections for one of the target's URLs go: the network ("tcp" or "unix") and its address there.
func (t *Target) Endpoint(u URL) (network, address string) {
	if t.Unix != "" {
		return "unix", t.Unix
	}
	return "tcp", t.Peer(u).Address()
}

// Peer is the host and port that TCP connections for one of the target's URLs go to.
func (t *Target) Peer(u URL) URL {
	if t.To != nil {
		return *t.To
	}
	return URL{Host: u.Host, Port: u.Port}
}

// dns reads how the names of a target are looked up.
func (l *loader) dns(t *Target, it *item) {
	n := it.get("dns")
	if n == nil {
		return
	}
	t.Refresh = n.get("refresh").duration()
	named := func(u URL) bool {
		_, err := netip.ParseAddr(t.Peer(u).Host)
		return err != nil
	}
	if len(t.URLs) > 0 && (t.Unix != "" || !slices.ContainsFunc(t.URLs, named)) {
		l.fault(n.fault("dns without a name to look up", "", "", "it has no effect"))
	}
}

// connectTo reads the address that connections go to instead of that of the URL.
func (l *loader) connectTo(t *Target, it *item) {
	n := it.get("connect_to")
	if n == nil {
		return
	}
	fault := func(what, got, want, hint string) { l.fault(n.fault(what, got, want, hint)) }
	text := n.value()
	host, port, bad := splitAuthority("http", text)
	switch scheme, rest, ok := strings.Cut(text, "://"); {
	case it.has("unix"):
		fault("two places to connect to", "connect_to and unix", "one of them", "")
	case len(t.URLs) > 1:
		fault("one address for several URLs", fmt.Sprintf("%d URLs", len(t.URLs)), "one", "make a target of each")
	case ok && (scheme == "http" || scheme == "https"):
		fault("a URL, not an address", n.quoted(), n.shape.noun, "write "+strings.TrimRight(rest, "/"))
	case bad != nil:
		hint := strings.TrimPrefix(bad.hint, "write http://")
		if hint != bad.hint {
			hint = "write " + hint
		}
		fault(bad.what, n.quoted(), n.shape.noun, hint)
	case !strings.HasSuffix(text, ":"+strconv.Itoa(port)) || text == "["+host+"]":
		hint := ""
		if len(t.URLs) == 1 {
			hint = "write " + net.JoinHostPort(host, strconv.Itoa(t.URLs[0].Port))
		}
		fault("address without a port", n.quoted(), n.shape.noun, hint)
	default:
		t.To = &URL{Host: host, Port: port}
	}
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
