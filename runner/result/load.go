package result

import "time"

// Counts are the ends of requests. Offered = Sent + Dropped and Sent = Completed + Failed + Unfinished.
type Counts struct {
	Offered    int64 `json:"offered"`    // arrivals of the schedule that came due
	Sent       int64 `json:"sent"`       // first byte handed to the system, or the attempt to connect for it
	Completed  int64 `json:"completed"`  // answered as expected
	Failed     int64 `json:"failed"`     // every other end, timeouts among them
	Dropped    int64 `json:"dropped"`    // offered, never sent
	Unfinished int64 `json:"unfinished"` // still in flight when the drain ended
	// WaitedOut are those failed by a timeout that counts from the intended time, most of which they had waited at the
	// in-flight bound.
	WaitedOut int64 `json:"waited_out,omitempty"`
}

// A Distribution sums up times. All keys are null when Count is 0.
type Distribution struct {
	Count  int64    `json:"count"`
	MinNS  *int64   `json:"min_ns"`
	MeanNS *float64 `json:"mean_ns"`
	P50NS  *int64   `json:"p50_ns"`
	P90NS  *int64   `json:"p90_ns"`
	P95NS  *int64   `json:"p95_ns"`
	P99NS  *int64   `json:"p99_ns"`
	P999NS *int64   `json:"p999_ns"`
	MaxNS  *int64   `json:"max_ns"`
	// CensoredFromNS is the shortest time of a request that had no answer when its wait ended (timeout or
	// unfinished). Any value at or above it is a lower bound and shown with "≥". Null: nothing was censored.
	CensoredFromNS *int64  `json:"censored_from_ns,omitempty"`
	SumNS          float64 `json:"sum_ns,omitempty"`
	Bounds         []Bound `json:"bounds,omitempty"` // of its percentiles, of response and service times of loads
	// Histogram is the HDR histogram, V2 compressed, base64; see runner/hist.
	Histogram string `json:"histogram,omitempty"`
}

// A Bound is what the requests of a stage tell of a percentile of the times that such requests take: with 95 % it lies
// from LoNS to HiNS, both of them times that were measured. Requests that are near each other in time have like fates, so
// they tell as much as NEff independent ones do. Null: too few for that end.
type Bound struct {
	Quantile float64 `json:"quantile"`
	LoNS     *int64  `json:"lo_ns"`
	HiNS     *int64  `json:"hi_ns"`
	NEff     float64 `json:"n_eff"`
}

// A Percentile is one of those that a Distribution holds.
type Percentile struct {
	Quantile float64
	NS       int64
}

// Percentiles lists those of d, the lowest first; none when it is empty.
func (d Distribution) Percentiles() (list []Percentile) {
	for _, p := range []struct {
		q  float64
		ns *int64
	}{{0.5, d.P50NS}, {0.9, d.P90NS}, {0.95, d.P95NS}, {0.99, d.P99NS}, {0.999, d.P999NS}} {
		if p.ns != nil {
			list = append(list, Percentile{p.q, *p.ns})
		}
	}
	return list
}

// Bound is that of one of the percentiles of d; nil: it is not known.
func (d Distribution) Bound(quantile float64) *Bound {
	for i := range d.Bounds {
		if d.Bounds[i].Quantile == quantile {
			return &d.Bounds[i]
		}
	}
	return nil
}

