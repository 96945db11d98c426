package report

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// A simulation makes the record of a load stage: requests at even distances, served by as many servers as there may be
// requests in flight, with service times around a median.
type simulation struct {
	segments    []segmentSpec
	median      time.Duration
	spread      float64 // of the logarithm of service times
	maxInFlight int
	errors      float64       // share of requests that fail at once
	errorKind   string        // status or refused
	hang        float64       // share of requests that time out
	timeout     time.Duration // 0: 10 s
	stop        time.Duration // 0: at the end
	limit       time.Duration
	hosts       int
}

type segmentSpec struct {
	kind     string
	from, to float64
	over     time.Duration
}

func (s segmentSpec) name() string {
	if s.kind == "ramp" {
		return "ramp " + strconv.FormatFloat(s.from, 'g', -1, 64) + "/s to " + strconv.FormatFloat(s.to, 'g', -1, 64) + "/s"
	}
	return s.kind + " " + strconv.FormatFloat(s.to, 'g', -1, 64) + "/s"
}

func ref[T any](v T) *T { return &v }

// figures are a distribution without its histogram, which is slow to encode.
func figures(h *hist.Hist, censored int64) result.Distribution {
	d := result.Distribution{Count: h.Count()}
	if d.Count == 0 {
		return d
	}
	q := func(q float64) *int64 { ns, _ := h.Quantile(q); return &ns }
	d.MinNS, d.MaxNS, d.MeanNS = ref(h.Min()), ref(h.Max()), ref(h.Mean())
	d.P50NS, d.P90NS, d.P95NS, d.P99NS, d.P999NS = q(.5), q(.9), q(.95), q(.99), q(.999)
	d.SumNS = h.Mean() * float64(d.Count)
	if censored > 0 {
		d.CensoredFromNS = &censored
	}
	return d
}

func distribution(h *hist.Hist, censored int64) result.Distribution {
	d := figures(h, censored)
	if d.Count == 0 {
		return d
	}
	text, err := h.Encode()
	if err != nil {
		panic(err)
	}
	d.Histogram = text
	return d
}

// tallies are the histograms and counts of a stage, a segment or a host.
type tallies struct {
	response, service, lag, dispatch, waiting, failed hist.Hist
	counts                                            result.Counts
	capped, over                                      int64
	busy                                              int64
}

// simulated keeps what was simulated before, by simulation: encoding histograms is slow under the race detector.
var simulated sync.Map

// run returns a record that may be changed.
func (s simulation) run() *result.Load {
	key := fmt.Sprintf("%+v", s)
	kept, ok := simulated.Load(key)
	if !ok {
		kept, _ = simulated.LoadOrStore(key, s.simulate())
	}
	l := *kept.(*result.Load)
	l.Errors, l.Segments, l.Hosts, l.Series = slices.Clone(l.Errors), slices.Clone(l.Segments), slices.Clone(l.Hosts), slices.Clone(l.Series)
	l.Intervals, l.Status = slices.Clone(l.Intervals), maps.Clone(l.Status)
	return &l
}

