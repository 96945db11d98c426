package plans

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// An SLOError says why a text is no assertion.
type SLOError struct {
	Offset int // byte offset in the text at which it is wrong
	What   string
	Got    string // "" when there is nothing to quote
	Want   string
	Hint   string
}

// Error is the fault without its place, as in Problem.String.
func (e *SLOError) Error() string {
	return Problem{What: e.What, Got: e.Got, Want: e.Want, Hint: e.Hint}.Message()
}

// ParseSLO reads one assertion such as "p99 < 150ms" or "error_rate < 0.1%". The error is an *SLOError.
// docs/slo.md has the grammar.
func ParseSLO(text string) (SLO, error) {
	p := &sloParser{text: strings.TrimRight(text, " \t\r\n")}
	s := SLO{Text: strings.TrimSpace(text)}
	request := p.scope()
	s.Metric = p.metric()
	p.scopes(&s.Metric)
	p.cell(&s.Metric)
	if request != "" && p.err == nil && !scoped(s.Metric.Kind) {
		p.fail(0, "metric that is not one of a request", quote(s.Metric.String()), "p99, max, mean, error_rate, success, failed, dropped or throughput", "")
	}
	s.Metric.Request = request
	s.Op = p.operator()
	p.limit(&s)
	p.windows(&s)
	p.clauses(&s)
	p.end()
	p.sane(&s)
	if p.err != nil {
		return SLO{}, p.err
	}
	return s, nil
}

// An sloParser is a cursor in the text of an assertion. The first fault ends it: later calls do nothing.
type sloParser struct {
	text  string
	at    int
	limAt int // where the limit begins
	err   *SLOError
}

func (p *sloParser) fail(at int, what, got, want, hint string) {
	if p.err == nil {
		p.err = &SLOError{at, what, got, want, hint}
	}
}

func (p *sloParser) blanks() {
	for p.at < len(p.text) && (p.text[p.at] == ' ' || p.text[p.at] == '\t') {
		p.at++
	}
}

// take consumes what the pattern matches at the cursor; patterns begin with ^.
func (p *sloParser) take(pattern *regexp.Regexp) string {
	if p.err != nil {
		return ""
	}
	m := pattern.FindString(p.text[p.at:])
	p.at += len(m)
	return m
}

