package plans

import (
	"fmt"
	"slices"
	"strings"
)

// SuggestionKind is what a Suggestion is.
type SuggestionKind string

// The kinds of suggestions.
const (
	KeySuggestion   SuggestionKind = "key"   // of a map
	WordSuggestion  SuggestionKind = "word"  // one of the words that a value can be
	NameSuggestion  SuggestionKind = "name"  // of a target or request of the plan
	ValueSuggestion SuggestionKind = "value" // the default, or an example of what can be written
)

// A Suggestion is something that can stand at a place of a plan.
type Suggestion struct {
	Kind     SuggestionKind
	Label    string // the key or value itself
	Insert   string // what takes the place of the word: a key comes with its colon
	Detail   string // a few words: what stands behind a key, whether it is required; what a value is
	Doc      string // what it means, as Markdown; "" where there is nothing to say
	Required bool
}

// Completion is what can stand at a place of a plan, and the columns From to To (from 1, in characters) of the word that it
// takes the place of.
type Completion struct {
	From, To    int
	Suggestions []Suggestion // required keys first, then in the order of the reference
}

// Complete suggests what can be written at a place of a plan, which need not be valid, nor YAML. line and col count from 1,
// col in characters, as those of a Position. included are the texts of the files that it includes: their names of targets
// and requests are suggested, too.
func Complete(text string, line, col int, included ...string) Completion {
	lines, runes, ok := linesAt(text, line, col)
	if !ok {
		return Completion{}
	}
	col = min(col-1, len(runes))
	_, at := outline(slices.Concat(lines[:line-1], []string{string(runes[:col])}))
	top, _ := outline(lines)
	w := &writing{top: top, at: at, line: line - 1, to: col, included: included}
	for w.to < len(runes) && isWord(runes[w.to]) {
		w.to++
	}
	if rest := runes[w.to:]; len(rest) > 0 && rest[0] == ':' {
		w.colon = true
	}
	if slices.ContainsFunc(runes[min(at.from, col):col], func(r rune) bool { return !isWord(r) }) && at.mode == keyMode {
		return Completion{}
	}
	return Completion{From: min(at.from, col) + 1, To: w.to + 1, Suggestions: w.suggestions()}
}

// linesAt gives the lines of a text and the one at line; false when there is no such place, or the text is no plan's.
func linesAt(text string, line, col int) ([]string, []rune, bool) {
	if len(text) > maxSource || line < 1 || col < 1 {
		return nil, nil, false
	}
	lines := splitLines([]byte(text))
	if line > len(lines) {
		return nil, nil, false
	}
	return lines, []rune(lines[line-1]), true
}

// isWord reports whether r can be part of a key, or of a value that is one word.
func isWord(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-' || r == '.'
}

// writing is a place of a plan at which something is being written.
type writing struct {
	top   *spot // the whole plan
	at    cursor
	line  int
	to    int  // where the word ends
	colon bool // a colon follows

	included []string
}

func (w *writing) suggestions() []Suggestion {
	if w.at.mode == nothingMode {
		return nil
	}
	s := w.at.in.shape()
	switch {
	case s == nil:
		return nil
	case w.at.mode == valueMode:
		return w.values(s)
	case s.keys != nil && !w.isList():
		return w.keys(s, "")
	case s.list != nil && s.list.keys != nil && !w.at.in.item:
		w.at.in = &spot{parent: w.at.in, depth: w.at.in.depth + 1, item: true, line: -1}
		return w.keys(s.list, "- ")
	case w.at.in.item && (s.scalar != noScalar || s.list == nil && s.each == nil):
		return w.values(s)
	}
	return nil
}

// isList reports whether the cursor is among the entries of a list.
func (w *writing) isList() bool {
	whole := w.at.in.same(w.top)
	return whole != nil && len(whole.entries) > 0 && whole.entries[0].item
}

// keys suggests the keys that are not given yet.
func (w *writing) keys(s *shape, before string) []Suggestion {
	var given []string
	if whole := w.at.in.same(w.top); whole != nil {
		given = whole.names(w.top, w.line, w.at.from)
	}
	chosen := slices.ContainsFunc(s.one, func(name string) bool { return slices.Contains(given, name) })
	var all []Suggestion
	for _, k := range s.keys {
		if slices.Contains(given, k.name) || chosen && slices.Contains(s.one, k.name) {
			continue
		}
		insert := before + k.name
		switch {
		case w.colon:
		case k.shape.scalar == noScalar && w.at.in.bracket == 0:
			insert += ":"
		default:
			insert += ": "
		}
		required := k.required || slices.Contains(s.one, k.name)
		all = append(all, Suggestion{Kind: KeySuggestion, Label: k.name, Insert: insert, Detail: k.detail(s), Doc: k.help(), Required: required})
	}
	slices.SortStableFunc(all, func(a, b Suggestion) int { return compareBool(b.Required, a.Required) })
	return all
}

