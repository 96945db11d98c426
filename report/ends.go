package report

import (
	"fmt"
	"strings"

	"github.com/perfplan/perfplan/runner/result"
)

// mostKinds is how many kinds of failure a sentence names.
const mostKinds = 3

// endsOf says what became of the offered requests. Ends that no request had are left out, but for completed and failed.
func endsOf(c result.Counts) string {
	ends := []string{were(c.Completed) + " completed", fmt.Sprintf("%s failed (%s)", count(c.Failed), shareOf(c.Failed, c.Offered))}
	if c.Dropped > 0 {
		ends = append(ends, fmt.Sprintf("%s dropped (%s)", were(c.Dropped), shareOf(c.Dropped, c.Offered)))
	}
	if c.Unfinished > 0 {
		ends = append(ends, fmt.Sprintf("%s did not finish (%s)", count(c.Unfinished), shareOf(c.Unfinished, c.Offered)))
	}
	return fmt.Sprintf("Of %s offered %s.", counted(c.Offered, "request"), listed(ends, "and"))
}

func were(n int64) string {
	if n == 1 {
		return "1 was"
	}
	return count(n) + " were"
}

// listed joins words with commas and the last one with a conjunction.
func listed(words []string, conjunction string) string {
	n := len(words)
	if n < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:n-1], ", ") + " " + conjunction + " " + words[n-1]
}

// failuresOf says why requests of a stage failed: its most frequent kinds, each with an example. It is empty where
// nothing failed.
func failuresOf(l *result.Load) string {
	if l == nil || len(l.Errors) == 0 {
		return ""
	}
	kinds := []string{}
	rest := int64(0)
	for i, e := range l.Errors {
		if i >= mostKinds {
			rest += e.Count
			continue
		}
		text := fmt.Sprintf("%s %s", count(e.Count), e.Kind)
		if e.Example != "" {
			text += " (" + e.Example + ")"
		}
		kinds = append(kinds, text)
	}
	if rest > 0 {
		kinds = append(kinds, count(rest)+" of other kinds")
	}
	return "Failures: " + strings.Join(kinds, ", ") + "."
}
