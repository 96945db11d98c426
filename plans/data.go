package plans

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"
)

// A table is a data file as read. Cells that a row does not have are marked in absent.
type table struct {
	columns []string
	rows    [][]string
	lines   []int // the line at which each row begins
	absent  map[[2]int]bool
}

// data reads the table that an entry of a request's data names; the same file is read once.
func (l *loader) data(it *item) *Data {
	full := l.path(it)
	t, known := l.tables[full]
	if !known {
		t = l.readTable(it)
		l.tables[full] = t
	} else if t == nil {
		l.fault(it.fault("cannot use the data file", it.quoted(), "", "see its first use"))
	}
	if t == nil {
		return nil
	}
	return &Data{Name: it.name, File: full, Columns: slices.Clone(t.columns), Rows: t.rows}
}

func (l *loader) readTable(it *item) *table {
	ext := strings.ToLower(filepath.Ext(it.value()))
	if ext != ".csv" && ext != ".jsonl" {
		l.fault(it.fault("unknown kind of data file", it.quoted(), "a .csv or .jsonl file", ""))
		return nil
	}
	b, ok := l.readFile(it)
	if !ok {
		return nil
	}
	l.digest(it, b)
	b = bytes.TrimPrefix(b, []byte("\ufeff"))
	if !utf8.Valid(b) {
		l.fault(it.fault("the data file is not UTF-8 text", it.quoted(), "", ""))
		return nil
	}
	read := readCSV
	if ext == ".jsonl" {
		read = readJSONL
	}
	t, line, what := read(b)
	if what == "" && len(t.rows) == 0 {
		line, what = 1, "no rows"
	}
	if what != "" {
		l.fault(it.fault("bad data file", fmt.Sprintf("%s at %s:%d", what, it.value(), line), "", ""))
		return nil
	}
	return t
}

// readCSV reads comma-separated values (RFC 4180) whose first line names the columns.
func readCSV(b []byte) (t *table, line int, what string) {
	r := csv.NewReader(bytes.NewReader(b))
	t = &table{}
	for {
		record, err := r.Read()
		if errors.Is(err, io.EOF) {
			return t, 0, ""
		}
		if pe, ok := errors.AsType[*csv.ParseError](err); ok {
			return t, pe.Line, pe.Err.Error()
		} else if err != nil {
			return t, 1, err.Error()
		}
		line, _ := r.FieldPos(0)
		if t.columns != nil {
			t.rows, t.lines = append(t.rows, record), append(t.lines, line)
			continue
		}
		for i, c := range record {
			if c == "" || slices.Contains(record[:i], c) {
				return t, line, fmt.Sprintf("column %q is empty or twice in the header", c)
			}
		}
		t.columns = record
	}
}

// readJSONL reads an object per line; blank lines are skipped.
func readJSONL(b []byte) (t *table, line int, what string) {
	t = &table{absent: map[[2]int]bool{}}
	index := map[string]int{}
	var rows []map[string]string
	n := 0
	for text := range bytes.Lines(b) {
		n++
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		row, order, err := readObject(text)
		if err != nil {
			return t, n, err.Error()
		}
		for _, c := range order {
			if _, ok := index[c]; !ok {
				index[c] = len(t.columns)
				t.columns = append(t.columns, c)
			}
		}
		rows, t.lines = append(rows, row), append(t.lines, n)
	}
	for i, row := range rows {
		cells := make([]string, len(t.columns))
		for j, c := range t.columns {
			value, ok := row[c]
			cells[j] = value
			if !ok {
				t.absent[[2]int{i, j}] = true
			}
		}
		t.rows = append(t.rows, cells)
	}
	return t, 0, ""
}

// readObject reads one JSON object: its values, text without quotes and all else compact, and its keys in order.
func readObject(text []byte) (map[string]string, []string, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	if tok, err := dec.Token(); err != nil || tok != json.Delim('{') {
		return nil, nil, errors.New("not a JSON object")
	}
	row, order := map[string]string{}, []string(nil)
	for dec.More() {
		tok, err := dec.Token()
		name, ok := tok.(string)
		if err != nil || !ok {
			return nil, nil, errors.New("not a JSON object")
		}
		if _, dup := row[name]; dup {
			return nil, nil, fmt.Errorf("key %q is there twice", name)
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, nil, errors.New("not a JSON object")
		}
		var value string
		if raw[0] != '"' {
			var compact bytes.Buffer
			if err := json.Compact(&compact, raw); err != nil {
				return nil, nil, errors.New("not a JSON object")
			}
			value = compact.String()
		} else if err := json.Unmarshal(raw, &value); err != nil {
			return nil, nil, errors.New("not a JSON object")
		}
		row[name] = value
		order = append(order, name)
	}
	if _, err := dec.Token(); err != nil {
		return nil, nil, errors.New("not a JSON object")
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, nil, errors.New("more than one JSON value on the line")
	}
	return row, order, nil
}
