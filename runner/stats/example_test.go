package stats_test

import (
	"fmt"

	"github.com/perfplan/perfplan/runner/stats"
)

// Is a share of 1 % over the limit proved, refuted, or open?
func ExampleExceedanceInterval() {
	exceed := []int64{0, 0, 41, 0, 0, 0, 0, 55, 0, 0, 0, 0, 0, 0, 47, 0, 0, 0, 0, 0, 0, 0, 39, 0}
	total := make([]int64, len(exceed))
	for i := range total {
		total[i] = 1000
	}
	iv := stats.ExceedanceInterval(exceed, total, 1, 0.95)
	fmt.Printf("%d samples count as %.0f: share %.2f %%, %.2f %% to %.2f %%\n", iv.N, iv.NEff, 100*iv.Share, 100*iv.Lo, 100*iv.Hi)
	// Output: 24000 samples count as 291: share 0.76 %, 0.15 % to 2.25 %
}

func ExampleFit() {
	n := []float64{1000, 2000, 3000, 4000, 5000, 6000}
	ms := []float64{21, 40, 62, 79, 102, 119}
	g, _ := stats.Fit(n, ms, 0.95)
	fmt.Printf("%v, %.1f µs each (%v to %v)\n", g.Class, 1000*g.Slope, g.Lo, g.Hi)
	// Output: linear, 19.8 µs each (linear to linearithmic)
}
