package predictor

import (
	"encoding/json"
	"fmt"
	"strconv"
	"unicode/utf8"
)

// The bounds of a request.
const (
	MaxBodyBytes  = 256 << 10 // of the request's body
	MaxCandidates = 10_000    // listed or counted
	MaxLimit      = 1_000     // items in an answer
	DefaultLimit  = 50        // items, if the request says nothing
)

// request is a get-ranking request as sent; zero counts stand for absent keys,
// since zero is never allowed.
type request struct {
	userID         int
	candidates     []int // owned by the scratch that decoded it
	candidateCount int
	limit          int
}

// RequestError is a request that is refused, with the field that is to blame;
// "body" if it is the JSON as a whole.
type RequestError struct {
	Field   string
	Message string
}

func (e *RequestError) Error() string { return e.Field + ": " + e.Message }

func refuse(field, format string, args ...any) error {
	return &RequestError{field, fmt.Sprintf(format, args...)}
}

// The keys, as bits of what was seen.
const (
	keyUserID = 1 << iota
	keyCandidates
	keyCandidateCount
	keyLimit
)

// decode reads a request of known shape in one pass: encoding/json takes ten
// times as long for a thousand candidates, and does not refuse repeated keys
// nor null. r.candidates is used as space.
func (r *request) decode(body []byte) error {
	*r = request{candidates: r.candidates[:0]}
	p := parser{body: body}
	seen, err := p.object(r)
	if err != nil {
		return err
	}
	if p.skip(); p.at < len(body) {
		return refuse("body", "got more after the end of the object at byte %d", p.at+1)
	}
	return r.check(seen)
}

func (r *request) check(seen int) error {
	switch {
	case seen&keyUserID == 0:
		return refuse("user_id", "is missing")
	case seen&(keyCandidates|keyCandidateCount) == 0:
		return refuse("candidates", "is missing: want candidates or candidate_count")
	case seen&keyCandidates != 0 && seen&keyCandidateCount != 0:
		return refuse("candidate_count", "got both candidates and candidate_count, want one of them")
	case seen&keyCandidates != 0 && len(r.candidates) == 0:
		return refuse("candidates", "got none, want 1 to %d", MaxCandidates)
	case seen&keyCandidateCount != 0 && (r.candidateCount < 1 || r.candidateCount > MaxCandidates):
		return refuse("candidate_count", "got %d, want 1 to %d", r.candidateCount, MaxCandidates)
	case r.userID < 1:
		return refuse("user_id", "got %d, want 1 or more", r.userID)
	case seen&keyLimit != 0 && (r.limit < 1 || r.limit > MaxLimit):
		return refuse("limit", "got %d, want 1 to %d", r.limit, MaxLimit)
	}
	if r.limit == 0 {
		r.limit = DefaultLimit
	}
	return nil
}

// parser reads JSON from at on.
type parser struct {
	body []byte
	at   int
}

// skip passes white space and returns the next byte, 0 at the end.
func (p *parser) skip() byte {
	for ; p.at < len(p.body); p.at++ {
		switch c := p.body[p.at]; c {
		case ' ', '\t', '\n', '\r':
		default:
			return c
		}
	}
	return 0
}

func (p *parser) want(c byte, what string) error {
	if got := p.skip(); got != c || p.at >= len(p.body) {
		return p.unexpected("body", what)
	}
	p.at++
	return nil
}

// unexpected says what stands at the parser's place.
func (p *parser) unexpected(field, want string) error {
	if p.at >= len(p.body) {
		return refuse(field, "got the end of the body, want %s", want)
	}
	got, _ := utf8.DecodeRune(p.body[p.at:])
	return refuse(field, "got %q at byte %d, want %s", got, p.at+1, want)
}

func (p *parser) object(r *request) (seen int, err error) {
	if err := p.want('{', "a JSON object"); err != nil {
		return 0, err
	}
	if p.skip() == '}' {
		p.at++
		return 0, nil
	}
	for {
		name, err := p.key()
		if err != nil {
			return seen, err
		}
		key := keyBit(name)
		if key == 0 {
			return seen, refuse(name, "unknown field, want user_id, candidates, candidate_count or limit")
		}
		if seen&key != 0 {
			return seen, refuse(name, "appears twice")
		}
		seen |= key
		if err := p.want(':', "a colon after the field's name"); err != nil {
			return seen, err
		}
		if err := p.value(r, key, name); err != nil {
			return seen, err
		}
		switch p.skip() {
		case ',':
			p.at++
		case '}':
			p.at++
			return seen, nil
		default:
			return seen, p.unexpected("body", "a comma or the object's end")
		}
	}
}

