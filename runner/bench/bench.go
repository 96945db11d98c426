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
)

// A Config says what to measure.
type Config struct {
	*plans.Microbenchmark
	Env      []string       // whole environment of the subject, "KEY=value"; nil is perfplan's own
	Progress func(Progress) // called before each fork and after the last one; may be nil
}

// Progress tells how far a stage is.
type Progress struct {
	Done, Count int // forks over all sizes
	Size        int // of the fork that runs, or of the last one
}

// Run measures all sizes. With an error, also that of an ended ctx, the record holds the sizes that have a complete
// fork; it is never nil. All processes that Run started have ended when it returns.
func Run(ctx context.Context, cfg Config) (*result.Microbenchmark, []result.Warning, error) {
	order := order(cfg.Sizes, cfg.Forks, cfg.Seed)
	var forks []*fork
	var err error
	for i, size := range order {
		cfg.progress(i, size)
		f := &fork{plan: cfg.Microbenchmark, size: size, rec: result.Fork{Order: i}}
		if err = ctx.Err(); err == nil {
			err = f.measure(ctx, cfg.Env)
		}
		if err != nil {
			err = located(err, size, i/len(cfg.Sizes)+1, cfg.Forks)
			break
		}
		forks = append(forks, f)
	}
	if err == nil {
		cfg.progress(len(order), order[len(order)-1])
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

func (c Config) progress(done, size int) {
	if c.Progress != nil {
		c.Progress(Progress{Done: done, Count: len(c.Sizes) * c.Forks, Size: size})
	}
}

// order draws in which order the forks run: each round has every size once.
func order(sizes []int, forks int, seed uint64) []int {
	r := rand.New(rand.NewPCG(seed, 0x70657266706c616e))
	var all []int
	for range forks {
		round := slices.Clone(sizes)
		r.Shuffle(len(round), func(i, j int) { round[i], round[j] = round[j], round[i] })
		all = append(all, round...)
	}
	return all
}

func located(err error, size, fork, forks int) error {
	if ctxEnded(err) {
		return err
	}
	return fmt.Errorf("size %d, fork %d of %d: %w", size, fork, forks, err)
}

// Estimate returns how long Run takes at least, and at most when each warm-up needs its bound. An iteration is taken
// to be shorter than the least time of a sample, and the start of a process to take 50 ms.
func Estimate(m *plans.Microbenchmark) (least, most time.Duration) {
	forks := time.Duration(len(m.Sizes) * m.Forks)
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
			"the warm-up was not steady after %v in %d of %d forks (sizes %s)", m.Warmup.AtMost, len(late), len(forks), sizesOf(late))
	}
	if severity, f := clockDoubt(m, forks); severity != "" {
		add("subject_clock", severity, "let the subject time exactly the iterations, and set up in \"setup\"",
			"the subject's clock counted %v of the %v that perfplan waited for the first sample of size %d; the rest is in no figure",
			time.Duration(f.samples[0].ns), f.walls[0].Round(time.Microsecond), f.size)
	}
	for _, size := range m.Sizes {
		if sums := checksums(forks, size); len(sums) > 1 {
			add("checksum", result.Suspect, "make the subject's work depend on nothing but the size",
				"size %d gave %d different checksums, the first two %q and %q: not all iterations did the same work",
				size, len(sums), sums[0], sums[1])
		}
	}
	if odd := filter(forks, func(f *fork) bool { return f.goodbye != "" }); len(odd) > 0 {
		add("subject_exit", result.Note, "", "%s, in %d of %d forks", odd[0].goodbye, len(odd), len(forks))
	}
	return all
}

// clockDoubt tells how far the subject's clock is to be doubted, "" for not at all, and a fork that shows it: one of the
// first size whose figures are invalid, else of the first that is suspect.
func clockDoubt(m *plans.Microbenchmark, forks []*fork) (severity string, at *fork) {
	for _, size := range m.Sizes {
		of := filter(forks, func(f *fork) bool { return f.size == size })
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

func sizesOf(forks []*fork) string {
	var sizes []int
	for _, f := range forks {
		sizes = append(sizes, f.size)
	}
	slices.Sort(sizes)
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(slices.Compact(sizes)), " ", ", "), "[]")
}

// checksums are the distinct ones at a size, in the order they came.
func checksums(forks []*fork, size int) []string {
	var sums []string
	for _, f := range forks {
		for _, c := range f.checksums {
			if f.size == size && !slices.Contains(sums, c) {
				sums = append(sums, c)
			}
		}
	}
	return sums
}
