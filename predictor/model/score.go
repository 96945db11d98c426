package model

import "encoding/binary"

const (
	scoreBlock = 256 // rows whose bins are kept at hand together

	lanes = 0x0101010101010101
	highs = 0x8080808080808080
)

// fastTree is a tree laid out for eight rows at a time: adding 128 less the
// threshold to a bin sets the top bit of its byte if the bin reaches it.
type fastTree struct {
	add     [treeDepth]uint64
	feature [treeDepth]uint8
	leaves  [treeLeaves]float32
}

func packTrees(trees []tree) []fastTree {
	out := make([]fastTree, len(trees))
	for i, t := range trees {
		out[i].leaves = t.leaves
		for d, s := range t.splits {
			out[i].add[d] = lanes * uint64(128-int(s.least))
			out[i].feature[d] = s.feature
		}
	}
	return out
}

// Scorer scores batches without allocating. It is for one goroutine at a time.
type Scorer struct {
	m       *Model
	columns [featureCount][scoreBlock]uint8
	stars   [scoreBlock]float32 // of the rating factorisation
	liking  [scoreBlock]float32 // of the implicit factorisation, weighted
}

// NewScorer returns a scorer on the model.
func NewScorer(m *Model) *Scorer { return &Scorer{m: m} }

// Rank writes the ranking score of each movie for user u to scores, which must
// be as long as movies; higher is better, and only the order within a user has
// a meaning.
func (s *Scorer) Rank(u int32, movies []int32, scores []float32) {
	s.fillUser(u)
	for len(movies) > 0 {
		n := min(len(movies), scoreBlock)
		s.fillBlock(u, movies[:n])
		s.addTrees(s.m.rank.fast, s.liking[:(n+7)&^7])
		copy(scores, s.liking[:n])
		movies, scores = movies[n:], scores[n:]
	}
}

// Stars writes the rating that user u would give to each movie to stars, which
// must be as long as movies; from 0.5 to 5.
func (s *Scorer) Stars(u int32, movies []int32, stars []float32) {
	s.fillUser(u)
	for len(movies) > 0 {
		n := min(len(movies), scoreBlock)
		s.fillBlock(u, movies[:n])
		s.addTrees(s.m.stars.fast, s.stars[:(n+7)&^7])
		for i, v := range s.stars[:n] {
			stars[i] = min(max(v, 0.5), 5)
		}
		movies, stars = movies[n:], stars[n:]
	}
}

func (s *Scorer) fillUser(u int32) {
	for f, bin := range s.m.userBins[u] {
		column := &s.columns[f]
		for i := range column {
			column[i] = bin
		}
	}
}

// fillBlock bins the movie and cross features of up to scoreBlock movies, and
// notes both factorisations.
func (s *Scorer) fillBlock(u int32, movies []int32) {
	m, b := s.m, s.m.base
	near := m.nearBins[int(u)*len(m.movies) : (int(u)+1)*len(m.movies)]
	ratingRow, implicitRow := b.ratings.userRow(u), b.implicit.userRow(u)
	bias := b.ratings.mean + b.ratings.userBias[u]
	weight := float32(m.c.RankImplicit)
	year, taste := b.user[u][userYear], b.user[u][userTaste]
	for i, mv := range movies {
		for f, bin := range &m.movieBins[mv] {
			s.columns[firstMovie+f][i] = bin
		}
		stars := bias + b.ratings.movieBias[mv] + dot(ratingRow, b.ratings.movieRow(mv))
		liking := dot(implicitRow, b.implicit.movieRow(mv))
		mean, seen := b.genreAffinity(u, mv)
		n := near[mv]
		s.columns[crossStars][i] = m.binners[crossStars].bin(stars)
		s.columns[crossImplicit][i] = m.binners[crossImplicit].bin(liking)
		s.columns[crossNext][i] = n[0]
		s.columns[crossLikeUsers][i] = n[1]
		s.columns[crossOpinion][i] = n[2]
		s.columns[crossGenreMean][i] = m.binners[crossGenreMean].bin(mean)
		s.columns[crossGenreSeen][i] = m.binners[crossGenreSeen].bin(seen)
		s.columns[crossYear][i] = m.binners[crossYear].bin(b.movie[mv][movieYear-firstMovie] - year)
		s.columns[crossTaste][i] = m.binners[crossTaste].bin(b.movie[mv][movieCount-firstMovie] - taste)
		s.stars[i] = stars
		s.liking[i] = float32(weight * liking)
	}
}

