package plans

import (
	"cmp"
	"regexp"
	"slices"
	"strings"
	"time"
)

// String is the scope as it stands behind a metric: "[segment=hold 400/s,status=2xx]"; "" for none.
func (s Scope) String() string {
	var parts []string
	for _, k := range scopeKeys {
		if text := *k.of(&s); text != "" {
			parts = append(parts, k.name+"="+text)
		}
	}
	if parts == nil {
		return ""
	}
	return "[" + strings.Join(parts, ",") + "]"
}

// Counted tells whether requests of the scope are counted apart only when it is asked for: those of a host or a status.
func (s Scope) Counted() bool { return s.Host != "" || s.Status != "" }

// scopeKeys are the words of a scope.
var scopeKeys = []struct {
	name string
	of   func(*Scope) *string
}{
	{"segment", func(s *Scope) *string { return &s.Segment }},
	{"host", func(s *Scope) *string { return &s.Host }},
	{"status", func(s *Scope) *string { return &s.Status }},
}

const wantScope = "[segment=NAME], [host=HOST:PORT] or [status=2xx]"

// scopes takes what stands in brackets behind a metric.
func (p *sloParser) scopes(m *Metric) {
	if p.err != nil || m.Kind.ofBench() || p.at == len(p.text) || p.text[p.at] != '[' {
		return
	}
	at := p.at
	p.bracketed("[", p.shut(), wantScope)
	if p.err != nil {
		return
	}
	if !scoped(m.Kind) {
		p.fail(at, "metric that is not one of requests", quote(m.String()), "p99, max, mean, error_rate, success, failed, dropped or throughput", "")
	}
	if m.Clock == TTFB || m.Clock == Connect {
		p.fail(at, "scope of a clock that is one of the whole stage", string(m.Clock), "response, service or lag with a scope", "")
	}
	start := at + 1
	for part := range strings.SplitSeq(p.text[start:p.at-1], ",") {
		p.scopePart(m, part, start)
		start += len(part) + 1
	}
}

// shut is the bracket that ends a scope: of an IPv6 address, not its own.
func (p *sloParser) shut() string {
	rest := p.text[p.at:]
	if i := strings.Index(rest, "]:"); i >= 0 && strings.Contains(rest[i+2:], "]") {
		end := i + 2 + strings.Index(rest[i+2:], "]") + 1
		return rest[i:end]
	}
	return "]"
}

var (
	statusScope = regexp.MustCompile(`^[1-5]([0-9][0-9]|xx)$`)
	hostScope   = regexp.MustCompile(`^(\*|unix:.+|.+:[0-9]{1,5})$`)
)

// scopePart takes one "key=value".
func (p *sloParser) scopePart(m *Metric, part string, at int) {
	name, value, _ := strings.Cut(part, "=")
	at += len(name) - len(strings.TrimLeft(name, " \t"))
	name, value = strings.TrimSpace(name), strings.TrimSpace(value)
	i := slices.IndexFunc(scopeKeys, func(k struct {
		name string
		of   func(*Scope) *string
	}) bool {
		return k.name == name
	})
	if i < 0 {
		p.fail(at, "unknown scope", quoteOr(name), wantScope, didYouMean(name, []string{"segment", "host", "status"}))
		return
	}
	text := scopeKeys[i].of(&m.Scope)
	switch {
	case *text != "":
		p.fail(at, "scope is given twice", quote(name), "", "")
	case value == "":
		p.fail(at, "scope without a value", quote(part), wantScope, "")
	case name == "status" && !statusScope.MatchString(value):
		p.fail(at, "not a status", quote(value), "a status like 503 or 5xx", "")
	case name == "status" && (m.Kind == Dropped || m.Kind == SuccessRate || m.Kind == Throughput):
		p.fail(at, "metric that answers of one status do not have", quote(string(m.Kind)), "p99, max, mean, failed or error_rate with a status", "")
	case name == "host" && !hostScope.MatchString(value):
		p.fail(at, "not a host", quote(value), "a host like 10.0.0.7:8080, or * for each", "")
	}
	*text = value
}

var (
	windowFor  = regexp.MustCompile(`^[ \t]+for[ \t]+`)
	windowOf   = regexp.MustCompile(`^[ \t]+of[ \t]+`)
	windowWord = regexp.MustCompile(`^[ \t]+windows?\b`)
)

// The bounds of a window.
const (
	minWindow  = time.Second
	maxWindows = 10_000
)

const wantWindows = "for 95% of 10s windows"

// windows takes "for 95% of 10s windows" behind the limit.
func (p *sloParser) windows(s *SLO) {
	at := p.at
	if p.err != nil || p.take(windowFor) == "" {
		return
	}
	start := p.at
	share := p.take(sloRest)
	n, ok := asShare(share)
	if !ok || n <= 0 || n > 1 {
		p.fail(start, "not a share of windows", quoteOr(share), wantWindows, "")
	}
	if p.err == nil && p.take(windowOf) == "" {
		p.fail(p.at, "not windows", quoteOr(strings.TrimSpace(p.text[p.at:])), wantWindows, "")
	}
	start = p.at
	length := p.take(sloRest)
	d, what, hint := readDuration(length)
	switch {
	case what != "":
		p.fail(start, what, quoteOr(length), "a duration like 10s", hint)
	case d < minWindow:
		p.fail(start, "window is too short", quote(length), "at least "+formatDuration(minWindow), "")
	}
	if p.err == nil && p.take(windowWord) == "" {
		p.fail(p.at, "not windows", quoteOr(strings.TrimSpace(p.text[p.at:])), wantWindows, "")
	}
	m := s.Metric
	switch {
	case m.Kind == Quantile || m.Kind == Max || m.Kind == ErrorRate || m.Kind == SuccessRate:
	default:
		p.fail(at+1, "metric without windows", quote(m.String()), "p99, max, error_rate or success with windows", "")
	}
	switch {
	case m.Clock == Lag || m.Clock == TTFB || m.Clock == Connect:
		p.fail(at+1, "clock without windows", string(m.Clock), "response or service with windows", "")
	case m.Segment != "":
		p.fail(at+1, "windows of one segment", quote(m.Segment), "windows of the whole stage", "")
	}
	s.Window, s.WindowShare = d, cmp.Or(n, s.WindowShare)
}