// A Load is the record of a load or warm-up stage. Times of segments, seconds and intervals count from Started.
type Load struct {
	Counts
	// Started is the wall time of the run's time 0, when the first arrival could be due, in UTC. Zero in records that do
	// not have it.
	Started time.Time `json:"started,omitzero"`

	Request            string  `json:"request"`
	Target             string  `json:"target"`
	Engine             string  `json:"engine"`                  // loop or goroutine
	EngineReason       string  `json:"engine_reason,omitempty"` // why this one
	Loops              int     `json:"loops,omitempty"`         // threads of the event loop
	Pacing             *Pacing `json:"pacing,omitempty"`
	Arrivals           string  `json:"arrivals"`                 // uniform, poisson, trace or closed
	Users              int     `json:"users,omitempty"`          // of a closed model, MaxInFlight then: each had one request, or flow, under way
	ThinkLeastNS       int64   `json:"think_least_ns,omitempty"` // of each user of a closed model between two requests, or flows: at least, at most
	ThinkMostNS        int64   `json:"think_most_ns,omitempty"`
	Seed               uint64  `json:"seed"`
	MaxInFlight        int     `json:"max_in_flight"`
	AtMax              string  `json:"at_max"` // wait or drop
	KeepAlive          bool    `json:"keep_alive"`
	PerConnection      int     `json:"requests_per_connection,omitempty"` // after which a connection was closed; 0: any number
	Connections        int     `json:"connections,omitempty"`             // most to each host, opened before the first arrival; 0: as many as were needed
	TimeoutNS          int64   `json:"timeout_ns"`
	TimeoutFrom        string  `json:"timeout_from,omitempty"`          // what the timeout counts from: sent (also where it is missing) or intended
	ConnectTimeoutNS   int64   `json:"connect_timeout_ns,omitempty"`    // longest time to open a connection; 0: the timeout
	FirstByteTimeoutNS int64   `json:"first_byte_timeout_ns,omitempty"` // longest time to the first byte of an answer; 0: the timeout
	Rounds             int     `json:"rounds,omitempty"`                // how often the schedule was offered, when more than once; what follows is of all
	RoundStartsNS      []int64 `json:"round_starts_ns,omitempty"`       // in the series and the intervals
	Looks              int     `json:"looks,omitempty"`                 // times that the evidence may be looked at: each has its part of the chance of error
	Planned            int64   `json:"planned"`                         // arrivals of the whole schedule
	PlannedNS          int64   `json:"planned_ns"`                      // length of the whole schedule
	DurationNS         int64   `json:"duration_ns"`                     // of the schedule's part that was offered, without the drain
	DrainNS            int64   `json:"drain_ns"`
	OfferedPerS        float64 `json:"offered_per_s"`
	ThroughputPerS     float64 `json:"throughput_per_s"` // completed by a second (or 3 fastest service times) after the last arrival / duration

	// Response, Service and Lag hold completed requests, timeouts and unfinished ones. Requests that failed
	// in another way are in FailedResponse; they never improve Response.
	Response       Distribution `json:"response"`
	Service        Distribution `json:"service"`
	Lag            Distribution `json:"lag"`          // of all sent requests
	Waiting        Distribution `json:"waiting"`      // part of lag: at the in-flight bound, or for a free connection
	DispatchLag    Distribution `json:"dispatch_lag"` // part of lag: the generator's own
	FailedResponse Distribution `json:"failed_response"`

	LimitsNS  []int64          `json:"limits_ns"` // thresholds that Over counters count against
	Errors    []Error          `json:"errors"`    // by descending count
	Status    map[string]int64 `json:"status"`    // final status codes of answers, "200": 1234
	Segments  []Segment        `json:"segments"`
	Requests  []RequestLoad    `json:"requests,omitempty"` // of a mix, or of the steps of flows, apart
	Flows     []RequestLoad    `json:"flows,omitempty"`    // what became of the flows: from the first request to the last answer, without think time
	Apart     []RequestLoad    `json:"apart,omitempty"`    // sets of requests that assertions are about, by name: "search [host=10.0.0.7:8080,status=5xx]"
	Windows   []Windows        `json:"windows,omitempty"`  // that assertions are about
	Hosts     []Host           `json:"hosts"`
	Wire      Wire             `json:"wire"`
	DNS       *DNS             `json:"dns,omitempty"` // nil: names were looked up once
	Series    []Second         `json:"series"`
	Intervals []HistInterval   `json:"intervals,omitempty"`
	Audit     Audit            `json:"audit"`
}

