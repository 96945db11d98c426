package plans

import (
	"slices"
	"strings"
)

// A spot is a key of a map or an entry of a list in a plan that is being written, and so need not be YAML: it is
// found by indentation and brackets alone. Lines and columns count from 0, columns in characters.
type spot struct {
	parent             *spot // nil for the plan itself
	depth              int
	item               bool   // an entry of a list
	key                string // of a map
	line, from, to     int    // where the key stands; for an entry its dash, or its first character
	value              string // a text that begins in the same line
	valueFrom, valueTo int
	bracket            rune // { or [, when what it holds is written in brackets
	anchor, alias      string
	entries            []*spot
}

// mode is what is being written at the end of a text.
type mode int

const (
	nothingMode mode = iota // something that has no suggestions, such as a comment
	keyMode                 // a key in a map, or the entry of a list
	valueMode               // the value of a spot
)

// A cursor is where the text of an outline ends.
type cursor struct {
	mode mode
	in   *spot // that holds the key, or whose value it is
	from int   // the column at which the word begins
}

// An outliner reads an outline.
type outliner struct {
	lines [][]rune
	line  int
	root  *spot
	top   *spot // the innermost one that is open
	text  int   // column of the key whose text of several lines is open; -1 for none
	end   cursor
}

// maxBrackets bounds the nesting of brackets that is followed.
const maxBrackets = 100

// outline reads lines up to their end.
func outline(lines []string) (*spot, cursor) {
	o := &outliner{root: &spot{from: -1}, text: -1}
	for _, line := range lines {
		o.lines = append(o.lines, []rune(line))
	}
	o.top = o.root
	for o.line < len(o.lines) {
		o.block()
	}
	return o.root, o.end
}

// next ends a line in which nothing more is known to be written.
func (o *outliner) next(end cursor) {
	if o.line == len(o.lines)-1 {
		o.end = end
	}
	o.line++
}

// block reads one line outside of brackets, and the lines of brackets that begin in it.
func (o *outliner) block() {
	text := o.lines[o.line]
	col := skipBlanks(text, 0)
	if o.text >= 0 && (col == len(text) || col > o.text) {
		o.next(cursor{})
		return
	}
	o.text = -1
	switch {
	case col == len(text):
		if o.line == len(o.lines)-1 {
			o.leave(col, false)
		}
		o.next(o.writing(col))
		return
	case text[col] == '#', col == 0 && (string(text) == "---" || string(text) == "..."):
		o.next(cursor{})
		return
	}
	for text[col] == '-' && (col+1 == len(text) || text[col+1] == ' ') {
		o.leave(col, true)
		o.top = o.top.add(&spot{item: true, line: o.line, from: col, to: col + 1})
		behind := col + 1
		col = skipBlanks(text, behind)
		if col == len(text) {
			end := cursor{keyMode, o.top, col}
			if col == behind {
				end = cursor{}
			}
			o.next(end)
			return
		}
	}
	o.leave(col, false)
	o.entry(text, col)
}

// writing is the cursor at a word in the innermost open spot; a text that goes on in the next line is no key.
func (o *outliner) writing(col int) cursor {
	if o.top.value != "" {
		return cursor{}
	}
	return cursor{keyMode, o.top, col}
}

// leave closes what ends where a key or, for dash, an entry of a list begins at col.
func (o *outliner) leave(col int, dash bool) {
	for o.top.parent != nil && (o.top.from > col || o.top.from == col && (!dash || o.top.item)) {
		o.top = o.top.parent
	}
}

func (p *spot) add(child *spot) *spot {
	child.parent, child.depth = p, p.depth+1
	p.entries = append(p.entries, child)
	return child
}

// entry reads a key with its value, or a value, that begins at col.
func (o *outliner) entry(text []rune, col int) {
	if strings.ContainsRune("{[", text[col]) {
		o.brackets(o.top, col)
		return
	}
	key, to, behind := readKey(text, col)
	if behind < 0 {
		if o.top.item && o.top.line == o.line {
			o.value(text, col, o.writing(col))
			return
		}
		end := o.writing(col)
		if strings.ContainsRune(`"'#`, text[col]) || inComment(text, col) {
			end = cursor{}
		}
		o.next(end)
		return
	}
	o.top = o.top.add(&spot{key: key, line: o.line, from: col, to: to})
	value := skipBlanks(text, behind)
	if value == len(text) {
		end := cursor{valueMode, o.top, value}
		if value == behind {
			end = cursor{}
		}
		o.next(end)
		return
	}
	o.value(text, value, cursor{valueMode, o.top, value})
}

