package model

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestCholesky(t *testing.T) {
	t.Parallel()
	// a = l·lᵀ with l = [2 0 0; 1 3 0; -1 2 1]; x = [1 -2 3]
	a := []float64{4, 0, 0, 2, 10, 0, -2, 5, 6}
	b := []float64{-6, -3, 6} // a·x
	cholesky(a, b, 3)
	for i, want := range []float64{1, -2, 3} {
		if math.Abs(b[i]-want) > 1e-12 {
			t.Errorf("x[%d] = %v, want %v", i, b[i], want)
		}
	}
}

// A function that one tree can express must be learned almost to the point.
func TestGrowLearnsAStep(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 1))
	const n = 2000
	tb := table{rows: n, columns: [][]uint8{make([]uint8, n), make([]uint8, n), make([]uint8, n)}}
	target := make([]float32, n)
	for i := range n {
		for f := range tb.columns {
			tb.columns[f][i] = uint8(rng.IntN(maxBins))
		}
		if tb.columns[0][i] >= 20 {
			target[i] = 1
		}
		if tb.columns[2][i] >= 50 {
			target[i] -= 2
		}
	}
	tb.slope = func(score, gradient, curvature []float32) {
		for i := range score {
			gradient[i], curvature[i] = target[i]-score[i], 1
		}
	}
	score := make([]float32, n)
	trees := grow(tb, treeConfig{60, 0.2, 1}, score)
	for i := range score {
		var bins [featureCount]uint8
		for f := range tb.columns {
			bins[f] = tb.columns[f][i]
		}
		if got := walk(trees, &bins, 0); got != score[i] {
			t.Fatalf("row %d: walk = %v, grow says %v", i, got, score[i])
		}
		if d := score[i] - target[i]; d > 0.05 || d < -0.05 {
			t.Fatalf("row %d: score %v, want %v", i, score[i], target[i])
		}
	}
}

func TestBinner(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	values := make([]float32, 50_000)
	for i := range values {
		values[i] = float32(rng.ExpFloat64())
	}
	b := fitBinner(values) // sorts values
	var counts [maxBins]int
	last := uint8(0)
	for _, v := range values {
		bin := b.bin(v)
		if bin < last {
			t.Fatalf("bin(%v) = %d, a smaller value has %d", v, bin, last)
		}
		last = bin
		counts[bin]++
	}
	for bin, n := range counts {
		if n > 4*len(values)/maxBins {
			t.Errorf("bin %d has %d of %d values", bin, n, len(values))
		}
	}
	inf := float32(math.Inf(1))
	for v, want := range map[float32]uint8{-inf: 0, inf: last, -5: 0, 1e30: last} {
		if got := b.bin(v); got != want {
			t.Errorf("bin(%v) = %d, want %d", v, got, want)
		}
	}
	if got := b.bin(float32(math.NaN())); got != 0 {
		t.Errorf("bin(NaN) = %d, want 0", got)
	}
	same := fitBinner([]float32{3, 3, 3})
	if same.bin(3) != same.bin(2) || same.bin(3) != same.bin(4) {
		t.Error("one value alone makes several bins")
	}
}

// Each user's gradients must pull the liked movies up and the rest down, in
// balance.
func TestSoftmaxSlope(t *testing.T) {
	t.Parallel()
	samples := []sample{{0, 1, 5}, {0, 2, 3}, {0, 3, 0}, {0, 4, 4}}
	score := []float32{0.5, -1, 2, 0}
	gradient, curvature := make([]float32, 4), make([]float32, 4)
	softmaxSlope(samples, score, gradient, curvature)
	sum := 0.0
	for i, g := range gradient {
		sum += float64(g)
		if curvature[i] <= 0 {
			t.Errorf("curvature[%d] = %v, want more than 0", i, curvature[i])
		}
	}
	if math.Abs(sum) > 1e-5 || gradient[1] >= 0 || gradient[2] >= 0 || gradient[3] <= 0 {
		t.Errorf("gradient = %v, sum %v", gradient, sum)
	}
	softmaxSlope(samples[1:3], score[1:3], gradient[1:3], curvature[1:3])
	if gradient[1] != 0 || gradient[2] != 0 {
		t.Errorf("without a liked movie gradient = %v, want 0", gradient[1:3])
	}
}
