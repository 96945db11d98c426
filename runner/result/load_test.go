package result

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// The base time of a load stage is kept to the nanosecond; records without one stay readable, and without one.
func TestLoadStarted(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 67, time.UTC)
	for text, want := range map[string]time.Time{`{"started":"2026-01-02T03:04:05.000000067Z"}`: at, `{}`: {}} {
		var l Load
		if err := json.Unmarshal([]byte(text), &l); err != nil || l.Started != want {
			t.Errorf("%s: started %v, %v, want %v", text, l.Started, err, want)
		}
		out, err := json.Marshal(&l)
		if err != nil || strings.Contains(string(out), "started") == want.IsZero() || !strings.Contains(string(out), strings.Trim(text, "{}")) {
			t.Errorf("%s is written as %s, %v", text, out, err)
		}
	}
}
