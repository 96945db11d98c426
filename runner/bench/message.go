package bench

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"

	"github.com/perfplan/perfplan/runner/process"
)

// greeting is the first line of every subject.
const greeting = "perfplan-subject 1"

// A batch is what a subject says about the iterations that it was asked for: totals over all of them.
type batch struct {
	iterations int64
	ns         int64
	bytes      *int64 // nil: not reported
	allocs     *int64
	gcs        *int64 // garbage collections
	gcNS       *int64 // their pauses
	checksum   string // "" when not reported

	// what we saw of it: nil, 0 or not counted where we did not
	cpuNS *int64
	usage process.Usage
}

// checkGreeting tells a subject from any other program.
func checkGreeting(line string) error {
	if line == greeting {
		return nil
	}
	if version, ok := strings.CutPrefix(line, "perfplan-subject "); ok {
		return fmt.Errorf("the subject speaks protocol version %q, this perfplan speaks version 1", version)
	}
	return fmt.Errorf("not a greeting: got %s, want %q as the first line on standard output (logs belong on standard error)", quoted(line), greeting)
}

// parseReady reads the answer to "setup".
func parseReady(line string) error {
	if word, _, _ := strings.Cut(line, " "); word == "ready" {
		return nil
	}
	return unexpected(line, "ready")
}

// parseDone reads the answer to "run". Keys that it does not know are skipped, so that a subject may say more.
func parseDone(line string) (batch, error) {
	word, rest, _ := strings.Cut(line, " ")
	if word != "done" {
		return batch{}, unexpected(line, "done iterations=N ns=N")
	}
	var b batch
	seen := map[string]bool{}
	for field := range strings.SplitSeq(rest, " ") {
		key, value, ok := strings.Cut(field, "=")
		if !ok || key == "" || value == "" {
			return batch{}, fmt.Errorf("not a field: got %q in %s, want key=value, fields apart by one space", field, quoted(line))
		}
		if seen[key] {
			return batch{}, fmt.Errorf("key %q twice in %s", key, quoted(line))
		}
		seen[key] = true
		if err := b.set(key, value); err != nil {
			return batch{}, fmt.Errorf("%s: %w in %s", key, err, quoted(line))
		}
	}
	for _, key := range []string{"iterations", "ns"} {
		if !seen[key] {
			return batch{}, fmt.Errorf("no %s in %s, want done iterations=N ns=N", key, quoted(line))
		}
	}
	return b, nil
}

func (b *batch) set(key, value string) error {
	if key == "checksum" {
		b.checksum = value
		return nil
	}
	to, ok := map[string]*int64{"iterations": &b.iterations, "ns": &b.ns, "bytes": new(int64), "allocs": new(int64), "gc": new(int64), "gc_ns": new(int64)}[key]
	if !ok {
		return nil
	}
	n, err := strconv.ParseUint(value, 10, 63)
	if err != nil {
		return fmt.Errorf("not a whole number: got %q", value)
	}
	*to = int64(n)
	switch key {
	case "bytes":
		b.bytes = to
	case "allocs":
		b.allocs = to
	case "gc":
		b.gcs = to
	case "gc_ns":
		b.gcNS = to
	}
	return nil
}

// unexpected is the error for a line that is not the answer; a subject may report an error of its own at any time.
func unexpected(line, want string) error {
	if word, text, _ := strings.Cut(line, " "); word == "error" {
		return fmt.Errorf("the subject reports an error: %s", printable(text))
	}
	return fmt.Errorf("not an answer: got %s, want %q", quoted(line), want)
}

// quoted is the line for a message, not too long.
func quoted(line string) string {
	const most = 200
	if len(line) > most {
		return fmt.Sprintf("%q and %d bytes more", line[:most], len(line)-most)
	}
	return strconv.Quote(line)
}

// printable replaces what would disturb a terminal.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '\uFFFD'
	}, text)
}
