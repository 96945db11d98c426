package main

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// A check is one comparison of a test.
type check struct {
	Test     string  `json:"test"`
	Tool     string  `json:"tool"`
	Name     string  `json:"check"`
	Unit     string  `json:"unit"` // ns, share, count, number or flag (1 is yes)
	Truth    float64 `json:"truth"`
	Measured float64 `json:"measured"`
	Error    float64 `json:"error"`
	Bar      float64 `json:"bar"` // largest error that is ok
	OK       bool    `json:"ok"`
	Timing   bool    `json:"timing"` // it means nothing on a noisy machine
	Noisy    bool    `json:"noisy"`  // the machine was
	Note     string  `json:"note,omitempty"`
}

// The units of checks.
const (
	unitNS     = "ns"
	unitShare  = "share"
	unitCount  = "count"
	unitNumber = "number"
	unitFlag   = "flag"
)

// A sheet collects the checks of one run of one test.
type sheet struct {
	test, tool string
	part       string // goes before the names of checks
	checks     []check
}

// add fills in what follows from the rest: an error above the bar, or none that
// can be told, is not ok.
func (s *sheet) add(c check) {
	c.Test, c.Tool = s.test, s.tool
	if s.part != "" {
		c.Name = s.part + ": " + c.Name
	}
	c.Error = math.Abs(c.Measured - c.Truth)
	c.OK = c.Error <= c.Bar
	s.checks = append(s.checks, c)
}

// The default bars.
const (
	barTime = float64(2 * time.Millisecond)
	barPart = 0.02
	barTail = 0.002
	barW1   = 0.03
	// A client and a server need this much for a request by themselves, as T1 measures it. It matters in the
	// area between distributions of short times alone.
	floorTime = float64(200 * time.Microsecond)
	allRanks  = "p50 p90 p95 p99 p99.9"
)

// quantile compares one quantile within the default bar and slack.
func (s *sheet) quantile(q quantiles, t truth, rank string, slack time.Duration) {
	var p float64
	fmt.Sscanf(rank, "p%g", &p)
	p /= 100
	want := t.q(p)
	s.add(check{Name: rank, Unit: unitNS, Truth: want, Measured: q(p), Bar: max(barTime, barPart*want) + float64(slack), Timing: true})
}

// quantiles compares the ranks, like "p50 p99.9", and the area between the
// distribution functions.
func (s *sheet) quantiles(q quantiles, t truth, ranks string, slack time.Duration) {
	for rank := range strings.FieldsSeq(ranks) {
		s.quantile(q, t, rank, slack)
	}
	s.add(check{Name: "area between", Unit: unitShare, Measured: t.w1(q), Bar: barW1 + (floorTime+float64(slack))/t.mean, Timing: true})
}

// tail compares the share of n above x, counted exactly.
func (s *sheet) tail(t truth, x time.Duration, over, n int64, slack float64) {
	want := t.over(float64(x))
	s.add(check{Name: fmt.Sprintf("share over %v", x), Unit: unitShare, Truth: want, Measured: float64(over) / float64(n),
		Bar: barTail + 3*math.Sqrt(want*(1-want)/float64(n)) + slack, Timing: true})
}

// count compares numbers of requests.
func (s *sheet) count(name string, truth, measured int64, bar float64) {
	s.add(check{Name: name, Unit: unitCount, Truth: float64(truth), Measured: float64(measured), Bar: bar})
}

// time compares a time within a bar of its own.
func (s *sheet) time(name string, truth, measured, bar float64) {
	s.add(check{Name: name, Unit: unitNS, Truth: truth, Measured: measured, Bar: bar, Timing: true})
}

// atMost wants a time of at most bar.
func (s *sheet) atMost(name string, measured, bar float64) {
	s.add(check{Name: name, Unit: unitNS, Measured: max(measured, 0), Bar: bar, Timing: true})
}

// flag wants yes; note says what was seen.
func (s *sheet) flag(name string, got, timing bool, note string) {
	c := check{Name: name, Unit: unitFlag, Truth: 1, Timing: timing, Note: note}
	if got {
		c.Measured = 1
	}
	s.add(c)
}

// merge sums up the repeats of each check: the median that was measured, the
// worst error over bar; ok when all were.
func merge(repeats [][]check) []check {
	var all []check
	index := map[[3]string]int{}
	measured := map[[3]string][]float64{}
	for _, checks := range repeats {
		for _, c := range checks {
			key := [3]string{c.Test, c.Tool, c.Name}
			measured[key] = append(measured[key], c.Measured)
			i, seen := index[key]
			if !seen {
				index[key] = len(all)
				all = append(all, c)
				continue
			}
			ok, noisy := all[i].OK && c.OK, all[i].Noisy || c.Noisy
			if worse(c, all[i]) {
				all[i] = c
			}
			all[i].OK, all[i].Noisy = ok, noisy
		}
	}
	for i, c := range all {
		list := slices.Sorted(slices.Values(measured[[3]string{c.Test, c.Tool, c.Name}]))
		all[i].Measured = list[len(list)/2]
	}
	return all
}

// worse tells whether a is further beyond its bar than b.
func worse(a, b check) bool {
	if a.Bar != b.Bar && a.Bar > 0 && b.Bar > 0 {
		return a.Error/a.Bar > b.Error/b.Bar
	}
	return a.Error > b.Error || math.IsNaN(a.Error)
}
