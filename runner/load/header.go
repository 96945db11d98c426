package load

import (
	"bytes"
	"errors"
	"fmt"
)

// statusLine reads "HTTP/1.1 200 OK". The reason may be missing, with the space before it.
func (r *response) statusLine(text []byte) error {
	const version = "HTTP/1."
	if len(text) < len(version)+1 || string(text[:len(version)]) != version || !isDigit(text[len(version)]) {
		if isHTTP(text) && len(text) >= len("HTTP/") {
			return fmt.Errorf("not an HTTP/1.x response: %q", clip(text))
		}
		return notHTTP(text)
	}
	r.minor = text[len(version)] - '0'
	rest := text[len(version)+1:]
	if len(rest) < 4 || rest[0] != ' ' || !isDigit(rest[1]) || !isDigit(rest[2]) || !isDigit(rest[3]) || len(rest) > 4 && rest[4] != ' ' {
		return fmt.Errorf("not a status line: %q", clip(text))
	}
	r.status = int(rest[1]-'0')*100 + int(rest[2]-'0')*10 + int(rest[3]-'0')
	if r.status < 100 {
		return fmt.Errorf("not a status code: %q", clip(rest[1:4]))
	}
	if hasBadControl(rest) {
		return errors.New("control character in the status line")
	}
	r.state, r.anyHeader, r.lastFramed = readHeaders, false, false
	return nil
}

// protocolBytes is how much of a status line tells whether it is one.
const protocolBytes = 8

// isHTTP tells whether a line begins as a status line does, as far as it has come.
func isHTTP(line []byte) bool {
	const protocol = "HTTP/"
	n := min(len(line), len(protocol))
	return string(line[:n]) == protocol[:n]
}

// notHTTP is the error of an answer that begins with line; it is the same
// however much of the line has come.
func notHTTP(line []byte) error {
	start := bytes.TrimRight(line[:min(len(line), protocolBytes)], "\r\n")
	hint := ""
	switch {
	case len(start) == 0:
		return fmt.Errorf("%w: it begins with an empty line", errNotHTTP)
	case len(start) > 1 && (start[0] == 0x15 || start[0] == 0x16) && start[1] == 3:
		hint = ": a TLS record" // an alert or a handshake message (RFC 8446, 5.1)
	case len(start) > 3 && start[0] == 0 && start[3] == 4:
		hint = ": an HTTP/2 frame" // SETTINGS, as a server's first is (RFC 9113, 3.4)
	}
	return fmt.Errorf("%w: it begins with %q%s", errNotHTTP, start, hint)
}

// hasBadControl tells whether there is a byte that must not be let pass as part
// of an element: a bare CR (RFC 9112, 2.2) or NUL (RFC 9110, 5.5).
func hasBadControl(text []byte) bool {
	return bytes.IndexByte(text, '\r') >= 0 || bytes.IndexByte(text, 0) >= 0
}

// field reads one header or trailer line.
func (r *response) field(text []byte) error {
	if text[0] == ' ' || text[0] == '\t' {
		// An obsolete folded line continues the one before (RFC 9112, 5.2). That is
		// no matter, unless the field decides how the response is read.
		if !r.anyHeader || r.lastFramed {
			return fmt.Errorf("folded header line: %q", clip(text))
		}
		if hasBadControl(text) {
			return errors.New("control character in a folded header line")
		}
		return nil
	}
	colon := bytes.IndexByte(text, ':')
	if colon < 1 {
		return fmt.Errorf("not a header line: %q", clip(text))
	}
	name, value := text[:colon], bytes.Trim(text[colon+1:], " \t")
	for _, c := range name {
		if !tokenByte[c] {
			return fmt.Errorf("not a header name: %q", clip(name))
		}
	}
	if hasBadControl(value) {
		return fmt.Errorf("control character in header %q", clip(name))
	}
	r.anyHeader, r.lastFramed = true, false
	if r.state == readTrailers {
		return nil // a trailer must not change the framing (RFC 9110, 6.5.1)
	}
	if len(r.wanted) > 0 {
		r.keep(name, value)
	}
	if r.cookies != nil && equalFold(name, "set-cookie") {
		*r.cookies = append(*r.cookies, string(value))
	}
	switch len(name) {
	case len("location"):
		if equalFold(name, "location") && len(r.location) == 0 {
			r.lastFramed = true
			r.location = append(r.location, value[:min(len(value), maxLocation)]...)
		}
	case len("connection"):
		if equalFold(name, "connection") {
			r.lastFramed = true
			r.connection(value)
		}
	case len("content-length"):
		if equalFold(name, "content-length") {
			r.lastFramed = true
			return r.contentLength(value)
		}
	case len("transfer-encoding"):
		if equalFold(name, "transfer-encoding") {
			r.lastFramed = true
			return r.transferEncoding(value)
		}
	}
	return nil
}

func (r *response) connection(value []byte) {
	for option := range bytes.SplitSeq(value, []byte(",")) {
		option = bytes.Trim(option, " \t")
		r.askedClose = r.askedClose || equalFold(option, "close")
		r.askedKeep = r.askedKeep || equalFold(option, "keep-alive")
	}
}

// contentLength reads "5"; also "5, 5", which a proxy may make of two equal lines.
func (r *response) contentLength(value []byte) error {
	for item := range bytes.SplitSeq(value, []byte(",")) {
		item = bytes.Trim(item, " \t")
		var n int64
		for _, c := range item {
			if !isDigit(c) {
				return fmt.Errorf("not a Content-Length: %q", clip(value))
			}
			if n > maxContentBytes/10 {
				return fmt.Errorf("Content-Length too large: %q", clip(value))
			}
			n = n*10 + int64(c-'0')
		}
		switch {
		case len(item) == 0:
			return fmt.Errorf("not a Content-Length: %q", clip(value))
		case r.sized && r.length != n:
			return fmt.Errorf("two values of Content-Length: %d and %d", r.length, n)
		}
		r.sized, r.length = true, n
	}
	return nil
}

// transferEncoding reads the list of codings, which may stretch over several
// lines. Only chunked as the last one frames the body; other last codings end
// with the connection (RFC 9112, 6.3).
func (r *response) transferEncoding(value []byte) error {
	r.coded = true
	for coding := range bytes.SplitSeq(value, []byte(",")) {
		coding = bytes.Trim(coding, " \t")
		if len(coding) == 0 {
			continue
		}
		if r.chunked {
			return fmt.Errorf("transfer coding after chunked: %q", clip(coding))
		}
		name, _, parameters := bytes.Cut(coding, []byte(";"))
		name = bytes.TrimRight(name, " \t")
		for _, c := range name {
			if !tokenByte[c] {
				return fmt.Errorf("not a transfer coding: %q", clip(coding))
			}
		}
		r.chunked = equalFold(name, "chunked")
		if len(name) == 0 || r.chunked && parameters { // RFC 9112, 7.1: chunked has none
			return fmt.Errorf("not a transfer coding: %q", clip(coding))
		}
	}
	return nil
}

// equalFold compares ASCII text; lower is in lower case.
func equalFold(text []byte, lower string) bool {
	if len(text) != len(lower) {
		return false
	}
	for i, c := range text {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}

// clip bounds text from the network that goes into a message.
func clip(text []byte) []byte { return text[:min(len(text), 60)] }

// tokenByte holds the characters of a field name (RFC 9110, 5.6.2).
var tokenByte = func() (t [256]bool) {
	for _, c := range "!#$%&'*+-.^_`|~0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz" {
		t[c] = true
	}
	return t
}()
