package plans

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"
)

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write([]byte(text))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

const tablePlan = goodHead + `requests: {r: {path: "/${d.id}", data: {d: %s}}}
stages: [{name: one, load: {rate: 100/s, for: 10s}}]
`

// A table is the same packed or not, kept or streamed.
func TestTables(t *testing.T) {
	dir := t.TempDir()
	rows := "\ufeffid,name\n1,a\n2,\"b\nc\"\n\n3,\n"
	objects := "\ufeff{\"id\": 1, \"name\": \"a\"}\r\n\n {\"name\":\"b\\nc\",\"id\":2}\n{\"id\":3,\"name\":\"\"}"
	want := [][]string{{"1", "a"}, {"2", "b\nc"}, {"3", ""}}
	for name, text := range map[string]string{"d.csv": rows, "d.jsonl": objects, "d.csv.gz": zipped(t, rows), "D.JSONL.GZ": zipped(t, objects),
		"two.csv.gz": zipped(t, rows[:20]) + zipped(t, rows[20:])} {
		write(t, dir, name, text)
		for _, keep := range []int64{0, 1} {
			p, err := Read(strings.NewReader(fmt.Sprintf(tablePlan, name)), "plan.yaml", dir, Options{TableBytes: keep})
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			d := p.Requests[0].Data[0]
			got := d.Rows
			if keep > 0 {
				if got != nil || d.Streamed == nil {
					t.Errorf("%s is kept", name)
				}
				got = readRows(t, d, 0, 1, 2)
				if again := readRows(t, d, 2, 0, 1); !reflect.DeepEqual(again, [][]string{want[2], want[0], want[1]}) {
					t.Errorf("%s from its end on: %q", name, again)
				}
			}
			if !reflect.DeepEqual(got, want) || d.Len() != 3 || !reflect.DeepEqual(d.Columns, []string{"id", "name"}) {
				t.Errorf("%s, %d bytes kept: %q %q, want %q", name, keep, d.Columns, got, want)
			}
		}
	}
}

func readRows(t *testing.T, d *Data, numbers ...int64) (got [][]string) {
	t.Helper()
	r, err := d.OpenRows()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for _, n := range numbers {
		cells := make([]string, len(d.Columns))
		if err := r.SkipTo(n); err != nil {
			t.Fatal(err)
		}
		if err := r.Next(cells); err != nil {
			t.Fatal(err)
		}
		got = append(got, cells)
	}
	return got
}

// The places that are remembered of a long table are bounded, and lead to its rows.
func TestMarks(t *testing.T) {
	dir := t.TempDir()
	var b strings.Builder
	b.WriteString("id\n")
	const rows = 5*maxMarks + 3
	for i := range rows {
		fmt.Fprintf(&b, "%d\n", i)
	}
	write(t, dir, "d.csv", b.String())
	p, err := Read(strings.NewReader(fmt.Sprintf(tablePlan, "d.csv")), "plan.yaml", dir, Options{TableBytes: 1})
	if err != nil {
		t.Fatal(err)
	}
	d := p.Requests[0].Data[0]
	if n := len(d.Streamed.marks); n > maxMarks || d.Streamed.stride != 8 || d.Len() != rows {
		t.Errorf("%d marks, one each %d of %d rows, want at most %d", n, d.Streamed.stride, d.Len(), maxMarks)
	}
	numbers := []int64{rows - 1, 0, 7, 8, 9, 40000, 39999, 39998, 80000}
	for i, got := range readRows(t, d, numbers...) {
		if got[0] != fmt.Sprint(numbers[i]) {
			t.Errorf("row %d is %q", numbers[i], got)
		}
	}
}

// Of a table too large to be kept, an order that needs all rows is refused with the reason.
func TestStreamedOrders(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "d.csv", "id\n"+strings.Repeat("12345\n", 1000))
	for order, ok := range map[string]bool{"sequential": true, "unique": true, "shuffled": false, "weighted, weight: id": false} {
		_, err := Read(strings.NewReader(fmt.Sprintf(tablePlan, "{file: d.csv, order: "+order+"}")), "plan.yaml", dir, Options{TableBytes: 1000})
		if ok != (err == nil) || err != nil && !strings.Contains(err.Error(), "order of a table too large to be kept in memory: got 6003 bytes of text, want order: sequential or unique") {
			t.Errorf("order %s: %v", order, err)
		}
	}
}

