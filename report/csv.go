package report

import (
	"encoding/csv"
	"io"
	"strconv"
	"time"

	"github.com/perfplan/perfplan/runner/hist"
	"github.com/perfplan/perfplan/runner/result"
)

// WriteCSV writes one row for each second of each load stage, in order. Times are in the unit that the column's name
// ends in; an empty field was not measured. The decimal sign is a point.
func WriteCSV(w io.Writer, m *Model) error {
	c := csv.NewWriter(w)
	_ = c.Write([]string{"stage", "t_s", "offered", "sent", "completed", "failed", "dropped", "in_flight",
		"response_p50_ns", "response_p99_ns", "response_max_ns", "lag_max_ns"}) // Error tells
	for i, st := range m.r.Stages {
		if st.Load == nil {
			continue
		}
		for _, s := range st.Load.Series {
			_ = c.Write([]string{m.Stages[i].Name, strconv.FormatFloat(float64(s.TNS)/1e9, 'f', -1, 64), whole(s.Offered), whole(s.Sent), whole(s.Completed),
				whole(s.Failed), whole(s.Dropped), whole(s.InFlight), orEmpty(s.P50NS), orEmpty(s.P99NS), orEmpty(s.MaxNS), orEmpty(s.LagMaxNS)})
		}
	}
	c.Flush()
	return c.Error()
}

func whole(n int64) string { return strconv.FormatInt(n, 10) }

func orEmpty(v *int64) string {
	if v == nil {
		return ""
	}
	return whole(*v)
}

// WriteHlog writes the response times of a load stage as a HdrHistogram log, one line an interval of intended time.
func WriteHlog(w io.Writer, r *result.Result, st *result.Stage) error {
	var intervals []hist.Interval
	if st.Load != nil {
		for _, iv := range st.Load.Intervals {
			h, err := hist.Decode(iv.Histogram)
			if err != nil {
				return err
			}
			intervals = append(intervals, hist.Interval{Start: time.Duration(iv.StartNS), End: time.Duration(iv.EndNS), Hist: h})
		}
	}
	return hist.WriteLog(w, r.Started.Add(time.Duration(st.StartNS)), intervals)
}
