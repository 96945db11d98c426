package imported

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
)

// An element is one of a JSON array, with its place in the file.
type element struct {
	raw    json.RawMessage
	offset int64
}

// elements are those of the array under a key of the file's object, or of the file itself with key "".
func (f *file) elements(key string) ([]element, error) {
	dec := json.NewDecoder(bytes.NewReader(f.data))
	fail := func(err error) error { return f.broken(dec.InputOffset(), err) }
	open, err := dec.Token()
	if err != nil {
		return nil, fail(err)
	}
	if key == "" {
		if open != json.Delim('[') {
			return nil, f.at(0, "not a JSON array")
		}
		all, err := f.list(dec)
		if err != nil {
			return nil, err
		}
		return all, f.end(dec)
	}
	if open != json.Delim('{') {
		return nil, f.at(0, "not a JSON object")
	}
	var all []element
	found := false
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, fail(err)
		}
		if name == key && found {
			return nil, f.at(dec.InputOffset(), "%q comes twice", key)
		}
		if name != key {
			var skipped json.RawMessage
			if err := dec.Decode(&skipped); err != nil {
				return nil, fail(err)
			}
			continue
		}
		at := dec.InputOffset()
		open, err := dec.Token()
		if err != nil {
			return nil, fail(err)
		}
		if open != json.Delim('[') {
			return nil, f.at(at, "%q is not a JSON array", key)
		}
		if all, err = f.list(dec); err != nil {
			return nil, err
		}
		found = true
	}
	if _, err := dec.Token(); err != nil {
		return nil, fail(err)
	}
	if !found {
		return nil, f.whole("no %q in it", key)
	}
	return all, f.end(dec)
}

// end refuses what stands behind the file's value.
func (f *file) end(dec *json.Decoder) error {
	rest := bytes.TrimLeft(f.data[dec.InputOffset():], " \t\r\n")
	if len(rest) > 0 {
		return f.at(int64(len(f.data)-len(rest)), "text behind the end of the JSON")
	}
	return nil
}

// list reads the elements of the array that was opened, and its end.
func (f *file) list(dec *json.Decoder) ([]element, error) {
	var all []element
	for dec.More() {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, f.broken(dec.InputOffset(), err)
		}
		all = append(all, element{raw, dec.InputOffset() - int64(len(raw))})
	}
	if _, err := dec.Token(); err != nil {
		return nil, f.broken(dec.InputOffset(), err)
	}
	return all, nil
}

// decode reads an element.
func (f *file) decode(e element, into any) error {
	if err := json.Unmarshal(e.raw, into); err != nil {
		if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
			return f.at(e.offset+wrong.Offset, "%s: got a %s, want a %s", wrong.Field, wrong.Value, wrong.Type)
		}
		if syntax, ok := errors.AsType[*json.SyntaxError](err); ok { // its offset, from 1, is one of the element
			return f.at(e.offset+max(syntax.Offset-1, 0), "not JSON: %v", err)
		}
		return f.broken(e.offset, err)
	}
	return nil
}

// broken is the error for text that is no JSON.
func (f *file) broken(offset int64, err error) error {
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		offset = max(offset, syntax.Offset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return f.at(int64(len(f.data)), "the file ends in the middle")
	}
	return f.at(offset, "not JSON: %v", err)
}
