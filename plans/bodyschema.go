package plans

import (
	"bytes"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// A JSONSchema is a compiled JSON Schema. It is safe for concurrent use.
type JSONSchema struct {
	File   string // absolute path
	schema *jsonschema.Schema
}

// Check returns what of a JSON text does not meet the schema, with the place in it; "" when all does.
func (s *JSONSchema) Check(text []byte) string {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return "not JSON"
	}
	err = s.schema.Validate(v)
	if err == nil {
		return ""
	}
	var bad *jsonschema.ValidationError
	if !errors.As(err, &bad) {
		return err.Error()
	}
	for len(bad.Causes) > 0 {
		bad = bad.Causes[0]
	}
	_, what, _ := strings.Cut(bad.Error(), "\n- ")
	if what == "" {
		what = bad.Error()
	}
	return what
}

// noOthers refuses to load what a schema refers to: a plan names every file that it depends on.
type noOthers struct{}

func (noOthers) Load(url string) (any, error) {
	return nil, errors.New("a schema that refers to another file: " + url)
}

func (l *loader) jsonSchema(it *item) *JSONSchema {
	b, ok := l.readFile(it)
	if !ok {
		return nil
	}
	l.digest(it, b)
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		l.fault(it.fault("the schema is not JSON", err.Error()+" in "+quote(l.path(it)), "", ""))
		return nil
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(noOthers{})
	const at = "urn:schema"
	if err = c.AddResource(at, doc); err == nil {
		var s *jsonschema.Schema
		if s, err = c.Compile(at); err == nil {
			return &JSONSchema{l.path(it), s}
		}
	}
	l.fault(it.fault("not a JSON Schema", strings.Join(strings.Fields(err.Error()), " "), "", ""))
	return nil
}
