package load

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// parsed is what a response reader made of some bytes.
type parsed struct {
	Status    int
	Body      string
	KeepAlive bool
	Interims  int
	Location  string
	Rest      string // bytes behind the response
	Err       string
}

// parse feeds text in pieces, cut at the given places, then the end of the stream if eof. To know the head from before
// must make no difference.
func parse(text string, head, eof bool, cuts ...int) parsed {
	want := parseKnowing(nil, text, head, eof, cuts)
	known := &knownHead{}
	for _, what := range []string{"to remember", "to know"} {
		if got := parseKnowing(known, text, head, eof, cuts); got != want {
			return parsed{Err: fmt.Sprintf("%s the head made %+v of %+v", what, got, want)}
		}
	}
	if got := parseKnowing(known, text, !head, eof, cuts); got != parseKnowing(nil, text, !head, eof, cuts) {
		return parsed{Err: fmt.Sprintf("the head of an answer to another method made %+v", got)}
	}
	return want
}

func parseKnowing(known *knownHead, text string, head, eof bool, cuts []int) parsed {
	r := response{known: known}
	r.reset(head, true)
	rest, start := "", 0
	for _, cut := range append(cuts, len(text)) {
		piece := []byte(text[start:cut])
		start = cut
		if r.done() {
			rest += string(piece)
			continue
		}
		n, err := r.feed(piece)
		if n < 0 || n > len(piece) {
			return parsed{Err: fmt.Sprintf("feed took %d of %d bytes", n, len(piece))}
		}
		if err != nil {
			return parsed{Err: err.Error()}
		}
		if n < len(piece) && !r.done() {
			return parsed{Err: "feed left bytes of an unfinished response"}
		}
		rest += string(piece[n:])
		for i := range piece { // the reader must not keep the caller's bytes
			piece[i] = '#'
		}
	}
	if !r.done() {
		if !eof {
			return parsed{Err: "more bytes wanted"}
		}
		if err := r.eof(); err != nil {
			return parsed{Err: err.Error()}
		}
	}
	return parsed{r.status, string(r.body), r.keepAlive, r.interims, string(r.location), rest, ""}
}

const ok11 = "HTTP/1.1 200 OK\r\n"

