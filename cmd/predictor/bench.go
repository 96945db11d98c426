package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/perfplan/perfplan/predictor/model"
)

// The bounds of a benchmark.
const (
	maxBenchSize       = 10_000_000
	maxBenchIterations = 1_000_000_000
	maxBenchLine       = 4096
	requestRows        = 1000 // rows scored for one user before the next
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
	s := &subject{m: m, scorer: model.NewScorer(m), slow: *slow, seed: *seed}
	if _, err := fmt.Fprintln(stdout, "perfplan-subject 1"); err != nil {
		return err
	}
	in := bufio.NewReaderSize(stdin, maxBenchLine)
	for {
		line, err := in.ReadSlice('\n')
		if errors.Is(err, bufio.ErrBufferFull) {
			fmt.Fprintf(stdout, "error got a line of %d bytes or more\n", maxBenchLine)
			return fmt.Errorf("got a line of %d bytes or more", maxBenchLine)
		}
		if err != nil && err != io.EOF {
			return err
		}
		text := strings.TrimRight(string(line), "\r\n")
		if err == io.EOF && text == "" || text == "exit" {
			return nil
		}
		reply, problem := s.handle(text)
		if problem != nil {
			reply = "error " + problem.Error()
		}
		if _, werr := fmt.Fprintln(stdout, reply); werr != nil {
			return werr
		}
		if err == io.EOF {
			return nil
		}
	}
}

// subject scores seeded rows of real users and movies.
type subject struct {
	m      *model.Model
	scorer *model.Scorer
	slow   bool
	seed   uint64

	users  []int32 // one for each requestRows movies
	movies []int32
	scores []float32
}

func (s *subject) handle(line string) (string, error) {
	name, rest, _ := strings.Cut(line, " ")
	switch name {
	case "setup":
		size, err := field(line, rest, "size", maxBenchSize)
		if err != nil {
			return "", err
		}
		s.setup(size)
		return "ready", nil
	case "run":
		n, err := field(line, rest, "iterations", maxBenchIterations)
		if err != nil {
			return "", err
		}
		if len(s.movies) == 0 {
			return "", errors.New("run: want a setup before it")
		}
		return s.run(n), nil
	}
	return "", fmt.Errorf("unknown message %q, want setup, run or exit", line)
}

// field reads the only field of a message: a whole number from 1 to most.
func field(line, rest, key string, most int) (int, error) {
	name, value, ok := strings.Cut(rest, "=")
	if !ok || name != key || strings.Contains(rest, " ") {
		return 0, fmt.Errorf("got %q, want the one field %s=N", line, key)
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > most || value[0] == '+' {
		return 0, fmt.Errorf("%s: got %q, want a whole number from 1 to %d", key, value, most)
	}
	return n, nil
}

// setup makes size rows in groups of up to requestRows different movies a user,
// as requests would ask for them.
func (s *subject) setup(size int) {
	s.users, s.movies, s.scores = nil, nil, nil
	runtime.GC()
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

func (s *subject) run(iterations int) string {
	clear(s.scores)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range iterations {
		s.iterate()
	}
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	return fmt.Sprintf("done iterations=%d ns=%d bytes=%d allocs=%d checksum=%016x", iterations, took.Nanoseconds(),
		after.TotalAlloc-before.TotalAlloc, after.Mallocs-before.Mallocs, checksum(s.scores))
}

// iterate scores every row once.
func (s *subject) iterate() {
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
