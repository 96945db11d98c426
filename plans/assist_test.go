package plans

import (
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// cursorIn takes the mark ‸ out of a text and gives its place.
func cursorIn(t *testing.T, marked string) (text string, line, col int) {
	t.Helper()
	before, after, ok := strings.Cut(marked, "‸")
	if !ok {
		t.Fatalf("no ‸ in %q", marked)
	}
	return before + after, strings.Count(before, "\n") + 1, utf8.RuneCountInString(before[strings.LastIndexByte(before, '\n')+1:]) + 1
}

func labels(c Completion) []string {
	var all []string
	for _, s := range c.Suggestions {
		label, _, _ := strings.Cut(s.Label, " <")
		all = append(all, label)
	}
	return all
}

func TestComplete(t *testing.T) {
	for _, tt := range []struct {
		marked string
		want   string // the first labels
		not    string // labels that must not be there
	}{
		// Keys, at every level; required ones first, given ones not again.
		{"‸", "version name stages description include", ""},
		{"version: 1\n‸", "name stages description", "version"},
		{"version: 1\nna‸\nstages: []\n", "name description", "version stages"},
		{"version: 1\nna‸me: a\n", "name stages", "version"},
		{"targets:\n  shop:\n    ‸", "url unix", "name"},
		{"targets:\n  shop:\n    url: x\n    tls:\n      ‸\n    dir: .\n", "ca cert key", "url dir"},
		{"targets:\n  shop:\n    url: x\n    ‸\n    dir: .\n", "unix connect_to", "url dir ca"},
		{"targets:\n  shop:\n    url: x\n  ‸", "", "url"},
		{"requests:\n  r:\n    expect:\n      json:\n        $.items:\n          ‸", "exists equals length", ""},
		{"stages:\n  - ‸", "name microbenchmark warmup load slo", ""},
		{"stages:\n  ‸", "name microbenchmark warmup load slo", ""},
		{"stages:\n  - name: a\n  ‸", "name microbenchmark", ""},
		{"stages:\n- name: a\n  ‸", "microbenchmark warmup load slo", "name"},
		{"stages:\n  - name: a\n    load:\n      rate: 5/s\n    ‸\n", "slo", "name load warmup microbenchmark rate"},
		{"stages:\n  - name: a\n    load:\n      rate: 5/s\n      ‸\n", "request arrivals for", "rate name"},
		{"stages:\n  - name: a\n    load:\n      ra‸te: 5/s\n", "request arrivals rate", "name"},
		{"stages:\n  - load:\n      profile:\n        - ramp: {from: 1/s, ‸", "to over", "from"},
		{"stages:\n  - load:\n      profile:\n        - ramp: {‸, to: 1/s}\n", "from over", "to"},
		{"stages:\n  - load: {rate: 5/s, f‸}\n    name: x\n", "request arrivals for", "rate name"},
		{"stages: [{name: x, load: {\n  ‸", "request arrivals rate", "name"},
		{"stages: [{name: x, ‸}, {name: y}]\n", "microbenchmark warmup load slo", "name"},
		{"{version: 1, ‸", "name stages", "version"},
		{"x-a: &base {rate: 5/s, for: 1m}\nstages:\n  - load:\n      <<: *base\n      ‸", "request arrivals profile", "rate for"},

		// Values: words, true and false, names, defaults and examples.
		{"stages:\n  - load:\n      arrivals: ‸", "uniform poisson", ""},
		{"stages:\n  - load:\n      arrivals: po‸\n", "uniform poisson", ""},
		{"stages:\n  - load: {arrivals: ‸}", "uniform poisson", ""},
		{"stages:\n  - load: {rate: 1/s, at_max: w‸", "wait drop", ""},
		{"targets:\n  a:\n    tls: {verify: ‸", "true false", ""},
		{"targets:\n  a:\n    tls:\n      resume: f‸", "true false", ""},
		{"requests:\n  home: {path: /}\n  price: {path: /p}\nstages:\n  - load:\n      request: ‸", "home price", ""},
		{"stages:\n  - warmup: {request: ‸}\nrequests: {home: {path: /}, ä: {}}\n", "home ä", ""},
		{"targets: {shop: {}, bank: {}}\nrequests:\n  a:\n    target: sh‸", "shop bank", ""},
		{"stages:\n  - microbenchmark:\n      warmup: ‸", "auto none 2s", ""},
		{"slo:\n  - ‸", "p99 error_rate cpu(shop)", ""},
		{"slo:\n  - p‸\n", "p99 error_rate", ""},
		{"slo: [p99 < 1s, ‸]\n", "p99 error_rate", ""},
		{"stages:\n  - load:\n      for: ‸", "1m", ""},
		{"version: ‸", "1", ""},

		// Nothing in comments, texts of several lines, quotes, names that the author chooses, unknown keys.
		{"# ‸", "", ""},
		{"version: 1 # ‸", "", ""},
		{"requests:\n  r:\n    body: |\n      ‸\n", "", ""},
		{"requests:\n  r:\n    body: |\n      a: ‸\n    me‸\n", "", ""},
		{"name: \"‸\n", "", ""},
		{"vars:\n  ‸", "", ""},
		{"nothing:\n  ‸", "", ""},
		{"description: some text\n  ‸", "", ""},
		{"version:‸", "", ""},
		{"x-a:\n  ‸", "", ""},
	} {
		marked := tt.marked
		if strings.Count(marked, "‸") > 1 {
			marked = strings.Replace(marked, "‸", "", 1)
			tt.want = "method" // behind the text of several lines there are keys again
		}
		text, line, col := cursorIn(t, marked)
		got := labels(Complete(text, line, col))
		if tt.want == "method" {
			if !slices.Contains(got, "method") || slices.Contains(got, "body") {
				t.Errorf("Complete(%q) = %q, want method, not body", marked, got)
			}
			continue
		}
		want := strings.Fields(tt.want)
		if len(got) < len(want) || !slices.Equal(inOrder(got, want), want) || tt.want == "" && len(got) > 0 {
			t.Errorf("Complete(%q) = %q, want %q in this order", marked, got, want)
		}
		for _, not := range strings.Fields(tt.not) {
			if slices.Contains(got, not) {
				t.Errorf("Complete(%q) offers %q: %q", marked, not, got)
			}
		}
	}
}

// inOrder are those of got that are wanted.
func inOrder(got, want []string) []string {
	return slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !slices.Contains(want, s) })
}

