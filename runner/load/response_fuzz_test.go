package load

import (
	"bufio"
	"bytes"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
)

// FuzzResponse reads any bytes at once, byte by byte and in pieces of any lengths: all must agree. What is behind a
// response is left alone, and where net/http takes the same bytes for a response it is the same one.
func FuzzResponse(f *testing.F) {
	for _, c := range goodResponses {
		if len(c.text) < 1000 {
			f.Add([]byte(c.text), c.head, []byte{7, 1, 30})
		}
	}
	for _, c := range malformedResponses {
		if len(c.text) < 1000 {
			f.Add([]byte(c.text), false, []byte{19, 2})
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, head bool, pieces []byte) {
		s := string(text[:min(len(text), 4<<10)])
		whole := parse(s, head, true)
		each := make([]int, len(s))
		for i := range each {
			each[i] = i
		}
		for _, cuts := range [][]int{each, cutsOf(pieces, len(s))} {
			if got := parse(s, head, true, cuts...); got != whole {
				t.Fatalf("parse(%q) cut at %v = %+v, want %+v", s, cuts, got, whole)
			}
		}
		if whole.Err != "" {
			return
		}
		if whole.Status < 200 {
			t.Errorf("parse(%q) = %+v: an interim status as the final one", s, whole)
		}
		checkEnd(t, s, head, whole)
		compareWithStandard(t, s, head, whole)
	})
}

// cutsOf makes places to cut n bytes at of the lengths of pieces, in turn.
func cutsOf(pieces []byte, n int) (cuts []int) {
	for at, i := 0, 0; len(pieces) > 0; i++ {
		at += int(pieces[i%len(pieces)]) + i%2 // not zero for ever
		if at >= n {
			break
		}
		cuts = append(cuts, at)
	}
	return cuts
}

// checkEnd wants the response to need all its bytes, and none behind them. One that ends with the connection has all.
func checkEnd(t *testing.T, s string, head bool, whole parsed) {
	t.Helper()
	own := s[:len(s)-len(whole.Rest)]
	want := whole
	want.Rest = ""
	got := parse(own, head, false)
	if got.Err == "more bytes wanted" {
		if whole.Rest != "" || whole.KeepAlive {
			t.Errorf("parse(%q) = %+v: not to the end of the stream, but no end without it", s, whole)
		}
		return
	}
	if got != want {
		t.Errorf("parse(%q) without what is behind = %+v, want %+v", own, got, want)
	}
	if got := parse(own[:len(own)-1], head, false); got.Err != "more bytes wanted" {
		t.Errorf("parse(%q) without the last byte = %+v, want more bytes wanted", own, got)
	}
	want.Rest = "HTTP/1.1 200 OK\r\n\r\n"
	if got := parse(own+want.Rest, head, false); got != want {
		t.Errorf("parse(%q) with another behind = %+v, want %+v", own, got, want)
	}
}

// compareWithStandard reads s with net/http as well, which refuses more and less than we do.
func compareWithStandard(t *testing.T, s string, head bool, whole parsed) {
	t.Helper()
	if strings.HasPrefix(s, "HTTP/1.0") || strings.Contains(s, "\nHTTP/1.0") {
		return // net/http reads no Transfer-Encoding there (RFC 9112, 6.1, wants the connection closed, as we do)
	}
	method := "GET"
	if head {
		method = "HEAD"
	}
	in := bufio.NewReader(strings.NewReader(s))
	for {
		res, err := http.ReadResponse(in, &http.Request{Method: method})
		if err != nil {
			return
		}
		if res.StatusCode < 200 {
			continue
		}
		body, err := io.ReadAll(res.Body)
		if err != nil {
			return
		}
		rest, _ := io.ReadAll(in)
		if res.StatusCode != whole.Status || string(body) != whole.Body || string(rest) != whole.Rest {
			t.Errorf("parse(%q) = %+v, want %d, %q and %q left as net/http has it", s, whole, res.StatusCode, body, rest)
		}
		return
	}
}

// The comparison compares: net/http takes most of the good responses, too.
func TestStandardReadsTheSame(t *testing.T) {
	t.Parallel()
	both := 0
	for _, c := range goodResponses {
		compareWithStandard(t, c.text, c.head, c.want)
		if _, err := http.ReadResponse(bufio.NewReader(strings.NewReader(c.text)), nil); err == nil {
			both++
		}
	}
	if both < len(goodResponses)*2/3 {
		t.Errorf("net/http takes %d of %d good responses", both, len(goodResponses))
	}
}

// A body is counted to the byte, whatever is kept of it.
func TestResponseCountsBody(t *testing.T) {
	t.Parallel()
	for _, c := range goodResponses {
		for _, keep := range []bool{false, true} {
			var r response
			r.reset(c.head, keep)
			for piece := range slices.Chunk([]byte(c.text), 3) {
				if r.done() {
					break
				}
				if _, err := r.feed(piece); err != nil {
					t.Fatal(err)
				}
			}
			if r.bodyBytes != int64(len(c.want.Body)) || !keep && len(r.body) != 0 || keep && !bytes.Equal(r.body, []byte(c.want.Body)) {
				t.Errorf("%s: body bytes %d, kept %d (asked for: %v), want %d", c.name, r.bodyBytes, len(r.body), keep, len(c.want.Body))
			}
		}
	}
}
