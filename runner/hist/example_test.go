package hist_test

import (
	"fmt"
	"time"

	"github.com/perfplan/perfplan/runner/hist"
)

// A histogram per worker, merged when both are done.
func Example() {
	a, b := hist.New(), hist.New()
	a.RecordN(int64(2*time.Millisecond), 98)
	b.Record(int64(40 * time.Millisecond))
	b.Record(int64(70 * time.Millisecond))
	a.Merge(b)
	p99, _ := a.Quantile(0.99)
	fmt.Println(a.Count(), time.Duration(p99).Round(time.Millisecond), time.Duration(a.Max()), time.Duration(a.Mean()))
	// Output: 100 40ms 70ms 3.06ms
}
