package model

import (
	"math"
	"math/bits"
	"slices"
)

// The features, in the order of the model's columns: of the user, of the movie,
// and of the two together.
const (
	userCount      = iota // log of the number of ratings
	userMean              // damped mean stars
	userSpread            // standard deviation of stars
	userRecent            // damped mean of the latest ratings' deviation from their movies' means
	userTaste             // mean log popularity of the user's movies
	userYear              // mean year of the user's movies
	userPace              // log of days between first and latest rating
	movieCount            // log of the number of ratings
	movieMean             // damped mean stars
	movieSpread           // standard deviation of stars
	movieLiked            // damped share of ratings that are liked
	movieYear             // year, mean year where unknown
	movieFresh            // log of the ratings of the data's last fifth of time, less the expected
	movieRaters           // mean log count of the movie's raters
	movieGenres           // number of genres
	crossStars            // rating factorisation
	crossImplicit         // implicit factorisation
	crossNext             // what others rated soon after the user's latest movies
	crossLikeUsers        // similar users who rated the movie
	crossOpinion          // how much similar users liked it
	crossGenreMean        // how the user rates these genres
	crossGenreSeen        // how much the user sees these genres
	crossYear             // year less the user's mean year
	crossTaste            // popularity less the user's mean
	featureCount
)

const (
	firstMovie = movieCount
	firstCross = crossStars

	nextLatest = 20 // how many latest movies of a user count
	nextWindow = 10 // how many following movies of the others count
	maxGenres  = 32
	neighbours = 60 // how many similar users have an opinion
)

// base is everything fitted on a set of ratings before any tree: the two
// factorisations, and the statistics that the features are made of.
type base struct {
	ratings  *biased
	implicit *factors

	history   [][]Rating  // by user, in time order
	raters    [][]rater   // by movie, by user
	opinions  [][]opinion // by user, in the order of history
	user      [][firstMovie]float32
	movie     [][firstCross - firstMovie]float32
	genres    [][]uint8            // by movie
	genreMean [][maxGenres]float32 // by user
	genreSeen [][maxGenres]float32
}

// rater is one rating seen from the movie's side.
type rater struct {
	user int32
	at   int32 // position in the user's history
}

// opinion is how far a rating lies from its user's damped mean.
type opinion struct {
	movie int32
	off   float32 // stars
}

func fitBase(users int, movies []movie, rows []Rating, c Config) *base {
	b := &base{
		ratings:  fitBiased(users, len(movies), rows, c),
		implicit: fitImplicit(users, len(movies), rows, c),
	}
	b.describe(users, movies, rows)
	return b
}

// describe computes all statistics from the rows.
func (b *base) describe(users int, movies []movie, rows []Rating) {
	b.history = make([][]Rating, users)
	b.raters = make([][]rater, len(movies))
	for _, r := range rows {
		b.raters[r.Movie] = append(b.raters[r.Movie], rater{r.User, int32(len(b.history[r.User]))})
		b.history[r.User] = append(b.history[r.User], r)
	}
	b.describeMovies(movies, rows)
	b.describeUsers()
	b.describeGenres(movies)
}

func logCount(n int) float32 { return float32(math.Log1p(float64(n))) }

func spread(sum, squares, n float64) float32 {
	if n < 2 {
		return 0
	}
	return float32(math.Sqrt(max(0, squares/n-sum/n*sum/n)))
}

