//go:build amd64 || arm64

package load

import (
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// A bar is what a measure of ours is to reach, or a ratio of it to a tool's.
type bar struct {
	what  measure
	limit float64
	times bool // limit is times the peer's figure
	least bool // limit is a lower bound
	exact bool // other load on the machine does no harm to it
}

func atMost(what measure, limit float64) bar  { return bar{what: what, limit: limit} }
func atLeast(what measure, limit float64) bar { return bar{what: what, limit: limit, least: true} }

func (b bar) timesPeer() bar { b.times = true; return b }
func (b bar) counted() bar   { b.exact = true; return b }

// peer is whose figure is beside ours. wrk2 does not report its lag.
func (b bar) peer() string {
	if b.what == lag50 || b.what == lag90 {
		return wrk2lag
	}
	return wrk2
}

func (b bar) String() string {
	sign, unit := "≤", ""
	if b.least {
		sign = "≥"
	}
	if b.times {
		unit = " ×"
	}
	return fmt.Sprintf("%s %s%s", sign, strconv.FormatFloat(b.limit, 'f', -1, 64), unit)
}

// judge compares a figure of ours with the peer's, each NaN where it is not known.
func (b bar) judge(our, peer float64, n noise) string {
	value := our
	if b.times {
		value = our / peer
	}
	reached := value <= b.limit
	if b.least {
		reached = value >= b.limit
	}
	fault := n.fault()
	if b.exact {
		fault = ""
	}
	switch {
	case math.IsNaN(our):
		return "not measured"
	case math.IsNaN(value):
		return "no " + b.peer()
	case fault != "" && (b.times || !reached): // noise makes a figure worse, and a ratio anything
		return "too noisy: " + fault
	case reached:
		return "ok"
	}
	return over
}

const over = "**over**"

// tables collects what the comparison came to.
type tables struct {
	file          string
	head          string
	bars, figures []string // lines
	over          int
}

const (
	barsHead    = "| load | perfplan | figure | ours | wrk2 | ratio | bar | | the machine |\n|---|---|---|---|---|---|---|---|---|"
	figuresHead = "| load | tool | runs | figures, medians |\n|---|---|---|---|"
)

func newTables(file string, rounds int) *tables {
	fmt.Println(barsHead)
	head := fmt.Sprintf("%s, %s, %s. Medians of %d interleaved rounds, fewer where runs were left out.\n", time.Now().Format(time.DateOnly), machine(), runtime.Version(), rounds)
	return &tables{file: file, head: head}
}

// add prints the bars of a contest, and keeps them.
func (t *tables) add(b *bout) error {
	first := len(t.bars)
	for _, bar := range b.bars {
		our, peer := b.median(ours, bar.what), b.median(bar.peer(), bar.what)
		n := b.noise(bar.peer())
		said := bar.judge(our, peer, n)
		if said == over {
			t.over++
		}
		ratio := "–"
		if r := our / peer; !math.IsNaN(r) && !math.IsInf(r, 0) {
			ratio = strconv.FormatFloat(r, 'f', 2, 64)
		}
		around := n.String()
		if bar.exact {
			around = "–"
		}
		t.bars = append(t.bars, fmt.Sprintf("| %s | %s | %s | %s | %s | %s | %s | %s | %s |", b.Name, b.how(), bar.what, shown(our), shown(peer), ratio, bar, said, around))
	}
	for _, name := range b.names {
		t.figures = append(t.figures, b.line(name))
	}
	for _, line := range t.bars[first:] {
		fmt.Println(line)
	}
	return t.write()
}

// end prints all figures.
func (t *tables) end() error {
	fmt.Printf("\n%s\n%s\n", figuresHead, strings.Join(t.figures, "\n"))
	return t.write()
}

func (t *tables) write() error {
	if t.file == "" {
		return nil
	}
	text := strings.Join([]string{t.head, barsHead, strings.Join(t.bars, "\n"), "", figuresHead, strings.Join(t.figures, "\n"), ""}, "\n")
	return os.WriteFile(t.file, []byte(text), 0o644)
}

// noise is the greater one of those around our runs and around the peer's.
func (b *bout) noise(peer string) noise {
	var all []noise
	for _, name := range []string{ours, peer} {
		var of []noise
		for _, f := range b.runs[name] {
			of = append(of, f.noise)
		}
		if len(of) > 0 {
			all = append(all, noiseOf(of))
		}
	}
	if len(all) == 0 {
		return noise{}
	}
	n := all[0]
	for _, m := range all[1:] {
		n = noise{max(n.others, m.others), max(n.delay, m.delay), max(n.steal, m.steal), max(n.pressure, m.pressure), max(n.load, m.load)}
	}
	return n
}

// line has all figures of one tool.
func (b *bout) line(name string) string {
	known := map[measure]bool{}
	for _, f := range b.runs[name] {
		for m := range f.Of {
			known[m] = true
		}
	}
	var text []string
	for _, m := range measures {
		if known[m] {
			text = append(text, fmt.Sprintf("%s %s", m, shown(b.median(name, m))))
		}
	}
	label := name
	if name == ours {
		label += " " + b.how()
	}
	return fmt.Sprintf("| %s | %s | %d | %s |", b.Name, label, len(b.runs[name]), strings.Join(text, "; "))
}

// measures has all of them in the order of the table.
var measures = []measure{cpuTime, perSecond, resp50, resp90, resp99, serv50, lag50, lag90, allocs, rss,
	instructions, instructionsSend, calls, callsSend, serverLag99, gapsCV, gapsFit, sentInTime, soakAllocs, rssGrowth}

// shown has three significant digits, and no fewer than those before the point.
func shown(x float64) string {
	switch {
	case math.IsNaN(x):
		return "–"
	case x == 0:
		return "0"
	case math.Abs(x) >= 1e-4 && math.Abs(x) < 1e15:
		digits := 2 - int(math.Floor(math.Log10(math.Abs(x))))
		return strconv.FormatFloat(x, 'f', max(digits, 0), 64)
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}
