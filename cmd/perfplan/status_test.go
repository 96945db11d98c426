package main

import (
	"strings"
	"testing"
	"time"
)

var loading = status{
	index: 1, count: 4, name: "ladder",
	elapsed: 25 * time.Second, planned: 100 * time.Second,
	figures: true, offered: 400, completed: 399.6, p50: 12345 * time.Microsecond, p99: 1254 * time.Millisecond, failed: 3,
}

func TestStatusLine(t *testing.T) {
	fresh := status{count: 1, name: "hold", planned: 90 * time.Second}
	none := loading
	none.p50, none.p99, none.completed, none.failed = 0, 0, 0, 10
	for _, tt := range []struct {
		name   string
		status status
		width  int
		glyphs glyphs
		want   string
	}{
		{"load", loading, 120, unicodeGlyphs, "[2/4] ladder ━━━━━─────────────── 1:15 left · offered 400/s · completed 400/s · p50 12.3ms · p99 1.25s · errors 3"},
		{"load in ASCII", loading, 120, asciiGlyphs, "[2/4] ladder #####--------------- 1:15 left, offered 400/s, completed 400/s, p50 12.3ms, p99 1.25s, errors 3"},
		{"no room for the bar", loading, 99, unicodeGlyphs, "[2/4] ladder 1:15 left · offered 400/s · completed 400/s · p50 12.3ms · p99 1.25s · errors 3"},
		{"cut off", loading, 40, unicodeGlyphs, "[2/4] ladder 1:15 left · offered 400/s …"},
		{"cut off in ASCII", loading, 10, asciiGlyphs, "[2/4] lad~"},
		{"one column", loading, 1, unicodeGlyphs, "…"},
		{"no column", loading, 0, unicodeGlyphs, ""},
		{"nothing known yet", fresh, 80, unicodeGlyphs, "[1/1] hold ──────────────────── 1:30 left"},
		{"no answer yet (C-26)", none, 120, unicodeGlyphs, "[2/4] ladder ━━━━━─────────────── 1:15 left · offered 400/s · completed 0/s · errors 10"},
		{"past its end", status{count: 1, name: "drain", planned: time.Second, elapsed: 3 * time.Second}, 80, unicodeGlyphs, "[1/1] drain ━━━━━━━━━━━━━━━━━━━━ 0s left"},
		{"microbenchmark", status{count: 2, name: "predict", forks: 30, done: 15, cell: "size 6000"}, 80, unicodeGlyphs, "[1/2] predict ━━━━━━━━━━────────── fork 16 of 30 · size 6000"},
		{"last fork", status{count: 2, name: "predict", forks: 30, done: 30, cell: "size 6000"}, 80, unicodeGlyphs, "[1/2] predict ━━━━━━━━━━━━━━━━━━━━ fork 30 of 30 · size 6000"},
		{"preparing", status{doing: "building predictor"}, 80, unicodeGlyphs, "building predictor"},
	} {
		got := tt.status.line(tt.width, tt.glyphs)
		if got != tt.want {
			t.Errorf("%s: line(%d) = %q, want %q", tt.name, tt.width, got, tt.want)
		}
	}
	for width := range 130 {
		if got := loading.line(width, unicodeGlyphs); columns(got) > width || strings.Contains(got, "\n") {
			t.Errorf("line(%d) = %q with %d columns", width, got, columns(got))
		}
	}
}

func TestStatusPlain(t *testing.T) {
	want := "[2/4] ladder: 1:15 left, offered 400/s, completed 400/s, p50 12.3ms, p99 1.25s, errors 3"
	if got := loading.plain(); got != want {
		t.Errorf("plain() = %q, want %q", got, want)
	}
	if got := (status{doing: "starting predictor"}).plain(); got != "starting predictor" {
		t.Errorf("plain() = %q, want %q", got, "starting predictor")
	}
}

func TestFigures(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", 1: "1s", time.Second: "1s", 1001 * time.Millisecond: "2s", 59 * time.Second: "59s", time.Minute: "1:00",
		185 * time.Second: "3:05", time.Hour: "1:00:00", 3723 * time.Second: "1:02:03",
	} {
		if got := clock(d); got != want {
			t.Errorf("clock(%d) = %q, want %q", d, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0s", 500 * time.Millisecond: "500ms", 10 * time.Second: "10s", time.Minute: "1m", 90 * time.Second: "1m30s", time.Hour: "1h",
		time.Hour + time.Second: "1h0m1s", 61 * time.Minute: "1h1m", 10 * time.Minute: "10m",
	} {
		if got := length(d); got != want {
			t.Errorf("length(%d) = %q, want %q", d, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0/s", 0.5: "0.5/s", 10: "10/s", 99.44: "99.4/s", 100.4: "100/s", 12500: "12500/s"} {
		if got := rate(v); got != want {
			t.Errorf("rate(%v) = %q, want %q", v, got, want)
		}
	}
	for d, want := range map[time.Duration]string{
		0: "0ns", 850: "850ns", 1500: "1.50us", 12340 * time.Microsecond: "12.3ms", 999 * time.Millisecond: "999ms", 1254 * time.Millisecond: "1.25s", 75 * time.Second: "75.0s",
	} {
		if got := short(d); got != want {
			t.Errorf("short(%d) = %q, want %q", d, got, want)
		}
	}
}
