package chart

import (
	"math"
	"math/rand/v2"
)

const ms = 1e6

// samples are the charts a report shows, by name; they are the golden files.
func samples() map[string]Chart {
	return map[string]Chart{
		"ladder":     ladder(),
		"spectrum":   spectrum(),
		"timeline":   timeline(),
		"microbench": microbench(),
		"bars":       bars(),
		"edges":      edges(),

		"empty": {Title: "Response time", X: Axis{Unit: Duration}, Y: Axis{Unit: Duration}, Empty: "no requests were completed"},
		"one":   {Title: "Response time", X: Axis{Unit: Duration, Label: "time"}, Y: Axis{Unit: Duration, Label: "response time"}, Series: []Series{{Name: "p99", X: []float64{1e9}, Y: []float64{5 * ms}}}},
	}
}

func ladder() Chart {
	rates := []float64{50, 100, 150, 200, 250, 300, 350, 400}
	curve := func(base, knee float64) []float64 {
		var y []float64
		for _, r := range rates {
			y = append(y, base*ms/(1-math.Pow(r/knee, 2)))
		}
		return y
	}
	return Chart{
		Title:    "Response time against arrival rate",
		Subtitle: "stage ladder, POST /predictor/v1/get-ranking, 30 s a step",
		X:        Axis{Label: "arrival rate", Unit: Rate},
		Y:        Axis{Label: "response time", Unit: Duration},
		Series: []Series{
			{Name: "p50", X: rates, Y: curve(8, 620)},
			{Name: "p90", X: rates, Y: curve(15, 560)},
			{Name: "p99", X: rates, Y: curve(31, 470)},
			{Name: "p99.9", X: rates, Y: curve(50, 450)},
		},
		Limits: []Limit{{Label: "SLO p99 < 150 ms", Value: 150 * ms}},
		Marks:  []Mark{{Label: "capacity 362/s", X: 362}},
	}
}

func spectrum() Chart {
	r := func(f func(float64) float64) (x, y []float64) {
		for _, q := range []float64{0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.975, 0.99, 0.995, 0.999, 0.9995, 0.9999, 0.99995, 1} {
			x = append(x, q)
			y = append(y, f(min(-math.Log10(1-q), 5)))
		}
		return
	}
	x, resp := r(func(t float64) float64 { return (4 + 3*t*t*t + 2*t) * ms })
	_, serv := r(func(t float64) float64 { return (4 + 1.4*t*t + 2*t) * ms })
	_, base := r(func(t float64) float64 { return (5 + 2*t*t*t + 2*t) * ms })
	return Chart{
		Title: "Percentile spectrum", X: Axis{Label: "percentile", Unit: Quantile}, Y: Axis{Label: "time", Unit: Duration},
		Series: []Series{
			{Name: "response time", X: x, Y: resp}, {Name: "service time", X: x, Y: serv},
			{Name: "baseline", X: x, Y: base, Role: Reference},
		},
		Limits: []Limit{{Label: "SLO p99 < 150 ms", Value: 150 * ms}},
	}
}

func timeline() Chart {
	rng := rand.New(rand.NewPCG(1, 2))
	var x, p50, p99, lo, hi []float64
	for i := range 170 {
		t := float64(i) * 1e9
		rise := 1.0
		if i > 110 {
			rise = 1 + float64(i-110)/20
		}
		x = append(x, t)
		p50 = append(p50, (9+2*rng.Float64())*ms*rise)
		v := (30 + 18*rng.Float64()) * ms * rise
		p99 = append(p99, v)
		lo, hi = append(lo, v*0.9), append(hi, v*1.15)
	}
	p99[60], p99[61] = math.NaN(), math.NaN()
	return Chart{
		Title: "Response time over the stage", Subtitle: "1 s windows",
		X: Axis{Label: "time since the stage began", Unit: Duration}, Y: Axis{Label: "response time", Unit: Duration},
		Series: []Series{{Name: "p99", X: x, Y: p99, Lo: lo, Hi: hi, Interval: Ribbon}, {Name: "p50", X: x, Y: p50}},
		Limits: []Limit{{Label: "SLO p99 < 150 ms", Value: 150 * ms}},
		Bands:  []Band{{"ramp 10/s → 100/s", 0, 30e9}, {"100/s", 30e9, 60e9}, {"200/s", 60e9, 90e9}, {"300/s", 90e9, 120e9}, {"400/s", 120e9, 169e9}},
	}
}

