package load

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
)

// halves answers with the head and half of the body, and the rest later.
func halves(x *call, later time.Duration) {
	x.say("HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nhalf")
	time.Sleep(later)
}

// T18: the first byte and the last are two times.
func TestSlowBody(t *testing.T) { onEach(t, testSlowBody) }

func testSlowBody(t *testing.T) {
	const d = 300 * time.Millisecond
	s := serve(t, func(x *call) {
		halves(x, d/2)
		x.say("h")
		time.Sleep(d / 2)
		x.say("alf")
	})
	l := run(t, config(t, get(s), hold(20, ms(500))), s)
	wantCounts(t, l, 10, 0, 0, 0)
	body, first := l.Wire.Body, l.Wire.FirstByte
	if body.Count != 10 || first.Count != 10 || nsOf(l.Service.MinNS) < d {
		t.Fatalf("%d bodies, %d first bytes, service time from %v, want 10, 10, %v", body.Count, first.Count, nsOf(l.Service.MinNS), d)
	}
	if !near(first.SumNS+body.SumNS, l.Service.SumNS) {
		t.Errorf("first byte + body = %.0f ns, want the service time, %.0f ns", first.SumNS+body.SumNS, l.Service.SumNS)
	}
	if quiet(t, l) && (nsOf(first.P50NS) > d/2 || nsOf(body.P50NS) < d-20*time.Millisecond) {
		t.Errorf("first byte p50 %v, body p50 %v, want about 0 and %v", nsOf(first.P50NS), nsOf(body.P50NS), d)
	}
	wantSends(t, l, 10, 0, 0)
}

// T18: an answer that is cut has a first byte and no last one.
func TestCutBody(t *testing.T) { onEach(t, testCutBody) }

func testCutBody(t *testing.T) {
	const d = 200 * time.Millisecond
	s := serve(t, func(x *call) {
		halves(x, d)
		x.close()
	})
	l := run(t, config(t, get(s), hold(20, ms(500))), s)
	wantCounts(t, l, 0, 10, 0, 0)
	wantError(t, l, kindClosed, 10)
	if l.Wire.FirstByte.Count != 10 || l.Wire.Body.Count != 0 || nsOf(l.FailedResponse.MinNS) < d {
		t.Errorf("%d first bytes, %d bodies, failed after %v, want 10, 0, %v", l.Wire.FirstByte.Count, l.Wire.Body.Count, nsOf(l.FailedResponse.MinNS), d)
	}
	if quiet(t, l) && nsOf(l.Wire.FirstByte.P50NS) > d/2 {
		t.Errorf("first byte p50 %v, want about 0", nsOf(l.Wire.FirstByte.P50NS))
	}
	wantSends(t, l, 10, 0, 0)
}

// wantSends compares how many requests went out whole, and how long that took, in all cases between least and most (0:
// no bound).
func wantSends(t *testing.T, l *result.Load, count int64, least, most time.Duration) {
	t.Helper()
	d := l.Wire.Send
	if d.Count != count {
		t.Errorf("%d requests sent whole, want %d", d.Count, count)
		return
	}
	if count > 0 && (nsOf(d.MinNS) < least || nsOf(d.MaxNS) > most && (most > 0 || least == 0)) {
		t.Errorf("sending took %v to %v, want %v to %v", nsOf(d.MinNS), nsOf(d.MaxNS), least, most)
	}
}

// What goes out in one piece and comes in one has phases of 0; a server that is slow to read makes the sending long.
func TestSendPhase(t *testing.T) { onEach(t, testSendPhase) }

