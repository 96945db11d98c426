package schedule

import (
	"cmp"
	"math"
	"slices"
	"testing"
	"time"
)

// kolmogorov returns the largest distance of the sample's distribution from f,
// times the root of the sample size; 1.63 is exceeded in 1 of 100 cases.
func kolmogorov(sample []float64, f func(float64) float64) float64 {
	n := float64(len(sample))
	d := 0.0
	for i, x := range slices.Sorted(slices.Values(sample)) {
		d = max(d, f(x)-float64(i)/n, float64(i+1)/n-f(x))
	}
	return d * math.Sqrt(n)
}

func TestPoissonGaps(t *testing.T) {
	t.Parallel()
	const rate = 200.
	far := 0
	for seed := range uint64(40) {
		all := offsets(t, mustNew(t, []Segment{hold(rate, 50*time.Second)}, Poisson, seed))
		gaps := make([]float64, len(all))
		last := time.Duration(0)
		var sum, square float64
		for i, at := range all {
			gaps[i] = (at - last).Seconds()
			last = at
			sum += gaps[i]
			square += gaps[i] * gaps[i]
		}
		n := float64(len(gaps))
		mean := sum / n
		if cv := math.Sqrt(square/n-mean*mean) / mean; math.Abs(cv-1) > 0.06 { // 6 standard errors
			t.Errorf("seed %d: CV of the gaps = %.3f, want 1", seed, cv)
		}
		if math.Abs(n-rate*50) > 5*math.Sqrt(rate*50) {
			t.Errorf("seed %d: %v arrivals, want about %v", seed, n, rate*50)
		}
		if kolmogorov(gaps, func(x float64) float64 { return 1 - math.Exp(-rate*x) }) > 1.36 { // 1 of 20
			far++
		}
	}
	if far > 7 { // binomial(40, 0.05): more than 7 has chance 0.001
		t.Errorf("the gaps of %d of 40 seeds are not exponential at 5 %%", far)
	}
}

// The index of dispersion, variance over mean of the counts in windows, is 1 at
// every width, also beyond the block size of the generator.
func TestPoissonDispersion(t *testing.T) {
	t.Parallel()
	all := offsets(t, mustNew(t, []Segment{hold(2000, 200*time.Second)}, Poisson, 42))
	for _, width := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond, 512 * time.Millisecond, 2 * time.Second} {
		counts := make([]float64, 200*time.Second/width)
		for _, at := range all {
			if i := int(at / width); i < len(counts) {
				counts[i]++
			}
		}
		n := float64(len(counts))
		var sum, square float64
		for _, c := range counts {
			sum += c
			square += c * c
		}
		mean := sum / n
		idc := (square/n - mean*mean) * n / (n - 1) / mean
		if slack := 4 * math.Sqrt(2/n); math.Abs(idc-1) > slack {
			t.Errorf("IDC(%v) = %.3f, want 1 ± %.3f", width, idc, slack)
		}
	}
}

// On a ramp, the share of arrivals before t is that of the integrated rate.
func TestPoissonRamp(t *testing.T) {
	t.Parallel()
	segs := []Segment{ramp(0, 1000, 10*time.Second), hold(1000, 5*time.Second), ramp(1000, 200, 10*time.Second)}
	const total = 5000. + 5000 + 6000
	integral := func(x float64) float64 {
		switch {
		case x < 10:
			return 50 * x * x
		case x < 15:
			return 5000 + 1000*(x-10)
		default:
			return 10_000 + 1000*(x-15) - 40*(x-15)*(x-15)
		}
	}
	for seed := range uint64(8) {
		all := offsets(t, mustNew(t, segs, Poisson, seed))
		times := make([]float64, len(all))
		for i, at := range all {
			times[i] = at.Seconds()
		}
		if d := kolmogorov(times, func(x float64) float64 { return integral(x) / total }); d > 1.95 { // 1 of 1000
			t.Errorf("seed %d: arrivals do not follow the ramp: K = %.2f", seed, d)
		}
	}
}

func TestExponential(t *testing.T) {
	t.Parallel()
	r := blockRandom(1, 2)
	sample := make([]float64, 200_000)
	var sum float64
	for i := range sample {
		sample[i] = r.exponential()
		sum += sample[i]
	}
	if d := kolmogorov(sample, func(x float64) float64 { return -math.Expm1(-x) }); d > 1.95 {
		t.Errorf("not exponential: K = %.2f", d)
	}
	if mean := sum / float64(len(sample)); math.Abs(mean-1) > 0.01 {
		t.Errorf("mean %.4f, want 1", mean)
	}
}

func TestSplitMix(t *testing.T) {
	t.Parallel()
	// The reference implementation's first outputs for seed 1234567.
	r := random(1234567)
	for i, want := range []uint64{6457827717110365317, 3203168211198807973, 9817491932198370423, 4593380528125082431, 16408922859458223821} {
		if got := r.uint64(); got != want {
			t.Errorf("output %d = %d, want %d", i, got, want)
		}
	}
}

func TestSeeds(t *testing.T) {
	t.Parallel()
	segs := []Segment{hold(100, 10*time.Second)}
	seen := map[string]uint64{}
	for seed := range uint64(50) {
		fingerprint := mustNew(t, segs, Poisson, seed).Fingerprint()
		if other, found := seen[fingerprint]; found {
			t.Errorf("seeds %d and %d give the same schedule", seed, other)
		}
		seen[fingerprint] = seed
		if again := mustNew(t, segs, Poisson, seed).Fingerprint(); again != fingerprint {
			t.Errorf("seed %d gives two schedules", seed)
		}
	}
	a, b := mustNew(t, segs, Uniform, 1), mustNew(t, segs, Uniform, 2)
	if a.Fingerprint() != b.Fingerprint() {
		t.Error("the seed changes a uniform schedule")
	}
}

func TestPoissonWithoutArrivals(t *testing.T) {
	t.Parallel()
	s := mustNew(t, []Segment{hold(1e-9, time.Second), hold(1e-9, time.Second)}, Poisson, 1)
	if got := offsets(t, s); len(got) != 0 {
		t.Errorf("got %v, want no arrival in 2e-9 expected", got)
	}
	if got := s.At(0); got != -1 {
		t.Errorf("At(0) = %v, want -1", got)
	}
	if sorted := slices.IsSortedFunc(s.Segments(), func(a, b Span) int { return cmp.Compare(a.Start, b.Start) }); !sorted {
		t.Error("segments are not in order")
	}
}
