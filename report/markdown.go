package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
)

// WriteMarkdown writes the summary for a pull request: verdict, SLOs, answers, a line for each stage, warnings.
func WriteMarkdown(w io.Writer, m *Model) error {
	var b bytes.Buffer
	fmt.Fprintf(&b, "## %s %s: %s\n\n", mark(m.Verdict), strings.ToUpper(m.Verdict.Word), md(m.Plan))
	fmt.Fprintf(&b, "**%s**", md(m.Headline))
	if m.Why != "" {
		fmt.Fprintf(&b, " %s", md(m.Why))
	}
	b.WriteString("\n\n")
	for _, n := range m.Notices {
		fmt.Fprintf(&b, "> %s\n\n", md(n))
	}
	if len(m.SLOs) > 0 {
		b.WriteString("| Outcome | Stage | SLO | Value | Limit | Interval | Samples | Reason |\n|---|---|---|--:|--:|---|--:|---|\n")
		for _, s := range m.SLOs {
			stage := md(s.Stage)
			if s.Segment != "" {
				stage += ", " + md(s.Segment)
			}
			fmt.Fprintf(&b, "| %s %s | %s | %s | %s | %s | %s | %s | %s |\n", mark(s.Badge), s.Badge.Word, stage, mdCode(s.Text),
				md(s.Value), md(s.Limit), md(s.Interval.line()), md(s.Samples), md(s.Reason))
		}
		b.WriteString("\n")
	}
	for _, a := range m.Answers {
		fmt.Fprintf(&b, "- **%s**: %s\n", md(strings.TrimSuffix(a.Question, "?")), md(a.sentence()))
		for _, f := range a.Findings {
			fmt.Fprintf(&b, "  - %s\n", md(f))
		}
	}
	b.WriteString("\n")
	for _, st := range m.Stages {
		fmt.Fprintf(&b, "%s **%s** (%s, %s): %s.", mark(st.Badge), md(st.Name), md(st.Kind), md(st.Took), md(strings.TrimSuffix(st.Badge.Word+", "+st.Reason, ".")))
		if st.State != "" {
			fmt.Fprintf(&b, " %s", md(st.State))
		}
		if st.Brief != "" {
			fmt.Fprintf(&b, " %s", md(st.Brief))
		}
		if st.Failures != "" {
			fmt.Fprintf(&b, " %s", md(st.Failures))
		}
		b.WriteString("\n\n")
	}
	fmt.Fprintf(&b, "<sub>Run %s, started %s, took %s, %s. Exit code %s. The whole report is in report.html.</sub>\n", md(m.RunID), m.Started, m.Took, md(m.Tool), exitCode(m.r))
	_, err := w.Write(b.Bytes())
	return err
}

// mark is the sign of a badge in plain text.
func mark(b badge) string {
	switch b.Kind {
	case "pass":
		return "✅"
	case "fail":
		return "❌"
	case "inconclusive", "suspect":
		return "❔"
	}
	return "➖"
}

// md escapes text for a line or a table cell of GitHub's Markdown, so that it shows literally.
func md(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch r {
		case '\n', '\r', '\t':
			b.WriteByte(' ')
		case '<':
			b.WriteString("&lt;")
		case '>':
			b.WriteString("&gt;")
		case '&':
			b.WriteString("&amp;")
		case '@':
			b.WriteString("&#64;") // mentions nobody
		case '\\', '`', '*', '_', '[', ']', '#', '|', '~', '!', '$', '{', '}':
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "://", ":&#8203;//")
}

// mdCode shows s as code in a table cell.
func mdCode(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	longest, run := 0, 0
	for _, r := range s {
		if r != '`' {
			run = 0
			continue
		}
		run++
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", longest+1)
	pad := ""
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") || s == "" {
		pad = " "
	}
	return fence + pad + strings.ReplaceAll(s, "|", `\|`) + pad + fence
}
