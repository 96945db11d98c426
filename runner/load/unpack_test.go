package load

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

func packed(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// Packed answers are asked for, unpacked for expectations, and counted as they were sent.
func TestCompression(t *testing.T) {
	onEach(t, func(t *testing.T) {
		body := `{"items": [` + strings.Repeat(`"the same again", `, 2000) + `1]}`
		small := packed(body)
		say := func(c *call, coding, body string) {
			c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", coding, len(body), body))
		}
		s := serve(t, func(c *call) {
			switch {
			case c.header.Get("Accept-Encoding") != "gzip":
				c.ok(body)
			case c.n%5 == 1:
				say(c, "gzip", small)
			case c.n%5 == 2:
				c.ok(body)
			case c.n%5 == 3:
				say(c, "br", small)
			case c.n%5 == 4:
				say(c, "gzip", small[:len(small)/2])
			default:
				say(c, "GZIP", packed("[]"))
			}
		})
		req := get(s)
		req.Gzip = true
		n := 2001
		req.Expect.JSON = []plans.JSONExpect{{Path: "$.items", Length: &n}}
		l := run(t, config(t, req, hold(100, ms(500))), s)
		wantCounts(t, l, 20, 30, 0, 0)
		if len(l.Errors) != 2 || l.Errors[0].Kind != kindProtocol || l.Errors[0].Count != 20 || l.Errors[1].Kind != kindExpect || l.Errors[1].Count != 10 {
			t.Errorf("errors = %+v, want 20 that cannot be unpacked and 10 that are not expected", l.Errors)
		}
		if l.Wire.BodyBytes > int64(10*len(body)+30*len(small)+1000) {
			t.Errorf("%d bytes of bodies, want them as they were sent", l.Wire.BodyBytes)
		}
		plain := get(s)
		plain.Expect = req.Expect
		l = run(t, config(t, plain, hold(100, ms(100))))
		wantCounts(t, l, 10, 0, 0, 0)
	})
}

// A body that unpacks to more than can be kept is told, and takes no memory for it.
func TestUnpackBomb(t *testing.T) {
	c, err := newChecker(plans.Expect{Contains: "x"}, true)
	if err != nil {
		t.Fatal(err)
	}
	r := &response{body: []byte(packed(strings.Repeat("\x00", maxKeptBody+10))), fields: []fieldValue{{true, []byte("gzip")}}}
	if fail := c.unpack(r); fail == nil || !strings.Contains(fail.text, "larger than") {
		t.Errorf("unpack = %+v, want it to be too large", fail)
	}
}
