package verdict

import (
	"slices"
	"testing"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// Each way in which a load generator can go wrong has a code of its own, and what did no harm does not make a stage
// invalid.
func TestReasonCodes(t *testing.T) {
	share := func(v float64) *float64 { return &v }
	number := func(v int64) *int64 { return &v }
	for _, c := range []struct {
		name    string
		harmed  bool // dispatch lag p99 300 ms
		edit    func(l *result.Load)
		suspect []string
		invalid []string
	}{
		{"healthy", false, func(l *result.Load) {}, nil, nil},
		{"late", true, func(l *result.Load) {}, nil, []string{"dispatch_lag"}},
		{"frozen", true, func(l *result.Load) {
			l.Audit.PauseMaxNS, l.Audit.PausesOver20ms, l.Audit.FrozenNS = number(300*ms), 5, 1500*ms
		}, nil, []string{"dispatch_lag", "frozen"}},
		{"frozen without harm", false, func(l *result.Load) { l.Audit.PauseMaxNS, l.Audit.PausesOver20ms = number(30*ms), 1 }, []string{"frozen"}, nil},
		{"starved", true, func(l *result.Load) { l.Audit.RunDelayShare, l.Audit.PauseMaxNS = share(0.6), number(40*ms) }, []string{"frozen"}, []string{"dispatch_lag", "starved"}},
		{"starved without harm", false, func(l *result.Load) { l.Audit.RunDelayShare = share(0.06) }, []string{"starved"}, nil},
		{"throttled", true, func(l *result.Load) { l.Audit.ThrottledNS, l.Audit.ThrottledPeriods = number(3000*ms), number(40) }, nil, []string{"dispatch_lag", "throttled"}},
		{"steal", true, func(l *result.Load) { l.Audit.StealShare = share(0.2) }, nil, []string{"dispatch_lag", "steal"}},
		{"little steal", false, func(l *result.Load) { l.Audit.StealShare = share(0.02) }, []string{"steal"}, nil},
		{"throttled to a stall", true, func(l *result.Load) {
			l.Audit.ThrottledNS, l.Audit.PauseMaxNS, l.Audit.FrozenNS, l.Audit.GCPauseMaxNS = number(3000*ms), number(80*ms), 2000*ms, number(30*ms)
		}, []string{"gc", "frozen"}, []string{"dispatch_lag", "throttled"}},
		{"collections", true, func(l *result.Load) { l.Audit.GCPauseMaxNS = number(60 * ms) }, nil, []string{"dispatch_lag", "gc"}},
		{"no ports", false, func(l *result.Load) {
			l.Errors = []result.Error{{Kind: "ports", Class: result.ClassGenerator, Count: 3, Example: "cannot assign requested address"}}
		}, nil, []string{"ports"}},
		{"ports near their end", false, func(l *result.Load) { l.Audit.LocalPorts, l.Audit.TimeWaitMax = number(28_232), number(20_000) }, []string{"ports"}, nil},
		{"descriptors near their end", false, func(l *result.Load) { l.Audit.DescriptorLimit, l.Audit.DescriptorsMax = number(1024), number(1000) }, []string{"descriptors"}, nil},
		{"full listener", false, func(l *result.Load) {
			l.Audit.TCP = &result.TCP{SegmentsOut: 100_000, ListenOverflows: 4, ListenDrops: 4}
		}, []string{"listen_drops"}, nil},
		{"loss", false, func(l *result.Load) { l.Audit.TCP = &result.TCP{SegmentsOut: 100_000, Retransmitted: 50} }, []string{"retransmits"}, nil},
		{"no loss", false, func(l *result.Load) { l.Audit.TCP = &result.TCP{SegmentsOut: 100_000, Retransmitted: 5} }, nil, nil},
		{"replays", false, func(l *result.Load) { l.Wire.Attempts = l.Sent + 1 }, nil, []string{"replays"}},
		{"redirects", false, func(l *result.Load) { l.Wire.Attempts, l.Wire.Redirects = l.Sent+5, 5 }, nil, nil},
		{"accounts that differ", false, func(l *result.Load) { l.Audit.MeanInFlight, l.Audit.MeanInFlightByTimes = 10, 8 }, nil, []string{"littles_law"}},
		{"accounts that differ a little", false, func(l *result.Load) { l.Audit.MeanInFlight, l.Audit.MeanInFlightByTimes = 10, 9.7 }, []string{"littles_law"}, nil},
		{"a second that was missed", false, func(l *result.Load) {
			l.Series = []result.Second{{Offered: 100, Sent: 100}, {Offered: 100, Sent: 50}, {Offered: 100, Sent: 150}}
		}, []string{"not_offered"}, nil},
		{"a second that was missed, with harm", true, func(l *result.Load) {
			l.Series = []result.Second{{Offered: 100, Sent: 100}, {Offered: 100, Sent: 50}, {Offered: 100, Sent: 150}}
		}, nil, []string{"dispatch_lag", "not_offered"}},
		{"a send on the second", false, func(l *result.Load) {
			l.Series = []result.Second{{Offered: 100, Sent: 99}, {Offered: 100, Sent: 101}}
		}, nil, nil},
		{"bunches", false, func(l *result.Load) { l.Audit.Dispersion, l.Audit.PlannedDispersion = share(9), share(1) }, []string{"arrival_shape"}, nil},
		{"bunches at the bound", false, func(l *result.Load) {
			l.Audit.Dispersion, l.Audit.PlannedDispersion, l.Audit.Capped = share(9), share(1), 500
		}, []string{"in_flight_cap"}, nil},
	} {
		st := judge(t, parse(t, "p99 < 150ms"), func(st *result.Stage) {
			h := hist.New()
			h.RecordN(ms/10, 900)
			if c.harmed {
				h.RecordN(300*ms, 100)
			}
			st.Load.DispatchLag = distribution(t, h)
			st.Load.Segments[0].DispatchLag = st.Load.DispatchLag
			c.edit(st.Load)
		}, sample{n: 1000, serv: 5 * ms})
		codes := func(severity string) (list []string) {
			for _, w := range st.Warnings {
				if w.Severity == severity {
					list = append(list, w.Code)
				}
				if w.Severity != result.Note && w.Text == "" {
					t.Errorf("%s: %s has no text", c.name, w.Code)
				}
			}
			return list
		}
		if s, i := codes(result.Suspect), codes(result.Invalid); !slices.Equal(s, c.suspect) || !slices.Equal(i, c.invalid) {
			t.Errorf("%s: suspect %v, invalid %v, want %v, %v", c.name, s, i, c.suspect, c.invalid)
		}
		if want := map[bool]result.Outcome{true: result.Inconclusive, false: result.Pass}[len(c.invalid) > 0]; st.Outcome != want {
			t.Errorf("%s: the stage is %s, %q, want %s", c.name, st.Outcome, st.Reason, want)
		}
	}
}

// Without a limit on response times a lag of a second is too much, unless answers take ten times as long.
func TestLagWithoutLimit(t *testing.T) {
	for _, c := range []struct {
		lag, serv int64
		want      result.Outcome
	}{{1 * ms, 5 * ms, result.Pass}, {900 * ms, 5 * ms, result.Pass}, {1200 * ms, 5 * ms, result.Inconclusive}, {1200 * ms, 15_000 * ms, result.Pass}} {
		st := judge(t, parse(t, "error_rate < 1%"), func(st *result.Stage) {
			h := hist.New()
			h.RecordN(c.lag, 1000)
			st.Load.DispatchLag = distribution(t, h)
			st.Load.Segments[0].DispatchLag = st.Load.DispatchLag
		}, sample{n: 1000, serv: c.serv})
		if st.Outcome != c.want {
			t.Errorf("lag of %d ms, answers in %d ms: %s, %v, want %s", c.lag/ms, c.serv/ms, st.Outcome, st.Warnings, c.want)
		}
	}
}
