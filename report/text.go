package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// WriteText writes the summary for the end of a run on a terminal: the verdict, the SLOs, a line for each stage and
// what limits the figures. Lines are wrapped to width columns; a width below 40 counts as 80.
func WriteText(w io.Writer, m *Model, color bool, width int) error {
	if width < 40 {
		width = 80
	}
	t := &terminal{color: color, width: width}
	t.line("%s %s", t.paint(m.Verdict.Kind, sign(m.Verdict)+" "+strings.ToUpper(m.Verdict.Word)), printable(m.Plan+": "+m.Headline))
	t.wrap(2, m.Why)
	for _, n := range m.Notices {
		t.wrap(2, n)
	}
	if len(m.SLOs) > 0 {
		t.line("")
		t.slos(m.SLOs)
	}
	if len(m.Stages) > 0 {
		t.line("")
	}
	for _, st := range m.Stages {
		t.line("%s %s", t.paint(st.Badge.Kind, sign(st.Badge)), printable(fmt.Sprintf("%s (%s, %s)", st.Name, st.Kind, st.Took)))
		if st.State != "" {
			t.wrap(4, st.State)
		}
		t.wrap(4, st.Brief)
		t.wrap(4, st.Failures)
	}
	t.line("")
	for _, a := range m.Answers {
		t.wrap(0, strings.TrimSuffix(a.Question, "?")+": "+a.sentence())
		for _, f := range a.Findings {
			t.wrap(2, "- "+f)
		}
	}
	_, err := w.Write(t.b.Bytes())
	return err
}

type terminal struct {
	b     bytes.Buffer
	color bool
	width int
}

func (t *terminal) line(format string, args ...any) {
	t.b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
}

// slos prints outcome, text, value and limit in columns, and the reason below where an SLO did not pass.
func (t *terminal) slos(rows []sloRow) {
	lines := make([][4]string, len(rows))
	var widths [4]int
	for i, s := range rows {
		lines[i] = [4]string{sign(s.Badge) + " " + s.Badge.Word, printable(s.Stage), printable(s.Text), s.Value}
		for j, text := range lines[i] {
			widths[j] = max(widths[j], min(utf8.RuneCountInString(text), 36))
		}
	}
	for i, s := range rows {
		l := lines[i]
		t.line("%s%s  %s  %s  %s  (%s)", t.paint(s.Badge.Kind, l[0]), blanks(widths[0], l[0]), pad(l[1], widths[1]), pad(l[2], widths[2]), pad(l[3], widths[3]), "limit "+s.Limit)
		if s.Badge.Kind != "pass" && s.Reason != "" {
			t.wrap(4, s.Reason)
		}
	}
}

func blanks(width int, s string) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(s)))
}

func pad(s string, width int) string { return s + blanks(width, s) }

// wrap prints text in lines that begin with so many blanks.
func (t *terminal) wrap(indent int, text string) {
	line, used := "", 0
	for _, word := range strings.Fields(printable(text)) {
		n := utf8.RuneCountInString(word)
		if used > 0 && indent+used+1+n > t.width {
			t.line("%s%s", strings.Repeat(" ", indent), line)
			line, used = "", 0
		}
		if used > 0 {
			line, used = line+" ", used+1
		}
		line, used = line+word, used+n
	}
	if used > 0 {
		t.line("%s%s", strings.Repeat(" ", indent), line)
	}
}

func (t *terminal) paint(kind, s string) string {
	if !t.color {
		return s
	}
	code := map[string]string{"pass": "32", "fail": "31", "inconclusive": "33", "suspect": "33"}[kind]
	if code == "" {
		return s
	}
	return "\x1b[1;" + code + "m" + s + "\x1b[0m"
}

// sign is a badge's mark in one column.
func sign(b badge) string {
	switch b.Kind {
	case "pass":
		return "✓"
	case "fail":
		return "✗"
	case "inconclusive", "suspect":
		return "?"
	}
	return "-"
}

// printable replaces what would steer a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return ' '
		case unicode.IsPrint(r):
			return r
		}
		return '\uFFFD'
	}, s)
}
