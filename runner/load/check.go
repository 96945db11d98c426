package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/perfplan/perfplan/plans"
)

// A checker decides whether an answer is the expected one. It never changes, but
// for the samples that it takes, and is safe for concurrent use.
type checker struct {
	status     []plans.StatusRange
	headers    []plans.HeaderExpect
	contains   []byte
	matches    *regexp.Regexp
	size       *plans.SizeExpect
	json       []jsonCheck
	schema     *plans.JSONSchema
	needBody   bool
	needFields []string // in lower case; nil: none
	encoding   int      // number of content-encoding among them, counted from 1; 0: bodies are taken as they are
	sampled    sync.Map // expectations of which a sample was kept
}

type jsonCheck struct {
	plans.JSONExpect
	path   string // in gjson's syntax
	equals any    // Equals, decoded
}

// newChecker makes that of a request. unpack tells whether it asks for packed answers.
func newChecker(e plans.Expect, unpack bool) (*checker, error) {
	c := &checker{status: e.Status, headers: e.Headers, contains: []byte(e.Contains), matches: e.Matches, size: e.Size, schema: e.Schema}
	for _, j := range e.JSON {
		path, err := gjsonPath(j.Path)
		if err != nil {
			return nil, err
		}
		check := jsonCheck{JSONExpect: j, path: path}
		if j.Equals != nil {
			if check.equals, err = decodeJSON(*j.Equals); err != nil {
				return nil, fmt.Errorf("%s: not JSON: %q", j.Path, *j.Equals)
			}
		}
		c.json = append(c.json, check)
	}
	for _, h := range e.Headers {
		c.needFields = append(c.needFields, h.Name)
	}
	if unpack {
		c.encoding = len(c.needFields) + 1
		c.needFields = append(c.needFields, "content-encoding")
	}
	c.needBody = len(c.contains) > 0 || c.matches != nil || len(c.json) > 0 || c.schema != nil
	return c, nil
}

// maxSample bounds the part of an answer that is kept, in bytes.
const maxSample = 1 << 10

// unmet is the failure of an expectation, with a sample of the answer if it is the first.
func (c *checker) unmet(of, text string, r *response) *failure {
	f := &failure{kind: kindExpect, text: text, of: of}
	if len(r.body) == 0 {
		return f
	}
	if _, before := c.sampled.LoadOrStore(of, true); !before {
		f.body = bytes.Clone(r.body[:min(len(r.body), maxSample)])
	}
	return f
}

// check returns nil for an expected answer.
func (c *checker) check(r *response) *failure {
	if !c.statusOK(r.status) {
		return &failure{kind: kindStatus, text: "got status " + strconv.Itoa(r.status)}
	}
	for i := range c.headers {
		if text := checkHeader(&c.headers[i], r.fields, i); text != "" {
			return c.unmet("headers."+c.headers[i].Name, text, r)
		}
	}
	if s := c.size; s != nil && (r.bodyBytes < s.Min || s.Max > 0 && r.bodyBytes > s.Max) {
		return c.unmet("size", fmt.Sprintf("got a body of %d bytes, want %s", r.bodyBytes, sizeText(s)), r)
	}
	if !c.needBody {
		return nil
	}
	if r.tooLarge {
		return c.unmet("body", fmt.Sprintf("the body is larger than the %d MiB that can be checked", maxKeptBody>>20), r)
	}
	if fail := c.unpack(r); fail != nil {
		return fail
	}
	if len(c.contains) > 0 && !bytes.Contains(r.body, c.contains) {
		return c.unmet("contains", fmt.Sprintf("the body does not hold %q", c.contains), r)
	}
	if c.matches != nil && !c.matches.Match(r.body) {
		return c.unmet("matches", fmt.Sprintf("the body does not match %q", c.matches), r)
	}
	if len(c.json) > 0 {
		body := string(r.body)
		if !gjson.Valid(body) {
			return c.unmet("json", fmt.Sprintf("the body is not JSON: %q", clip(r.body)), r)
		}
		for i := range c.json {
			if text := c.json[i].check(body); text != "" {
				return c.unmet("json."+c.json[i].Path, text, r)
			}
		}
	}
	if c.schema != nil {
		if text := c.schema.Check(r.body); text != "" {
			return c.unmet("schema", "the body does not meet the schema: "+text, r)
		}
	}
	return nil
}

func sizeText(s *plans.SizeExpect) string {
	switch {
	case s.Max == 0:
		return fmt.Sprintf("%d or more", s.Min)
	case s.Min == 0:
		return fmt.Sprintf("%d at most", s.Max)
	}
	return fmt.Sprintf("%d to %d", s.Min, s.Max)
}

// checkHeader returns what is wrong with the i-th of the fields that were kept; "" for nothing.
func checkHeader(e *plans.HeaderExpect, fields []fieldValue, i int) string {
	var got fieldValue
	if i < len(fields) {
		got = fields[i]
	}
	switch {
	case e.Exists != nil && !*e.Exists:
		if got.there {
			return fmt.Sprintf("header %s: got %q, want none", e.Name, clip(got.text))
		}
		return ""
	case !got.there:
		return "header " + e.Name + " is missing"
	case e.Equals != nil && string(got.text) != *e.Equals:
		return fmt.Sprintf("header %s: got %q, want %q", e.Name, clip(got.text), *e.Equals)
	case e.Matches != nil && !e.Matches.Match(got.text):
		return fmt.Sprintf("header %s: got %q, which does not match %q", e.Name, clip(got.text), e.Matches)
	}
	return ""
}

