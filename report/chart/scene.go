package chart

// xy is a place in the image, in units of the view box, from its top left.
type xy struct{ x, y float64 }

// rect is a rectangle by its top left corner.
type rect struct{ x, y, w, h float64 }

func (r rect) right() float64  { return r.x + r.w }
func (r rect) bottom() float64 { return r.y + r.h }

func (r rect) overlaps(o rect) bool {
	return r.x < o.right() && o.x < r.right() && r.y < o.bottom() && o.y < r.bottom()
}

func (r rect) contains(p xy) bool {
	return p.x >= r.x && p.x <= r.right() && p.y >= r.y && p.y <= r.bottom()
}

// scene is the finished layout: what both writers draw, back to front.
type scene struct {
	w, h        float64
	plot        rect
	title, desc string
	layers      []layer
}

// layer is a group of shapes of one purpose, or of one series.
type layer struct {
	class  string
	name   string // the series' name
	shapes []shape
}

func (l *layer) add(s ...shape) { l.shapes = append(l.shapes, s...) }

// shape is one of the kinds below.
type shape interface{ isShape() }

// block is a filled rectangle.
type block struct {
	r       rect
	ink     ink
	opacity float64 // 0 means 1
}

// stroke is a line through points.
type stroke struct {
	pts   []xy
	ink   ink
	width float64
	dash  []float64
}

// area is a translucent polygon.
type area struct {
	pts []xy
	ink ink
}

// cloud is a great number of small dots.
type cloud struct {
	pts []xy
	ink ink
}

// symbol is a marker.
type symbol struct {
	form   form
	at     xy
	ink    ink
	hollow bool
}

// anchor says which part of a label stands at its place.
type anchor int

const (
	start anchor = iota
	middle
	end
)

// label is a line of text, on its baseline.
type label struct {
	text   string
	full   string // shown on hover where text is shortened
	at     xy
	size   float64
	anchor anchor
	ink    ink
	bold   bool
	halo   bool // keep what is behind away from the letters
}

// hit is an invisible area that carries a point's values.
type hit struct {
	r     rect
	round bool
	tip   string
	x, y  float64
}

func (block) isShape()  {}
func (stroke) isShape() {}
func (area) isShape()   {}
func (cloud) isShape()  {}
func (symbol) isShape() {}
func (label) isShape()  {}
func (hit) isShape()    {}

// form is the outline of a marker.
type form int

const (
	disc form = iota
	square
	diamond
	triangle
	cross
	plus
	pentagon
	forms // the number of forms for series
	up
	down
	left
	right
)

// outline gives the corners of a marker; open forms come as separate strokes.
func (f form) outline(at xy) [][]xy {
	at2 := func(dx, dy float64) xy { return xy{at.x + dx, at.y + dy} }
	switch f {
	case square:
		return [][]xy{{at2(-3.2, -3.2), at2(3.2, -3.2), at2(3.2, 3.2), at2(-3.2, 3.2)}}
	case diamond:
		return [][]xy{{at2(0, -4.6), at2(4.6, 0), at2(0, 4.6), at2(-4.6, 0)}}
	case triangle:
		return [][]xy{{at2(0, -4.6), at2(4.2, 3.2), at2(-4.2, 3.2)}}
	case cross:
		return [][]xy{{at2(-3.2, -3.2), at2(3.2, 3.2)}, {at2(-3.2, 3.2), at2(3.2, -3.2)}}
	case plus:
		return [][]xy{{at2(-4.2, 0), at2(4.2, 0)}, {at2(0, -4.2), at2(0, 4.2)}}
	case pentagon:
		return [][]xy{{at2(0, -4.4), at2(4.2, -1.4), at2(2.6, 3.6), at2(-2.6, 3.6), at2(-4.2, -1.4)}}
	case up:
		return [][]xy{{at2(0, 0), at2(5, 8), at2(-5, 8)}}
	case down:
		return [][]xy{{at2(0, 0), at2(5, -8), at2(-5, -8)}}
	case left:
		return [][]xy{{at2(0, 0), at2(8, 5), at2(8, -5)}}
	case right:
		return [][]xy{{at2(0, 0), at2(-8, 5), at2(-8, -5)}}
	}
	return nil
}

func (f form) open() bool { return f == cross || f == plus }
