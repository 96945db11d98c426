package hist

// Point is one row of a percentile spectrum.
type Point struct {
	Quantile float64 // in [0, 1]
	Value    int64   // ns; as Quantile returns it
	Count    int64   // samples that are at most Value
}

const (
	ticksPerHalving = 5
	maxHalvings     = 52 // beyond that a quantile is 1 in float64
)

// Spectrum returns the quantiles for a percentile chart, in rising order: five
// steps from 0 to 0.5, five to 0.75, five to 0.875 and so on, as HdrHistogram's
// percentile output does, until less than one sample is left. The last point is
// quantile 1, the maximum. An empty histogram has none; no histogram has more
// than 262.
func (h *Hist) Spectrum() []Point {
	count := h.Count()
	if count == 0 {
		return nil
	}
	levels := spectrumLevels(count)
	points := make([]Point, 0, len(levels)+1)
	var upTo int64
	for i := h.low; i < h.high; i++ {
		upTo += h.buckets[i]
		for h.buckets[i] > 0 && len(points) < len(levels) && rank(levels[len(points)], count) <= upTo {
			points = append(points, Point{levels[len(points)], h.clamp(highestIn(i)), upTo})
		}
	}
	points[0] = Point{0, h.min, points[0].Count}
	return append(points, Point{1, h.max, count})
}

func spectrumLevels(count int64) []float64 {
	var levels []float64
	left := 1.0 // share above the start of this halving
	for halving := 0; halving <= maxHalvings-2 && left*float64(count) >= 1; halving++ {
		for tick := range ticksPerHalving {
			levels = append(levels, 1-left+left*float64(tick)/(2*ticksPerHalving))
		}
		left /= 2
	}
	return levels
}
