package plans

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxRow is the longest row of a table, in bytes: what a file may have without a line end or a closing quote.
const maxRow = 16 << 20

// format is how a data file is written; "" for one that is none.
func format(path string) (ext string, gzipped bool) {
	path = strings.ToLower(path)
	path, gzipped = strings.CutSuffix(path, ".gz")
	if ext = filepath.Ext(path); ext != ".csv" && ext != ".jsonl" {
		return "", false
	}
	return ext, gzipped
}

// errNotUTF8 is of a file that is no text.
var errNotUTF8 = errors.New("not UTF-8 text")

// rows reads the rows of a text one after another. The names and values of a row are good until the next one.
type rows interface {
	next() (names, values []string, err error) // io.EOF after the last
	line() int                                 // of the row, or of the fault, in the text from where it was begun
	offset() int64                             // behind the row
}

// openRows reads the rows of a .csv text, whose first line names the columns where none are given, or a .jsonl text. The error
// is io.EOF when there is no header.
func openRows(text io.Reader, ext string, columns []string) (rows, error) {
	if ext == ".jsonl" {
		return newJSONRows(text), nil
	}
	return newCSVRows(text, columns)
}

// csvRows are comma-separated values (RFC 4180).
type csvRows struct {
	in     *csv.Reader
	source *boundedReader
	names  []string
	at     int
}

// newCSVRows reads the first line as names where none are given.
func newCSVRows(text io.Reader, names []string) (*csvRows, error) {
	source := &boundedReader{text, maxRow}
	c := &csvRows{in: csv.NewReader(source), source: source, names: names, at: 1}
	c.in.ReuseRecord, c.in.FieldsPerRecord = true, len(names)
	if names != nil {
		return c, nil
	}
	_, record, err := c.next()
	if err != nil {
		return c, err
	}
	for i, name := range record {
		if name == "" || slices.Contains(record[:i], name) {
			return c, fmt.Errorf("column %q is empty or twice in the header", name)
		}
	}
	c.names = slices.Clone(record)
	return c, nil
}

func (c *csvRows) next() (names, values []string, err error) {
	c.source.left = maxRow
	record, err := c.in.Read()
	if pe, ok := errors.AsType[*csv.ParseError](err); ok {
		c.at = pe.Line
		return nil, nil, pe.Err
	}
	if err != nil {
		return nil, nil, err
	}
	c.at, _ = c.in.FieldPos(0)
	if slices.ContainsFunc(record, func(s string) bool { return !utf8.ValidString(s) }) {
		return nil, nil, errNotUTF8
	}
	return c.names, record, nil
}

func (c *csvRows) line() int     { return c.at }
func (c *csvRows) offset() int64 { return c.in.InputOffset() }

// A boundedReader ends a row that has no end.
type boundedReader struct {
	io.Reader
	left int
}

func (b *boundedReader) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, fmt.Errorf("a row of more than %d MiB", maxRow>>20)
	}
	n, err := b.Reader.Read(p)
	b.left -= n
	return n, err
}

// jsonRows are objects, one a line; blank lines are skipped.
type jsonRows struct {
	in     *bufio.Reader
	long   []byte // a line longer than the buffer of in
	at     int
	passed int64
	names  []string
	values []string
}

func newJSONRows(text io.Reader) *jsonRows { return &jsonRows{in: bufio.NewReaderSize(text, 256<<10)} }

func (j *jsonRows) next() (names, values []string, err error) {
	for {
		text, err := j.readLine()
		if err != nil {
			return nil, nil, err
		}
		j.at++
		j.passed += int64(len(text))
		if len(bytes.TrimSpace(text)) == 0 {
			continue
		}
		if !utf8.Valid(text) {
			return nil, nil, errNotUTF8
		}
		j.names, j.values, err = readObject(string(text), j.names[:0], j.values[:0])
		return j.names, j.values, err
	}
}

