package model

import "slices"

// binCells is the resolution at which a value finds its bin without a search.
const binCells = 1024

// binner maps a feature's value to a bin: a fine even grid over the value's
// usual range, each cell of which knows its bin.
type binner struct {
	low, perUnit float32
	bins         [binCells]uint8 // ascending, below maxBins
}

// bin returns the bin of x; NaN goes to the first.
func (b *binner) bin(x float32) uint8 {
	y := (x - b.low) * b.perUnit
	if !(y > 0) {
		return b.bins[0]
	}
	return b.bins[int(min(y, binCells-1))]
}

// fitBinner cuts the values into bins of about equal weight. It sorts values.
func fitBinner(values []float32) binner {
	slices.Sort(values)
	n := len(values)
	b := binner{low: values[n/2000]}
	high := values[n-1-n/2000]
	if high > b.low {
		b.perUnit = (binCells - 1) / (high - b.low)
	}
	var counts [binCells]int
	for _, v := range values {
		y := (v - b.low) * b.perUnit
		counts[int(min(max(y, 0), binCells-1))]++
	}
	bin, inBin, left := 0, 0, n
	for cell, c := range counts {
		if inBin > 0 && bin < maxBins-1 && inBin+c/2 >= left/(maxBins-bin) {
			left -= inBin
			bin++
			inBin = 0
		}
		b.bins[cell] = uint8(bin)
		inBin += c
	}
	return b
}