// values suggests values of a spot.
func (w *writing) values(s *shape) []Suggestion {
	k, in, _ := w.at.in.described()
	var all []Suggestion
	add := func(kind SuggestionKind, text, detail string) {
		if text != "" && !slices.ContainsFunc(all, func(o Suggestion) bool { return o.Label == text }) {
			all = append(all, Suggestion{Kind: kind, Label: text, Insert: text, Detail: detail, Doc: k.summary()})
		}
	}
	words := s.choices()
	if s.scalar == booleanScalar {
		words = []string{"true", "false"}
	}
	for _, word := range words {
		detail := ""
		if word == k.def {
			detail = "default"
		}
		add(WordSuggestion, word, detail)
	}
	if s.of != "" {
		for _, name := range w.named(s.of) {
			add(NameSuggestion, name, "of "+s.of)
		}
	}
	if words != nil || s.of != "" {
		return all
	}
	if in == w.at.in && k.def != "{}" {
		add(ValueSuggestion, k.def, "default")
	}
	for _, text := range s.like {
		add(ValueSuggestion, text, "example")
	}
	if in == w.at.in { // not an entry of its list
		add(ValueSuggestion, k.example, "example")
	}
	return all
}

// named are the names that a map of the plan gives, and those that it has from included files.
func (w *writing) named(key string) []string {
	all := w.top.under(key).names(w.top, -1, 0)
	for _, text := range w.included {
		if len(text) <= maxSource {
			top, _ := outline(splitLines([]byte(text)))
			all = append(all, top.under(key).names(top, -1, 0)...)
		}
	}
	return all
}

// under is the entry of that key, an empty one if there is none.
func (p *spot) under(key string) *spot {
	for _, e := range p.entries {
		if e.key == key {
			return e
		}
	}
	return &spot{}
}

// Includes are the paths of the files that a plan names to be included, as written. It need not be valid, nor YAML.
func Includes(text string) []string {
	if len(text) > maxSource {
		return nil
	}
	top, _ := outline(splitLines([]byte(text)))
	list := top.under("include")
	var all []string
	for _, e := range append([]*spot{list}, list.entries...) {
		if path := strings.Trim(e.value, `"'`); path != "" {
			all = append(all, path)
		}
	}
	return all
}

// detail is what stands behind a key of s, in a few words.
func (k key) detail(s *shape) string {
	switch {
	case k.required:
		return k.shape.want() + ", required"
	case slices.Contains(s.one, k.name):
		return k.shape.want() + "; one of " + orList(s.one) + " is required"
	}
	return k.shape.want()
}

// help is what a key means, with its default and an example, as Markdown.
func (k key) help() string {
	return fmt.Sprintf("%s\n\nExample: `%s: %s`", k.summary(), k.name, k.example)
}

// Help is what is known about a place of a plan, as Markdown, and the line and columns (From to To, from 1, in
// characters) that it is about.
type Help struct {
	Text           string
	Line, From, To int
}

// Hover tells what the key at a place of a plan means, or the key whose value stands there. line and col count from 1, col in
// characters. It is false where there is nothing to tell.
func Hover(text string, line, col int) (Help, bool) {
	lines, runes, ok := linesAt(text, line, col)
	if !ok || col-1 > len(runes) {
		return Help{}, false
	}
	top, _ := outline(lines)
	at := col - 1
	var found *spot
	h := Help{Line: line}
	top.walk(func(p *spot) bool {
		switch {
		case p.parent == nil || p.line != line-1:
		case at >= p.from && at <= p.to && !p.item:
			found, h.From, h.To = p, p.from+1, p.to+1
		case at >= p.valueFrom && at < p.valueTo:
			found, h.From, h.To = p, p.valueFrom+1, p.valueTo+1
		}
		return true
	})
	if found == nil {
		return Help{}, false
	}
	k, in, ok := found.described()
	if !ok || in != found && !found.item { // a name that the author chose
		return Help{}, false
	}
	h.Text = fmt.Sprintf("**%s** – %s\n\n%s", k.name, k.detail(in.parent.shape()), k.help())
	return h, true
}

// IsPart reports whether a text is only a part of a plan, to be included by others: it has neither the version nor the stages that
// every plan has. It need not be YAML.
func IsPart(text string) bool {
	if len(text) > maxSource {
		return false
	}
	top, _ := outline(splitLines([]byte(text)))
	return !slices.ContainsFunc(top.entries, func(p *spot) bool { return p.key == "version" || p.key == "stages" || p.key == "include" })
}

// CheckPart tells what is wrong with a part of a plan as YAML. All else is only known in the plan that includes it.
func CheckPart(text, name string) Problems {
	l := newLoader(newSource(name, ".", []byte(text)), Options{})
	l.parse()
	return l.result()
}