// readLine gives the next line with its end; it is good until the next one.
func (j *jsonRows) readLine() ([]byte, error) {
	text, err := j.in.ReadSlice('\n')
	if err == bufio.ErrBufferFull {
		j.long = append(j.long[:0], text...)
		for err == bufio.ErrBufferFull {
			if len(j.long) > maxRow {
				return nil, fmt.Errorf("a row of more than %d MiB", maxRow>>20)
			}
			text, err = j.in.ReadSlice('\n')
			j.long = append(j.long, text...)
		}
		text = j.long
	}
	if err == io.EOF && len(text) > 0 {
		err = nil
	}
	return text, err
}

func (j *jsonRows) line() int     { return j.at }
func (j *jsonRows) offset() int64 { return j.passed }

var errNoObject = errors.New("not a JSON object")

// readObject reads one JSON object: its keys in their order, and their values, text without quotes and all else compact.
func readObject(text string, names, values []string) (_, _ []string, err error) {
	rest := skipBlank(text)
	if !strings.HasPrefix(rest, "{") {
		return names, values, errNoObject
	}
	rest = skipBlank(rest[1:])
	for !strings.HasPrefix(rest, "}") {
		if len(names) > 0 {
			if !strings.HasPrefix(rest, ",") {
				return names, values, errNoObject
			}
			rest = skipBlank(rest[1:])
		}
		var name, value string
		var ok, ok2 bool
		if name, rest, ok = cutText(rest); !ok || !strings.HasPrefix(skipBlank(rest), ":") {
			return names, values, errNoObject
		}
		if slices.Contains(names, name) {
			return names, values, fmt.Errorf("key %q is there twice", name)
		}
		if value, rest, ok2 = cutValue(skipBlank(skipBlank(rest)[1:])); !ok2 {
			return names, values, errNoObject
		}
		names, values = append(names, name), append(values, value)
		rest = skipBlank(rest)
	}
	if skipBlank(rest[1:]) != "" {
		return names, values, errors.New("more than one JSON value on the line")
	}
	return names, values, nil
}

func skipBlank(s string) string { return strings.TrimLeft(s, " \t\r\n") }

// cutText takes a JSON string from the beginning of s.
func cutText(s string) (value, rest string, ok bool) {
	if !strings.HasPrefix(s, `"`) {
		return "", s, false
	}
	for i := 1; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"':
			return s[1:i], s[i+1:], true
		case c < ' ':
			return "", s, false
		case c == '\\':
			end := endOfText(s)
			if end < 0 || json.Unmarshal([]byte(s[:end]), &value) != nil {
				return "", s, false
			}
			return value, s[end:], true
		}
	}
	return "", s, false
}

// endOfText is the length of the JSON string at the beginning of s, -1 when it does not end.
func endOfText(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// cutValue takes a JSON value from the beginning of s.
func cutValue(s string) (value, rest string, ok bool) {
	if strings.HasPrefix(s, `"`) {
		return cutText(s)
	}
	depth, end := 0, len(s)
scan:
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '"':
			n := endOfText(s[i:])
			if n < 0 {
				return "", s, false
			}
			i += n - 1
		case '{', '[':
			depth++
		case '}', ']', ',':
			if depth == 0 {
				end = i
				break scan
			}
			if s[i] != ',' {
				depth--
			}
		}
	}
	value, rest = strings.TrimRight(s[:end], " \t\r\n"), s[end:]
	if value == "" {
		return "", s, false
	}
	if value[0] == '{' || value[0] == '[' {
		var compact bytes.Buffer
		if json.Compact(&compact, []byte(value)) != nil {
			return "", s, false
		}
		return compact.String(), rest, true
	}
	return value, rest, json.Valid([]byte(value))
}

