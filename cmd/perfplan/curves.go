package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/report/chart"
)

// writeCurves draws the load of each load stage that has a rate into a folder, as STAGE.png and STAGE.svg.
func writeCurves(dir string, p *plans.Plan) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for _, st := range p.Stages {
		l, ok := st.Work.(*plans.Load)
		if !ok || l.Arrivals == plans.Closed {
			continue
		}
		c := loadCurve(p, st, l)
		var png, svg bytes.Buffer
		if err := chart.WritePNG(&png, c); err != nil {
			return err
		}
		if err := chart.WriteSVG(&svg, c, chart.Options{ID: st.Name}); err != nil {
			return err
		}
		for ending, b := range map[string]*bytes.Buffer{".png": &png, ".svg": &svg} {
			if err := os.WriteFile(filepath.Join(dir, st.Name+ending), b.Bytes(), 0o666); err != nil {
				return err
			}
		}
	}
	return nil
}

// tracePieces is how many pieces of a trace its curve has.
const tracePieces = 200

// loadCurve is the offered rate of a stage over time.
func loadCurve(p *plans.Plan, st *plans.Stage, l *plans.Load) chart.Chart {
	s := chart.Series{Name: "offered"}
	at := 0.0
	add := func(t, rate float64) { s.X, s.Y = append(s.X, at+t), append(s.Y, rate) }
	var bands []chart.Band
	for _, seg := range l.Profile {
		switch {
		case seg.Trace != nil:
			for i := range tracePieces {
				from, to := seg.Over*time.Duration(i)/tracePieces, seg.Over*time.Duration(i+1)/tracePieces
				rate := (seg.Until(to) - seg.Until(from)) / (to - from).Seconds()
				add(float64(from), rate)
				add(float64(to), rate)
			}
		case seg.Points != nil:
			for _, q := range seg.Points {
				add(float64(q.At), q.Rate)
			}
		default:
			add(0, seg.From)
			add(float64(seg.Over), seg.To)
		}
		bands = append(bands, chart.Band{From: at, To: at + float64(seg.Over), Name: seg.Name})
		at += float64(seg.Over)
	}
	if len(bands) < 2 {
		bands = nil
	}
	return chart.Chart{Title: "Load of stage " + st.Name, Subtitle: fmt.Sprintf("plan %s: %s arrivals, %s", p.Name, l.Arrivals, effortOf(l).requests()+" requests"),
		X: chart.Axis{Label: "time since the stage's start", Unit: chart.Duration}, Y: chart.Axis{Label: "offered rate", Unit: chart.Rate},
		Series: []chart.Series{s}, Bands: bands}
}
