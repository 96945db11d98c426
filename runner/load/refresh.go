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
	known := map[string]int{}
	for i, h := range e.hosts {
		if h.Name == "" {
			continue
		}
		_, port, _ := net.SplitHostPort(h.Address)
		of := net.JoinHostPort(h.Name, port) + " for " + h.Scheme + "://" + h.Authority + h.Prefix
		at, ok := known[of]
		if !ok {
			at = len(r.names)
			known[of] = at
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
	var now [][]string
	for _, host := range n.hosts {
		now = append(now, r.e.places[host].Load().addresses)
	}
	r.move(n, now, spread(now, ofFamily(slices.Concat(now...), found, n.port)))
}

// move lets the hosts of a name go on at other addresses, where they are others.
func (r *refresher) move(n named, now, next [][]string) {
	to := &place{addresses: next[0]} // shared where all hosts have all addresses, so that they take turns
	moved := false
	for i, host := range n.hosts {
		if slices.Equal(now[i], next[i]) {
			continue
		}
		if !slices.Equal(next[i], to.addresses) {
			to = &place{addresses: next[i]}
		}
		r.e.places[host].Store(to)
		moved = true
		r.record.Changed++
		if len(r.record.Changes) < maxChanges {
			r.record.Changes = append(r.record.Changes, result.AddressChange{TNS: max(0, r.e.now()), Host: host, From: now[i], To: next[i]})
		}
	}
	if moved {
		r.e.path.leaveOld()
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
