package main

import (
	"strings"
	"testing"
	"time"

	"github.com/perfplan/perfplan/plans"
)

func TestCurve(t *testing.T) {
	for _, tt := range []struct {
		name    string
		profile []plans.Segment
		glyphs  glyphs
		want    string
	}{
		{
			name: "ramp, hold, ramp down",
			profile: []plans.Segment{
				{From: 0, To: 100, Over: 20 * time.Second},
				{From: 100, To: 100, Over: 20 * time.Second},
				{From: 100, To: 0, Over: 20 * time.Second},
			},
			glyphs: unicodeGlyphs,
			want: `
100/s ┤                ▁▃▅▇████████████████████▇▅▃▁
      ┤            ▁▃▅▇████████████████████████████▇▅▃▁
      ┤        ▁▃▅▇████████████████████████████████████▇▅▃▁
      ┤    ▁▃▅▇████████████████████████████████████████████▇▅▃▁
  0/s ┤▁▃▅▇████████████████████████████████████████████████████▇▅▃▁
       0s                                                        1m`,
		},
		{
			name: "steps in ASCII",
			profile: []plans.Segment{
				{From: 1000, To: 1000, Over: time.Second},
				{From: 4000, To: 4000, Over: time.Second},
			},
			glyphs: asciiGlyphs,
			want: `
4000/s |                              ##############################
       |                              ##############################
       |                              ##############################
       |..............................##############################
   0/s |############################################################
        0s                                                        2s`,
		},
		{
			name:    "a rate far below the top still shows",
			profile: []plans.Segment{{From: 0.5, To: 0.5, Over: time.Minute}, {From: 9000, To: 9000, Over: time.Minute}},
			glyphs:  asciiGlyphs,
			want: `
9000/s |                              ##############################
       |                              ##############################
       |                              ##############################
       |                              ##############################
   0/s |..............................##############################
        0s                                                        2m`,
		},
		{name: "nothing", glyphs: asciiGlyphs, want: "\n"},
	} {
		got := "\n" + strings.Join(curve(tt.profile, tt.glyphs), "\n")
		if got != tt.want {
			t.Errorf("%s: curve =%s\nwant%s", tt.name, got, tt.want)
		}
	}
}
