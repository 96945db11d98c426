package plans

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/tools/txtar"
	"gopkg.in/yaml.v3"
)

func compiledSchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("plan.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("plan.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// asJSON is what an editor makes of a plan: keys are texts, dates too.
func asJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k, e := range v {
			v[k] = asJSON(e)
		}
	case map[any]any:
		m := map[string]any{}
		for k, e := range v {
			m[fmt.Sprint(k)] = asJSON(e)
		}
		return m
	case []any:
		for i, e := range v {
			v[i] = asJSON(e)
		}
	case time.Time:
		return v.Format(time.DateOnly)
	}
	return v
}

func validate(t *testing.T, s *jsonschema.Schema, text string) error {
	t.Helper()
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return s.Validate(asJSON(v))
}

// Every good plan of the golden files, as written and as the effective plan, is valid for editors.
func TestSchemaTakesGoodPlans(t *testing.T) {
	s := compiledSchema(t)
	files, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	good := 0
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p, err := Read(strings.NewReader(goldenPlan(a)), "plan.yaml", unpack(t, a), goldenOptions(t, a))
		if err != nil {
			continue
		}
		good++
		if err := validate(t, s, goldenPlan(a)); err != nil {
			t.Errorf("%s: %v", file, err)
		}
		if err := validate(t, s, string(p.YAML())); err != nil {
			t.Errorf("the effective plan of %s: %v", file, err)
		}
	}
	if good < 20 {
		t.Errorf("only %d good plans", good)
	}
}

// What has the wrong form is marked by editors.
func TestSchemaRefuses(t *testing.T) {
	s := compiledSchema(t)
	if err := validate(t, s, goodHead+goodRest); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ name, old, new string }{
		{"unknown key", "name: a", "nam: a"},
		{"unknown key in a stage", "{name: one, load", "{name: one, slos: [], load"},
		{"unknown key in a load", "{rate: 100/s", "{rat: 1, rate: 100/s"},
		{"missing version", "version: 1\n", ""},
		{"other version", "version: 1", "version: 2"},
		{"no stages", "stages: [{name: one, load: {rate: 100/s, for: 10s}}]", "stages: []"},
		{"stage without a name", "name: one, ", ""},
		{"stage without work", ", load: {rate: 100/s, for: 10s}", ""},
		{"stage with two works", "load: {", "warmup: {rate: 1/s}, load: {"},
		{"rate without a unit", "rate: 100/s", "rate: 100"},
		{"rate of the wrong unit", "rate: 100/s", "rate: 100/d"},
		{"duration without a unit", "for: 10s", "for: 10"},
		{"wrong arrivals", "for: 10s", "for: 10s, arrivals: random"},
		{"number out of range", "for: 10s", "for: 10s, max_in_flight: 0"},
		{"fraction for a whole number", "for: 10s", "for: 10s, max_in_flight: 1.5"},
		{"text for true", "for: 10s", "for: 10s, keep_alive: maybe"},
		{"list for a map", "requests: {r: {path: /}}", "requests: [{path: /}]"},
		{"text for a map", "load: {rate: 100/s, for: 10s}", "load: 100/s"},
		{"name of a target", "targets: {s:", "targets: {S s:"},
		{"empty url", "url: \"http://127.0.0.1:8080\"", "url: []"},
		{"null", "path: /", "path: null"},
		{"map for text", "path: /", "path: {a: 1}"},
		{"reference without points", "load: {rate: 100/s, for: 10s}", "microbenchmark: {subject: {command: x}, sizes: [1], reference: {name: x}}"},
		{"size that is none", "load: {rate: 100/s, for: 10s}", "microbenchmark: {subject: {command: x}, sizes: [0]}"},
		{"segment with two kinds", "rate: 100/s, for: 10s", "profile: [{hold: {rate: 1/s, for: 1s}, ramp: {from: 1/s, to: 2/s, over: 1s}}]"},
	} {
		text := strings.Replace(goodHead+goodRest, tt.old, tt.new, 1)
		if text == goodHead+goodRest {
			t.Fatalf("%s changes nothing", tt.name)
		}
		if err := validate(t, s, text); err == nil {
			t.Errorf("%s: the schema takes it", tt.name)
		}
		if _, err := Read(strings.NewReader(text), "plan.yaml", ".", Options{}); err == nil {
			t.Errorf("%s: Read takes it", tt.name)
		}
	}
}

// schemaFile is the schema that the shipped plans name in their first line.
const schemaFile = "schema.json"

// The committed schema is what "perfplan schema" prints.
func TestSchemaFile(t *testing.T) {
	want := Schema()
	if again := Schema(); string(again) != string(want) {
		t.Fatal("two calls give two texts")
	}
	if *update {
		if err := os.WriteFile(schemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	got, err := os.ReadFile(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != string(want) {
		t.Errorf("plans/%s is not what the shapes say: run go test ./plans -run TestSchemaFile -update", schemaFile)
	}
}

// Each shipped plan names the schema in its first line, by a path that leads to it from the plan's folder.
func TestPlansNameSchema(t *testing.T) {
	schema, err := os.Stat(schemaFile)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, pattern := range []string{"*.yaml", "../examples/*/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			n++
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			first, _, _ := strings.Cut(string(text), "\n")
			path, ok := strings.CutPrefix(first, "# yaml-language-server: $schema=")
			if !ok {
				t.Errorf("%s: first line %q, want the one that names its schema", file, first)
				continue
			}
			if info, err := os.Stat(filepath.Join(filepath.Dir(file), path)); err != nil || !os.SameFile(info, schema) {
				t.Errorf("%s: %q does not lead to plans/%s", file, path, schemaFile)
			}
			if err := validate(t, compiledSchema(t), string(text)); err != nil {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if n < 5 {
		t.Errorf("only %d plans", n)
	}
}

// Every key of the schema says what it means, and its examples are valid where they stand.
func TestSchemaDocuments(t *testing.T) {
	var doc any
	if err := json.Unmarshal(Schema(), &doc); err != nil {
		t.Fatal(err)
	}
	n := 0
	var visit func(path string, v any)
	visit = func(path string, v any) {
		switch v := v.(type) {
		case []any:
			for i, e := range v {
				visit(fmt.Sprintf("%s/%d", path, i), e)
			}
		case map[string]any:
			properties, _ := v["properties"].(map[string]any)
			for name, p := range properties {
				n++
				checkDocumented(t, path+"/properties/"+name, p)
			}
			for name, e := range v {
				if name != "examples" {
					visit(path+"/"+name, e)
				}
			}
		}
	}
	visit("", doc)
	if n < 100 {
		t.Errorf("only %d keys", n)
	}
}

// checkDocumented checks the schema of one key.
func checkDocumented(t *testing.T, path string, p any) {
	t.Helper()
	o, _ := p.(map[string]any)
	text, _ := o["description"].(string)
	if !strings.HasSuffix(text, ".") || strings.Contains(strings.ReplaceAll(text, "](https://", ""), "](") {
		t.Errorf("%s: description %q", path, text)
	}
	examples, _ := o["examples"].([]any)
	if len(examples) == 0 {
		t.Errorf("%s: no examples", path)
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	if err := c.AddResource("key.json", o); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	s, err := c.Compile("key.json")
	if err != nil {
		t.Fatalf("%s: %v", path, err)
	}
	for _, e := range examples {
		if err := s.Validate(e); err != nil {
			t.Errorf("%s: example %v: %v", path, e, err)
		}
	}
}