// addTrees adds each tree's leaf to each row, eight rows at a time; the number
// of rows is a multiple of eight. Each row's sum is taken in the order of the
// trees, as row by row.
//
// It reads nothing that [Scorer.fillBlock] has not written or that ever changes;
// without norace the race detector would make it a hundred times slower, and
// with it every test that scores.
//
//go:norace
func (s *Scorer) addTrees(trees []fastTree, rows []float32) {
	for t := range trees {
		tr := &trees[t]
		a0, a1, a2, a3, a4, a5 := tr.add[0], tr.add[1], tr.add[2], tr.add[3], tr.add[4], tr.add[5]
		c0, c1, c2 := &s.columns[tr.feature[0]], &s.columns[tr.feature[1]], &s.columns[tr.feature[2]]
		c3, c4, c5 := &s.columns[tr.feature[3]], &s.columns[tr.feature[4]], &s.columns[tr.feature[5]]
		leaves := &tr.leaves
		for i := 0; i+8 <= len(rows) && i+8 <= scoreBlock; i += 8 {
			at := (binary.LittleEndian.Uint64(c0[i:])+a0)&highs>>7 |
				(binary.LittleEndian.Uint64(c1[i:])+a1)&highs>>6 |
				(binary.LittleEndian.Uint64(c2[i:])+a2)&highs>>5 |
				(binary.LittleEndian.Uint64(c3[i:])+a3)&highs>>4 |
				(binary.LittleEndian.Uint64(c4[i:])+a4)&highs>>3 |
				(binary.LittleEndian.Uint64(c5[i:])+a5)&highs>>2
			r := rows[i : i+8 : i+8]
			r[0] += leaves[at&63]
			r[1] += leaves[at>>8&63]
			r[2] += leaves[at>>16&63]
			r[3] += leaves[at>>24&63]
			r[4] += leaves[at>>32&63]
			r[5] += leaves[at>>40&63]
			r[6] += leaves[at>>48&63]
			r[7] += leaves[at>>56&63]
		}
	}
}

// RankOne returns the ranking score of one movie, walking the trees one by one:
// the same bits as [Scorer.Rank], at several times the cost.
func (m *Model) RankOne(u, movie int32) float32 {
	bins := m.bins(u, movie)
	liking := dot(m.base.implicit.userRow(u), m.base.implicit.movieRow(movie))
	return walk(m.rank.trees, &bins, float32(float32(m.c.RankImplicit)*liking))
}

// StarsOne returns the rating that user u would give to one movie: the same
// bits as [Scorer.Stars].
func (m *Model) StarsOne(u, movie int32) float32 {
	bins := m.bins(u, movie)
	return min(max(walk(m.stars.trees, &bins, m.base.ratings.stars(u, movie)), 0.5), 5)
}

// walk adds each tree's leaf to one row's score; for norace see addTrees.
//
//go:norace
func walk(trees []tree, bins *[featureCount]uint8, score float32) float32 {
	for t := range trees {
		leaf := 0
		for d, s := range trees[t].splits {
			if bins[s.feature] >= s.least {
				leaf |= 1 << d
			}
		}
		score += trees[t].leaves[leaf]
	}
	return score
}

// bins makes the features of one pair from their values.
func (m *Model) bins(u, movie int32) [featureCount]uint8 {
	b := m.base
	var out [featureCount]uint8
	copy(out[:], m.userBins[u][:])
	copy(out[firstMovie:], m.movieBins[movie][:])
	n := m.nearBins[int(u)*len(m.movies)+int(movie)]
	out[crossNext], out[crossLikeUsers], out[crossOpinion] = n[0], n[1], n[2]
	set := func(f int, v float32) { out[f] = m.binners[f].bin(v) }
	set(crossStars, b.ratings.stars(u, movie))
	set(crossImplicit, dot(b.implicit.userRow(u), b.implicit.movieRow(movie)))
	mean, seen := b.genreAffinity(u, movie)
	set(crossGenreMean, mean)
	set(crossGenreSeen, seen)
	set(crossYear, b.movie[movie][movieYear-firstMovie]-b.user[u][userYear])
	set(crossTaste, b.movie[movie][movieCount-firstMovie]-b.user[u][userTaste])
	return out
}
