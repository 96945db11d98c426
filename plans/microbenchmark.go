package plans

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

func (l *loader) microbenchmark(it *item) *Microbenchmark {
	m := &Microbenchmark{Sizes: l.sizes(it.get("sizes")), Parameters: l.parameters(it.get("parameters")), Forks: int(it.get("forks").integer()),
		Samples: int(it.get("samples").integer()), MinTime: it.get("min_time").duration(), Timeout: it.get("timeout").duration(), Seed: uint64(it.get("seed").integer())}
	m.unknown = it.has("sizes") && len(m.Sizes) == 0 || it.has("parameters") && len(m.Parameters) == 0
	dir := l.folder(it.get("subject").get("dir"))
	if b := it.get("build"); b != nil && l.checkWords(b) {
		c := l.command(b, dir, "")
		m.Build = &c
	}
	l.subject(it, m, dir)
	if w := it.get("warmup"); w != nil {
		m.Warmup = l.until(w)
	}
	if r := it.get("reference"); r != nil {
		m.Reference = &Reference{Name: r.get("name").value(), Source: r.get("source").value()}
		for _, pt := range r.get("points").children() {
			if size, err := strconv.Atoi(pt.name); err == nil {
				m.Reference.Points = append(m.Reference.Points, ReferencePoint{size, pt.time})
			}
		}
		slices.SortFunc(m.Reference.Points, func(a, b ReferencePoint) int { return a.Size - b.Size })
	}
	if n := len(m.Cells()); n > maxCells {
		l.fault(firstOf(it.get("parameters"), it).fault("grid is too large", strconv.Itoa(n), fmt.Sprintf("at most %d cells", maxCells), ""))
	}
	return m
}

// subject reads what is timed.
func (l *loader) subject(it *item, m *Microbenchmark, dir string) {
	from := it.get("subject")
	m.Subject.Command.Dir = dir
	switch s := &m.Subject; {
	case from.get("command") != nil:
		s.Kind = SubjectProtocol
		if l.checkWords(from.get("command")) {
			s.Command = l.command(from.get("command"), dir, "")
		}
		if !it.has("sizes") {
			l.fault(it.fault("missing key "+quote("sizes"), "", "a list of whole numbers, {from, to, step} or {from, to, times}", "a subject with command is told the size of its work"))
		}
	case from.get("go") != nil:
		g := from.get("go")
		s.Kind, s.Package, s.Benchmark, s.benchmark = SubjectGo, g.get("package").value(), shown(textOf(g.get("benchmark")), false), textOf(g.get("benchmark"))
		s.Command.Text = "go test -bench " + s.Benchmark + " " + s.Package
		l.usesGrid(g.get("benchmark"), it, m)
	case from.get("time") != nil:
		s.Kind = SubjectTime
		if l.checkWords(from.get("time")) {
			s.Command, s.words = l.command(from.get("time"), dir, ""), from.get("time").commandWords()
		}
		l.usesGrid(from.get("time"), it, m)
		l.timedWhole(it, m, "time")
	case from.get("shell") != nil:
		text := from.get("shell")
		s.Kind, s.Shell, s.words = SubjectTime, true, [][]piece{{{text: "sh"}}, {{text: "-c"}}, text.text}
		s.Command.Text, s.Command.Args = shown(text.text, false), []string{"sh", "-c", plain(text.text)}
		l.usesGrid(text, it, m)
		l.timedWhole(it, m, "shell")
	case from.get("results") != nil:
		r := from.get("results")
		s.Kind, s.Format, s.Benchmark = SubjectResults, r.get("format").value(), r.get("benchmark").value()
		if f := r.get("file"); f != nil {
			s.File, s.Command.Text = l.path(f), "results of "+f.value()
		}
		m.Forks, m.Samples, m.MinTime, m.Warmup = 0, 0, 0, Until{}
		l.noRun(it)
	}
}

// textOf is the text of a scalar, also of one that could not be read.
func textOf(it *item) []piece {
	if it == nil {
		return nil
	}
	return it.text
}

// timedWhole leaves out what only work that is repeated within a process has.
func (l *loader) timedWhole(it *item, m *Microbenchmark, kind string) {
	m.MinTime = 0
	if it.has("min_time") {
		l.fault(firstOf(it.get("min_time"), it).fault("least time of a sample that is one run of a command", "", "no min_time with "+kind, ""))
	}
	it.noDefaults("min_time")
}

