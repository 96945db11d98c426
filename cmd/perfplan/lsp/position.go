package lsp

import (
	"net/url"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// A table translates places of a text: plans count lines as YAML does, and characters from 1; the protocol has fewer line
// breaks, and counts units of UTF-16 from 0.
type table struct {
	text   string
	plan   []int // where the lines of the plan begin, in bytes
	editor []int // and those of the protocol
}

func newTable(text string) *table {
	t := &table{text, []int{len(text) - len(strings.TrimPrefix(text, "\ufeff"))}, []int{0}}
	for i := 0; ; {
		n := strings.IndexAny(text[i:], "\n\r\u0085\u2028\u2029")
		if n < 0 {
			return t
		}
		i += n
		r, size := utf8.DecodeRuneInString(text[i:])
		if strings.HasPrefix(text[i:], "\r\n") {
			size = 2
		}
		i += size
		t.plan = append(t.plan, i)
		if r == '\n' || r == '\r' {
			t.editor = append(t.editor, i)
		}
	}
}

// lineAt gives the number of the line of those that begin at starts in which a byte is.
func lineAt(starts []int, offset int) int {
	i, found := slices.BinarySearch(starts, offset)
	if found {
		return i
	}
	return max(i-1, 0)
}

// lineEnd is where the text of a line of those that begin at starts ends.
func (t *table) lineEnd(starts []int, line int) int {
	if line+1 == len(starts) {
		return len(t.text)
	}
	end := starts[line+1]
	_, size := utf8.DecodeLastRuneInString(t.text[:end])
	if end -= size; strings.HasSuffix(t.text[:end], "\r") && t.text[end] == '\n' {
		end--
	}
	return max(end, starts[line])
}

// position gives the editor's place of a plan's; one outside of the text becomes the nearest inside.
func (t *table) position(line, col int) position {
	line = min(max(line-1, 0), len(t.plan)-1)
	at, end := t.plan[line], t.lineEnd(t.plan, line)
	for ; col > 1 && at < end; col-- {
		_, size := utf8.DecodeRuneInString(t.text[at:])
		at += size
	}
	n := lineAt(t.editor, at)
	return position{n, units(t.text[t.editor[n]:at])}
}

// place gives the plan's place of an editor's; one outside of the text becomes the nearest inside.
func (t *table) place(p position) (line, col int) {
	n := min(max(p.Line, 0), len(t.editor)-1)
	at, end := t.editor[n], t.lineEnd(t.editor, n)
	for left := p.Character; left > 0 && at < end; {
		r, size := utf8.DecodeRuneInString(t.text[at:])
		if left -= max(utf16.RuneLen(r), 1); left < 0 {
			break // within a character of two units
		}
		at += size
	}
	line = lineAt(t.plan, at)
	return line + 1, utf8.RuneCountInString(t.text[min(t.plan[line], at):at]) + 1
}

// units counts a text in units of UTF-16.
func units(text string) int {
	n := 0
	for _, r := range text {
		n += max(utf16.RuneLen(r), 1)
	}
	return n
}

// wordEnd gives the column, from 1, at which the word ends that begins at col of a line: a text in quotes, or up to a blank or
// what ends a value or key in YAML. It is at least one character behind.
func wordEnd(line string, col int) int {
	text := []rune(line)
	begin := max(col-1, 0)
	if begin >= len(text) {
		return begin + 2
	}
	if quote := text[begin]; quote == '"' || quote == '\'' {
		for i := begin + 1; i < len(text); i++ {
			switch {
			case quote == '"' && text[i] == '\\':
				i++
			case text[i] == quote:
				return i + 2
			}
		}
	}
	for i := begin + 1; i < len(text); i++ {
		if strings.ContainsRune(" \t,]}", text[i]) || text[i] == ':' && (i+1 == len(text) || text[i+1] == ' ') {
			return i + 1
		}
	}
	return len(text) + 1
}

// filePath is the path of a file's URI; "" for one of another kind.
func filePath(uri string) string {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Path == "" {
		return ""
	}
	path := u.Path
	if len(path) > 2 && path[2] == ':' { // /C:/plan.yaml
		path = path[1:]
	}
	return filepath.Clean(filepath.FromSlash(path))
}

// fileURI is the URI of a file.
func fileURI(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		path = full
	}
	return (&url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(filepath.ToSlash(path), "/")}).String()
}
