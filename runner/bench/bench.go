package bench

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

// A Config says what to measure.
type Config struct {
	*plans.Microbenchmark
	Env      []string       // whole environment of the subject, "KEY=value"; nil is perfplan's own
	Progress func(Progress) // called before each fork and after the last one; may be nil
}

// Progress tells how far a stage is.
type Progress struct {
	Done, Count int        // forks over all cells
	Cell        plans.Cell // of the fork that runs, or of the last one
}

// Run measures all cells. With an error, also that of an ended ctx, the record holds the cells that have a complete
// fork; it is never nil. All processes that Run started have ended when it returns.
func Run(ctx context.Context, cfg Config) (*result.Microbenchmark, []result.Warning, error) {
	if cfg.Subject.Kind == plans.SubjectResults {
		return read(cfg.Microbenchmark)
	}
	s := &opener{plan: cfg.Microbenchmark, env: cfg.Env}
	done, err := s.prepare(ctx)
	defer done()
	if err != nil {
		return record(cfg.Microbenchmark, nil), nil, err
	}
	order := order(cfg.Cells(), cfg.Forks, cfg.Seed)
	var forks []*fork
	for i, c := range order {
		cfg.progress(i, len(order), c)
		f := &fork{plan: cfg.Microbenchmark, cell: c, rec: result.Fork{Order: i}}
		if err = ctx.Err(); err == nil {
			err = f.measure(ctx, s)
		}
		if err != nil {
			err = located(err, c, i*cfg.Forks/len(order)+1, cfg.Forks)
			break
		}
		forks = append(forks, f)
	}
	if err == nil {
		cfg.progress(len(order), len(order), order[len(order)-1])
	}
	warnings := warnings(cfg.Microbenchmark, forks)
	if isClockError(err) {
		warnings = append(warnings, result.Warning{
			Code: "subject_clock", Severity: result.Invalid, Text: err.Error(),
			Fix: "let the subject time exactly the iterations, with a monotonic clock in nanoseconds",
		})
	}
	return record(cfg.Microbenchmark, forks), warnings, err
}

func (c Config) progress(done, count int, cell plans.Cell) {
	if c.Progress != nil {
		c.Progress(Progress{Done: done, Count: count, Cell: cell})
	}
}

// order draws in which order the forks run: each round has every cell once.
func order(cells []plans.Cell, forks int, seed uint64) []plans.Cell {
	r := rand.New(rand.NewPCG(seed, 0x70657266706c616e))
	var all []plans.Cell
	for range forks {
		round := slices.Clone(cells)
		r.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		all = append(all, round...)
	}
	return all
}

func located(err error, c plans.Cell, fork, forks int) error {
	if ctxEnded(err) {
		return err
	}
	where := fmt.Sprintf("fork %d of %d", fork, forks)
	if name := c.String(); name != "" {
		where = name + ", " + where
	}
	return fmt.Errorf("%s: %w", where, err)
}

// Estimate returns how long Run takes at least, and at most when each warm-up needs its bound. An iteration is taken
// to be shorter than the least time of a sample, and the start of a process to take 50 ms.
func Estimate(m *plans.Microbenchmark) (least, most time.Duration) {
	if m.Subject.Kind == plans.SubjectResults {
		return 0, 0
	}
	forks := time.Duration(len(m.Cells()) * m.Forks)
	sampling := 50*time.Millisecond + time.Duration(m.Samples+1)*m.MinTime*6/5
	warm := m.Warmup.AtMost
	if m.Warmup.Steady {
		warm = min(warmLeast, m.Warmup.AtMost/3)
	}
	return forks * (warm + sampling), forks * (m.Warmup.AtMost + sampling)
}

