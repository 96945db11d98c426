package plans

import (
	"regexp"
	"slices"
	"time"
)

// Version is the plan schema version this package reads (key "version").
const Version = 1

// A Position is a place in a plan file. Line and Col count from 1, Col in characters.
type Position struct {
	File string
	Line int
	Col  int
}

// A Problem is one fault of a plan, or a warning about it. The zero Severity is an error.
type Problem struct {
	Pos     Position
	Path    string // "stages[1].load.rate"; "" for the file as a whole
	What    string // "not a rate"
	Got     string // "" when there is nothing to quote
	Want    string
	Hint    string // the fix, when there is one
	Warning bool
	Line    string // what stands in the line that it is about, for Excerpt
}

// A Plan is one checked plan file with every default filled in and every variable replaced.
// It is not changed after ReadFile returns it.
type Plan struct {
	Path        string // as the user gave it; "-" for standard input
	Dir         string // absolute folder that relative paths in the plan start from
	Name        string
	Description string
	Hash        string // "sha256:" and 64 hex digits over the effective plan, comments and layout left out
	Source      []byte // the file's text, before variables are replaced
	Warnings    []Problem
	Vars        []Var // in document order
	Targets     []*Target
	Requests    []*Request
	Flows       []*Flow
	Stages      []*Stage // at least one, names unique

	Secrets   Secrets  // what no output may show
	Tolerate  []string // what stored runs may differ in: "plan", "machine"
	Profiles  []string // that were applied, in this order
	Assembled bool     // it is made of more than its file: included files, profiles, settings

	effective []byte // what YAML returns
	origins   []origined
}

// A Var is one entry of "vars".
type Var struct {
	Name  string
	Value string // with what comes from the environment left as ${env.NAME}
}

// A Target is a system under test: one service, reachable at one or several URLs.
type Target struct {
	Name    string
	Pos     Position
	URLs    []URL         // at least one; load is spread evenly over them
	Unix    string        // absolute path of the Unix socket that connections go to; "" for TCP to the URLs
	To      []URL         // hosts and ports that connections go to, load is spread evenly over them; nil for those of the URLs
	Refresh time.Duration // names are looked up again so often during a stage; 0: once, before it
	TLS     TLS           // used by https URLs
	Build   *Command      // nil: nothing to build
	Start   []Command     // empty: already running, perfplan does not start or stop it; one per endpoint when the text uses ${address}, else one
	Ready   Ready         // how to tell that it answers
	Stop    time.Duration // time between SIGTERM and SIGKILL
	Observe bool          // sample CPU, memory and faults of the started process tree
}

// A URL is the base address of a target: scheme, host and port, and a path prefix (often empty).
type URL struct {
	Scheme string // "http" or "https"
	Host   string // host name or IP address without brackets
	Port   int    // 1 to 65535, the scheme's default filled in
	Path   string // prefix for request paths, without a trailing slash; "" for none
}

// TLS says how an https target is verified, and how perfplan shows who it is.
type TLS struct {
	CAFile     string // absolute path of a PEM file; "" means the system's roots
	CertFile   string // absolute path of a PEM file: the client's certificate, then its issuers; "" for none
	KeyFile    string // absolute path of a PEM file: the private key of that certificate; "" for none
	ServerName string // "" means the URL's host
	SkipVerify bool
	NoResume   bool // each connection makes a whole handshake
}

// A Command is a program with its arguments, run without a shell.
type Command struct {
	Text string   // as written in the plan
	Args []string // at least one
	Dir  string   // absolute working folder
}

// Ready says how perfplan learns that a target takes requests: GET Path answers 2xx within Within.
type Ready struct {
	Path   string // "" means that a TCP connection is enough
	Within time.Duration
}

// A Request is one kind of request with what its answer must look like.
type Request struct {
	Name           string
	Pos            Position
	Target         *Target
	Method         string
	Path           Template // path and query as sent in the request line, percent-encoding done, before Target's prefix is added
	Headers        []Header // in document order, without Host
	Host           string   // Host header; "" means the URL's authority
	Body           Template // empty for no body
	HasBody        bool     // true also for an explicitly empty body (Content-Length: 0)
	Data           []*Data  // the data sources that the templates use
	Gzip           bool     // packed answers are asked for, and unpacked for what looks at them
	Redirects      int      // how many redirects are followed; 0 reports the 3xx itself
	ExpectContinue bool     // the plan sets "Expect: 100-continue"
	Expect         Expect

	flowTexts []flowText // that its templates have from a flow
}

