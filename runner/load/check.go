package load

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/perfplan/perfplan/plans"
)

// A checker decides whether an answer is the expected one. It never changes and
// is safe for concurrent use.
type checker struct {
	status   []plans.StatusRange
	contains []byte
	json     []jsonCheck
	needBody bool
}

type jsonCheck struct {
	plans.JSONExpect
	path   string // in gjson's syntax
	equals any    // Equals, decoded
}

func newChecker(e plans.Expect) (*checker, error) {
	c := &checker{status: e.Status, contains: []byte(e.Contains)}
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
	c.needBody = len(c.contains) > 0 || len(c.json) > 0
	return c, nil
}

// check returns nil for an expected answer.
func (c *checker) check(r *response) *failure {
	if !c.statusOK(r.status) {
		return &failure{kindStatus, "got status " + strconv.Itoa(r.status)}
	}
	if !c.needBody {
		return nil
	}
	if r.tooLarge {
		return &failure{kindExpect, fmt.Sprintf("the body is larger than the %d MiB that can be checked", maxKeptBody>>20)}
	}
	if len(c.contains) > 0 && !bytes.Contains(r.body, c.contains) {
		return &failure{kindExpect, fmt.Sprintf("the body does not hold %q", c.contains)}
	}
	if len(c.json) == 0 {
		return nil
	}
	body := string(r.body)
	if !gjson.Valid(body) {
		return &failure{kindExpect, fmt.Sprintf("the body is not JSON: %q", clip(r.body))}
	}
	for i := range c.json {
		if text := c.json[i].check(body); text != "" {
			return &failure{kindExpect, text}
		}
	}
	return nil
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
