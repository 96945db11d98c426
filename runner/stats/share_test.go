package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestClopperPearson(t *testing.T) {
	t.Parallel()
	// Published: Newcombe 1998, table I (method 5); zero and full counts by
	// their closed forms.
	for _, tt := range []struct{ k, n, confidence, lo, hi float64 }{
		{81, 263, 0.95, 0.2527, 0.3676}, {15, 148, 0.95, 0.0578, 0.1617}, {1, 29, 0.95, 0.0009, 0.1776},
		{0, 20, 0.95, 0, 1 - math.Pow(0.025, 1./20)}, {20, 20, 0.95, math.Pow(0.025, 1./20), 1},
	} {
		lo, hi := ClopperPearson(tt.k, tt.n, tt.confidence)
		if math.Abs(lo-tt.lo) > 5e-5 || math.Abs(hi-tt.hi) > 5e-5 {
			t.Errorf("ClopperPearson(%v, %v, %v) = %.5f, %.5f, want %.5f, %.5f", tt.k, tt.n, tt.confidence, lo, hi, tt.lo, tt.hi)
		}
	}
	// The rule of zero exceedances: 299 samples prove a share below 1 %.
	if got := ClopperPearsonUpper(0, 299, 0.95); got > 0.01 {
		t.Errorf("ClopperPearsonUpper(0, 299, 0.95) = %v, want at most 0.01", got)
	}
	if got := ClopperPearsonUpper(0, 298, 0.95); got <= 0.01 {
		t.Errorf("ClopperPearsonUpper(0, 298, 0.95) = %v, want above 0.01", got)
	}
	for _, bad := range [][3]float64{{1, 0, 0.95}, {2, 1, 0.95}, {-1, 5, 0.95}, {1, 5, 1}, {math.NaN(), 5, 0.9}, {1, math.NaN(), 0.9}, {1, math.Inf(1), 0.9}} {
		if lo, hi := ClopperPearson(bad[0], bad[1], bad[2]); lo != 0 || hi != 1 {
			t.Errorf("ClopperPearson(%v) = %v, %v, want 0, 1", bad, lo, hi)
		}
	}
}

func TestClopperPearsonFractional(t *testing.T) {
	t.Parallel()
	last := 0.0
	for k := 0.0; k <= 10; k += 0.25 {
		lo, hi := ClopperPearson(k, 10, 0.9)
		if lo > k/10 || hi < k/10 || hi < last {
			t.Errorf("ClopperPearson(%v, 10, 0.9) = %v, %v, want rising and around %v", k, lo, hi, k/10)
		}
		last = hi
	}
}

// counts draws bins of per samples each, of which iid ones exceed with chance p.
func counts(r *rand.Rand, bins, per int, p float64) (exceed, total []int64) {
	exceed, total = make([]int64, bins), make([]int64, bins)
	for i := range bins {
		total[i] = int64(per)
		for range per {
			if r.Float64() < p {
				exceed[i]++
			}
		}
	}
	return exceed, total
}

// stalls draws the exceedances of a server that stops for an exponential time of
// mean stop at exponential intervals of mean every, in bins: a sample exceeds when
// it falls into the first part of a stop that is longer than limit.
func stalls(r *rand.Rand, bins, per int, every, stop, limit float64) (exceed, total []int64) {
	exceed, total = make([]int64, bins), make([]int64, bins)
	for i := range total {
		total[i] = int64(per)
	}
	for at := r.ExpFloat64() * every; at < float64(bins); at += r.ExpFloat64() * every {
		long := r.ExpFloat64()*stop - limit
		for s := at; s < at+long && s < float64(bins); s += 1 / float64(per) {
			exceed[int(s)]++
		}
	}
	for i := range exceed {
		exceed[i] = min(exceed[i], total[i])
	}
	return exceed, total
}

func TestDesignEffectOfIndependentSamples(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	sum, trials := 0.0, 200
	for range trials {
		exceed, total := counts(r, 60, 500, 0.01)
		deff, ok := DesignEffect(exceed, total, 0.95)
		if !ok || deff < 1 {
			t.Fatalf("DesignEffect = %v, %v, want at least 1", deff, ok)
		}
		sum += deff
	}
	if mean := sum / float64(trials); mean > 1.8 {
		t.Errorf("mean DesignEffect of independent samples = %.2f, want about 1.6: the largest of several lengths", mean)
	}
}

func TestDesignEffectOfStalls(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(5, 6))
	sum, trials := 0.0, 100
	for range trials {
		exceed, total := stalls(r, 60, 500, 2, 0.05, 0.045)
		deff, _ := DesignEffect(exceed, total, 0.95)
		sum += deff
	}
	if mean := sum / float64(trials); mean < 30 || mean > 100 {
		t.Errorf("mean DesignEffect of stalls = %.1f, want about 60", mean)
	}
}

