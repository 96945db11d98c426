package subject

import (
	"bytes"
	"errors"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var kept []byte

// sum is a small subject.
func sum(p Params) (Work, error) {
	if p.Size == 13 {
		return Work{}, errors.New("no data\nfor 13")
	}
	if p.Size == 14 {
		return Work{}, nil
	}
	which, _ := p.Value("which")
	do := func() {
		if which == "panics" {
			panic("no luck")
		}
		if which == "allocates" {
			kept = make([]byte, 1000)
		}
		if which == "collects" {
			runtime.GC()
		}
	}
	if which == "none" {
		return Work{Do: do}, nil
	}
	return Work{do, func() uint64 { return uint64(p.Size) * 16 }}, nil
}

func TestServe(t *testing.T) {
	done := `done iterations=%N ns=\d+ bytes=\d+ allocs=\d+ gc=\d+ gc_ns=\d+ checksum=00000000000000%C`
	for _, tt := range []struct {
		in, want string // the answers behind the greeting, a pattern a line
	}{
		{"", ""},
		{"exit\n", ""},
		{"exit\nrun iterations=1\n", ""},
		{"setup size=2\nrun iterations=3\nexit\n", "ready\n" + strings.NewReplacer("%N", "3", "%C", "20").Replace(done)},
		{"setup size=2\r\nrun iterations=3\r\nrun iterations=1\r\n", "ready\n" + strings.NewReplacer("%N", "3", "%C", "20").Replace(done) + "\n" + strings.NewReplacer("%N", "1", "%C", "20").Replace(done)},
		{"setup size=2 which=a b=c\nsetup size=3\nrun iterations=1", "ready\nready\n" + strings.NewReplacer("%N", "1", "%C", "30").Replace(done)},
		{"setup size=0 which=x\n", "ready"},
		{"setup size=13\nsetup size=2 which=none\nrun iterations=1\n", "error no data for 13\nready\ndone iterations=1 ns=\\d+ bytes=\\d+ allocs=\\d+ gc=\\d+ gc_ns=\\d+"},
		{"setup size=13\n", "error no data for 13"},
		{"setup size=14\n", `error "setup size=14": the setup returned no work`},
		{"setup size=2 which=panics\nrun iterations=2\n", "ready\nerror panic: no luck"},
		{"run iterations=1\n", "error run before setup"},
		{"setup size=x\n", `error got "setup size=x", want setup size=N with a whole number`},
		{"setup size=+1\n", `error got "setup size=\+1", want .*`},
		{"setup size=-1\n", `error got .*`},
		{"setup\n", `error got .*`},
		{"setup which=a\n", `error got .*`},
		{"setup size=1  b=c\n", `error got .*`},
		{"setup size=1 size=2\n", `error got .*each once.*`},
		{"setup size=1\nrun iterations=0\n", `ready` + "\n" + `error got "run iterations=0", want run iterations=N with N of 1 or more`},
		{"setup size=1\nrun iterations=\n", "ready\nerror .*"},
		{"setup size=1\nrun\n", "ready\nerror .*"},
		{"setup size=1\nrun iterations=1e3\n", "ready\nerror .*"},
		{"setup size=1\nrun iterations=1 more=2\n", "ready\nerror .*"},
		{"hello\n", `error unknown message "hello", want setup, run or exit`},
		{"\n", `error unknown message "", want setup, run or exit`},
		{strings.Repeat("x", 1<<17), `error got a line of more than 65536 bytes`},
	} {
		var out bytes.Buffer
		err := Serve(strings.NewReader(tt.in), &out, sum)
		want := "perfplan-subject 1\n"
		if tt.want != "" {
			want += tt.want + "\n"
		}
		if !regexp.MustCompile("^" + want + "$").MatchString(out.String()) {
			t.Errorf("%.80q is answered with %q, want %q", tt.in, out.String(), want)
		}
		if failed := len(tt.in) > maxLine; (err != nil) != failed {
			t.Errorf("%.80q: Serve = %v, want an error: %v", tt.in, err, failed)
		}
	}
}

// What an iteration allocates and collects is counted.
func TestMemory(t *testing.T) {
	var out bytes.Buffer
	if err := Serve(strings.NewReader("setup size=1 which=allocates\nrun iterations=1000\nsetup size=1 which=collects\nrun iterations=3\n"), &out, sum); err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`bytes=10\d{5} allocs=10\d\d `).MatchString(out.String()) || !regexp.MustCompile(`iterations=3 .* gc=[3-9] gc_ns=[1-9]`).MatchString(out.String()) {
		t.Errorf("got %s, want 1000 allocations of 1024 bytes, and three collections", out.String())
	}
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

func TestServeWithoutReader(t *testing.T) {
	if err := Serve(strings.NewReader("setup size=1\n"), broken{}, sum); err == nil {
		t.Error("Serve to a broken pipe gave no error")
	}
}

// spin is about a microsecond of work.
func spin(x uint64) uint64 {
	for range 700 {
		x = x*6364136223846793005 + 1442695040888963407
	}
	return x
}

// BenchmarkOverhead says what the harness adds to an iteration of about 1 µs: the bar is 1 %. The two loops take turns, and their
// medians are compared.
func BenchmarkOverhead(b *testing.B) {
	const n = 20_000
	x := uint64(7)
	work := Work{Do: func() { x = spin(x) }}
	var bare, through []float64
	for b.Loop() {
		begin := time.Now()
		sum := uint64(7)
		for range n {
			sum = spin(sum)
		}
		bare = append(bare, float64(time.Since(begin)))
		kept = append(kept[:0], byte(sum))
		begin = time.Now()
		run(work, n)
		through = append(through, float64(time.Since(begin)))
	}
	slices.Sort(bare)
	slices.Sort(through)
	b.ReportMetric(bare[len(bare)/2]/n, "ns/bare-iteration")
	b.ReportMetric(100*(through[len(through)/2]/bare[len(bare)/2]-1), "%overhead")
}