func keyBit(name string) int {
	switch name {
	case "user_id":
		return keyUserID
	case "candidates":
		return keyCandidates
	case "candidate_count":
		return keyCandidateCount
	case "limit":
		return keyLimit
	}
	return 0
}

// key reads a field's name; one with an escape goes through encoding/json.
func (p *parser) key() (string, error) {
	if p.skip() != '"' {
		return "", p.unexpected("body", "a field's name in quotes")
	}
	start := p.at
	for p.at++; p.at < len(p.body); p.at++ {
		switch p.body[p.at] {
		case '\\':
			p.at++
		case '"':
			p.at++
			var name string
			if err := json.Unmarshal(p.body[start:p.at], &name); err != nil {
				return "", refuse("body", "cannot read the field's name at byte %d", start+1)
			}
			return name, nil
		}
	}
	p.at = len(p.body)
	return "", p.unexpected("body", "the end of the field's name")
}

func (p *parser) value(r *request, key int, name string) (err error) {
	switch key {
	case keyUserID:
		r.userID, err = p.number(name)
	case keyCandidateCount:
		r.candidateCount, err = p.number(name)
	case keyLimit:
		r.limit, err = p.number(name)
	case keyCandidates:
		err = p.list(r, name)
	}
	return err
}

func (p *parser) list(r *request, name string) error {
	if p.skip() != '[' {
		return p.wrongType(name, "a list of whole numbers")
	}
	p.at++
	if p.skip() == ']' {
		p.at++
		return nil
	}
	for {
		n, err := p.number(name)
		if err != nil {
			return err
		}
		if len(r.candidates) == MaxCandidates {
			return refuse(name, "got more than %d", MaxCandidates)
		}
		r.candidates = append(r.candidates, n)
		switch p.skip() {
		case ',':
			p.at++
		case ']':
			p.at++
			return nil
		default:
			return p.unexpected(name, "a comma or the list's end")
		}
	}
}

// number reads a whole number as JSON writes them: no plus, no leading zero, no
// fraction, no exponent.
func (p *parser) number(name string) (int, error) {
	const want = "a whole number"
	c := p.skip()
	if c != '-' && (c < '0' || c > '9') {
		return 0, p.wrongType(name, want)
	}
	start := p.at
	if c == '-' {
		p.at++
	}
	digits, n := p.at, 0
	for ; p.at < len(p.body) && p.body[p.at]-'0' <= 9; p.at++ {
		if p.at-digits < 18 { // what fits for certain
			n = n*10 + int(p.body[p.at]-'0')
		}
	}
	text := p.body[start:p.at]
	switch {
	case p.at == digits:
		return 0, p.unexpected(name, want)
	case p.body[digits] == '0' && p.at-digits > 1:
		return 0, refuse(name, "got %q, want %s without a leading zero", short(text), want)
	case p.at < len(p.body) && (p.body[p.at] == '.' || p.body[p.at]|0x20 == 'e'):
		return 0, refuse(name, "got a fraction or an exponent at byte %d, want %s", p.at+1, want)
	case p.at-digits > 18:
		return 0, refuse(name, "got %q, which is out of range", short(text))
	}
	if c == '-' {
		n = -n
	}
	return n, nil
}

// wrongType names the JSON type that stands where another is wanted.
func (p *parser) wrongType(name, want string) error {
	got := ""
	switch p.skip() {
	case '"':
		got = "a string"
	case '{':
		got = "an object"
	case '[':
		got = "a list"
	case 't', 'f':
		got = "a boolean"
	case 'n':
		got = "null"
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		got = "a number"
	default:
		return p.unexpected(name, want)
	}
	return refuse(name, "got %s at byte %d, want %s", got, p.at+1, want)
}

// short cuts text that is quoted in a message.
func short(text []byte) string {
	if len(text) > 24 {
		return string(text[:24]) + "…"
	}
	return string(text)
}

// quote returns text as a JSON string.
func quote(text string) string {
	out, err := json.Marshal(text)
	if err != nil { // json.Marshal has no error for a string
		return strconv.Quote(text)
	}
	return string(out)
}
