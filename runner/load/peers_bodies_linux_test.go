//go:build amd64 || arm64

package load

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

// variedRows is how many requests differ; variedBody is what they post, about 189 bytes: $ is the next column.
const (
	variedRows = 1000
	variedBody = `{"user_id": $, "session": "$", "query": "$", "limit": 50, "candidates": [$]}`
)

var variedColumns = []string{"id", "session", "query", "candidates"}

// variedData is the table of the posts.
func variedData() *plans.Data {
	r := rand.New(rand.NewPCG(3, 0))
	d := &plans.Data{Name: "user", Columns: variedColumns}
	for range variedRows {
		var candidates []string
		for range 10 {
			candidates = append(candidates, strconv.Itoa(10000+r.IntN(90000)))
		}
		d.Rows = append(d.Rows, []string{strconv.Itoa(1e6 + r.IntN(9e6)), fmt.Sprintf("%016x%05x", r.Uint64(), r.Uint32()>>12),
			"running shoes size " + strconv.Itoa(30+r.IntN(20)), strings.Join(candidates, ", ")})
	}
	return d
}

// vary makes a request a post of them.
func vary(req *plans.Request) {
	d := variedData()
	req.Method, req.HasBody, req.Data = "POST", true, []*plans.Data{d}
	req.Headers = headers("Content-Type", "application/json")
	for i, text := range strings.Split(variedBody, "$") {
		if i > 0 {
			req.Body = append(req.Body, plans.Part{Data: d, Column: i - 1})
		}
		req.Body = append(req.Body, plans.Part{Literal: text})
	}
}

// variedScript writes a script for wrk2 that posts the same, each body built when it is sent.
func variedScript(dir string) string {
	file := filepath.Join(dir, "bodies.lua")
	if dir == "" {
		return file
	}
	var b strings.Builder
	b.WriteString("local rows = {\n")
	for _, row := range variedData().Rows {
		fmt.Fprintf(&b, "{id=%q, session=%q, query=%q, candidates=%q},\n", row[0], row[1], row[2], row[3])
	}
	parts := strings.Split(variedBody, "$")
	fmt.Fprintf(&b, "}\nlocal headers = {[\"Content-Type\"]=\"application/json\"}\nlocal i = 0\nfunction request()\n  i = i %% #rows + 1\n  local r = rows[i]\n  local body = '%s'", parts[0])
	for i, part := range parts[1:] {
		fmt.Fprintf(&b, " .. r.%s .. '%s'", variedColumns[i], part)
	}
	b.WriteString("\n  return wrk.format(\"POST\", nil, headers, body)\nend\n")
	os.WriteFile(file, []byte(b.String()), 0o600)
	return file
}

func variedContests() []contest {
	varied := func(name, server string) contest {
		return contest{Name: name, Server: server, Conns: 32, Seconds: 5, Pacing: PacingExact, Varied: true, tools: "^wrk2$",
			bars: []bar{atMost(cpuTime, 0.55).timesPeer()}}
	}
	return []contest{varied("varied bodies", "nginx"), varied("varied bodies, sink", "sink")}
}

// The bodies are of the size that the comparison is for, and wrk2 builds the same ones.
func TestVariedBodies(t *testing.T) {
	req := &plans.Request{Path: literal("/")}
	vary(req)
	r, err := newRenderer(req, []Host{{Authority: "a"}}, true, 0)
	if err != nil {
		t.Fatal(err)
	}
	sum := 0
	bodies := map[string]bool{}
	for i := range int64(variedRows) {
		text, at := r.render(nil, 0, i)
		sum += len(text) - at
		bodies[string(text[at:])] = true
	}
	if mean := float64(sum) / variedRows; mean < 187 || mean > 191 || len(bodies) != variedRows {
		t.Errorf("bodies of %.1f bytes on the average, %d of them different, want 189, %d", mean, len(bodies), variedRows)
	}
	script, err := os.ReadFile(variedScript(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	last := variedData().Rows[variedRows-1]
	for _, want := range slices.Concat(last, []string{`'{"user_id": ' .. r.id .. ', "session": "' .. r.session .. '", "query": "' .. r.query .. '", "limit": 50, "candidates": [' .. r.candidates .. ']}'`}) {
		if !strings.Contains(string(script), want) {
			t.Errorf("the script for wrk2 lacks %q", want)
		}
	}
}
