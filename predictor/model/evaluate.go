package model

import (
	"cmp"
	"math"
	"slices"
)

// Method is one line of an [Evaluation]: a way to predict stars, to rank, or
// both. NaN stands where the method says nothing.
type Method struct {
	Name   string
	RMSE   float64 // root of the mean squared error, in stars
	NDCG   float64 // at 10, mean over users, 0 to 1
	Recall float64 // at 10, mean over users, 0 to 1
}

// Evaluation compares a model with simple methods on held-out ratings.
//
// Stars: every held-out rating is predicted. Ranking: the candidates of a user
// are all movies of the catalogue that the user did not rate in the train rows;
// relevant are the held-out ones with 4 stars or more; users without any are
// left out. Recall is divided by the number of relevant movies or by 10,
// whichever is less. Equal scores are ordered by movie id.
type Evaluation struct {
	Methods []Method // the model first, then popularity
	Held    int      // ratings predicted
	Users   int      // users ranked for

	// Gain is the mean over users of the model's NDCG less popularity's, and
	// GainError its standard error.
	Gain, GainError float64
}

// Evaluate measures m, which must have been trained on train, on held.
func Evaluate(ds *Dataset, m *Model, train, held []Rating) Evaluation {
	mn := fitMeans(ds, train)
	s := NewScorer(m)
	all := make([]int32, len(ds.Movies))
	for i := range all {
		all[i] = int32(i)
	}
	rank := []func(u int32, out []float32){
		func(u int32, out []float32) { s.Rank(u, all, out) },
		func(_ int32, out []float32) { copy(out, mn.count) },
		nil,
		nil,
		func(_ int32, out []float32) { copy(out, mn.movie) },
		func(_ int32, out []float32) { copy(out, mn.dampedMovie) },
	}
	stars := []func(u, i int32) float32{
		m.StarsOne,
		nil,
		func(_, _ int32) float32 { return mn.all },
		func(u, _ int32) float32 { return mn.user[u] },
		func(_, i int32) float32 { return mn.movie[i] },
		func(u, i int32) float32 { return mn.dampedMovie[i] + mn.dampedUser[u] },
	}
	out := Evaluation{Held: len(held)}
	perUser := make([][]float64, len(rank))
	for i, name := range []string{"model", "popularity", "global mean", "user mean", "movie mean", "user + movie means"} {
		method := Method{name, math.NaN(), math.NaN(), math.NaN()}
		if stars[i] != nil {
			method.RMSE = rmse(held, stars[i])
		}
		if rank[i] != nil {
			var recall []float64
			perUser[i], recall = rankAll(ds, train, held, rank[i])
			method.NDCG, method.Recall = mean(perUser[i]), mean(recall)
		}
		out.Methods = append(out.Methods, method)
	}
	out.Users = len(perUser[0])
	gains := make([]float64, out.Users)
	for i := range gains {
		gains[i] = perUser[0][i] - perUser[1][i]
	}
	out.Gain = mean(gains)
	for _, g := range gains {
		out.GainError += (g - out.Gain) * (g - out.Gain)
	}
	n := float64(out.Users)
	out.GainError = math.Sqrt(out.GainError / (n - 1) / n)
	return out
}

// means are the simple predictors.
type means struct {
	all                     float32
	user, movie             []float32
	dampedUser, dampedMovie []float32 // dampedUser is the deviation from dampedMovie
	count                   []float32 // of the movie
}

// damping is how many ratings at the overall mean are added to each mean.
const damping = 5

