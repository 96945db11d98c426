package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/perfplan/perfplan/plans"
)

// Size of a load curve in characters, without its axes.
const (
	curveWidth  = 60
	curveHeight = 5
)

// curve draws a rate profile as text: the mean rate over each column's time, from 0 up to the highest rate, with the
// axes labelled. Lines have no newline and no blanks at their end.
func curve(profile []plans.Segment, g glyphs) []string {
	var total time.Duration
	top := 0.0
	for _, s := range profile {
		total += s.Over
		top = max(top, s.Peak())
	}
	if total <= 0 || top <= 0 {
		return nil
	}
	levels := []rune(g.levels)
	heights := make([]int, curveWidth) // in levels
	for i := range heights {
		from, to := column(total, i), column(total, i+1)
		mean := (arrivals(profile, to) - arrivals(profile, from)) / (to - from).Seconds()
		heights[i] = int(math.Round(mean / top * float64(curveHeight*len(levels))))
		if mean > 0 {
			heights[i] = max(heights[i], 1)
		}
	}
	labels := map[int]string{curveHeight - 1: rate(top), 0: "0/s"}
	margin := max(columns(labels[0]), columns(labels[curveHeight-1]))
	var lines []string
	for row := curveHeight - 1; row >= 0; row-- {
		var b strings.Builder
		for _, h := range heights {
			switch part := h - row*len(levels); {
			case part <= 0:
				b.WriteByte(' ')
			default:
				b.WriteRune(levels[min(part, len(levels))-1])
			}
		}
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%*s %s%s", margin, labels[row], g.axis, b.String()), " "))
	}
	end := length(total)
	return append(lines, fmt.Sprintf("%*s  0s%*s", margin, "", curveWidth-len("0s"), end))
}

// column is where column i of a curve begins.
func column(total time.Duration, i int) time.Duration {
	return time.Duration(float64(total) * float64(i) / curveWidth)
}

// arrivals is the mean number of arrivals of the profile until t.
func arrivals(profile []plans.Segment, t time.Duration) float64 {
	n := 0.0
	for _, s := range profile {
		if t < s.Over {
			return n + s.Until(t)
		}
		n += s.Planned()
		t -= s.Over
	}
	return n
}
