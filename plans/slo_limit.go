package plans

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// limit reads the limit that the metric takes.
func (p *sloParser) limit(s *SLO) {
	p.blanks()
	p.limAt = p.at
	if p.err != nil || p.relative(s) {
		return
	}
	switch s.Metric.Kind {
	case Quantile, Mean, Min, Max, Time:
		p.duration(s, Nanoseconds)
	case Slope:
		p.duration(s, NsPerRow)
		p.perRow()
	case ErrorRate, SuccessRate:
		p.share(s)
	case CPU:
		p.percent(s)
	case Failed, Dropped, Instructions:
		p.count(s)
	case Throughput:
		p.throughput(s)
	case RSS, AllocBytes:
		p.bytes(s)
	case Growth:
		p.class(s)
	}
}

// perRow takes the words "per row".
func (p *sloParser) perRow() {
	if rest := strings.TrimLeft(p.text[p.at:], " \t"); p.err == nil && (rest == "per row" || strings.HasPrefix(rest, "per row ")) {
		p.at = len(p.text) - len(rest) + len("per row")
	}
}

// decimal reads a number that is a plain decimal: no sign, no exponent, neither NaN nor infinity.
func decimal(text string) (float64, bool) {
	if !numberText.MatchString(text) {
		return 0, false
	}
	n, err := strconv.ParseFloat(text, 64)
	return n, err == nil && !math.IsInf(n, 0)
}

// asShare reads "0.1%" as the float64 nearest to 0.001, which is what dividing the counts gives when they are
// exactly that share.
func asShare(text string) (float64, bool) {
	number, ok := strings.CutSuffix(text, "%")
	if !ok || !numberText.MatchString(number) {
		return 0, false
	}
	n, err := strconv.ParseFloat(number+"e-2", 64)
	return n, err == nil && !math.IsInf(n, 0)
}

// share reads a percentage or a fraction below 1.
func (p *sloParser) share(s *SLO) {
	at := p.at
	token := p.token([]string{"%"})
	s.Unit = Share
	if n, ok := asShare(token); ok {
		s.Limit = n
		return
	}
	n, ok := decimal(token)
	switch {
	case !ok:
		p.fail(at, "not a share", quoteOr(token), "a percentage like 1% or a fraction like 0.01", "")
	case n == 1:
		p.fail(at, "1 may mean 1% or all", quote(token), "1% or 100%", "")
	case n > 1:
		p.fail(at, "not a share", quote(token), "a percentage like 1% or a fraction like 0.01", "write "+token+"%")
	}
	s.Limit = n
}

func (p *sloParser) percent(s *SLO) {
	at := p.at
	token := p.token([]string{"%"})
	n, ok := asShare(token)
	if !ok {
		hint := ""
		if _, ok := decimal(token); ok {
			hint = "write " + token + "%"
		}
		p.fail(at, "not a percentage", quoteOr(token), "a percentage like 80%, where 100% is one core", hint)
	}
	s.Limit, s.Unit = n, Share
}

func (p *sloParser) count(s *SLO) {
	at := p.at
	token := p.take(sloRest)
	n, err := strconv.ParseInt(token, 10, 64)
	if !wholeNumber.MatchString(token) || err != nil || n < 0 || n > 1<<53 {
		p.fail(at, "not a count", quoteOr(token), "a whole number", "")
	}
	s.Limit, s.Unit = float64(n), Count
}

func (p *sloParser) throughput(s *SLO) {
	at := p.at
	bare := strings.HasPrefix(strings.TrimLeft(p.text, " \t"), "rps")
	token := p.token([]string{"%", "/s", "/m", "/h"})
	if n, ok := asShare(token); ok {
		s.Limit, s.Unit = n, Share
		return
	}
	s.Unit = PerSecond
	if n, what, _ := readRate(token); what == "" {
		s.Limit = n
		return
	}
	n, ok := decimal(token)
	switch {
	case ok && bare:
		s.Limit = n
	case ok:
		p.fail(at, "throughput without a unit", quote(token), "a rate like 95/s, or a share of what is offered like 99%", "write "+token+"/s or "+token+"%")
	default:
		p.fail(at, "not a throughput", quoteOr(token), "a rate like 95/s, or a share of what is offered like 99%", "")
	}
}

// byteUnits are the units of sizes in memory.
var byteUnits = []struct {
	name string
	size float64
}{{"KiB", 1 << 10}, {"MiB", 1 << 20}, {"GiB", 1 << 30}, {"kB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}

var bytesText = regexp.MustCompile(`^([0-9]+(?:\.[0-9]+)?)([A-Za-z]+)$`)

func (p *sloParser) bytes(s *SLO) {
	at := p.at
	var names []string
	for _, u := range byteUnits {
		names = append(names, u.name)
	}
	token := p.token(names)
	s.Unit = Bytes
	hint := ""
	if m := bytesText.FindStringSubmatch(token); m != nil {
		n, ok := decimal(m[1])
		for _, u := range byteUnits {
			if ok && u.name == m[2] {
				s.Limit = n * u.size
				return
			}
			if strings.EqualFold(u.name, m[2]) || strings.EqualFold(u.name, m[2]+"B") {
				hint = "write " + m[1] + u.name
			}
		}
	} else if n, ok := decimal(token); ok {
		if n == 0 {
			return
		}
		hint = "write " + token + "B or " + token + "MiB"
	}
	p.fail(at, "not a size in bytes", quoteOr(token), "a size like 512MiB", hint)
}

func (p *sloParser) class(s *SLO) {
	at := p.at
	token := p.take(sloRest)
	i := slices.Index(GrowthClasses[:], token)
	if i < 0 {
		p.fail(at, "unknown growth class", quoteOr(token), orList(GrowthClasses[:]), didYouMean(token, GrowthClasses[:]))
	}
	s.Limit, s.Unit = float64(i), Class
}

// key is what an assertion limits and from which side: two with the same key are one too many.
func (s SLO) key() string {
	return fmt.Sprintf("%s %s %s %v %v", s.Metric, strings.TrimSuffix(s.Op, "="), s.Unit, s.Window, s.Baseline.Set)
}
