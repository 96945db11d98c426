package bench

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/process"
	"github.com/perfplan/perfplan/runner/result"
	"github.com/perfplan/perfplan/runner/stats"
)

const (
	warmBatch  = time.Millisecond       // a batch of the warm-up lasts at least this, once the cost is known
	warmLeast  = 300 * time.Millisecond // a warm-up until steady lasts at least this, or a third of its bound
	warmPoints = 8                      // least batches that are judged
	warmThin   = 200                    // longer series are thinned to this many points before they are judged
	warmTol    = 0.05                   // relative change that is not taken for warming up …
	warmTolMax = 0.25                   // … and most that noise may raise it to
	warmShare  = 10                     // a batch has at most this part of the iterations before it

	maxIterations = 1 << 40 // a subject that needs more for a sample does nothing
)

// A fork is one fresh process of the subject in one cell of the grid while it is measured.
type fork struct {
	plan *plans.Microbenchmark
	cell plans.Cell
	rec  result.Fork

	talk      talk
	begin     time.Time // of the warm-up
	samples   []batch
	walls     []time.Duration // how long we waited for each sample
	checksums []string        // distinct, in order
	rss       int64           // most memory of its processes, in bytes
	overhead  float64         // ns of an empty shell
	goodbye   string          // what was wrong with the end, "" for nothing
}

// measure runs the whole fork. The process and its descendants are gone when it returns.
func (f *fork) measure(ctx context.Context, s *opener) error {
	t, err := s.open(ctx, f.cell)
	if err != nil {
		return err
	}
	f.talk, f.begin = t, time.Now()
	if err := f.work(ctx); err != nil {
		err = t.withOutput(err)
		t.kill()
		return err
	}
	f.rss = t.peak()
	if w, ok := t.(*timed); ok {
		f.overhead = w.overhead
	}
	f.goodbye = t.close()
	return nil
}

func (f *fork) work(ctx context.Context) error {
	if err := f.warmUp(ctx); err != nil {
		return err
	}
	return f.take(ctx)
}

// take calibrates and takes the samples. Samples that turn out to have been warm-up are taken anew.
func (f *fork) take(ctx context.Context) error {
	for {
		if err := f.calibrate(ctx); err != nil {
			return err
		}
		if err := f.sample(ctx); err != nil {
			return err
		}
		if f.plan.Warmup.Steady && !f.rec.Settled && f.plan.Subject.Kind == plans.SubjectTime && len(f.rec.WarmupNS) < warmPoints {
			f.rec.Settled = level(f.rec.SamplesNS) // too few runs fit into the bound to be judged by themselves
		}
		late := warmupEnd(f.rec.SamplesNS)
		if late == 0 || !f.plan.Warmup.Steady || !f.rec.Settled {
			return nil
		}
		if time.Since(f.begin) >= f.plan.Warmup.AtMost {
			f.rec.Settled, f.rec.SettledIterations = false, nil
			return nil
		}
		f.discard(late)
	}
}

// run asks for n iterations and keeps the checksum.
func (f *fork) run(ctx context.Context, n int64) (batch, time.Duration, error) {
	b, wall, err := f.talk.run(ctx, n)
	if err == nil && b.checksum != "" && !slices.Contains(f.checksums, b.checksum) {
		f.checksums = append(f.checksums, b.checksum)
	}
	return b, wall, err
}

// thrown runs n iterations that count as warm-up.
func (f *fork) thrown(ctx context.Context, n int64) (batch, error) {
	b, _, err := f.run(ctx, n)
	if err != nil {
		return b, err
	}
	f.throw(b)
	return b, nil
}

func (f *fork) throw(b batch) {
	f.rec.WarmupOf = append(f.rec.WarmupOf, b.iterations)
	f.rec.WarmupIterations += b.iterations
	f.rec.WarmupNS = append(f.rec.WarmupNS, b.perIteration())
}

func (b batch) perIteration() float64 { return float64(b.ns) / float64(b.iterations) }

// warmUp runs batches until they are steady, or for the plan's time.
func (f *fork) warmUp(ctx context.Context) error {
	until := f.plan.Warmup
	f.rec.Settled = !until.Steady // a fixed time is the plan's decision
	least := min(warmLeast, until.AtMost/3)
	for n, check := int64(1), warmPoints; time.Since(f.begin) < until.AtMost; {
		b, err := f.thrown(ctx, n)
		if err != nil {
			return err
		}
		n = min(grown(b, warmBatch), max(1, f.rec.WarmupIterations/warmShare)) // so that its end can be told that finely
		if !until.Steady || len(f.rec.WarmupOf) < check || time.Since(f.begin) < least {
			continue
		}
		check = len(f.rec.WarmupOf) + max(1, len(f.rec.WarmupOf)/10)
		if at, ok := settled(f.rec.WarmupNS); ok {
			f.settledAt(at)
			return nil
		}
	}
	return nil
}

// settledAt notes that the warm-up was over before its entry at.
func (f *fork) settledAt(at int) {
	var sum int64
	for _, n := range f.rec.WarmupOf[:at] {
		sum += n
	}
	f.rec.Settled, f.rec.SettledIterations = true, &sum
}

// grown returns how many iterations the next batch needs to last d, at most ten times as many as the last one had.
func grown(last batch, d time.Duration) int64 {
	if time.Duration(last.ns) >= d {
		return max(1, int64(math.Ceil(float64(d)/last.perIteration())))
	}
	n := 10 * float64(last.iterations)
	if last.ns > 0 {
		n = min(n, math.Ceil(1.2*float64(d)/last.perIteration()))
	}
	return max(int64(n), last.iterations+1)
}

