package load

import (
	"strings"
	"testing"
	"time"
)

// What a server may get wrong, over a real connection: each ends as one failure by name, no request is sent again, and
// nothing of it is taken for the next answer. ends: the server closes the connection behind it, else it is left open,
// and the fault must be seen without its end.
var malformedAnswers = []struct {
	name, answer string
	ends         bool
	kind, want   string
}{
	// the status line: RFC 9112, 4
	{"http/0.9", "<html>hello</html>\r\n", true, kindProtocol, `not an HTTP response: it begins with "<html>he"`},
	{"http/0.9, left open", "<html>hello</html>", false, kindProtocol, `not an HTTP response: it begins with "<html>he"`},
	{"http/2 preface", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", false, kindProtocol, `not an HTTP response: it begins with "PRI * HT"`},
	{"http/2 settings", "\x00\x00\x00\x04\x00\x00\x00\x00\x00", false, kindProtocol, "not an HTTP response: it begins with "},
	{"a tls alert", "\x15\x03\x01\x00\x02\x02\x16", true, kindProtocol, "not an HTTP response: it begins with "},
	{"another protocol", "220 mail.example ESMTP\r\n", false, kindProtocol, `not an HTTP response: it begins with "220 mail"`},
	{"an empty line first", "\r\n" + ok11 + "Content-Length: 0\r\n\r\n", false, kindProtocol, "not an HTTP response: it begins with an empty line"},
	{"version 2.0", "HTTP/2.0 200 OK\r\n\r\n", false, kindProtocol, `not an HTTP/1.x response: "HTTP/2.0 200 OK"`},
	{"version in lower case", "http/1.1 200 OK\r\n\r\n", false, kindProtocol, "not an HTTP response: it begins with"},
	{"version of two digits", "HTTP/1.10 200 OK\r\n\r\n", false, kindProtocol, `not a status line: "HTTP/1.10 200 OK"`},
	{"no status", "HTTP/1.1\r\n\r\n", false, kindProtocol, `not a status line: "HTTP/1.1"`},
	{"status of two digits", "HTTP/1.1 20 OK\r\n\r\n", false, kindProtocol, `not a status line: "HTTP/1.1 20 OK"`},
	{"status of four digits", "HTTP/1.1 2000 OK\r\n\r\n", false, kindProtocol, `not a status line: "HTTP/1.1 2000 OK"`},
	{"status of letters", "HTTP/1.1 OK\r\n\r\n", false, kindProtocol, `not a status line: "HTTP/1.1 OK"`},
	{"negative status", "HTTP/1.1 -20 OK\r\n\r\n", false, kindProtocol, `not a status line: "HTTP/1.1 -20 OK"`},
	{"status below 100", "HTTP/1.1 042 What\r\n\r\n", false, kindProtocol, `not a status code: "042"`},
	{"zero byte in the reason", "HTTP/1.1 200 O\x00K\r\n\r\n", false, kindProtocol, "control character in the status line"},
	{"bare CR in the reason", "HTTP/1.1 200 O\rK\r\n\r\n", false, kindProtocol, "control character in the status line"},
	{"endless status line", "HTTP/1.1 200 " + strings.Repeat("x", maxHeadBytes), false, kindProtocol, "response head larger than 256 KiB"},

	// header fields: RFC 9112, 5
	{"no colon", ok11 + "Content-Length 5\r\n\r\nhello", false, kindProtocol, `not a header line: "Content-Length 5"`},
	{"no name", ok11 + ": 5\r\n\r\n", false, kindProtocol, `not a header line: ": 5"`},
	{"blank before the colon", ok11 + "Content-Length : 5\r\n\r\nhello", false, kindProtocol, `not a header name: "Content-Length "`},
	{"blank before the first field", ok11 + " X-A: a\r\n\r\n", false, kindProtocol, `folded header line: " X-A: a"`},
	{"folded Content-Length", ok11 + "Content-Length: 1\r\n 0\r\n\r\n", false, kindProtocol, `folded header line: " 0"`},
	{"folded Transfer-Encoding", ok11 + "Transfer-Encoding:\r\n chunked\r\n\r\n", false, kindProtocol, `folded header line: " chunked"`},
	{"zero byte in a folded line", ok11 + "X-A: a\r\n\tb\x00\r\n\r\n", false, kindProtocol, "control character in a folded header line"},
	{"zero byte in a value", ok11 + "X-A: a\x00b\r\n\r\n", false, kindProtocol, `control character in header "X-A"`},
	{"bare CR in a value", ok11 + "X-A: a\rContent-Length: 5\r\n\r\n", false, kindProtocol, `control character in header "X-A"`},
	{"control byte in a name", ok11 + "X-\x01A: a\r\n\r\n", false, kindProtocol, `not a header name: "X-\x01A"`},
	{"zero byte in a name", ok11 + "X-\x00A: a\r\n\r\n", false, kindProtocol, `not a header name: "X-\x00A"`},
	{"name beyond ASCII", ok11 + "X-\xc3\xa4: 5\r\n\r\n", false, kindProtocol, `not a header name: "X-ä"`},
	{"endless field", ok11 + "X: " + strings.Repeat("x", maxHeadBytes), false, kindProtocol, "response head larger than 256 KiB"},
	{"endless fields", ok11 + strings.Repeat("X: y\r\n", maxHeadBytes/6), false, kindProtocol, "response head larger than 256 KiB"},

	// the length of the body: RFC 9112, 6
	{"negative length", ok11 + "Content-Length: -5\r\n\r\nhello", false, kindProtocol, `not a Content-Length: "-5"`},
	{"signed length", ok11 + "Content-Length: +5\r\n\r\nhello", false, kindProtocol, `not a Content-Length: "+5"`},
	{"length of words", ok11 + "Content-Length: five\r\n\r\nhello", false, kindProtocol, `not a Content-Length: "five"`},
	{"hexadecimal length", ok11 + "Content-Length: 0x5\r\n\r\nhello", false, kindProtocol, `not a Content-Length: "0x5"`},
	{"fraction of a length", ok11 + "Content-Length: 5.0\r\n\r\nhello", false, kindProtocol, `not a Content-Length: "5.0"`},
	{"empty length", ok11 + "Content-Length:\r\n\r\n", false, kindProtocol, `not a Content-Length: ""`},
	{"huge length", ok11 + "Content-Length: 99999999999999999999\r\n\r\n", false, kindProtocol, `Content-Length too large: "99999999999999999999"`},
	{"two lengths", ok11 + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello!", false, kindProtocol, "two values of Content-Length: 5 and 6"},
	{"two lengths in a list", ok11 + "Content-Length: 5, 6\r\n\r\nhello!", false, kindProtocol, "two values of Content-Length: 5 and 6"},
	{"length and chunked", ok11 + "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, kindProtocol, "both Content-Length and Transfer-Encoding"},
	{"chunked twice", ok11 + "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", false, kindProtocol, `transfer coding after chunked: "chunked"`},
	{"Transfer-Encoding twice", ok11 + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", false, kindProtocol, `transfer coding after chunked: "chunked"`},
	{"chunked before gzip", ok11 + "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", false, kindProtocol, `transfer coding after chunked: "gzip"`},
	{"chunked with a parameter", ok11 + "Transfer-Encoding: chunked;q=1\r\n\r\n0\r\n\r\n", false, kindProtocol, `not a transfer coding: "chunked;q=1"`},
	{"coding of no token", ok11 + "Transfer-Encoding: \x0bchunked\r\n\r\n0\r\n\r\n", false, kindProtocol, `not a transfer coding: "\vchunked"`},

	// chunks: RFC 9112, 7.1
	{"chunk size of words", chunked11 + "five\r\nhello\r\n", false, kindProtocol, `not a chunk size: "five"`},
	{"no chunk size", chunked11 + "\r\nhello\r\n", false, kindProtocol, `not a chunk size: ""`},
	{"chunk size with 0x", chunked11 + "0x5\r\nhello\r\n", false, kindProtocol, `not a chunk size: "0x5"`},
	{"negative chunk size", chunked11 + "-5\r\nhello\r\n", false, kindProtocol, `not a chunk size: "-5"`},
	{"huge chunk size", chunked11 + "ffffffffffffffff1\r\n", false, kindProtocol, `chunk size too large: "ffffffffffffffff1"`},
	{"chunk size without CR", chunked11 + "5\nhello\r\n", false, kindProtocol, "chunk size line ends without a carriage return"},
	{"chunk longer than its size", chunked11 + "2\r\nhello\r\n", false, kindProtocol, "chunk is longer than its size says"},
	{"chunk without an end", chunked11 + "5\r\nhello0\r\n\r\n", false, kindProtocol, "chunk is longer than its size says"},
	{"bare CR in an extension", chunked11 + "5;a\rb\r\nhello\r\n0\r\n\r\n", false, kindProtocol, "control character in a chunk size line"},
	{"endless extension", chunked11 + "5;" + strings.Repeat("x", maxChunkLine), false, kindProtocol, "chunk size line longer than 4096 bytes"},
	{"bad trailer", chunked11 + "0\r\nno trailer\r\n\r\n", false, kindProtocol, `not a header line: "no trailer"`},
	{"endless trailers", chunked11 + "0\r\n" + strings.Repeat("X: y\r\n", maxHeadBytes/6), false, kindProtocol, "response head larger than 256 KiB"},

	// interim answers: RFC 9110, 15.2
	{"101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", false, kindProtocol, "switching protocols (101) was not asked for"},
	{"interims without end", strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", maxHeadBytes/25+1), false, kindProtocol, "response head larger than 256 KiB"},
	{"nothing behind an interim", "HTTP/1.1 100 Continue\r\n\r\n", true, kindClosed, "connection closed within the response head, after 25 bytes"},
	{"garbage behind an interim", "HTTP/1.1 103 Early Hints\r\n\r\nhello, world\r\n", false, kindProtocol, `not an HTTP response: it begins with "hello, w"`},

	// the end of the stream before the end of the message: RFC 9112, 8
	{"nothing", "", true, kindClosed, "connection closed without an answer"},
	{"end in the status line", "HTTP/1.1 20", true, kindClosed, "connection closed within the response head, after 11 bytes"},
	{"end behind the status line", ok11, true, kindClosed, "connection closed within the response head, after 17 bytes"},
	{"end in a field", ok11 + "Content-Le", true, kindClosed, "connection closed within the response head, after 27 bytes"},
	{"end before the empty line", ok11 + "Content-Length: 0\r\n", true, kindClosed, "connection closed within the response head, after 36 bytes"},
	{"end before the body", ok11 + "Content-Length: 10\r\n\r\n", true, kindClosed, "connection closed after 0 of 10 body bytes"},
	{"end in the body", ok11 + "Content-Length: 10\r\n\r\nhello", true, kindClosed, "connection closed after 5 of 10 body bytes"},
	{"end before a chunk", chunked11, true, kindClosed, "connection closed within a chunked body, after 0 bytes"},
	{"end in a chunk size", chunked11 + "5", true, kindClosed, "connection closed within a chunked body, after 0 bytes"},
	{"end in a chunk", chunked11 + "5\r\nhel", true, kindClosed, "connection closed within a chunked body, after 3 bytes"},
	{"end before the last chunk", chunked11 + "5\r\nhello\r\n", true, kindClosed, "connection closed within a chunked body, after 5 bytes"},
	{"end in the trailers", chunked11 + "0\r\nX: y\r\n", true, kindClosed, "connection closed within a chunked body, after 0 bytes"},
	{"end before the last CRLF", chunked11 + "5\r\nhello\r\n0\r\n", true, kindClosed, "connection closed within a chunked body, after 5 bytes"},
}

const chunked11 = ok11 + "Transfer-Encoding: chunked\r\n\r\n"

func TestMalformedAnswers(t *testing.T) { onEach(t, testMalformedAnswers) }

func testMalformedAnswers(t *testing.T) {
	for _, c := range malformedAnswers {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) {
				if x.say(c.answer); c.ends {
					x.close()
				}
			})
			l := run(t, config(t, get(s), hold(100, ms(40))), s)
			wantCounts(t, l, 0, 4, 0, 0)
			wantError(t, l, c.kind, 4)
			if len(l.Errors) > 0 && (!strings.HasPrefix(l.Errors[0].Example, c.want) || l.Errors[0].Class != "target") {
				t.Errorf("error = %+v, want one of the target's: %q", l.Errors[0], c.want)
			}
			if l.FailedResponse.Count != 4 || l.Response.Count != 0 || l.Wire.Attempts != 4 || l.Wire.Opened != 4 || len(l.Status) != 0 {
				t.Errorf("failed responses %d, responses %d, attempts %d, opened %d, status %v, want 4, 0, 4, 4, none",
					l.FailedResponse.Count, l.Response.Count, l.Wire.Attempts, l.Wire.Opened, l.Status)
			}
		})
	}
}

// An interim answer with nothing behind it, or half an answer, on a connection that stays open: only the timeout ends
// it, and says that an answer had begun.
func TestAnswerWithoutEnd(t *testing.T) { onEach(t, testAnswerWithoutEnd) }

func testAnswerWithoutEnd(t *testing.T) {
	for name, answer := range map[string]string{
		"interim": "HTTP/1.1 100 Continue\r\n\r\n", "status line": "HTTP/1.1 2", "fields": ok11 + "X: y\r\n",
		"body": ok11 + "Content-Length: 10\r\n\r\nhello", "no length": ok11 + "\r\nhello", "chunk": chunked11 + "5\r\nhel", "trailers": chunked11 + "0\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) { x.say(answer) })
			cfg := config(t, get(s), hold(100, ms(40)))
			cfg.Timeout = 300 * time.Millisecond
			l := run(t, cfg, s)
			wantCounts(t, l, 0, 4, 0, 0)
			wantError(t, l, kindTimeout, 4)
			if len(l.Errors) > 0 && l.Errors[0].Example != "no complete answer within the timeout" {
				t.Errorf("error = %+v, want no complete answer", l.Errors[0])
			}
			if l.Response.Count != 4 || l.Wire.Attempts != 4 || nsOf(l.Service.MinNS) < cfg.Timeout {
				t.Errorf("responses %d, attempts %d, service from %v, want 4, 4, 300ms", l.Response.Count, l.Wire.Attempts, nsOf(l.Service.MinNS))
			}
		})
	}
}

