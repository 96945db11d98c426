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

// An Endpoint is where connections for one of the target's URLs go.
type Endpoint struct {
	URL     URL
	Network string // "tcp" or "unix"
	Address string // host:port, or the absolute path of a socket
}

// Elsewhere tells whether that is not the URL's own host and port.
func (e Endpoint) Elsewhere() bool { return e.Network != "tcp" || e.Address != e.URL.Address() }

// Endpoints are those of all URLs, in the plan's order. Names stay names.
func (t *Target) Endpoints() (all []Endpoint) {
	for _, u := range t.URLs {
		if t.Unix != "" {
			all = append(all, Endpoint{u, "unix", t.Unix})
			continue
		}
		for _, peer := range t.Peers(u) {
			all = append(all, Endpoint{u, "tcp", peer.Address()})
		}
	}
	return all
}

// Peers are the hosts and ports that TCP connections for one of the target's URLs go to.
func (t *Target) Peers(u URL) []URL {
	if t.To != nil {
		return t.To
	}
	return []URL{{Host: u.Host, Port: u.Port}}
}

// dns reads how the names of a target are looked up.
func (l *loader) dns(t *Target, it *item) {
	n := it.get("dns")
	if n == nil {
		return
	}
	t.Refresh = n.get("refresh").duration()
	named := func(u URL) bool {
		_, err := netip.ParseAddr(u.Host)
		return err != nil
	}
	someNamed := func(u URL) bool { return slices.ContainsFunc(t.Peers(u), named) }
	if len(t.URLs) > 0 && (t.Unix != "" || !slices.ContainsFunc(t.URLs, someNamed)) {
		l.fault(n.fault("dns without a name to look up", "", "", "it has no effect"))
	}
}

// connectTo reads the addresses that connections go to instead of that of the URL.
func (l *loader) connectTo(t *Target, it *item) {
	n := it.get("connect_to")
	switch {
	case n == nil:
		return
	case it.has("unix"):
		l.fault(n.fault("two places to connect to", "connect_to and unix", "one of them", ""))
		return
	case len(t.URLs) > 1:
		l.fault(n.fault("another address for several URLs", fmt.Sprintf("%d URLs", len(t.URLs)), "one", "make a target of each"))
		return
	}
	for _, e := range n.all() {
		l.peer(t, e)
	}
}

// peer reads one address to connect to.
func (l *loader) peer(t *Target, it *item) {
	const want = "an address like 10.0.0.7:8080"
	fault := func(what, hint string) { l.fault(it.fault(what, it.quoted(), want, hint)) }
	text := it.value()
	host, port, bad := splitAuthority("http", text)
	switch scheme, rest, ok := strings.Cut(text, "://"); {
	case ok && (scheme == "http" || scheme == "https"):
		fault("a URL, not an address", "write "+strings.TrimRight(rest, "/"))
	case bad != nil:
		hint := strings.TrimPrefix(bad.hint, "write http://")
		if hint != bad.hint {
			hint = "write " + hint
		}
		fault(bad.what, hint)
	case !strings.HasSuffix(text, ":"+strconv.Itoa(port)) || text == "["+host+"]":
		hint := ""
		if len(t.URLs) == 1 {
			hint = "write " + net.JoinHostPort(host, strconv.Itoa(t.URLs[0].Port))
		}
		fault("address without a port", hint)
	case slices.Contains(t.To, URL{Host: host, Port: port}):
		l.fault(it.fault("address is listed twice", it.quoted(), "", ""))
	default:
		t.To = append(t.To, URL{Host: host, Port: port})
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
