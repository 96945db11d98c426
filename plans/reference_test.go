package plans

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"
)

const (
	referenceFile = "../docs/plan-reference.md"
	keysBegin     = "<!-- keys: written by go test ./plans -run TestReference -update -->\n"
	keysEnd       = "<!-- end of keys -->\n"
)

// TestReference compares the key tables of the reference page with the shapes.
func TestReference(t *testing.T) {
	b, err := os.ReadFile(referenceFile)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(b), keysBegin)
	got, tail, ok2 := strings.Cut(rest, keysEnd)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the keys", referenceFile)
	}
	var w strings.Builder
	writeReference(&w, root, "")
	if *update {
		if err := os.WriteFile(referenceFile, []byte(head+keysBegin+w.String()+keysEnd+tail), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if got != w.String() {
		t.Errorf("%s is not what the shapes say: run go test ./plans -run TestReference -update", referenceFile)
	}
}

// writeReference writes a table for a map and for all maps in it.
func writeReference(w *strings.Builder, s *shape, path string) {
	if s.keys == nil {
		switch {
		case s.each != nil:
			writeReference(w, s.each, path+".NAME")
		case s.list != nil:
			writeReference(w, s.list, path+"[]")
		}
		return
	}
	title := "The plan"
	if path != "" {
		title = "`" + strings.TrimPrefix(path, ".") + "`"
	}
	fmt.Fprintf(w, "\n### %s\n\n", title)
	if s.one != nil {
		fmt.Fprintf(w, "Exactly one of `%s`.\n\n", strings.Join(s.one, "`, `"))
	}
	w.WriteString("| key | value | default | meaning | example |\n|---|---|---|---|---|\n")
	for _, k := range s.keys {
		fmt.Fprintf(w, "| `%s` | %s | %s | %s | `%s` |\n", k.name, kindWord(k.shape), defaultWord(k), k.doc, k.example)
	}
	for _, k := range s.keys {
		writeReference(w, k.shape, path+"."+k.name)
	}
}

// kindWord is what stands behind a key, shorter than messages say it.
func kindWord(s *shape) string {
	switch s.scalar {
	case durationScalar:
		if strings.HasPrefix(s.rule, "gte=0") {
			return "duration, also `0s`"
		}
		return "duration"
	case rateScalar:
		return "rate"
	case commandScalar, startScalar:
		return "command"
	case integerScalar:
		if s.choices() != nil {
			break
		}
		text := strings.TrimPrefix(s.wantRange(), "a ")
		return strings.TrimSuffix(text, " from 0 to 9007199254740991")
	}
	if words := s.choices(); words != nil {
		return "`" + strings.Join(words, "` or `") + "`"
	}
	text, _, _ := strings.Cut(s.noun, ", such as ")
	return strings.TrimPrefix(strings.TrimPrefix(text, "a "), "an ")
}

func defaultWord(k key) string {
	switch {
	case k.required:
		return "required"
	case k.told != "":
		return k.told
	case k.def == "{}":
		return "see below"
	case k.def != "":
		return "`" + k.def + "`"
	}
	return "none"
}

// allKeys gives every key of a shape and those below it.
func allKeys(s *shape, path string, each func(path string, k key)) {
	for _, k := range s.keys {
		each(path+"."+k.name, k)
		allKeys(k.shape, path+"."+k.name, each)
	}
	if s.each != nil {
		allKeys(s.each, path+".NAME", each)
	}
	if s.list != nil {
		allKeys(s.list, path+"[]", each)
	}
}

// Every key says what it means and has an example that reads without a fault, as its default does.
func TestShapes(t *testing.T) {
	n := 0
	allKeys(root, "", func(path string, k key) {
		n++
		if k.doc == "" || !strings.HasSuffix(k.doc, ".") {
			t.Errorf("%s: doc %q", path, k.doc)
		}
		if k.required && (k.def != "" || k.told != "") {
			t.Errorf("%s: required and with a default", path)
		}
		for _, text := range []string{k.example, k.def} {
			if text == "" && k.def == "" && k.example != "" {
				continue
			}
			l := newLoader(newSource("plan.yaml", ".", []byte(text)), Options{Env: func(string) (string, bool) { return "12345678", true }})
			l.secrets = map[string][]piece{"token": {{text: "12345678"}}, "password": {{text: "12345678"}}}
			var doc yaml.Node
			if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) != 1 {
				if text != "" || k.example == "" {
					t.Errorf("%s: %q: %v", path, text, err)
				}
				continue
			}
			l.read(doc.Content[0], k.shape, "x")
			if len(l.problems) > 0 {
				t.Errorf("%s: %q: %v", path, text, l.problems)
			}
		}
		for _, b := range k.shape.bounds() {
			if b.param == "" {
				t.Errorf("%s: rule %q", path, k.shape.rule)
			}
		}
	})
	if n < 60 {
		t.Errorf("only %d keys", n)
	}
}