// A RequestLoad is what became of one request of a mix or of flows, or of one flow, whose name Request is then.
type RequestLoad struct {
	Counts
	Request        string           `json:"request"`
	Weight         int64            `json:"weight"` // of the sum of all weights, the share of arrivals that drew it on the average; 0 for a step of flows
	OfferedPerS    float64          `json:"offered_per_s"`
	ThroughputPerS float64          `json:"throughput_per_s"` // completed / duration
	Response       Distribution     `json:"response"`
	Service        Distribution     `json:"service"`
	Lag            Distribution     `json:"lag"`
	DispatchLag    Distribution     `json:"dispatch_lag"`
	FailedResponse Distribution     `json:"failed_response"`
	Errors         []Error          `json:"errors"`
	Status         map[string]int64 `json:"status"`
	Segments       []Segment        `json:"segments"` // as those of the stage, of this request alone; Planned and MeanInFlight are the stage's and 0
	Windows        []Windows        `json:"windows,omitempty"`
}

// Windows cut a stage into pieces of equal length, by intended time, from its start on; the last may be cut short.
type Windows struct {
	LengthNS     int64     `json:"length_ns"`
	Offered      []int64   `json:"offered"`       // by window
	Bad          []int64   `json:"bad"`           // of them failed, dropped or unfinished
	OverResponse [][]int64 `json:"over_response"` // OverResponse[i][window] against LimitsNS[i], as in a Segment
	OverService  [][]int64 `json:"over_service"`
}

// A Pacing is how the load generator waited for the times of arrivals.
type Pacing struct {
	Mode        string `json:"mode"`              // exact: a timer for each; tick: one for all since the last tick; precise: spins ahead of each
	TickNS      int64  `json:"tick_ns,omitempty"` // arrivals are sent at multiples of it, in mode tick
	Reason      string `json:"reason"`
	TimerCPUNS  int64  `json:"timer_cpu_ns,omitempty"`  // what a short sleep cost at the start
	TimerLateNS int64  `json:"timer_late_ns,omitempty"` // how late it ended, at worst but for the very worst
}

// Classes of errors: who is at fault.
const (
	ClassTarget    = "target"
	ClassGenerator = "generator" // no descriptors, no ports, no memory on the load-generating machine
)

// An Error is one kind of failure with how often it happened.
type Error struct {
	Kind    string `json:"kind"`  // stable word: timeout, refused, reset, closed, status, expect, tls, dns, protocol, redirects, descriptors, ports …
	Class   string `json:"class"` // target or generator
	Count   int64  `json:"count"`
	Example string `json:"example"` // text of one, at most 300 bytes
	// Of is the expectation that was not met, of kind expect: contains, headers.content-type, json.$.items …
	Of     string `json:"of,omitempty"`
	Sample string `json:"sample,omitempty"` // the body, its first KiB at most, of the first answer that did not meet it
}

// A Segment is the record of one segment of the rate profile. Requests belong to it by intended time.
type Segment struct {
	Counts
	Name           string       `json:"name"`
	Kind           string       `json:"kind"`
	FromPerS       float64      `json:"from_per_s"`
	ToPerS         float64      `json:"to_per_s"`
	StartNS        int64        `json:"start_ns"`
	DurationNS     int64        `json:"duration_ns"`
	Planned        int64        `json:"planned"`
	ThroughputPerS float64      `json:"throughput_per_s"` // completed (of this segment's arrivals) / duration
	Response       Distribution `json:"response"`
	Service        Distribution `json:"service"`
	Lag            Distribution `json:"lag"`
	DispatchLag    Distribution `json:"dispatch_lag"`
	Capped         int64        `json:"capped"` // arrivals that found max_in_flight requests under way, or none of connections free
	MeanInFlight   float64      `json:"mean_in_flight"`
	// OverResponse[i] counts offered requests whose response time exceeded LimitsNS[i], that failed, were
	// dropped or did not finish; OverService the same by service time, of sent requests.
	OverResponse []int64 `json:"over_response"`
	OverService  []int64 `json:"over_service"`
	Bins         Bins    `json:"bins"`
	// Dependence tells by how many times fewer independent requests those of the segment do for, as it shows in the response
	// times of each second at rising levels. It is empty for segments of less than ten whole seconds.
	Dependence []Dependence `json:"dependence,omitempty"`
}

