package load

import (
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

var twoHosts = []Host{{Scheme: "http", Authority: "a:1"}, {Scheme: "http", Authority: "b:2", Prefix: "/v1"}}

func TestRender(t *testing.T) {
	users := &plans.Data{Name: "user", Columns: []string{"id", "name"}, Rows: [][]string{{"7", "ä b"}, {"123", "c#d"}, {"5", ""}}}
	part := func(column int) plans.Part { return plans.Part{Data: users, Column: column} }
	post := &plans.Request{Method: "POST", Path: plans.Template{{Literal: "/u/"}, part(1), {Literal: "?id="}, part(0)},
		Headers: []plans.Header{{Name: "Content-Type", Value: literal("application/json")}, {Name: "X-Id", Value: plans.Template{part(0)}}},
		Body:    plans.Template{{Literal: `{"id": `}, part(0), {Literal: `, "name": "`}, part(1), {Literal: `"}`}}, HasBody: true}
	simple := &plans.Request{Method: "GET", Path: literal("/x")}
	for _, c := range []struct {
		name  string
		req   *plans.Request
		host  int
		index int64
		want  string
	}{
		{"data", post, 0, 0, "POST /u/%C3%A4%20b?id=7 HTTP/1.1\nHost: a:1\nContent-Type: application/json\nX-Id: 7\nUser-Agent: perfplan\nContent-Length: 25\n\n{\"id\": 7, \"name\": \"ä b\"}"},
		{"data, next row", post, 1, 4, "POST /v1/u/c%23d?id=123 HTTP/1.1\nHost: b:2\nContent-Type: application/json\nX-Id: 123\nUser-Agent: perfplan\nContent-Length: 26\n\n{\"id\": 123, \"name\": \"c#d\"}"},
		{"get", simple, 1, 9, "GET /v1/x HTTP/1.1\nHost: b:2\nUser-Agent: perfplan\n\n"},
		{"post without body", &plans.Request{Method: "POST", Path: literal("/x")}, 0, 0, "POST /x HTTP/1.1\nHost: a:1\nUser-Agent: perfplan\nContent-Length: 0\n\n"},
		{"get with an empty body", &plans.Request{Method: "GET", Path: literal("/x"), HasBody: true}, 0, 0, "GET /x HTTP/1.1\nHost: a:1\nUser-Agent: perfplan\nContent-Length: 0\n\n"},
		{"own fields", &plans.Request{Method: "GET", Path: literal("/x"), Host: "h", Headers: headers("user-agent", "me", "expect", "100-continue"), ExpectContinue: true}, 0, 0,
			"GET /x HTTP/1.1\nHost: h\nuser-agent: me\nexpect: 100-continue\n\n"},
	} {
		r, err := newRenderer(c.req, twoHosts, true, 0)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		want := strings.ReplaceAll(c.want, "\n", "\r\n")
		got, bodyAt := r.render([]byte("left over"), c.host, c.index)
		if string(got) != want {
			t.Errorf("%s = %q, want %q", c.name, got, want)
		}
		if at := strings.Index(want, "\r\n\r\n") + 4; bodyAt != at {
			t.Errorf("%s: body at %d, want %d", c.name, bodyAt, at)
		}
	}
	r, err := newRenderer(simple, twoHosts, false, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got, _ := r.render(nil, 0, 0); !strings.Contains(string(got), "\r\nConnection: close\r\n") {
		t.Errorf("without keep-alive = %q, want Connection: close", got)
	}
}

// What could not arrive as written is refused before the first request.
func TestRenderRefuses(t *testing.T) {
	rows := func(v string) plans.Template {
		return plans.Template{{Data: &plans.Data{Name: "d", Columns: []string{"c"}, Rows: [][]string{{"fine"}, {v}}}}}
	}
	for _, c := range []struct {
		req  plans.Request
		want string
	}{
		{plans.Request{Method: "GE T"}, "not a method"},
		{plans.Request{Method: "GET", Headers: headers("X Y", "z")}, "not a header name"},
		{plans.Request{Method: "GET", Headers: headers("content-length", "5")}, "is set by perfplan"},
		{plans.Request{Method: "GET", Headers: headers("Transfer-Encoding", "chunked")}, "is set by perfplan"},
		{plans.Request{Method: "GET", Headers: headers("HOST", "x")}, "is set by perfplan"},
		{plans.Request{Method: "GET", Headers: headers("X", "a\r\nY: b")}, "want no line end"},
		{plans.Request{Method: "GET", Host: "a\r\nY: b"}, "want no line end"},
		{plans.Request{Method: "GET", Headers: []plans.Header{{Name: "X", Value: rows("a\nb")}}}, `data "d", column "c", row 2`},
		{plans.Request{Method: "GET", Body: plans.Template{{Data: &plans.Data{Name: "d"}}}}, `data "d" has no rows`},
	} {
		c.req.Name = "r"
		_, err := newRenderer(&c.req, twoHosts, true, 0)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), `request "r"`) {
			t.Errorf("newRenderer(%+v) = %v, want %q", c.req, err, c.want)
		}
	}
}

// Rendering does not allocate once its buffer is large enough.
func TestRenderAllocates(t *testing.T) {
	data := &plans.Data{Columns: []string{"c"}, Rows: [][]string{{"one"}, {"two"}}}
	req := &plans.Request{Method: "POST", Path: literal("/x"), Body: plans.Template{{Data: data}}, HasBody: true}
	r, err := newRenderer(req, twoHosts, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	buf, i := make([]byte, 0, 1024), int64(0)
	if n := testing.AllocsPerRun(100, func() { buf, _ = r.render(buf, 0, i); i++ }); n != 0 {
		t.Errorf("render allocates %v times, want 0", n)
	}
}
