package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"
)

// writeTable prints the checks. Those that need a quiet machine are not judged
// where their test had none.
func writeTable(w io.Writer, checks []check, noisy map[string]bool) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "test\ttool\tcheck\ttruth\tmeasured\terror\tbar\tok\t")
	for _, c := range checks {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Test, c.Tool, c.Name, show(c.Truth, c.Unit),
			show(c.Measured, c.Unit), show(c.Error, c.Unit), show(c.Bar, c.Unit), verdictOf(c, noisy[c.Test]), c.Note)
	}
	return tw.Flush()
}

func verdictOf(c check, noisy bool) string {
	switch {
	case c.Timing && noisy:
		return "noisy"
	case c.OK:
		return "ok"
	}
	return "FAIL"
}

func show(x float64, unit string) string {
	if math.IsNaN(x) {
		return "n/a"
	}
	switch unit {
	case unitNS:
		if math.IsInf(x, 0) {
			return "never"
		}
		return fmt.Sprintf("%.4g ms", x/float64(time.Millisecond))
	case unitShare:
		return fmt.Sprintf("%.4g %%", 100*x)
	case unitFlag:
		return map[bool]string{true: "yes", false: "no"}[x == 1]
	}
	return strconv.FormatFloat(x, 'g', 4, 64)
}
