package load

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
)

// streamed reads a plan whose request uses the columns of a data file, with a bound that makes it a streamed one.
func streamed(t *testing.T, name string, text []byte) *plans.Request {
	t.Helper()
	dir := t.TempDir()
	if strings.HasSuffix(name, ".gz") {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(text)
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		text = b.Bytes()
	}
	if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
		t.Fatal(err)
	}
	plan := `version: 1
name: a
targets: {s: {url: "http://127.0.0.1:1"}}
requests: {r: {path: "/${d.id}?n=${d.name}", method: POST, body: "${d.id} ${d.name}", data: {d: ` + name + `}}}
stages: [{name: one, load: {rate: 100/s, for: 10s}}]
`
	p, err := plans.Read(strings.NewReader(plan), "plan.yaml", dir, plans.Options{TableBytes: 10_000})
	if err != nil {
		t.Fatal(err)
	}
	if d := p.Requests[0].Data[0]; d.Streamed == nil || d.Rows != nil {
		t.Fatalf("%s is kept: %d rows", name, len(d.Rows))
	}
	return p.Requests[0]
}

// rowsOf writes a table as CSV, with a byte order mark, or as JSONL; some rows have columns in another order, or escapes.
func rowsOf(name string, rows int) []byte {
	var b bytes.Buffer
	if strings.HasPrefix(name, "d.csv") {
		b.WriteString("\ufeffid,name\n")
	}
	for i := range rows {
		switch {
		case strings.HasPrefix(name, "d.csv"):
			fmt.Fprintf(&b, "%d,\"n \n%d\"\n", i, i)
		case i%3 == 0:
			fmt.Fprintf(&b, "\n{\"name\": \"n \\n%d\", \"id\": %d}\n", i, i)
		default:
			fmt.Fprintf(&b, "{\"id\": %d, \"name\": \"n \\u000a%d\", \"more\": [1, {\"x\": \"}\"}]}\n", i, i)
		}
	}
	return b.Bytes()
}

// Each arrival has the row of its number, whichever thread asks for it, in whatever order, and however far apart.
func TestStream(t *testing.T) {
	t.Parallel()
	const rows = 60_000
	for _, name := range []string{"d.csv", "d.jsonl", "d.csv.gz", "d.jsonl.gz"} {
		t.Run(name, func(t *testing.T) {
			r, err := newRenderer(streamed(t, name, rowsOf(name, rows)), twoHosts, true, 1)
			if err != nil {
				t.Fatal(err)
			}
			check := func(buf []byte, i int64) []byte {
				buf, at := r.render(buf, 0, i)
				row := i % rows
				body := fmt.Sprintf("%d n \n%d", row, row)
				if got := string(buf[at:]); got != body || !strings.HasPrefix(string(buf), fmt.Sprintf("POST /%d?n=n%%20%%0A%d HTTP/1.1\r\n", row, row)) {
					t.Errorf("arrival %d is %q, want the body %q", i, buf, body)
				}
				return buf
			}
			var next sync.Mutex
			i := int64(0)
			var threads sync.WaitGroup
			for range 3 {
				threads.Go(func() {
					var buf []byte
					for !t.Failed() {
						next.Lock()
						n := i
						i++
						next.Unlock()
						if n >= rows+rows/4 {
							return
						}
						buf = check(buf, n)
					}
				})
			}
			threads.Wait()
			random := rand.New(rand.NewPCG(1, 2))
			for range 10 {
				check(nil, random.Int64N(5*rows))
			}
			if err := r.close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// A table needs the same memory whatever its size: one of 50 MB no more than one of 12.
func TestStreamMemory(t *testing.T) {
	heap := func() int64 {
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	var grown []int64
	for _, rows := range []int64{200_000, 800_000} {
		req := streamed(t, "d.jsonl", rowsOf("d.jsonl", int(rows)))
		before := heap()
		r, err := newRenderer(req, twoHosts, true, 1)
		if err != nil {
			t.Fatal(err)
		}
		var buf []byte
		for i := range rows + rows/2 {
			buf, _ = r.render(buf, 0, i)
		}
		grown = append(grown, heap()-before)
		runtime.KeepAlive(buf)
		if err := r.close(); err != nil {
			t.Error(err)
		}
	}
	if grown[1] > grown[0]+8<<20 || grown[0] > 20<<20 {
		t.Errorf("the heap has grown by %d and %d bytes, want at most 20 MiB, whatever the size", grown[0], grown[1])
	}
}

// A file that changed since the plan was read is refused, and one that ends early ends the run with an error.
func TestStreamOfAnotherFile(t *testing.T) {
	t.Parallel()
	req := streamed(t, "d.jsonl", rowsOf("d.jsonl", 50_000))
	file := req.Data[0].File
	r, err := newRenderer(req, twoHosts, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(file, 1000); err != nil {
		t.Fatal(err)
	}
	r.render(nil, 0, 49_999)
	if !r.failed() {
		t.Error("the end of the file was not noticed")
	}
	if err := r.close(); err == nil || !strings.Contains(err.Error(), `data "d": `+file) {
		t.Errorf("close() = %v, want what is wrong with the file", err)
	}
	if _, err := newRenderer(req, twoHosts, true, 1); err == nil || !strings.Contains(err.Error(), "has changed since") {
		t.Errorf("newRenderer = %v, want that the file has changed", err)
	}
}

// All paths of the engine send the rows of their arrivals, each once, and those of an order that ends with the rows.
func TestStreamedRun(t *testing.T) {
	onEach(t, func(t *testing.T) {
		const rows = 2000
		s := serve(t, func(c *call) { c.ok("ok") })
		req := streamed(t, "d.csv", rowsOf("d.csv", rows))
		req.Target = get(s).Target
		req.Data[0].Order = plans.Unique
		l := run(t, config(t, req, hold(rows, time.Second)), s)
		conserve(t, l)
		seen := map[string]int{}
		for _, line := range s.requestLines() {
			seen[line]++
		}
		if l.Sent != rows || len(seen) != rows || seen[fmt.Sprintf("POST /%d?n=n%%20%%0A%d HTTP/1.1", rows-1, rows-1)] != 1 {
			t.Errorf("%d sent, %d different ones, want %d rows", l.Sent, len(seen), rows)
		}
		if _, err := Run(t.Context(), config(t, req, hold(rows+1, time.Second))); err == nil || !strings.Contains(err.Error(), "2001 arrivals, but data") {
			t.Errorf("a row more: %v, want that it is refused", err)
		}
	})
}
