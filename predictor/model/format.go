package model

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
)

// The file is "PPRANK", a version, the payload's length and its CRC-32C, then
// the payload; all numbers are little-endian. The payload holds the sizes, the
// catalogue, the ratings, both factorisations, the bins and both sets of trees:
// see [Model.Encode] for the order.
const (
	magic         = "PPRANK"
	formatVersion = 1
	headerSize    = len(magic) + 2 + 4 + 4
	maxPayload    = 64 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Encode returns the model as a file. The same model gives the same bytes.
func (m *Model) Encode() []byte {
	var p []byte
	u32 := func(v int) { p = binary.LittleEndian.AppendUint32(p, uint32(v)) }
	floats := func(vs []float32) {
		for _, v := range vs {
			p = binary.LittleEndian.AppendUint32(p, math.Float32bits(v))
		}
	}
	b := m.base
	rows := 0
	for _, h := range b.history {
		rows += len(h)
	}
	for _, n := range []int{
		len(m.userIDs), len(m.movies), rows, b.ratings.k, b.implicit.k, len(m.rank.trees), len(m.stars.trees),
	} {
		u32(n)
	}
	floats([]float32{float32(m.c.RankImplicit), b.ratings.mean})
	for i, id := range m.userIDs {
		u32(int(id))
		u32(len(b.history[i]))
	}
	for _, mv := range m.movies {
		u32(int(mv.id))
		u32(int(mv.genres))
		p = binary.LittleEndian.AppendUint16(p, uint16(mv.year))
	}
	for _, h := range b.history {
		for _, r := range h {
			p = binary.LittleEndian.AppendUint16(p, uint16(r.Movie))
			p = append(p, uint8(r.Stars*2))
			u32(int(r.Time))
		}
	}
	for _, vs := range [][]float32{
		b.ratings.userBias, b.ratings.movieBias, b.ratings.user, b.ratings.movie, b.implicit.user, b.implicit.movie,
	} {
		floats(vs)
	}
	for i := range m.binners {
		floats([]float32{m.binners[i].low, m.binners[i].perUnit})
		p = append(p, m.binners[i].bins[:]...)
	}
	for _, trees := range [][]tree{m.rank.trees, m.stars.trees} {
		for i := range trees {
			for _, s := range trees[i].splits {
				p = append(p, s.feature, s.least)
			}
			floats(trees[i].leaves[:])
		}
	}
	out := binary.LittleEndian.AppendUint16([]byte(magic), formatVersion)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(p)))
	out = binary.LittleEndian.AppendUint32(out, crc32.Checksum(p, castagnoli))
	return append(out, p...)
}

// Decode reads a model from a file made by [Model.Encode]. Any damage is an
// error that says what is wrong.
func Decode(file []byte) (*Model, error) {
	if len(file) < headerSize || string(file[:len(magic)]) != magic {
		return nil, errors.New("not a model file: want it to begin with " + magic)
	}
	h := file[len(magic):]
	if v := binary.LittleEndian.Uint16(h); v != formatVersion {
		return nil, fmt.Errorf("model file: got format version %d, want %d (train again)", v, formatVersion)
	}
	p := file[headerSize:]
	if n := binary.LittleEndian.Uint32(h[2:]); int64(n) != int64(len(p)) || n > maxPayload {
		return nil, fmt.Errorf("model file: got %d bytes of payload, want %d (cut short?)", len(p), n)
	}
	sum := crc32.Checksum(p, castagnoli)
	if want := binary.LittleEndian.Uint32(h[6:]); sum != want {
		return nil, fmt.Errorf("model file: got checksum %08x, want %08x (damaged)", sum, want)
	}
	d := &decoder{rest: p}
	m, err := d.model()
	if err != nil {
		return nil, fmt.Errorf("model file: %w", err)
	}
	m.name = fmt.Sprintf("movielens-small/%d-%08x", formatVersion, sum)
	m.prepare()
	return m, nil
}

// decoder takes values off a payload; past its end it yields zeros and short.
type decoder struct {
	rest  []byte
	short bool
}

func (d *decoder) take(n int) []byte {
	if n > len(d.rest) {
		d.short = true
		d.rest = nil
		return make([]byte, min(n, 4))
	}
	out := d.rest[:n]
	d.rest = d.rest[n:]
	return out
}

func (d *decoder) u8() uint8    { return d.take(1)[0] }
func (d *decoder) u16() uint16  { return binary.LittleEndian.Uint16(d.take(2)) }
func (d *decoder) u32() uint32  { return binary.LittleEndian.Uint32(d.take(4)) }
func (d *decoder) f32() float32 { return math.Float32frombits(d.u32()) }