// A Header is one request header field.
type Header struct {
	Name  string
	Value Template
}

// A Template is text with places that are filled from data for each request, in order.
type Template []Part

// A Part is a literal, the value of a data column, a generated value, or a text that a flow has from an earlier answer.
type Part struct {
	Literal   string
	Data      *Data // nil: no column
	Column    int   // index into Data.Columns
	Generator *Generator
	Flow      string // name of an Extract; "" for none
	Encode    bool   // the value is percent-encoded: it stands in a path, query or form
}

func (p Part) isLiteral() bool { return p.Data == nil && p.Generator == nil && p.Flow == "" }

// Text is a value of the part as it is sent.
func (p Part) Text(value string) string {
	if p.Encode {
		return encodeValue(value)
	}
	return value
}

// Data is a table read from a CSV or JSONL file.
type Data struct {
	Name    string
	File    string // absolute path
	Columns []string
	Rows    [][]string // JSONL values that are not text stand as compact JSON; nil when Streamed
	Order   Order      // "" is Sequential
	Seed    uint64     // of Shuffled and Weighed
	Weights []float64  // of Weighed: one for each row, their sum above 0
	Stop    bool       // a stage ends when all rows have served a request; false: they begin again

	Streamed *Streamed // the rows are read while they are needed; nil: they are in Rows

	table *table
}

// Len is the number of rows.
func (d *Data) Len() int64 {
	if d.Streamed != nil {
		return d.Streamed.Rows
	}
	return int64(len(d.Rows))
}

// Order says which row serves which request. It is the same for every run.
type Order string

// The orders of rows. In all of them the number of the request, counted from 0 in each stage, decides.
const (
	Sequential Order = "sequential" // row i serves request i, from the first again after the last
	Shuffled   Order = "shuffled"   // each pass has every row once, in an order of its own
	Unique     Order = "unique"     // row i serves request i, and none a second one
	Weighed    Order = "weighted"   // drawn at random by Weights
)

// A DataEnd is the end of a stage whose rows are used up before its time.
type DataEnd struct {
	Data     *Data
	Requests int64         // that the stage offers at most
	Planned  time.Duration // what the stage would last without it
}

// Expect says which answers count as completed; every other end of a request is failed.
type Expect struct {
	Status   []StatusRange // at least one
	Headers  []HeaderExpect
	Contains string         // text that the body must hold; "" for any
	Matches  *regexp.Regexp // that the body must match somewhere; nil for any
	Size     *SizeExpect
	JSON     []JSONExpect
	Schema   *JSONSchema // that the body must meet; nil for any
}

// A HeaderExpect is one condition on a header field of the answer; of one that is there several times the first counts.
type HeaderExpect struct {
	Name    string // in lower case
	Exists  *bool
	Equals  *string
	Matches *regexp.Regexp
}

// A SizeExpect bounds the bytes of a body.
type SizeExpect struct{ Min, Max int64 } // Max 0: no bound

// A StatusRange is an inclusive range of HTTP status codes.
type StatusRange struct{ From, To int }

// A JSONExpect is one condition on a JSON body.
type JSONExpect struct {
	Path   string // as written: $.items, $.items[0].title
	Exists *bool
	Equals *string // compact JSON of the wanted value
	Length *int    // of an array, object or text
	Min    *float64
	Max    *float64
	// Matches is what a text, or the JSON of any other value, must match somewhere.
	Matches *regexp.Regexp
}

// A Stage is one experiment of a plan.
type Stage struct {
	Name      string
	Pos       Position
	Work      Work
	Alongside string        // name of the load stage at the same time as which it runs; "": it begins when the one before has ended
	Delay     time.Duration // until it begins, from then on
	Looks     int           // how often it is measured at most, while a breach is looked at again; 1: never again
	Extend    time.Duration // for which its load is offered again while an SLO is undecided; 0: once is all
	SLOs      []SLO         // the stage's own, then the plan-wide ones that apply to its kind
}

// Work is what a stage does: *Microbenchmark, *Warmup, *Load or *Compare.
type Work interface{ Kind() string }

// Kind is the word for the stage's work in plans, results and reports.
func (*Microbenchmark) Kind() string { return "microbenchmark" }

// Kind is the word for the stage's work in plans, results and reports.
func (*Warmup) Kind() string { return "warmup" }

