package report

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/perfplan/perfplan/runner/result"
)

// printed is a model in every format that is text.
type printed struct{ html, junit, markdown, csv, text string }

func printAll(t *testing.T, r *result.Result) printed {
	t.Helper()
	m := New(r)
	var out [5]bytes.Buffer
	for i, err := range []error{WriteHTML(&out[0], m), WriteJUnit(&out[1], m), WriteMarkdown(&out[2], m), WriteCSV(&out[3], m), WriteText(&out[4], m, false, 100)} {
		if err != nil {
			t.Fatalf("writer %d: %v", i, err)
		}
	}
	return printed{out[0].String(), out[1].String(), out[2].String(), out[3].String(), out[4].String()}
}

// samplesPrinted keeps what was printed of the samples, by name.
var samplesPrinted sync.Map

func printSample(t *testing.T, name string) printed {
	t.Helper()
	p, ok := samplesPrinted.Load(name)
	if !ok {
		p, _ = samplesPrinted.LoadOrStore(name, printAll(t, sampleRuns[name]()))
	}
	return p.(printed)
}

func (p printed) all() map[string]string {
	return map[string]string{"HTML": p.html, "JUnit": p.junit, "Markdown": p.markdown, "CSV": p.csv, "text": p.text}
}

// plainText takes the elements out of a page and leaves its text.
func plainText(html string) string {
	html = strings.Replace(html, pageJS, "", 1)
	html = regexp.MustCompile(`(?s)<style>.*?</style>`).ReplaceAllString(html, "")
	html = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(html, " ")
	html = strings.NewReplacer("&lt;", "<", "&gt;", ">", "&#34;", `"`, "&#39;", "'", "&amp;", "&").Replace(html)
	return strings.Join(strings.Fields(html), " ")
}

// threeStates has one passing, one failing and one SLO without data (C-25).
func threeStates() *result.Result {
	r := errorful()
	st := &r.Stages[2]
	st.SLO = []result.SLO{
		slo("throughput >= 100/s", "throughput", ">=", 100, "per_s", result.Pass, 153.2, 6275, "5363 requests were completed, 153.2 a second"),
		slo("error_rate < 0.1%", "error_rate", "<", 0.001, "share", result.Fail, 0.1453, 6275, "912 of 6275 requests (14.53 %) failed"),
		{Text: "rss(other) < 1GiB", Metric: "rss(other)", Op: "<", Limit: 1 << 30, Unit: "bytes", Outcome: result.Inconclusive, State: result.StateNoData, Reason: `no process of target "other" was observed`},
	}
	r.Stages = r.Stages[2:]
	return r
}