func TestDesignEffectByHand(t *testing.T) {
	t.Parallel()
	// Forty bins of 100; the shares alternate 0.1 and 0.3: p = 0.2, Var = 0.4/39,
	// DEFF = 40/39/0.16; in batches of two the shares are alike, in batches of three they vary less.
	want := 40. / 39 / 0.16
	var exceed, total []int64
	for i := range 40 {
		exceed = append(exceed, int64(10+20*(i%2)))
		total = append(total, 100)
	}
	if got, ok := DesignEffect(exceed, total, 0.95); !ok || !nearly(got, want, 1e-12) {
		t.Errorf("DesignEffect = %v, %v, want %v", got, ok, want)
	}
	// A bin without samples says nothing.
	exceed, total = append(exceed, 0), append(total, 0)
	if got, ok := DesignEffect(exceed, total, 0.95); !ok || !nearly(got, want, 1e-12) {
		t.Errorf("DesignEffect with an empty bin = %v, %v, want the same", got, ok)
	}
	// On a ramp with the same share everywhere the samples are as good as
	// independent, though the bins are not alike.
	exceed, total = nil, nil
	for i := range 40 {
		exceed = append(exceed, int64(10*i+i%2))
		total = append(total, int64(100*i))
	}
	if got, ok := DesignEffect(exceed, total, 0.95); !ok || got != 1 {
		t.Errorf("DesignEffect of a ramp = %v, %v, want 1", got, ok)
	}
}

func TestDesignEffectOfSlowSeries(t *testing.T) {
	t.Parallel()
	// A square wave of 40 bins: batches of 20 bins are all over or all under, 32 of them.
	exceed, total := make([]int64, 640), make([]int64, 640)
	for i := range exceed {
		total[i] = 100
		if i/20%2 == 1 {
			exceed[i] = 100
		}
	}
	// Var = 0.25·32/31 of batches of 2,000 at p = 0.5; lengths of 17 and 22 bins are tried.
	if got, _ := DesignEffect(exceed, total, 0.95); got < 1000 || got > 2000 {
		t.Errorf("DesignEffect = %.0f, want nearly that of batches of half a wave, 2000", got)
	}
}

func TestDesignEffectEdges(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name          string
		exceed, total []int64
		want          float64
		ok            bool
	}{
		{"no exceedance", []int64{0, 0}, []int64{10, 10}, 1, true},
		{"all exceed", []int64{10, 10}, []int64{10, 10}, 1, true},
		{"nine bins", make([]int64, 9), []int64{1, 1, 1, 1, 1, 1, 1, 1, 1}, 1, true},
		{"too few bins", []int64{1, 0}, []int64{10, 10}, 0, false},
		{"no samples", []int64{0}, []int64{0}, 0, false},
		{"nothing", nil, nil, 0, false},
	} {
		got, ok := DesignEffect(tt.exceed, tt.total, 0.95)
		if ok != tt.ok || ok && got != tt.want {
			t.Errorf("%s: DesignEffect = %v, %v, want %v, %v", tt.name, got, ok, tt.want, tt.ok)
		}
	}
}

func TestExceedanceIntervalCovers(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 8))
	// The share of stalls' samples in the mean: rate of stops, times the mean
	// of what is beyond the limit, exp(-limit/stop)·stop.
	stallShare := 1. / 2 * 0.05 * math.Exp(-0.045/0.05)
	for _, tt := range []struct {
		name  string
		draw  func() (exceed, total []int64)
		truth float64
		least float64
	}{
		{"independent", func() ([]int64, []int64) { return counts(r, 60, 500, 0.01) }, 0.01, 0.93},
		{"independent, 12 bins", func() ([]int64, []int64) { return counts(r, 12, 500, 0.02) }, 0.02, 0.93},
		{"stalls", func() ([]int64, []int64) { return stalls(r, 60, 500, 2, 0.05, 0.045) }, stallShare, 0.88},
	} {
		const trials = 500
		both, naive := 0, 0
		for range trials {
			exceed, total := tt.draw()
			iv := ExceedanceInterval(exceed, total, 1, 0.975) // both sides: 0.95
			if iv.Lo <= tt.truth && tt.truth <= iv.Hi {
				both++
			}
			lo, hi := ClopperPearson(iv.Share*float64(iv.N), float64(iv.N), 0.95)
			if lo <= tt.truth && tt.truth <= hi {
				naive++
			}
		}
		t.Logf("%s: covers %.3f, taken as independent %.3f", tt.name, float64(both)/trials, float64(naive)/trials)
		if share := float64(both) / trials; share < tt.least {
			t.Errorf("%s: ExceedanceInterval covers %.3f, want at least %.2f", tt.name, share, tt.least)
		}
		if tt.name == "stalls" && float64(naive)/trials > 0.5 {
			t.Errorf("stalls: the naive interval covers %.3f; the samples are not dependent enough for this test", float64(naive)/trials)
		}
	}
}

