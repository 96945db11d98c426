package load

import (
	"context"
	"net"
	"net/netip"
	"slices"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

const (
	lookupWait = 5 * time.Second // for an answer
	maxChanges = 100             // that a record tells one by one
)

// A refresher looks the names of hosts up again while a run is under way. What it
// finds is for new connections; those to another address than the host's are not
// used again, but by requests under way.
type refresher struct {
	e      *engine
	names  []named
	record *result.DNS
	cancel context.CancelFunc
	ended  chan struct{}
}

// A named is a name with the hosts, by index, that are its addresses.
type named struct {
	name, port string
	hosts      []int
}

// refresh starts what Config.Refresh asks for; nil: nothing.
func (e *engine) refresh() *refresher {
	if e.cfg.Refresh == 0 {
		return nil
	}
	r := &refresher{e: e, record: &result.DNS{RefreshNS: int64(e.cfg.Refresh), Changes: []result.AddressChange{}}, ended: make(chan struct{})}
	byURL := map[string]int{}
	for i, h := range e.hosts {
		if h.Name == "" {
			continue
		}
		url := h.Scheme + "://" + h.Authority + h.Prefix
		at, known := byURL[url]
		if !known {
			_, port, _ := net.SplitHostPort(h.Address)
			at = len(r.names)
			byURL[url] = at
			r.names = append(r.names, named{name: h.Name, port: port})
		}
		r.names[at].hosts = append(r.names[at].hosts, i)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r.cancel = cancel
	go r.run(ctx)
	return r
}

// stop ends it and returns what it did; r may be nil.
func (r *refresher) stop() *result.DNS {
	if r == nil {
		return nil
	}
	r.cancel()
	<-r.ended
	return r.record
}

func (r *refresher) run(ctx context.Context) {
	defer close(r.ended)
	ticks := time.NewTicker(r.e.cfg.Refresh)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticks.C:
		}
		for _, n := range r.names {
			r.lookUp(ctx, n)
		}
	}
}

func (r *refresher) lookUp(ctx context.Context, n named) {
	resolver := r.e.cfg.Resolver
	if resolver == nil {
		resolver = net.DefaultResolver
	}
	timed, cancel := context.WithTimeout(ctx, lookupWait)
	defer cancel()
	found, err := addressesFor(timed, resolver, n.name)
	if ctx.Err() != nil {
		return // of the end, not of the name
	}
	r.record.Lookups++
	if err != nil {
		r.record.Failed++
		return
	}
	var now []string
	for _, host := range n.hosts {
		now = append(now, *r.e.place(int32(host)))
	}
	for i, address := range repoint(now, ofFamily(now, found, n.port)) {
		if address == now[i] {
			continue
		}
		r.e.places[n.hosts[i]].Store(&address)
		r.record.Changed++
		if len(r.record.Changes) < maxChanges {
			r.record.Changes = append(r.record.Changes, result.AddressChange{TNS: max(0, r.e.now()), Host: n.hosts[i], From: now[i], To: address})
		}
	}
}

// ofFamily are the addresses found, with the port, of the families in use; all of them if there are no such.
func ofFamily(now []string, found []netip.Addr, port string) (fresh []string) {
	used := func(a netip.Addr) bool {
		return slices.ContainsFunc(now, func(address string) bool {
			p, err := netip.ParseAddrPort(address)
			return err == nil && p.Addr().Is4() == a.Is4()
		})
	}
	some := slices.ContainsFunc(found, used)
	for _, a := range found {
		if !some || used(a) {
			fresh = append(fresh, net.JoinHostPort(a.String(), port))
		}
	}
	return fresh
}

// repoint gives each host an address of fresh, which is not empty: its own where that is among them and no other host
// needs to leave it for an even spread, else the one that the fewest have.
func repoint(now, fresh []string) []string {
	most := (len(now) + len(fresh) - 1) / len(fresh)
	used := map[string]int{}
	next := make([]string, len(now))
	for i, a := range now {
		if slices.Contains(fresh, a) && used[a] < most {
			next[i] = a
			used[a]++
		}
	}
	for i := range next {
		if next[i] == "" {
			next[i] = slices.MinFunc(fresh, func(a, b string) int { return used[a] - used[b] })
			used[next[i]]++
		}
	}
	return next
}
