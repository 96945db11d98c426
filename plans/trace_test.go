package plans

import (
	"strconv"
	"testing"
	"time"
)

func TestStamp(t *testing.T) {
	day := func(year int, month time.Month, d int) int64 {
		return time.Date(year, month, d, 0, 0, 0, 0, time.UTC).UnixNano()
	}
	last := strconv.FormatInt(time.Date(2200, 12, 31, 23, 59, 59, 0, time.UTC).Unix(), 10)
	for text, want := range map[string]int64{
		"0":                         0,
		"1.5":                       1_500_000_000,
		"86400.000000001":           day(1970, 1, 2) + 1,
		last:                        day(2201, 1, 1) - 1_000_000_000,
		"2026-05-01T00:00:00Z":      day(2026, 5, 1),
		"2026-05-01T02:00:00+02:00": day(2026, 5, 1),
		"7289654400":                -1, // 2201
		"9223372037":                -1, // ns that no int64 holds
		"99999999999":               -1,
		"1714557600250":             -1, // milliseconds
		"2201-01-01T00:00:00Z":      -1,
		"2200-12-31T23:00:00-02:00": -1,
		"1969-12-31T23:59:59Z":      -1,
		"-1":                        -1,
		"1e3":                       -1,
		"":                          -1,
		"2026-05-01":                -1,
		"2026-05-01T00:00:00":       -1,
		"2026-05-01T00:00:00.5Z":    day(2026, 5, 1) + 500_000_000,
		"1970-01-01T01:00:00+01:00": 0,
		"1970-01-01T00:00:00+01:00": -1,
	} {
		got, ok := stamp(text)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("stamp(%q) = %d, %v, want %d", text, got, ok, want)
		}
	}
}