func (s simulation) simulate() *result.Load {
	r := rand.New(rand.NewPCG(1, 2))
	if s.timeout == 0 {
		s.timeout = 10 * time.Second
	}
	l := &result.Load{Request: "get-ranking", Target: "predictor", Engine: "goroutine", Arrivals: "uniform", Seed: 42, MaxInFlight: s.maxInFlight, AtMax: "wait",
		KeepAlive: true, TimeoutNS: int64(s.timeout), LimitsNS: []int64{int64(s.limit) - 1}, Status: map[string]int64{}}
	free := make([]int64, s.maxInFlight)
	var all tallies
	hosts := make([]tallies, max(1, s.hosts))
	var seconds []*tallies
	done := map[int64][2]int64{} // by second of the end: completed, failed
	timeouts := int64(0)
	start := int64(0)
	for _, spec := range s.segments {
		var seg tallies
		n := int64((spec.from + spec.to) / 2 * spec.over.Seconds())
		for i := range n {
			x := (float64(i) + 0.5) / float64(n)
			share := x
			if a, b := spec.from, spec.to; a != b {
				share = (math.Sqrt(a*a+x*(b*b-a*a)) - a) / (b - a)
			}
			intended := start + int64(share*float64(spec.over))
			if s.stop > 0 && intended >= int64(s.stop) {
				break
			}
			slot := 0
			for j := range free {
				if free[j] < free[slot] {
					slot = j
				}
			}
			late := int64(20e3 + 30e3*r.Float64())
			sent := max(intended, free[slot]) + late
			service := int64(float64(s.median) * math.Exp(s.spread*r.NormFloat64()))
			bad, hung := r.Float64() < s.errors, r.Float64() < s.hang
			switch {
			case hung:
				service = int64(s.timeout)
				timeouts++
			case bad:
				service /= 20
			}
			free[slot] = sent + service
			sec := int(intended / 1e9)
			for len(seconds) <= sec {
				seconds = append(seconds, &tallies{})
			}
			end := done[(sent+service)/1e9]
			for _, t := range []*tallies{&all, &seg, &hosts[int(i)%len(hosts)], seconds[sec]} {
				t.counts.Offered++
				t.counts.Sent++
				t.lag.Record(sent - intended)
				t.dispatch.Record(late)
				t.waiting.Record(sent - intended - late)
				t.busy += service
				if sent-intended > late {
					t.capped++
				}
				if bad && !hung {
					t.counts.Failed++
					t.failed.Record(sent + service - intended)
					t.over++
					continue
				}
				if hung {
					t.counts.Failed++
				} else {
					t.counts.Completed++
				}
				t.response.Record(sent + service - intended)
				t.service.Record(service)
				if sent+service-intended >= int64(s.limit) {
					t.over++
				}
			}
			end[bit(bad || hung)]++
			done[(sent+service)/1e9] = end
		}
		l.Planned += n
		l.PlannedNS += int64(spec.over)
		length := spec.over
		if s.stop > 0 {
			length = max(0, min(length, s.stop-time.Duration(start)))
		}
		l.Segments = append(l.Segments, s.segment(&seg, spec, start, length, n))
		start += int64(spec.over)
	}
	l.DurationNS = start
	if s.stop > 0 {
		l.DurationNS = min(start, int64(s.stop))
	}
	s.finish(l, &all, hosts, seconds, done, timeouts)
	return l
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func (s simulation) censored() int64 {
	if s.hang > 0 {
		return int64(s.timeout)
	}
	return 0
}

func (s simulation) segment(t *tallies, spec segmentSpec, start int64, length time.Duration, planned int64) result.Segment {
	seg := result.Segment{Counts: t.counts, Name: spec.name(), Kind: spec.kind, FromPerS: spec.from, ToPerS: spec.to, StartNS: start, DurationNS: int64(length),
		Planned: planned, Response: figures(&t.response, s.censored()), Service: figures(&t.service, s.censored()), Lag: figures(&t.lag, 0),
		DispatchLag: figures(&t.dispatch, 0), Capped: t.capped, OverResponse: []int64{t.over}, OverService: []int64{t.counts.Failed}}
	if length > 0 {
		seg.ThroughputPerS = float64(t.counts.Completed) / length.Seconds()
		seg.MeanInFlight = float64(t.busy) / float64(length)
	}
	return seg
}

func (s simulation) finish(l *result.Load, all *tallies, hosts []tallies, seconds []*tallies, done map[int64][2]int64, timeouts int64) {
	l.Counts, l.DrainNS = all.counts, 41e6
	l.Response, l.Service, l.Lag = distribution(&all.response, s.censored()), distribution(&all.service, s.censored()), figures(&all.lag, 0)
	l.Waiting, l.DispatchLag, l.FailedResponse = figures(&all.waiting, 0), figures(&all.dispatch, 0), figures(&all.failed, 0)
	if d := float64(l.DurationNS) / 1e9; d > 0 {
		l.OfferedPerS, l.ThroughputPerS = float64(l.Offered)/d, float64(l.Completed)/d
	}
	if n := l.Failed - timeouts; n > 0 {
		e := result.Error{Kind: s.errorKind, Class: result.ClassTarget, Count: n, Example: "got status 503, want 200"}
		if s.errorKind == "refused" {
			e.Example = "dial tcp 127.0.0.1:8080: connect: connection refused"
		} else {
			l.Status["503"] = n
		}
		l.Errors = append(l.Errors, e)
	}
	if timeouts > 0 {
		l.Errors = append(l.Errors, result.Error{Kind: "timeout", Class: result.ClassTarget, Count: timeouts, Example: "no answer within " + s.timeout.String()})
	}
	if l.Completed > 0 {
		l.Status["200"] = l.Completed
	}
	for i := range hosts {
		l.Hosts = append(l.Hosts, result.Host{Counts: hosts[i].counts, Address: "127.0.0." + strconv.Itoa(i+1) + ":8080", Response: figures(&hosts[i].response, s.censored())})
	}
	l.Wire = result.Wire{Attempts: l.Sent, Opened: int64(s.maxInFlight), Reused: max(0, l.Sent-int64(s.maxInFlight)), BytesOut: 310 * l.Sent, BytesIn: 6700 * l.Completed, BodyBytes: 6500 * l.Completed}
	flight := int64(0)
	for i, t := range seconds {
		end := done[int64(i)]
		flight = max(0, flight+t.counts.Offered-end[0]-end[1])
		sec := result.Second{TNS: int64(i) * 1e9, Offered: t.counts.Offered, Sent: t.counts.Sent, Completed: end[0], Failed: end[1], InFlight: min(flight, int64(s.maxInFlight))}
		if d := distribution(&t.response, 0); d.Count > 0 {
			sec.P50NS, sec.P99NS, sec.MaxNS = d.P50NS, d.P99NS, d.MaxNS
			l.Intervals = append(l.Intervals, result.HistInterval{StartNS: sec.TNS, EndNS: sec.TNS + 1e9, Histogram: d.Histogram})
		}
		if d := figures(&t.lag, 0); d.Count > 0 {
			sec.LagMaxNS = d.MaxNS
		}
		l.Series = append(l.Series, sec)
		l.Audit.MaxInFlight = max(l.Audit.MaxInFlight, sec.InFlight)
	}
	l.Audit.Capped = all.capped
	if l.DurationNS > 0 {
		l.Audit.MeanInFlight = float64(all.busy) / float64(l.DurationNS)
	}
	l.Audit.CPUShare, l.Audit.RunDelayShare, l.Audit.PauseMaxNS, l.Audit.GCPauseMaxNS, l.Audit.StealShare = ref(0.21), ref(0.004), ref(int64(3_400_000)), ref(int64(310_000)), ref(0.0)
}
