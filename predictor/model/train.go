package model

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
)

// Train fits a model to the rows, which must be in the dataset's order.
//
// The trees must not learn from features that have seen the answer. So the rows
// are split by time once more: factorisations and statistics are fitted on the
// earlier part, the trees learn to predict the later one from them; then
// factorisations and statistics are fitted again on all rows, under the trees
// as they are. One set of trees ranks (a softmax over each user's liked movies
// and sampled unrated ones), one predicts stars (squared error).
func Train(ds *Dataset, rows []Rating, c Config) (*Model, error) {
	if err := c.check(); err != nil {
		return nil, fmt.Errorf("config: %w", err)
	}
	movies, err := catalogue(ds)
	if err != nil {
		return nil, err
	}
	earlier, later := Split(rows)
	if len(later) == 0 {
		return nil, errors.New("no user has two ratings or more")
	}
	users := len(ds.UserIDs)
	early := fitBase(users, movies, earlier, c)
	samples := sampleRows(early, later, len(movies), c)
	x := early.features(samples)

	m := &Model{c: c, movies: movies, binners: fitBinners(x, samples)}
	for _, id := range ds.UserIDs {
		m.userIDs = append(m.userIDs, int32(id))
	}
	columns := m.columns(x)
	m.rank.trees = growRank(samples, columns, x, c)
	m.stars.trees = growStars(samples, columns, x, c)
	m.base = fitBase(users, movies, rows, c)
	return Decode(m.Encode())
}

// catalogue takes over what the features need of the movies.
func catalogue(ds *Dataset) ([]movie, error) {
	if len(ds.Movies) > math.MaxUint16 {
		return nil, fmt.Errorf("got %d movies, want at most %d", len(ds.Movies), math.MaxUint16)
	}
	var names []string
	for _, m := range ds.Movies {
		names = append(names, m.Genres...)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	if len(names) > maxGenres {
		return nil, fmt.Errorf("got %d genres, want at most %d", len(names), maxGenres)
	}
	out := make([]movie, len(ds.Movies))
	for i, m := range ds.Movies {
		out[i] = movie{id: int32(m.ID), year: int16(m.Year)}
		for _, g := range m.Genres {
			at, _ := slices.BinarySearch(names, g)
			out[i].genres |= 1 << at
		}
	}
	return out, nil
}

// sample is one row for the trees; stars is 0 for an unrated movie.
type sample struct {
	user, movie int32
	stars       float32
}

// sampleRows returns the later ratings, and for each of their users unrated
// movies, half of them uniform and half by popularity. Rows of a user are
// together.
func sampleRows(early *base, later []Rating, movies int, c Config) []sample {
	rng := rand.New(rand.NewPCG(c.Seed, 3))
	var popular []int32 // each movie as often as it was rated
	for _, h := range early.history {
		for _, r := range h {
			popular = append(popular, r.Movie)
		}
	}
	known := make([]int32, movies) // user for whom the movie is taken, plus one
	var out []sample
	for start := 0; start < len(later); {
		u := later[start].User
		for _, r := range early.history[u] {
			known[r.Movie] = u + 1
		}
		liked, end := 0, start
		for ; end < len(later) && later[end].User == u; end++ {
			r := later[end]
			known[r.Movie] = u + 1
			out = append(out, sample{u, r.Movie, r.Stars})
			if r.Stars >= relevantStars {
				liked++
			}
		}
		for i := range min(max(liked*c.RankNegatives, 200), 3000) {
			m := int32(rng.IntN(movies))
			if i%2 == 1 {
				m = popular[rng.IntN(len(popular))]
			}
			if known[m] != u+1 {
				known[m] = u + 1
				out = append(out, sample{u, m, 0})
			}
		}
		start = end
	}
	return out
}

func (b *base) features(samples []sample) [][featureCount]float32 {
	x := make([][featureCount]float32, len(samples))
	n := newNear(len(b.movie))
	last := int32(-1)
	for i, s := range samples {
		if s.user != last {
			b.near(s.user, n)
			last = s.user
		}
		b.fill(&x[i], s.user, s.movie, n)
	}
	return x
}

// fitBinners gives rated rows ten times the weight of sampled ones, so that the
// bins are fine where ranking happens.
func fitBinners(x [][featureCount]float32, samples []sample) *[featureCount]binner {
	var out [featureCount]binner
	var values []float32
	for f := range out {
		values = values[:0]
		for i, s := range samples {
			n := 1
			if s.stars > 0 {
				n = 10
			}
			for range n {
				values = append(values, x[i][f])
			}
		}
		out[f] = fitBinner(values)
	}
	return &out
}

func (m *Model) columns(x [][featureCount]float32) [][]uint8 {
	out := make([][]uint8, featureCount)
	for f := range out {
		out[f] = make([]uint8, len(x))
		for i := range x {
			out[f][i] = m.binners[f].bin(x[i][f])
		}
	}
	return out
}

// growStars boosts the residuals of the rating factorisation on the rated rows.
func growStars(samples []sample, columns [][]uint8, x [][featureCount]float32, c Config) []tree {
	var stars, score []float32
	t := table{columns: make([][]uint8, featureCount)}
	for i, s := range samples {
		if s.stars == 0 {
			continue
		}
		stars = append(stars, s.stars)
		score = append(score, x[i][crossStars])
		for f := range columns {
			t.columns[f] = append(t.columns[f], columns[f][i])
		}
	}
	t.rows = len(stars)
	t.slope = func(score, gradient, curvature []float32) {
		for i := range score {
			gradient[i], curvature[i] = stars[i]-score[i], 1
		}
	}
	return grow(t, treeConfig{c.StarsTrees, c.StarsRate, c.StarsSmoothing}, score)
}

// growRank boosts a softmax loss per user: the liked movies against all rows of
// that user. A user weighs as the square root of the liked movies, so that the
// busiest do not decide alone.
func growRank(samples []sample, columns [][]uint8, x [][featureCount]float32, c Config) []tree {
	score := make([]float32, len(samples))
	for i := range score {
		score[i] = float32(c.RankImplicit) * x[i][crossImplicit]
	}
	t := table{rows: len(samples), columns: columns}
	t.slope = func(score, gradient, curvature []float32) {
		for start := 0; start < len(samples); {
			end := start
			for end < len(samples) && samples[end].user == samples[start].user {
				end++
			}
			softmaxSlope(samples[start:end], score[start:end], gradient[start:end], curvature[start:end])
			start = end
		}
	}
	return grow(t, treeConfig{c.RankTrees, c.RankRate, c.RankSmoothing}, score)
}

func softmaxSlope(samples []sample, score, gradient, curvature []float32) {
	high, liked := score[0], 0.0
	for i, s := range score {
		high = max(high, s)
		if samples[i].stars >= relevantStars {
			liked++
		}
	}
	clear(gradient)
	for i := range curvature {
		curvature[i] = 1e-4
	}
	if liked == 0 {
		return
	}
	total := 0.0
	for _, s := range score {
		total += math.Exp(float64(s - high))
	}
	weight := 3 / math.Sqrt(liked)
	for i, s := range score {
		p := math.Exp(float64(s-high)) / total
		y := 0.0
		if samples[i].stars >= relevantStars {
			y = 1
		}
		gradient[i] = float32(weight * (y - p*liked))
		curvature[i] = float32(max(weight*liked*p*(1-p), 1e-4))
	}
}
