// Package lsp is a language server for plans: it tells an editor what is wrong with a plan while it is written, what can
// stand at a place of it and what a key means. The protocol is LSP 3.17:
// https://microsoft.github.io/language-server-protocol/specifications/lsp/3.17/specification/.
package lsp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"sync"

	"go.lsp.dev/jsonrpc2"

	"github.com/perfplan/perfplan/plans"
)

// Options are what a server is told at its start.
type Options struct {
	Version string                      // of the program, for the editor's logs
	Env     func(string) (string, bool) // looks up environment variables
}

// Serve speaks with an editor over in and out until it says exit or goes away. It reports whether the editor had asked for
// a shutdown before, as it should. The error is one of the connection: bytes that are no messages, or an end within one.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) (orderly bool, err error) {
	s := &server{options: o, docs: map[string]*document{}, published: map[string]published{}, changed: make(chan struct{}, 1), exited: make(chan struct{})}
	s.conn = jsonrpc2.NewConn(stream{jsonrpc2.NewStream(pipe{in, out})})
	ctx, cancel := context.WithCancel(ctx)
	var checking sync.WaitGroup
	checking.Go(func() { s.checkChanges(ctx) })
	s.conn.Go(ctx, s.handle)
	select {
	case <-s.exited:
	case <-s.conn.Done():
		err = s.conn.Err()
	}
	cancel()
	checking.Wait()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.phase == stopped, err
}

// A pipe is standard input and output as one.
type pipe struct {
	io.Reader
	io.Writer
}

// Close does nothing: the process's end closes both.
func (pipe) Close() error { return nil }

// A stream is one that goes on behind a message which is no JSON-RPC: it is answered with an error, as JSON-RPC says.
type stream struct{ jsonrpc2.Stream }

// Read gives the next message.
func (s stream) Read(ctx context.Context) (jsonrpc2.Message, int64, error) {
	for {
		m, n, err := s.Stream.Read(ctx)
		bad, ok := errors.AsType[*jsonrpc2.Error](err)
		if !ok {
			return m, n, err
		}
		if _, err := s.Write(ctx, jsonrpc2.NewResponse(jsonrpc2.ID{}, nil, bad)); err != nil {
			return nil, 0, err
		}
	}
}

// phase is how far the talk with the editor is.
type phase int

const (
	waiting phase = iota // for initialize
	working
	stopped // by shutdown: only exit is next
)

// A server serves one editor.
type server struct {
	options Options
	conn    jsonrpc2.Conn
	changed chan struct{} // the documents are to be checked again
	exited  chan struct{}

	mu        sync.Mutex
	phase     phase
	docs      map[string]*document // open ones, by their URIs
	published map[string]published // what the editor shows, by URI; only for checkChanges
}

// serverNotInitialized is the error code of LSP for requests that come too early.
const serverNotInitialized = -32002

// handle answers one request or takes one notification; messages come one after another. A notification that makes no
// sense is ignored, since there is no answer to it.
func (s *server) handle(ctx context.Context, req *jsonrpc2.Request) (any, error) {
	result, err := s.dispatch(req)
	if !req.IsCall() {
		return nil, nil
	}
	return result, err
}

func (s *server) dispatch(req *jsonrpc2.Request) (any, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch method := req.Method(); {
	case method == "exit" && !req.IsCall():
		select {
		case <-s.exited:
		default:
			close(s.exited)
		}
		return nil, nil
	case s.phase == waiting && method != "initialize":
		return nil, jsonrpc2.Errorf(serverNotInitialized, "not initialized: got %q, want \"initialize\" first", method)
	case s.phase == stopped:
		return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "shut down: got %q, want \"exit\"", method)
	}
	switch req.Method() {
	case "initialize":
		if s.phase != waiting {
			return nil, jsonrpc2.Errorf(jsonrpc2.InvalidRequest, "initialized already")
		}
		s.phase = working
		return s.initialize(), nil
	case "shutdown":
		s.phase = stopped
		return nil, nil
	case "textDocument/didOpen", "textDocument/didChange":
		return nil, s.open(req)
	case "textDocument/didClose":
		return nil, s.close(req)
	case "textDocument/didSave", "workspace/didChangeWatchedFiles":
		s.check()
		return nil, nil
	case "textDocument/completion":
		return s.complete(req)
	case "textDocument/hover":
		return s.hover(req)
	}
	return nil, jsonrpc2.Errorf(jsonrpc2.MethodNotFound, "unknown method %q", req.Method())
}

func (s *server) initialize() initializeResult {
	return initializeResult{
		Capabilities: capabilities{
			PositionEncoding:   "utf-16",
			TextDocumentSync:   syncOptions{OpenClose: true, Change: fullText, Save: true},
			CompletionProvider: completionOptions{TriggerCharacters: []string{" "}},
			HoverProvider:      true,
		},
		ServerInfo: serverInfo{"perfplan", s.options.Version},
	}
}

// params reads the parameters of a request.
func params(req *jsonrpc2.Request, v any) error {
	if err := json.Unmarshal(req.Params(), v); err != nil {
		return jsonrpc2.Errorf(jsonrpc2.InvalidParams, "parameters of %q: %v", req.Method(), err)
	}
	return nil
}

// open takes the text of a document, the first one or a new one.
func (s *server) open(req *jsonrpc2.Request) error {
	var p openParams
	if err := params(req, &p); err != nil {
		return err
	}
	d := s.docs[p.TextDocument.URI]
	switch {
	case req.Method() == "textDocument/didOpen":
		d = newDocument(p.TextDocument.URI)
		d.text = p.TextDocument.Text
	case d == nil || len(p.ContentChanges) == 0:
		return nil
	default: // another one, since checkChanges may have the old one
		d = &document{uri: d.uri, path: d.path, dir: d.dir, text: p.ContentChanges[len(p.ContentChanges)-1].Text}
	}
	d.version = p.TextDocument.Version
	s.docs[d.uri] = d
	s.check()
	return nil
}

func (s *server) close(req *jsonrpc2.Request) error {
	var p openParams
	if err := params(req, &p); err != nil {
		return err
	}
	delete(s.docs, p.TextDocument.URI)
	s.check()
	return nil
}

// check has the documents checked soon.
func (s *server) check() {
	select {
	case s.changed <- struct{}{}:
	default: // it is already to come
	}
}

func (s *server) complete(req *jsonrpc2.Request) (any, error) {
	var p positionParams
	if err := params(req, &p); err != nil {
		return nil, err
	}
	list := completionList{Items: []completionItem{}}
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return list, nil
	}
	table := newTable(d.text)
	line, col := table.place(p.Position)
	c := plans.Complete(d.text, line, col, s.included(d)...)
	at := span{table.position(line, c.From), table.position(line, c.To)}
	for i, g := range c.Suggestions {
		list.Items = append(list.Items, item(i, g, at))
	}
	return list, nil
}

func (s *server) hover(req *jsonrpc2.Request) (any, error) {
	var p positionParams
	if err := params(req, &p); err != nil {
		return nil, err
	}
	d := s.docs[p.TextDocument.URI]
	if d == nil {
		return nil, nil
	}
	table := newTable(d.text)
	line, col := table.place(p.Position)
	h, ok := plans.Hover(d.text, line, col)
	if !ok {
		return nil, nil
	}
	return hoverResult{markup{"markdown", h.Text}, span{table.position(h.Line, h.From), table.position(h.Line, h.To)}}, nil
}
