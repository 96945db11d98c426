package kts

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// A Kind is one of the server's laws. R is the time from a request's arrival to
// its answer, n counts requests from 1, and t the time from the first arrival.
type Kind string

// The laws. Stalls of length S begin at t = T/2, 3T/2 and so on, so that a run
// never begins within one.
const (
	Fixed     Kind = "fixed"     // R = D
	Stall     Kind = "stall"     // requests that arrive in a stall are released at its end, plus D
	QStall    Kind = "qstall"    // one server, service 1/Mu, first come first served, frozen in stalls
	Bimodal   Kind = "bimodal"   // R = D2 where M divides n, else D
	MM1       Kind = "mm1"       // one server, first come first served, exponential service of mean 1/Mu
	Slots     Kind = "slots"     // K servers, service D, first come first served
	Hang      Kind = "hang"      // R = D before t = H, then no answer
	Mute      Kind = "mute"      // no answer where M divides n, else R = D
	Reset     Kind = "reset"     // the connection ends where M divides n, as When says, else R = D
	Accept    Kind = "accept"    // nothing is accepted in a stall, the listener's backlog is Backlog; R = D from the accept
	ColdStart Kind = "coldstart" // requests before t = H are released at H, plus D
	Ladder    Kind = "ladder"    // R goes from A towards B in 1000 equal steps, over and over
	Dribble   Kind = "dribble"   // the head at once, the body in pieces until D
	Cut       Kind = "cut"       // as Dribble, but the connection ends at D/2, half of the body sent
	IdleClose Kind = "idleclose" // R = D, and a connection is closed when idle for I
)

// The ways in which Reset ends a connection.
const (
	Before = "before" // RST instead of an answer
	Fin    = "fin"    // FIN instead of an answer
	Head   = "head"   // RST, ResetDelay after the answer's head
)

// ResetDelay is the time between the head of an answer and the RST behind it.
const ResetDelay = 5 * time.Millisecond

// A Mode is a law with its parameters; see Kind for their meaning.
type Mode struct {
	Kind    Kind
	D, D2   time.Duration
	S, T    time.Duration
	H       time.Duration
	I       time.Duration
	A, B    time.Duration
	M       int64
	K       int
	Backlog int
	Mu      float64 // per second
	Seed    uint64
	When    string
}

// keys are the parameters that each law needs. D may be left out: 0.
var keys = map[Kind][]string{
	Fixed: {}, Stall: {"s", "t"}, QStall: {"mu", "s", "t"}, Bimodal: {"d2", "m"}, MM1: {"mu", "seed"},
	Slots: {"k"}, Hang: {"h"}, Mute: {"m"}, Reset: {"m", "when"}, Accept: {"backlog", "s", "t"},
	ColdStart: {"h"}, Ladder: {"a", "b"}, Dribble: {}, Cut: {}, IdleClose: {"i"},
}

// noD are the laws without D.
var noD = []Kind{QStall, MM1, Ladder}

// ParseMode reads a kind with its parameters, such as "stall d=5ms s=200ms t=2003ms".
func ParseMode(text string) (Mode, error) {
	words := strings.Fields(text)
	if len(words) == 0 {
		return Mode{}, fmt.Errorf("not a mode: got %q, want a kind like fixed", text)
	}
	m := Mode{Kind: Kind(words[0])}
	need, ok := keys[m.Kind]
	if !ok {
		return Mode{}, fmt.Errorf("unknown kind of mode %q", words[0])
	}
	var given []string
	for _, w := range words[1:] {
		key, value, _ := strings.Cut(w, "=")
		if slices.Contains(given, key) {
			return Mode{}, fmt.Errorf("mode %q: %q twice", text, key)
		}
		if !slices.Contains(need, key) && (key != "d" || slices.Contains(noD, m.Kind)) {
			return Mode{}, fmt.Errorf("mode %q: %s has no %q", text, m.Kind, key)
		}
		if err := m.set(key, value); err != nil {
			return Mode{}, fmt.Errorf("mode %q: %s: %w", text, key, err)
		}
		given = append(given, key)
	}
	for _, key := range need {
		if !slices.Contains(given, key) {
			return Mode{}, fmt.Errorf("mode %q: %s needs %q", text, m.Kind, key)
		}
	}
	return m, m.check()
}

// field is the place of a parameter: *time.Duration, *int64, *int, *float64, *uint64 or *string.
func (m *Mode) field(key string) any {
	switch key {
	case "d":
		return &m.D
	case "d2":
		return &m.D2
	case "s":
		return &m.S
	case "t":
		return &m.T
	case "h":
		return &m.H
	case "i":
		return &m.I
	case "a":
		return &m.A
	case "b":
		return &m.B
	case "m":
		return &m.M
	case "k":
		return &m.K
	case "backlog":
		return &m.Backlog
	case "mu":
		return &m.Mu
	case "seed":
		return &m.Seed
	}
	return &m.When
}

func (m *Mode) set(key, value string) (err error) {
	switch p := m.field(key).(type) {
	case *time.Duration:
		*p, err = time.ParseDuration(value)
		if err == nil && *p < 0 {
			err = fmt.Errorf("got %v, want 0s or more", *p)
		}
	case *int64:
		*p, err = strconv.ParseInt(value, 10, 64)
	case *int:
		*p, err = strconv.Atoi(value)
	case *float64:
		*p, err = strconv.ParseFloat(value, 64)
	case *uint64:
		*p, err = strconv.ParseUint(value, 10, 64)
	case *string:
		*p = value
	}
	return err
}

func (m *Mode) check() error {
	need := keys[m.Kind]
	switch {
	case slices.Contains(need, "m") && m.M < 1:
		return fmt.Errorf("mode %s: got m=%d, want 1 or more", m.Kind, m.M)
	case slices.Contains(need, "k") && m.K < 1:
		return fmt.Errorf("mode %s: got k=%d, want 1 or more", m.Kind, m.K)
	case slices.Contains(need, "mu") && !(m.Mu > 0):
		return fmt.Errorf("mode %s: got mu=%v, want more than 0", m.Kind, m.Mu)
	case slices.Contains(need, "t") && m.S > m.T/2:
		return fmt.Errorf("mode %s: got s=%v, want at most half of t=%v", m.Kind, m.S, m.T)
	case slices.Contains(need, "backlog") && m.Backlog < 1:
		return fmt.Errorf("mode %s: got backlog=%d, want 1 or more", m.Kind, m.Backlog)
	case m.Kind == Reset && !slices.Contains([]string{Before, Fin, Head}, m.When):
		return fmt.Errorf("mode %s: got when=%q, want %s, %s or %s", m.Kind, m.When, Before, Fin, Head)
	case m.Kind == Ladder && m.B < m.A:
		return fmt.Errorf("mode %s: got b=%v, want at least a=%v", m.Kind, m.B, m.A)
	}
	return nil
}

// String is the text that ParseMode reads.
func (m Mode) String() string {
	words := []string{string(m.Kind)}
	all := keys[m.Kind]
	if !slices.Contains(noD, m.Kind) {
		all = append([]string{"d"}, all...)
	}
	for _, key := range all {
		value := ""
		switch p := m.field(key).(type) {
		case *time.Duration:
			value = p.String()
		case *int64:
			value = strconv.FormatInt(*p, 10)
		case *int:
			value = strconv.Itoa(*p)
		case *float64:
			value = strconv.FormatFloat(*p, 'g', -1, 64)
		case *uint64:
			value = strconv.FormatUint(*p, 10)
		case *string:
			value = *p
		}
		words = append(words, key+"="+value)
	}
	return strings.Join(words, " ")
}