// value reads the value of the innermost open spot, which begins at col. end is where the text ends when it ends in it.
func (o *outliner) value(text []rune, col int, end cursor) {
	p := o.top
	for col < len(text) && (text[col] == '&' || text[col] == '!') {
		word := wordEnd(text, col)
		if text[col] == '&' {
			p.anchor = string(text[col+1 : word])
		}
		col = skipBlanks(text, word)
	}
	if col == len(text) {
		o.next(cursor{})
		return
	}
	switch text[col] {
	case '#':
		o.next(cursor{})
		return
	case '{', '[':
		o.brackets(p, col)
		return
	case '|', '>':
		o.text = p.from
		p.value, p.valueFrom, p.valueTo = string(text[col:]), col, len(text)
		o.next(cursor{})
		return
	case '*':
		p.alias = string(text[col+1 : wordEnd(text, col)])
	}
	behind := textEnd(text, col, false)
	p.hold(text[col:behind], col)
	if strings.ContainsRune(`"'*`, text[col]) || behind < len(text) {
		end = cursor{}
	}
	if end.mode == keyMode { // an entry of a list: its value may be a key that is still being written
		end.in = p
	}
	o.next(end)
}

// hold gives a spot its value, a text that begins at col.
func (p *spot) hold(text []rune, col int) {
	p.value = strings.TrimRight(string(text), " ")
	p.valueFrom, p.valueTo = col, col+len([]rune(p.value))
}

// brackets reads what stands in the brackets that begin at col, the value of owner. They end at the latest at a line that
// is outside of them by its indentation.
func (o *outliner) brackets(owner *spot, col int) {
	b := &bracketed{o: o, in: owner, col: col + 1}
	owner.bracket = o.lines[o.line][col]
	for depth := 1; depth > 0 && depth <= maxBrackets; {
		text := o.lines[o.line]
		at := skipBlanks(text, b.col)
		if at < len(text) && !(text[at] == '#' && (at == 0 || text[at-1] == ' ')) {
			b.col, b.word = at, nil
			depth += b.token(text)
			continue
		}
		end := cursor{}
		switch {
		case at < len(text):
		case b.word != nil && at == b.col:
			end = *b.word
		default:
			b.col = at
			end = b.end()
		}
		o.next(end)
		b.col, b.word, b.done = 0, nil, false
		if o.line == len(o.lines) || o.outside(owner.from) {
			return
		}
	}
	o.next(cursor{})
}

// outside reports whether the line begins something that is not in the brackets of a key at column floor.
func (o *outliner) outside(floor int) bool {
	text := o.lines[o.line]
	col := skipBlanks(text, 0)
	if col == len(text) || col > floor {
		return false
	}
	_, _, behind := readKey(text, col)
	return behind >= 0 || text[col] == '-'
}

// bracketed is the state of reading brackets.
type bracketed struct {
	o    *outliner
	in   *spot // whose brackets are open
	of   *spot // whose value is next; nil for none
	done bool  // an entry is complete: a comma is next
	col  int
	word *cursor // of the token before col
}

// end is the cursor when the text ends at the column.
func (b *bracketed) end() cursor {
	switch {
	case b.done:
		return cursor{}
	case b.of != nil:
		return cursor{valueMode, b.of, b.col}
	case b.in.bracket == '[':
		return cursor{valueMode, &spot{parent: b.in, depth: b.in.depth + 1, item: true}, b.col}
	}
	return cursor{keyMode, b.in, b.col}
}

// token reads one token and says by how much it changes the depth.
func (b *bracketed) token(text []rune) int {
	begin := b.col
	switch text[begin] {
	case ',':
		b.col++
		b.of, b.done = nil, false
		return 0
	case '}', ']':
		b.col++
		b.of, b.done = nil, true
		for b.in.parent != nil {
			if b.in = b.in.parent; b.in.bracket != 0 {
				break
			}
		}
		return -1
	case '{', '[':
		b.col++
		if b.of == nil {
			b.of = b.in.add(&spot{item: true, line: b.o.line, from: begin, to: begin + 1})
		}
		b.of.bracket = text[begin]
		b.in, b.of, b.done = b.of, nil, false
		return 1
	}
	if b.of == nil && b.in.bracket == '{' {
		b.key(text)
	} else {
		b.value(text)
	}
	return 0
}

// value reads a text in brackets.
func (b *bracketed) value(text []rune) {
	begin, end := b.col, b.end()
	p := b.of
	if p == nil {
		p = b.in.add(&spot{item: true, line: b.o.line, from: begin, to: begin + 1})
	}
	b.col = textEnd(text, begin, true)
	p.hold(text[begin:b.col], begin)
	if text[begin] == '*' {
		p.alias = p.value[1:]
	}
	if strings.ContainsRune(`"'*&!`, text[begin]) {
		end = cursor{}
	}
	b.of, b.done, b.word = nil, true, &end
}