// Kind is the word for the stage's work in plans, results and reports.
func (*Load) Kind() string { return "load" }

// A Microbenchmark times a subject over a grid: every size with every value of every parameter.
type Microbenchmark struct {
	Build      *Command // nil: nothing to build
	Subject    Subject
	Sizes      []int         // ascending, unique; nil: the subject has none, or its results say which
	Parameters []Parameter   // in the order of the plan
	Forks      int           // fresh processes per cell of the grid
	Samples    int           // measured samples per fork
	MinTime    time.Duration // least measured time of one sample; 0: each is one iteration
	Warmup     Until
	Timeout    time.Duration // longest time to wait for one answer of the subject
	Reference  *Reference    // nil: none
	Seed       uint64        // order of the forks

	unknown bool // parts of the grid could not be read
}

// SubjectKind is how a subject is measured.
type SubjectKind string

// The kinds of subjects.
const (
	SubjectProtocol SubjectKind = "command" // a command that speaks the subject protocol
	SubjectGo       SubjectKind = "go"      // a benchmark of a Go package
	SubjectTime     SubjectKind = "time"    // a command, timed whole
	SubjectResults  SubjectKind = "results" // what another tool has measured
)

// A Subject is what a microbenchmark times. Command.Dir is always set.
type Subject struct {
	Kind      SubjectKind
	Command   Command // of SubjectProtocol and SubjectTime: Args as for a cell without values, see At; else only Text and Dir
	Shell     bool    // SubjectTime: Args are sh, -c and a text, and the time of an empty shell is taken off
	Package   string  // SubjectGo: as go test takes it, relative to Command.Dir
	Benchmark string  // SubjectGo: its name, sub-benchmarks behind slashes; SubjectResults: name of the benchmark, "" for all
	File      string  // SubjectResults: absolute path
	Format    string  // SubjectResults: of which tool; "" is found out

	words     [][]piece // of Args
	benchmark []piece
}

// A Parameter is one dimension of a microbenchmark's grid besides the size.
type Parameter struct {
	Name   string
	Values []string // at least one
}

// A Setting is the value of a parameter.
type Setting struct{ Name, Value string }

// A Cell is a place in a microbenchmark's grid.
type Cell struct {
	Size     int       // 0: none
	Settings []Setting // in the order of the plan's parameters
}

// Until says when a warm-up ends: after a fixed time, or when the series is steady, at the latest after AtMost.
type Until struct {
	Steady bool
	AtMost time.Duration // with Steady false: the exact time; 0 means no warm-up
}

// A Reference is a published series that a report draws beside the measured one.
type Reference struct {
	Name   string
	Source string
	Points []ReferencePoint // ascending by size
}

// A ReferencePoint is the published time at one size.
type ReferencePoint struct {
	Size int
	Time time.Duration
}

// A Warmup sends load whose samples are thrown away, but counted.
type Warmup struct {
	Request     *Request       // the first of a mix
	Mix         []Weighted     // requests that arrivals draw from; nil: all send Request
	Flows       []WeightedFlow // that arrivals draw from, Mix has the requests of their steps then; nil: there are none
	Rate        float64        // arrivals per second
	Until       Until
	MaxInFlight int
	Timeout     time.Duration
	TimeoutFrom TimeoutFrom
	Timeouts    Timeouts
	Connecting
	DataEnd *DataEnd // nil: the rows last. Until is cut
}

// Connecting says how a load or warm-up stage uses connections.
type Connecting struct {
	KeepAlive             bool
	RequestsPerConnection int // a connection is closed after so many; 0: any number
	Connections           int // to each host: opened before the first arrival, and no more than these; 0: as many as are needed
}

// Timeouts bound parts of a request, besides the timeout of the whole; 0 is no bound.
type Timeouts struct {
	Connect   time.Duration // until a connection is open, the TLS handshake included
	FirstByte time.Duration // from the first byte of the request, on an open connection, to that of the answer
}

// TimeoutFrom says where the timeout of a request begins to count.
type TimeoutFrom string

// The starts of a timeout.
const (
	FromSent     TimeoutFrom = "sent"     // when the request is sent
	FromIntended TimeoutFrom = "intended" // at its intended time
)

// Arrivals is the arrival process of a load stage.
type Arrivals string

// The arrival processes.
const (
	Uniform Arrivals = "uniform" // evenly spaced
	Poisson Arrivals = "poisson" // exponential gaps
	Trace   Arrivals = "trace"   // as recorded
	Closed  Arrivals = "closed"  // the next when the one before has ended, of a fixed number of users
)

