package load

import (
	"net"
	"strings"
	"testing"
	"time"
)

// A first byte that is late ends the request then; one that is in time lets the rest take its own.
func TestFirstByteTimeout(t *testing.T) { onEach(t, testFirstByteTimeout) }

func testFirstByteTimeout(t *testing.T) {
	s := serve(t, func(c *call) {
		switch c.n % 3 {
		case 0:
			time.Sleep(500 * time.Millisecond)
			c.ok("late")
		case 1:
			halves(c, 400*time.Millisecond)
			c.say("half")
		default:
			c.ok("ok")
		}
	})
	cfg := config(t, get(s), hold(60, ms(500)))
	cfg.Timeouts.FirstByte = 200 * time.Millisecond
	l := run(t, cfg, s)
	wantCounts(t, l, 20, 10, 0, 0)
	wantError(t, l, kindTimeout, 10)
	if text := l.Errors[0].Example; !strings.Contains(text, "no first byte of an answer within 200ms (timeouts.first_byte)") {
		t.Errorf("error %q", text)
	}
	if from := nsOf(l.Service.CensoredFromNS); from < 200*time.Millisecond || from > 390*time.Millisecond && quiet(t, l) {
		t.Errorf("the first timeout came after %v, want 200ms", from)
	}
	if most := nsOf(l.Response.MaxNS); most < 400*time.Millisecond {
		t.Errorf("the longest answer took %v, want the slow bodies' 400ms", most)
	}
}

// A connection, or a TLS handshake, that is not made in time ends the request then.
func TestConnectionTimeout(t *testing.T) { onEach(t, testConnectionTimeout) }

func testConnectionTimeout(t *testing.T) {
	// A listener that accepts nothing: TCP connects, and the handshake has no answer.
	deaf, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer deaf.Close()
	req := get()
	u := urlOf(deaf.Addr().String())
	u.Scheme = "https"
	req.Target.URLs = append(req.Target.URLs, u)
	req.Target.TLS.SkipVerify = true
	cfg := config(t, req, hold(50, ms(200)))
	cfg.Timeouts.Connect = 150 * time.Millisecond
	l := run(t, cfg)
	wantCounts(t, l, 0, 10, 0, 0)
	wantError(t, l, kindTimeout, 10)
	if text := l.Errors[0].Example; !strings.Contains(text, "no connection within 150ms (timeouts.connect)") {
		t.Errorf("error %q", text)
	}
	if from := nsOf(l.Service.CensoredFromNS); from < 150*time.Millisecond {
		t.Errorf("the first timeout came after %v, want 150ms", from)
	}
}
