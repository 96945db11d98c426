package model

import (
	"math"
	"math/rand/v2"
)

// factors is one latent vector per user and per movie, row after row.
type factors struct {
	k     int
	user  []float32 // users × k
	movie []float32 // movies × k
}

func newFactors(users, movies, k int, scale float64, rng *rand.Rand) *factors {
	f := &factors{k: k, user: make([]float32, users*k), movie: make([]float32, movies*k)}
	for i := range f.user {
		f.user[i] = float32(rng.NormFloat64() * scale)
	}
	for i := range f.movie {
		f.movie[i] = float32(rng.NormFloat64() * scale)
	}
	return f
}

func (f *factors) userRow(u int32) []float32  { return f.user[int(u)*f.k : (int(u)+1)*f.k] }
func (f *factors) movieRow(m int32) []float32 { return f.movie[int(m)*f.k : (int(m)+1)*f.k] }

// dot multiplies two vectors of equal length, which is a multiple of four.
// The conversions forbid fused multiply-add, so that every machine gets the
// same bits. For norace see [Scorer.addTrees]: both vectors are only read.
//
//go:norace
func dot(a, b []float32) float32 {
	var s0, s1, s2, s3 float32
	b = b[:len(a)]
	for ; len(a) >= 4 && len(b) >= 4; a, b = a[4:], b[4:] {
		s0 += float32(a[0] * b[0])
		s1 += float32(a[1] * b[1])
		s2 += float32(a[2] * b[2])
		s3 += float32(a[3] * b[3])
	}
	return (s0 + s1) + (s2 + s3)
}

// biased is a rating factorisation: stars = mean + user bias + movie bias + dot
// (Koren, Bell, Volinsky: Matrix Factorization Techniques for Recommender
// Systems, IEEE Computer 42(8), 2009).
type biased struct {
	mean      float32
	userBias  []float32
	movieBias []float32
	*factors
}

func (b *biased) stars(u, m int32) float32 {
	return b.mean + b.userBias[u] + b.movieBias[m] + dot(b.userRow(u), b.movieRow(m))
}

// fitBiased runs stochastic gradient descent with a decaying step.
func fitBiased(users, movies int, rows []Rating, c Config) *biased {
	rng := rand.New(rand.NewPCG(c.Seed, 1))
	b := &biased{
		userBias:  make([]float32, users),
		movieBias: make([]float32, movies),
		factors:   newFactors(users, movies, c.RatingFactors, 0.05, rng),
	}
	var sum float64
	for _, r := range rows {
		sum += float64(r.Stars)
	}
	b.mean = float32(sum / float64(len(rows)))
	order := make([]int32, len(rows))
	for i := range order {
		order[i] = int32(i)
	}
	step := float32(c.RatingStep)
	reg, regBias := float32(c.RatingReg), float32(c.RatingReg/2)
	for range c.RatingEpochs {
		rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
		for _, i := range order {
			r := rows[i]
			e := r.Stars - b.stars(r.User, r.Movie)
			b.userBias[r.User] += float32(step * (e - float32(regBias*b.userBias[r.User])))
			b.movieBias[r.Movie] += float32(step * (e - float32(regBias*b.movieBias[r.Movie])))
			p, q := b.userRow(r.User), b.movieRow(r.Movie)
			for k := range p {
				pk, qk := p[k], q[k]
				p[k] += float32(step * (float32(e*qk) - float32(reg*pk)))
				q[k] += float32(step * (float32(e*pk) - float32(reg*qk)))
			}
		}
		step *= 0.95
	}
	return b
}

// fitImplicit factorises which movies a user rated at all: observed cells
// should score 1, all others 0 at a small weight, by alternating least squares
// (Rendle, Krichene, Zhang, Koren: Revisiting the Performance of iALS on Item
// Recommendation Benchmarks, RecSys 2022).
func fitImplicit(users, movies int, rows []Rating, c Config) *factors {
	rng := rand.New(rand.NewPCG(c.Seed, 2))
	k := c.ImplicitFactors
	f := newFactors(users, movies, k, 0.1/math.Sqrt(float64(k)), rng)
	byUser, byMovie := make([][]int32, users), make([][]int32, movies)
	for _, r := range rows {
		byUser[r.User] = append(byUser[r.User], r.Movie)
		byMovie[r.Movie] = append(byMovie[r.Movie], r.User)
	}
	s := newSolver(k)
	for range c.ImplicitEpochs {
		s.sweep(f.user, f.movie, byUser, c)
		s.sweep(f.movie, f.user, byMovie, c)
	}
	return f
}

// solver holds the scratch space of the least-squares steps.
type solver struct {
	k          int
	gram, a, b []float64
}

func newSolver(k int) *solver {
	return &solver{k, make([]float64, k*k), make([]float64, k*k), make([]float64, k)}
}

// sweep solves every row of out against the fixed other side.
func (s *solver) sweep(out, fixed []float32, rows [][]int32, c Config) {
	k := s.k
	clear(s.gram)
	for at := 0; at < len(fixed); at += k {
		addOuter(s.gram, fixed[at:at+k], c.ImplicitRest)
	}
	others := float64(len(fixed) / k)
	for i, row := range rows {
		copy(s.a, s.gram)
		clear(s.b)
		for _, at := range row {
			v := fixed[int(at)*k : (int(at)+1)*k]
			addOuter(s.a, v, 1)
			for j := range v {
				s.b[j] += float64(v[j])
			}
		}
		reg := c.ImplicitReg * (float64(len(row)) + c.ImplicitRest*others)
		for j := range k {
			s.a[j*k+j] += reg
		}
		cholesky(s.a, s.b, k)
		for j := range k {
			out[i*k+j] = float32(s.b[j])
		}
	}
}

// addOuter adds w·v·vᵀ to the lower triangle of a.
func addOuter(a []float64, v []float32, w float64) {
	k := len(v)
	for i := range k {
		wi := float64(w * float64(v[i]))
		row := a[i*k : i*k+i+1]
		for j := range row {
			row[j] += float64(wi * float64(v[j]))
		}
	}
}

// cholesky solves a·x = b for a positive definite a, of which the lower triangle
// is given and overwritten; x replaces b.
func cholesky(a, b []float64, k int) {
	for i := range k {
		ri := a[i*k : i*k+i+1]
		for j := range i {
			rj := a[j*k : j*k+j+1]
			s := ri[j]
			for l := range j {
				s -= float64(ri[l] * rj[l])
			}
			ri[j] = s / rj[j]
		}
		s := ri[i]
		for l := range i {
			s -= float64(ri[l] * ri[l])
		}
		ri[i] = math.Sqrt(s)
		t := b[i]
		for l := range i {
			t -= float64(ri[l] * b[l])
		}
		b[i] = t / ri[i]
	}
	for i := k - 1; i >= 0; i-- {
		s := b[i]
		for l := i + 1; l < k; l++ {
			s -= float64(a[l*k+i] * b[l])
		}
		b[i] = s / a[i*k+i]
	}
}
