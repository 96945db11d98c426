package load

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

func tableOf(rows int, o plans.Order) *plans.Data {
	d := &plans.Data{Name: "d", Columns: []string{"c"}, Order: o, Seed: 3}
	for i := range rows {
		d.Rows, d.Weights = append(d.Rows, []string{fmt.Sprint(i)}), append(d.Weights, float64(i%4))
	}
	return d
}

// Every pass of a shuffled table has each row once, in another order than the pass before, and so has every seed.
func TestShuffled(t *testing.T) {
	for _, n := range []int{1, 2, 3, 4, 5, 7, 16, 17, 100, 1000, 4097} {
		o := newOrder(tableOf(n, plans.Shuffled))
		passes := map[string]bool{}
		for pass := range 4 {
			seen := make([]int, n)
			var rows []int
			for i := range n {
				row := o.row(int64(pass*n + i))
				seen[row]++
				rows = append(rows, row)
			}
			if slices.Max(seen) != 1 {
				t.Fatalf("pass %d of %d rows has a row %d times", pass, n, slices.Max(seen))
			}
			passes[fmt.Sprint(rows)] = true
		}
		if n > 6 && len(passes) != 4 {
			t.Errorf("%d rows: %d orders in 4 passes", n, len(passes))
		}
	}
	other := tableOf(1000, plans.Shuffled)
	other.Seed = 4
	same := 0
	for i := range int64(1000) {
		if newOrder(other).row(i) == newOrder(tableOf(1000, plans.Shuffled)).row(i) {
			same++
		}
	}
	if same > 20 {
		t.Errorf("two seeds agree on %d of 1000 rows", same)
	}
}

// All orders of a few rows come about equally often: the 24 of four rows in 24000 passes, by a chi-square test (23 degrees of
// freedom, p 0.001 at 49.7); the draws are the same in every run.
func TestShuffledIsFair(t *testing.T) {
	o := newOrder(tableOf(4, plans.Shuffled))
	count := map[[4]int]float64{}
	for pass := range int64(24000) {
		var rows [4]int
		for i := range rows {
			rows[i] = o.row(4*pass + int64(i))
		}
		count[rows]++
	}
	chi := 0.0
	for _, n := range count {
		chi += (n - 1000) * (n - 1000) / 1000
	}
	if len(count) != 24 || chi > 49.7 {
		t.Errorf("%d of 24 orders, chi-square %.1f, want at most 49.7", len(count), chi)
	}
}

// Rows are drawn in proportion to their weights, and those of weight 0 never.
func TestWeighted(t *testing.T) {
	const n, draws = 40, 200_000
	o := newOrder(tableOf(n, plans.Weighed))
	var count [n]float64
	for i := range int64(draws) {
		count[o.row(i)]++
	}
	for row, got := range count {
		want := float64(row%4) / 60 * draws
		if math.Abs(got-want) > 5*math.Sqrt(want) {
			t.Errorf("row %d of weight %d is drawn %v times, want about %.0f", row, row%4, got, want)
		}
	}
	if a, b := newOrder(tableOf(n, plans.Weighed)).row(12345), o.row(12345); a != b {
		t.Errorf("arrival 12345 gets row %d and %d", a, b)
	}
}