// warnings says what a reader of the figures must know about the forks.
func warnings(m *plans.Microbenchmark, forks []*fork) []result.Warning {
	var all []result.Warning
	add := func(code, severity, fix, format string, args ...any) {
		all = append(all, result.Warning{Code: code, Severity: severity, Text: fmt.Sprintf(format, args...), Fix: fix})
	}
	if late := filter(forks, func(f *fork) bool { return !f.rec.Settled }); len(late) > 0 {
		add("warmup_unsettled", result.Suspect, "give the warm-up more time (warmup: at_most), or quieten the machine",
			"the warm-up was not steady after %v in %d of %d forks%s", m.Warmup.AtMost, len(late), len(forks), cellsOf(late))
	}
	if severity, f := clockDoubt(m, forks); severity != "" {
		add("subject_clock", severity, "let the subject time exactly the iterations, and set up in \"setup\"",
			"the subject's clock counted %v of the %v that perfplan waited for the first sample%s; the rest is in no figure",
			time.Duration(f.samples[0].ns), f.walls[0].Round(time.Microsecond), of(f.cell))
	}
	for _, c := range m.Cells() {
		if sums := checksums(forks, c); len(sums) > 1 {
			add("checksum", result.Suspect, "make the subject's work depend on nothing but the size and the parameters",
				"%d different checksums%s, the first two %q and %q: not all iterations did the same work",
				len(sums), of(c), sums[0], sums[1])
		}
	}
	if text := idle(m, forks); text != "" {
		add("no_work", result.Suspect, "let the subject's checksum be one of the result that it computes, and see that the work is not left out",
			"%s", text)
	}
	if f := shellBound(forks); f != nil {
		add("shell_overhead", result.Suspect, "give the command under time, without a shell, or more work",
			"an empty shell takes %v, most of the %v of the whole%s: what is left is not well known",
			time.Duration(f.overhead).Round(time.Microsecond), time.Duration(f.overhead+stats.Median(f.rec.SamplesNS)).Round(time.Microsecond), of(f.cell))
	}
	if odd := filter(forks, func(f *fork) bool { return f.goodbye != "" }); len(odd) > 0 {
		add("subject_exit", result.Note, "", "%s, in %d of %d forks", odd[0].goodbye, len(odd), len(forks))
	}
	return all
}

// clockDoubt tells how far the subject's clock is to be doubted, "" for not at all, and a fork that shows it: one of the
// first size whose figures are invalid, else of the first that is suspect.
func clockDoubt(m *plans.Microbenchmark, forks []*fork) (severity string, at *fork) {
	if m.Subject.Kind != plans.SubjectProtocol {
		return "", nil
	}
	for _, c := range m.Cells() {
		of := filter(forks, func(f *fork) bool { return same(f.cell, c) })
		switch {
		case disbelieved(of):
			return result.Invalid, of[0]
		case at == nil && len(of) > 0 && !slices.ContainsFunc(of, func(f *fork) bool { return !f.doubted() }):
			severity, at = result.Suspect, of[0]
		}
	}
	return severity, at
}

func filter(forks []*fork, keep func(*fork) bool) []*fork {
	return slices.DeleteFunc(slices.Clone(forks), func(f *fork) bool { return !keep(f) })
}

// cellsOf names where forks are: " (size 10, size 20)"; "" where there is only one place.
func cellsOf(forks []*fork) string {
	var names []string
	slices.SortStableFunc(forks, func(a, b *fork) int { return a.cell.Size - b.cell.Size })
	for _, f := range forks {
		if name := f.cell.String(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if names == nil {
		return ""
	}
	return " (" + strings.Join(names, "; ") + ")"
}

// of is " of size 10", "" for the only cell.
func of(c plans.Cell) string {
	if name := c.String(); name != "" {
		return " of " + name
	}
	return ""
}

func same(a, b plans.Cell) bool { return a.Size == b.Size && slices.Equal(a.Settings, b.Settings) }

// checksums are the distinct ones in a cell, in the order they came.
func checksums(forks []*fork, at plans.Cell) []string {
	var sums []string
	for _, f := range forks {
		for _, c := range f.checksums {
			if same(f.cell, at) && !slices.Contains(sums, c) {
				sums = append(sums, c)
			}
		}
	}
	return sums
}

// idle says how a subject shows that it computes nothing: it takes next to no time for any size, or one checksum for all of
// several sizes though its work grows with them.
func idle(m *plans.Microbenchmark, forks []*fork) string {
	if m.Subject.Kind != plans.SubjectProtocol && m.Subject.Kind != plans.SubjectGo {
		return ""
	}
	slowest := 0.0
	var sums []string
	for _, f := range forks {
		slowest = max(slowest, stats.Median(f.rec.SamplesNS))
		for _, c := range f.checksums {
			if !slices.Contains(sums, c) {
				sums = append(sums, c)
			}
		}
	}
	switch {
	case len(forks) == 0:
		return ""
	case slowest < noWork:
		return fmt.Sprintf("an iteration takes %.2g ns at most, which is what an empty loop takes: the subject seems to compute nothing", slowest)
	case len(m.Sizes) > 1 && len(sums) == 1:
		return fmt.Sprintf("the checksum is %q for all %d sizes: the result does not depend on the size, so it may be one that was not computed", sums[0], len(m.Sizes))
	}
	return ""
}

// noWork is the time of an iteration, in ns, that no work takes.
const noWork = 0.8

// shellBound is a fork whose shell takes longer than the command; nil: there is none.
func shellBound(forks []*fork) *fork {
	i := slices.IndexFunc(forks, func(f *fork) bool { return f.overhead > stats.Median(f.rec.SamplesNS) })
	if i < 0 {
		return nil
	}
	return forks[i]
}