// key reads a key in brackets, with its colon.
func (b *bracketed) key(text []rune) {
	begin, end := b.col, b.end()
	to := textEnd(text, begin, true)
	key, keyTo, behind := readKey(text[:to], begin)
	if behind < 0 {
		quoted := strings.ContainsRune(`"'`, text[begin])
		if colon := skipBlanks(text, to); quoted && colon < len(text) && text[colon] == ':' {
			key, keyTo, behind = strings.Trim(string(text[begin:to]), `"'`), to, colon+1
		}
	}
	if behind < 0 {
		key = strings.TrimRight(string(text[begin:to]), " ")
		b.in.add(&spot{key: key, line: b.o.line, from: begin, to: to})
		b.col, b.done, b.word = max(to, begin+1), true, &end
		return
	}
	b.of = b.in.add(&spot{key: key, line: b.o.line, from: begin, to: keyTo})
	b.col, b.word = behind, &cursor{}
}

func skipBlanks(text []rune, col int) int {
	for col < len(text) && text[col] == ' ' {
		col++
	}
	return col
}

// wordEnd is where the word at col ends.
func wordEnd(text []rune, col int) int {
	for col < len(text) && !strings.ContainsRune(" ,]}", text[col]) {
		col++
	}
	return col
}

// textEnd is where the text that begins at col ends in its line: at its second quote, before a comment and, in brackets, at
// what ends an entry.
func textEnd(text []rune, col int, brackets bool) int {
	if quote := text[col]; quote == '"' || quote == '\'' {
		for i := col + 1; i < len(text); i++ {
			switch {
			case quote == '"' && text[i] == '\\':
				i++
			case text[i] == quote:
				return i + 1
			}
		}
		return len(text)
	}
	variable := false // inside ${…}
	for i := col; i < len(text); i++ {
		switch {
		case text[i] == '#' && i > col && text[i-1] == ' ':
			return i
		case !brackets:
		case text[i] == '{' && i > col && text[i-1] == '$':
			variable = true
		case text[i] == '}' && variable:
			variable = false
		case strings.ContainsRune(",{}[]", text[i]):
			return i
		case text[i] == ':' && i+1 < len(text) && text[i+1] == ' ':
			return i + 1
		}
	}
	return len(text)
}

// inComment reports whether the text that begins at col goes on in a comment.
func inComment(text []rune, col int) bool { return textEnd(text, col, false) < len(text) }

// readKey reads a key with its colon at col: its text, where it ends, and where the colon does; behind is -1 for no key.
func readKey(text []rune, col int) (key string, to, behind int) {
	if col >= len(text) {
		return "", col, -1
	}
	if strings.ContainsRune(`"'`, text[col]) {
		to = textEnd(text, col, false)
		if colon := skipBlanks(text, to); to > col+1 && colon < len(text) && text[colon] == ':' {
			return string(text[col+1 : to-1]), to, colon + 1
		}
		return "", to, -1
	}
	if strings.ContainsRune("{[|>*#", text[col]) {
		return "", col, -1
	}
	for i := col; i < len(text); i++ {
		switch {
		case text[i] == '#' && i > col && text[i-1] == ' ':
			return "", i, -1
		case text[i] == ':' && (i+1 == len(text) || text[i+1] == ' '):
			return strings.TrimRight(string(text[col:i]), " "), i, i + 1
		}
	}
	return "", len(text), -1
}

// shape says what may stand in a spot; nil when it is not known.
func (p *spot) shape() *shape {
	if p.parent == nil {
		return root
	}
	if p.depth > maxDepth {
		return nil
	}
	s := p.parent.shape()
	switch {
	case s == nil:
		return nil
	case p.item:
		return s.list
	}
	if k, ok := s.find(p.key); ok {
		return k.shape
	}
	return s.each
}

// described is the key of the plan language that a spot is in; false for none.
func (p *spot) described() (key, *spot, bool) {
	for ; p.parent != nil; p = p.parent {
		if s := p.parent.shape(); !p.item && s != nil {
			if k, ok := s.find(p.key); ok {
				return k, p, true
			}
		}
	}
	return key{}, nil, false
}

// walk calls each for a spot and all that it holds, until each returns false.
func (p *spot) walk(each func(*spot) bool) bool {
	return each(p) && !slices.ContainsFunc(p.entries, func(e *spot) bool { return !e.walk(each) })
}

// same finds the spot of another outline that begins where p does.
func (p *spot) same(in *spot) *spot {
	if p.parent == nil {
		return in
	}
	var found *spot
	in.walk(func(q *spot) bool {
		if q.parent != nil && q.line == p.line && q.from == p.from && q.item == p.item {
			found = q
		}
		return found == nil
	})
	return found
}

// names are the keys of a spot, also those that << gives it, without the one that begins at a cursor's word.
func (p *spot) names(top *spot, line, from int) []string {
	var all []string
	for _, e := range p.entries {
		if e.item || e.line == line && e.from == from {
			continue
		}
		all = append(all, e.key)
		if e.key == "<<" && e.alias != "" {
			top.walk(func(q *spot) bool {
				if q.anchor == e.alias {
					for _, inner := range q.entries {
						all = append(all, inner.key)
					}
				}
				return true
			})
		}
	}
	return all
}
