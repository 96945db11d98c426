package load

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
)

func generated(t *testing.T, g plans.Generator, seed uint64) *generator {
	t.Helper()
	made, err := newGenerator(plans.Part{Generator: &g}, seed, oneLine)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

// Generated values have their form, follow from seed, arrival and place alone, and differ where one of them does.
func TestGenerators(t *testing.T) {
	for _, c := range []struct {
		g    plans.Generator
		form string
		few  bool // values that come again
	}{
		{plans.Generator{Kind: plans.UUID}, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, false},
		{plans.Generator{Kind: plans.RandomInt, Int: [2]int64{-5, 5}}, `^-[1-5]$|^[0-5]$`, true},
		{plans.Generator{Kind: plans.RandomInt, Int: [2]int64{math.MinInt64, math.MaxInt64}}, `^-?[0-9]{1,19}$`, false},
		{plans.Generator{Kind: plans.RandomFloat, Float: [2]float64{0, 1}}, `^0(\.[0-9]+)?$`, false},
		{plans.Generator{Kind: plans.RandomNormal, Float: [2]float64{1000, 1}}, `^(99|100)[0-9](\.[0-9]+)?$`, false},
		{plans.Generator{Kind: plans.RandomHex, Int: [2]int64{17}}, `^[0-9a-f]{17}$`, false},
		{plans.Generator{Kind: plans.RandomChoice, Choices: []string{"a", "b c"}}, `^(a|b c)$`, true},
		{plans.Generator{Kind: plans.RandomZipf, Int: [2]int64{10}, Float: [2]float64{1.1}}, `^([1-9]|10)$`, true},
	} {
		form := regexp.MustCompile(c.form)
		g, again := generated(t, c.g, 7), generated(t, c.g, 7)
		c.g.Number++
		place, seed := generated(t, c.g, 7), generated(t, c.g, 8)
		values, others := map[string]bool{}, 0
		for i := range int64(1000) {
			v := string(g.append(nil, i))
			if !form.MatchString(v) {
				t.Errorf("%+v: value %d is %q, want %s", c.g, i, v, c.form)
				break
			}
			if v != string(again.append(nil, i)) {
				t.Errorf("%+v: value %d is not the same again", c.g, i)
			}
			values[v] = true
			if v != string(place.append(nil, i)) && v != string(seed.append(nil, i)) {
				others++
			}
		}
		if len(values) < 999 && !c.few || len(values) < 2 || others < 100 {
			t.Errorf("%+v: %d values of 1000, %d differ by place and seed", c.g, len(values), others)
		}
	}
	if got := string(generated(t, plans.Generator{Kind: plans.Counter}, 7).append([]byte("n"), 41)); got != "n41" {
		t.Errorf("counter of arrival 41 is %q, want n41", got)
	}
}

// A seed means the same values with every version.
func TestGeneratedValuesStay(t *testing.T) {
	var got strings.Builder
	for _, g := range []plans.Generator{
		{Kind: plans.UUID}, {Kind: plans.RandomInt, Int: [2]int64{1, 100}}, {Kind: plans.RandomFloat, Float: [2]float64{0, 1}}, {Kind: plans.RandomHex, Int: [2]int64{16}},
	} {
		fmt.Fprintf(&got, "%s ", generated(t, g, 1).append(nil, 5))
	}
	if want := "541b116e-4f41-4453-b2bc-dd316972700e 33 0.3285380262671034 541b116e4f41d453 "; got.String() != want {
		t.Errorf("got %q, want %q", got.String(), want)
	}
}

// Means and shares are those of the distributions.
func TestDistributions(t *testing.T) {
	const n = 100_000
	mean := func(g plans.Generator) (mean, deviation float64, ones int) {
		made := generated(t, g, 1)
		var sum, squares float64
		for i := range int64(n) {
			v, err := strconv.ParseFloat(string(made.append(nil, i)), 64)
			if err != nil {
				t.Fatal(err)
			}
			if v == 1 {
				ones++
			}
			sum, squares = sum+v, squares+v*v
		}
		mean = sum / n
		return mean, math.Sqrt(squares/n - mean*mean), ones
	}
	if m, d, _ := mean(plans.Generator{Kind: plans.RandomInt, Int: [2]int64{1, 100}}); math.Abs(m-50.5) > 0.5 || math.Abs(d-28.87) > 0.3 {
		t.Errorf("random.int(1,100): mean %v, deviation %v, want 50.5, 28.87", m, d)
	}
	if m, d, _ := mean(plans.Generator{Kind: plans.RandomNormal, Float: [2]float64{100, 15}}); math.Abs(m-100) > 0.25 || math.Abs(d-15) > 0.2 {
		t.Errorf("random.normal(100,15): mean %v, deviation %v", m, d)
	}
	for _, s := range []float64{0, 0.5, 1, 1.1, 3} {
		sum, want := 0.0, 0.0
		for k := 1.0; k <= 1000; k++ {
			sum += math.Pow(k, -s)
			want += math.Pow(k, 1-s)
		}
		m, d, ones := mean(plans.Generator{Kind: plans.RandomZipf, Int: [2]int64{1000}, Float: [2]float64{s}})
		if share := float64(ones) / n; math.Abs(share-1/sum) > 0.01 || math.Abs(m-want/sum) > 5*d/math.Sqrt(n) {
			t.Errorf("random.zipf(1000,%v): %v are 1, mean %v, want %v, %v", s, share, m, 1/sum, want/sum)
		}
	}
}

// Times are those of the rendering; in a path, what is no plain character is encoded.
func TestGeneratedTimes(t *testing.T) {
	before := time.Now().Add(-time.Second)
	req := &plans.Request{Method: "POST", HasBody: true,
		Path: plans.Template{{Literal: "/"}, {Generator: &plans.Generator{Kind: plans.TimeRFC3339}, Encode: true}, {Literal: "/"},
			{Generator: &plans.Generator{Kind: plans.RandomChoice, Choices: []string{"a/b", "a/b"}}, Encode: true}},
		Body: plans.Template{{Generator: &plans.Generator{Kind: plans.TimeRFC3339}}, {Literal: " "}, {Generator: &plans.Generator{Kind: plans.TimeUnixMS}},
			{Literal: " "}, {Generator: &plans.Generator{Kind: plans.TimeUnix}}}}
	r, err := newRenderer(req, twoHosts, true, 1)
	if err != nil {
		t.Fatal(err)
	}
	text, at := r.render(nil, 0, 0)
	if !regexp.MustCompile(`^POST /20[0-9-]{8}T[0-9]{2}:[0-9]{2}:[0-9.]{6}Z/a%2Fb HTTP`).Match(text) {
		t.Errorf("request %q", text)
	}
	if want := fmt.Sprintf("\r\nContent-Length: %d\r\n\r\n", len(text)-at); !strings.HasSuffix(string(text[:at]), want) {
		t.Errorf("head %q, want %q at its end", text[:at], want)
	}
	var date string
	var ms, s int64
	if _, err := fmt.Sscan(string(text[at:]), &date, &ms, &s); err != nil {
		t.Fatalf("%q: %v", text[at:], err)
	}
	if got, err := time.Parse(time.RFC3339, date); err != nil || got.Before(before) || time.UnixMilli(ms).Before(before) || s != ms/1000 && s != ms/1000+1 {
		t.Errorf("times %q %d %d, %v", date, ms, s, err)
	}
}

// A body of some 190 bytes with two columns, and one with generated values, are rendered without an allocation.
func TestVariedBodiesDoNotAllocate(t *testing.T) {
	for name, req := range variedRequests() {
		r, err := newRenderer(req, twoHosts, true, 1)
		if err != nil {
			t.Fatal(err)
		}
		buf, i := make([]byte, 0, 1024), int64(0)
		if n := testing.AllocsPerRun(200, func() { buf, _ = r.render(buf, 0, i); i++ }); n != 0 {
			t.Errorf("%s: %v allocations, want 0", name, n)
		}
	}
}

// variedRequests are posts of some 190 bytes whose body has two columns, in several orders, or generated values.
func variedRequests() map[string]*plans.Request {
	all := map[string]*plans.Request{}
	post := func(name string, first, second plans.Part) {
		all[name] = &plans.Request{Method: "POST", Path: literal("/rank"), HasBody: true, Headers: headers("content-type", "application/json"), Body: plans.Template{
			{Literal: `{"user_id": "`}, first, {Literal: `", "session": "`}, second,
			{Literal: `", "limit": 50, "fields": ["title", "price", "stock", "seller"], "filter": {"stock": true, "price": {"from": 10, "to": 2500}}, "debug": 0}`}}}
	}
	for _, o := range []plans.Order{plans.Sequential, plans.Shuffled, plans.Weighed} {
		d := tableOf(10_000, o)
		d.Columns = []string{"id", "session"}
		for i := range d.Rows {
			d.Rows[i] = []string{fmt.Sprintf("user-%08d", i), fmt.Sprintf("s-%012d", i*7919)}
		}
		post(string(o), plans.Part{Data: d}, plans.Part{Data: d, Column: 1})
	}
	post("generated", plans.Part{Generator: &plans.Generator{Kind: plans.RandomInt, Int: [2]int64{1, 1_000_000}}},
		plans.Part{Generator: &plans.Generator{Kind: plans.UUID, Number: 1}})
	return all
}

// BenchmarkRender is what docs/performance.md has.
func BenchmarkRender(b *testing.B) {
	for name, req := range variedRequests() {
		r, err := newRenderer(req, twoHosts, true, 1)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			buf, i, body := make([]byte, 0, 1024), int64(0), 0
			for b.Loop() {
				var at int
				buf, at = r.render(buf, 0, i)
				body += len(buf) - at
				i++
			}
			b.ReportMetric(float64(body)/float64(i), "body-bytes")
			b.ReportMetric(float64(i)/b.Elapsed().Seconds()/1e6, "million/s")
		})
	}
}
