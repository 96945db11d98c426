package lsp

import (
	"testing"
	"unicode/utf8"
)

// Places of a plan and of the editor, there and back: characters of one, two, three and four bytes, all line breaks.
func TestTable(t *testing.T) {
	for _, tt := range []struct {
		text      string
		line, col int
		want      position
	}{
		{"", 1, 1, position{0, 0}},
		{"abc", 1, 3, position{0, 2}},
		{"abc\n", 2, 1, position{1, 0}},
		{"é日𝄞x", 1, 4, position{0, 4}},
		{"é日𝄞x", 1, 3, position{0, 2}},
		{"a\r\nb𝄞c\r\nd", 2, 3, position{1, 3}},
		{"a\r\nb𝄞c\r\nd", 3, 2, position{2, 1}},
		{"a\rb", 2, 2, position{1, 1}},
		{"\ufeffab\ncd", 1, 2, position{0, 2}}, // the mark is a character to the editor
		{"\ufeffab\ncd", 2, 2, position{1, 1}},
		{"a\u2028bc\nd", 2, 2, position{0, 3}}, // a line of YAML within one of the editor
		{"a\u2028bc\nd", 3, 1, position{1, 0}},
		{"a\u0085\u2029b", 3, 1, position{0, 3}},
	} {
		table := newTable(tt.text)
		if got := table.position(tt.line, tt.col); got != tt.want {
			t.Errorf("position(%d, %d) of %q = %v, want %v", tt.line, tt.col, tt.text, got, tt.want)
		}
		if line, col := table.place(tt.want); line != tt.line || col != tt.col {
			t.Errorf("place(%v) of %q = %d, %d, want %d, %d", tt.want, tt.text, line, col, tt.line, tt.col)
		}
	}
}

// Places outside of a text become the nearest inside.
func TestTableOutside(t *testing.T) {
	table := newTable("ab\ncd𝄞\r\n")
	for _, tt := range []struct {
		line, col int
		want      position
	}{{0, 0, position{0, 0}}, {1, 99, position{0, 2}}, {2, 99, position{1, 4}}, {99, 99, position{2, 0}}, {-5, -5, position{0, 0}}} {
		if got := table.position(tt.line, tt.col); got != tt.want {
			t.Errorf("position(%d, %d) = %v, want %v", tt.line, tt.col, got, tt.want)
		}
	}
	for _, tt := range []struct {
		p         position
		line, col int
	}{{position{-1, -1}, 1, 1}, {position{0, 99}, 1, 3}, {position{1, 3}, 2, 3}, {position{1, 99}, 2, 4}, {position{99, 9}, 3, 1}} {
		if line, col := table.place(tt.p); line != tt.line || col != tt.col {
			t.Errorf("place(%v) = %d, %d, want %d, %d", tt.p, line, col, tt.line, tt.col)
		}
	}
}

func TestWordEnd(t *testing.T) {
	for _, tt := range []struct {
		line string
		col  int
		word string
	}{
		{"  rat: 50/s", 3, "rat"}, {"  rat: 50/s", 8, "50/s"}, {"url: http://a:1", 6, "http://a:1"}, {"a: {b: é日𝄞, c: 1}", 8, "é日𝄞"},
		{"a: [x]", 5, "x"}, {`a: "b c" # d`, 4, `"b c"`}, {`a: "b \" c", d`, 4, `"b \" c"`}, {"a: 'b", 4, "'b"}, {"abc:", 1, "abc"},
	} {
		end := wordEnd(tt.line, tt.col)
		if got := string([]rune(tt.line)[tt.col-1 : min(end-1, utf8.RuneCountInString(tt.line))]); got != tt.word {
			t.Errorf("wordEnd(%q, %d) = %d, the word %q, want %q", tt.line, tt.col, end, got, tt.word)
		}
	}
	if got := wordEnd("a", 7); got != 8 {
		t.Errorf("wordEnd behind the line = %d, want 8", got)
	}
}

func TestFileURI(t *testing.T) {
	for path, uri := range map[string]string{
		"/plans/a.yaml":         "file:///plans/a.yaml",
		"/my plans/100%/ä#.yml": "file:///my%20plans/100%25/%C3%A4%23.yml",
	} {
		if got := fileURI(path); got != uri {
			t.Errorf("fileURI(%q) = %q, want %q", path, got, uri)
		}
		if got := filePath(uri); got != path {
			t.Errorf("filePath(%q) = %q, want %q", uri, got, path)
		}
	}
	for uri, want := range map[string]string{"untitled:Untitled-1": "", "http://a/b": "", "%": "", "": "", "file:///c%3A/plans/a.yaml": "c:/plans/a.yaml"} {
		if got := filePath(uri); got != want {
			t.Errorf("filePath(%q) = %q, want %q", uri, got, want)
		}
	}
}
