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
		if w.Arrivals == Closed {
			l.spendClosed(it.get("load"), w, tables)
			return
		}
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

// spendClosed is spend for users, who send as much as the target answers.
func (l *loader) spendClosed(it *item, w *Load, tables []*Data) {
	if d, n := shortest(tables); d != nil {
		w.DataEnd = &DataEnd{Data: d, Requests: n, Planned: w.Duration()}
		return
	}
	for _, d := range tables {
		if d.Order == Unique {
			l.fault(it.fault("rows that are sent once, and users who send as much as is answered", quote(d.Name), "end: stop", "the stage ends with the rows then"))
			return
		}
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
		if s = s.first(left); s.Over > 0 {
			cut = append(cut, s)
		}
		return cut
	}
	return nil
}

// first is the segment until it has offered n arrivals in the mean, which are fewer than it plans.
func (s Segment) first(n float64) Segment {
	switch {
	case s.Trace != nil:
		kept := int(n + 1e-6)
		if kept == 0 {
			return Segment{}
		}
		s.Trace = s.Trace[:kept:kept]
		s.Over = s.Trace[kept-1] + time.Millisecond
		s.From = float64(kept) / s.Over.Seconds()
		s.To = s.From
		return s
	case s.Points == nil:
		return s.firstOfRamp(n)
	}
	whole := s.Points
	s.Points = nil
	for i := 1; i < len(whole); i++ {
		part := Segment{From: whole[i-1].Rate, To: whole[i].Rate, Over: whole[i].At - whole[i-1].At}
		s.Points = append(s.Points, whole[i-1])
		if planned := part.Planned(); planned <= n {
			n -= planned
			continue
		}
		if part = part.firstOfRamp(n); part.Over > 0 {
			s.Points = append(s.Points, RatePoint{At: whole[i-1].At + part.Over, Rate: part.To})
		}
		break
	}
	last := s.Points[len(s.Points)-1]
	s.To, s.Over = last.Rate, last.At
	return s
}

// firstOfRamp is the root of From·t + a·t²/2 = n, a = (To-From)/Over, in a form that does not cancel when a is small.
func (s Segment) firstOfRamp(n float64) Segment {
	if n <= 0 {
		return Segment{}
	}
	a := (s.To - s.From) / s.Over.Seconds()
	t := 2 * n / (s.From + math.Sqrt(max(s.From*s.From+2*a*n, 0)))
	s.To, s.Over = s.From+a*t, time.Duration(t*1e9)
	return s
}
