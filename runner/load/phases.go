package load

import (
	"github.com/perfplan/perfplan/runner/hist"
)

// phases are the parts of a request's time that are none for most: the look-up
// of a name, the sending of a request that goes out in one piece, the body of an
// answer that comes in one.
type phases struct {
	dns, send, body        *hist.Hist
	sentAtOnce, readAtOnce int64 // requests whose phase was 0, not in the histograms yet
}

func newPhases(hosts []Host) phases {
	p := phases{dns: hist.New(), send: hist.New(), body: hist.New()}
	for _, h := range hosts {
		if h.LookedUp > 0 {
			p.dns.Record(int64(h.LookedUp))
		}
	}
	return p
}

// add records a request that was sent. The send phase is that of requests that
// went out whole, the body phase that of complete answers; where redirects were
// followed, the sendings are added up and the body has no time of its own. A
// sender that the machine woke only after the answer had come was done by then.
func (p *phases) add(s *sample) {
	switch {
	case !s.whole:
	case s.sending > 0:
		p.send.Record(min(s.sending, s.end-s.sent))
	default:
		p.sentAtOnce++
	}
	switch {
	case s.status == 0 || s.redirects > 0:
	case s.end > s.first:
		p.body.Record(s.end - s.first)
	default:
		p.readAtOnce++
	}
}

// settle completes the histograms.
func (p *phases) settle() {
	p.send.RecordN(0, p.sentAtOnce)
	p.body.RecordN(0, p.readAtOnce)
	p.sentAtOnce, p.readAtOnce = 0, 0
}