func TestC25AllOutputsAgree(t *testing.T) {
	r := threeStates()
	p := printAll(t, r)

	dir := t.TempDir()
	if err := result.Write(dir, r); err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, result.FileName))
	if err != nil {
		t.Fatal(err)
	}
	var stored struct {
		Outcome  string
		ExitCode int `json:"exit_code"`
		Stages   []struct {
			SLO []struct {
				Text, State string
				Value       *float64
			}
		}
	}
	if err := json.Unmarshal(data, &stored); err != nil {
		t.Fatal(err)
	}
	states := ""
	for _, s := range stored.Stages[0].SLO {
		states += s.State + " "
	}
	if stored.Outcome != "fail" || stored.ExitCode != 1 || states != "passed failed no_data " || stored.Stages[0].SLO[2].Value != nil {
		t.Errorf("result.json = %+v, want fail, exit code 1, passed failed no_data, no value for the last", stored)
	}

	var suites junitSuites
	if err := xml.Unmarshal([]byte(p.junit), &suites); err != nil {
		t.Fatal(err)
	}
	if suites.Tests != 3 || suites.Failures != 1 || suites.Errors != 1 {
		t.Errorf("JUnit counts = %d tests, %d failures, %d errors, want 3, 1, 1", suites.Tests, suites.Failures, suites.Errors)
	}
	cases := suites.Suites[0].Cases
	if cases[0].Failure != nil || cases[0].Error != nil || cases[1].Failure == nil || cases[2].Error == nil {
		t.Errorf("JUnit cases = %+v, want pass, failure, error", cases)
	}
	if got := cases[1].Failure.Message; got != r.Stages[0].SLO[1].Reason {
		t.Errorf("failure message = %q, want the verdict's sentence %q", got, r.Stages[0].SLO[1].Reason)
	}

	page := plainText(p.html)
	for _, want := range []string{
		"Fail predictor", "1 of 3 SLOs failed, 1 could not be decided.",
		"Passed throughput >= 100/s in ladder", "Failed error_rate < 0.1% in ladder", "No data rss(other) < 1GiB in ladder",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	for _, want := range []string{"FAIL: predictor", "| ✅ Passed | ladder | `throughput >= 100/s` | 153.2/s |", "| ❌ Failed | ladder | `error_rate < 0.1%` | 14.53% |", "| ➖ No data | ladder | `rss(other) < 1GiB` | n/a |"} {
		if !strings.Contains(p.markdown, want) {
			t.Errorf("Markdown does not say %q:\n%s", want, p.markdown)
		}
	}
	for _, want := range []string{"✗ FAIL predictor", "✓ Passed   ladder  throughput >= 100/s", "✗ Failed   ladder  error_rate < 0.1%", "- No data  ladder  rss(other) < 1GiB"} {
		if !strings.Contains(p.text, want) {
			t.Errorf("the text does not say %q:\n%s", want, p.text)
		}
	}
}

// C-23: JUnit passes exactly when the run does, for whatever reason it did not.
func TestC23JUnitPassesAsTheRunDoes(t *testing.T) {
	for name, make := range sampleRuns {
		checkJUnit(t, name, make(), printSample(t, name).junit)
	}
	down := run("", 4, "")
	down.Error = "target predictor: did not answer within 20s"
	checkJUnit(t, "down", down, printAll(t, down).junit)
	odd := passing()
	odd.Outcome, odd.ExitCode, odd.Reason = result.Inconclusive, new(5), "stage warm: the response time never settled"
	odd.Stages[1].Outcome, odd.Stages[1].Reason = result.Inconclusive, "the response time never settled"
	checkJUnit(t, "unsettled", odd, printAll(t, odd).junit)
}

func checkJUnit(t *testing.T, name string, r *result.Result, text string) {
	t.Helper()
	var suites junitSuites
	if err := xml.Unmarshal([]byte(text), &suites); err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	bad := suites.Failures + suites.Errors
	if (bad == 0) != (r.Outcome == result.Pass) {
		t.Errorf("%s: outcome %q but %d failures and %d errors", name, r.Outcome, suites.Failures, suites.Errors)
	}
	if r.Outcome == result.Fail && suites.Failures == 0 {
		t.Errorf("%s: failed without a failure", name)
	}
	tests, failures, errs := 0, 0, 0
	for _, s := range suites.Suites {
		for _, c := range s.Cases {
			tests++
			failures += bit(c.Failure != nil)
			errs += bit(c.Error != nil)
		}
	}
	if tests != suites.Tests || failures != suites.Failures || errs != suites.Errors {
		t.Errorf("%s: counts say %d, %d, %d, the cases %d, %d, %d", name, suites.Tests, suites.Failures, suites.Errors, tests, failures, errs)
	}
}

