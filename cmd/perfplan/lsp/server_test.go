package lsp

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/jsonrpc2"
)

const goodPlan = `version: 1
name: a
targets: {s: {url: "http://127.0.0.1:8080"}}
requests: {r: {path: /}}
stages: [{name: one, load: {rate: 100/s, for: 10s}}]
`

// serveHere serves an editor in this process, and gives the editor's end and what Serve returns.
func serveHere(t *testing.T) (jsonrpc2.Stream, <-chan error) {
	t.Helper()
	requests, in := io.Pipe()
	out, answers := io.Pipe()
	done := make(chan error, 1)
	go func() {
		orderly, err := Serve(t.Context(), requests, answers, Options{})
		if err == nil && !orderly {
			err = fmt.Errorf("not orderly")
		}
		answers.Close()
		done <- err
	}()
	t.Cleanup(func() { in.Close() })
	return jsonrpc2.NewStream(pipe{out, in}), done
}

// While documents change quickly, requests are answered, and the diagnostics that come last are those of the last text.
func TestQuickChanges(t *testing.T) {
	t.Parallel()
	stream, done := serveHere(t)
	const changes = 101
	sent := make(chan error, 1)
	go func() { sent <- typeQuickly(stream, changes) }()
	last, answers, wrong := -1, 0, 0
	for last < changes || answers < changes+1 {
		m, _, err := stream.Read(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		switch m := m.(type) {
		case *jsonrpc2.Response:
			if answers++; m.Err() != nil {
				t.Errorf("answer %d: %v", answers, m.Err())
			}
		case *jsonrpc2.Notification:
			var p publishParams
			if err := json.Unmarshal(m.Params(), &p); err != nil {
				t.Fatal(err)
			}
			if p.Version == nil || *p.Version <= last {
				t.Errorf("diagnostics of version %v behind those of %d", p.Version, last)
				continue
			}
			last, wrong = *p.Version, len(p.Diagnostics)
		}
	}
	if wrong != 1 {
		t.Errorf("%d diagnostics of the last text, want 1", wrong)
	}
	if err := <-sent; err != nil {
		t.Error(err)
	}
	for _, m := range []jsonrpc2.Message{jsonrpc2.NewCall(jsonrpc2.NewNumberID(1000), "shutdown", nil), jsonrpc2.NewNotification("exit", nil)} {
		if _, err := stream.Write(t.Context(), m); err != nil {
			t.Fatal(err)
		}
		if _, ok := m.(*jsonrpc2.Call); ok {
			if _, _, err := stream.Read(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// typeQuickly is an editor whose user types and is offered completions with each letter.
func typeQuickly(stream jsonrpc2.Stream, changes int) error {
	send := func(id int, method string, params any) error {
		text, err := json.Marshal(params)
		if err != nil {
			return err
		}
		var m jsonrpc2.Message = jsonrpc2.NewNotification(method, text)
		if id > 0 {
			m = jsonrpc2.NewCall(jsonrpc2.NewNumberID(int64(id)), method, text)
		}
		_, err = stream.Write(context.Background(), m)
		return err
	}
	doc := textDocument{URI: "file:///plan.yaml", Text: goodPlan}
	if err := send(1, "initialize", struct{}{}); err != nil {
		return err
	}
	if err := send(0, "textDocument/didOpen", openParams{TextDocument: doc}); err != nil {
		return err
	}
	for i := 1; i <= changes; i++ {
		text := strings.Replace(goodPlan, "rate: 100/s", "rate: 100"+strings.Repeat("x", i%2), 1)
		if err := send(0, "textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": doc.URI, "version": i}, "contentChanges": []any{map[string]any{"text": text}}}); err != nil {
			return err
		}
		if err := send(i+1, "textDocument/completion", positionParams{doc, position{4, 28}}); err != nil {
			return err
		}
	}
	return nil
}

// What is wrong with a file that two open plans include is told once.
func TestDiagnoseSharedFile(t *testing.T) {
	docs := map[string]*document{}
	for name, text := range map[string]string{
		"a.yaml":    "include: part.yaml\n" + goodPlan,
		"b.yaml":    "include: part.yaml\n" + goodPlan,
		"part.yaml": "vars: {x: 1}\nextra: 1\n",
	} {
		d := newDocument(fileURI("/plans/" + name))
		d.text = text
		docs[d.uri] = d
	}
	found := diagnose(docs, func(string) (string, bool) { return "", false })
	if len(found) != 3 || len(found["file:///plans/a.yaml"]) != 0 || len(found["file:///plans/part.yaml"]) != 1 {
		t.Errorf("got %+v, want one of part.yaml", found)
	}
}

// Included files are read relative to the file that names them, each once, and as they are in the editor where they are open.
func TestIncluded(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"parts/a.yaml": "include: [b.yaml, ../plan.yaml, none.yaml]\nvars: {on: disk}\n", "parts/b.yaml": "include: a.yaml\n"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	s := &server{docs: map[string]*document{}}
	open := func(name, text string) *document {
		d := newDocument(fileURI(filepath.Join(dir, name)))
		d.text = text
		s.docs[d.uri] = d
		return d
	}
	plan := open("plan.yaml", "include: parts/a.yaml\n"+goodPlan)
	want := []string{"include: [b.yaml, ../plan.yaml, none.yaml]\nvars: {on: disk}\n", "include: a.yaml\n"}
	if got := s.included(plan); !slices.Equal(got, want) {
		t.Errorf("included = %q, want %q", got, want)
	}
	open("parts/a.yaml", "vars: {un: saved}\n")
	if got := s.included(plan); !slices.Equal(got, []string{"vars: {un: saved}\n"}) {
		t.Errorf("included = %q, want the text of the editor", got)
	}
}
