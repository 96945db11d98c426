package lsp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/perfplan/perfplan/plans"
)

// The bounds of what is read for one completion: files, and bytes of each.
const (
	maxIncluded = 100
	maxFile     = 1 << 20
)

// included are the texts of the files that a document includes, and of those that these include: as they are in the editor
// where they are open. What cannot be read is left out: diagnostics tell of it.
func (s *server) included(d *document) []string {
	var texts []string
	open := map[string]string{}
	for _, o := range s.docs {
		open[o.path] = o.text
	}
	type file struct{ dir, text string }
	seen := map[string]bool{d.path: true}
	for todo := []file{{d.dir, d.text}}; len(todo) > 0; todo = todo[1:] {
		for _, path := range plans.Includes(todo[0].text) {
			if !filepath.IsAbs(path) {
				path = filepath.Join(todo[0].dir, path)
			}
			if seen[path] || len(seen) > maxIncluded {
				continue
			}
			seen[path] = true
			text, ok := open[path]
			if !ok {
				info, err := os.Stat(path)
				if err != nil || !info.Mode().IsRegular() || info.Size() > maxFile {
					continue
				}
				b, err := os.ReadFile(path)
				if err != nil {
					continue
				}
				text = string(b)
			}
			texts = append(texts, text)
			todo = append(todo, file{filepath.Dir(path), text})
		}
	}
	return texts
}

// A document is a plan, or a part of one, that is open in the editor. It does not change.
type document struct {
	uri     string
	path    string // of the file; the URI for one that is no file
	dir     string // where relative paths in it start
	text    string
	version int
}

func newDocument(uri string) *document {
	d := &document{uri: uri, path: filePath(uri)}
	d.dir = filepath.Dir(d.path)
	if d.path == "" { // not saved yet: what it includes is looked for in the current folder
		d.path, d.dir = uri, "."
	}
	return d
}

// published is what the editor was told of a document or file.
type published struct {
	version     *int
	diagnostics []byte // as JSON
}

// checkChanges checks all documents whenever one has changed: what is wrong with a plan may come from a file that it
// includes. Changes that come meanwhile are checked together.
func (s *server) checkChanges(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.changed:
		}
		s.mu.Lock()
		docs := maps.Clone(s.docs)
		s.mu.Unlock()
		if err := s.publish(ctx, docs, diagnose(docs, s.options.Env)); err != nil {
			return // the connection is gone, which ends the server
		}
	}
}

// publish tells the editor what is new, and takes back what is no longer so.
func (s *server) publish(ctx context.Context, docs map[string]*document, found map[string][]diagnostic) error {
	for uri := range s.published {
		if found[uri] == nil {
			found[uri] = []diagnostic{}
		}
	}
	for _, uri := range slices.Sorted(maps.Keys(found)) {
		p := publishParams{URI: uri, Diagnostics: found[uri]}
		if d := docs[uri]; d != nil {
			p.Version = &d.version
		}
		text, err := json.Marshal(p.Diagnostics)
		if err != nil {
			return err
		}
		last, known := s.published[uri]
		if known && bytes.Equal(last.diagnostics, text) && (p.Version == nil || last.version != nil && *last.version == *p.Version) {
			continue
		}
		if err := s.conn.Notify(ctx, "textDocument/publishDiagnostics", p); err != nil {
			return err
		}
		s.published[uri] = published{p.Version, text}
		if docs[uri] == nil && len(p.Diagnostics) == 0 {
			delete(s.published, uri)
		}
	}
	return nil
}

// diagnose gives what is wrong with documents, by URI: those of the documents, and of the files that they include.
func diagnose(docs map[string]*document, env func(string) (string, bool)) map[string][]diagnostic {
	unsaved, byPath := map[string][]byte{}, map[string]*document{}
	for _, d := range docs {
		unsaved[d.path], byPath[d.path] = []byte(d.text), d
	}
	found := map[string][]diagnostic{}
	tables := map[*document]*table{}
	for _, uri := range slices.Sorted(maps.Keys(docs)) {
		if found[uri] == nil {
			found[uri] = []diagnostic{}
		}
		for _, p := range docs[uri].problems(plans.Options{Env: env, Unsaved: unsaved}) {
			at, where := byPath[p.Pos.File], ""
			if at == nil {
				where = fileURI(p.Pos.File)
			} else {
				where = at.uri
				if tables[at] == nil {
					tables[at] = newTable(at.text)
				}
			}
			if d := newDiagnostic(p, tables[at]); !slices.Contains(found[where], d) {
				found[where] = append(found[where], d)
			}
		}
	}
	return found
}

// problems are those that "perfplan validate" tells, of the text as it is in the editor. Of a part of a plan only its form is
// known; the rest is told by the plans that include it.
func (d *document) problems(o plans.Options) plans.Problems {
	if plans.IsPart(d.text) {
		return plans.CheckPart(d.text, d.path)
	}
	p, err := plans.Read(strings.NewReader(d.text), d.path, d.dir, o)
	if err == nil {
		return p.Warnings
	}
	ps, _ := errors.AsType[plans.Problems](err)
	return ps
}

// newDiagnostic is a problem for the editor: from its place to the end of the word. of has the lines of its document, nil for
// a file that is not open.
func newDiagnostic(p plans.Problem, of *table) diagnostic {
	d := diagnostic{Severity: severityError, Source: "perfplan", Message: p.Message()}
	if p.Warning {
		d.Severity = severityWarning
	}
	if p.Pos.Line < 1 {
		return d
	}
	line, up := p.Pos.Line, 0
	if of == nil {
		of, line, up = newTable(p.Line), 1, p.Pos.Line-1
	}
	d.Range = span{of.position(line, p.Pos.Col), of.position(line, wordEnd(p.Line, p.Pos.Col))}
	d.Range.Start.Line += up
	d.Range.End.Line += up
	return d
}