var goodResponses = []struct {
	name, text string
	head, eof  bool
	want       parsed
}{
	{"sized", ok11 + "Content-Length: 5\r\n\r\nhello", false, false, parsed{Status: 200, Body: "hello", KeepAlive: true}},
	{"sized, empty (C-07 d)", ok11 + "Content-Length: 0\r\n\r\n", false, false, parsed{Status: 200, KeepAlive: true}},
	{"head with length (C-07 a)", ok11 + "Content-Length: 1234\r\n\r\n", true, false, parsed{Status: 200, KeepAlive: true}},
	{"head, chunked", ok11 + "Transfer-Encoding: chunked\r\n\r\n", true, false, parsed{Status: 200, KeepAlive: true}},
	{"204 chunked (C-07 b)", "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", false, false, parsed{Status: 204, KeepAlive: true}},
	{"304 with length (C-07 c)", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\n\r\n", false, false, parsed{Status: 304, KeepAlive: true}},
	{"304 with both framings", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n", false, false, parsed{Status: 304, KeepAlive: true}},
	{"chunked", ok11 + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", false, false, parsed{Status: 200, Body: "hello world", KeepAlive: true}},
	{"chunk extensions, trailers", ok11 + "transfer-encoding: Chunked\r\n\r\n0A;a=b;c=\"d\"\r\n0123456789\r\n000\r\nX-Sum: 1\r\nContent-Length: 3\r\n\r\n", false, false, parsed{Status: 200, Body: "0123456789", KeepAlive: true}},
	{"chunk size with blanks", ok11 + "Transfer-Encoding: chunked\r\n\r\n1 \t\r\nx\r\n0 ; e\r\n\r\n", false, false, parsed{Status: 200, Body: "x", KeepAlive: true}},
	{"gzip, chunked", ok11 + "Transfer-Encoding: gzip, chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", false, false, parsed{Status: 200, Body: "x", KeepAlive: true}},
	{"codings on two lines", ok11 + "Transfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n", false, false, parsed{Status: 200, Body: "x", KeepAlive: true}},
	{"coding until close", ok11 + "Transfer-Encoding: gzip\r\n\r\nxyz", false, true, parsed{Status: 200, Body: "xyz"}},
	{"until close", ok11 + "\r\nall of it", false, true, parsed{Status: 200, Body: "all of it"}},
	{"until close, empty", ok11 + "\r\n", false, true, parsed{Status: 200}},
	{"two equal lengths", ok11 + "Content-Length: 2\r\nContent-Length: 2\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi", KeepAlive: true}},
	{"list of equal lengths", ok11 + "Content-Length: 2, 2\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi", KeepAlive: true}},
	{"length with zeros", ok11 + "Content-Length: 002\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi", KeepAlive: true}},
	{"close", ok11 + "Connection: close\r\nContent-Length: 2\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi"}},
	{"close among options", ok11 + "Connection: foo , CLOSE\r\nContent-Length: 2\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi"}},
	{"1.0", "HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi"}},
	{"1.0 keep-alive", "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 2\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi", KeepAlive: true}},
	{"1.0 until close", "HTTP/1.0 404 Not Found\r\n\r\ngone", false, true, parsed{Status: 404, Body: "gone"}},
	{"early hints twice (C-13 a)", "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 103 Early Hints\r\n\r\n" + ok11 + "Content-Length: 2\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi", KeepAlive: true, Interims: 2}},
	{"100 twice (C-13 b)", "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n" + ok11 + "Content-Length: 0\r\n\r\n", false, false, parsed{Status: 200, KeepAlive: true, Interims: 2}},
	{"interim's fields are its own", "HTTP/1.1 103 Early Hints\r\nContent-Length: 9\r\nConnection: close\r\nLocation: /x\r\n\r\n" + ok11 + "Content-Length: 2\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi", KeepAlive: true, Interims: 1}},
	{"many interims", strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 500) + ok11 + "Content-Length: 0\r\n\r\n", false, false, parsed{Status: 200, KeepAlive: true, Interims: 500}},
	{"no reason", "HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", false, false, parsed{Status: 200, KeepAlive: true}},
	{"reason with any text", "HTTP/1.1 200 \xfcber: gut\r\nContent-Length: 0\r\n\r\n", false, false, parsed{Status: 200, KeepAlive: true}},
	{"odd status", "HTTP/1.1 999 Request denied\r\nContent-Length: 0\r\n\r\n", false, false, parsed{Status: 999, KeepAlive: true}},
	{"bare line feeds", "HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", false, false, parsed{Status: 200, Body: "hi", KeepAlive: true}},
	{"empty value", ok11 + "X-Empty:\r\nContent-Length:2\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi", KeepAlive: true}},
	{"folded line that is no matter", ok11 + "X-Long: a\r\n  b\r\nContent-Length: 2\r\n\r\nhi", false, false, parsed{Status: 200, Body: "hi", KeepAlive: true}},
	{"location", "HTTP/1.1 302 Found\r\nLocation:  /next?a=b \r\nContent-Length: 0\r\n\r\n", false, false, parsed{Status: 302, KeepAlive: true, Location: "/next?a=b"}},
	{"bytes behind it", ok11 + "Content-Length: 2\r\n\r\nhiHTTP/1.1 200 OK\r\n", false, false, parsed{Status: 200, Body: "hi", KeepAlive: true, Rest: "HTTP/1.1 200 OK\r\n"}},
	{"body behind a head answer", ok11 + "Content-Length: 2\r\n\r\nhi", true, false, parsed{Status: 200, KeepAlive: true, Rest: "hi"}},
}