// AtMax says what becomes of an arrival while max_in_flight requests are under way.
type AtMax string

// The rules for an arrival at the in-flight bound.
const (
	Wait AtMax = "wait" // it waits, its intended time kept
	Drop AtMax = "drop" // it is counted as dropped and never sent
)

// A Load offers requests at a declared rate, whatever the target does (open model); or, where Arrivals is Closed, has
// MaxInFlight users who each send their next request when the one before has ended.
type Load struct {
	Request     *Request       // the first of a mix
	Mix         []Weighted     // requests that arrivals draw from; nil: all send Request
	Flows       []WeightedFlow // that arrivals draw from, Mix has the requests of their steps then, without weights; nil: there are none
	Think       Pause          // of a user between two requests, or flows
	Arrivals    Arrivals
	Seed        uint64
	Profile     []Segment // at least one
	MaxInFlight int
	AtMax       AtMax
	Timeout     time.Duration // to the last byte
	TimeoutFrom TimeoutFrom
	Timeouts    Timeouts
	Drain       time.Duration // after the last arrival, for what is still in flight
	Connecting
	DataEnd *DataEnd // nil: the rows last. Profile is cut
}

// A Weighted is a request of a mix.
type Weighted struct {
	*Request
	Weight int // of the sum of all weights
}

// Share is the share of the arrivals that a request or flow of the stage gets, on the average; 0 when the stage does not
// send it. A request that is several steps of a flow may get more than 1. "" are all requests.
func (l *Load) Share(request string) float64 {
	if l.Flows != nil {
		return flowShare(l.Flows, request)
	}
	if request == "" {
		return 1
	}
	if l.Mix == nil {
		if l.Request != nil && l.Request.Name == request {
			return 1
		}
		return 0
	}
	sum, own := 0, 0
	for _, w := range l.Mix {
		sum += w.Weight
		if w.Name == request {
			own = w.Weight
		}
	}
	return float64(own) / float64(sum)
}

// Duration is the planned length of the profile, without the drain.
func (l *Load) Duration() time.Duration {
	var d time.Duration
	for _, s := range l.Profile {
		d += s.Over
	}
	return d
}

// Rounds is how often the load of the stage is offered at most, and after which of these rounds, in ascending order and the
// last included, the evidence is looked at: after 1, 2, 4 and so on. Of other stages it is one.
func (s *Stage) Rounds() (looks []int) {
	most := 1
	if l, ok := s.Work.(*Load); ok && l.Duration() > 0 {
		most += int(s.Extend / l.Duration())
	}
	for n := 1; n < most; n *= 2 {
		looks = append(looks, n)
	}
	return append(looks, most)
}

// A Segment is a piece of a rate profile. From equals To in a hold; the rate is linear in between.
type Segment struct {
	Name string // "ramp 10/s to 100/s", "hold 400/s"; unique within the stage
	Kind string // "ramp", "hold", "step", "sine", "csv", "trace" or "closed"; of a closed model, the rates are 0
	Pos  Position
	From float64 // arrivals per second, the total over all hosts
	To   float64
	Over time.Duration

	Points []RatePoint     // of a rate that is linear from point to point; nil: linear from From to To
	Trace  []time.Duration // recorded arrivals; nil: there are none
}

// A RatePoint is a rate at a time since the start of its segment.
type RatePoint struct {
	At   time.Duration
	Rate float64 // arrivals per second
}

// Planned is the mean number of arrivals the segment offers.
func (s Segment) Planned() float64 { return s.Until(s.Over) }

// Until is the mean number of arrivals that the segment offers until t, from 0 to Over.
func (s Segment) Until(t time.Duration) float64 {
	switch {
	case s.Trace != nil:
		n, _ := slices.BinarySearch(s.Trace, t)
		return float64(n)
	case s.Points == nil && t == s.Over:
		return (s.From + s.To) / 2 * s.Over.Seconds()
	case s.Points == nil:
		return (s.From + (s.To-s.From)/2*float64(t)/float64(s.Over)) * t.Seconds()
	}
	n := 0.0
	for i := 1; i < len(s.Points) && t > s.Points[i-1].At; i++ {
		part := Segment{From: s.Points[i-1].Rate, To: s.Points[i].Rate, Over: s.Points[i].At - s.Points[i-1].At}
		n += part.Until(min(t-s.Points[i-1].At, part.Over))
	}
	return n
}

