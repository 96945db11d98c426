package plans

import (
	"fmt"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
)

// An addressFault says why a text is no target address.
type addressFault struct{ what, hint string }

func (f *addressFault) Error() string { return f.what }

// parseURL reads the base address of a target.
func parseURL(text string) (URL, *addressFault) {
	scheme, rest, ok := strings.Cut(text, "://")
	switch {
	case text != strings.TrimSpace(text):
		return URL{}, &addressFault{"blank around the address", "write " + strings.TrimSpace(text)}
	case strings.ContainsAny(text, " \t\r\n"):
		return URL{}, &addressFault{"blank in the address", ""}
	case strings.HasPrefix(text, "unix:") || strings.HasPrefix(text, "http+unix:"):
		return URL{}, &addressFault{"a Unix socket in the address", "write url: http://localhost, and its path under unix"}
	case !ok:
		if host, fault := parseURL("http://" + strings.TrimPrefix(text, "//")); fault == nil && host.Host != "" {
			return URL{}, &addressFault{"address without http:// or https://", "write http://" + strings.TrimPrefix(text, "//")}
		}
		return URL{}, &addressFault{"address without http:// or https://", ""}
	}
	scheme = strings.ToLower(scheme)
	if scheme != "http" && scheme != "https" {
		return URL{}, &addressFault{"neither http nor https", ""}
	}
	authority, path := rest, ""
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		authority, path = rest[:i], rest[i:]
	}
	if strings.Contains(authority, "@") {
		return URL{}, &addressFault{"user name or password in the address", "send an authorization header instead"}
	}
	if strings.ContainsAny(path, "?#") {
		return URL{}, &addressFault{"query or fragment in the address", "put it into the path of the request"}
	}
	host, port, fault := splitAuthority(scheme, authority)
	if fault != nil {
		return URL{}, fault
	}
	path, what := encodeTarget(path, new(bool))
	if what != "" {
		return URL{}, &addressFault{what, ""}
	}
	return URL{Scheme: scheme, Host: host, Port: port, Path: strings.TrimRight(path, "/")}, nil
}

var (
	hostName  = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*\.?$`)
	digitHost = regexp.MustCompile(`^[0-9.]+$`)
)

// splitAuthority reads HOST, HOST:PORT, [IPv6] or [IPv6]:PORT.
func splitAuthority(scheme, authority string) (string, int, *addressFault) {
	host, port := authority, ""
	if strings.HasPrefix(authority, "[") {
		inside, after, ok := strings.Cut(authority[1:], "]")
		if !ok || after != "" && after[0] != ':' {
			return "", 0, &addressFault{"bracket is not closed", ""}
		}
		if ip, err := netip.ParseAddr(inside); err != nil || !ip.Is6() || ip.Zone() != "" {
			return "", 0, &addressFault{"not an IPv6 address in brackets", ""}
		}
		host, port = inside, after
	} else if strings.Count(authority, ":") > 1 {
		hint := ""
		if ip, err := netip.ParseAddr(authority); err == nil {
			hint = fmt.Sprintf("write %s://[%s]", scheme, ip)
		}
		i := strings.LastIndexByte(authority, ':')
		if ip, err := netip.ParseAddr(authority[:i]); err == nil {
			hint = fmt.Sprintf("write %s://[%s]:%s", scheme, ip, authority[i+1:])
		}
		return "", 0, &addressFault{"IPv6 address without brackets", hint}
	} else if i := strings.IndexByte(authority, ':'); i >= 0 {
		host, port = authority[:i], authority[i:]
	}
	number := map[string]int{"http": 80, "https": 443}[scheme]
	if port != "" {
		n, err := strconv.Atoi(port[1:])
		if err != nil || n < 1 || n > 65535 || !wholeNumber.MatchString(port[1:]) {
			return "", 0, &addressFault{"port is not a number from 1 to 65535", ""}
		}
		number = n
	}
	host = strings.ToLower(host)
	switch _, err := netip.ParseAddr(host); {
	case host == "":
		return "", 0, &addressFault{"address without a host", ""}
	case strings.Contains(host, ":"):
	case digitHost.MatchString(host) && err != nil:
		return "", 0, &addressFault{"not an IPv4 address", ""}
	case !hostName.MatchString(host) || len(host) > 253:
		return "", 0, &addressFault{"not a host name", ""}
	}
	return host, number, nil
}

// Address is the URL's host:port, an IPv6 address in brackets.
func (u URL) Address() string { return net.JoinHostPort(u.Host, strconv.Itoa(u.Port)) }

// String is the URL as it can be written into a plan.
func (u URL) String() string { return u.Scheme + "://" + u.Address() + u.Path }

// Bytes that RFC 3986 section 3.3 and 3.4 allow in a path, besides letters, digits and percent-encoded ones.
const (
	pathBytes  = "-._~!$&'()*+,;=:@/"
	queryBytes = pathBytes + "?"
)

// encodeTarget encodes once what may not stand in a request target and keeps all else byte for byte. inQuery says
// whether the query has begun, and is updated. what is "" when the text is good; a fragment ends it.
func encodeTarget(text string, inQuery *bool) (encoded, what string) {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		c := text[i]
		allowed := pathBytes
		if *inQuery {
			allowed = queryBytes
		}
		switch {
		case c < ' ' || c == 0x7f:
			return "", "control character in the path"
		case c == '?' && !*inQuery:
			*inQuery = true
			b.WriteByte(c)
		case c == '%':
			if i+2 >= len(text) || !isHex(text[i+1]) || !isHex(text[i+2]) {
				return "", "% without two hex digits"
			}
			b.WriteByte(c)
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte(allowed, c) >= 0:
			b.WriteByte(c)
		default:
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String(), ""
}

// encodeValue encodes a value that stands in a path or a query: all but letters, digits and -._~ (RFC 3986
// section 2.3), so that it can neither end a segment nor begin a parameter.
func encodeValue(text string) string {
	var b strings.Builder
	for i := range len(text) {
		c := text[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.IndexByte("-._~", c) >= 0 {
			b.WriteByte(c)
			continue
		}
		fmt.Fprintf(&b, "%%%02X", c)
	}
	return b.String()
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}
