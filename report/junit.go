package report

import (
	"encoding/xml"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/perfplan/perfplan/runner/result"
)

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name      string      `xml:"name,attr"`
	Tests     int         `xml:"tests,attr"`
	Failures  int         `xml:"failures,attr"`
	Errors    int         `xml:"errors,attr"`
	Time      string      `xml:"time,attr"`
	Timestamp string      `xml:"timestamp,attr,omitempty"`
	Hostname  string      `xml:"hostname,attr,omitempty"`
	Cases     []junitCase `xml:"testcase"`
}

type junitCase struct {
	Name      string        `xml:"name,attr"`
	Classname string        `xml:"classname,attr"`
	Time      string        `xml:"time,attr"`
	Failure   *junitProblem `xml:"failure"`
	Error     *junitProblem `xml:"error"`
	Output    string        `xml:"system-out,omitempty"`
}

type junitProblem struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr"`
	Text    string `xml:",chardata"`
}

// WriteJUnit writes JUnit XML: a suite for each stage and a case for each SLO. A failed SLO is a failure; one that is
// inconclusive or has no data is an error. A stage or run that did not pass for a reason other than its SLOs has a
// case of its own, so that the file passes exactly when the run does. Times are in seconds.
func WriteJUnit(w io.Writer, m *Model) error {
	suites := junitSuites{Name: clean(m.Plan), Time: seconds(runNS(m.r))}
	for i, st := range m.Stages {
		suites.add(stageSuite(m, &m.r.Stages[i], st))
	}
	if b := runProblem(m.r, suites); b != nil {
		c := junitCase{Name: "run", Classname: clean(m.Plan), Time: suites.Time}
		c.set(m.r.Outcome, *b)
		suites.add(junitSuite{Name: "run", Time: suites.Time, Cases: []junitCase{c}})
	}
	out, err := xml.MarshalIndent(suites, "", "  ")
	if err != nil {
		return err
	}
	_, err = w.Write([]byte(xml.Header + string(out) + "\n"))
	return err
}

func (s *junitSuites) add(suite junitSuite) {
	suite.Tests = len(suite.Cases)
	for _, c := range suite.Cases {
		if c.Failure != nil {
			suite.Failures++
		}
		if c.Error != nil {
			suite.Errors++
		}
	}
	s.Tests, s.Failures, s.Errors = s.Tests+suite.Tests, s.Failures+suite.Failures, s.Errors+suite.Errors
	s.Suites = append(s.Suites, suite)
}

func stageSuite(m *Model, st *result.Stage, v stage) junitSuite {
	suite := junitSuite{Name: clean(v.Name), Time: seconds(st.DurationNS), Hostname: clean(m.r.Environment.Hostname)}
	if !m.r.Started.IsZero() {
		suite.Timestamp = m.r.Started.Add(time.Duration(st.StartNS)).UTC().Format("2006-01-02T15:04:05")
	}
	class := clean(m.Plan + "." + v.Name)
	worst := result.Outcome("")
	for i, row := range v.SLOs {
		s := st.SLO[i]
		c := junitCase{Name: clean(row.Text), Classname: class, Time: suite.Time}
		text := fmt.Sprintf("value: %s\nlimit: %s\ninterval: %s\nsamples: %s", row.Value, row.Limit, row.Interval.line(), row.Samples)
		if row.Set != "" {
			text += "\nset: " + row.Set
		}
		if row.Segment != "" {
			text += "\nsegment: " + row.Segment
		}
		if s.Outcome == result.Pass || s.Warn {
			c.Output = clean(problemText(map[bool]string{true: row.Badge.Word + ": " + row.Reason}[s.Outcome != result.Pass], text))
		}
		if s.Warn { // it decides nothing
			suite.Cases = append(suite.Cases, c)
			continue
		}
		worst = result.Worst(worst, s.Outcome)
		c.set(s.Outcome, junitProblem{Message: orText(row.Reason, row.Badge.Word), Type: s.State, Text: problemText(row.Reason, v.Failures, text)})
		suite.Cases = append(suite.Cases, c)
	}
	if result.Worst(worst, st.Outcome) != worst && st.Outcome != result.Pass || st.Outcome == "" {
		c := junitCase{Name: "stage", Classname: class, Time: suite.Time}
		c.set(st.Outcome, junitProblem{Message: orText(st.Reason, "the stage has no verdict"), Type: orText(st.State, "no_verdict"), Text: problemText(strings.TrimSpace(v.State+" "+st.Reason), v.Failures)})
		suite.Cases = append(suite.Cases, c)
	}
	return suite
}

// problemText has a line for each text that is not empty.
func problemText(lines ...string) string {
	return strings.Join(slices.DeleteFunc(lines, func(s string) bool { return s == "" }), "\n")
}

// runProblem is what kept the run from a pass, where no suite says so.
func runProblem(r *result.Result, s junitSuites) *junitProblem {
	told := r.Outcome == result.Pass || r.Outcome == result.Fail && s.Failures > 0 || r.Outcome == result.Inconclusive && s.Errors > 0
	if told && r.Error == "" && !r.Interrupted {
		return nil
	}
	p := junitProblem{Message: orText(r.Error, r.Reason), Type: "run", Text: r.Reason}
	if p.Message == "" {
		p.Message = "the run has no verdict"
	}
	if r.Interrupted {
		p.Type = "interrupted"
	}
	return &p
}

// set adds p to the case in the way that fits o. An outcome that is not known is an error.
func (c *junitCase) set(o result.Outcome, p junitProblem) {
	p.Message, p.Text = clean(p.Message), clean(p.Text)
	switch o {
	case result.Pass:
	case result.Fail:
		c.Failure = &p
	default:
		c.Error = &p
	}
}

func seconds(ns int64) string { return fmt.Sprintf("%.3f", float64(ns)/1e9) }

func runNS(r *result.Result) int64 {
	if r.Finished == nil || r.Started.IsZero() {
		var sum int64
		for _, st := range r.Stages {
			sum += st.DurationNS
		}
		return sum
	}
	return int64(r.Finished.Sub(r.Started))
}

// clean leaves out what XML 1.0 cannot hold.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF || 0xD800 <= r && r <= 0xDFFF {
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}