// noDefaults takes defaults away that mean nothing beside other keys.
func (it *item) noDefaults(names ...string) {
	it.entries = slices.DeleteFunc(it.entries, func(e *item) bool { return !e.given && slices.Contains(names, e.name) })
}

// noRun refuses what says how a subject is run, where none is.
func (l *loader) noRun(it *item) {
	keys := []string{"sizes", "parameters", "forks", "samples", "min_time", "warmup", "timeout", "seed"}
	it.noDefaults(keys...)
	for _, k := range keys {
		if it.has(k) {
			l.fault(firstOf(it.get(k), it).fault(k+" of results that are there already", "", "no "+k+" with results", "what was measured is what the file has"))
		}
	}
}

// usesGrid checks that a text has a place for each dimension of the grid, and no other.
func (l *loader) usesGrid(text, it *item, m *Microbenchmark) {
	if text == nil || it.has("parameters") && it.get("parameters") == nil {
		return
	}
	pieces := slices.Concat(text.words...)
	pieces = append(pieces, text.text...)
	for _, e := range text.list {
		pieces = append(pieces, e.text...)
	}
	var names, holes []string
	foreign := false
	if it.has("sizes") {
		names = append(names, "size")
	}
	for _, p := range m.Parameters {
		names = append(names, p.Name)
	}
	for _, p := range pieces {
		if p.hole == "" {
			continue
		}
		holes = append(holes, p.hole)
		switch {
		case slices.Contains(names, p.hole):
		case p.hole == "size":
			foreign = true
			l.fault(text.fault("${size} without sizes", "", "sizes in the microbenchmark", ""))
		default:
			foreign = true
			l.fault(text.fault("unknown variable", quote("${"+p.hole+"}"), "a name of vars or of parameters, or ${size}", didYouMean(p.hole, append(names, l.varNames()...))))
		}
	}
	for _, n := range names {
		if !foreign && !slices.Contains(holes, n) {
			l.fault(text.fault("every "+n+" would be the same work", "", "${"+n+"} in it", ""))
		}
	}
}

// varNames are the names of the plan's variables, sorted.
func (l *loader) varNames() []string {
	names := make([]string, 0, len(l.vars))
	for v := range l.vars {
		names = append(names, v)
	}
	slices.Sort(names)
	return names
}

func (l *loader) parameters(it *item) []Parameter {
	var all []Parameter
	for _, e := range it.children() {
		p := Parameter{Name: e.name}
		if e.name == "size" {
			l.fault(Problem{Pos: e.keyPos, Path: e.path, What: "parameter that is called size", Hint: "give sizes"})
			continue
		}
		if _, ok := l.vars[e.name]; ok {
			l.fault(Problem{Pos: e.keyPos, Path: e.path, What: "a parameter and a variable of one name", Got: quote(e.name), Want: "another name for one of them"})
			continue
		}
		for _, v := range e.list {
			switch text := v.value(); {
			case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r == 0x7f }) || strings.ContainsAny(text, ",]["):
				l.fault(v.fault("not a value of a parameter", v.quoted(), "a value without blanks, commas and brackets", ""))
			case slices.Contains(p.Values, text):
				l.fault(v.fault("value is given twice", v.quoted(), "", ""))
			default:
				p.Values = append(p.Values, text)
			}
		}
		if len(p.Values) > 0 {
			all = append(all, p)
		}
	}
	return all
}

// maxCells bounds the grid of a microbenchmark.
const maxCells = 10_000

// Cells are the places of the grid: for each combination of parameters, the last one varying fastest, all sizes. There
// is at least one.
func (m *Microbenchmark) Cells() []Cell {
	rows := [][]Setting{nil}
	for _, p := range m.Parameters {
		var next [][]Setting
		for _, r := range rows {
			for _, v := range p.Values {
				next = append(next, append(slices.Clone(r), Setting{p.Name, v}))
			}
		}
		if rows = next; len(rows) > maxCells {
			break
		}
	}
	var cells []Cell
	for _, r := range rows {
		if len(m.Sizes) == 0 {
			cells = append(cells, Cell{Settings: r})
		}
		for _, s := range m.Sizes {
			cells = append(cells, Cell{s, r})
		}
	}
	return cells
}

