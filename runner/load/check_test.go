package load

import (
	"regexp"
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

func ptr[T any](v T) *T { return &v }

func TestCheck(t *testing.T) {
	const body = `{"items": [{"title": "Heat", "a.b": 1}, {"title": "Ähre"}], "n": 1.0, "big": 12345678901234567890, "none": null, "o": {"x": [1, 2], "y": {}}, "": 3, "*": 4}`
	for _, c := range []struct {
		j    plans.JSONExpect
		want string // "" for as expected
	}{
		{plans.JSONExpect{Path: "$.items", Length: ptr(2)}, ""},
		{plans.JSONExpect{Path: "$.items", Length: ptr(50)}, "$.items: got length 2, want 50"},
		{plans.JSONExpect{Path: "$.items[0].title", Equals: ptr(`"Heat"`)}, ""},
		{plans.JSONExpect{Path: "$.items[1].title", Equals: ptr(`"\u00c4hre"`)}, ""},
		{plans.JSONExpect{Path: "$.items[1].title", Length: ptr(4)}, ""},
		{plans.JSONExpect{Path: "$.items[0]['a.b']", Equals: ptr("1")}, ""},
		{plans.JSONExpect{Path: `$["o"].x[1]`, Equals: ptr("2")}, ""},
		{plans.JSONExpect{Path: "$.items[2]", Exists: ptr(false)}, ""},
		{plans.JSONExpect{Path: "$.items[1]", Exists: ptr(false)}, `$.items[1]: got {"title": "Ähre"}, want nothing there`},
		{plans.JSONExpect{Path: "$.nope", Exists: ptr(true)}, "$.nope is missing"},
		{plans.JSONExpect{Path: "$.nope", Equals: ptr("1")}, "$.nope: got nothing, want 1"},
		{plans.JSONExpect{Path: "$.nope", Length: ptr(0)}, "$.nope: got nothing, want an array"},
		{plans.JSONExpect{Path: "$.n", Equals: ptr("1")}, ""},
		{plans.JSONExpect{Path: "$.n", Equals: ptr("2")}, "$.n: got 1.0, want 2"},
		{plans.JSONExpect{Path: "$.n", Equals: ptr(`"1.0"`)}, "$.n: got 1.0"},
		{plans.JSONExpect{Path: "$.n", Length: ptr(3)}, "$.n: got 1.0, want an array"},
		{plans.JSONExpect{Path: "$.big", Equals: ptr("12345678901234567890")}, ""},
		{plans.JSONExpect{Path: "$.none", Equals: ptr("null")}, ""},
		{plans.JSONExpect{Path: "$.none", Exists: ptr(true)}, ""},
		{plans.JSONExpect{Path: "$.o", Equals: ptr(`{"y":{},"x":[1,2]}`)}, ""},
		{plans.JSONExpect{Path: "$.o", Length: ptr(2)}, ""},
		{plans.JSONExpect{Path: "$.o.y", Length: ptr(0)}, ""},
		{plans.JSONExpect{Path: "$['*']", Equals: ptr("4")}, ""},
		{plans.JSONExpect{Path: "$", Length: ptr(7)}, ""},
		{plans.JSONExpect{Path: "$.items.#", Exists: ptr(false)}, ""},
		{plans.JSONExpect{Path: "$.n", Min: ptr(1.0), Max: ptr(1.0)}, ""},
		{plans.JSONExpect{Path: "$.n", Min: ptr(1.5)}, "$.n: got 1.0, want 1.5 or more"},
		{plans.JSONExpect{Path: "$.n", Max: ptr(0.5)}, "$.n: got 1.0, want 0.5 at most"},
		{plans.JSONExpect{Path: "$.items", Max: ptr(0.5)}, `$.items: got [{"title": "Heat", "a.b": 1}, {"title": "Ähre"}], want a number`},
		{plans.JSONExpect{Path: "$.nope", Min: ptr(0.0)}, "$.nope: got nothing, want a number"},
		{plans.JSONExpect{Path: "$.items[0].title", Matches: regexp.MustCompile("^H.*t$")}, ""},
		{plans.JSONExpect{Path: "$.items[0].title", Matches: regexp.MustCompile("^h")}, `$.items[0].title: got "Heat", which does not match "^h"`},
		{plans.JSONExpect{Path: "$.nope", Matches: regexp.MustCompile("")}, `$.nope: got nothing, which does not match ""`},
	} {
		k, err := newChecker(plans.Expect{Status: []plans.StatusRange{{From: 200, To: 299}}, JSON: []plans.JSONExpect{c.j}}, false)
		if err != nil {
			t.Errorf("newChecker(%s) = %v", c.j.Path, err)
			continue
		}
		got := ""
		if fail := k.check(&response{status: 200, body: []byte(body)}); fail != nil {
			if got = fail.text; fail.kind != kindExpect {
				t.Errorf("%s: kind %s, want expect", c.j.Path, fail.kind)
			}
		}
		if got != c.want && (c.want == "" || !strings.HasPrefix(got, c.want)) {
			t.Errorf("check %s = %q, want %q", c.j.Path, got, c.want)
		}
	}
}

func TestCheckBody(t *testing.T) {
	k, err := newChecker(plans.Expect{Status: []plans.StatusRange{{From: 200, To: 200}, {From: 404, To: 404}}, Contains: "ok", JSON: []plans.JSONExpect{{Path: "$.a", Exists: ptr(true)}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		r          response
		kind, text string
	}{
		{response{status: 200, body: []byte(`{"a": "ok"}`)}, "", ""},
		{response{status: 404, body: []byte(`{"a": "ok"}`)}, "", ""},
		{response{status: 500, body: []byte(`{"a": "ok"}`)}, kindStatus, "got status 500"},
		{response{status: 200, body: []byte(`{"a": 1}`)}, kindExpect, `the body does not hold "ok"`},
		{response{status: 200, body: []byte(`ok {`)}, kindExpect, `the body is not JSON: "ok {"`},
		{response{status: 200, tooLarge: true}, kindExpect, "the body is larger than the 16 MiB that can be checked"},
	} {
		fail := k.check(&c.r)
		if (fail == nil) != (c.kind == "") || fail != nil && (fail.kind != c.kind || fail.text != c.text) {
			t.Errorf("check(%d %q) = %+v, want %s %q", c.r.status, c.r.body, fail, c.kind, c.text)
		}
	}
}

func TestJSONPath(t *testing.T) {
	for path, want := range map[string]string{"$": "@this", "$.a": "a", "$.a[0].b": "a.0.b", "$[3]": "3", "$['a.b'].c": `a\.b.c`, `$["x"]`: "x"} {
		if got, err := gjsonPath(path); got != want || err != nil {
			t.Errorf("gjsonPath(%q) = %q, %v, want %q", path, got, err, want)
		}
	}
	for _, path := range []string{"", "a", ".a", "$a", "$.", "$..a", "$.*", "$[*]", "$[-1]", "$[0", "$['a'", "$.a[b]", "$.a "[:0] + "x"} {
		if got, err := gjsonPath(path); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("gjsonPath(%q) = %q, want an error", path, got)
		}
	}
	if _, err := newChecker(plans.Expect{JSON: []plans.JSONExpect{{Path: "$.a", Equals: ptr("{")}}}, false); err == nil {
		t.Error("a wanted value that is no JSON: no error")
	}
}

// Each expectation has its own count, an example and the first answer that did not meet it; the values of header fields are
// those of the final answer, whether or not its head is one seen before.
func TestExpectations(t *testing.T) {
	onEach(t, func(t *testing.T) {
		const good = "HTTP/1.1 103 Early Hints\r\nX-A: early\r\n\r\nHTTP/1.1 200 OK\r\nX-a:  one \r\nX-A: two\r\nContent-Length: 14\r\n\r\n{\"total\": 1}  "
		s := serve(t, func(c *call) {
			switch c.n % 6 {
			case 1:
				c.say(strings.Replace(good, "X-a:  one", "X-a: other", 1))
			case 2:
				c.say(strings.Replace(good, "X-a:  one \r\nX-A: two\r\n", "", 1))
			case 3:
				c.say(strings.Replace(good, "Content-Length: 14\r\n\r\n{\"total\": 1}  ", "Content-Length: 2\r\n\r\n{}", 1))
			case 4:
				c.say(strings.Replace(good, "\"total\"", "\"sums_\"", 1))
			case 5:
				c.say(strings.Replace(good, ": 1}", ": x}", 1))
			default:
				c.say(good)
			}
		})
		req := get(s)
		req.Expect.Headers = []plans.HeaderExpect{{Name: "x-a", Equals: ptr("one")}, {Name: "x-b", Exists: ptr(false)}}
		req.Expect.Matches = regexp.MustCompile(`"total": .`)
		req.Expect.Size = &plans.SizeExpect{Min: 3, Max: 14}
		req.Expect.JSON = []plans.JSONExpect{{Path: "$.total", Min: ptr(1.0)}}
		cfg := config(t, req, hold(100, ms(600)))
		l := run(t, cfg, s)
		got := map[string]int64{}
		for _, e := range l.Errors {
			if e.Kind != kindExpect {
				t.Errorf("error %+v", e)
			}
			got[e.Of+": "+e.Example] = e.Count
			if e.Of == "matches" && e.Sample != `{"sums_": 1}  ` || e.Of == "json" && e.Sample != `{"total": x}  ` {
				t.Errorf("%s: sample %q", e.Of, e.Sample)
			}
		}
		if got["size: got a body of 2 bytes, want 3 to 14"] != 10 || got[`matches: the body does not match "\"total\": ."`] != 10 || got[`json: the body is not JSON: "{\"total\": x}  "`] != 10 ||
			l.Completed != 10 || l.Failed != 50 {
			t.Errorf("errors %v, %+v", got, l.Counts)
		}
		if n := got[`headers.x-a: header x-a: got "other", want "one"`] + got["headers.x-a: header x-a is missing"]; n != 20 {
			t.Errorf("errors %v, want 20 of headers.x-a", got)
		}
	})
}