// What takes the place of the word, and of which columns.
func TestCompleteInsert(t *testing.T) {
	for _, tt := range []struct {
		marked, label, want string
	}{
		{"ver‸", "version", "version: "},
		{"ver‸: 1", "version", "version: 1"},
		{"ver‸sion: 1", "version", "version: 1"},
		{"stag‸", "stages", "stages:"},
		{"stages:\n  ‸", "name", "stages:\n  - name: "},
		{"stages:\n  - na‸", "name", "stages:\n  - name: "},
		{"stages:\n  - name: é日𝄞\n    lo‸", "load", "stages:\n  - name: é日𝄞\n    load:"},
		{"stages: [{name: é日𝄞, lo‸", "load", "stages: [{name: é日𝄞, load: "},
		{"stages: [{name: é日𝄞, load: {arrivals: po‸is}}]", "poisson", "stages: [{name: é日𝄞, load: {arrivals: poisson}}]"},
		{"stages:\n  - load:\n      arrivals: ‸", "poisson", "stages:\n  - load:\n      arrivals: poisson"},
		{"stages:\n  - microbenchmark:\n      sizes: ‸", "{from: 1000, to: 10000, step: 1000}", "stages:\n  - microbenchmark:\n      sizes: {from: 1000, to: 10000, step: 1000}"},
	} {
		text, line, col := cursorIn(t, tt.marked)
		c := Complete(text, line, col)
		i := slices.IndexFunc(c.Suggestions, func(s Suggestion) bool { return s.Label == tt.label })
		if i < 0 {
			t.Errorf("Complete(%q) = %q, want %q", tt.marked, labels(c), tt.label)
			continue
		}
		lines := strings.Split(text, "\n")
		runes := []rune(lines[line-1])
		lines[line-1] = string(runes[:c.From-1]) + c.Suggestions[i].Insert + string(runes[c.To-1:])
		if got := strings.Join(lines, "\n"); got != tt.want {
			t.Errorf("Complete(%q) makes %q, want %q", tt.marked, got, tt.want)
		}
	}
}