// settled tells from which entry on a warm-up series is steady. Its second half is what is judged, so a series that
// drifts without end never is, however slow the drift becomes in relation. The tolerance is at least two standard
// errors of a window's median.
func settled(series []float64) (at int, ok bool) {
	width := (len(series) + warmThin - 1) / warmThin
	thin := series
	if width > 1 {
		thin = nil
		for c := range slices.Chunk(series, width) {
			thin = append(thin, stats.Median(c))
		}
	}
	window := len(thin) / 4
	if window < warmPoints/2 {
		window = warmPoints / 2
	}
	if len(thin) < 2*window {
		return 0, false
	}
	end := thin[len(thin)-2*window:]
	// 1.4826 makes the MAD a standard deviation, 1.2533 is the standard error of a median over that of a mean
	noise := 2 * 1.4826 * 1.2533 * stats.MAD(end) / math.Sqrt(float64(window)) / stats.Median(end)
	tol := min(max(warmTol, noise), warmTolMax)
	at, ok = stats.Settled(thin, window, tol)
	return onset(series, min(at*width, len(series)-1), tol), ok
}

// onset is the first entry from which on a series that is steady at an entry stays near that level. Of three neighbours one
// may be off.
func onset(series []float64, at int, tol float64) int {
	steady := stats.Median(series[at:])
	near := func(x float64) bool { return math.Abs(x-steady) <= tol*steady }
	for at > 0 && near(stats.Median(series[at-1:min(at+2, len(series))])) {
		at--
	}
	for at < len(series)-1 && !near(series[at]) {
		at++
	}
	return at
}

// level tells whether samples neither begin high nor rise or fall.
func level(samples []float64) bool {
	if warmupEnd(samples) > 0 {
		return false
	}
	drift := stats.TheilSen(samples) * float64(len(samples))
	_, p, ok := stats.MannKendall(samples)
	return !ok || p >= 0.05 || math.Abs(drift) <= warmTol*stats.Median(samples)
}

// calibrate chooses the iterations of a sample. What it runs counts as warm-up.
func (f *fork) calibrate(ctx context.Context) error {
	if f.plan.MinTime == 0 || f.plan.Subject.Kind == plans.SubjectGo { // a sample is one run, or chosen by the test
		f.rec.SampleIterations = 1
		return nil
	}
	n := int64(1)
	if recent := f.rec.WarmupNS[max(0, len(f.rec.WarmupNS)-5):]; len(recent) > 0 {
		if per := stats.Median(recent); per >= float64(f.plan.MinTime) {
			f.rec.SampleIterations = 1
			return nil
		} else if per > 0 {
			n = int64(min(math.Ceil(1.2*float64(f.plan.MinTime)/per), maxIterations))
		}
	}
	for {
		b, err := f.thrown(ctx, n)
		if err != nil {
			return err
		}
		if time.Duration(b.ns) >= f.plan.MinTime {
			f.rec.SampleIterations = n
			return nil
		}
		if n = grown(b, f.plan.MinTime); n > maxIterations {
			return &clockError{fmt.Sprintf("%d iterations take only %v: the subject seems to do nothing", b.iterations, time.Duration(b.ns))}
		}
	}
}

// sample takes the planned samples.
func (f *fork) sample(ctx context.Context) error {
	m := f.talk.meter()
	read := func() (u process.Usage) {
		if m != nil {
			u = m.Read()
		}
		return u
	}
	if m != nil {
		defer m.Close()
	}
	for range f.plan.Samples {
		before := read()
		b, wall, err := f.run(ctx, f.rec.SampleIterations)
		if err != nil {
			return err
		}
		if m != nil {
			b.usage = read().Sub(before)
			b.cpuNS = new(int64(b.usage.CPU))
		}
		if f.plan.Subject.Kind == plans.SubjectGo {
			f.rec.SampleIterations = b.iterations
		}
		if b.ns == 0 {
			return &clockError{fmt.Sprintf("the subject reports 0 ns for %d iterations", b.iterations)}
		}
		f.samples = append(f.samples, b)
		f.rec.SamplesNS = append(f.rec.SamplesNS, b.perIteration())
		f.walls = append(f.walls, wall)
	}
	return nil
}

// warmupEnd returns how many of the samples were still warm-up: the most k such that each of the first k is more than
// a fifth above each of the rest, of which there are at least three. A plateau of the warm-up that outlasts the
// series that was judged looks like that; noise hardly does.
func warmupEnd(samples []float64) int {
	for k := len(samples) - 3; k > 0; k-- {
		if slices.Min(samples[:k]) > 1.2*slices.Max(samples[k:]) {
			return k
		}
	}
	return 0
}

// discard counts the samples as warm-up, of which the first late were.
func (f *fork) discard(late int) {
	at := len(f.rec.WarmupOf) + late
	for _, b := range f.samples {
		f.throw(b)
	}
	f.samples, f.rec.SamplesNS, f.walls = nil, nil, nil
	f.settledAt(at)
}

// doubted tells whether the subject's clock counted far less than we waited, in each sample: a busy machine may hold
// up a few answers, but not all of them.
func (f *fork) doubted() bool {
	for i, b := range f.samples {
		if float64(b.ns) >= clockLeast*float64(f.walls[i]-clockSlack) {
			return false
		}
	}
	return len(f.samples) > 0
}

// disbelieved tells whether the subject's clock counted so much less than we waited, over all samples of these forks,
// that it is no measure of the work.
func disbelieved(forks []*fork) bool {
	var counted, waited, slack time.Duration
	for _, f := range forks {
		for i, b := range f.samples {
			counted += time.Duration(b.ns)
			waited += f.walls[i]
			slack += clockSlack
		}
	}
	return float64(counted) < clockWrong*float64(waited) && waited-counted > slack
}

func isClockError(err error) bool {
	_, ok := errors.AsType[*clockError](err)
	return ok
}
