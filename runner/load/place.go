package load

import (
	"cmp"
	"slices"
	"sync/atomic"
)

// A place is where new connections to a host go: one address, or several in
// turn. It does not change; a host that moves gets another one.
type place struct {
	addresses []string // at least one
	turn      atomic.Uint32
}

// next is the address for a new connection.
func (p *place) next() *string {
	if len(p.addresses) == 1 {
		return &p.addresses[0]
	}
	return &p.addresses[int(p.turn.Add(1)-1)%len(p.addresses)]
}

// A spot is where one connection to a host goes.
type spot struct {
	place   *place // of the host when it was opened
	address *string
}

// spot picks one for a new connection.
func (e *engine) spot(host int32) spot {
	p := e.places[host].Load()
	return spot{p, p.next()}
}

// outdated tells whether a host has left the address of a connection, which takes no
// more requests then.
func (e *engine) outdated(host int32, s spot) bool {
	p := e.places[host].Load()
	return p != s.place && !slices.Contains(p.addresses, *s.address)
}

// spread gives each host addresses of fresh, which is not empty. Where there are
// more of them than hosts, each host has them all. Else each has one, its own if
// it can, and no address has two hosts more than another.
func spread(now [][]string, fresh []string) [][]string {
	next := make([][]string, len(now))
	if len(fresh) > len(now) {
		for i := range next {
			next[i] = fresh
		}
		return next
	}
	least, used := len(now)/len(fresh), map[string]int{}
	take := func(i int, address string) {
		next[i] = []string{address}
		used[address]++
	}
	for i, own := range now {
		for _, a := range own {
			if next[i] == nil && used[a] < least && slices.Contains(fresh, a) {
				take(i, a)
			}
		}
	}
	for i, own := range now {
		if next[i] == nil {
			take(i, slices.MinFunc(fresh, func(a, b string) int {
				return cmp.Or(used[a]-used[b], rank(own, a)-rank(own, b))
			}))
		}
	}
	return next
}

// rank is 0 for what is in the list, else 1.
func rank(list []string, text string) int {
	if slices.Contains(list, text) {
		return 0
	}
	return 1
}
