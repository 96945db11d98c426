package load

import (
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
)

// An Apart is a set of requests that have a record of their own: those that meet all of its bounds.
type Apart struct {
	Request string // name of a request or flow; "": any
	Host    string // host:port of a URL or an address that load goes to; "": any; "*": each apart
	Status  string // of the answer: 503 or 5xx; "": any
}

// An apart is a set with its account. Requests come to it when they have ended: what answer they get is not known before.
type apart struct {
	*part
	name    string
	flow    bool // of flows, not of requests
	request int  // index among requests, or flows; -1: any
	hosts   []bool
	status  [2]int32 // 0 to 0: any
}

// newAparts makes the accounts that cfg asks for.
func newAparts(cfg *Config, spare *spareHists) (all []*apart, err error) {
	for _, a := range cfg.Apart {
		hosts := []string{a.Host}
		if a.Host == "*" {
			hosts = nil
			for _, h := range cfg.Hosts {
				hosts = append(hosts, h.Address)
			}
		}
		for _, host := range hosts {
			one := a
			one.Host = host
			p := newPart(cfg, spare)
			set := &apart{part: &p, name: one.name()}
			if err := set.bind(cfg, one); err != nil {
				return nil, err
			}
			all = append(all, set)
		}
	}
	return all, nil
}

// name is the set in words, as assertions have it: "search [host=10.0.0.7:8080,status=5xx]".
func (a Apart) name() string {
	var bounds []string
	if a.Host != "" {
		bounds = append(bounds, "host="+a.Host)
	}
	if a.Status != "" {
		bounds = append(bounds, "status="+a.Status)
	}
	return strings.TrimSpace(a.Request + " [" + strings.Join(bounds, ",") + "]")
}

func (s *apart) bind(cfg *Config, a Apart) error {
	s.request = -1
	if a.Request != "" {
		s.request = slices.IndexFunc(cfg.Mix, func(m Share) bool { return m.Name == a.Request })
		if s.request < 0 {
			s.request = slices.IndexFunc(cfg.Flows, func(f FlowShare) bool { return f.Name == a.Request })
			s.flow = s.request >= 0
		}
		switch {
		case s.request >= 0:
		case cfg.Request != nil && cfg.Request.Name == a.Request:
		default:
			return fmt.Errorf("load: got %s to count apart, want a request that is sent", a.name())
		}
	}
	if a.Host != "" {
		for _, h := range cfg.Hosts {
			s.hosts = append(s.hosts, h.called(a.Host))
		}
		if !slices.Contains(s.hosts, true) {
			return fmt.Errorf("load: got host %q to count apart, want one of those that load goes to", a.Host)
		}
	}
	if a.Status != "" {
		low, err := strconv.Atoi(strings.ReplaceAll(a.Status, "xx", "00"))
		if err != nil || low < 100 || low > 599 {
			return fmt.Errorf("load: got status %q to count apart, want one like 503 or 5xx", a.Status)
		}
		s.status = [2]int32{int32(low), int32(low)}
		if strings.HasSuffix(a.Status, "xx") {
			s.status[1] += 99
		}
	}
	return nil
}

// called tells whether h is the host of that name.
func (h *Host) called(name string) bool {
	_, port, _ := net.SplitHostPort(h.Address)
	return h.Address == name || h.Name != "" && net.JoinHostPort(h.Name, port) == name
}

// has tells whether an end belongs to the set; number is that of its request, or flow.
func (s *apart) has(e *sample, number int) bool {
	switch {
	case s.flow != e.flow, s.request >= 0 && s.request != number, s.hosts != nil && !s.hosts[e.host]:
		return false
	case s.status[1] > 0:
		return s.status[0] <= e.status && e.status <= s.status[1]
	}
	return true
}

// addApart brings an end to the sets that it belongs to.
func (a *account) addApart(s *sample, number int) {
	for _, set := range a.aparts {
		if set.has(s, number) {
			set.total.Offered++
			set.segments[s.segment].offer(s.intended, a.spare)
			set.add(s, a.cfg.LimitsNS, a.spare)
		}
	}
}
