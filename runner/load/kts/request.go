package kts

import (
	"bytes"
	"strconv"
)

// A request is what the server wants to know of one.
type request struct {
	log bool  // it asks for the log
	seq int64 // -1: none
}

// cutRequest takes the first request off p. n is its length, 0 when it is not
// complete.
func cutRequest(p []byte) (r request, n int) {
	head, _, ok := bytes.Cut(p, []byte("\r\n\r\n"))
	if !ok {
		return request{}, 0
	}
	n = len(head) + 4
	line, fields, _ := bytes.Cut(head, []byte("\r\n"))
	r.seq = -1
	if words := bytes.Fields(line); len(words) > 1 {
		r.log = string(words[1]) == LogPath
	}
	for len(fields) > 0 {
		var field []byte
		field, fields, _ = bytes.Cut(fields, []byte("\r\n"))
		name, value, _ := bytes.Cut(field, []byte(":"))
		switch {
		case len(name) == len(SeqHeader) && bytes.EqualFold(name, []byte(SeqHeader)):
			if seq, err := strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err == nil {
				r.seq = seq
			}
		case bytes.EqualFold(name, []byte("content-length")):
			if length, err := strconv.Atoi(string(bytes.TrimSpace(value))); err == nil && length > 0 {
				n += length
			}
		}
	}
	if n > len(p) {
		return request{}, 0
	}
	return r, n
}
