package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// An editor drives "perfplan lsp" over pipes.
type editor struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err strings.Builder // standard error
	ids int
	got []lspMessage // that were not awaited yet
}

type lspMessage struct {
	ID     *int            `json:"id"`
	Method string          `json:"method"`
	Params lspDiagnostics  `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

type lspDiagnostics struct {
	URI         string `json:"uri"`
	Version     *int   `json:"version"`
	Diagnostics []struct {
		Range    lspRange `json:"range"`
		Severity int      `json:"severity"`
		Source   string   `json:"source"`
		Message  string   `json:"message"`
	} `json:"diagnostics"`
}

type lspRange struct {
	Start, End struct{ Line, Character int }
}

func (r lspRange) String() string {
	return fmt.Sprintf("%d:%d-%d:%d", r.Start.Line, r.Start.Character, r.End.Line, r.End.Character)
}

// startEditor starts the server, and says what an editor says at first.
func startEditor(t *testing.T) *editor {
	t.Helper()
	e := &editor{t: t, cmd: exec.CommandContext(t.Context(), "perfplan", "lsp", "--stdio")}
	e.cmd.Stderr = &e.err
	var err error
	if e.in, err = e.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := e.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	e.out = bufio.NewReader(out)
	if err := e.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	hung := time.AfterFunc(time.Minute, func() { e.cmd.Process.Kill() })
	t.Cleanup(func() { hung.Stop() })
	return e
}

// send sends bytes with their length before them.
func (e *editor) send(text string) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.in, "Content-Length: %d\r\n\r\n%s", len(text), text); err != nil {
		e.t.Fatal(err)
	}
}

func (e *editor) notify(method string, params any) {
	e.t.Helper()
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": method, "params": params})
	if err != nil {
		e.t.Fatal(err)
	}
	e.send(string(text))
}

// await gives the first message that is wanted.
func (e *editor) await(wanted func(lspMessage) bool) lspMessage {
	e.t.Helper()
	for i := 0; ; i++ {
		if i == len(e.got) {
			e.got = append(e.got, e.receive())
		}
		if m := e.got[i]; wanted(m) {
			e.got = slices.Delete(e.got, i, i+1)
			return m
		}
	}
}

func (e *editor) receive() (m lspMessage) {
	e.t.Helper()
	length := -1
	for {
		line, err := e.out.ReadString('\n')
		if err != nil {
			e.t.Fatalf("the server's messages end: %v", err)
		}
		if line == "\r\n" {
			break
		}
		if value, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				e.t.Fatal(err)
			}
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(e.out, body); err != nil {
		e.t.Fatal(err)
	}
	if err := json.Unmarshal(body, &m); err != nil {
		e.t.Fatalf("%v\n%s", err, body)
	}
	return m
}

// call gives the answer to a request.
func (e *editor) call(method string, params any) lspMessage {
	e.t.Helper()
	e.ids++
	id := e.ids
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		e.t.Fatal(err)
	}
	e.send(string(text))
	return e.await(func(m lspMessage) bool { return m.Method == "" && m.ID != nil && *m.ID == id })
}

// end ends the server in order, and checks its exit code.
func (e *editor) end(code int) {
	e.t.Helper()
	e.in.Close()
	io.Copy(io.Discard, e.out)
	err := e.cmd.Wait()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok && exited.ExitCode() == code || err == nil && code == 0 {
		return
	}
	e.t.Errorf("the server ended with %v, want exit code %d\n%s", err, code, e.err.String())
}

func (e *editor) initialize() {
	e.t.Helper()
	if m := e.call("initialize", map[string]any{"processId": os.Getpid(), "rootUri": nil, "capabilities": map[string]any{}}); m.Error != nil {
		e.t.Fatalf("initialize: %+v", m.Error)
	}
	e.notify("initialized", map[string]any{})
}

func (e *editor) open(uri string, version int, text string) {
	e.t.Helper()
	e.notify("textDocument/didOpen", map[string]any{"textDocument": map[string]any{"uri": uri, "languageId": "yaml", "version": version, "text": text}})
}

func (e *editor) change(uri string, version int, text string) {
	e.t.Helper()
	e.notify("textDocument/didChange", map[string]any{"textDocument": map[string]any{"uri": uri, "version": version}, "contentChanges": []any{map[string]any{"text": text}}})
}

// diagnostics gives what is wrong with a version of a document, as "range severity message" lines; version 0 is that of a
// file that is not open.
func (e *editor) diagnostics(uri string, version int) []string {
	e.t.Helper()
	m := e.await(func(m lspMessage) bool {
		if m.Method != "textDocument/publishDiagnostics" || m.Params.URI != uri {
			return false
		}
		return version == 0 && m.Params.Version == nil || m.Params.Version != nil && *m.Params.Version == version
	})
	lines := []string{}
	for _, d := range m.Params.Diagnostics {
		if d.Source != "perfplan" {
			e.t.Errorf("source %q, want perfplan", d.Source)
		}
		lines = append(lines, fmt.Sprintf("%v %d %s", d.Range, d.Severity, d.Message))
	}
	return lines
}

// at are the parameters of a request about the place of ‸ in a text.
func at(uri, marked string) map[string]any {
	before, _, _ := strings.Cut(marked, "‸")
	line := before[strings.LastIndexByte(before, '\n')+1:]
	units := 0
	for _, r := range line {
		units++
		if r > 0xffff {
			units++
		}
	}
	return map[string]any{"textDocument": map[string]any{"uri": uri}, "position": map[string]any{"line": strings.Count(before, "\n"), "character": units}}
}

func fileURI(path string) string { return (&url.URL{Scheme: "file", Path: path}).String() }

const lspPlan = `version: 1
name: a
targets: {s: {url: "http://127.0.0.1:8080"}}
requests: {home: {path: "/é日𝄞"}, price: {path: /p}}
stages:
  - {name: one, load: {request: home, rate: 100/s, for: 10s}}
  - {name: two, load: {request: price, rate: 100/s, for: 10s}}
`

func TestLSPLifecycle(t *testing.T) {
	t.Parallel()
	e := startEditor(t)
	if m := e.call("textDocument/hover", at("file:///a.yaml", "‸")); m.Error == nil || m.Error.Code != -32002 {
		t.Errorf("a request before initialize: %+v", m)
	}
	m := e.call("initialize", map[string]any{"capabilities": map[string]any{}})
	var result struct {
		Capabilities struct {
			PositionEncoding string
			TextDocumentSync struct {
				OpenClose bool
				Change    int
			}
			HoverProvider      bool
			CompletionProvider *struct{}
		}
		ServerInfo struct{ Name string }
	}
	if err := json.Unmarshal(m.Result, &result); err != nil {
		t.Fatal(err)
	}
	if c := result.Capabilities; c.PositionEncoding != "utf-16" || !c.TextDocumentSync.OpenClose || c.TextDocumentSync.Change != 1 || !c.HoverProvider || c.CompletionProvider == nil ||
		result.ServerInfo.Name != "perfplan" {
		t.Errorf("initialize: %s", m.Result)
	}
	if m := e.call("initialize", map[string]any{}); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a second initialize: %+v", m)
	}
	e.notify("initialized", map[string]any{})
	e.notify("$/cancelRequest", map[string]any{"id": 1})
	e.notify("textDocument/didOpen", "no parameters of it")
	e.notify("textDocument/unheardOf", nil)
	if m := e.call("textDocument/unheardOf", nil); m.Error == nil || m.Error.Code != -32601 || !strings.Contains(m.Error.Message, "textDocument/unheardOf") {
		t.Errorf("an unknown method: %+v", m)
	}
	if m := e.call("textDocument/hover", []int{1}); m.Error == nil || m.Error.Code != -32602 {
		t.Errorf("wrong parameters: %+v", m)
	}
	if m := e.call("textDocument/hover", at("file:///not/open.yaml", "‸")); m.Error != nil || string(m.Result) != "null" {
		t.Errorf("hover in a document that is not open: %+v", m)
	}
	if m := e.call("shutdown", nil); m.Error != nil || string(m.Result) != "null" {
		t.Errorf("shutdown: %+v", m)
	}
	if m := e.call("textDocument/hover", at("file:///a.yaml", "‸")); m.Error == nil || m.Error.Code != -32600 {
		t.Errorf("a request after shutdown: %+v", m)
	}
	e.notify("exit", nil)
	e.end(0)

	e = startEditor(t)
	e.initialize()
	e.notify("exit", nil)
	e.end(1)

	e = startEditor(t)
	e.initialize()
	e.end(1) // the editor is gone
}

func TestLSPDiagnostics(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan, part := filepath.Join(dir, "my plan.yaml"), filepath.Join(dir, "part.yaml")
	uri := fileURI(plan)
	e := startEditor(t)
	e.initialize()
	check := func(uri string, version int, want ...string) {
		t.Helper()
		if got := e.diagnostics(uri, version); !slices.Equal(got, want) {
			t.Errorf("version %d of %s:\n%s\nwant\n%s", version, uri, strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	}
	e.open(uri, 1, lspPlan)
	check(uri, 1)

	// A typo, behind characters of two units; the place is up to the end of the word.
	e.change(uri, 2, strings.Replace(lspPlan, `{path: "/é日𝄞"}`, `{path: "/é日𝄞", methd: GET}`, 1))
	check(uri, 2, `3:33-3:38 1 requests.home.methd: unknown key (did you mean "method"?)`)
	e.change(uri, 3, "vars: {unused: 1}\n"+lspPlan)
	check(uri, 3, "0:7-0:13 2 vars.unused: variable is not used")
	e.change(uri, 4, lspPlan+"extra: [\n")
	if got := e.diagnostics(uri, 4); len(got) != 1 || !strings.HasPrefix(got[0], "7:0-7:5 1 not YAML") {
		t.Errorf("brackets that are not closed: %q", got)
	}
	e.change(uri, 5, lspPlan)
	check(uri, 5)

	// An included file, as it is on disk and then as it is in the editor; it is relative to the plan.
	if err := os.WriteFile(part, []byte("\nvars: {é𝄞: 1}\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	including := "include: part.yaml\n" + lspPlan
	e.change(uri, 6, including)
	if got := e.diagnostics(fileURI(part), 0); len(got) != 1 || !strings.HasPrefix(got[0], "1:7-1:10 1 vars[") {
		t.Errorf("the included file: %q", got)
	}
	check(uri, 6)
	e.open(fileURI(part), 1, "requests: {other: {pth: /}}\n")
	check(fileURI(part), 1, `0:19-0:22 1 requests.other.pth: unknown key (did you mean "path"?)`)
	e.change(fileURI(part), 2, "requests: {other: {path: /}}\n")
	check(fileURI(part), 2, "0:11-0:16 2 requests.other: no stage sends this request")
	e.change(uri, 7, strings.Replace(including, "part.yaml", "none.yaml", 1))
	if got := e.diagnostics(uri, 7); len(got) != 1 || !strings.HasPrefix(got[0], "0:9-0:18 1 include: cannot read the file") {
		t.Errorf("no included file: %q", got)
	}

	// What was wrong goes when the document does.
	e.notify("textDocument/didClose", map[string]any{"textDocument": map[string]any{"uri": uri}})
	check(uri, 0)
	e.call("shutdown", nil)
	e.notify("exit", nil)
	e.end(0)
}

func TestLSPCompletionAndHover(t *testing.T) {
	t.Parallel()
	uri := "untitled:plan"
	e := startEditor(t)
	e.initialize()
	version := 0
	edit := func(marked string) map[string]any {
		version++
		text := strings.Replace(marked, "‸", "", 1)
		if version == 1 {
			e.open(uri, version, text)
		} else {
			e.change(uri, version, text)
		}
		return at(uri, marked)
	}
	type item struct {
		Label, Detail, SortText string
		Kind                    int
		Documentation           struct{ Kind, Value string }
		TextEdit                struct {
			Range   lspRange
			NewText string
		}
	}
	complete := func(marked string) []item {
		t.Helper()
		var list struct{ Items []item }
		if err := json.Unmarshal(e.call("textDocument/completion", edit(marked)).Result, &list); err != nil {
			t.Fatal(err)
		}
		slices.SortFunc(list.Items, func(a, b item) int { return strings.Compare(a.SortText, b.SortText) })
		return list.Items
	}
	items := complete(strings.Replace(lspPlan, "100/s,", `100/s, "é日𝄞": 1, arr‸,`, 1))
	i := slices.IndexFunc(items, func(it item) bool { return it.Label == "arrivals" })
	if i < 0 || slices.ContainsFunc(items, func(it item) bool { return it.Label == "rate" || it.Label == "for" || it.Label == "name" }) {
		t.Fatalf("completion: %+v", items)
	}
	if it := items[i]; it.Kind != 10 || !strings.Contains(it.Documentation.Value, "`uniform` is evenly spaced") || it.Documentation.Kind != "markdown" ||
		it.TextEdit.NewText != "arrivals: " || it.TextEdit.Range.String() != "5:62-5:65" {
		t.Errorf("completion: %+v", it)
	}
	if items := complete("version: 1\n‸"); len(items) < 5 || items[0].Label != "name" || items[1].Label != "stages" || !strings.Contains(items[0].Detail, "required") {
		t.Errorf("completion at the top: %+v", items)
	}
	if items := complete(strings.Replace(lspPlan, "request: home", "request: ‸", 1)); len(items) != 2 || items[0].Label != "home" || items[1].Label != "price" || items[0].Kind != 18 {
		t.Errorf("completion of a request: %+v", items)
	}
	if items := complete("version: 1 # ‸"); len(items) != 0 {
		t.Errorf("completion in a comment: %+v", items)
	}

	var hover struct {
		Contents struct{ Kind, Value string }
		Range    lspRange
	}
	m := e.call("textDocument/hover", edit(strings.Replace(lspPlan, `{path: "/é日𝄞"}`, `{path: "/é日𝄞", expect‸: {}}`, 1)))
	if err := json.Unmarshal(m.Result, &hover); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(hover.Contents.Value, "What a completed answer looks like.") || hover.Range.String() != "3:33-3:39" {
		t.Errorf("hover at the end of a word: %+v", hover)
	}
	e.call("shutdown", nil)
	e.notify("exit", nil)
	e.end(0)
}

// What is no message is answered or ends the server, which neither crashes nor hangs.
func TestLSPHostileInput(t *testing.T) {
	t.Parallel()
	e := startEditor(t)
	e.initialize()
	for text, code := range map[string]int{"{bad": -32700, "17": -32700, "\xff\xfe": -32700, `{"jsonrpc":"2.0","id":{},"method":"shutdown"}`: -32600} {
		e.send(text)
		if m := e.await(func(m lspMessage) bool { return m.Error != nil && m.ID == nil }); m.Error.Code != code {
			t.Errorf("%q: %+v, want code %d", text, m.Error, code)
		}
	}
	e.open("file:///a.yaml", 1, strings.Repeat("a: [{\n", 10_000))
	if got := e.diagnostics("file:///a.yaml", 1); len(got) == 0 {
		t.Error("no diagnostics of a broken text")
	}
	e.call("textDocument/completion", map[string]any{"textDocument": map[string]any{"uri": "file:///a.yaml"}, "position": map[string]any{"line": 1 << 40, "character": -1 << 40}})
	if m := e.call("shutdown", nil); m.Error != nil {
		t.Errorf("shutdown behind all that: %+v", m.Error)
	}
	e.notify("exit", nil)
	e.end(0)

	for _, head := range []string{
		"Content-Length: 99999999999999999999\r\n\r\n{}", "Content-Length: 9999999999\r\n\r\n{}", "Content-Length: -1\r\n\r\n{}", "Content-Length: x\r\n\r\n{}",
		"GET / HTTP/1.1\r\n\r\n", "\r\n\r\n", "Content-Length: 1000000000\r\n\r\n{}", "Content-Length: 5", strings.Repeat("x", 1<<20),
	} {
		e := startEditor(t)
		if _, err := io.WriteString(e.in, head); err != nil && !errors.Is(err, os.ErrClosed) && !strings.Contains(err.Error(), "broken pipe") {
			t.Fatal(err)
		}
		e.end(4)
	}
}
