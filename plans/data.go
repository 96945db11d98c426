package plans

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// TableBytes is the text of a table, in bytes, up to which its rows are kept in memory.
const TableBytes = 64 << 20

// maxMarks bounds the places that are remembered of a table: beyond it they are twice as far apart.
const maxMarks = 1 << 14

// A table is a data file as read.
type table struct {
	file     string // absolute path
	columns  []string
	rows     [][]string // nil when they are too large to be kept
	lines    []int      // the line at which each of them begins
	bytes    int64      // of their text
	absent   []int      // by column: the line of the first row that does not have it; 0: all have it
	control  []int      // by column: the line of the first row with a control character in it; 0: none
	streamed Streamed
}

// data reads the table that an entry of a request's data names; the same file is read once.
func (l *loader) data(it *item) *Data {
	file := it
	if it.form == mapForm {
		file = it.get("file")
	}
	if file == nil {
		return nil
	}
	columns := l.columnNames(it.get("columns"), file)
	full := l.path(file)
	known := full + "\n" + strings.Join(columns, "\n")
	t, read := l.tables[known]
	if !read {
		t = l.readTable(file, columns)
		l.tables[known] = t
	} else if t == nil {
		l.fault(file.fault("cannot use the data file", file.quoted(), "", "see its first use"))
	}
	if t == nil {
		return nil
	}
	d := &Data{Name: it.name, File: full, Columns: t.columns, Rows: t.rows, Order: Sequential, table: t}
	if t.rows == nil {
		d.Streamed = &t.streamed
	}
	l.dataOrder(d, it)
	return d
}

// columnNames reads the names of columns that a file does not have itself.
func (l *loader) columnNames(it, file *item) []string {
	var names []string
	for _, c := range it.all() {
		switch {
		case slices.Contains(names, c.value()):
			l.fault(c.fault("column is listed twice", c.quoted(), "", ""))
			continue
		}
		names = append(names, c.value())
	}
	if ext, _ := format(file.value()); names != nil && ext == ".jsonl" {
		l.fault(it.fault("columns of a JSONL file", "", "", "its rows name theirs"))
		return nil
	}
	return names
}

// dataOrder reads which row serves which request.
func (l *loader) dataOrder(d *Data, it *item) {
	if it.form != mapForm {
		return
	}
	order, end, weight, seed := it.get("order"), it.get("end"), it.get("weight"), it.get("seed")
	if order == nil {
		return
	}
	d.Order, d.Seed, d.Stop = Order(order.value()), 1, end.value() == "stop"
	if seed != nil {
		d.Seed = uint64(seed.integer())
	}
	random := d.Order == Shuffled || d.Order == Weighed
	switch {
	case it.has("seed") && !random:
		l.fault(firstOf(seed, it).fault("seed of an order that nothing random decides", order.quoted(), "order: shuffled or weighted", ""))
	case it.has("weight") && d.Order != Weighed:
		l.fault(firstOf(weight, it).fault("weight without order: weighted", order.quoted(), "order: weighted", ""))
	case d.Order == Weighed && !it.has("weight"):
		l.fault(it.fault("missing key "+quote("weight"), "", "the name of a column with a number", ""))
	case d.Order == Weighed && d.Stop:
		l.fault(end.fault("rows drawn by weight are never used up", "", "end: cycle", ""))
	case d.Order == Unique && it.has("end") && end.value() == "cycle":
		l.fault(end.fault("rows that are sent once cannot begin again", "", "end: stop, or no end", "without end, a stage that plans more requests than rows is refused"))
	case d.Streamed != nil && random:
		l.fault(order.fault("order of a table too large to be kept in memory", fmt.Sprintf("%s of text", size(d.Streamed.Bytes)),
			"order: sequential or unique", fmt.Sprintf("up to %s a table is kept; of a larger one only the rows just needed are", size(l.tableBytes()))))
	case weight != nil:
		l.weights(d, weight)
	}
}

// weights reads the column that says how often a row is drawn.
func (l *loader) weights(d *Data, it *item) {
	col := slices.Index(d.Columns, it.value())
	if col < 0 {
		hint := didYouMean(it.value(), d.Columns)
		if hint == "" {
			hint = "there are " + shorten(strings.Join(d.Columns, ", "))
		}
		l.fault(it.fault("unknown column of "+quote(d.Name), it.quoted(), "", hint))
		return
	}
	sum := 0.0
	for i, row := range d.Rows {
		w, err := strconv.ParseFloat(row[col], 64)
		if err != nil || !(w >= 0) || math.IsInf(w, 0) || !jsonNumber.MatchString(row[col]) {
			l.fault(it.fault(fmt.Sprintf("not a weight in the row at line %d of the data", d.table.lines[i]), quote(row[col]), "a number from 0", ""))
			return
		}
		d.Weights = append(d.Weights, w)
		sum += w
	}
	if !(sum > 0) || math.IsInf(sum, 0) {
		l.fault(it.fault("weights without a sum", fmt.Sprint(sum), "at least one above 0", ""))
	}
}

func size(bytes int64) string {
	if bytes >= 1<<20 {
		return fmt.Sprintf("%.0f MiB", float64(bytes)/(1<<20))
	}
	return fmt.Sprintf("%d bytes", bytes)
}

func (l *loader) tableBytes() int64 {
	if l.options.TableBytes > 0 {
		return l.options.TableBytes
	}
	return TableBytes
}