// C-26: where nothing was measured it says so, in every format.
func TestC26NoGoodSample(t *testing.T) {
	for _, name := range []string{"nogood", "empty", "interrupted"} {
		p := printSample(t, name)
		for format, text := range p.all() {
			if bad := regexp.MustCompile(`NaN|Inf\b|9223372036854775807|-9223372036854775808|%!`).FindString(text); bad != "" {
				t.Errorf("%s: %s holds %q", name, format, bad)
			}
		}
	}
	p := printSample(t, "nogood")
	for _, want := range []string{"response last byte − intended 0 n/a n/a n/a n/a n/a n/a n/a n/a", "refused target 10 100% dial tcp 127.0.0.1:8080: connect: connection refused", "Failed p99 < 150ms in hold"} {
		if !strings.Contains(plainText(p.html), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	if want := "hold,0,10,10,0,10,0,0,,,,"; !strings.Contains(p.csv, want) {
		t.Errorf("CSV = %s, want a row that begins with %q", p.csv, want)
	}
	if want := "Response time p50 n/a, p90 n/a, p99 n/a, most n/a."; !strings.Contains(strings.Join(strings.Fields(p.text), " "), want) {
		t.Errorf("the text does not say %q:\n%s", want, p.text)
	}
}

// C-15, C-16: what had no answer is a lower bound, and the set behind a percentile is named.
func TestC15LowerBoundsAndSets(t *testing.T) {
	r := timeouts()
	p := printSample(t, "timeouts")
	for format, text := range map[string]string{"HTML": plainText(p.html), "Markdown": p.markdown, "text": p.text, "JUnit": p.junit} {
		if !strings.Contains(text, "≥ 10") {
			t.Errorf("%s shows no time as ≥ 10 s", format)
		}
	}
	l := r.Stages[0].Load
	for _, want := range []string{
		fmt.Sprintf("of %s offered requests; failed ones count as over the limit", count(l.Offered)),
		"Some had no answer when their wait ended, the first after 10 s: a time shown with ≥ is a lower bound.",
	} {
		if !strings.Contains(plainText(p.html), want) {
			t.Errorf("the page does not say %q", want)
		}
	}
	failed := errorful().Stages[2].Load
	want := fmt.Sprintf("The other %s failed or were dropped; they are not in these percentiles and count as over the limit in every SLO.", count(failed.Failed))
	if page := plainText(printSample(t, "errors").html); !strings.Contains(page, want) {
		t.Errorf("the page does not say %q", want)
	}
}

// C-30: 20 ms are 20 ms everywhere, with the unit beside them; JUnit has seconds and CSV points.
func TestC30Units(t *testing.T) {
	sim := simulation{segments: []segmentSpec{{"hold", 10, 10, 3 * 1e9}}, median: 20e6 - 40e3, maxInFlight: 4, limit: 150e6}
	l := sim.run()
	l.Response.P50NS = ref(int64(20e6))
	st := result.Stage{Name: "hold", Kind: "load", Outcome: result.Pass, State: result.Complete, DurationNS: 3_250_000_000, Load: l,
		SLO: []result.SLO{slo("p50 < 150ms", "p50", "<", 150e6, "ns", result.Pass, 20e6, 30, "0 of 30 requests were over 150 ms")}}
	l.Series[0].P50NS, l.Series[0].TNS = ref(int64(20e6)), 500e6
	p := printAll(t, run(result.Pass, 0, "", st))
	for format, want := range map[string]string{"HTML": "20 ms", "Markdown": "| 20 ms |", "text": "p50 20 ms", "JUnit": "value: 20 ms", "CSV": "hold,0.5,10,10,10,0,0,0,20000000,"} {
		text := p.all()[format]
		if format == "HTML" {
			text = plainText(text)
		}
		if !strings.Contains(text, want) {
			t.Errorf("%s does not say %q", format, want)
		}
	}
	if want := `name="hold" tests="1" failures="0" errors="0" time="3.250"`; !strings.Contains(p.junit, want) {
		t.Errorf("JUnit has no suite with %s:\n%s", want, p.junit)
	}
}

// The same record gives the same bytes, also after it was stored.
func TestSameBytes(t *testing.T) {
	dir := t.TempDir()
	for name, make := range sampleRuns {
		r := make()
		if r.Outcome == "" {
			continue // such a record is never stored
		}
		if err := result.Write(dir, r); err != nil {
			t.Fatal(err)
		}
		stored, err := result.Read(filepath.Join(dir, result.FileName))
		if err != nil {
			t.Fatal(err)
		}
		if first, second := printSample(t, name), printAll(t, stored); first != second {
			t.Errorf("%s: the stored record prints otherwise", name)
		}
	}
}