// Bytes behind a complete answer are no part of it and of no other: it counts, and the connection is closed (RFC 9112, 6.3).
func TestGarbageBehindAnswer(t *testing.T) { onEach(t, testGarbageBehindAnswer) }

func testGarbageBehindAnswer(t *testing.T) {
	for name, answer := range map[string]string{
		"sized": ok11 + "Content-Length: 2\r\n\r\nokay", "chunked": chunked11 + "2\r\nok\r\n0\r\n\r\n0\r\n\r\n", "no body": "HTTP/1.1 204 No Content\r\n\r\nbody",
		"zero bytes": ok11 + "Content-Length: 0\r\n\r\n\x00", "another answer": ok11 + "Content-Length: 2\r\n\r\nokHTTP/1.1 500 Oops\r\nContent-Length: 0\r\n\r\n",
		"half an answer": ok11 + "Content-Length: 0\r\n\r\nHTTP/1.1 5",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, func(x *call) { x.say(answer) })
			req := get(s)
			req.Expect = statusRange(200, 299)
			l := run(t, config(t, req, hold(100, ms(100))), s)
			wantCounts(t, l, 10, 0, 0, 0)
			if l.Wire.Opened != 10 || l.Wire.Reused != 0 || l.Wire.BodyBytes > 20 {
				t.Errorf("opened %d, reused %d, body bytes %d, want 10, 0, 20 at most", l.Wire.Opened, l.Wire.Reused, l.Wire.BodyBytes)
			}
		})
	}
}