// Peak is the highest rate of the segment, of a trace the most arrivals of a second.
func (s Segment) Peak() float64 {
	peak := max(s.From, s.To)
	first := 0
	for i, at := range s.Trace {
		for at-s.Trace[first] >= time.Second {
			first++
		}
		peak = max(peak, float64(i-first+1))
	}
	for _, p := range s.Points {
		peak = max(peak, p.Rate)
	}
	return peak
}

// An SLO is an assertion of the plan, parsed.
type SLO struct {
	Text       string // as written
	Pos        Position
	Metric     Metric
	Op         string  // "<", "<=", ">", ">=", "=="
	Limit      float64 // in Unit
	Unit       Unit
	Warn       bool // a breach is shown and decides nothing
	Abort      bool // a breach that is beyond doubt ends the stage, from AbortAfter on
	AbortAfter time.Duration

	// Window, if not 0, cuts the stage into windows of that length, and the assertion has to hold in a share of them.
	Window      time.Duration
	WindowShare float64 // above 0, at most 1

	Baseline Relative // set: the limit is relative to stored runs, Limit is 0
}

// A Metric names the quantity that an SLO limits.
type Metric struct {
	Kind     MetricKind
	Clock    Clock   // for Quantile, Mean, Min, Max
	Quantile float64 // 0 to 1, for Quantile
	Stat     string  // for Time: "mean", "min", "max", "p50", "p90" or "p99"
	Target   string  // for CPU and RSS: a target's name
	Request  string  // of a load stage's metric: only of this request or flow; "": of all
	Scope            // of a load stage's metric
	Size     int     // for Time, AllocBytes and Instructions; 0: each size
	Settings string  // for metrics of microbenchmarks: "algorithm=quick,threads=2", by name; what is left out may be any
}

// A Scope narrows a metric of a load stage. "" is no bound.
type Scope struct {
	Segment string // of the profile, by name
	Host    string // host:port of a URL, or of an address that load goes to; "*": each host, the worst counts
	Status  string // of the answer: 503 or 5xx
}

// MetricKind is the quantity of a Metric.
type MetricKind string

// The quantities an SLO can limit.
const (
	Quantile     MetricKind = "quantile"     // of Clock, over all offered requests; failed ones count as over the limit
	Mean         MetricKind = "mean"         // of Clock, of completed requests and timeouts
	Min          MetricKind = "min"          // of Clock
	Max          MetricKind = "max"          // of Clock; failed ones count as over the limit
	ErrorRate    MetricKind = "error_rate"   // (failed + dropped + unfinished) / offered
	SuccessRate  MetricKind = "success"      // completed / offered
	Failed       MetricKind = "failed"       // failed + unfinished, a count
	Dropped      MetricKind = "dropped"      // a count
	Throughput   MetricKind = "throughput"   // completed per second, or as a share of offered when the limit is in %
	CPU          MetricKind = "cpu"          // mean of a target's process tree, 1 = one core busy
	RSS          MetricKind = "rss"          // maximum of a target's process tree, bytes
	Time         MetricKind = "time"         // of one microbenchmark iteration
	Slope        MetricKind = "slope"        // of the linear fit over sizes, ns per row
	Growth       MetricKind = "growth"       // class of the growth over sizes; Limit is its index in GrowthClasses
	AllocBytes   MetricKind = "alloc_bytes"  // allocated bytes per iteration
	Instructions MetricKind = "instructions" // of the processor per iteration, in user space
)

// GrowthClasses in ascending order, as SLOs and results name them.
var GrowthClasses = [...]string{"constant", "logarithmic", "linear", "linearithmic", "quadratic", "cubic"}

// Clock is which of a request's times a Metric looks at.
type Clock string

// The times of a request.
const (
	Response Clock = "response" // last byte − intended
	Service  Clock = "service"  // last byte − sent
	Lag      Clock = "lag"      // sent − intended
	TTFB     Clock = "ttfb"     // first byte of the answer − sent
	Connect  Clock = "connect"  // of connections: until TCP had connected
)

// Unit is the unit of an SLO's limit and value.
type Unit string

// The units.
const (
	Nanoseconds Unit = "ns"
	Share       Unit = "share" // 0.01 is 1 %
	PerSecond   Unit = "per_s"
	Count       Unit = "count"
	Bytes       Unit = "bytes"
	NsPerRow    Unit = "ns_per_row"
	Class       Unit = "class"
)
