// Package predictor is an HTTP service that ranks movies for a user. It is the
// reference system under test: a real model on real ratings, with switches that
// make it fail in known ways.
//
// README.md beside this file has the API, the model and its figures.
package predictor

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/pprof"
	"sync"
	"sync/atomic"
	"time"

	"github.com/perfplan/perfplan/predictor/model"
)

const (
	rankingPath = "/predictor/v1/get-ranking"

	// DefaultMaxInFlight is how many ranking requests the command admits at once.
	DefaultMaxInFlight = 256

	// statusGone is counted for a client that left before its answer; it is never
	// sent.
	statusGone = 499
)

// Config is how a service is to behave.
type Config struct {
	MaxInFlight int    // ranking requests at once, more are answered 503; at least 1
	SlowPath    bool   // score row by row, for showing a regression
	Faults      Faults // off by default
}

// Service answers ranking requests. It may be used by many goroutines.
type Service struct {
	m         *model.Model
	fragments []string // by movie index, the JSON of what does not depend on the user
	c         Config
	faults    *saboteur
	metrics   *metrics
	mux       *http.ServeMux

	ready    atomic.Bool
	inFlight atomic.Int64
	scratch  sync.Pool // of *scratch
}

// New returns a service on the model; movies must be the model's catalogue, in
// its order. It is not ready before [Service.SetReady].
func New(m *model.Model, movies []model.Movie, c Config) (*Service, error) {
	if c.MaxInFlight < 1 {
		return nil, fmt.Errorf("--max-in-flight: got %d, want 1 or more", c.MaxInFlight)
	}
	if err := c.Faults.Check(); err != nil {
		return nil, err
	}
	if len(movies) != m.Movies() {
		return nil, fmt.Errorf("got %d movies, want the model's %d", len(movies), m.Movies())
	}
	s := &Service{m: m, c: c, faults: newSaboteur(c.Faults), metrics: newMetrics(), mux: http.NewServeMux()}
	for i, mv := range movies {
		if m.MovieID(int32(i)) != mv.ID {
			return nil, errors.New("the movies are not the model's")
		}
		s.fragments = append(s.fragments, fragment(mv))
	}
	s.scratch.New = func() any { return newScratch(m) }
	s.mux.HandleFunc(rankingPath, s.ranking)
	s.mux.HandleFunc("/healthz", s.timed("/healthz", func(w http.ResponseWriter, _ *http.Request) int {
		return writeText(w, http.StatusOK, "ok\n")
	}))
	s.mux.HandleFunc("/readyz", s.timed("/readyz", func(w http.ResponseWriter, _ *http.Request) int {
		if !s.ready.Load() {
			return writeText(w, http.StatusServiceUnavailable, "not ready\n")
		}
		return writeText(w, http.StatusOK, "ready\n")
	}))
	s.mux.Handle("/metrics", s.metrics.handler())
	s.mux.HandleFunc("/debug/pprof/", pprof.Index)
	s.mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	s.mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	s.mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	s.mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	s.mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		status := writeError(w, http.StatusNotFound, "path", "no such path, want "+rankingPath)
		s.metrics.observe("other", status, time.Since(start))
	})
	return s, nil
}

// ServeHTTP answers one request.
func (s *Service) ServeHTTP(w http.ResponseWriter, r *http.Request) { s.mux.ServeHTTP(w, r) }

// SetReady changes the answer of /readyz, and nothing else.
func (s *Service) SetReady(ready bool) { s.ready.Store(ready) }

// timed counts an endpoint that is read with GET or HEAD; h returns the status.
func (s *Service) timed(route string, h func(http.ResponseWriter, *http.Request) int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		start := time.Now()
		status := http.StatusMethodNotAllowed
		if r.Method == http.MethodGet || r.Method == http.MethodHead {
			status = h(w, r)
		} else {
			w.Header().Set("Allow", "GET, HEAD")
			writeError(w, status, "method", "got "+r.Method+", want GET or HEAD")
		}
		s.metrics.observe(route, status, time.Since(start))
	}
}
