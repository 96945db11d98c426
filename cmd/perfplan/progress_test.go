package main

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner"
	"github.com/perfplan/perfplan/runner/load"
	"github.com/perfplan/perfplan/runner/result"
)

// A rehearsal is the events of a run of 12 s, each with the time to wait before it.
func rehearsal() (events []runner.Event, waits []time.Duration) {
	stage := &plans.Stage{Name: "hold", Work: &plans.Load{Profile: []plans.Segment{{Over: 12 * time.Second}}}}
	add := func(wait time.Duration, e runner.Event) {
		events, waits = append(events, e), append(waits, wait)
	}
	add(0, runner.Preparing{Target: "web", Doing: "starting"})
	add(time.Second, runner.Preparing{Target: "web", Doing: "ready"})
	add(0, runner.StageStarted{Index: 0, Count: 1, Stage: stage})
	for i := range 12 {
		at := time.Duration(i+1) * time.Second
		tick := load.Tick{At: at, Length: time.Second, Samples: 100, P50: 2 * time.Millisecond, P99: 9 * time.Millisecond}
		tick.Last.Offered, tick.Last.Completed, tick.Total.Failed = 100, 99, int64(i)
		add(time.Second, runner.LoadProgress{Stage: stage, Elapsed: at, Planned: 12 * time.Second, Tick: tick})
	}
	add(0, runner.StageFinished{Index: 0, Count: 1, Stage: &result.Stage{Name: "hold", Outcome: result.Pass, Reason: "its SLO holds"}})
	add(0, runner.Preparing{Doing: "stopping"})
	return events, waits
}

// rehearse plays it to a display and returns what that has written.
func rehearse(t *testing.T, width func() int, quiet bool) string {
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		p := startProgress(&out, unicodeGlyphs, width, quiet)
		events, waits := rehearsal()
		for i, e := range events {
			// Half a millisecond off the display's own times keeps the order of both certain.
			time.Sleep(waits[i] + time.Millisecond/2)
			p.event(e)
		}
		p.end()
	})
	return out.String()
}

func TestPlainProgress(t *testing.T) {
	got := rehearse(t, nil, false)
	want := `starting web
web is ready
[1/1] hold: 12s left
[1/1] hold: 9s left, offered 100/s, completed 99/s, p50 2.00ms, p99 9.00ms, errors 2
[1/1] hold: 4s left, offered 100/s, completed 99/s, p50 2.00ms, p99 9.00ms, errors 7
[1/1] hold: pass: its SLO holds
stopping
`
	if got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

// A stage that begins just before the display's own time is told once; what takes long is told again.
func TestPlainProgressSaysItOnce(t *testing.T) {
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		p := startProgress(&out, unicodeGlyphs, nil, false)
		p.event(runner.Preparing{Target: "web", Doing: "starting"})
		time.Sleep(2*plainEvery - 100*time.Millisecond)
		stage := &plans.Stage{Name: "slow", Work: &plans.Load{Profile: []plans.Segment{{Over: 10 * time.Second}}}}
		p.event(runner.StageStarted{Index: 1, Count: 3, Stage: stage})
		time.Sleep(plainEvery)
		p.end()
	})
	if got, want := out.String(), "starting web\nstarting web\n[2/3] slow: 10s left\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestQuietProgress(t *testing.T) {
	if got := rehearse(t, nil, true); got != "" {
		t.Errorf("quiet progress has written %q", got)
	}
}

// The living line is redrawn five times a second, in the terminal's width, and nothing of it is left over.
func TestLivingProgress(t *testing.T) {
	const width = 60
	got := rehearse(t, func() int { return width }, false)
	draws := strings.Count(got, "\r[1/1] hold")
	if draws < 58 || draws > 61 {
		t.Errorf("the line was drawn %d times in 12 s, want about 60", draws)
	}
	lasting, last, widest := screen(got)
	if widest >= width {
		t.Errorf("a line of %d columns on a terminal of %d", widest, width)
	}
	if want := []string{"[1/1] hold: pass: its SLO holds"}; !slices.Equal(lasting, want) || last != "" {
		t.Errorf("the screen shows %q and %q in the end, want only %q", lasting, last, want)
	}
}

// screen is what a terminal shows after text: the lines that the cursor has left, the one it is on, and the columns of
// the widest line at any time.
func screen(text string) (lasting []string, last string, widest int) {
	var line []rune
	col := 0
	for text != "" {
		r, size := utf8.DecodeRuneInString(text)
		switch {
		case strings.HasPrefix(text, "\x1b[K"):
			line, size = line[:col], len("\x1b[K")
		case r == '\r':
			col = 0
		case r == '\n':
			lasting, line, col = append(lasting, string(line)), nil, 0
		default:
			line = append(line[:col], append([]rune{r}, line[min(col+1, len(line)):]...)...)
			col++
		}
		widest = max(widest, len(line))
		text = text[size:]
	}
	return lasting, string(line), widest
}

// What is said in between does not stand in the middle of the living line.
func TestSayClearsLine(t *testing.T) {
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		p := startProgress(&out, asciiGlyphs, func() int { return 80 }, false)
		p.event(runner.Preparing{Target: "web", Doing: "building"})
		time.Sleep(redrawEvery + time.Millisecond)
		p.say("perfplan: interrupt")
		p.end()
	})
	if want := "\rbuilding web\x1b[K\r\x1b[Kperfplan: interrupt\n"; out.String() != want {
		t.Errorf("got %q, want %q", out.String(), want)
	}
}
