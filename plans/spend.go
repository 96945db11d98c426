package plans

import (
	"fmt"
	"math"
	"time"
)

// spend ends a stage where its rows do, and refuses one that would send rows twice that are to be sent once.
func (l *loader) spend(it *item, st *Stage) {
	switch w := st.Work.(type) {
	case *Load:
		tables := tablesOf(w.Request, w.Mix)
		if d, n := shortest(tables); d != nil {
			if cut := cutProfile(w.Profile, n); cut != nil {
				w.DataEnd = &DataEnd{Data: d, Requests: n, Planned: w.Duration()}
				w.Profile = cut
			} else if w.Arrivals == Poisson && n < most(w) {
				w.DataEnd = &DataEnd{Data: d, Requests: n, Planned: w.Duration()}
			}
		}
		l.unique(it.get("load"), tables, most(w), w.DataEnd)
	case *Warmup:
		tables := tablesOf(w.Request, w.Mix)
		whole := []Segment{{From: w.Rate, To: w.Rate, Over: w.Until.AtMost}}
		if d, n := shortest(tables); d != nil && w.Rate > 0 {
			if cut := cutProfile(whole, n); cut != nil {
				w.DataEnd = &DataEnd{Data: d, Requests: n, Planned: w.Until.AtMost}
				w.Until.AtMost, whole = cut[0].Over, cut
			}
		}
		l.unique(it.get("warmup"), tables, most(&Load{Profile: whole}), w.DataEnd)
	}
}

// tablesOf are the tables that the requests of a stage use.
func tablesOf(r *Request, mix []Weighted) []*Data {
	if r == nil {
		return nil
	}
	if mix == nil {
		return r.Data
	}
	var all []*Data
	for _, w := range mix {
		all = append(all, w.Data...)
	}
	return all
}

// shortest is the table that ends a stage first; nil: none does.
func shortest(tables []*Data) (first *Data, rows int64) {
	for _, d := range tables {
		if d.Stop && (first == nil || d.Len() < rows) {
			first, rows = d, d.Len()
		}
	}
	return first, rows
}

// most is how many requests a load offers at most: of random arrivals, all but in one of a thousand million cases.
func most(w *Load) int64 {
	mean := 0.0
	for _, s := range w.Profile {
		mean += s.Planned()
	}
	if w.Arrivals == Poisson {
		mean += 6*math.Sqrt(mean) + 6
	}
	return int64(math.Ceil(mean - 1e-6))
}

// unique checks that the rows that are sent once last.
func (l *loader) unique(it *item, tables []*Data, requests int64, end *DataEnd) {
	if end != nil {
		requests = min(requests, end.Requests)
	}
	for _, d := range tables {
		if d.Order != Unique || requests <= d.Len() {
			continue
		}
		l.fault(it.fault("more requests than rows of "+quote(d.Name)+", each of which is sent once", fmt.Sprintf("up to %d requests, %d rows", requests, d.Len()),
			fmt.Sprintf("at most %d requests", d.Len()), "lower rate or time, or end the stage with the rows: end: stop"))
		return
	}
}

// cutProfile cuts a profile where n requests are offered; nil when it offers no more than these.
func cutProfile(segments []Segment, n int64) []Segment {
	var cut []Segment
	left := float64(n)
	for _, s := range segments {
		if planned := s.Planned(); planned <= left+1e-6 {
			left = max(left-planned, 0)
			cut = append(cut, s)
			continue
		}
		// The root of From·t + a·t²/2 = left, a = (To-From)/Over, in a form that does not cancel when a is small.
		a := (s.To - s.From) / s.Over.Seconds()
		t := 2 * left / (s.From + math.Sqrt(max(s.From*s.From+2*a*left, 0)))
		if over := time.Duration(t * 1e9); over > 0 {
			s.To, s.Over = s.From+a*t, over
			cut = append(cut, s)
		}
		return cut
	}
	return nil
}