// A Dependence is the design effect of the share of requests above one percentile: its variance over that of as many
// independent requests, with an allowance for how well it is known itself.
type Dependence struct {
	Quantile float64 `json:"quantile"` // above 0, below 1
	DEFF     float64 `json:"deff"`     // at least 1
}

// Bins cut a segment into equal pieces of intended time, for the dependence between requests.
type Bins struct {
	WidthNS int64     `json:"width_ns"`
	Offered []int64   `json:"offered"`
	Over    [][]int64 `json:"over"` // Over[i][bin] as OverResponse[i]
}

// A Host is one address that load was spread over.
type Host struct {
	Counts
	Address  string       `json:"address"` // host:port as dialled, or unix: and a path; at the start
	Response Distribution `json:"response"`
}

// DNS is what became of the hosts when their names were looked up again during the stage.
type DNS struct {
	RefreshNS int64           `json:"refresh_ns"`
	Lookups   int64           `json:"lookups"`
	Failed    int64           `json:"failed"`  // of these, without an address in the answer: nothing was changed
	Changed   int64           `json:"changed"` // how often a host went to other addresses
	Changes   []AddressChange `json:"changes"` // the first 100, in order
}

// An AddressChange says that new connections of a host went to other addresses from TNS on, to several of them in turn.
type AddressChange struct {
	TNS  int64    `json:"t_ns"`
	Host int      `json:"host"` // index in Hosts, whose Address is the one at the start
	From []string `json:"from"`
	To   []string `json:"to"`
}

// Wire is what went over the network.
type Wire struct {
	Attempts  int64 `json:"attempts"`               // requests begun on a connection, hops of redirects included
	Opened    int64 `json:"opened"`                 // connections opened
	Ahead     int64 `json:"opened_ahead,omitempty"` // of these before the first arrival
	Resumed   int64 `json:"resumed"`                // connections opened that resumed the TLS session of an earlier one
	Reused    int64 `json:"reused"`                 // requests sent on a connection used before
	Redirects int64 `json:"redirects"`              // hops followed
	BytesOut  int64 `json:"bytes_out"`
	BytesIn   int64 `json:"bytes_in"`
	BodyBytes int64 `json:"body_bytes"`

	// OverFirstByte[i] counts sent requests whose first byte came later than LimitsNS[i], or not at all, OverConnect
	// connections that took longer to open. Null: no assertion asks.
	OverFirstByte []int64 `json:"over_first_byte,omitempty"`
	OverConnect   []int64 `json:"over_connect,omitempty"`

	// The phases of requests. DNS, Connect and TLS have one time for each look-up of a name and each connection opened.
	DNS       Distribution `json:"dns"`        // look-up of a name, at the start; none for IP addresses
	Connect   Distribution `json:"connect"`    // TCP connect time
	TLS       Distribution `json:"tls"`        // handshake
	Send      Distribution `json:"send"`       // first byte of the request handed to the system → the last; 0: in one piece
	FirstByte Distribution `json:"first_byte"` // first byte of the (first) answer − sent
	Body      Distribution `json:"body"`       // first byte of a complete answer → its last; 0: in one piece; none with redirects
}

// A Second is one second of a load stage.
type Second struct {
	TNS       int64  `json:"t_ns"`      // its start
	Offered   int64  `json:"offered"`   // arrivals intended in it
	Sent      int64  `json:"sent"`      // by time of the send
	Completed int64  `json:"completed"` // by time of the end
	Failed    int64  `json:"failed"`    // by time of the end
	Dropped   int64  `json:"dropped"`
	InFlight  int64  `json:"in_flight"` // at its end
	P50NS     *int64 `json:"p50_ns"`    // response times of arrivals intended in it
	P99NS     *int64 `json:"p99_ns"`
	MaxNS     *int64 `json:"max_ns"`
	LagMaxNS  *int64 `json:"lag_max_ns"`
}