// What the quick reader of objects takes and makes of it is what encoding/json does.
func FuzzObject(f *testing.F) {
	for _, text := range []string{`{}`, `{"a": 1}`, ` {"a":"b\u00e9\"","c":[1, {"d":"]}"}],"e":null,"f":-0.5e3} `, `{"a":1,}`, `{"a" 1}`, `{"a":tru}`, `{"a":1}}`,
		`{"a":[1}`, `{"a":"\x"}`, "{\"a\":\"\t\"}", `{"\u0061":"\\"}`, `{"a":1}{"b":2}`, `[]`, `{"a":01}`, `{"a": {}, "b": []}`, `{,"a":1}`, `{"a":"b"x}`, `{"a":1 2}`} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !utf8.ValidString(text) {
			return // refused before
		}
		if !json.Valid([]byte(text)) {
			if names, values, err := readObject(text, nil, nil); err == nil {
				t.Errorf("readObject(%q) = %q, %q, want an error", text, names, values)
			}
			return
		}
		names, values, err := readObject(text, nil, nil)
		var want map[string]json.RawMessage
		if json.Unmarshal([]byte(text), &want) != nil || want == nil {
			if err == nil {
				t.Errorf("readObject(%q) = %q, want an error", text, names)
			}
			return
		}
		if err != nil {
			if !strings.Contains(err.Error(), "is there twice") {
				t.Errorf("readObject(%q): %v", text, err)
			}
			return
		}
		for i, name := range names {
			raw := want[name]
			delete(want, name)
			var s string
			var compact bytes.Buffer
			switch {
			case len(raw) > 0 && raw[0] == '"':
				json.Unmarshal(raw, &s)
			default:
				json.Compact(&compact, raw)
				s = compact.String()
			}
			if values[i] != s {
				t.Errorf("readObject(%q): %q is %q, want %q", text, name, values[i], s)
			}
		}
	})
}

// A stage ends with the rows of a table that says so: its profile is cut, and the record of the plan says why.
func TestDataEnd(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "d.csv", "id\n"+strings.Repeat("1\n", 250))
	write(t, dir, "e.csv", "id\n"+strings.Repeat("1\n", 100))
	text := goodHead + `requests:
  r: {path: "/${d.id}", data: {d: {file: d.csv, end: stop}}}
  q: {path: "/${d.id}/${e.id}", data: {d: {file: d.csv, end: stop}, e: {file: e.csv, order: unique, end: stop}}}
stages:
  - {name: a, load: {request: r, rate: 100/s, for: 10s}}
  - {name: b, load: {request: r, rate: 25/s, for: 10s}}
  - {name: c, load: {request: r, profile: [{hold: {rate: 100/s, for: 1s}}, {ramp: {from: 100/s, to: 300/s, over: 2s}}, {hold: {rate: 1/s, for: 9s}}]}}
  - {name: d, load: {request: q, arrivals: poisson, rate: 100/s, for: 10s}}
  - {name: e, load: {mix: {r: 9, q: 1}, rate: 1000/s, for: 10s}}
  - {name: f, warmup: {request: r, rate: 50/s, until: steady}}
  - {name: g, load: {request: r, arrivals: poisson, rate: 25/s, for: 9s}}
  - {name: h, load: {request: r, trace: {file: trace.csv}}}
  - {name: i, load: {request: r, profile: [csv: {file: rates.csv}]}}
  - {name: j, load: {request: r, profile: [{hold: {rate: 50/s, for: 5s}}, {csv: {file: rates.csv}}]}}
`
	write(t, dir, "rates.csv", "time,rate\n0,100/s\n2,100/s\n4,0/s\n10,300/s\n")
	var trace strings.Builder
	trace.WriteString("time\n")
	for i := range 300 {
		fmt.Fprintf(&trace, "%.2f\n", 100+float64(i)/100)
	}
	write(t, dir, "trace.csv", trace.String())
	p := mustRead(t, text, dir)
	for i, want := range []string{"d 250 2.5s of 10s", "", "d 250 2s of 12s", "e 100 1s of 10s", "e 100 100ms of 10s", "d 250 5s of 30s", "d 250 9s of 9s",
		"d 250 2.491s of 2.999966666s", "d 250 2.585786437s of 10s", "d 250 5s of 15s"} {
		var end *DataEnd
		var length time.Duration
		switch w := p.Stages[i].Work.(type) {
		case *Load:
			end, length = w.DataEnd, w.Duration()
		case *Warmup:
			end, length = w.DataEnd, w.Until.AtMost
		}
		got := ""
		if end != nil {
			got = fmt.Sprintf("%s %d %v of %v", end.Data.Name, end.Requests, length, end.Planned)
		}
		if got != want {
			t.Errorf("stage %s ends with %q, want %q", p.Stages[i].Name, got, want)
		}
	}
	if s := p.Stages[2].Work.(*Load).Profile[1]; s.To != 200 || s.Over != time.Second {
		t.Errorf("the ramp is cut to %+v, want 200/s after 1s", s)
	}
}

// A packed file has another hash than the text, and the hash follows the content.
func TestDataHash(t *testing.T) {
	dir := t.TempDir()
	hash := func(text string) string {
		write(t, dir, "d.csv", text)
		return mustRead(t, fmt.Sprintf(tablePlan, "d.csv"), dir).Hash
	}
	if a, b := hash("id\n1\n"), hash("id\n2\n"); a == b {
		t.Errorf("other rows in %s have the same hash", filepath.Join(dir, "d.csv"))
	} else if hash("id\n1\n") != a {
		t.Error("the same rows have another hash")
	}
}
