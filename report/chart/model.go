// Package chart draws one chart model as an SVG or a PNG image.
//
// A [Chart] is plain data: axes with units, series of float64, limits, bands.
// [WriteSVG] and [WritePNG] share one layout, so both images show the same.
// Neither panics, hangs or writes half an image, whatever the numbers and the
// names are: a NaN is a gap, an infinite value is clipped at the edge of the
// plot and marked, and a chart without a drawable point is a labelled
// placeholder. The same chart gives the same bytes under any locale.
package chart

// Chart is one chart. The zero value is drawn as a placeholder.
type Chart struct {
	Title    string
	Subtitle string // one line of context under the title
	X, Y     Axis
	Series   []Series
	Limits   []Limit // horizontal lines, such as an SLO's bound
	Marks    []Mark  // vertical lines, such as the capacity that was found
	Bands    []Band  // named stretches of x, such as the segments of a stage
	Notes    []string
	Empty    string // text of the placeholder when no point can be drawn; "" means "no data"
}

// Unit says what an axis's numbers are and so how they are shown.
type Unit int

// The units of an axis.
const (
	Number   Unit = iota // a plain number
	Count                // a number of things; ticks are whole numbers
	Duration             // nanoseconds
	Rate                 // per second
	Percent              // a share: 0.01 is shown as 1%
	Bytes                // bytes, shown in KiB, MiB, …
	Quantile             // 0 … 1 on a log(1/(1-q)) scale, shown as p50, p99.9; 1 is the maximum
)

// Axis describes one axis. Without Min and Max the range follows from the
// data; a y axis that is not logarithmic then starts at zero.
type Axis struct {
	Label string
	Unit  Unit
	Log   bool // logarithmic; values at or below zero are clipped at the low edge and marked

	// Min and Max fix the ends in the axis's unit. Not finite, or not in
	// order, they are ignored. Points outside on y are clipped and marked, on
	// x left out.
	Min, Max *float64

	// Categories names the positions 0, 1, 2 … of an x axis, as for bars.
	Categories []string
}

// Style is the way a series is drawn.
type Style int

// The styles of a series.
const (
	Line Style = iota
	Points
	Steps // each value holds until the next x
	Bars  // from zero; several such series stand side by side
)

// Interval is the way Lo and Hi of a series are drawn.
type Interval int

// The ways to draw an interval.
const (
	Whiskers Interval = iota
	Ribbon
)

// Role is the part a series plays; it chooses the default colour and dash.
type Role int

// The roles of a series.
const (
	Data      Role = iota
	Reference      // a baseline or an ideal to compare with: grey and dashed, no markers
	Fitted         // a line through the points of another series: no markers
)

// Series is one line, cloud or row of bars. Points are drawn in slice order.
// Points beyond the shorter of X and Y are left out, and a note says so.
type Series struct {
	Name   string
	X, Y   []float64
	Lo, Hi []float64 // the interval of each Y, optional; NaN for none
	Labels []string  // a word more on each point, optional; shown on hover

	Style    Style
	Interval Interval
	Role     Role
	Dash     bool
	Color    int // 1 … [Colors] fixes a palette colour; 0 takes the next by position
}

// Colors is the number of colours in the palette.
const Colors = 6

// Limit is a horizontal line at Value, in the unit of the y axis. One that is so
// far from the data that it would flatten them is told in words instead.
type Limit struct {
	Label string
	Value float64
}

// Mark is a vertical line at X, in the unit of the x axis.
type Mark struct {
	Label string
	X     float64
}

// Band is a named stretch of x from From to To, in the unit of the x axis.
type Band struct {
	Name     string
	From, To float64
}

// Options adapts an SVG to the place where it will stand.
type Options struct {
	// ID is the prefix of every id in the image, and must differ between
	// images in one page. Characters other than ASCII letters, digits, '-'
	// and '_' are replaced; "" means "chart".
	ID string

	// Inline leaves out the style sheet and the background, for an SVG inside
	// an HTML page that holds [CSS] once.
	Inline bool

	// Compact lays the chart out 400 wide rather than 720, for a narrow
	// screen: text keeps its size.
	Compact bool
}