func (c *checker) statusOK(status int) bool {
	for _, s := range c.status {
		if s.From <= status && status <= s.To {
			return true
		}
	}
	return false
}

// check returns what is wrong, "" for nothing.
func (j *jsonCheck) check(body string) string {
	got := gjson.Get(body, j.path)
	if j.Exists != nil && got.Exists() != *j.Exists {
		if *j.Exists {
			return j.Path + " is missing"
		}
		return fmt.Sprintf("%s: got %s, want nothing there", j.Path, clip([]byte(got.Raw)))
	}
	if j.Equals != nil && !j.equal(got) {
		return fmt.Sprintf("%s: got %s, want %s", j.Path, rawOrMissing(got), *j.Equals)
	}
	if j.Length != nil {
		n, ok := jsonLength(got)
		if !ok {
			return fmt.Sprintf("%s: got %s, want an array, object or text of length %d", j.Path, rawOrMissing(got), *j.Length)
		}
		if n != *j.Length {
			return fmt.Sprintf("%s: got length %d, want %d", j.Path, n, *j.Length)
		}
	}
	if j.Min != nil || j.Max != nil {
		if text := j.inRange(got); text != "" {
			return text
		}
	}
	if j.Matches != nil {
		text := got.Raw
		if got.Type == gjson.String {
			text = got.Str
		}
		if !got.Exists() || !j.Matches.MatchString(text) {
			return fmt.Sprintf("%s: got %s, which does not match %q", j.Path, rawOrMissing(got), j.Matches)
		}
	}
	return ""
}

func (j *jsonCheck) inRange(got gjson.Result) string {
	switch {
	case got.Type != gjson.Number:
		return fmt.Sprintf("%s: got %s, want a number", j.Path, rawOrMissing(got))
	case j.Min != nil && got.Num < *j.Min:
		return fmt.Sprintf("%s: got %s, want %v or more", j.Path, clip([]byte(got.Raw)), *j.Min)
	case j.Max != nil && got.Num > *j.Max:
		return fmt.Sprintf("%s: got %s, want %v at most", j.Path, clip([]byte(got.Raw)), *j.Max)
	}
	return ""
}

func (j *jsonCheck) equal(got gjson.Result) bool {
	if !got.Exists() {
		return false
	}
	if got.Raw == *j.Equals {
		return true
	}
	value, err := decodeJSON(got.Raw)
	return err == nil && reflect.DeepEqual(value, j.equals)
}

func decodeJSON(text string) (v any, err error) {
	err = json.Unmarshal([]byte(text), &v)
	return v, err
}

func rawOrMissing(r gjson.Result) string {
	if !r.Exists() {
		return "nothing"
	}
	return string(clip([]byte(r.Raw)))
}

func jsonLength(r gjson.Result) (n int, ok bool) {
	switch {
	case r.IsArray(), r.IsObject():
		r.ForEach(func(_, _ gjson.Result) bool { n++; return true })
		return n, true
	case r.Type == gjson.String:
		return utf8.RuneCountInString(r.Str), true
	}
	return 0, false
}

// gjsonPath turns $.items[0].title or $['a.b'] into gjson's syntax.
func gjsonPath(path string) (string, error) {
	rest, ok := strings.CutPrefix(path, "$")
	if !ok {
		return "", fmt.Errorf("not a JSON path: got %q, want one like $.items[0].title", path)
	}
	if rest == "" {
		return "@this", nil
	}
	var parts []string
	for rest != "" {
		var name string
		switch {
		case strings.HasPrefix(rest, "['") || strings.HasPrefix(rest, `["`):
			end := strings.Index(rest[2:], rest[1:2]+"]")
			if end < 0 {
				return "", fmt.Errorf("not a JSON path: %q: no end of %s", path, rest)
			}
			name, rest = rest[2:2+end], rest[2+end+2:]
		case rest[0] == '[':
			end := strings.IndexByte(rest, ']')
			if end < 0 {
				return "", fmt.Errorf("not a JSON path: %q: no end of %s", path, rest)
			}
			name = rest[1:end]
			if _, err := strconv.ParseUint(name, 10, 31); err != nil {
				return "", fmt.Errorf("not a JSON path: %q: got index %q, want a whole number", path, name)
			}
			rest = rest[end+1:]
		case rest[0] == '.':
			end := strings.IndexAny(rest[1:], ".[")
			if end < 0 {
				end = len(rest) - 1
			}
			name, rest = rest[1:1+end], rest[1+end:]
			if name == "" || name == "*" {
				return "", fmt.Errorf("not a JSON path: %q: got name %q, want the name of a member", path, name)
			}
		default:
			return "", fmt.Errorf("not a JSON path: %q: got %q, want . or [", path, rest)
		}
		parts = append(parts, gjson.Escape(name))
	}
	return strings.Join(parts, "."), nil
}
