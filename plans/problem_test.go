package plans

import "testing"

func TestProblemString(t *testing.T) {
	pos := Position{"plans/rank-load.yaml", 14, 13}
	for _, tt := range []struct {
		p    Problem
		want string
	}{
		{Problem{Pos: pos, Path: "stages[1].load.rate", What: "not a rate", Got: `"fast"`, Want: "a number per unit like 250/s"},
			`plans/rank-load.yaml:14:13: stages[1].load.rate: not a rate: got "fast", want a number per unit like 250/s`},
		{Problem{Pos: pos, Path: "stages[0].load.arival_rate", What: "unknown key", Hint: `did you mean "arrival_rate"?`},
			`plans/rank-load.yaml:14:13: stages[0].load.arival_rate: unknown key (did you mean "arrival_rate"?)`},
		{Problem{Pos: pos, What: "w", Want: "x"}, "plans/rank-load.yaml:14:13: w: want x"},
		{Problem{Pos: pos, What: "w", Got: "x", Hint: "h"}, "plans/rank-load.yaml:14:13: w: got x (h)"},
		{Problem{Pos: pos, What: "w", Warning: true, Path: "a"}, "plans/rank-load.yaml:14:13: warning: a: w"},
		{Problem{Pos: Position{File: "p"}, What: "cannot read"}, "p: cannot read"},
	} {
		if got := tt.p.String(); got != tt.want {
			t.Errorf("got  %s\nwant %s", got, tt.want)
		}
	}
}

func TestExcerpt(t *testing.T) {
	source := "\ufeffa: 1\r\nb: äö: x\n\tc:\td\n日本: x\u2028e: \x1b[31m\n" + string(make([]byte, 0)) + "last"
	for _, tt := range []struct {
		line, col int
		want      string
	}{
		{1, 4, "     1 | a: 1\n       |    ^\n"},
		{2, 6, "     2 | b: äö: x\n       |      ^\n"},
		{3, 5, "     3 | \tc:\td\n       | \t  \t^\n"},
		{4, 3, "     4 | 日本: x\n       |     ^\n"},
		{5, 5, "     5 | e: ·[31m\n       |     ^\n"},
		{6, 9, "     6 | last\n       |     ^\n"},
		{0, 1, ""}, {-1, 1, ""},
	} {
		p := Problem{Pos: Position{"p", tt.line, tt.col}}
		if lines := splitLines([]byte(source)); tt.line > 0 {
			p.Line = lines[tt.line-1]
		}
		if got := p.Excerpt(); got != tt.want {
			t.Errorf("excerpt at %d:%d\n%s\nwant\n%s", tt.line, tt.col, got, tt.want)
		}
	}
	long := make([]byte, 1000)
	for i := range long {
		long[i] = byte('0' + i%10)
	}
	got := (Problem{Pos: Position{"p", 1, 500}, Line: string(long)}).Excerpt()
	if len(got) > 300 || got[len(got)-2] != '^' {
		t.Errorf("excerpt of a long line: %q", got)
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"stages", "slo", "targets", "keep_alive", "max_in_flight"}
	for word, want := range map[string]string{
		"staegs": "stages", "stage": "stages", "slos": "slo", "sol": "slo", "keepalive": "keep_alive", "Max-In-Flight": "max_in_flight",
		"maxinflihgt": "max_in_flight", "x": "", "": "", "something": "", "ab": "",
	} {
		if got := nearest(word, known); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"abc", "", 3}, {"abc", "acb", 1}, {"kitten", "sitting", 3}, {"ü", "u", 1}} {
		if got := editDistance(tt.a, tt.b); got != tt.want {
			t.Errorf("editDistance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}