// readTable reads a data file from its beginning to its end, and keeps its rows unless they are too large.
func (l *loader) readTable(it *item, columns []string) *table {
	ext, _ := format(it.value())
	if ext == "" {
		l.fault(it.fault("unknown kind of data file", it.quoted(), "a .csv or .jsonl file, or one of them with .gz", ""))
		return nil
	}
	full := l.path(it)
	info, err := os.Stat(full)
	if err == nil && !info.Mode().IsRegular() {
		_, _ = l.readFile(it) // tells why
		return nil
	}
	sum := sha256.New()
	t := &table{file: full, streamed: Streamed{stride: 1}}
	var line int
	if err == nil {
		t.streamed.size, t.streamed.modified = info.Size(), info.ModTime()
		line, err = t.read(ext, columns, sum, l.tableBytes())
	}
	switch {
	case line == 0 && err != nil:
		l.fault(it.fault("cannot read the file", reason(err)+" at "+quote(full), "", ""))
		return nil
	case errors.Is(err, errNotUTF8):
		l.fault(it.fault("the data file is not UTF-8 text", it.quoted(), "", ""))
		return nil
	case err != nil:
		l.fault(it.fault("bad data file", fmt.Sprintf("%s at %s:%d", err, it.value(), line), "", ""))
		return nil
	}
	l.digests[l.filePath(it)] = hex.EncodeToString(sum.Sum(nil))
	return t
}

// read fills the table. On an error, line is where it is, 0 for the file as a whole.
func (t *table) read(ext string, columns []string, raw io.Writer, keep int64) (line int, err error) {
	text, file, skipped, err := openText(t.file, 0, raw)
	if err != nil {
		return 0, err
	}
	defer file.Close()
	t.streamed.skipped = skipped
	in, err := openRows(text, ext, columns)
	if err == io.EOF {
		return 1, errNoRows
	} else if err != nil {
		return in.line(), err
	}
	if line, err = t.fill(in, keep); err != nil {
		return line, err
	}
	if t.streamed.Rows == 0 {
		return 1, errNoRows
	}
	_, err = io.Copy(io.Discard, file) // what stands behind the end of what is packed
	return 0, err
}

var errNoRows = errors.New("no rows")

// fill reads all rows, which are kept unless they have more text than keep. On an error, line is where it is.
func (t *table) fill(in rows, keep int64) (line int, err error) {
	for {
		before := in.offset()
		names, values, err := in.next()
		switch {
		case err == io.EOF:
			t.finish()
			return 0, nil
		case err != nil:
			return in.line(), err
		}
		t.mark(before)
		t.add(names, values, in.line())
		if t.bytes > keep {
			t.rows, t.lines = nil, nil
		}
		t.streamed.Bytes = in.offset()
	}
}

// tableOf reads a table that is in memory; ext is .csv or .jsonl. It may have no rows.
func tableOf(b []byte, ext string) (t *table, line int, err error) {
	t = &table{streamed: Streamed{stride: 1}}
	in, err := openRows(bytes.NewReader(bytes.TrimPrefix(b, []byte(bom))), ext, nil)
	if err == io.EOF {
		return t, 0, nil
	}
	if err != nil {
		return t, in.line(), err
	}
	line, err = t.fill(in, math.MaxInt64)
	if c, ok := in.(*csvRows); ok && t.columns == nil {
		t.columns = c.names
	}
	return t, line, err
}

// mark remembers where a row begins.
func (t *table) mark(offset int64) {
	s := &t.streamed
	if s.Rows%s.stride == 0 {
		s.marks = append(s.marks, offset)
	}
	s.Rows++
	if len(s.marks) <= maxMarks {
		return
	}
	for i := range s.marks[:len(s.marks)/2+1] {
		s.marks[i] = s.marks[2*i]
	}
	s.marks, s.stride = s.marks[:len(s.marks)/2+1], 2*s.stride
}

// add takes a row into account.
func (t *table) add(names, values []string, line int) {
	first := t.streamed.Rows == 1
	row := slices.Clone(values)
	if !slices.Equal(names, t.columns) {
		row = make([]string, len(t.columns), max(len(t.columns), len(names)))
		for i, name := range names {
			col := slices.Index(t.columns, name)
			if col >= 0 {
				row[col] = values[i]
				continue
			}
			t.columns, row = append(t.columns, name), append(row, values[i])
			t.control = append(t.control, 0)
			t.absent = append(t.absent, 0)
			if !first {
				t.absent[len(t.absent)-1] = t.streamed.firstLine
			}
		}
		for col, name := range t.columns {
			if t.absent[col] == 0 && !slices.Contains(names, name) {
				t.absent[col] = line
			}
		}
	}
	if first {
		t.streamed.firstLine = line
	}
	for col, value := range row {
		t.bytes += int64(len(value))
		if t.control[col] == 0 && !headerText(value) {
			t.control[col] = line
		}
	}
	t.bytes += rowBytes
	if t.rows != nil || first {
		t.rows, t.lines = append(t.rows, row), append(t.lines, line)
	}
}

// rowBytes is what a row takes in memory at least, beside its text.
const rowBytes = 24

// finish gives all rows all columns.
func (t *table) finish() {
	for i, row := range t.rows {
		for len(row) < len(t.columns) {
			row = append(row, "")
		}
		t.rows[i] = row
	}
}
