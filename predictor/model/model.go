package model

import (
	"cmp"
	_ "embed"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"
)

//go:embed trained.bin
var trained []byte

// Trained returns the committed model: the default configuration, trained on
// the earlier four fifths of every user's ratings.
func Trained() (*Model, error) {
	m, err := Decode(trained)
	if err != nil {
		return nil, fmt.Errorf("embedded model: %w", err)
	}
	return m, nil
}

// Model is a trained ranking of movies. It does not change after it was made,
// and may be used by many goroutines, each with its own [Scorer].
type Model struct {
	c       Config
	userIDs []int32 // ascending
	movies  []movie // ascending by id
	base    *base
	binners *[featureCount]binner
	rank    head
	stars   head

	name    string
	byID    map[int]int32 // movie id to index
	popular []int32       // movies, most rated first
	known   [][]uint64    // by user, a bit per movie that was rated

	userBins  [][firstMovie]uint8
	movieBins [][firstCross - firstMovie]uint8
	nearBins  [][4]uint8 // user × movies: next, seen, opinion
}

// movie is what the features need of a movie.
type movie struct {
	id     int32
	year   int16
	genres uint32 // a bit per genre
}

// head is one set of trees over the shared features.
type head struct {
	trees []tree
	fast  []fastTree
}

// prepare makes all that scoring looks up; it spreads over the processors, and
// its result does not depend on how many there are.
func (m *Model) prepare() {
	b := m.base
	m.byID = make(map[int]int32, len(m.movies))
	for i, mv := range m.movies {
		m.byID[int(mv.id)] = int32(i)
		m.popular = append(m.popular, int32(i))
	}
	slices.SortStableFunc(m.popular, func(x, y int32) int {
		return cmp.Compare(len(b.raters[y]), len(b.raters[x]))
	})
	for _, h := range b.history {
		bits := make([]uint64, (len(m.movies)+63)/64)
		for _, r := range h {
			bits[r.Movie/64] |= 1 << (r.Movie % 64)
		}
		m.known = append(m.known, bits)
	}
	m.userBins = make([][firstMovie]uint8, len(m.userIDs))
	for u := range m.userBins {
		for f, v := range b.user[u] {
			m.userBins[u][f] = m.binners[f].bin(v)
		}
	}
	m.movieBins = make([][firstCross - firstMovie]uint8, len(m.movies))
	for i := range m.movieBins {
		for f, v := range b.movie[i] {
			m.movieBins[i][f] = m.binners[firstMovie+f].bin(v)
		}
	}
	m.rank.fast = packTrees(m.rank.trees)
	m.stars.fast = packTrees(m.stars.trees)
	m.binNear()
}

func (m *Model) binNear() {
	m.nearBins = make([][4]uint8, len(m.userIDs)*len(m.movies))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(m.userIDs)))
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			n := newNear(len(m.movies))
			for u := w; u < len(m.userIDs); u += workers {
				m.base.near(int32(u), n)
				out := m.nearBins[u*len(m.movies) : (u+1)*len(m.movies)]
				for i := range out {
					out[i] = [4]uint8{
						m.binners[crossNext].bin(n.next[i]),
						m.binners[crossLikeUsers].bin(n.seen[i]),
						m.binners[crossOpinion].bin(n.opinion[i]),
					}
				}
			}
		})
	}
	wg.Wait()
}

// Name identifies the model by format version and checksum.
func (m *Model) Name() string { return m.name }

// Users returns how many users the model knows.
func (m *Model) Users() int { return len(m.userIDs) }

// Movies returns how many movies the model knows.
func (m *Model) Movies() int { return len(m.movies) }

// User returns the index of a user id, or false for one never seen.
func (m *Model) User(id int) (int32, bool) {
	if id < 0 || id > math.MaxInt32 {
		return 0, false
	}
	at, ok := slices.BinarySearch(m.userIDs, int32(id))
	return int32(at), ok
}

// Movie returns the index of a movie id, or false for one never seen.
func (m *Model) Movie(id int) (int32, bool) {
	at, ok := m.byID[id]
	return at, ok
}

// MovieID returns the id of a movie's index.
func (m *Model) MovieID(i int32) int { return int(m.movies[i].id) }

// Rated says whether user u rated movie i in the rows the model was trained on.
func (m *Model) Rated(u, i int32) bool { return m.known[u][i/64]>>(i%64)&1 == 1 }

// Count returns how many users rated movie i in the rows the model was trained
// on.
func (m *Model) Count(i int32) int { return len(m.base.raters[i]) }

// AppendPopular appends up to n movies to dst, most rated first, the lower id
// first among equals; those that user u rated are left out, none if u is
// negative.
func (m *Model) AppendPopular(dst []int32, u int32, n int) []int32 {
	for _, i := range m.popular {
		if n <= 0 {
			break
		}
		if u < 0 || !m.Rated(u, i) {
			dst = append(dst, i)
			n--
		}
	}
	return dst
}
