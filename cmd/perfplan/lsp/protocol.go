package lsp

import (
	"fmt"

	"github.com/perfplan/perfplan/plans"
)

// The parts of the protocol's structures that are used here, under their names in the specification or near ones.

type initializeResult struct {
	Capabilities capabilities `json:"capabilities"`
	ServerInfo   serverInfo   `json:"serverInfo"`
}

type capabilities struct {
	PositionEncoding   string            `json:"positionEncoding"`
	TextDocumentSync   syncOptions       `json:"textDocumentSync"`
	CompletionProvider completionOptions `json:"completionProvider"`
	HoverProvider      bool              `json:"hoverProvider"`
}

// fullText is TextDocumentSyncKind.Full: each change brings the whole text.
const fullText = 1

type syncOptions struct {
	OpenClose bool `json:"openClose"`
	Change    int  `json:"change"`
	Save      bool `json:"save"`
}

type completionOptions struct {
	TriggerCharacters []string `json:"triggerCharacters"`
}

type serverInfo struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

type textDocument struct {
	URI     string `json:"uri"`
	Version int    `json:"version"`
	Text    string `json:"text"`
}

// openParams are those of didOpen, didChange and didClose.
type openParams struct {
	TextDocument   textDocument `json:"textDocument"`
	ContentChanges []struct {
		Text string `json:"text"`
	} `json:"contentChanges"`
}

type positionParams struct {
	TextDocument textDocument `json:"textDocument"`
	Position     position     `json:"position"`
}

// A position is a place between two characters; both numbers count from 0, Character in units of UTF-16.
type position struct {
	Line      int `json:"line"`
	Character int `json:"character"`
}

// A span is the protocol's Range.
type span struct {
	Start position `json:"start"`
	End   position `json:"end"`
}

type publishParams struct {
	URI         string       `json:"uri"`
	Version     *int         `json:"version,omitempty"` // of an open document
	Diagnostics []diagnostic `json:"diagnostics"`
}

// The severities of diagnostics.
const (
	severityError   = 1
	severityWarning = 2
)

type diagnostic struct {
	Range    span   `json:"range"`
	Severity int    `json:"severity"`
	Source   string `json:"source"`
	Message  string `json:"message"`
}

type completionList struct {
	IsIncomplete bool             `json:"isIncomplete"`
	Items        []completionItem `json:"items"`
}

type completionItem struct {
	Label         string   `json:"label"`
	Kind          int      `json:"kind"`
	Detail        string   `json:"detail,omitempty"`
	Documentation *markup  `json:"documentation,omitempty"`
	SortText      string   `json:"sortText"`
	TextEdit      textEdit `json:"textEdit"`
}

type textEdit struct {
	Range   span   `json:"range"`
	NewText string `json:"newText"`
}

type markup struct {
	Kind  string `json:"kind"`
	Value string `json:"value"`
}

type hoverResult struct {
	Contents markup `json:"contents"`
	Range    span   `json:"range"`
}

// itemKinds are CompletionItemKind: Property, EnumMember, Reference and Value.
var itemKinds = map[plans.SuggestionKind]int{
	plans.KeySuggestion: 10, plans.WordSuggestion: 20, plans.NameSuggestion: 18, plans.ValueSuggestion: 12,
}

// item is the i-th suggestion, to be put in at a span.
func item(i int, s plans.Suggestion, at span) completionItem {
	it := completionItem{Label: s.Label, Kind: itemKinds[s.Kind], Detail: s.Detail, SortText: fmt.Sprintf("%03d", i), TextEdit: textEdit{at, s.Insert}}
	if s.Doc != "" {
		it.Documentation = &markup{"markdown", s.Doc}
	}
	return it
}
