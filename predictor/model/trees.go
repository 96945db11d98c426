package model

import "math"

// An oblivious tree asks the same question of all rows at each depth, so the
// answers, as bits, are the index of the leaf.
const (
	treeDepth  = 6
	treeLeaves = 1 << treeDepth

	// maxBins bounds the bins of a feature; batch scoring compares seven-bit
	// lanes and needs fewer than 128.
	maxBins = 64
)

// split asks whether the bin of a feature is at least a threshold.
type split struct {
	feature, least uint8
}

// tree is one oblivious tree: question d decides bit d of the leaf's index.
type tree struct {
	splits [treeDepth]split
	leaves [treeLeaves]float32
}

// table is the rows that trees are grown on: bins by column, and a loss.
type table struct {
	rows    int
	columns [][]uint8 // by feature
	// slope writes the negative gradient and the second derivative of the loss
	// at the scores.
	slope func(score, gradient, curvature []float32)
}

// grower holds the scratch space of growing.
type grower struct {
	t                   table
	c                   treeConfig
	leaf                []uint8
	gradient, curvature []float32
	histogram           [treeLeaves / 2][maxBins][2]float64
}

type treeConfig struct {
	trees  int
	rate   float64 // share of each tree's step that is taken
	smooth float64 // added to the second derivatives of a leaf
}

// grow boosts trees on the table, beginning at the scores, which it moves along.
func grow(t table, c treeConfig, score []float32) []tree {
	g := &grower{
		t: t, c: c,
		leaf:     make([]uint8, t.rows),
		gradient: make([]float32, t.rows), curvature: make([]float32, t.rows),
	}
	var out []tree
	for range c.trees {
		t.slope(score, g.gradient, g.curvature)
		tr := g.growOne()
		for i, l := range g.leaf {
			score[i] += tr.leaves[l]
		}
		out = append(out, tr)
	}
	return out
}

func (g *grower) growOne() tree {
	var tr tree
	clear(g.leaf)
	for d := range treeDepth {
		best := g.bestSplit(1 << d)
		tr.splits[d] = best
		for i, bin := range g.t.columns[best.feature] {
			if bin >= best.least {
				g.leaf[i] |= 1 << d
			}
		}
	}
	var sum, weight [treeLeaves]float64
	for i, l := range g.leaf {
		sum[l] += float64(g.gradient[i])
		weight[l] += float64(g.curvature[i])
	}
	for l := range tr.leaves {
		tr.leaves[l] = float32(g.c.rate * sum[l] / (weight[l] + g.c.smooth))
	}
	return tr
}

// bestSplit finds the question with the largest gain over the current leaves;
// the first feature and the lowest threshold win a tie.
func (g *grower) bestSplit(leaves int) split {
	best, bestGain := split{0, maxBins}, math.Inf(-1)
	for f, column := range g.t.columns {
		clear(g.histogram[:leaves])
		for i, bin := range column {
			cell := &g.histogram[g.leaf[i]&(treeLeaves/2-1)][bin&(maxBins-1)]
			cell[0] += float64(g.gradient[i])
			cell[1] += float64(g.curvature[i])
		}
		var gain [maxBins]float64
		for l := range leaves {
			addGains(&gain, &g.histogram[l], g.c.smooth)
		}
		for least := 1; least < maxBins; least++ {
			if gain[least] > bestGain {
				best, bestGain = split{uint8(f), uint8(least)}, gain[least]
			}
		}
	}
	return best
}

// addGains adds to gain[b] what one leaf gains by a cut below bin b.
func addGains(gain *[maxBins]float64, h *[maxBins][2]float64, smooth float64) {
	var sum, weight float64
	for _, cell := range h {
		sum += cell[0]
		weight += cell[1]
	}
	var lowSum, lowWeight float64
	for b := 1; b < maxBins; b++ {
		lowSum += h[b-1][0]
		lowWeight += h[b-1][1]
		highSum, highWeight := sum-lowSum, weight-lowWeight
		gain[b] += lowSum*lowSum/(lowWeight+smooth) + highSum*highSum/(highWeight+smooth)
	}
}