func (b *base) describeMovies(movies []movie, rows []Rating) {
	mean := float64(b.ratings.mean)
	first, last := rows[0].Time, rows[0].Time
	for _, r := range rows {
		first, last = min(first, r.Time), max(last, r.Time)
	}
	fresh := last - (last-first)/5
	recent, years, known := 0, 0, 0
	for _, r := range rows {
		if r.Time >= fresh {
			recent++
		}
		if y := movies[r.Movie].year; y > 0 {
			years += int(y)
			known++
		}
	}
	share := float64(recent) / float64(len(rows))
	b.movie = make([][firstCross - firstMovie]float32, len(movies))
	for m := range movies {
		var sum, squares, liked, now, raters float64
		for _, a := range b.raters[m] {
			r := b.history[a.user][a.at]
			s := float64(r.Stars)
			sum += s
			squares += s * s
			raters += float64(logCount(len(b.history[a.user])))
			if r.Stars >= relevantStars {
				liked++
			}
			if r.Time >= fresh {
				now++
			}
		}
		n := float64(len(b.raters[m]))
		f := &b.movie[m]
		f[movieCount-firstMovie] = logCount(int(n))
		f[movieMean-firstMovie] = float32((sum + 5*mean) / (n + 5))
		f[movieSpread-firstMovie] = spread(sum, squares, n)
		f[movieLiked-firstMovie] = float32((liked + 2.5) / (n + 5))
		f[movieYear-firstMovie] = float32(movies[m].year)
		if movies[m].year == 0 && known > 0 {
			f[movieYear-firstMovie] = float32(years) / float32(known)
		}
		f[movieFresh-firstMovie] = float32(math.Log((now + 2) / (n*share + 2)))
		f[movieRaters-firstMovie] = float32((raters + 5*5) / (n + 5))
		f[movieGenres-firstMovie] = float32(bits.OnesCount32(movies[m].genres))
	}
}

func (b *base) describeUsers() {
	mean := float64(b.ratings.mean)
	b.user = make([][firstMovie]float32, len(b.history))
	b.opinions = make([][]opinion, len(b.history))
	for u, h := range b.history {
		var sum, squares, taste, year, late, lateN float64
		for i, r := range h {
			s := float64(r.Stars)
			sum += s
			squares += s * s
			taste += float64(b.movie[r.Movie][movieCount-firstMovie])
			year += float64(b.movie[r.Movie][movieYear-firstMovie])
			if i >= len(h)-nextLatest {
				late += s - float64(b.movie[r.Movie][movieMean-firstMovie])
				lateN++
			}
		}
		n := float64(len(h))
		f := &b.user[u]
		f[userCount] = logCount(len(h))
		f[userMean] = float32((sum + 5*mean) / (n + 5))
		f[userSpread] = spread(sum, squares, n)
		f[userRecent] = float32(late / (lateN + 3))
		f[userTaste] = float32(taste / max(1, n))
		f[userYear] = float32(year / max(1, n))
		if len(h) > 0 {
			f[userPace] = float32(math.Log1p(float64(h[len(h)-1].Time-h[0].Time) / 86400))
		}
		b.opinions[u] = make([]opinion, len(h))
		for i, r := range h {
			b.opinions[u][i] = opinion{r.Movie, r.Stars - f[userMean]}
		}
	}
}

// describeGenres computes each user's damped mean deviation and relative
// frequency by genre.
func (b *base) describeGenres(movies []movie) {
	b.genres = make([][]uint8, len(movies))
	for i, m := range movies {
		for g := range maxGenres {
			if m.genres>>g&1 == 1 {
				b.genres[i] = append(b.genres[i], uint8(g))
			}
		}
	}
	var all [maxGenres]float64
	total := 0.0
	for _, h := range b.history {
		for _, r := range h {
			total++
			for _, g := range b.genres[r.Movie] {
				all[g]++
			}
		}
	}
	b.genreMean = make([][maxGenres]float32, len(b.history))
	b.genreSeen = make([][maxGenres]float32, len(b.history))
	for u, h := range b.history {
		var sum, n [maxGenres]float64
		for _, r := range h {
			off := float64(r.Stars - b.movie[r.Movie][movieMean-firstMovie])
			for _, g := range b.genres[r.Movie] {
				sum[g] += off
				n[g]++
			}
		}
		for g := range maxGenres {
			b.genreMean[u][g] = float32(sum[g] / (n[g] + 5))
			expected := all[g] / total * float64(len(h))
			b.genreSeen[u][g] = float32(math.Log((n[g] + 3) / (expected + 3)))
		}
	}
}

