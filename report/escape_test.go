package report

import (
	"encoding/csv"
	"encoding/xml"
	"errors"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// elements reads a page and returns how often each element occurs outside of charts, and every attribute that could
// lead out of the page.
func elements(t *testing.T, page string) (n map[string]int, links []string) {
	t.Helper()
	page = strings.Replace(page, pageJS, "", 1)
	d := xml.NewDecoder(strings.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	n = map[string]int{}
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			return n, links
		}
		if err != nil {
			t.Fatalf("the page cannot be read: %v", err)
		}
		if e, ok := token.(xml.StartElement); ok {
			n[e.Name.Local]++
			for _, a := range e.Attr {
				if slices.Contains([]string{"src", "href", "srcset", "action", "data", "poster", "style", "formaction", "ping"}, a.Name.Local) || strings.HasPrefix(a.Name.Local, "on") {
					links = append(links, a.Name.Local+"="+a.Value)
				}
			}
		}
	}
}

// C-27, C-29: no element and no outward reference comes from names of a plan.
func TestC27C29NothingFromNames(t *testing.T) {
	for name := range sampleRuns {
		page := printSample(t, name).html
		n, links := elements(t, page)
		for _, element := range []string{"img", "iframe", "object", "embed", "image", "form", "base", "uuid", "foreignObject"} {
			if n[element] > 0 {
				t.Errorf("%s: %d elements %q", name, n[element], element)
			}
		}
		if n["script"] != 1 || n["h1"] != 1 || n["main"] != 1 || n["title"] < 1 {
			t.Errorf("%s: %d script, %d h1, %d main, %d title, want one each (titles also in charts)", name, n["script"], n["h1"], n["main"], n["title"])
		}
		for _, link := range links {
			if !strings.HasPrefix(link, "href=#") && link != "href=data:," {
				t.Errorf("%s: leads out of the page: %s", name, link)
			}
		}
		if bad := regexp.MustCompile(`@import|url\(`).FindString(page); bad != "" {
			t.Errorf("%s: the page holds %q", name, bad)
		}
	}
}

func TestC27NamesStandLiterally(t *testing.T) {
	p := printSample(t, "hostile")
	page := plainText(p.html)
	for _, name := range hostileNames() {
		if !strings.Contains(page, name) {
			t.Errorf("the page does not show %q", name)
		}
	}
	if title := regexp.MustCompile(`<title>[^<]*</title>`).FindString(p.html); title != "<title>Fail: &lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;, perfplan report</title>" {
		t.Errorf("title = %s", title)
	}
	var suites junitSuites
	if err := xml.Unmarshal([]byte(p.junit), &suites); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(p.csv)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range hostileNames() {
		if got := suites.Suites[i].Name; got != name {
			t.Errorf("JUnit suite %d = %q, want %q", i, got, name)
		}
		if !slices.ContainsFunc(rows, func(row []string) bool { return row[0] == name }) {
			t.Errorf("CSV has no row of stage %q", name)
		}
	}
}

func TestC27MarkdownRows(t *testing.T) {
	p := printSample(t, "hostile")
	rows := 0
	for line := range strings.SplitSeq(p.markdown, "\n") {
		if !strings.HasPrefix(line, "|") {
			continue
		}
		rows++
		if got := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|"); got != 9 {
			t.Errorf("%d bars in the row, want 9: %s", got, line)
		}
	}
	if want := 2 + len(New(hostile()).SLOs); rows != want {
		t.Errorf("%d rows, want %d", rows, want)
	}
	outside := regexp.MustCompile("``.*?``|`[^`]*`").ReplaceAllString(p.markdown, "")
	if bad := regexp.MustCompile(`<(script|img|uuid|/script)|[^\\]@team`).FindString(outside); bad != "" {
		t.Errorf("Markdown holds %q", bad)
	}
}

func TestMarkdownEscapes(t *testing.T) {
	tests := []struct{ in, text, code string }{
		{"p99 < 150ms", "p99 &lt; 150ms", "`p99 < 150ms`"},
		{"a|b", `a\|b`, "`a\\|b`"},
		{"*x* _y_ [z](u)", `\*x\* \_y\_ \[z\](u)`, "`*x* _y_ [z](u)`"},
		{"`", "\\`", "`` ` ``"},
		{"a``b", "a\\`\\`b", "```a``b```"},
		{"a\nb", "a b", "`a b`"},
		{"@team", "&#64;team", "`@team`"},
		{"", "", "`  `"},
	}
	for _, test := range tests {
		if got := md(test.in); got != test.text {
			t.Errorf("md(%q) = %q, want %q", test.in, got, test.text)
		}
		if got := mdCode(test.in); got != test.code {
			t.Errorf("mdCode(%q) = %q, want %q", test.in, got, test.code)
		}
	}
}

// A name cannot steer the terminal, and no line is longer than asked for but by one long word.
func TestTextWidthAndControls(t *testing.T) {
	r := errorful()
	r.Plan.Name = "a\x1b[2Jb\rc"
	r.Reason = strings.Repeat("some words of a long reason ", 20)
	for _, width := range []int{60, 100} {
		var b strings.Builder
		if err := WriteText(&b, New(r), false, width); err != nil {
			t.Fatal(err)
		}
		if strings.ContainsAny(b.String(), "\x1b\r") {
			t.Errorf("control characters in %q", b.String())
		}
		if !strings.HasPrefix(b.String(), "✗ FAIL a\uFFFD[2Jb\uFFFDc") {
			t.Errorf("the verdict does not come first: %q", b.String()[:60])
		}
		for line := range strings.SplitSeq(b.String(), "\n") {
			table := strings.Contains(line, "(limit ") // columns are not wrapped
			if n := len([]rune(line)); n > width && !table {
				t.Errorf("width %d: %d columns: %s", width, n, line)
			}
		}
	}
	var plain, painted strings.Builder
	_ = WriteText(&plain, New(errorful()), false, 80)
	_ = WriteText(&painted, New(errorful()), true, 80)
	if !strings.Contains(painted.String(), "\x1b[1;31m✗ FAIL\x1b[0m") {
		t.Errorf("no colour: %q", painted.String()[:60])
	}
	if got := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(painted.String(), ""); got != plain.String() {
		t.Error("with colour the text says something else")
	}
}