func fitMeans(ds *Dataset, train []Rating) means {
	users, movies := len(ds.UserIDs), len(ds.Movies)
	out := means{
		user: make([]float32, users), movie: make([]float32, movies),
		dampedUser: make([]float32, users), dampedMovie: make([]float32, movies),
		count: make([]float32, movies),
	}
	var sum float64
	userSum, userN, off := make([]float64, users), make([]float64, users), make([]float64, users)
	movieSum := make([]float64, movies)
	for _, r := range train {
		s := float64(r.Stars)
		sum += s
		userSum[r.User] += s
		userN[r.User]++
		movieSum[r.Movie] += s
		out.count[r.Movie]++
	}
	all := sum / float64(len(train))
	out.all = float32(all)
	for i, s := range movieSum {
		n := float64(out.count[i])
		out.movie[i] = out.all
		if n > 0 {
			out.movie[i] = float32(s / n)
		}
		out.dampedMovie[i] = float32((s + damping*all) / (n + damping))
	}
	for _, r := range train {
		off[r.User] += float64(r.Stars - out.dampedMovie[r.Movie])
	}
	for u, n := range userN {
		out.user[u] = out.all
		if n > 0 {
			out.user[u] = float32(userSum[u] / n)
		}
		out.dampedUser[u] = float32(off[u] / (n + damping))
	}
	return out
}

func rmse(held []Rating, stars func(u, i int32) float32) float64 {
	sum := 0.0
	for _, r := range held {
		e := float64(min(max(stars(r.User, r.Movie), 0.5), 5) - r.Stars)
		sum += e * e
	}
	return math.Sqrt(sum / float64(len(held)))
}

// rankAll returns NDCG@10 and Recall@10 of every user with a relevant movie.
func rankAll(ds *Dataset, train, held []Rating, score func(u int32, out []float32)) (ndcg, recall []float64) {
	relevant := make([][]int32, len(ds.UserIDs))
	for _, r := range held {
		if r.Stars >= relevantStars {
			relevant[r.User] = append(relevant[r.User], r.Movie)
		}
	}
	rated := make([][]int32, len(ds.UserIDs))
	for _, r := range train {
		rated[r.User] = append(rated[r.User], r.Movie)
	}
	scores := make([]float32, len(ds.Movies))
	for u, want := range relevant {
		if len(want) == 0 {
			continue
		}
		score(int32(u), scores)
		for _, i := range rated[u] {
			scores[i] = float32(math.Inf(-1))
		}
		gain, best, found := 0.0, 0.0, 0.0
		for at, i := range Top(scores, 10) {
			discount := 1 / math.Log2(float64(at+2))
			if slices.Contains(want, i) {
				gain += discount
				found++
			}
			if at < len(want) {
				best += discount
			}
		}
		ndcg = append(ndcg, gain/best)
		recall = append(recall, found/float64(min(len(want), 10)))
	}
	return ndcg, recall
}

// Top returns the positions of the n highest scores, best first; of equal scores
// the lower position comes first.
func Top(scores []float32, n int) []int32 {
	n = min(n, len(scores))
	return AppendTop(make([]int32, 0, n), scores, n)
}

// AppendTop appends to dst what [Top] returns. It allocates only if dst is too
// small.
func AppendTop(dst []int32, scores []float32, n int) []int32 {
	n = min(n, len(scores))
	if n <= 0 {
		return dst
	}
	before := func(a, b int32) int {
		return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b))
	}
	// A heap with the worst of the best at its root; most scores end at one
	// comparison with it.
	start := len(dst)
	for i := range n {
		dst = append(dst, int32(i))
	}
	heap := dst[start:]
	sift := func(at int) {
		for {
			child := 2*at + 1
			if child >= n {
				return
			}
			if child+1 < n && before(heap[child], heap[child+1]) < 0 {
				child++
			}
			if before(heap[at], heap[child]) >= 0 {
				return
			}
			heap[at], heap[child] = heap[child], heap[at]
			at = child
		}
	}
	for i := n/2 - 1; i >= 0; i-- {
		sift(i)
	}
	for i := n; i < len(scores); i++ {
		if scores[i] > scores[heap[0]] {
			heap[0] = int32(i)
			sift(0)
		}
	}
	slices.SortFunc(heap, before)
	return dst
}

func mean(vs []float64) float64 {
	sum := 0.0
	for _, v := range vs {
		sum += v
	}
	return sum / float64(len(vs))
}