// next scores for user u what others rated within a few movies after the ones
// that u rated last. For norace see [Scorer.addTrees]: it writes to out alone.
//
//go:norace
func (b *base) next(u int32, out []float32) {
	clear(out)
	h := b.history[u]
	for i := max(0, len(h)-nextLatest); i < len(h); i++ {
		raters := b.raters[h[i].Movie]
		w := 1 / (float64(len(h)-i) + 5) / math.Sqrt(float64(len(raters)+5))
		for _, a := range raters {
			if a.user == u {
				continue
			}
			other := b.history[a.user]
			end := min(int(a.at)+1+nextWindow, len(other))
			for _, r := range other[a.at+1 : end] {
				out[r.Movie] += float32(w)
			}
		}
	}
	for m := range out {
		if out[m] > 0 {
			out[m] = float32(math.Sqrt(float64(out[m]) / math.Sqrt(float64(len(b.raters[m])+5))))
		}
	}
}

// alike scores for user u the movies of similar users, and their opinion of
// them. Similarity is the cosine of the sets of rated movies; for opinions it is
// how far two users deviate from their own means together. For norace see
// [Scorer.addTrees]: it writes to seen, like and its own space alone.
//
//go:norace
func (b *base) alike(u int32, seen, like []float32) {
	shared := make([]float64, len(b.history))
	agree := make([]float64, len(b.history))
	for _, own := range b.opinions[u] {
		raters := b.raters[own.movie]
		rarity := 1 / math.Log1p(float64(len(raters)+1))
		for _, a := range raters {
			shared[a.user] += rarity
			agree[a.user] += float64(float64(own.off) * float64(b.opinions[a.user][a.at].off))
		}
	}
	shared[u], agree[u] = 0, 0
	own := math.Sqrt(float64(len(b.history[u])))
	for v, h := range b.history {
		shared[v] /= own * math.Sqrt(float64(len(h)+1))
		agree[v] /= 10 + math.Sqrt(float64(len(h))*own)
	}
	ranked := slices.Clone(shared)
	slices.Sort(ranked)
	least := ranked[max(0, len(ranked)-neighbours)]
	clear(seen)
	sums := make([][2]float32, len(like)) // of agreement times opinion, and of agreement
	for v, other := range b.opinions {
		if s := float32(shared[v]); s > 0 && shared[v] >= least {
			for _, o := range other {
				seen[o.movie] += s
			}
		}
		a := float32(agree[v])
		if a == 0 {
			continue
		}
		for _, o := range other {
			sum := &sums[o.movie]
			sum[0] += float32(a * o.off)
			sum[1] += max(a, -a)
		}
	}
	for m, sum := range sums {
		like[m] = sum[0] / (sum[1] + 0.5)
	}
}

// near is the neighbourhood features of one user, by movie.
type near struct {
	next, seen, opinion []float32
}

func newNear(movies int) *near {
	return &near{make([]float32, movies), make([]float32, movies), make([]float32, movies)}
}

func (b *base) near(u int32, n *near) {
	b.next(u, n.next)
	b.alike(u, n.seen, n.opinion)
}

// genreAffinity returns the means over the movie's genres of how the user rates
// them and how much the user sees them; 0 for a movie without genres.
func (b *base) genreAffinity(u, m int32) (mean, seen float32) {
	genres := b.genres[m]
	if len(genres) == 0 {
		return 0, 0
	}
	means, seens := &b.genreMean[u], &b.genreSeen[u]
	for _, g := range genres {
		mean += means[g&(maxGenres-1)]
		seen += seens[g&(maxGenres-1)]
	}
	n := float32(len(genres))
	return mean / n, seen / n
}

// fill writes the features of one pair, given the neighbourhood of its user.
func (b *base) fill(f *[featureCount]float32, u, m int32, n *near) {
	copy(f[:firstMovie], b.user[u][:])
	copy(f[firstMovie:firstCross], b.movie[m][:])
	f[crossStars] = b.ratings.stars(u, m)
	f[crossImplicit] = dot(b.implicit.userRow(u), b.implicit.movieRow(m))
	f[crossNext], f[crossLikeUsers], f[crossOpinion] = n.next[m], n.seen[m], n.opinion[m]
	f[crossGenreMean], f[crossGenreSeen] = b.genreAffinity(u, m)
	f[crossYear] = f[movieYear] - f[userYear]
	f[crossTaste] = f[movieCount] - f[userTaste]
}
