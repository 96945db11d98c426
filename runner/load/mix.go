package load

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/perfplan/perfplan/plans"
)

// A Share is a request of a mix, which gets Weight of every sum of weights arrivals, on the average.
type Share struct {
	*plans.Request
	Weight int // 1 to MaxWeight
}

// MaxWeight bounds the weight of a request in a mix.
const MaxWeight = 1_000_000

// A kind is a request as the engine sends and checks it.
type kind struct {
	*plans.Request
	number int32
	render *renderer
	check  *checker
}

// A mix says which request an arrival sends. That is a function of the arrival's number and the seed alone: drawn at random,
// so that no request is tied to a host or to every other arrival, and the same on all threads.
type mix struct {
	kinds []kind
	flows []flow   // which arrivals draw instead of kinds; nil: there are none
	slots int      // texts that the flows extract, by name
	ends  []uint64 // of the parts of the sum of weights
	seed  uint64
}

func newMix(cfg *Config) (*mix, error) {
	shares := cfg.Mix
	if len(shares) == 0 {
		shares = []Share{{cfg.Request, 1}}
	}
	m := &mix{seed: cfg.Seed}
	var sum uint64
	for i, s := range shares {
		if s.Request == nil || cfg.Flows == nil && (s.Weight < 1 || s.Weight > MaxWeight) {
			return nil, fmt.Errorf("load: request %d of the mix: got weight %d, want a request with a weight from 1 to %d", i, s.Weight, MaxWeight)
		}
		k := kind{Request: s.Request, number: int32(i)}
		var err error
		for _, d := range s.Data {
			if n := max(cfg.Schedule.Whole(), cfg.MaxArrivals); d.Order == plans.Unique && n > d.Len() {
				m.close()
				return nil, fmt.Errorf("request %q: %d arrivals, but data %q has %d rows, each of which is sent once", s.Name, n, d.Name, d.Len())
			}
		}
		if k.check, err = newChecker(s.Expect, s.Gzip); err != nil {
			m.close()
			return nil, fmt.Errorf("request %q: %w", s.Name, err)
		}
		if k.render, err = newRenderer(s.Request, cfg.Hosts, cfg.KeepAlive, cfg.Values); err != nil {
			m.close()
			return nil, err
		}
		m.kinds = append(m.kinds, k)
		if cfg.Flows == nil {
			sum += uint64(s.Weight)
			m.ends = append(m.ends, sum)
		}
	}
	if cfg.Flows != nil {
		if err := m.bindFlows(cfg.Flows); err != nil {
			m.close()
			return nil, err
		}
	}
	return m, nil
}

// of is the kind of an arrival.
func (m *mix) of(index int64) *kind {
	if len(m.kinds) == 1 {
		return &m.kinds[0]
	}
	return &m.kinds[m.number(index)]
}

func (m *mix) number(index int64) int {
	at := scramble(m.seed^scramble(uint64(index))) % m.ends[len(m.ends)-1] // a sum of at most 10^9: the bias is below 10^-10
	for i, end := range m.ends {
		if at < end {
			return i
		}
	}
	return len(m.ends) - 1
}

// scramble is the finaliser of SplitMix64 (Steele, Lea and Flood 2014).
func scramble(z uint64) uint64 {
	z += 0x9e3779b97f4a7c15
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// close ends the reading of tables, and returns what went wrong with it.
func (m *mix) close() (err error) {
	for _, k := range m.kinds {
		err = cmp.Or(err, k.render.close())
	}
	return err
}

// failed tells whether a table can no longer be read.
func (m *mix) failed() bool {
	return slices.ContainsFunc(m.kinds, func(k kind) bool { return k.render.failed() })
}

// first is the request, or the first of the mix.
func (cfg *Config) first() *plans.Request {
	if len(cfg.Mix) > 0 {
		return cfg.Mix[0].Request
	}
	return cfg.Request
}

// name is that of the request, or those of the mix.
func (cfg *Config) name() string {
	if len(cfg.Mix) == 0 {
		return cfg.Request.Name
	}
	names := make([]string, len(cfg.Mix))
	for i, s := range cfg.Mix {
		names[i] = s.Name
	}
	return strings.Join(names, ", ")
}

// redirects and expectContinue tell whether any request follows redirects, or waits before it sends its body.
func (m *mix) redirects() bool {
	for _, k := range m.kinds {
		if k.Redirects > 0 {
			return true
		}
	}
	return false
}

func (m *mix) expectContinue() bool {
	for _, k := range m.kinds {
		if k.ExpectContinue {
			return true
		}
	}
	return false
}