// String names the cell: "quick, size 1000"; "" for the only one.
func (c Cell) String() string {
	var parts []string
	for _, s := range c.Settings {
		parts = append(parts, s.Name+" "+s.Value)
	}
	if c.Size > 0 {
		parts = append(parts, "size "+strconv.Itoa(c.Size))
	}
	return strings.Join(parts, ", ")
}

// value is what a hole stands for in the cell.
func (c Cell) value(hole string) string {
	if hole == "size" {
		return strconv.Itoa(c.Size)
	}
	for _, s := range c.Settings {
		if s.Name == hole {
			return s.Value
		}
	}
	return ""
}

// At is the command of a cell, of SubjectProtocol and SubjectTime.
func (s Subject) At(c Cell) Command {
	out := s.Command
	if s.words == nil {
		return out
	}
	out.Args = nil
	for _, w := range s.words {
		out.Args = append(out.Args, fill(w, c.value))
	}
	return out
}

// BenchmarkAt is the name of the benchmark for a cell, of SubjectGo.
func (s Subject) BenchmarkAt(c Cell) string { return fill(s.benchmark, c.value) }

// autoWarmup is the longest time that "warmup: auto" takes, per fork and size.
const autoWarmup = 5 * time.Second

// until reads the warm-up of a microbenchmark: auto, none or a duration.
func (l *loader) until(it *item) Until {
	switch text := it.value(); text {
	case "auto":
		return Until{Steady: true, AtMost: autoWarmup}
	case "none":
		return Until{}
	default:
		d, what, hint := readDuration(text)
		switch {
		case what != "":
			if near := didYouMean(text, []string{"auto", "none"}); near != "" {
				hint = near
			}
			l.fault(it.fault(what, it.quoted(), it.shape.want(), hint))
		case d == 0:
			l.fault(it.fault("out of range", it.quoted(), it.shape.want(), "write none"))
		}
		return Until{AtMost: d}
	}
}

// maxSizes bounds the sizes of a microbenchmark.
const maxSizes = 1000

func (l *loader) sizes(it *item) []int {
	if it == nil {
		return nil
	}
	if it.form == mapForm {
		return l.sizeRange(it)
	}
	var sizes []int
	for _, e := range it.list {
		n := int(e.number)
		if len(sizes) > 0 && n <= sizes[len(sizes)-1] {
			l.fault(e.fault("sizes do not ascend", e.quoted(), fmt.Sprintf("more than %d", sizes[len(sizes)-1]), ""))
			continue
		}
		sizes = append(sizes, n)
	}
	return l.notTooMany(it, sizes)
}

// sizeRange is a range in equal steps, or in equal ratios.
func (l *loader) sizeRange(it *item) []int {
	from, to, step, ratio := it.get("from").integer(), it.get("to").integer(), it.get("step").integer(), it.get("times").integer()
	switch {
	case it.has("step") && it.has("times"):
		l.fault(firstOf(it.get("times"), it).fault("two ways to the next size", "step and times", "one of them", ""))
		return nil
	case !it.has("step") && !it.has("times"):
		l.fault(it.fault("missing key "+quote("step"), "", "step or times", ""))
		return nil
	case from == 0 || to == 0 || step == 0 && ratio == 0:
		return nil
	case to < from:
		l.fault(it.get("to").fault("sizes do not ascend", it.get("to").quoted(), fmt.Sprintf("at least %d", from), ""))
		return nil
	case step > 0 && (to-from)%step != 0:
		l.fault(it.get("step").fault("steps miss the largest size", it.get("step").quoted(), fmt.Sprintf("a number that divides %d", to-from), ""))
		return nil
	}
	var sizes []int
	last := int64(0)
	for n := from; n <= to && len(sizes) <= maxSizes; {
		sizes, last = append(sizes, int(n)), n
		if step > 0 {
			n += step
		} else {
			n *= ratio
		}
	}
	if ratio > 0 && last != to {
		l.fault(it.get("to").fault("the ratio misses the largest size", it.get("to").quoted(), fmt.Sprintf("%d or %d", last, last*ratio), ""))
		return nil
	}
	return l.notTooMany(it, sizes)
}

func (l *loader) notTooMany(it *item, sizes []int) []int {
	if len(sizes) > maxSizes {
		l.fault(it.fault("too many sizes", "", fmt.Sprintf("at most %d", maxSizes), ""))
	}
	return sizes
}