func testSendPhase(t *testing.T) {
	const d = 300 * time.Millisecond
	quick := serve(t, func(x *call) { x.ok("ok") })
	l := run(t, config(t, post("{}", quick), hold(50, ms(200))), quick)
	wantCounts(t, l, 10, 0, 0, 0)
	wantSends(t, l, 10, 0, 0)
	if b := l.Wire.Body; b.Count != 10 || nsOf(b.P50NS) != 0 {
		t.Errorf("body = %+v, want 10 of 0", b)
	}
	if l.Wire.DNS.Count != 0 || l.Wire.Connect.Count != l.Wire.Opened || l.Wire.TLS.Count != 0 {
		t.Errorf("%d look-ups, %d connect times of %d connections, %d handshakes, want 0, all, 0",
			l.Wire.DNS.Count, l.Wire.Connect.Count, l.Wire.Opened, l.Wire.TLS.Count)
	}

	const size = 32 << 20 // more than the buffers between here and there
	slow := serve(t, func(x *call) {
		time.Sleep(d)
		n, _ := x.in.Discard(size)
		x.ok(strconv.Itoa(n))
	})
	slow.leaveBody()
	l = run(t, config(t, post(strings.Repeat("x", size), slow), hold(10, ms(200))), slow)
	wantCounts(t, l, 2, 0, 0, 0)
	wantSends(t, l, 2, d-20*time.Millisecond, 20*time.Second)
	if sum := l.Wire.Send.SumNS; sum > l.Service.SumNS {
		t.Errorf("sending took %.0f ns in all, want less than the service time, %.0f ns", sum, l.Service.SumNS)
	}

	early := serve(t, func(x *call) {
		x.say("HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n")
		time.Sleep(time.Second) // and never reads the body
		x.close()
	})
	early.leaveBody()
	l = run(t, config(t, post(strings.Repeat("x", size), early), hold(10, ms(200))), early)
	wantCounts(t, l, 0, 2, 0, 0)
	wantSends(t, l, 0, 0, 0) // none went out whole
	if l.Wire.Body.Count != 2 || l.Wire.FirstByte.Count != 2 {
		t.Errorf("%d bodies, %d first bytes, want 2 and 2 of the answers that were complete", l.Wire.Body.Count, l.Wire.FirstByte.Count)
	}
}

// The phases of a TLS connection are in the record, and a request of several records is one.
func TestPhasesTLS(t *testing.T) { onEach(t, testPhasesTLS) }

func testPhasesTLS(t *testing.T) {
	body := strings.Repeat("x", 100_000)
	s, caFile := serveTLS(t, 0, func(x *call) { x.ok(strconv.Itoa(len(x.body))) }, "127.0.0.1")
	req := getTLS(s, plans.TLS{CAFile: caFile})
	req.Method, req.Body, req.HasBody = "POST", literal(body), true
	l := run(t, config(t, req, hold(50, ms(200))), s)
	wantCounts(t, l, 10, 0, 0, 0)
	w := l.Wire
	if w.Connect.Count != w.Opened || w.TLS.Count != w.Opened || w.Send.Count != 10 || w.Body.Count != 10 || w.FirstByte.Count != 10 {
		t.Errorf("connect %d, TLS %d of %d connections, send %d, first byte %d, body %d, want all and 10 each",
			w.Connect.Count, w.TLS.Count, w.Opened, w.Send.Count, w.FirstByte.Count, w.Body.Count)
	}
}

// Hops of a redirect are sent one after another; the body of the last has no time of its own.
func TestPhasesRedirect(t *testing.T) {
	t.Parallel()
	s := serve(t, func(x *call) {
		if strings.HasPrefix(x.line, "GET /there ") {
			x.ok("here")
			return
		}
		x.say("HTTP/1.1 302 Found\r\nLocation: /there\r\nContent-Length: 0\r\n\r\n")
	})
	req := get(s)
	req.Redirects = 1
	l := run(t, config(t, req, hold(50, ms(100))), s)
	wantCounts(t, l, 5, 0, 0, 0)
	wantSends(t, l, 5, 0, 0)
	if l.Wire.Redirects != 5 || l.Wire.Body.Count != 0 || l.Wire.FirstByte.Count != 5 {
		t.Errorf("redirects %d, bodies %d, first bytes %d, want 5, 0, 5", l.Wire.Redirects, l.Wire.Body.Count, l.Wire.FirstByte.Count)
	}
}

// A sender that wakes late does not make the sending longer than the request.
func TestSendingEndsWithTheAnswer(t *testing.T) {
	p := newPhases(nil)
	p.add(&sample{whole: true, sent: 10, end: 1010, sending: 9000})
	p.add(&sample{whole: true, sent: 10, end: 1010, sending: 400})
	p.settle()
	send := distribution(p.send, -1, "")
	if send.Count != 2 || *send.MaxNS != 1000 || send.SumNS != 1400 {
		t.Errorf("sending took %v ns at most and %v in all of %d, want 1000, 1400 and 2", *send.MaxNS, send.SumNS, send.Count)
	}
}
