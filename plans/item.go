package plans

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"gopkg.in/yaml.v3"
)

// An item is a value of the plan at its place, read as its shape says. Methods work on a nil item, which stands
// for a value that is absent or was already reported.
type item struct {
	pos     Position
	path    string
	shape   *shape
	node    *yaml.Node
	name    string   // the key it stands under
	keyPos  Position // of that key
	given   bool     // false for a default
	written []string // the keys that the plan gives, also those that could not be read
	form    form
	entries []*item   // of a map, in document order
	list    []*item   // of a list
	text    []piece   // of a scalar
	words   [][]piece // of a command
	number  int64     // integerScalar
	yes     bool      // booleanScalar
	time    time.Duration
	rate    float64 // per second
	json    string  // of anyValue, compact
	source  string  // of anyValue, as it can be written into a plan
}

// form is what a value is in YAML.
type form int

const (
	scalarForm form = iota
	listForm
	mapForm
)

// get gives the entry of that key, nil if there is none that could be read.
func (it *item) get(name string) *item {
	if it == nil {
		return nil
	}
	for _, e := range it.entries {
		if e.name == name {
			return e
		}
	}
	return nil
}

// has reports whether the plan itself gives the key, readable or not.
func (it *item) has(name string) bool { return it != nil && slices.Contains(it.written, name) }

// all gives the entries of a list, or the one value that stands for a list of one.
func (it *item) all() []*item {
	switch {
	case it == nil:
		return nil
	case it.form == listForm:
		return it.list
	}
	return []*item{it}
}

func (it *item) value() string {
	if it == nil {
		return ""
	}
	return plain(it.text)
}

// quoted is the value for messages: in quotes, with the environment's values left as references.
func (it *item) quoted() string {
	if it == nil {
		return ""
	}
	return quote(shown(it.text, false))
}

func (it *item) duration() time.Duration {
	if it == nil {
		return 0
	}
	return it.time
}

func (it *item) perSecond() float64 {
	if it == nil {
		return 0
	}
	return it.rate
}

func (it *item) integer() int64 {
	if it == nil {
		return 0
	}
	return it.number
}

func (it *item) isTrue() bool { return it != nil && it.yes }

// fault starts a problem at the item.
func (it *item) fault(what, got, want, hint string) Problem {
	return Problem{Pos: it.pos, Path: it.path, What: what, Got: got, Want: want, Hint: hint}
}

var simpleName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// join adds a key to a path.
func join(path, name string) string {
	switch {
	case !simpleName.MatchString(name):
		return path + "[" + quote(name) + "]"
	case path == "":
		return name
	}
	return path + "." + name
}

// The longest text that a message quotes, in bytes.
const maxQuote = 80

// quote puts text in quotes for a message, shortened when it is long.
func quote(text string) string {
	if len(text) > maxQuote {
		return fmt.Sprintf("%q…", strings.ToValidUTF8(text[:maxQuote], ""))
	}
	return fmt.Sprintf("%q", text)
}
