package load

import (
	"bytes"
	"errors"
	"fmt"
)

// Bounds of what a response may be made of besides its body.
const (
	maxHeadBytes    = 256 << 10 // of all heads of one response, interim ones and trailers too
	maxChunkLine    = 4 << 10   // a chunk size with its extensions
	maxKeptBody     = 16 << 20  // bytes of a body kept for a check
	spareBody       = 1 << 20   // bytes of memory for a body kept for the next one
	maxLocation     = 8 << 10
	maxContentBytes = 1 << 62
)

type responseState uint8

const (
	readStatus responseState = iota
	readHeaders
	readSized      // a body of known length
	readChunkSize  // a chunk's size line
	readChunk      // a chunk's bytes
	readChunkEnd   // the CRLF behind a chunk's bytes
	readTrailers   // the fields behind the last chunk
	readUntilClose // a body that ends with the connection
	readDone
)

// A response reads one HTTP/1.1 response (RFC 9112) from bytes as they come,
// whatever pieces they come in. It never reads ahead: feed says how many bytes
// belong to the response. A response that breaks the protocol is an error with
// a text for people. The zero value needs a reset.
type response struct {
	status     int
	interims   int  // 1xx responses before the final one
	continued  bool // one of them was 100
	keepAlive  bool // the connection may carry another request
	tooLarge   bool // the body was longer than what is kept
	bodyBytes  int64
	body       []byte // with keepBody, at most maxKeptBody bytes
	location   []byte // the Location field, empty for none
	keepBody   bool
	headMethod bool // the request was HEAD

	state     responseState
	line      []byte // start of a line whose end has not come yet
	headBytes int
	left      int64 // bytes to come of a sized body or a chunk

	minor      byte // HTTP/1.minor
	sized      bool // Content-Length was given
	length     int64
	coded      bool // Transfer-Encoding was given
	chunked    bool // and its last coding is chunked
	askedClose bool
	askedKeep  bool
	lastFramed bool // the last header line matters here, so it must not be folded
	anyHeader  bool // a header line has been read in this head

	known *knownHead // may be nil

	cookies *[]string // gets the Set-Cookie fields; nil: nobody wants them

	wanted []string     // fields to keep, in lower case; nil: none
	fields []fieldValue // their values, as wanted
}

// A fieldValue is what a header field says: the first of that name.
type fieldValue struct {
	there bool
	text  []byte
}

// want keeps fields of the answer, whose head is then read in any case.
func (r *response) want(names []string) {
	r.wanted = names
	for len(r.fields) < len(names) {
		r.fields = append(r.fields, fieldValue{})
	}
	r.forget()
}

// forget takes the values of an interim or earlier answer away.
func (r *response) forget() {
	for i := range r.fields {
		r.fields[i].there, r.fields[i].text = false, r.fields[i].text[:0]
	}
}

// keep keeps a field that is wanted.
func (r *response) keep(name, value []byte) {
	for i, w := range r.wanted {
		if f := &r.fields[i]; !f.there && equalFold(name, w) {
			f.there, f.text = true, append(f.text, value...)
		}
	}
}

// A knownHead is a response head and what reading it came to. Servers repeat
// theirs for as long as a Date is the same; to compare is quicker than to read.
type knownHead struct {
	text []byte
	read response // without memory of its own
}

// recall takes the head from the start of p if it is the known one, and returns
// how long it is.
func (r *response) recall(p []byte) int {
	k := r.known
	if k == nil || len(k.text) == 0 || len(p) < len(k.text) || r.headMethod != k.read.headMethod || !bytes.Equal(k.text, p[:len(k.text)]) {
		return 0
	}
	keepBody, line, body, location, fields := r.keepBody, r.line, r.body, r.location, r.fields
	*r = k.read
	r.known, r.keepBody, r.line, r.body, r.location, r.fields = k, keepBody, line, body, location, fields
	return len(k.text)
}

// remember makes text, just read, the known head.
func (r *response) remember(text []byte) {
	k := r.known
	k.text = append(k.text[:0], text...)
	k.read = *r
	k.read.known, k.read.line, k.read.body, k.read.location, k.read.fields = nil, nil, nil, nil, nil
}

