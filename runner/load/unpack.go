package load

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"strings"
	"sync"
)

// An unpacker is what it takes to unpack a body, kept for the next one.
type unpacker struct {
	in  gzip.Reader
	out bytes.Buffer
}

var unpackers = sync.Pool{New: func() any { return new(unpacker) }}

// unpack puts what a packed body holds in its place.
func (c *checker) unpack(r *response) *failure {
	if c.encoding == 0 || len(r.body) == 0 {
		return nil
	}
	switch coding := strings.ToLower(string(r.fields[c.encoding-1].text)); coding {
	case "", "identity":
		return nil
	case "gzip", "x-gzip":
	default:
		return &failure{kind: kindProtocol, text: fmt.Sprintf("the body is packed as %q, which was not asked for", clip([]byte(coding)))}
	}
	u := unpackers.Get().(*unpacker)
	defer unpackers.Put(u)
	u.out.Reset()
	err := u.in.Reset(bytes.NewReader(r.body))
	if err == nil {
		_, err = io.Copy(&u.out, io.LimitReader(&u.in, maxKeptBody+1))
	}
	if err != nil {
		return &failure{kind: kindProtocol, text: "the body cannot be unpacked: " + err.Error()}
	}
	if u.out.Len() > maxKeptBody {
		return c.unmet("body", fmt.Sprintf("unpacked, the body is larger than the %d MiB that can be checked", maxKeptBody>>20), r)
	}
	r.body = append(r.body[:0], u.out.Bytes()...)
	if u.out.Cap() > spareBody {
		u.out = bytes.Buffer{}
	}
	return nil
}
