package plans

import (
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// syntax describes why source is not YAML. The parser's own line is often wrong or absent, so the line comes from
// parsing beginnings of the source, and the column from looking at that line.
func (l *loader) syntax(err error) Problem {
	message := yamlLine.ReplaceAllString(strings.TrimPrefix(err.Error(), "yaml: "), "")
	n := l.culprit()
	line := l.lines[n-1]
	off, p := explain(message, line)
	if off < 0 {
		off = len(line) - len(strings.TrimLeft(line, " \t"))
		p = l.explainBlock(message, n)
	}
	if strings.Contains(message, "',' or '") || strings.Contains(message, "unexpected end of stream") {
		if open, at, ok := l.unclosed(n); ok {
			n, off = at.Line, at.Col-1
			p = Problem{What: open + " is not closed"}
			line = l.lines[n-1]
		}
	}
	p.Pos = l.at(n, utf8.RuneCountInString(line[:min(off, len(line))])+1)
	return p
}

var yamlLine = regexp.MustCompile(`^line [0-9]+: `)

// maxReparse bounds the bytes that culprit parses.
const maxReparse = 1 << 20

// culprit is the number of the line behind the longest beginning of the source that is YAML.
func (l *loader) culprit() int {
	ends := lineEnds(l.text)
	good := func(n int) bool { return n == 0 || isYAML(l.text[:ends[n-1]]) }
	if len(l.text)*len(ends)/2 <= maxReparse {
		for n := len(ends) - 1; n > 0; n-- {
			if good(n) {
				return n + 1
			}
		}
		return 1
	}
	low, high := 0, len(ends) // good(low), !good(high)
	for high-low > 1 {
		if mid := (low + high) / 2; good(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// lineEnds gives the byte offset behind each of splitLines' lines.
func lineEnds(source []byte) []int {
	var ends []int
	at := 0
	if bytes.HasPrefix(source, []byte("\ufeff")) {
		at = len("\ufeff")
	}
	for _, line := range splitLines(source) {
		at += len(line)
		switch {
		case bytes.HasPrefix(source[at:], []byte("\r\n")):
			at += 2
		case at < len(source):
			_, size := utf8.DecodeRune(source[at:])
			at += size
		}
		ends = append(ends, at)
	}
	return ends
}

// isYAML reports whether source is a sequence of YAML documents.
func isYAML(source []byte) bool {
	dec := yaml.NewDecoder(bytes.NewReader(source))
	for {
		var n yaml.Node
		if err := dec.Decode(&n); err != nil {
			return errors.Is(err, io.EOF)
		}
	}
}

// maxExplained is the longest line that is searched for what is wrong with it, in bytes.
const maxExplained = 10_000

const quoteIt = "put the text in quotes"

var (
	valueStart  = regexp.MustCompile(`^\s*(?:- +)*(?:(?:"[^"]*"|'[^']*'|[^\s:#'"\[{}\]][^:#]*?)\s*:\s+)?`)
	badStart    = regexp.MustCompile("(?:^|[:,\\[{-])\\s*([@`%])")
	innerColon  = regexp.MustCompile(`: +[^\s"'{\[#&*!|>][^"'#]*?(:(?:\s|$))`)
	flowColon   = regexp.MustCompile(`: +[^\s"'{}\[\],#&*!|>][^"'#{}\[\],]*?(:(?:\s|$))`)
	flowBracket = regexp.MustCompile(`[\[{,:]\s*([A-Za-z_]+\[[^\]]*\]?)`)
	flowVar     = regexp.MustCompile(`^(?:[^"'#]|"[^"]*"|'[^']*')*?(\$\{)`)
	innerMark   = regexp.MustCompile(`[{,\[:]\s*([^\s"'{}\[\],#&*!|>%@][^\s"'{}\[\],]*\?[^\s"'{}\[\],]*)`)
	badEscape   = regexp.MustCompile(`\\[^0abtnvfre "/\\N_LPxuU\n]`)
	aliasInLine = regexp.MustCompile(`unknown anchor '([^']*)'`)
)

// explain finds in one line what the parser's message is about: the byte offset and the problem, -1 for nothing.
func explain(message, line string) (int, Problem) {
	if len(line) > maxExplained {
		return -1, Problem{}
	}
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if i := strings.IndexByte(indent, '\t'); i >= 0 {
		return i, Problem{What: "tab in the indentation", Hint: "indent with blanks"}
	}
	if m := aliasInLine.FindStringSubmatch(message); m != nil {
		return strings.Index(line, "*"+m[1]), Problem{What: "unknown anchor", Got: quote("*" + m[1]), Hint: "put text that begins with * in quotes"}
	}
	if i := strings.Index(line, "{{"); i >= 0 {
		return i, Problem{What: "not YAML", Got: quote(strings.TrimSpace(line[i:])), Hint: "put text that begins with { in quotes"}
	}
	switch {
	case strings.Contains(message, "cannot start any token"):
		if m := badStart.FindStringSubmatchIndex(line); m != nil {
			c, rest := line[m[2]:m[3]], line[m[2]:]
			if i := strings.IndexAny(rest, ",}]"); i > 0 {
				rest = rest[:i]
			}
			return m[2], Problem{What: "text cannot begin with " + c, Got: quote(strings.TrimSpace(rest)), Hint: quoteIt}
		}
		if i := strings.IndexByte(line, '\t'); i >= 0 {
			return i, Problem{What: "tab where only blanks may be"}
		}
	case strings.Contains(message, "',' or '"):
		return explainFlow(line)
	case strings.Contains(message, "mapping values are not allowed"):
		if m := innerColon.FindStringSubmatchIndex(line); m != nil {
			return m[2], Problem{What: "a second ':' in one line", Got: quote(strings.TrimSpace(line)), Hint: "put text with ': ' in quotes"}
		}
	case strings.Contains(message, "escape"):
		if m := badEscape.FindStringIndex(line); m != nil {
			return m[0], Problem{What: "unknown escape", Got: quote(line[m[0]:m[1]]), Hint: "use single quotes"}
		}
	}
	return afterQuote(line)
}

// explainFlow finds in a line what text between brackets may not hold unquoted.
func explainFlow(line string) (int, Problem) {
	if m := flowVar.FindStringSubmatchIndex(line); m != nil {
		return m[2], Problem{What: "${…} in text between brackets", Got: quote(line[m[2]:min(m[2]+strings.IndexByte(line[m[2]:]+"}", '}')+1, len(line))]), Hint: quoteIt}
	}
	if m := flowBracket.FindStringSubmatchIndex(line); m != nil {
		return m[2], Problem{What: "a '[' in text between brackets", Got: quote(line[m[2]:m[3]]), Hint: quoteIt}
	}
	if m := flowColon.FindStringSubmatchIndex(line); m != nil {
		return m[2], Problem{What: "a second ':' in one line", Got: quote(strings.TrimSpace(line)), Hint: "put text with ': ' in quotes, or add the comma before it"}
	}
	if m := innerMark.FindStringSubmatchIndex(line); m != nil {
		return m[2], Problem{What: "a '?' in text between brackets", Got: quote(line[m[2]:m[3]]), Hint: quoteIt}
	}
	return afterQuote(line)
}

// afterQuote finds text behind the quote that closes the line's value.
func afterQuote(line string) (int, Problem) {
	start := len(valueStart.FindString(line))
	if start >= len(line) || line[start] != '"' && line[start] != '\'' {
		return -1, Problem{}
	}
	mark := line[start]
	for i := start + 1; i < len(line); i++ {
		switch {
		case mark == '"' && line[i] == '\\', mark == '\'' && strings.HasPrefix(line[i:], "''"):
			i++
		case line[i] == mark:
			rest := strings.TrimLeft(line[i+1:], " \t")
			if rest == "" || rest[0] == '#' || rest[0] == ':' {
				return -1, Problem{}
			}
			hint := `write \" for a quote in the text`
			if mark == '\'' {
				hint = "write '' for a quote in the text"
			}
			return len(line) - len(rest), Problem{What: "text after the closing quote", Got: quote(rest), Hint: hint}
		}
	}
	return -1, Problem{}
}

// explainBlock says what is wrong with a line as a whole.
func (l *loader) explainBlock(message string, n int) Problem {
	depth := func(line string) int { return len(line) - len(strings.TrimLeft(line, " ")) }
	before := ""
	for i := n - 2; i >= 0 && before == ""; i-- {
		if t := strings.TrimSpace(l.lines[i]); t != "" && t[0] != '#' {
			before = l.lines[i]
		}
	}
	line := l.lines[n-1]
	switch {
	case strings.Contains(message, "could not find expected ':'"):
		return Problem{What: "a line that is neither a key nor a list entry", Got: quote(strings.TrimSpace(line)), Want: "key: value, or - value"}
	case before != "" && depth(line) != depth(before) &&
		(strings.Contains(message, "mapping values") || strings.Contains(message, "expected key") || strings.Contains(message, "'-' indicator")):
		return Problem{What: "wrong indentation", Got: quote(strings.TrimSpace(line)), Hint: "align it with the keys or dashes it belongs to"}
	case strings.Contains(message, "'-' indicator"):
		return Problem{What: "a key among list entries", Got: quote(strings.TrimSpace(line)), Want: "- value"}
	}
	return Problem{What: "not YAML: " + strings.ToLower(message)}
}

// unclosed finds the first bracket or quote from line n on that is never closed.
func (l *loader) unclosed(n int) (string, Position, bool) {
	type mark struct {
		r   byte
		pos Position
	}
	var open []mark
	var torn *mark // the first quote in a bracket that its line does not close
	shut := map[byte]byte{']': '[', '}': '{'}
	for i := n - 1; i < len(l.lines); i++ {
		line := l.lines[i]
		for j := 0; j < len(line); j++ {
			c := line[j]
			in := byte(0)
			if len(open) > 0 {
				in = open[len(open)-1].r
			}
			begins := j == 0 || strings.IndexByte(" [{,:-", line[j-1]) >= 0
			switch {
			case in == '"' || in == '\'':
				if in == '"' && c == '\\' {
					j++
				} else if c == in {
					open = open[:len(open)-1]
				}
			case c == '#' && (j == 0 || line[j-1] == ' '):
				j = len(line)
			case (c == '[' || c == '{') && (in != 0 || begins), (c == '"' || c == '\'') && begins:
				open = append(open, mark{c, l.at(i+1, j+1)})
			case (c == ']' || c == '}') && in == shut[c]:
				open = open[:len(open)-1]
			case (c == ']' || c == '}') && in != 0:
				return string(in), open[len(open)-1].pos, true
			}
		}
		if len(open) == 0 {
			return "", Position{}, false
		}
		if last := open[len(open)-1]; torn == nil && len(open) > 1 && (last.r == '"' || last.r == '\'') {
			torn = &last
		}
	}
	if torn != nil {
		return string(torn.r), torn.pos, true
	}
	return string(open[0].r), open[0].pos, true
}
