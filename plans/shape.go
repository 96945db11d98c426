package plans

import (
	"slices"
	"strings"
)

// A shape says what may stand at one place of a plan. Decoding, defaults, the JSON Schema and the reference page
// are all driven by it. More than one of scalar, list, keys and each may be set: then any of them is accepted.
type shape struct {
	noun   string // what messages call it: "a duration like 30s", "a list of stages"
	scalar kind
	rule   string   // a validator tag for the scalar's value
	list   *shape   // the entries of a list
	keys   []key    // the keys of a map
	one    []string // keys of which exactly one must be given
	each   *shape   // the entries of a map whose names the author chooses
	names  names    // which names such a map takes
	of     string   // the key of the plan whose entries' names are meant, for editors
	like   []string // values that can be written, for editors
	some   bool     // a list or map that must not be empty
	open   bool     // a text that no secret belongs in: the effective plan shows it with the environment's values
}

// A key is one key of a map, as decoding and documentation see it.
type key struct {
	name     string
	shape    *shape
	required bool
	def      string   // the default as plan text; "{}" for a map filled with its own defaults; "" for none
	told     string   // the default in words, where it depends on other keys
	doc      string   // what it means, one or more sentences
	example  string   // a value as it stands in a plan
	aka      []string // names that other tools give it
}

// kind is how the text of a scalar is read.
type kind int

const (
	noScalar       kind = iota
	textScalar          // any text
	templateScalar      // text that may hold ${data.column}
	integerScalar       // a whole number
	booleanScalar       // true or false
	durationScalar      // 30s
	rateScalar          // 250/s
	commandScalar       // words without a shell
	startScalar         // a command that may hold ${address}
	wordScalar          // a word of such a command
	gridCommand         // a command that may hold ${size} and the names of parameters
	gridScalar          // a word of such a command, or another text that may
	anyValue            // a JSON value written as YAML
	laterValue          // what the place that it is put into takes; null for nothing
)

// names is which names the author may choose in a map.
type names int

const (
	plainNames  names = iota // [a-z0-9][a-z0-9._-]*
	varNames                 // [a-z0-9][a-z0-9_-]*: a dot would make them data columns
	freeNames                // anything
	numberNames              // positive whole numbers
)

// find gives the key of that name.
func (s *shape) find(name string) (key, bool) {
	i := slices.IndexFunc(s.keys, func(k key) bool { return k.name == name })
	if i < 0 {
		return key{}, false
	}
	return s.keys[i], true
}

// A bound is one part of a rule: "gte" and "1", "oneof" and "uniform poisson".
type bound struct{ tag, param string }

// bounds takes the shape's rule apart.
func (s *shape) bounds() []bound {
	if s.rule == "" {
		return nil
	}
	var bs []bound
	for part := range strings.SplitSeq(s.rule, ",") {
		tag, param, _ := strings.Cut(part, "=")
		bs = append(bs, bound{tag, param})
	}
	return bs
}

// choices are the words that the shape's rule allows, if it lists them.
func (s *shape) choices() []string {
	for _, b := range s.bounds() {
		if b.tag == "oneof" {
			return strings.Fields(b.param)
		}
	}
	return nil
}

// freeText reports whether any text will do, also an empty one.
func (s *shape) freeText() bool {
	return (s.scalar == textScalar || s.scalar == templateScalar) && s.rule == "" && !s.open
}

// want says in words what the shape accepts.
func (s *shape) want() string {
	switch {
	case len(s.choices()) > 0:
		return orList(s.choices())
	case s.scalar == integerScalar:
		return s.wantRange()
	}
	return s.noun
}

// wantRange is want with the range that the rule gives.
func (s *shape) wantRange() string {
	text := s.noun
	for _, b := range s.bounds() {
		switch {
		case b.tag == "gt":
			text += " above " + b.param + ", at most "
		case b.tag == "gte":
			text += " from " + b.param + " to "
		case b.tag == "lte":
			text += b.param
		}
	}
	return text
}

// orList joins words as "a, b or c".
func orList(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
}