var (
	sloWord     = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_.]*`)
	sloRest     = regexp.MustCompile(`^[^\s,]+`)
	sloOperator = regexp.MustCompile(`^[<>=!≤≥≠~]+`)
	quantile    = regexp.MustCompile(`^p([0-9]+(?:\.[0-9]+)?)$`)
)

// isMetric reports whether a text is a metric and no more.
func isMetric(text string) bool {
	p := &sloParser{text: text}
	p.metric()
	return text != "" && p.err == nil && p.at == len(text)
}

var sloScope = regexp.MustCompile(`^[ \t]*[a-z0-9][a-z0-9._-]*[ \t]*:[ \t]`)

// scope takes the request that the assertion is about: "get-ranking: ".
func (p *sloParser) scope() string {
	text := p.take(sloScope)
	name, _, _ := strings.Cut(text, ":")
	return strings.TrimSpace(name)
}

// scoped tells whether a metric can be that of one request.
func scoped(k MetricKind) bool {
	return k != CPU && k != RSS && !k.ofBench()
}

const wantMetric = "a metric like p99, error_rate or throughput"

// metrics are the words that a metric can begin with.
var metrics = []string{"service", "lag", "response", "ttfb", "connect", "min", "max", "mean", "error_rate", "success", "failed", "dropped",
	"throughput", "rps", "cpu", "rss", "time", "slope", "growth", "alloc_bytes", "instructions"}

func (p *sloParser) metric() Metric {
	p.blanks()
	at := p.at
	switch word := p.take(sloWord); word {
	case "service", "lag", "response", "ttfb", "connect":
		p.blanks()
		start := p.at
		stat := p.take(sloWord)
		m, ok := p.statistic(stat, start)
		if !ok {
			p.fail(start, "not a statistic", quoteOr(stat), "p99, min, max or mean after "+word, "")
		}
		m.Clock = Clock(word)
		if wire := m.Clock == TTFB || m.Clock == Connect; ok && wire && m.Kind != Quantile && m.Kind != Max {
			p.fail(start, "not a statistic of "+word, quote(stat), "p99 or max after "+word, "")
		}
		return m
	case "error_rate", "success", "failed", "dropped", "throughput", "slope", "growth", "alloc_bytes", "instructions":
		return Metric{Kind: MetricKind(word)}
	case "rps":
		return Metric{Kind: Throughput}
	case "cpu", "rss":
		return Metric{Kind: MetricKind(word), Target: p.bracketed("(", ")", word+"(name of a target)")}
	case "time":
		return p.timeMetric()
	default:
		m, ok := p.statistic(word, at)
		if ok || p.err != nil {
			return m
		}
		if word == "" {
			p.fail(at, "not an assertion", quoteOr(p.text[p.at:]), wantMetric, "")
			return Metric{}
		}
		p.fail(at, "unknown metric", quote(word), wantMetric, metricHint(word))
		return Metric{}
	}
}

func metricHint(word string) string {
	switch strings.ToLower(word) {
	case "latency", "duration", "response_time":
		return "say which: p99, max or mean of the response time, or service p99"
	case "warn":
		return `quote the whole assertion between brackets: "p99 < 150ms, warn"`
	case "median", "med":
		return `did you mean "p50"?`
	case "avg", "average":
		return `did you mean "mean"?`
	case "errors", "failures", "error", "failure_rate":
		return `did you mean "error_rate"?`
	case "qps":
		return `did you mean "throughput"?`
	}
	return didYouMean(word, metrics)
}

// quoteOr quotes text, or names its absence.
func quoteOr(text string) string {
	if text == "" {
		return "nothing"
	}
	return quote(text)
}

// statistic reads p99, p99.9, p(99.9), min, max or mean, whose first word was taken at the given place.
func (p *sloParser) statistic(word string, at int) (Metric, bool) {
	switch word {
	case "min", "max", "mean":
		return Metric{Kind: MetricKind(word), Clock: Response}, true
	case "p":
		word = "p" + strings.TrimSpace(p.bracketed("(", ")", "p99 or p(99.9)"))
		if p.err != nil {
			return Metric{}, false
		}
	}
	m := quantile.FindStringSubmatch(word)
	if m == nil {
		if len(word) > 1 && word[0] == 'p' && !slices.Contains(metrics, word) && nearest(word, metrics) == "" {
			p.fail(at, "not a percentile", quote(p.text[at:p.at]), "above p0 to p100, such as p99 or p(99.9)", "")
		}
		return Metric{}, false
	}
	q, err := strconv.ParseFloat(m[1]+"e-2", 64)
	if err != nil || q > 1 || q == 0 {
		hint := ""
		if q == 0 && err == nil {
			hint = "write min for the smallest"
		}
		p.fail(at, "not a percentile", quote(p.text[at:p.at]), "above p0 to p100, such as p99 or p(99.9)", hint)
		return Metric{}, false
	}
	return Metric{Kind: Quantile, Clock: Response, Quantile: q}, true
}

// bracketed reads what stands between two brackets at the cursor.
func (p *sloParser) bracketed(open, shut, want string) string {
	if p.err != nil {
		return ""
	}
	rest := p.text[p.at:]
	end := strings.Index(rest, shut)
	if !strings.HasPrefix(rest, open) || end < 0 {
		p.fail(p.at, "not an assertion", quoteOr(strings.TrimSpace(rest)), want, "")
		return ""
	}
	p.at += end + len(shut)
	inside := strings.TrimSpace(rest[len(open):end])
	if inside == "" {
		p.fail(p.at-len(shut), "not an assertion", open+shut, want, "")
	}
	return inside
}

// timeStats are the statistics of a microbenchmark's times.
var timeStats = []string{"mean", "min", "max", "p50", "p90", "p99"}

// timeMetric reads [size=N] and a statistic.
func (p *sloParser) timeMetric() Metric {
	m := Metric{Kind: Time}
	p.cell(&m)
	p.blanks()
	at := p.at
	stat := p.take(sloWord)
	if !slices.Contains(timeStats, stat) {
		p.fail(at, "not a statistic of a microbenchmark", quoteOr(stat), orList(timeStats), didYouMean(stat, timeStats))
	}
	m.Stat = stat
	return m
}

const wantCell = "[size=1000], or [algorithm=quick] with the name of a parameter"

// cell takes what stands in brackets behind a metric of a microbenchmark: a size, values of parameters, or both.
func (p *sloParser) cell(m *Metric) {
	if p.err != nil || !m.Kind.ofBench() || p.at == len(p.text) || p.text[p.at] != '[' {
		return
	}
	start := p.at + 1
	inside := p.bracketed("[", "]", wantCell)
	var set []string
	for part := range strings.SplitSeq(inside, ",") {
		name, value, _ := strings.Cut(strings.ReplaceAll(part, " ", ""), "=")
		size, err := strconv.Atoi(value)
		switch {
		case p.err != nil:
			return
		case name == "size" && m.Size != 0, slices.ContainsFunc(set, func(s string) bool { return strings.HasPrefix(s, name+"=") }):
			p.fail(start, "given twice", quote(name), "", "")
		case name == "size" && (m.Kind == Slope || m.Kind == Growth):
			p.fail(start, "size of what is one over all sizes", quote(part), "values of parameters, or nothing", "")
		case name == "size" && (!numberName.MatchString(value) || err != nil):
			p.fail(start-1, "not a size", quote("["+inside+"]"), "[size=1000]", "")
		case name == "size":
			m.Size = size
		case !parameterName.MatchString(name) || value == "":
			p.fail(start, "not a size and no value of a parameter", quote(part), wantCell, "")
		default:
			set = append(set, name+"="+value)
		}
		start += len(part) + 1
	}
	slices.Sort(set)
	m.Settings = strings.Join(set, ",")
}

// ofBench tells whether a quantity is one of a microbenchmark.
func (k MetricKind) ofBench() bool {
	return slices.Contains([]MetricKind{Time, Slope, Growth, AllocBytes, Instructions}, k)
}

// CellText is the part of the grid that a metric is about: "[size=1000,algorithm=quick]"; "" for all of it.
func (m Metric) CellText() string {
	var parts []string
	if m.Size > 0 {
		parts = append(parts, "size="+strconv.Itoa(m.Size))
	}
	if m.Settings != "" {
		parts = append(parts, m.Settings)
	}
	if parts == nil {
		return ""
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func (p *sloParser) operator() string {
	p.blanks()
	at := p.at
	op := p.take(sloOperator)
	if slices.Contains([]string{"<", "<=", ">", ">=", "=="}, op) {
		return op
	}
	hint := map[string]string{"=<": "write <=", "=>": "write >=", "≤": "write <=", "≥": "write >=", "=": "write =="}[op]
	p.fail(at, "not a comparison", cmp.Or(maybeQuote(op), quoteOr(p.take(sloRest))), "<, <=, >, >= or ==", hint)
	return op
}

func maybeQuote(text string) string {
	if text == "" {
		return ""
	}
	return quote(text)
}

var sloClause = regexp.MustCompile(`^[ \t]*,[ \t]*`)

// clauses reads what may follow the limit, each behind a comma.
func (p *sloParser) clauses(s *SLO) {
	for p.err == nil && p.take(sloClause) != "" {
		at := p.at
		switch word := p.take(sloWord); {
		case word == "warn" && !s.Warn:
			s.Warn = true
		case word == "abort" && !s.Abort:
			p.abort(s, at)
		case word == "warn", word == "abort":
			p.fail(at, "clause is given twice", quote(word), "", "")
		default:
			p.fail(at, "unknown clause", quoteOr(cmp.Or(word, p.text[at:])), "warn, abort or abort after 30s", didYouMean(word, []string{"warn", "abort"}))
		}
	}
}

// abort reads "after 30s" behind the word abort, which began at the given place.
func (p *sloParser) abort(s *SLO, at int) {
	s.Abort = true
	m := s.Metric
	switch {
	case m.Clock == TTFB || m.Clock == Connect:
		p.fail(at, "metric that is only known at the end of a stage", quote(m.String()), "p99, max, error_rate, failed or dropped with abort", "")
	case m.Kind == Quantile && m.Clock != Lag, m.Kind == Max && m.Clock != Lag, m.Kind == ErrorRate, m.Kind == Failed, m.Kind == Dropped:
	default:
		p.fail(at, "metric that is only known at the end of a stage", quote(m.String()), "p99, max, error_rate, failed or dropped with abort", "")
	}
	if m.Counted() {
		p.fail(at, "scope that is only known at the end of a stage", m.Scope.String(), "a request or a segment with abort", "")
	}
	if s.Op[0] != '<' {
		p.fail(at, "assertion that more requests may still meet", quote(s.Op), "< or <= with abort", "")
	}
	p.blanks()
	if after := p.at; p.err == nil && p.take(sloWord) == "after" {
		p.blanks()
		start := p.at
		token := p.take(sloRest)
		d, what, hint := readDuration(token)
		if what != "" {
			p.fail(start, what, quoteOr(token), "a duration like 30s", hint)
		}
		s.AbortAfter = d
	} else {
		p.at = after
	}
}

// end refuses what stands behind the limit.
func (p *sloParser) end() {
	p.blanks()
	if p.at < len(p.text) {
		p.fail(p.at, "text after the limit", quote(p.text[p.at:]), "", "")
	}
}

// sane refuses assertions that hold or fail whatever is measured, and equality of what is never equal.
func (p *sloParser) sane(s *SLO) {
	if s.Baseline.Set {
		if s.Window > 0 || s.Abort {
			p.fail(p.limAt, "windows, or an abort, of what is compared with a baseline", quote(p.text[p.limAt:]), "a limit of its own with them", "")
		}
		return
	}
	highest := math.Inf(1)
	switch s.Metric.Kind {
	case ErrorRate, SuccessRate:
		highest = 1
	case Growth:
		highest = float64(len(GrowthClasses) - 1)
	case Throughput:
		if s.Unit == Share {
			highest = 1
		}
	}
	switch s.Unit {
	case Nanoseconds, NsPerRow, Bytes, PerSecond:
		if s.Op == "==" {
			p.fail(p.limAt, "measured values are never equal", "==", "<= or >=", "")
		}
	}
	switch {
	case s.Limit > highest:
		p.fail(p.limAt, "limit is out of range", quote(p.text[p.limAt:]), "at most 100%", "")
	case s.Op == ">=" && s.Limit == 0, s.Op == "<=" && s.Limit == highest:
		p.fail(p.limAt, "assertion that always holds", "", "", "")
	case s.Op == "<" && s.Limit == 0, s.Op == ">" && s.Limit == highest:
		p.fail(p.limAt, "assertion that never holds", "", "", "")
	}
}

// String is the metric in the words of an assertion: "p99", "service p50", "cpu(predictor)", "time[size=1000] p50".
func (m Metric) String() string {
	if m.Request != "" {
		name := m.Request
		m.Request = ""
		return name + ": " + m.String()
	}
	var text string
	switch m.Kind {
	case Quantile:
		text = "p" + percentText(m.Quantile)
	case CPU, RSS:
		return string(m.Kind) + "(" + m.Target + ")"
	case Time:
		return "time" + m.CellText() + " " + m.Stat
	default:
		text = string(m.Kind)
	}
	text += m.Scope.String() + m.CellText()
	if m.Clock != "" && m.Clock != Response {
		return string(m.Clock) + " " + text
	}
	return text
}

// percentText is a share as a percentage without a sign, exact in decimal: 0.999 is "99.9".
func percentText(share float64) string {
	digits := strconv.FormatFloat(share, 'f', -1, 64)
	whole, part, _ := strings.Cut(digits, ".")
	for len(part) < 2 {
		part += "0"
	}
	text := strings.TrimLeft(whole+part[:2], "0")
	if rest := strings.TrimRight(part[2:], "0"); rest != "" {
		text = cmp.Or(text, "0") + "." + rest
	}
	return cmp.Or(text, "0")
}

// durationUnits are those that may stand apart from their number in an assertion.
var durationUnits = []string{"ns", "us", "µs", "μs", "ms", "s", "m", "h"}

// afterBlank takes a unit that stands behind a blank: 150 ms, 512 MiB, 1 %.
func (p *sloParser) afterBlank(units []string) string {
	rest := strings.TrimLeft(p.text[p.at:], " \t")
	for _, u := range units {
		if after, ok := strings.CutPrefix(rest, u); ok && startsApart(after) {
			p.at = len(p.text) - len(after)
			return u
		}
	}
	return ""
}

// startsApart reports whether text does not go on with a letter, digit or sign that belongs to what stood before.
func startsApart(text string) bool {
	r, _ := utf8.DecodeRuneInString(text)
	return text == "" || r == ' ' || r == '\t'
}

// token takes a number or word of the limit and, behind a blank, its unit.
func (p *sloParser) token(units []string) string {
	token := p.take(sloRest)
	if p.err == nil && numberText.MatchString(token) {
		token += p.afterBlank(units)
	}
	return token
}

// maxSLODuration keeps limits where float64 nanoseconds are exact.
const maxSLODuration = 720 * time.Hour

func (p *sloParser) duration(s *SLO, unit Unit) {
	at := p.at
	token := p.token(durationUnits)
	d, what, hint := readDuration(token)
	switch {
	case what == "duration without a unit":
		hint = "write " + token + "ms or " + token + "s"
	case what == "" && d > maxSLODuration:
		what = "duration is too long"
	}
	if what != "" {
		p.fail(at, what, quoteOr(token), "a duration like 150ms", hint)
	}
	s.Limit, s.Unit = float64(d.Nanoseconds()), unit
}