// openText opens the text of a data file from a place on; raw gets its bytes as they are in the file. skipped is the length of
// the byte order mark that was left out.
func openText(path string, at int64, raw io.Writer) (text io.Reader, file *os.File, skipped int64, err error) {
	if file, err = os.Open(path); err != nil {
		return nil, nil, 0, err
	}
	_, gzipped := format(path)
	if _, err = file.Seek(at, io.SeekStart); err != nil {
		file.Close()
		return nil, nil, 0, err
	}
	text = file
	if raw != nil {
		text = io.TeeReader(file, raw)
	}
	if gzipped {
		zip, err := gzip.NewReader(bufio.NewReaderSize(text, 64<<10))
		if err != nil {
			file.Close()
			return nil, nil, 0, err
		}
		text = zip
	}
	if at == 0 {
		in := bufio.NewReaderSize(text, 64<<10)
		if mark, err := in.Peek(len(bom)); err == nil && string(mark) == bom {
			in.Discard(len(bom))
			skipped = int64(len(bom))
		}
		text = in
	}
	return text, file, skipped, nil
}

const bom = "\ufeff"

// A RowReader reads the rows of a streamed table in order, from any row on. It is not safe for concurrent use.
type RowReader struct {
	data *Data
	file *os.File
	rows rows
	row  int64 // the next one
}

// OpenRows opens the table of d, which is streamed, at its first row. It is an error when the file is no longer the one that
// was checked when the plan was read.
func (d *Data) OpenRows() (*RowReader, error) {
	r := &RowReader{data: d}
	if err := r.open(0); err != nil {
		return nil, err
	}
	return r, nil
}

// open begins at the last mark up to a row.
func (r *RowReader) open(row int64) error {
	s := r.data.Streamed
	info, err := os.Stat(r.data.File)
	if err == nil && (info.Size() != s.size || !info.ModTime().Equal(s.modified)) {
		err = errors.New("the file has changed since the plan was read")
	}
	if err != nil {
		return r.wrap(err)
	}
	r.Close()
	ext, gzipped := format(r.data.File)
	at := s.marks[0] + s.skipped
	if r.row = 0; !gzipped {
		r.row = row / s.stride * s.stride
		at = s.marks[row/s.stride] + s.skipped
	}
	from := at
	if gzipped {
		from = 0
	}
	text, file, _, err := openText(r.data.File, from, nil)
	if err != nil {
		return r.wrap(err)
	}
	r.file = file
	if gzipped && s.marks[0] > 0 { // the header
		_, err = io.CopyN(io.Discard, text, s.marks[0])
	}
	if ext == ".jsonl" {
		r.rows = newJSONRows(text)
	} else if err == nil {
		r.rows, err = newCSVRows(text, r.data.Columns)
	}
	return r.wrap(err)
}

func (r *RowReader) wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("data %q: %s: %s", r.data.Name, r.data.File, reason(err))
}

// SkipTo makes row the next one, counted from 0. Backwards, in a compressed file, it reads from the start.
func (r *RowReader) SkipTo(row int64) error {
	_, gzipped := format(r.data.File)
	if row < r.row || !gzipped && row/r.data.Streamed.stride > r.row/r.data.Streamed.stride && row != r.row {
		if err := r.open(row); err != nil {
			return err
		}
	}
	for r.row < row {
		if _, _, err := r.rows.next(); err != nil {
			return r.wrap(err)
		}
		r.row++
	}
	return nil
}

// Next puts the values of the next row into cells, one for each column; it has at least that length.
func (r *RowReader) Next(cells []string) error {
	names, values, err := r.rows.next()
	if err != nil {
		return r.wrap(err)
	}
	r.row++
	if slices.Equal(names, r.data.Columns) {
		copy(cells, values)
		return nil
	}
	clear(cells)
	for i, name := range names {
		if col := slices.Index(r.data.Columns, name); col >= 0 {
			cells[col] = values[i]
		}
	}
	return nil
}

// Close closes the file.
func (r *RowReader) Close() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}

// Streamed says where the rows of a table are that is too large to be kept: it needs the same memory for any number of them.
type Streamed struct {
	Rows  int64 // at least 1
	Bytes int64 // of the text, unpacked

	marks     []int64 // offset of every stride-th row, behind the byte order mark
	stride    int64
	skipped   int64 // bytes of the byte order mark
	size      int64 // of the file
	modified  time.Time
	firstLine int // of the first row
}
