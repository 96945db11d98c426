package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/netip"
	"runtime/debug"
	"strconv"
	"time"

	"golang.org/x/sys/unix"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/load"
	"github.com/perfplan/perfplan/runner/load/kts"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/schedule"
)

// A job is the load that one generator process offers.
type job struct {
	Address     netip.AddrPort     `json:"address"`
	Segments    []schedule.Segment `json:"segments"`
	Trace       []time.Duration    `json:"trace_ns,omitempty"` // recorded arrivals in place of segments
	Poisson     bool               `json:"poisson"`
	Seed        uint64             `json:"seed"`
	MaxInFlight int                `json:"max_in_flight"`
	Drop        bool               `json:"drop"` // at MaxInFlight
	Timeout     time.Duration      `json:"timeout_ns"`
	TimeoutFrom plans.TimeoutFrom  `json:"timeout_from"`
	Drain       time.Duration      `json:"drain_ns"`
	Fresh       bool               `json:"fresh"` // a connection per request
	Seq         bool               `json:"seq"`   // number the requests
	LimitsNS    []int64            `json:"limits_ns"`
	Engine      string             `json:"engine"`
	Churn       bool               `json:"churn"` // allocate beside the load, with a low GOGC
	Echo        bool               `json:"echo"`  // the simplest client instead of the engine
}

// hold is one segment at a fixed rate.
func hold(rate float64, over time.Duration) []schedule.Segment {
	return []schedule.Segment{{Name: "hold", From: rate, To: rate, Over: over}}
}

func (j *job) schedule() (*schedule.Schedule, error) {
	if j.Trace != nil {
		return schedule.NewTrace("trace", j.Trace, j.Trace[len(j.Trace)-1]+time.Millisecond)
	}
	process := schedule.Uniform
	if j.Poisson {
		process = schedule.Poisson
	}
	return schedule.New(j.Segments, process, j.Seed)
}

// due returns the intended times, from the start.
func (j *job) due() ([]time.Duration, error) {
	s, err := j.schedule()
	if err != nil {
		return nil, err
	}
	all := make([]time.Duration, 0, s.Len())
	for c := s.Cursor(); ; {
		at, _, ok := c.Next()
		if !ok {
			return all, nil
		}
		all = append(all, at)
	}
}

// A report is what a generator process writes when it is done.
type report struct {
	BaseNS int64        `json:"base_ns"` // CLOCK_MONOTONIC at the run's start, as near as can be seen from outside
	Load   *result.Load `json:"load,omitempty"`
	Echo   string       `json:"echo,omitempty"` // histogram of the echo client
}

// started is written when the load begins.
const started = "started\n"

// generate is the generator process.
func generate(in io.Reader, out io.Writer) error {
	var j job
	if err := json.NewDecoder(in).Decode(&j); err != nil {
		return fmt.Errorf("read the job: %w", err)
	}
	if j.Churn {
		churn()
	}
	if _, err := io.WriteString(out, started); err != nil {
		return err
	}
	var r report
	var err error
	if j.Echo {
		r.Echo, err = echo(&j)
	} else {
		r, err = j.run()
	}
	if err != nil {
		return err
	}
	return json.NewEncoder(out).Encode(&r)
}

func literal(text string) plans.Template { return plans.Template{{Literal: text}} }

// run offers the load through the engine.
func (j *job) run() (r report, err error) {
	target := &plans.Target{Name: "kts", URLs: []plans.URL{{Scheme: "http", Host: j.Address.Addr().String(), Port: int(j.Address.Port())}}}
	hosts, err := load.Resolve(context.Background(), target)
	if err != nil {
		return r, err
	}
	s, err := j.schedule()
	if err != nil {
		return r, err
	}
	req := &plans.Request{Name: "get", Target: target, Method: "GET", Path: literal("/"),
		Expect: plans.Expect{Status: []plans.StatusRange{{From: 200, To: 200}}}}
	if j.Seq {
		numbers := &plans.Data{Name: "numbers", Columns: []string{"seq"}}
		for i := range s.Len() {
			numbers.Rows = append(numbers.Rows, []string{strconv.FormatInt(i, 10)})
		}
		req.Data = []*plans.Data{numbers}
		req.Headers = []plans.Header{{Name: kts.SeqHeader, Value: plans.Template{{Data: numbers}}}}
	}
	cfg := load.Config{Engine: j.Engine, Hosts: hosts, Request: req, Schedule: s, Seed: j.Seed, Arrivals: plans.Uniform,
		MaxInFlight: j.MaxInFlight, AtMax: plans.Wait, Timeout: j.Timeout, TimeoutFrom: j.TimeoutFrom, Drain: j.Drain, KeepAlive: !j.Fresh,
		LimitsNS: j.LimitsNS, TickEvery: 50 * time.Millisecond}
	if j.Poisson {
		cfg.Arrivals = plans.Poisson
	}
	if j.Drop {
		cfg.AtMax = plans.Drop
	}
	// A tick comes soon after its time was taken; the one that came soonest tells best when the run began.
	cfg.OnTick = func(t load.Tick) bool {
		if base := monotonic() - int64(t.At); t.At > 0 && (r.BaseNS == 0 || base < r.BaseNS) {
			r.BaseNS = base
		}
		return true
	}
	r.Load, err = load.Run(context.Background(), cfg)
	return r, err
}

func monotonic() int64 {
	var ts unix.Timespec
	unix.ClockGettime(unix.CLOCK_MONOTONIC, &ts)
	return ts.Nano()
}

// churn allocates for as long as the process lives, so that collections come one
// after the other.
func churn() {
	debug.SetGCPercent(10)
	go func() {
		ballast := make([][]*[64]byte, 64)
		for i := 0; ; i++ {
			block := make([]*[64]byte, 2048)
			for k := range block {
				block[k] = new([64]byte)
			}
			ballast[i%len(ballast)] = block
			time.Sleep(2 * time.Millisecond)
		}
	}()
}

// echo is the floor of the rig: one blocking connection, one thread, absolute
// sleeps. It returns the histogram of the times from the intended time on.
func echo(j *job) (string, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return "", err
	}
	defer unix.Close(fd)
	unix.SetsockoptInt(fd, unix.IPPROTO_TCP, unix.TCP_NODELAY, 1)
	if err := unix.Connect(fd, &unix.SockaddrInet4{Port: int(j.Address.Port()), Addr: j.Address.Addr().As4()}); err != nil {
		return "", err
	}
	due, err := j.due()
	if err != nil {
		return "", err
	}
	unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0)
	request, answer := []byte("GET / HTTP/1.1\r\nHost: kts\r\n\r\n"), make([]byte, 4096)
	h, base := hist.New(), monotonic()+int64(5*time.Millisecond)
	for _, d := range due {
		at := base + int64(d)
		ts := unix.NsecToTimespec(at)
		for monotonic() < at {
			unix.ClockNanosleep(unix.CLOCK_MONOTONIC, unix.TIMER_ABSTIME, &ts, nil)
		}
		if _, err := unix.Write(fd, request); err != nil {
			return "", err
		}
		if n, err := unix.Read(fd, answer); err != nil || n == 0 {
			return "", fmt.Errorf("echo: got %d bytes, %w", n, err)
		}
		h.Record(monotonic() - at)
	}
	return h.Encode()
}
