package plans

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// readCommand splits a command into words and looks up their variables after that, so that no value of a
// variable can become two words or a quote.
func (l *loader) readCommand(it *item) *item {
	ws, fault := splitWords(it.node.Value)
	if fault != nil {
		p := it.fault(fault.what, fault.got, "", fault.hint)
		p.Pos = l.posIn(it.node, fault.at)
		l.fault(p)
		return nil
	}
	if len(ws) == 0 {
		l.fault(it.fault("empty command", "", it.shape.want(), ""))
		return nil
	}
	inner := textScalar
	if it.shape.scalar == startScalar {
		inner = wordScalar
	}
	if it.shape.scalar == gridCommand {
		inner = gridScalar
	}
	ok := true
	for _, w := range ws {
		ps, good := l.expand(w.text, w.at, it.node, it.path, inner)
		ok = ok && good
		it.words = append(it.words, ps)
	}
	if !ok {
		return nil
	}
	return it
}

// A word of a command, quotes removed, and the byte offset at which it begins.
type word struct {
	text string
	at   int
}

// A wordFault says why a command cannot be split.
type wordFault struct {
	what, got, hint string
	at              int
}

var shellVar = regexp.MustCompile(`^\$[A-Za-z_][A-Za-z0-9_]*`)

// splitWords splits a command at blanks: '…' keeps all, "…" keeps all but \" and \\, a backslash keeps the next
// character. What only a shell could do is refused.
func splitWords(text string) ([]word, *wordFault) {
	var ws []word
	var b strings.Builder
	inWord, start := false, 0
	begin := func(i int) {
		if !inWord {
			inWord, start = true, i
		}
	}
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			if inWord {
				ws = append(ws, word{b.String(), start})
				b.Reset()
				inWord = false
			}
			i++
		case c == '\'' || c == '"':
			begin(i)
			n, ok := quotedPart(&b, text[i:])
			if !ok {
				return nil, &wordFault{"quote is not closed", "", "", i}
			}
			i += n
		case c == '\\' && i+1 < len(text):
			begin(i)
			b.WriteByte(text[i+1])
			i += 2
		case strings.HasPrefix(text[i:], "${") && strings.Contains(text[i:], "}"):
			begin(i)
			end := i + strings.IndexByte(text[i:], '}') + 1
			b.WriteString(text[i:end])
			i = end
		case strings.HasPrefix(text[i:], "$$"):
			begin(i)
			b.WriteString("$$")
			i += 2
		case shellVar.MatchString(text[i:]):
			name := shellVar.FindString(text[i:])
			return nil, &wordFault{"commands run without a shell", quote(name), "write ${env." + name[1:] + "}", i}
		case strings.IndexByte("|&;<>`*", c) >= 0 || strings.HasPrefix(text[i:], "$("):
			return nil, &wordFault{"commands run without a shell", quote(text[i : i+1]), `quote it, or write ["sh", "-c", "…"]`, i}
		default:
			begin(i)
			b.WriteByte(c)
			i++
		}
	}
	if inWord {
		ws = append(ws, word{b.String(), start})
	}
	if len(ws) > 0 && assignment.MatchString(ws[0].text) {
		return nil, &wordFault{"commands run without a shell", quote(ws[0].text), "begin the command with the word env", ws[0].at}
	}
	return ws, nil
}

var assignment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*=`)

// quotedPart copies what stands between the quote that text begins with and the next one, and gives its length
// with both quotes.
func quotedPart(b *strings.Builder, text string) (int, bool) {
	for i := 1; i < len(text); i++ {
		switch {
		case text[i] == text[0]:
			return i + 1, true
		case text[0] == '"' && text[i] == '\\' && i+1 < len(text) && (text[i+1] == '"' || text[i+1] == '\\'):
			i++
		}
		b.WriteByte(text[i])
	}
	return 0, false
}

// command builds the command that an item describes, for each address its start text names.
func (l *loader) command(it *item, dir, address string) Command {
	c := Command{Text: strings.TrimSpace(it.node.Value), Dir: dir}
	for _, w := range it.commandWords() {
		c.Args = append(c.Args, fill(w, func(string) string { return address }))
	}
	if it.form == listForm {
		var written []string
		for _, e := range it.list {
			written = append(written, wordText(e.node))
		}
		c.Text = strings.Join(written, " ")
	}
	return c
}

// wordText is a word of a list as it would stand in a command text.
func wordText(n *yaml.Node) string {
	if n.Value == "" || strings.ContainsAny(n.Value, " \t\n\r'\"\\|&;<>`*") {
		return fmt.Sprintf("%q", n.Value)
	}
	return n.Value
}

// fill is the text with what its holes stand for.
func fill(ps []piece, value func(hole string) string) string {
	var b strings.Builder
	for _, p := range ps {
		if p.hole != "" {
			b.WriteString(value(p.hole))
		}
		b.WriteString(p.text)
	}
	return b.String()
}

// commandWords are the words of a command, written as a text or as a list.
func (it *item) commandWords() [][]piece {
	words := it.words
	for _, e := range it.list {
		words = append(words, e.text)
	}
	return words
}

// usesAddress reports whether a command's text holds ${address}.
func usesAddress(it *item) bool {
	return slices.ContainsFunc(it.commandWords(), func(w []piece) bool {
		return slices.ContainsFunc(w, func(p piece) bool { return p.hole == "address" })
	})
}

// checkWords refuses words that no program can be given.
func (l *loader) checkWords(it *item) bool {
	words := it.commandWords()
	switch {
	case len(words) == 0:
		return false
	case shown(words[0], false) == "":
		l.fault(it.fault("the command's first word is empty", "", "the name of a program", ""))
		return false
	}
	for _, w := range words {
		if strings.ContainsRune(plain(w), 0) {
			l.fault(it.fault("zero byte in a command", "", "text", ""))
			return false
		}
	}
	return true
}
