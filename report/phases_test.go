package report

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// The times on the wire are shown in the order in which they pass, and those that nothing took are left out.
func TestTimesOnTheWire(t *testing.T) {
	took := func(ns int64) result.Distribution {
		h := hist.New()
		h.Record(ns)
		return figures(h, -1)
	}
	for _, c := range []struct {
		wire result.Wire
		want string
	}{
		{result.Wire{}, ""},
		{result.Wire{Connect: took(1e6), FirstByte: took(2e6)}, "connect, first byte − sent"},
		{result.Wire{DNS: took(1e6), Connect: took(2e6), TLS: took(3e6), Send: took(4e6), FirstByte: took(5e6), Body: took(6e6)},
			"name look-up, connect, TLS handshake, sending the request, first byte − sent, last byte − first byte"},
	} {
		var names []string
		for _, more := range networkPart(&result.Load{Wire: c.wire}).More {
			for _, row := range more.Rows {
				names = append(names, row[0].Text)
			}
		}
		if got := strings.Join(names, ", "); got != c.want {
			t.Errorf("times on the wire = %q, want %q", got, c.want)
		}
	}
}

// The settings say what the timeout counts from; records that do not are of runs that had one clock.
func TestTimeoutClockShown(t *testing.T) {
	for from, want := range map[string]string{"": "timeout 2 s from the send,", "sent": "timeout 2 s from the send,", "intended": "timeout 2 s from the intended time,"} {
		lines := strings.Join(auditPart(&result.Load{TimeoutNS: 2e9, TimeoutFrom: from}).Lines, "\n")
		if !strings.Contains(lines, want) {
			t.Errorf("timeout from %q is shown as %q, want %q in it", from, lines, want)
		}
	}
}
