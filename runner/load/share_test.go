package load

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// C-19, C-35: three generators that take a share each send together what one would: every arrival of the schedule, every row and
// every draw of the mix, once. Their records together are that of the whole, percentiles from histograms and not from percentiles.
func TestSharesAreTheWhole(t *testing.T) {
	onEach(t, func(t *testing.T) {
		const rows, n = 2000, 3
		s := serve(t, func(c *call) {
			if c.n%10 == 0 {
				time.Sleep(20 * time.Millisecond)
			}
			c.ok("ok")
		})
		req := streamed(t, "d.csv", rowsOf("d.csv", rows))
		req.Target = get(s).Target
		req.Data[0].Order = plans.Unique
		other := *req
		req.Name, other.Name, other.Method = "post", "put", "PUT"
		cfg := config(t, req, hold(rows/2, time.Second), hold(rows/2, time.Second))
		cfg.Mix = []Share{{req, 3}, {&other, 1}}
		m, err := newMix(&cfg)
		if err != nil {
			t.Fatal(err)
		}
		var puts int64
		for i := range int64(rows) {
			puts += int64(m.number(i))
		}
		if err := m.close(); err != nil {
			t.Fatal(err)
		}
		parts := make([]*result.Load, n)
		var all sync.WaitGroup
		for i := range n {
			own := cfg
			if own.Schedule, err = cfg.Schedule.Part(i, n); err != nil {
				t.Fatal(err)
			}
			all.Go(func() {
				var err error
				if parts[i], err = Run(t.Context(), own); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		if t.Failed() {
			return
		}
		union := hist.New()
		for i, l := range parts {
			conserve(t, l)
			if want := int64((rows + n - 1 - i) / n); l.Planned != want || l.Offered != want || l.Segments[0].Planned+l.Segments[1].Planned != want {
				t.Errorf("share %d: %d planned, %d and %d of its segments, %d offered; want %d", i, l.Planned, l.Segments[0].Planned, l.Segments[1].Planned, l.Offered, want)
			}
			h, err := hist.Decode(l.Response.Histogram)
			if err != nil {
				t.Fatal(err)
			}
			union.Merge(h)
		}
		whole := parts[0]
		for _, l := range parts[1:] {
			if err := Merge(whole, l); err != nil {
				t.Fatal(err)
			}
		}
		conserve(t, whole)
		seen, put := map[string]int{}, int64(0)
		for _, line := range s.requestLines() {
			seen[line[strings.Index(line, " "):]]++
			if strings.HasPrefix(line, "PUT") {
				put++
			}
		}
		if whole.Planned != rows || whole.Completed != rows || len(seen) != rows || put != puts || seen[fmt.Sprintf(" /%d?n=n%%20%%0A%d HTTP/1.1", rows-1, rows-1)] != 1 {
			t.Errorf("%d planned, %d completed, %d different rows, %d of %d PUT; want %d", whole.Planned, whole.Completed, len(seen), put, puts, rows)
		}
		if s0 := whole.Segments[0]; math.Abs(s0.FromPerS-rows/2) > 1e-6 || s0.Planned != rows/2 || s0.DurationNS != int64(time.Second) {
			t.Errorf("first segment: from %v/s, %d planned in %v", s0.FromPerS, s0.Planned, time.Duration(s0.DurationNS))
		}
		if i := slices.IndexFunc(whole.Requests, func(r result.RequestLoad) bool { return r.Request == "put" }); i < 0 || whole.Requests[i].Offered != puts {
			t.Errorf("requests apart: %d at %d, want %d PUT", len(whole.Requests), i, puts)
		}
		for _, q := range []float64{0.5, 0.9, 0.95, 0.99, 0.999} {
			want, _ := union.Quantile(q)
			h, err := hist.Decode(whole.Response.Histogram)
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := h.Quantile(q); got != want {
				t.Errorf("p%v of all = %v, want %v", 100*q, got, want)
			}
		}
	})
}

// Of hosts, each share sends to all; so does each with a bound on connections.
func TestSharesOfHosts(t *testing.T) {
	onEach(t, func(t *testing.T) {
		a, b := serve(t, func(c *call) { c.ok("ok") }), serve(t, func(c *call) { c.ok("ok") })
		cfg := config(t, get(a), hold(400, time.Second))
		cfg.Hosts = append(cfg.Hosts, config(t, get(b), hold(1, time.Second)).Hosts...)
		cfg.Connections = 4
		for i := range 2 {
			own := cfg
			own.Schedule, _ = cfg.Schedule.Part(i, 2)
			l := run(t, own)
			if l.Hosts[0].Completed != 100 || l.Hosts[1].Completed != 100 {
				t.Errorf("share %d: %d and %d requests, want 100 to each host", i, l.Hosts[0].Completed, l.Hosts[1].Completed)
			}
		}
		if a.arrivals.Load() != 200 || b.arrivals.Load() != 200 {
			t.Errorf("%d and %d requests, want 200 at each", a.arrivals.Load(), b.arrivals.Load())
		}
	})
}