// Every key has its meaning and an example in its suggestion, and required ones say so.
func TestCompleteDocs(t *testing.T) {
	for _, s := range Complete("", 1, 1).Suggestions {
		k, _ := root.find(s.Label)
		if !strings.HasPrefix(s.Doc, k.summary()) || !strings.Contains(s.Doc, "Example: `"+s.Label+": ") || s.Kind != KeySuggestion {
			t.Errorf("%+v", s)
		}
		if s.Required != k.required || k.required != strings.Contains(s.Detail, "required") {
			t.Errorf("%s: required %v, detail %q, want %v", s.Label, s.Required, s.Detail, k.required)
		}
	}
}

// Names of targets and requests come from included files, too.
func TestCompleteIncluded(t *testing.T) {
	text, line, col := cursorIn(t, "include: [\"a.yaml\", b.yaml]\nrequests: {home: {target: ‸}}\ntargets: {s: {}}\n")
	if got := labels(Complete(text, line, col, "targets:\n  t: {url: x}\n  s:\n", "version: 1\n")); !slices.Equal(got, []string{"s", "t"}) {
		t.Errorf("got %q, want s and t", got)
	}
	for text, want := range map[string][]string{
		text: {"a.yaml", "b.yaml"}, "include: a b.yaml # x\n": {"a b.yaml"}, "include:\n  - a.yaml\n  - 'b.yaml'\nx: {": {"a.yaml", "b.yaml"}, "include:\n": nil, "x: {include: a}": nil,
	} {
		if got := Includes(text); !slices.Equal(got, want) {
			t.Errorf("Includes(%q) = %q, want %q", text, got, want)
		}
	}
}

// What is suggested as an example can be written.
func TestLikeValues(t *testing.T) {
	allKeys(root, "", func(path string, k key) {
		for _, s := range []*shape{k.shape, k.shape.list} {
			if s == nil {
				continue
			}
			for _, text := range s.like {
				if _, err := ParseSLO(text); k.name == "slo" && err != nil {
					t.Errorf("%s: %q: %v", path, text, err)
				}
				if _, what, _ := readDuration(text); k.name == "warmup" && what != "" && text != "auto" && text != "none" {
					t.Errorf("%s: %q", path, text)
				}
			}
		}
	})
}

func TestHover(t *testing.T) {
	for _, tt := range []struct{ marked, want, about string }{
		{"ver‸sion: 1\n", "Version of the plan schema.", "version"},
		{"version: ‸1\n", "Version of the plan schema.", "1"},
		{"stages:\n  - name: é日𝄞\n    load: {rate: 5/s, arri‸vals: poisson}\n", "`uniform` is evenly spaced", "arrivals"},
		{"stages:\n  - name: é\n    load: {rate: 5/s, arrivals: poi‸sson}\n", "Default: `uniform`, unless", "poisson"},
		{"stages: [{name: é日𝄞, lo‸ad: {", "Offer requests at a rate", "load"},
		{"stages:\n  - name: a\n    load:\n      max_in_fl‸ight\n", "", ""},
		{"stages:\n  - name: a\n    load:\n      max_in_fl‸ight: 5", "Most requests under way at once.", "max_in_flight"},
		{"slo:\n  - p99 ‸< 150ms # fast\n", "Assertions that every load stage has to meet.", "p99 < 150ms"},
		{"slo: [p99 < 150ms, error_ra‸te < 1%]\n", "Assertions that every load stage", "error_rate < 1%"},
		{"targets:\n  sh‸op:\n    url: x\n", "", ""},
		{"# ver‸sion: 1\n", "", ""},
		{"nothing‸: 1\n", "", ""},
		{"version: 1 ‸ # x\n", "", ""},
	} {
		text, line, col := cursorIn(t, tt.marked)
		h, ok := Hover(text, line, col)
		if ok != (tt.want != "") || !strings.Contains(h.Text, tt.want) {
			t.Errorf("Hover(%q) = %+v, %v, want %q", tt.marked, h, ok, tt.want)
			continue
		}
		if !ok {
			continue
		}
		if about := string([]rune(strings.Split(text, "\n")[line-1])[h.From-1 : h.To-1]); h.Line != line || about != tt.about {
			t.Errorf("Hover(%q) is about %q in line %d, want %q", tt.marked, about, h.Line, tt.about)
		}
	}
}