func TestExceedanceInterval(t *testing.T) {
	t.Parallel()
	full := func(bins int, exceed, total int64) (e, n []int64) {
		for range bins {
			e, n = append(e, exceed), append(n, total)
		}
		return e, n
	}
	t.Run("no samples", func(t *testing.T) {
		if got, want := ExceedanceInterval(nil, nil, 1, 0.95), (Interval{Hi: 1, DEFF: 1}); got != want {
			t.Errorf("got %+v, want %+v", got, want)
		}
	})
	t.Run("zero of 299 pass 1 %, zero of 298 do not", func(t *testing.T) {
		if iv := ExceedanceInterval([]int64{0}, []int64{299}, 1, 0.95); iv.Hi > 0.01 || iv.Lo != 0 || iv.NEff != 299 {
			t.Errorf("got %+v, want an upper bound of 0.01", iv)
		}
		if iv := ExceedanceInterval([]int64{0}, []int64{298}, 1, 0.95); iv.Hi <= 0.01 {
			t.Errorf("got %+v, want an upper bound above 0.01", iv)
		}
	})
	t.Run("few bins are one sample each", func(t *testing.T) {
		e, n := full(5, 500, 1000)
		iv := ExceedanceInterval(e, n, 1, 0.95)
		if iv.NEff != 5 || iv.DEFF != 1000 || iv.Batches != 5 || iv.Hi < 0.7 || iv.Lo < 0.01 || iv.Lo > 0.2 {
			t.Errorf("got %+v, want five effective samples", iv)
		}
	})
	t.Run("even bins", func(t *testing.T) {
		e, n := full(60, 10, 1000)
		iv := ExceedanceInterval(e, n, 1, 0.95)
		if iv.NEff != 60000 || iv.DEFF != 1 || iv.Share != 0.01 {
			t.Errorf("got %+v, want all samples effective", iv)
		}
		if !(iv.Lo < 0.01 && iv.Hi > 0.01 && iv.Hi < 0.011 && iv.Lo > 0.009) {
			t.Errorf("got bounds %v to %v, want close around 0.01", iv.Lo, iv.Hi)
		}
	})
	t.Run("twelve bins widen by Student's t", func(t *testing.T) {
		// Shares of 0.1 and 0.3 in turn: Var = 0.12/11, of a share of 0.2 of 100.
		var e, n []int64
		for i := range 12 {
			e, n = append(e, int64(10+20*(i%2))), append(n, 100)
		}
		ratio := 1.795884818704 / 1.6448536269514722 // t, 11 degrees, NIST table 1.796
		deff := 1 + (100*0.12/11/0.16-1)*ratio*ratio
		if iv := ExceedanceInterval(e, n, 1, 0.95); !nearly(iv.NEff, 1200/deff, 1e-9) {
			t.Errorf("got NEff %v, want %v", iv.NEff, 1200/deff)
		}
	})
	t.Run("few stalls say little", func(t *testing.T) {
		// Three stalls of 60 in 60 s at 500/s: by their size alone 500 samples would be left.
		e, n := full(60, 0, 500)
		e[7], e[23], e[51] = 60, 60, 60
		if iv := ExceedanceInterval(e, n, 1, 0.95); iv.NEff < 100 || iv.NEff > 250 || iv.Hi < 0.01 {
			t.Errorf("got %+v, want 100 to 250 samples, too few to tell", iv)
		}
	})
	t.Run("a known memory", func(t *testing.T) {
		// None of 3,000 exceeded, but a lower limit tells that ten samples do as one: 300 pass 1 %, and at eleven they do not.
		if iv := ExceedanceInterval([]int64{0}, []int64{3000}, 10, 0.95); iv.NEff != 300 || iv.Hi > 0.01 {
			t.Errorf("got %+v, want 300 samples and a bound below 0.01", iv)
		}
		if iv := ExceedanceInterval([]int64{0}, []int64{3000}, 11, 0.95); iv.Hi <= 0.01 {
			t.Errorf("got %+v, want a bound above 0.01", iv)
		}
	})
	t.Run("counts out of range", func(t *testing.T) {
		iv := ExceedanceInterval([]int64{5, -1, 3}, []int64{2, 4, -7}, 1, 0.95)
		if iv.N != 6 || !nearly(iv.Share, 2./6, 1e-12) {
			t.Errorf("got %+v, want 2 of 6", iv)
		}
	})
}
