package load

import (
	"slices"
	"strconv"
	"strings"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// A part has the accounts of all arrivals, or of those that one request of a mix
// got.
type part struct {
	total    result.Counts
	segment  int // of the arrival counted last
	segments []*segmentAccount
	times    *times
	failed   *hist.Hist  // response times of failures other than timeouts
	status   [1000]int64 // by code
	errors   map[errorKey]*result.Error
	windows  []*windowCount
}

func newPart(cfg *Config, spare *spareHists) part {
	p := part{times: newTimes(spare), failed: hist.New(), errors: map[errorKey]*result.Error{}, windows: newWindows(cfg)}
	for i, span := range cfg.Schedule.Segments() {
		kind := ""
		if i < len(cfg.Kinds) {
			kind = cfg.Kinds[i]
		}
		p.segments = append(p.segments, newSegmentAccount(span, kind, cfg.LimitsNS))
	}
	return p
}

// offer counts an arrival. They come in order.
func (p *part) offer(offset int64, segment int, spare *spareHists) {
	p.total.Offered++
	p.sealTo(segment, spare)
	p.segments[segment].offer(offset, spare)
}

// sealTo says that no more arrivals come for the segments before the given one.
func (p *part) sealTo(segment int, spare *spareHists) {
	for ; p.segment < segment; p.segment++ {
		seg := p.segments[p.segment]
		seg.sealed = true
		p.closeSegment(seg, spare)
	}
}

func (p *part) closeSegment(seg *segmentAccount, spare *spareHists) {
	if seg.finished() {
		seg.times.settle()
		p.times.merge(seg.times)
		seg.close(spare)
	}
}

// add brings an end to account. Its arrival was counted by offer.
func (p *part) add(s *sample, limits []int64, spare *spareHists) {
	count(&p.total, s)
	seg := p.segments[s.segment]
	seg.add(s, limits)
	p.closeSegment(seg, spare)
	for _, w := range p.windows {
		w.add(s, limits)
	}
	if s.outcome == failed {
		p.failed.Record(s.end - s.intended)
	}
	if s.status > 0 {
		p.status[s.status]++
	}
	if s.fail != nil {
		p.addError(s.fail)
	}
}

// ended are the counts of what has ended, by segment.
func (p *part) ended() []result.Segment {
	all := make([]result.Segment, len(p.segments))
	for i, seg := range p.segments {
		r := &seg.record
		all[i] = result.Segment{Counts: r.Counts, Name: r.Name, OverResponse: slices.Clone(r.OverResponse), OverService: slices.Clone(r.OverService)}
		all[i].Offered = seg.ended
	}
	return all
}

func (p *part) addError(f *failure) {
	key := errorKey{f.kind, f.class(), f.of}
	e := p.errors[key]
	if e == nil {
		e = &result.Error{Kind: key.kind, Class: key.class, Of: key.of, Example: clipText(f.text)}
		p.errors[key] = e
	}
	if f.body != nil && e.Sample == "" {
		e.Sample = strings.ToValidUTF8(string(f.body), "\uFFFD")
	}
	e.Count++
}

// statusCodes are the codes that came, with how often each did.
func (p *part) statusCodes() map[string]int64 {
	codes := map[string]int64{}
	for code, n := range p.status {
		if n > 0 {
			codes[strconv.Itoa(code)] = n
		}
	}
	return codes
}

// segmentRecords closes what is open. The part of the schedule that was offered ended at offered.
func (p *part) segmentRecords(spare *spareHists, offered int64) ([]result.Segment, error) {
	p.sealTo(len(p.segments), spare)
	var list []result.Segment
	for _, seg := range p.segments {
		if seg.err != nil {
			return nil, seg.err
		}
		seg.cut(offered)
		list = append(list, seg.record)
	}
	return list, nil
}

// record is that of one request of a mix, or of a flow; all are the figures of the whole.
func (p *part) record(name string, weight int, spare *spareHists, all *result.Load) (r result.RequestLoad, err error) {
	r = result.RequestLoad{Counts: p.total, Request: name, Weight: int64(weight), Errors: p.errorList(), Status: p.statusCodes(),
		Windows: records(p.windows)}
	if r.Segments, err = p.segmentRecords(spare, all.DurationNS); err != nil {
		return r, err
	}
	r.OfferedPerS, r.ThroughputPerS = ratePerS(r.Offered, all.DurationNS), ratePerS(r.Completed, all.DurationNS)
	t := p.times
	return r, spare.encodeAll([]encoding{{&r.Response, t.response, t.censoredResponse}, {&r.Service, t.service, t.censoredService}, {&r.Lag, t.lag, -1},
		{&r.DispatchLag, t.dispatch, -1}, {&r.FailedResponse, p.failed, -1}})
}