// A HistInterval is the response-time histogram of arrivals intended in [StartNS, EndNS).
type HistInterval struct {
	StartNS   int64  `json:"start_ns"`
	EndNS     int64  `json:"end_ns"`
	Histogram string `json:"histogram"`
}

// An Audit is what the load generator knows about its own part in the figures. Figures that are null are not known on
// this system. See docs/audit.md for how they are judged.
type Audit struct {
	Capped       int64   `json:"capped"`        // arrivals that found max_in_flight requests under way, or none of connections free
	MaxInFlight  int64   `json:"max_in_flight"` // largest number seen
	MeanInFlight float64 `json:"mean_in_flight"`
	// MeanInFlightByTimes is the same by Little's law: the times of all requests, from the send to the end, over the
	// stage's length.
	MeanInFlightByTimes float64 `json:"mean_in_flight_by_times"`
	Late                int64   `json:"late"` // requests sent more than 1 ms after they could be (dispatch lag)

	// How arrivals were spread, as sent and as planned: coefficient of variation of the gaps between them, and index of
	// dispersion (variance / mean) of their number in 10 ms.
	GapsCV            *float64 `json:"gaps_cv"`
	PlannedGapsCV     *float64 `json:"planned_gaps_cv"`
	Dispersion        *float64 `json:"dispersion_10ms"`
	PlannedDispersion *float64 `json:"planned_dispersion_10ms"`

	CPUShare         *float64 `json:"cpu_share"`          // of this process, 1 = one core
	RunDelayShare    *float64 `json:"run_delay_share"`    // time its threads waited for a core / wall time
	CPUPressureShare *float64 `json:"cpu_pressure_share"` // time that some task of the machine waited for a core / wall time
	PauseMaxNS       *int64   `json:"pause_max_ns"`       // longest stall of a heartbeat in this process
	PausesOver5ms    int64    `json:"pauses_over_5ms"`
	PausesOver20ms   int64    `json:"pauses_over_20ms"`
	FrozenNS         int64    `json:"frozen_ns"`    // sum of stalls above 20 ms in which no thread waited for a core: the process stood still
	HeartbeatNS      int64    `json:"heartbeat_ns"` // its period
	GCPauseMaxNS     *int64   `json:"gc_pause_max_ns"`
	GCCycles         int64    `json:"gc_cycles"`
	SchedDelayP99NS  *int64   `json:"sched_delay_p99_ns"` // of goroutines that were ready and had no thread
	StealShare       *float64 `json:"steal_share"`        // of the machine
	ThrottledNS      *int64   `json:"throttled_ns"`       // by its cgroup or one above
	ThrottledPeriods *int64   `json:"throttled_periods"`

	DescriptorLimit *int64 `json:"descriptor_limit"`
	DescriptorsMax  *int64 `json:"descriptors_max"` // most that were open, looked at four times a second
	LocalPorts      *int64 `json:"local_ports"`     // in the range that the system gives to clients
	TimeWaitMax     *int64 `json:"time_wait_max"`   // most sockets in that state, looked at four times a second

	TCP *TCP `json:"tcp"`
}

// TCP is what the TCP of the generator's network namespace counted during a stage, for all its connections and
// listeners; on one machine with the target that is the target's, too.
type TCP struct {
	SegmentsOut     int64 `json:"segments_out"`
	Retransmitted   int64 `json:"retransmitted"` // segments
	Timeouts        int64 `json:"timeouts"`      // of retransmission
	ListenOverflows int64 `json:"listen_overflows"`
	ListenDrops     int64 `json:"listen_drops"`
	BacklogDrops    int64 `json:"backlog_drops"`
}

// A Warmup is how a warm-up ended.
type Warmup struct {
	Until     string `json:"until"` // steady or duration
	Settled   bool   `json:"settled"`
	SettledNS *int64 `json:"settled_ns"` // since the stage's start
	Excluded  int64  `json:"excluded"`   // requests or iterations thrown away
}
