package result

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
)

// FileName is the name of the record in a run's folder.
const FileName = "result.json"

// ToolName is what Tool.Name is in every record.
const ToolName = "perfplan"

// Write writes r to FileName in dir, which must exist. The file appears whole or not at all, and an older one is
// replaced. The same record gives the same bytes. A number that JSON cannot hold is an error that names its key.
func Write(dir string, r *Result) error {
	data, err := Encode(r)
	if err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	if err := writeFile(filepath.Join(dir, FileName), data); err != nil {
		return fmt.Errorf("write result: %w", err)
	}
	return nil
}

// Encode returns r as Write writes it.
func Encode(r *Result) ([]byte, error) {
	if key, v, found := notFinite(reflect.ValueOf(r), ""); found {
		return nil, fmt.Errorf("%s: got %v, want a finite number or null", key, v)
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// writeFile replaces the file at path by way of a temporary file beside it, synced before the rename so that a crash
// of the machine leaves the old file or the new one.
func writeFile(path string, data []byte) (err error) {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// notFinite finds the first NaN or infinite number under v and its path of JSON keys.
func notFinite(v reflect.Value, path string) (string, float64, bool) {
	switch v.Kind() {
	case reflect.Float32, reflect.Float64:
		f := v.Float()
		return path, f, math.IsNaN(f) || math.IsInf(f, 0)
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			return notFinite(v.Elem(), path)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			if key, f, found := notFinite(v.Index(i), fmt.Sprintf("%s[%d]", path, i)); found {
				return key, f, true
			}
		}
	case reflect.Struct:
		for _, field := range reflect.VisibleFields(v.Type()) {
			if len(field.Index) > 1 || !field.IsExported() {
				continue // promoted fields are reached through their struct
			}
			if key, f, found := notFinite(v.FieldByIndex(field.Index), join(path, jsonName(field))); found {
				return key, f, true
			}
		}
	}
	return "", 0, false
}

func jsonName(f reflect.StructField) string {
	if f.Anonymous {
		return ""
	}
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	return name
}

func join(path, name string) string {
	if path == "" || name == "" {
		return path + name
	}
	return path + "." + name
}

// maxBytes is the largest record that is read. An hour of load has some 10 MiB.
const maxBytes = 1 << 30

// Read reads the record at path and refuses what is not one: a folder or device, an empty or cut file, JSON of another
// tool, a record of another schema version, one that contradicts itself, more than 1 GiB.
func Read(path string) (*Result, error) {
	data, err := readFile(path, maxBytes)
	if err != nil {
		if cause, ok := errors.AsType[*fs.PathError](err); ok {
			err = cause.Err
		}
		return nil, fmt.Errorf("read result %q: %w", path, err)
	}
	r, err := decode(data)
	if err != nil {
		return nil, fmt.Errorf("read result %q: %w", path, err)
	}
	return r, nil
}

// readFile reads a regular file of at most that many bytes. It looks before it opens: a pipe would wait for a writer.
func readFile(path string, most int64) ([]byte, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, fmt.Errorf("got a folder, want a file like %q", filepath.Join(path, FileName))
	case !info.Mode().IsRegular():
		return nil, errors.New("got a pipe or a device, want a file")
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, most+1))
	if int64(len(data)) > most {
		return nil, fmt.Errorf("the file has more than %d bytes", most)
	}
	return data, err
}

func decode(data []byte) (*Result, error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("the file is empty")
	}
	if err := checkHead(data); err != nil {
		return nil, err
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	var r Result
	if err := dec.Decode(&r); err != nil {
		return nil, explain(err, len(data))
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("text after the record, from byte %d on", dec.InputOffset())
	}
	if err := check(&r); err != nil {
		return nil, err
	}
	return &r, nil
}

// checkHead looks at what says whose record this is, before its shape is trusted.
func checkHead(data []byte) error {
	var head struct {
		SchemaVersion *int            `json:"schema_version"`
		Tool          json.RawMessage `json:"tool"`
		Stages        json.RawMessage `json:"stages"`
	}
	if err := json.NewDecoder(bytes.NewReader(data)).Decode(&head); err != nil {
		return explain(err, len(data))
	}
	var tool Tool
	if err := json.Unmarshal(head.Tool, &tool); err != nil || tool.Name != ToolName || head.SchemaVersion == nil {
		return fmt.Errorf("not a result of %s: want the keys schema_version and tool.name %q", ToolName, ToolName)
	}
	if got := *head.SchemaVersion; got != SchemaVersion {
		return fmt.Errorf("schema_version: got %d, want %d (written by %s %s)", got, SchemaVersion, ToolName, tool.Version)
	}
	var stages []json.RawMessage
	_ = json.Unmarshal(head.Stages, &stages) // what is no list is told by its kind later
	if i := slices.IndexFunc(stages, func(st json.RawMessage) bool { return string(st) == "null" }); i >= 0 {
		return fmt.Errorf("stages[%d]: got null, want a stage", i)
	}
	return nil
}

// explain says in words of files what a JSON decoder says of text and Go types.
func explain(err error, size int) error {
	if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
		return fmt.Errorf("the file ends early, after %d bytes", size)
	}
	if wrong, ok := errors.AsType[*json.UnmarshalTypeError](err); ok {
		if wrong.Field == "" {
			return fmt.Errorf("got a JSON %s, want an object", wrong.Value)
		}
		return fmt.Errorf("%s: got a JSON %s, want another kind of value", wrong.Field, wrong.Value)
	}
	if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
		return fmt.Errorf("not JSON: %w (byte %d)", err, syntax.Offset)
	}
	return err
}
