package plans

import "strconv"

// MinSamples is how many samples are needed at the least to decide the assertion: for a quantile as many as can tell
// on which side of the limit it lies, 1 for any other metric. Samples that depend on each other count for less.
func (s SLO) MinSamples() int {
	switch s.Metric.Kind {
	case Quantile:
		return needed(s.Metric.Quantile, s.Op)
	case Time:
		if percent, err := strconv.Atoi(s.Metric.Stat[1:]); err == nil {
			return needed(float64(percent)/100, s.Op)
		}
	}
	return 1
}
