package load

import (
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
	} {
		k, err := newChecker(plans.Expect{Status: []plans.StatusRange{{From: 200, To: 299}}, JSON: []plans.JSONExpect{c.j}})
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
	k, err := newChecker(plans.Expect{Status: []plans.StatusRange{{From: 200, To: 200}, {From: 404, To: 404}}, Contains: "ok", JSON: []plans.JSONExpect{{Path: "$.a", Exists: ptr(true)}}})
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
	if _, err := newChecker(plans.Expect{JSON: []plans.JSONExpect{{Path: "$.a", Equals: ptr("{")}}}); err == nil {
		t.Error("a wanted value that is no JSON: no error")
	}
}