// reset makes r ready for the answer to a request.
func (r *response) reset(head, keepBody bool) {
	if cap(r.body) > spareBody {
		r.body = nil
	}
	*r = response{headMethod: head, keepBody: keepBody, known: r.known, line: r.line[:0], body: r.body[:0], location: r.location[:0], fields: r.fields}
}

// begun tells whether anything of the final or an interim response has come.
func (r *response) begun() bool { return r.headBytes > 0 || len(r.line) > 0 }

// final tells whether the head of the final response is being or was read.
func (r *response) final() bool { return r.status >= 200 }

func (r *response) done() bool { return r.state == readDone }

// feed takes the next bytes from the connection and returns how many of them
// belong to the response: all of them unless it is done. After an error r
// must not be fed again.
func (r *response) feed(p []byte) (n int, err error) {
	if r.state == readStatus && !r.begun() && len(r.wanted) == 0 && r.cookies == nil {
		if n = r.recall(p); n == 0 && r.known != nil {
			if n, err = r.feedHead(p); err != nil {
				return n, err
			}
		}
	}
	for n < len(p) && r.state != readDone {
		var m int
		switch r.state {
		case readSized, readChunk:
			m = int(min(r.left, int64(len(p)-n)))
			r.take(p[n : n+m])
			r.left -= int64(m)
			switch {
			case r.left > 0:
			case r.state == readSized:
				r.state = readDone
			default:
				r.state = readChunkEnd
			}
		case readUntilClose:
			m = len(p) - n
			r.take(p[n:])
		default:
			m, err = r.feedLine(p[n:])
		}
		n += m
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// feedHead takes the head of a response from its first byte on, and remembers
// it if it is all there and in one piece.
func (r *response) feedHead(p []byte) (n int, err error) {
	for n < len(p) && (r.state == readStatus || r.state == readHeaders) {
		m, err := r.feedLine(p[n:])
		n += m
		if err != nil {
			return n, err
		}
	}
	if r.final() && r.interims == 0 && len(r.location) == 0 && r.state != readStatus && r.state != readHeaders {
		r.remember(p[:n])
	}
	return n, nil
}

// eof says that the peer ended the stream. It is an error unless that completes
// the response.
func (r *response) eof() error {
	switch r.state {
	case readDone:
		return nil
	case readUntilClose:
		r.state, r.keepAlive = readDone, false
		return nil
	case readStatus, readHeaders:
		switch {
		case !r.begun():
			return errNoAnswer
		case r.state == readStatus && len(r.line) > 0 && !isHTTP(r.line):
			return notHTTP(r.line)
		}
		return fmt.Errorf("%w within the response head, after %d bytes", errCutShort, r.headBytes+len(r.line))
	case readSized:
		return fmt.Errorf("%w after %d of %d body bytes", errCutShort, r.bodyBytes, r.length)
	default:
		return fmt.Errorf("%w within a chunked body, after %d bytes", errCutShort, r.bodyBytes)
	}
}

var (
	errNoAnswer = errors.New("connection closed without an answer")
	errCutShort = errors.New("connection closed")
	errNotHTTP  = errors.New("not an HTTP response")
)

func (r *response) take(p []byte) {
	r.bodyBytes += int64(len(p))
	if !r.keepBody {
		return
	}
	if room := maxKeptBody - len(r.body); len(p) > room {
		p, r.tooLarge = p[:room], true
	}
	r.body = append(r.body, p...)
}

// feedLine takes bytes up to the next line end, and the line if that is there.
func (r *response) feedLine(p []byte) (n int, err error) {
	i := bytes.IndexByte(p, '\n')
	piece := p
	if i >= 0 {
		piece = p[:i+1]
	}
	if err := r.checkLength(len(r.line) + len(piece)); err != nil {
		return 0, err
	}
	if i < 0 {
		r.line = append(r.line, p...)
		if r.state == readStatus && len(r.line) >= protocolBytes && !isHTTP(r.line) {
			return 0, notHTTP(r.line) // other protocols may send no line at all
		}
		return len(p), nil
	}
	line := piece
	if len(r.line) > 0 {
		r.line = append(r.line, piece...)
		line = r.line
	}
	err = r.takeLine(line)
	r.line = r.line[:0]
	return len(piece), err
}

func (r *response) checkLength(n int) error {
	switch r.state {
	case readChunkSize:
		if n > maxChunkLine {
			return fmt.Errorf("chunk size line longer than %d bytes", maxChunkLine)
		}
	case readChunkEnd:
		if n > 2 {
			return errors.New("chunk is longer than its size says")
		}
	default:
		if r.headBytes+n > maxHeadBytes {
			return fmt.Errorf("response head larger than %d KiB", maxHeadBytes>>10)
		}
	}
	return nil
}

// takeLine reads one line, its line feed included.
func (r *response) takeLine(line []byte) error {
	text := line[:len(line)-1]
	crlf := len(text) > 0 && text[len(text)-1] == '\r'
	if crlf {
		text = text[:len(text)-1]
	}
	switch r.state {
	case readChunkSize:
		if !crlf {
			return errors.New("chunk size line ends without a carriage return")
		}
		return r.chunkSize(text)
	case readChunkEnd:
		if !crlf || len(text) > 0 {
			return errors.New("chunk is longer than its size says")
		}
		r.state = readChunkSize
		return nil
	}
	// A lone line feed ends a head line too: RFC 9112, 2.2.
	r.headBytes += len(line)
	switch {
	case r.state == readStatus:
		return r.statusLine(text)
	case len(text) > 0:
		return r.field(text)
	case r.state == readTrailers:
		r.state = readDone
		return nil
	default:
		return r.headEnd()
	}
}

func (r *response) chunkSize(text []byte) error {
	if hasBadControl(text) {
		return errors.New("control character in a chunk size line")
	}
	digits := text
	if i := bytes.IndexByte(digits, ';'); i >= 0 { // an extension, ignored
		digits = digits[:i]
	}
	digits = bytes.TrimRight(digits, " \t")
	if len(digits) == 0 {
		return fmt.Errorf("not a chunk size: %q", clip(text))
	}
	var size int64
	for _, c := range digits {
		d := hexDigit(c)
		if d < 0 {
			return fmt.Errorf("not a chunk size: %q", clip(text))
		}
		if size > maxContentBytes>>4 {
			return fmt.Errorf("chunk size too large: %q", clip(text))
		}
		size = size<<4 | int64(d)
	}
	r.left, r.state = size, readChunk
	if size == 0 {
		r.state, r.anyHeader = readTrailers, false
	}
	return nil
}

// headEnd is the empty line after the header fields: it decides how the body
// ends (RFC 9112, 6.3).
func (r *response) headEnd() error {
	if r.status < 200 {
		return r.interim()
	}
	r.keepAlive = !r.askedClose && (r.minor > 0 || r.askedKeep)
	if r.headMethod || r.status == 204 || r.status == 304 {
		r.state = readDone
		return nil
	}
	switch {
	case r.coded && r.sized:
		return errors.New("both Content-Length and Transfer-Encoding")
	case r.chunked:
		r.state = readChunkSize
		r.keepAlive = r.keepAlive && r.minor > 0 // RFC 9112, 6.1: framing of a 1.0 sender is not to be trusted
	case r.sized:
		r.state, r.left = readSized, r.length
		if r.length == 0 {
			r.state = readDone
		}
	default:
		r.state, r.keepAlive = readUntilClose, false
	}
	return nil
}

// interim ends a 1xx response and waits for the next one.
func (r *response) interim() error {
	if r.status == 101 {
		return errors.New("switching protocols (101) was not asked for")
	}
	*r = response{
		interims: r.interims + 1, continued: r.continued || r.status == 100,
		headMethod: r.headMethod, keepBody: r.keepBody, headBytes: r.headBytes,
		known: r.known, line: r.line, body: r.body, location: r.location[:0], wanted: r.wanted, fields: r.fields, cookies: r.cookies,
	}
	r.forget()
	return nil
}
