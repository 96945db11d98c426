package plans

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Problems are the faults of one plan, sorted by position. It is the error that ReadFile and Read return.
type Problems []Problem

// Error gives one line for each problem.
func (ps Problems) Error() string {
	lines := make([]string, len(ps))
	for i, p := range ps {
		lines[i] = p.String()
	}
	return strings.Join(lines, "\n")
}

// Errors counts the problems that are not warnings.
func (ps Problems) Errors() int {
	n := 0
	for _, p := range ps {
		if !p.Warning {
			n++
		}
	}
	return n
}

// String is the problem on one line: FILE:LINE:COL: PATH: WHAT: got G, want W (HINT).
func (p Problem) String() string {
	var b strings.Builder
	b.WriteString(p.Pos.File)
	if p.Pos.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Pos.Line, p.Pos.Col)
	}
	b.WriteString(": ")
	if p.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(p.Message())
	return b.String()
}

// Message is String without the place in a file and the word warning.
func (p Problem) Message() string {
	var b strings.Builder
	if p.Path != "" {
		b.WriteString(p.Path + ": ")
	}
	b.WriteString(p.What)
	switch {
	case p.Got != "" && p.Want != "":
		fmt.Fprintf(&b, ": got %s, want %s", p.Got, p.Want)
	case p.Got != "":
		b.WriteString(": got " + p.Got)
	case p.Want != "":
		b.WriteString(": want " + p.Want)
	}
	if p.Hint != "" {
		b.WriteString(" (" + p.Hint + ")")
	}
	return b.String()
}

// The widest excerpt of a source line, in characters, and how much of it stands before the caret.
const (
	excerptWidth = 120
	excerptLead  = 80
)

// Excerpt is the line that the problem is about and a line with a caret under its column, both ending
// in a newline; it is "" when the problem has no such place. Characters that would act on a terminal are replaced.
func (p Problem) Excerpt() string {
	if p.Pos.Line < 1 {
		return ""
	}
	text := []rune(p.Line)
	col := min(max(p.Pos.Col-1, 0), len(text))
	if cut := col - excerptLead; cut > 0 {
		text, col = text[cut:], col-cut
	}
	text = text[:min(len(text), excerptWidth)]
	var shown, pad strings.Builder
	for i, r := range text {
		if r != '\t' && !unicode.IsPrint(r) {
			r = '·'
		}
		shown.WriteRune(r)
		switch {
		case i >= col:
		case r == '\t':
			pad.WriteRune('\t')
		case isWide(r):
			pad.WriteString("  ")
		case unicode.Is(unicode.Mn, r):
		default:
			pad.WriteRune(' ')
		}
	}
	return fmt.Sprintf("%6d | %s\n       | %s^\n", p.Pos.Line, shown.String(), pad.String())
}

// isWide reports whether terminals give r two columns: East Asian scripts, their full-width forms and emoji.
func isWide(r rune) bool {
	return unicode.In(r, unicode.Han, unicode.Hangul, unicode.Hiragana, unicode.Katakana) ||
		r >= 0xff01 && r <= 0xff60 || r >= 0x3000 && r <= 0x303f || r >= 0x1f300 && r <= 0x1faff
}

// splitLines cuts text at the line breaks that YAML 1.1 knows.
func splitLines(source []byte) []string {
	var lines []string
	text := strings.TrimPrefix(string(source), "\ufeff")
	for {
		i := strings.IndexAny(text, "\n\r\u0085\u2028\u2029")
		if i < 0 {
			return append(lines, text)
		}
		lines = append(lines, text[:i])
		_, size := utf8.DecodeRuneInString(text[i:])
		if strings.HasPrefix(text[i:], "\r\n") {
			size = 2
		}
		text = text[i+size:]
	}
}

// sorted returns the problems in the order of their files and positions, each told once: what an anchor holds is read
// wherever the anchor is used, and is wrong only once.
func (ps Problems) sorted(order map[string]int) Problems {
	slices.SortStableFunc(ps, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(order[a.Pos.File], order[b.Pos.File]), cmp.Compare(a.Pos.Line, b.Pos.Line), cmp.Compare(a.Pos.Col, b.Pos.Col),
			compareBool(a.Warning, b.Warning))
	})
	type fault struct {
		pos             Position
		what, got, want string
	}
	seen := map[fault]bool{}
	return slices.DeleteFunc(ps, func(p Problem) bool {
		f := fault{p.Pos, p.What, p.Got, p.Want}
		if seen[f] {
			return true
		}
		seen[f] = true
		return false
	})
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
