package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
	"time"
)

// writeTable prints the checks.
func writeTable(w io.Writer, checks []check) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(tw, "test\ttool\tcheck\ttruth\tmeasured\terror\tbar\tok\t")
	for _, c := range checks {
		fmt.Fprintf(tw, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\n", c.Test, c.Tool, c.Name, show(c.Truth, c.Unit),
			show(c.Measured, c.Unit), show(c.Error, c.Unit), show(c.Bar, c.Unit), c.verdict(), c.Note)
	}
	return tw.Flush()
}

// The verdicts. What needs a quiet machine is not judged where there was none.
const (
	verdictOK    = "ok"
	verdictFail  = "FAIL"
	verdictNoisy = "noisy"
)

func (c *check) verdict() string {
	switch {
	case c.Timing && c.Noisy:
		return verdictNoisy
	case c.OK:
		return verdictOK
	}
	return verdictFail
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
