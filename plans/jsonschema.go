package plans

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// An object is a JSON object with its members in order, so that the schema reads like the reference.
type object []member

type member struct {
	name  string
	value any
}

// MarshalJSON writes the members in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(jsonString(m.name) + ":")
		var value bytes.Buffer
		enc := json.NewEncoder(&value)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(m.value); err != nil {
			return nil, err
		}
		b.Write(bytes.TrimSpace(value.Bytes()))
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// Schema is the JSON Schema (draft 2020-12) of a plan, for editors: it completes keys and marks what has the
// wrong form. It knows less than ReadFile, which alone decides.
func Schema() []byte {
	doc := object{
		{"$schema", "https://json-schema.org/draft/2020-12/schema"},
		{"$id", "https://github.com/perfplan/perfplan/plan.schema.json"},
		{"title", "perfplan plan"},
	}
	for _, m := range root.schema().(object) {
		if m.name == "required" { // included files may have the rest
			doc = append(doc, member{"if", object{{"not", object{{"required", []string{"include"}}}}}}, member{"then", object{m}})
			continue
		}
		doc = append(doc, m)
	}
	doc = append(doc, member{"patternProperties", object{{"^x-", object{{"description", "Free for anchors: perfplan does not look at it."}}}}})
	compact, err := doc.MarshalJSON()
	if err != nil { // cannot happen: it holds only text, numbers and lists
		return nil
	}
	var b bytes.Buffer
	if err := json.Indent(&b, compact, "", "  "); err != nil {
		return nil
	}
	b.WriteByte('\n')
	return b.Bytes()
}

// schema is the JSON Schema of a shape.
func (s *shape) schema() any {
	var forms []any
	if s.scalar == anyValue || s.scalar == laterValue {
		return true
	}
	if s.scalar != noScalar {
		forms = append(forms, s.scalarSchema()...)
	}
	if s.list != nil {
		list := object{{"type", "array"}, {"items", s.list.schema()}}
		if s.some {
			list = append(list, member{"minItems", 1})
		}
		forms = append(forms, list)
	}
	if s.keys != nil {
		forms = append(forms, s.keysSchema())
	}
	if s.each != nil {
		forms = append(forms, s.namesSchema())
	}
	if len(forms) == 1 {
		return forms[0]
	}
	return object{{"anyOf", forms}}
}

// variable is the schema of a text whose value is only known when its variables are.
var variable = object{{"type", "string"}, {"pattern", `\$\{`}}

// scalarSchema gives the forms that a scalar can have in YAML.
func (s *shape) scalarSchema() []any {
	switch s.scalar {
	case integerScalar:
		n := object{{"type", "integer"}}
		for _, b := range s.bounds() {
			switch b.tag {
			case "gte":
				n = append(n, member{"minimum", json.Number(b.param)})
			case "lte":
				n = append(n, member{"maximum", json.Number(b.param)})
			case "oneof":
				var numbers []json.Number
				for _, word := range strings.Fields(b.param) {
					numbers = append(numbers, json.Number(word))
				}
				n = append(n, member{"enum", numbers})
			}
		}
		return []any{n, object{{"type", "string"}, {"pattern", `\$\{|^[0-9]+$`}}}
	case booleanScalar:
		return []any{object{{"type", "boolean"}}, object{{"type", "string"}, {"pattern", `\$\{|^(true|false)$`}}}
	case durationScalar:
		return []any{object{{"type", "string"}, {"pattern", `\$\{|` + durationText.String()}}}
	case rateScalar:
		return []any{object{{"type", "string"}, {"pattern", `\$\{|` + rateText.String()}}}
	}
	if words := s.choices(); len(words) > 0 {
		return []any{object{{"enum", words}}, variable}
	}
	text := object{{"type", []string{"string", "number", "boolean"}}}
	for _, b := range s.bounds() {
		if n, err := strconv.Atoi(b.param); err == nil && b.tag == "min" {
			text = append(text, member{"minLength", n})
		}
	}
	return []any{text}
}

func (s *shape) keysSchema() object {
	o := object{{"type", "object"}, {"additionalProperties", false}}
	var required []string
	var properties object
	for _, k := range s.keys {
		if k.required {
			required = append(required, k.name)
		}
		p := object{{"description", k.summary()}, {"examples", []any{exampleValue(k.example)}}}
		if inner, ok := k.shape.schema().(object); ok {
			p = append(p, inner...)
		}
		properties = append(properties, member{k.name, p})
	}
	o = append(o, member{"properties", properties})
	if required != nil {
		o = append(o, member{"required", required})
	}
	if s.one != nil {
		var one []any
		for _, name := range s.one {
			one = append(one, object{{"required", []string{name}}})
		}
		o = append(o, member{"oneOf", one})
	}
	return o
}

// exampleValue is an example as JSON. Plain numbers, true and false are what they look like.
func exampleValue(text string) any {
	var doc yaml.Node
	if err := yaml.Unmarshal([]byte(text), &doc); err != nil || len(doc.Content) != 1 { // cannot happen: a test reads all examples
		return text
	}
	return exampleNode(doc.Content[0])
}

func exampleNode(n *yaml.Node) any {
	switch {
	case n.Kind == yaml.MappingNode:
		o := object{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			o = append(o, member{n.Content[i].Value, exampleNode(n.Content[i+1])})
		}
		return o
	case n.Kind == yaml.SequenceNode:
		list := []any{}
		for _, c := range n.Content {
			list = append(list, exampleNode(c))
		}
		return list
	case n.ShortTag() == "!!bool":
		return n.Value == "true"
	case n.ShortTag() == "!!int":
		return json.Number(n.Value)
	}
	return n.Value
}

// documents is where the pages are that the docs of keys link to.
const documents = "https://github.com/perfplan/perfplan/blob/main/docs/"

// summary is what a key means, with its default. Its links lead somewhere wherever it is shown.
func (k key) summary() string {
	doc := strings.NewReplacer("](#", "]("+documents+"plan-reference.md#", "](slo.md", "]("+documents+"slo.md", "](subject-protocol.md", "]("+documents+"subject-protocol.md").Replace(k.doc)
	switch {
	case k.told != "":
		return doc + " Default: " + k.told + "."
	case k.def != "" && k.def != "{}":
		return doc + " Default: `" + k.def + "`."
	}
	return doc
}

func (s *shape) namesSchema() object {
	o := object{{"type", "object"}}
	switch s.names {
	case plainNames:
		o = append(o, member{"propertyNames", object{{"pattern", plainName.String()}}})
	case varNames:
		o = append(o, member{"propertyNames", object{{"pattern", varName.String()}}})
	case numberNames:
		o = append(o, member{"propertyNames", object{{"pattern", numberName.String()}}})
	}
	if s.some {
		o = append(o, member{"minProperties", 1})
	}
	return append(o, member{"additionalProperties", s.each.schema()})
}