func TestResponse(t *testing.T) {
	for _, c := range goodResponses {
		if got := parse(c.text, c.head, c.eof); got != c.want {
			t.Errorf("%s: parse(%q) = %+v, want %+v", c.name, clip([]byte(c.text)), got, c.want)
		}
	}
}

// Whatever pieces a response comes in, it is read as the same.
func TestResponseSplit(t *testing.T) {
	t.Parallel()
	for _, c := range goodResponses {
		if len(c.text) > 400 {
			continue
		}
		for i := range len(c.text) {
			for j := i; j <= len(c.text); j += 1 + len(c.text)/40 {
				if got := parse(c.text, c.head, c.eof, i, j); got != c.want {
					t.Fatalf("%s: parse(%q) cut at %d and %d = %+v, want %+v", c.name, c.text, i, j, got, c.want)
				}
			}
		}
		var each []int
		for i := range len(c.text) {
			each = append(each, i)
		}
		if got := parse(c.text, c.head, c.eof, each...); got != c.want {
			t.Errorf("%s: byte by byte = %+v, want %+v", c.name, got, c.want)
		}
	}
}

var malformedResponses = []struct{ name, text, want string }{
	{"nothing", "", "connection closed without an answer"},
	{"no http", "SSH-2.0-OpenSSH_9.6\r\n", `not an HTTP response: it begins with "SSH-2.0-"`},
	{"no http, short", "nonsens\r\n", `not an HTTP response: it begins with "nonsens"`},
	{"no http, no line", "nonsense without end", `not an HTTP response: it begins with "nonsense"`},
	{"no http, cut short", "non", `not an HTTP response: it begins with "non"`},
	{"no http, a lone CR", "nonsens\rx\r\n", `not an HTTP response: it begins with "nonsens"`},
	{"empty first line", "\r\nHTTP/1.1 200 OK\r\n\r\n", "not an HTTP response: it begins with an empty line"},
	{"tls alert", "\x15\x03\x01\x00\x02\x02\x16", `not an HTTP response: it begins with "\x15\x03\x01\x00\x02\x02\x16": a TLS record`},
	{"http/2 settings", "\x00\x00\x12\x04\x00\x00\x00\x00\x00\x00\x03\x00\x00\x00\x80", `not an HTTP response: it begins with "\x00\x00\x12\x04\x00\x00\x00\x00": an HTTP/2 frame`},
	{"http/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", `not an HTTP response: it begins with "PRI * HT"`},
	{"a request", "GET / HTTP/1.1\r\n\r\n", `not an HTTP response: it begins with "GET / HT"`},
	{"http/2", "HTTP/2.0 200 OK\r\n\r\n", `not an HTTP/1.x response: "HTTP/2.0 200 OK"`},
	{"http/0.9", "HTTP/0.9 200 OK\r\n\r\n", "not an HTTP/1.x response"},
	{"no version", "HTTP/1. 200 OK\r\n\r\n", "not an HTTP/1.x response"},
	{"lower case", "http/1.1 200 OK\r\n\r\n", "not an HTTP response"},
	{"version of two digits", "HTTP/1.10 200 OK\r\n\r\n", "not a status line"},
	{"two blanks", "HTTP/1.1  200 OK\r\n\r\n", "not a status line"},
	{"no status", "HTTP/1.1 \r\n\r\n", "not a status line"},
	{"status of two digits", "HTTP/1.1 20 OK\r\n\r\n", "not a status line"},
	{"status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", "not a status line"},
	{"status with a letter", "HTTP/1.1 2O0 OK\r\n\r\n", "not a status line"},
	{"negative status", "HTTP/1.1 -20 OK\r\n\r\n", "not a status line"},
	{"status below 100", "HTTP/1.1 099 What\r\n\r\n", `not a status code: "099"`},
	{"zero in the reason", "HTTP/1.1 200 O\x00K\r\n\r\n", "control character in the status line"},
	{"carriage return in the reason", "HTTP/1.1 200 O\rK\r\n\r\n", "control character in the status line"},
	{"switching protocols", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "switching protocols (101) was not asked for"},
	{"no colon", ok11 + "Content-Length 5\r\n\r\nhello", `not a header line: "Content-Length 5"`},
	{"no name", ok11 + ": 5\r\n\r\n", `not a header line: ": 5"`},
	{"blank before the colon", ok11 + "Content-Length : 5\r\n\r\nhello", `not a header name: "Content-Length "`},
	{"name beyond ascii", ok11 + "X-\xc3\xa4: 5\r\n\r\n", "not a header name"},
	{"zero in a value", ok11 + "X-A: a\x00b\r\n\r\n", `control character in header "X-A"`},
	{"carriage return in a value", ok11 + "X-A: a\rContent-Length: 5\r\n\r\n", `control character in header "X-A"`},
	{"zero in a folded line", ok11 + "X-A: a\r\n b\x00\r\n\r\n", "control character in a folded header line"},
	{"carriage return in a folded line", ok11 + "X-A: a\r\n b\rContent-Length: 5\r\n\r\n", "control character in a folded header line"},
	{"fold first", ok11 + " X-A: a\r\n\r\n", "folded header line"},
	{"folded length", ok11 + "Content-Length: 1\r\n 0\r\n\r\n", "folded header line"},
	{"length of words", ok11 + "Content-Length: five\r\n\r\nhello", `not a Content-Length: "five"`},
	{"negative length", ok11 + "Content-Length: -5\r\n\r\nhello", `not a Content-Length: "-5"`},
	{"signed length", ok11 + "Content-Length: +5\r\n\r\nhello", `not a Content-Length: "+5"`},
	{"hex length", ok11 + "Content-Length: 0x5\r\n\r\nhello", "not a Content-Length"},
	{"empty length", ok11 + "Content-Length: \r\n\r\n", `not a Content-Length: ""`},
	{"huge length", ok11 + "Content-Length: 99999999999999999999\r\n\r\n", "Content-Length too large"},
	{"two lengths", ok11 + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", "two values of Content-Length: 5 and 6"},
	{"two lengths in a list", ok11 + "Content-Length: 5, 6\r\n\r\nhello!", "two values of Content-Length: 5 and 6"},
	{"both framings", ok11 + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", "both Content-Length and Transfer-Encoding"},
	{"chunked twice", ok11 + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", `transfer coding after chunked: "chunked"`},
	{"chunked not last", ok11 + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", `transfer coding after chunked: "gzip"`},
	{"no coding name", ok11 + "Transfer-Encoding: \x0bchunked\r\n\r\n", "not a transfer coding"},
	{"parameter of chunked", ok11 + "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", `not a transfer coding: "chunked;q=1"`},
	{"only a parameter", ok11 + "Transfer-Encoding: ;q=1\r\n\r\n", `not a transfer coding: ";q=1"`},
	{"carriage return in a chunk extension", ok11 + "Transfer-Encoding: chunked\r\n\r\n1;a\rb\r\nx\r\n0\r\n\r\n", "control character in a chunk size line"},
	{"zero in a chunk extension", ok11 + "Transfer-Encoding: chunked\r\n\r\n1;a\x00\r\nx\r\n0\r\n\r\n", "control character in a chunk size line"},
	{"chunk size of words", ok11 + "Transfer-Encoding: chunked\r\n\r\nfive\r\nhello\r\n", `not a chunk size: "five"`},
	{"empty chunk size", ok11 + "Transfer-Encoding: chunked\r\n\r\n\r\nhello\r\n", `not a chunk size: ""`},
	{"only an extension", ok11 + "Transfer-Encoding: chunked\r\n\r\n;a=b\r\nhello\r\n", "not a chunk size"},
	{"negative chunk size", ok11 + "Transfer-Encoding: chunked\r\n\r\n-1\r\nhello\r\n", "not a chunk size"},
	{"huge chunk size", ok11 + "Transfer-Encoding: chunked\r\n\r\nffffffffffffffff1\r\n", "chunk size too large"},
	{"chunk longer than said", ok11 + "Transfer-Encoding: chunked\r\n\r\n2\r\nhello\r\n", "chunk is longer than its size says"},
	{"chunk size without carriage return", ok11 + "Transfer-Encoding: chunked\r\n\r\n5\nhello\r\n", "chunk size line ends without a carriage return"},
	{"chunk end without carriage return", ok11 + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\n0\r\n\r\n", "chunk is longer than its size says"},
	{"bad trailer", ok11 + "Transfer-Encoding: chunked\r\n\r\n0\r\nno trailer\r\n\r\n", "not a header line"},
	{"endless chunk extension", ok11 + "Transfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", maxChunkLine), "chunk size line longer than 4096 bytes"},
	{"endless head line", ok11 + "X: " + strings.Repeat("x", maxHeadBytes), "response head larger than 256 KiB"},
	{"endless head", ok11 + strings.Repeat("X: y\r\n", maxHeadBytes/6), "response head larger than 256 KiB"},
	{"endless trailers", ok11 + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X: y\r\n", maxHeadBytes/6), "response head larger than 256 KiB"},
	{"endless interims", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", maxHeadBytes/25+1), "response head larger than 256 KiB"},
	{"cut in the status line", "HTTP/1.1 20", "connection closed within the response head, after 11 bytes"},
	{"cut in the head", ok11 + "Content-Le", "connection closed within the response head, after 27 bytes"},
	{"cut behind an interim", "HTTP/1.1 100 Continue\r\n\r\n", "connection closed within the response head, after 25 bytes"},
	{"cut in a sized body", ok11 + "Content-Length: 10\r\n\r\nhello", "connection closed after 5 of 10 body bytes"},
	{"cut in a chunk", ok11 + "Transfer-Encoding: chunked\r\n\r\n5\r\nhel", "connection closed within a chunked body, after 3 bytes"},
	{"cut before the last chunk", ok11 + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", "connection closed within a chunked body, after 5 bytes"},
	{"cut in the trailers", ok11 + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: y\r\n", "connection closed within a chunked body, after 0 bytes"},
}

func TestResponseMalformed(t *testing.T) {
	for _, c := range malformedResponses {
		got := parse(c.text, false, true)
		if !strings.HasPrefix(got.Err, c.want) {
			t.Errorf("%s: parse(%q) = %+v, want error %q", c.name, clip([]byte(c.text)), got, c.want)
		}
		if len(c.text) > 400 {
			continue
		}
		for i := range len(c.text) {
			if split := parse(c.text, false, true, i); split != got {
				t.Errorf("%s: cut at %d = %+v, want %+v", c.name, i, split, got)
			}
		}
	}
}

// A body larger than what is kept is counted whole.
func TestResponseKeepsBoundedBody(t *testing.T) {
	t.Parallel()
	var r response
	r.reset(false, true)
	size := maxKeptBody + 100
	fmt.Fprintf(feeder{t, &r}, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", size)
	for piece := bytes.Repeat([]byte("x"), 64<<10); !r.done(); {
		feeder{t, &r}.Write(piece)
	}
	if r.bodyBytes != int64(size) || len(r.body) != maxKeptBody || !r.tooLarge {
		t.Errorf("body bytes %d, kept %d, too large %v, want %d, %d, true", r.bodyBytes, len(r.body), r.tooLarge, size, maxKeptBody)
	}
}

type feeder struct {
	t *testing.T
	r *response
}

func (f feeder) Write(p []byte) (int, error) {
	if _, err := f.r.feed(p); err != nil {
		f.t.Fatal(err)
	}
	return len(p), nil
}