// Every key of a shipped plan has its meaning, wherever it stands.
func TestHoverShippedPlan(t *testing.T) {
	text, err := os.ReadFile("predictor.yaml")
	if err != nil {
		t.Fatal(err)
	}
	l := newLoader(newSource("predictor.yaml", ".", text), Options{})
	top := l.read(l.parse(), root, "")
	n := 0
	var visit func(it *item)
	visit = func(it *item) {
		for _, e := range slices.Concat(it.entries, it.list) {
			if _, ok := it.shape.find(e.name); ok && e.given {
				n++
				h, ok := Hover(string(text), e.keyPos.Line, e.keyPos.Col)
				if !ok || !strings.HasPrefix(h.Text, "**"+e.name+"** – ") || h.From != e.keyPos.Col {
					t.Errorf("%s at %v: %+v, %v", e.path, e.keyPos, h, ok)
				}
			}
			visit(e)
		}
	}
	visit(top)
	if n < 50 {
		t.Errorf("only %d keys", n)
	}
}

func TestIsPart(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "targets: {": true, "# version: 1\nrequests:\n": true, "version: 1": false, "stages:": false, "{stages: [": false, "x:\n  version: 1": true, "include: a.yaml": false,
	} {
		if got := IsPart(text); got != want {
			t.Errorf("IsPart(%q) = %v, want %v", text, got, want)
		}
	}
	if ps := CheckPart("requests: {a: [}", "part.yaml"); len(ps) != 1 || ps[0].Pos.Line != 1 {
		t.Errorf("got %v, want one problem", ps)
	}
	if ps := CheckPart("requests: {a: {path: \"/${not.here}\"}}", "part.yaml"); len(ps) != 0 {
		t.Errorf("got %v, want none", ps)
	}
}

// Whatever is being written, at every place of it there is an answer, and the columns are in the line.
func FuzzComplete(f *testing.F) {
	for _, text := range []string{"", "a: {b: [", "stages:\n  - load: {rate: 5/s,\n}\n - x", "- - - {}]]", "{}\n{[\"a", "a: |\n b\nc: &x\n<<: *x", "slo: [p99 < 1s, \"${a}\"]", "'", "{a: b: c}}", "\t- :\n:"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 300 {
			return
		}
		for i, line := range splitLines([]byte(text)) {
			n := utf8.RuneCountInString(line)
			for col := 1; col <= n+2; col++ {
				if c := Complete(text, i+1, col); len(c.Suggestions) > 0 && (c.From < 1 || c.To < c.From || c.To > n+1) {
					t.Errorf("Complete(%q, %d, %d) = %d to %d", text, i+1, col, c.From, c.To)
				}
				if h, ok := Hover(text, i+1, col); ok && (h.From < 1 || h.To <= h.From || h.To > n+1) {
					t.Errorf("Hover(%q, %d, %d) = %+v", text, i+1, col, h)
				}
			}
		}
	})
}
