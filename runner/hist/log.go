package hist

import (
	"bufio"
	"fmt"
	"io"
	"strings"
	"time"
)

// Interval is one line of a histogram log.
type Interval struct {
	Start, End time.Duration // from the log's base time; End is after Start
	Tag        string        // no commas, spaces or control characters; may be empty
	Hist       *Hist         // nil is an empty one
}

// WriteLog writes intervals, in the order given, as a HdrHistogram log of
// version 1.3 (.hlog). Times are relative to base, which is written with
// milliseconds (hdrhistogram-go's own writer drops them); the column of maxima
// is in ms and exact to the ns.
func WriteLog(w io.Writer, base time.Time, intervals []Interval) error {
	for _, iv := range intervals {
		if iv.Start < 0 || iv.End < iv.Start {
			return fmt.Errorf("histogram log: got an interval from %v to %v, want 0 or later and in order", iv.Start, iv.End)
		}
		if strings.ContainsFunc(iv.Tag, func(r rune) bool { return r <= ' ' || r == ',' || r == 0x7f }) {
			return fmt.Errorf("histogram log: got tag %q, want one without commas, spaces and control characters", iv.Tag)
		}
	}
	ms := base.UnixMilli()
	if ms < 0 {
		return fmt.Errorf("histogram log: got base time %v, want 1970 or later", base)
	}
	b := bufio.NewWriter(w)
	fmt.Fprintln(b, "#[Histogram log format version 1.3]")
	fmt.Fprintf(b, "#[BaseTime: %d.%03d (seconds since epoch)]\n", ms/1000, ms%1000)
	fmt.Fprintf(b, "#[StartTime: %d.%03d (seconds since epoch), %s]\n", ms/1000, ms%1000, base.UTC().Format("2006-01-02T15:04:05.000Z07:00"))
	fmt.Fprintln(b, `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`)
	for _, iv := range intervals {
		if err := writeInterval(b, iv); err != nil {
			return err
		}
	}
	return b.Flush()
}

func writeInterval(w io.Writer, iv Interval) error {
	h := iv.Hist
	if h == nil {
		h = New()
	}
	text, err := h.Encode()
	if err != nil {
		return err
	}
	if iv.Tag != "" {
		fmt.Fprintf(w, "Tag=%s,", iv.Tag)
	}
	_, err = fmt.Fprintf(w, "%.6f,%.6f,%d.%06d,%s\n", iv.Start.Seconds(), (iv.End - iv.Start).Seconds(), h.max/1e6, h.max%1e6, text)
	return err
}
