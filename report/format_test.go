package report

import (
	"math"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

func TestDuration(t *testing.T) {
	tests := []struct {
		ns           float64
		text, column string
	}{
		{0, "0 ns", "0 ns"},
		{1, "1 ns", "1 ns"},
		{999.99, "1 µs", "1.000 µs"},
		{20e6, "20 ms", "20.00 ms"}, // C-30
		{32_512_345, "32.51 ms", "32.51 ms"},
		{149_960_000, "150 ms", "150.0 ms"},
		{999_999_999, "1 s", "1.000 s"},
		{12_450_000_000, "12.45 s", "12.45 s"},
		{115e9, "115 s", "115.0 s"},
		{1_234_567e9, "1,234,567 s", "1,234,567 s"},
		{-11_800, "-11.8 µs", "-11.80 µs"},
		{math.NaN(), "n/a", "n/a"},
		{math.Inf(1), "n/a", "n/a"},
	}
	for _, test := range tests {
		if got := duration(test.ns); got != test.text {
			t.Errorf("duration(%v) = %q, want %q", test.ns, got, test.text)
		}
		if got := columnTime(test.ns); got != test.column {
			t.Errorf("columnTime(%v) = %q, want %q", test.ns, got, test.column)
		}
	}
}

func TestOtherUnits(t *testing.T) {
	tests := []struct{ got, want string }{
		{percent(0.001), "0.1%"},
		{percent(0.14534), "14.5%"},
		{percent(1), "100%"},
		{percent(0), "0%"},
		{percent(3.61e-35), "0%"},
		{percent(1e-7), "0.00001%"},
		{size(4096), "4 KiB"},
		{size(1536 << 20), "1.5 GiB"},
		{rSquared(0.99987), "over 0.999"},
		{rSquared(0.98765), "0.988"},
		{rSquared(1), "1"},
		{perSecond(246.15), "246.2/s"},
		{number(1234567, 3), "1,234,567"},
		{number(-1234.5, 6), "-1,234.5"},
		{number(1e-9, 4), "1e-09"},
		{count(-1234), "-1,234"},
		{counted(1, "stage"), "1 stage"},
		{counted(0, "stage"), "0 stages"},
		{span(87_400_000_000), "87.4 s"},
		{span(300e9), "5 min 0 s"},
		{span(7_260e9), "2 h 1 min"},
		{shareOf(1, 0), "n/a"},
	}
	for _, test := range tests {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}

// Value and limit stand in one unit, with digits enough to tell them apart (C-21, C-30).
func TestQuantity(t *testing.T) {
	tests := []struct {
		unit         string
		value, limit float64
		wantValue    string
		wantLimit    string
	}{
		{"ns", 32.5e6, 150e6, "32.5 ms", "150 ms"},
		{"ns", 12.45e9, 150e6, "12,450 ms", "150 ms"},
		{"ns", 32.5e6, 1000, "32,500 µs", "1 µs"},
		{"ns", 150_000_100, 150e6, "150.0001 ms", "150 ms"},
		{"ns", 150e6, 150e6, "150 ms", "150 ms"},
		{"ns", 5e6, 0, "5 ms", "0 ms"},
		{"share", 0.15, 0.001, "15%", "0.1%"},
		{"share", 0.07, 0.07, "7%", "7%"},
		{"share", 0.0010001, 0.001, "0.10001%", "0.1%"},
		{"per_s", 246.2, 400, "246.2/s", "400/s"},
		{"bytes", 3 << 29, 1 << 30, "1.5 GiB", "1 GiB"},
		{"ns_per_row", 347.2, 1000, "0.3472 µs per row", "1 µs per row"},
		{"count", 3, 0, "3", "0"},
		{"class", 4, 2, "quadratic", "linear"},
		{"class", 17, 2, "17", "linear"},
	}
	for _, test := range tests {
		q := quantityOf(result.SLO{Unit: test.unit, Limit: test.limit})
		if value, limit := q.apart(test.value, test.limit), q.limit(test.limit); value != test.wantValue || limit != test.wantLimit {
			t.Errorf("%v and %v in %s = %q and %q, want %q and %q", test.value, test.limit, test.unit, value, limit, test.wantValue, test.wantLimit)
		}
	}
}

// A limit is shown in the unit that the plan gave it in.
func TestLimitsOfBytes(t *testing.T) {
	tests := []struct {
		text         string
		value, limit float64
		want         string
	}{
		{"rss(svc) < 100MB", 95.5e6, 100e6, "95.5 MB < 100 MB"},
		{"rss(svc) < 1.5 GB", 1e9, 1.5e9, "1 GB < 1.5 GB"},
		{"rss(svc) < 512MiB", 3 << 27, 512 << 20, "384 MiB < 512 MiB"},
		{"rss(svc) < 100000000", 95e6, 100e6, "90.6 MiB < 95.37 MiB"},
		{"", 1 << 29, 1 << 30, "0.5 GiB < 1 GiB"},
	}
	for _, test := range tests {
		q := quantityOf(result.SLO{Text: test.text, Unit: "bytes", Limit: test.limit})
		if got := q.apart(test.value, test.limit) + " < " + q.limit(test.limit); got != test.want {
			t.Errorf("%q = %q, want %q", test.text, got, test.want)
		}
	}
}

func TestGrowth(t *testing.T) {
	tests := []struct{ lo, hi, want string }{
		{"", "", "Growth is linear (weight of the evidence 60%)."},
		{"linear", "linear", "Growth is linear (weight of the evidence 60%)."},
		{"linear", "linearithmic", "Growth is linear or linearithmic, most likely linear (weight of the evidence 60%)."},
		{"constant", "linear", "Growth is anything from constant to linear, most likely linear (weight of the evidence 60%)."},
	}
	for _, test := range tests {
		if got := growth(&result.Fit{Class: "linear", ClassLo: test.lo, ClassHi: test.hi, Evidence: 0.6}); got != test.want {
			t.Errorf("growth from %q to %q = %q, want %q", test.lo, test.hi, got, test.want)
		}
	}
}

func TestQuantileOf(t *testing.T) {
	for metric, want := range map[string]float64{"p99": 0.99, "service p50": 0.5, "time[size=1000] p50": 0.5, "p100": 1, "error_rate": -1, "p": -1, "throughput": -1, "": -1, "p101": -1} {
		if got := quantileOf(metric); got != want {
			t.Errorf("quantileOf(%q) = %v, want %v", metric, got, want)
		}
	}
}

func TestFileNames(t *testing.T) {
	n := &names{}
	tests := []struct{ name, want string }{
		{"ladder", "ladder"}, {"ladder", "ladder-2"}, {"LADDER", "LADDER-3"}, {"../../etc/passwd", "_.._etc_passwd"}, {"", "stage"}, {"..", "stage-2"},
		{"模式", "__"}, {"a/b", "a_b"}, {".hidden", "hidden"},
	}
	for _, test := range tests {
		if got := n.unique(test.name); got != test.want {
			t.Errorf("unique(%q) = %q, want %q", test.name, got, test.want)
		}
	}
}

func TestShellWord(t *testing.T) {
	for in, want := range map[string]string{"plans/predictor.yaml": "plans/predictor.yaml", "my plan.yaml": "'my plan.yaml'", "it's": `'it'\''s'`, "": "''", "$(rm)": "'$(rm)'"} {
		if got := shellWord(in); got != want {
			t.Errorf("shellWord(%q) = %q, want %q", in, got, want)
		}
	}
}

// A percentile that so few requests cannot carry is none.
func TestPercentileNeedsRequests(t *testing.T) {
	for n, want := range map[int64][3]string{4: {"n/a (n < 5)", "n/a (n < 299)", "7 ms"}, 5: {"5 ms", "n/a (n < 299)", "7 ms"}, 298: {"5 ms", "n/a (n < 299)", "7 ms"}, 299: {"5 ms", "6 ms", "7 ms"}} {
		d := result.Distribution{Count: n, P50NS: new(int64(5e6)), P99NS: new(int64(6e6)), MaxNS: new(int64(7e6))}
		if got := [3]string{timeOf(d, d.P50NS), timeOf(d, d.P99NS), timeOf(d, d.MaxNS)}; got != want {
			t.Errorf("of %d requests: %q, want %q", n, got, want)
		}
	}
	if d := (result.Distribution{Count: 2994, P999NS: new(int64(5e6))}); timeOf(d, d.P999NS) != "n/a (n < 2,995)" {
		t.Errorf("p99.9 of 2994: %s", timeOf(d, d.P999NS))
	}
}
