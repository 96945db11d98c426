package report

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

func TestEndsOf(t *testing.T) {
	tests := []struct {
		c    result.Counts
		want string
	}{
		{result.Counts{Offered: 500, Sent: 170, Completed: 167, Failed: 3, Dropped: 330}, "Of 500 requests offered 167 were completed, 3 failed (0.6%) and 330 were dropped (66%)."},
		{result.Counts{Offered: 10, Sent: 10, Completed: 4, Failed: 5, Unfinished: 1}, "Of 10 requests offered 4 were completed, 5 failed (50%) and 1 did not finish (10%)."},
		{result.Counts{Offered: 1, Sent: 1, Completed: 1}, "Of 1 request offered 1 was completed and 0 failed (0%)."},
	}
	for _, test := range tests {
		if got := endsOf(test.c); got != test.want {
			t.Errorf("endsOf(%+v) = %q, want %q", test.c, got, test.want)
		}
	}
}

func TestFailuresOf(t *testing.T) {
	l := &result.Load{Errors: []result.Error{{Kind: "status", Count: 1400, Example: "got status 404, want 200"}, {Kind: "timeout", Count: 9}, {Kind: "reset", Count: 4, Example: "reset"}, {Kind: "dns", Count: 3}, {Kind: "tls", Count: 1}}}
	if got, want := failuresOf(l), "Failures: 1,400 status (got status 404, want 200), 9 timeout, 4 reset (reset), 4 of other kinds."; got != want {
		t.Errorf("failuresOf = %q, want %q", got, want)
	}
	if got := failuresOf(&result.Load{}); got != "" {
		t.Errorf("failuresOf without errors = %q, want nothing", got)
	}
}

// Whoever reads but one of the outputs learns why requests failed.
func TestFailuresAreToldEverywhere(t *testing.T) {
	p := printSample(t, "errors")
	for format, text := range map[string]string{"HTML": plainText(p.html), "Markdown": p.markdown, "text": p.text, "JUnit": p.junit} {
		if want := "Failures: 912 status (got status 503, want 200)."; !strings.Contains(strings.Join(strings.Fields(text), " "), want) {
			t.Errorf("%s does not say %q", format, want)
		}
	}
}