func microbench() Chart {
	var x, y, lo, hi, ref []float64
	for n := 1000.0; n <= 10000; n += 1000 {
		v := n * 2100 * (1 + n/90000)
		x, y, ref = append(x, n), append(y, v), append(ref, n*2400)
		lo, hi = append(lo, v*0.94), append(hi, v*1.08)
	}
	return Chart{
		Title: "Time per call against input size", X: Axis{Label: "candidates", Unit: Count}, Y: Axis{Label: "time, median of 3 forks with 95% interval", Unit: Duration},
		Series: []Series{{Name: "this run", X: x, Y: y, Lo: lo, Hi: hi}, {Name: "baseline", X: x, Y: ref, Role: Reference}},
	}
}

func bars() Chart {
	return Chart{
		Title: "CPU by process", X: Axis{Categories: []string{"ramp", "hold-100", "hold-200", "hold-400"}}, Y: Axis{Label: "share of one core", Unit: Percent},
		Series: []Series{
			{Name: "predictor", Style: Bars, X: []float64{0, 1, 2, 3}, Y: []float64{0.12, 0.31, 0.58, 0.97}},
			{Name: "generator", Style: Bars, X: []float64{0, 1, 2, 3}, Y: []float64{0.03, 0.06, 0.11, 0.2}, Lo: []float64{0.02, 0.05, 0.1, 0.18}, Hi: []float64{0.04, 0.08, 0.12, 0.24}},
		},
		Limits: []Limit{{Label: "SLO cpu(predictor) < 80%", Value: 0.8}},
	}
}

func edges() Chart {
	return Chart{
		Title: `a&b'c </script><script>alert(1)</script> 模式 – ü → Ω`, X: Axis{Label: "x", Unit: Number}, Y: Axis{Label: "bytes", Unit: Bytes, Log: true},
		Series: []Series{
			{Name: `/upload/<uuid>`, X: []float64{1, 2, 3, 4, 5, 6}, Y: []float64{2048, 0, 1 << 20, math.Inf(1), math.NaN(), 1 << 22}},
			{Name: `"><img src=x onerror=alert(1)>`, X: []float64{1, 2, 3, 4, 5, 6, 7}, Y: []float64{4096, 8192, -3, 9000, 1 << 16, 1 << 21}},
			{Name: "{{.}} 模式", Style: Points, X: []float64{1.5, 2.5}, Y: []float64{1 << 12, 1 << 14}},
			{Name: "steps", Style: Steps, X: []float64{1, 3, 6}, Y: []float64{1 << 18, 1 << 19, 1 << 17}},
		},
		Notes: []string{"A note of the caller."},
	}
}

func many() Chart {
	c := Chart{Title: "Response time by endpoint over a long day", X: Axis{Label: "time", Unit: Duration}, Y: Axis{Label: "response time", Unit: Duration, Log: true}}
	rng := rand.New(rand.NewPCG(3, 4))
	for i := range 4 {
		s := Series{Name: []string{"search", "basket", "checkout with a rather long name that goes on", "home"}[i]}
		for j := range 20000 {
			s.X = append(s.X, float64(j)*1e9)
			s.Y = append(s.Y, ms*math.Exp(rng.NormFloat64()*0.05+float64(i)+math.Sin(float64(j)/4000)))
		}
		c.Series = append(c.Series, s)
	}
	return c
}