func (d *decoder) floats(n int) []float32 {
	if n*4 > len(d.rest) {
		d.short = true
		return nil
	}
	out := make([]float32, n)
	for i := range out {
		out[i] = d.f32()
	}
	return out
}

// model decodes the payload. Sizes are bounded before anything is made of them.
func (d *decoder) model() (*Model, error) {
	var sizes [7]int
	for i := range sizes {
		sizes[i] = int(d.u32())
		if sizes[i] < 1 || sizes[i] > len(d.rest) {
			return nil, fmt.Errorf("size %d: got %d, which cannot be", i, sizes[i])
		}
	}
	users, movies, rows := sizes[0], sizes[1], sizes[2]
	k, kImplicit := sizes[3], sizes[4]
	if k%4 != 0 || kImplicit%4 != 0 || k > 1024 || kImplicit > 1024 || movies > math.MaxUint16 {
		return nil, fmt.Errorf("got %d movies and factors of %d and %d, which cannot be", movies, k, kImplicit)
	}
	m := &Model{base: &base{
		ratings:  &biased{factors: &factors{k: k}},
		implicit: &factors{k: kImplicit},
	}}
	m.c.RankImplicit = float64(d.f32())
	m.base.ratings.mean = d.f32()
	ratings, err := d.ratings(m, users, movies, rows)
	if err != nil {
		return nil, err
	}
	b := m.base
	b.ratings.userBias, b.ratings.movieBias = d.floats(users), d.floats(movies)
	b.ratings.user, b.ratings.movie = d.floats(users*k), d.floats(movies*k)
	b.implicit.user, b.implicit.movie = d.floats(users*kImplicit), d.floats(movies*kImplicit)
	m.binners = new([featureCount]binner)
	for i := range m.binners {
		bn := &m.binners[i]
		bn.low, bn.perUnit = d.f32(), d.f32()
		copy(bn.bins[:], d.take(binCells))
		for _, bin := range bn.bins {
			if bin >= maxBins {
				return nil, fmt.Errorf("feature %d: got bin %d, want below %d", i, bin, maxBins)
			}
		}
	}
	if m.rank.trees, err = d.trees(sizes[5]); err != nil {
		return nil, err
	}
	if m.stars.trees, err = d.trees(sizes[6]); err != nil {
		return nil, err
	}
	if d.short || len(d.rest) > 0 {
		return nil, errors.New("the sizes and the length do not agree")
	}
	b.describe(users, m.movies, ratings)
	return m, nil
}

// ratings decodes users, movies and ratings.
func (d *decoder) ratings(m *Model, users, movies, rows int) ([]Rating, error) {
	counts := make([]int, users)
	for i := range counts {
		m.userIDs = append(m.userIDs, int32(d.u32()))
		counts[i] = int(d.u32())
		if i > 0 && m.userIDs[i] <= m.userIDs[i-1] {
			return nil, fmt.Errorf("user %d: ids do not ascend", i)
		}
	}
	for i := range movies {
		m.movies = append(m.movies, movie{id: int32(d.u32()), genres: d.u32(), year: int16(d.u16())})
		if i > 0 && m.movies[i].id <= m.movies[i-1].id {
			return nil, fmt.Errorf("movie %d: ids do not ascend", i)
		}
	}
	var out []Rating
	for u, n := range counts {
		for range n {
			if d.short || len(out) == rows {
				return nil, errors.New("more ratings than announced")
			}
			r := Rating{User: int32(u), Movie: int32(d.u16()), Stars: float32(d.u8()) / 2, Time: int64(d.u32())}
			if int(r.Movie) >= movies {
				return nil, fmt.Errorf("rating %d: got movie %d of %d", len(out), r.Movie, movies)
			}
			out = append(out, r)
		}
	}
	if len(out) != rows {
		return nil, fmt.Errorf("got %d ratings, want %d", len(out), rows)
	}
	return out, nil
}

func (d *decoder) trees(n int) ([]tree, error) {
	var out []tree
	for i := range n {
		var t tree
		for j := range t.splits {
			t.splits[j] = split{d.u8(), d.u8()}
			if t.splits[j].feature >= featureCount || t.splits[j].least > maxBins {
				return nil, fmt.Errorf("tree %d: question %d cannot be", i, j)
			}
		}
		copy(t.leaves[:], d.floats(treeLeaves))
		if d.short {
			return nil, errors.New("trees are cut short")
		}
		out = append(out, t)
	}
	return out, nil
}
