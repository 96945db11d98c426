package main

import (
	"encoding/binary"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"

	"github.com/perfplan/perfplan/predictor/model"
	"github.com/perfplan/perfplan/runner/bench/subject"
)

const (
	maxBenchSize = 10_000_000
	requestRows  = 1000 // rows scored for one user before the next
)

// bench is the subject of a microbenchmark: it reads messages of version 1 of
// the protocol from stdin, a line each, and answers on stdout. See
// predictor/README.md.
func bench(args []string, stdin io.Reader, stdout, stderr io.Writer) error {
	f := flag.NewFlagSet("bench", flag.ContinueOnError)
	file := f.String("model", "", "model `file` (default the embedded one)")
	slow := f.Bool("slow-path", false, "score row by row, to show what a regression looks like")
	seed := f.Uint64("seed", 1, "seed of the rows")
	if err := parse(f, args, stdout); err != nil {
		return err
	}
	m, err := loadModel(*file)
	if err != nil {
		return err
	}
	r := &rows{m: m, scorer: model.NewScorer(m), slow: *slow, seed: *seed}
	return subject.Serve(stdin, stdout, r.work)
}

// rows are seeded ones of real users and movies, to be scored.
type rows struct {
	m      *model.Model
	scorer *model.Scorer
	slow   bool
	seed   uint64

	users  []int32 // one for each requestRows movies
	movies []int32
	scores []float32
}

// work makes rows of the size ready.
func (s *rows) work(p subject.Params) (subject.Work, error) {
	if p.Size < 1 || p.Size > maxBenchSize {
		return subject.Work{}, fmt.Errorf("size: got %d, want a whole number from 1 to %d", p.Size, maxBenchSize)
	}
	s.setup(p.Size)
	return subject.Work{Do: s.iterate, Checksum: func() uint64 { return checksum(s.scores) }}, nil
}

// setup makes size rows in groups of up to requestRows different movies a user,
// as requests would ask for them.
func (s *rows) setup(size int) {
	s.users, s.movies, s.scores = nil, nil, nil
	rng := rand.New(rand.NewPCG(s.seed, uint64(size)))
	s.movies, s.scores = make([]int32, 0, size), make([]float32, size)
	shuffled := make([]int32, s.m.Movies())
	for i := range shuffled {
		shuffled[i] = int32(i)
	}
	for len(s.movies) < size {
		n := min(requestRows, size-len(s.movies), len(shuffled))
		for i := range n {
			j := i + rng.IntN(len(shuffled)-i)
			shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
		}
		s.users = append(s.users, int32(rng.IntN(s.m.Users())))
		s.movies = append(s.movies, shuffled[:n]...)
	}
}

// iterate scores every row once.
func (s *rows) iterate() {
	step := min(requestRows, s.m.Movies())
	for i, u := range s.users {
		from, to := i*step, min((i+1)*step, len(s.movies))
		if !s.slow {
			s.scorer.Rank(u, s.movies[from:to], s.scores[from:to])
			continue
		}
		for j := from; j < to; j++ {
			s.scores[j] = s.m.RankOne(u, s.movies[j])
		}
	}
}

// checksum is the FNV-1a hash of the scores' bits.
func checksum(scores []float32) uint64 {
	h := fnv.New64a()
	var b [4]byte
	for _, v := range scores {
		binary.LittleEndian.PutUint32(b[:], math.Float32bits(v))
		h.Write(b[:])
	}
	return h.Sum64()
}
