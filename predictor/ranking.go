package predictor

import (
	"errors"
	"fmt"
	"io"
	"math/bits"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/perfplan/perfplan/predictor/model"
)

// scratch is the space of one request, used again by the next.
type scratch struct {
	request request
	scorer  *model.Scorer
	body    []byte
	movies  []int32
	scores  []float32
	top     []int32
	picked  []int32   // movies of the answer
	stars   []float32 // of picked
	listed  []uint64  // a bit per candidate
	out     []byte
}

func newScratch(m *model.Model) *scratch {
	return &scratch{
		scorer: model.NewScorer(m),
		listed: make([]uint64, (m.Movies()+63)/64),
		body:   make([]byte, 0, 16<<10),
	}
}

// answer is what a ranking came to.
type answer struct {
	userID   int
	rows     int // candidates ranked
	unknown  int // candidates that the catalogue does not have
	fallback bool
}

// ranking admits, times and counts ranking requests.
func (s *Service) ranking(w http.ResponseWriter, r *http.Request) {
	start := time.Now()
	s.metrics.inFlight.Inc()
	status := s.admit(w, r)
	s.metrics.inFlight.Dec()
	s.metrics.observe(rankingPath, status, time.Since(start))
}

// admit refuses what is over the bound at once, so that nothing queues without
// end, and returns the status.
func (s *Service) admit(w http.ResponseWriter, r *http.Request) int {
	if s.inFlight.Add(1) > int64(s.c.MaxInFlight) {
		s.inFlight.Add(-1)
		w.Header().Set("Retry-After", "1")
		return writeError(w, http.StatusServiceUnavailable, "service",
			fmt.Sprintf("overloaded: %d requests are in flight, try again later", s.c.MaxInFlight))
	}
	defer s.inFlight.Add(-1)
	if r.Method != http.MethodPost {
		w.Header().Set("Allow", http.MethodPost)
		return writeError(w, http.StatusMethodNotAllowed, "method", "got "+r.Method+", want POST")
	}
	if ct := r.Header.Get("Content-Type"); ct != "application/json" {
		if media, _, err := mime.ParseMediaType(ct); err != nil || media != "application/json" {
			return writeError(w, http.StatusUnsupportedMediaType, "content-type", "got "+strconv.Quote(ct)+", want application/json")
		}
	}
	sc := s.scratch.Get().(*scratch)
	defer s.scratch.Put(sc)
	if status, err := sc.read(w, r); err != nil {
		return writeRefusal(w, status, err)
	}
	if err := s.faults.begin(r.Context()); err != nil {
		return statusGone
	}
	defer s.faults.end()
	if s.faults.fails() {
		return writeError(w, http.StatusInternalServerError, "service", "failed on purpose (--fault-error-ratio)")
	}
	a, err := s.rank(sc)
	if err != nil {
		return writeRefusal(w, http.StatusBadRequest, err)
	}
	s.faults.burn(a.rows)
	sc.out = s.appendAnswer(sc.out[:0], sc, a)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Content-Length", strconv.Itoa(len(sc.out)))
	w.Write(sc.out) // an error here means that the client is gone
	return http.StatusOK
}

// read reads and decodes the body; an error comes with its status.
func (sc *scratch) read(w http.ResponseWriter, r *http.Request) (int, error) {
	body := http.MaxBytesReader(w, r.Body, MaxBodyBytes)
	sc.body = sc.body[:0]
	for {
		if len(sc.body) == cap(sc.body) {
			sc.body = append(sc.body, 0)[:len(sc.body)]
		}
		n, err := body.Read(sc.body[len(sc.body):cap(sc.body)])
		sc.body = sc.body[:len(sc.body)+n]
		var large *http.MaxBytesError
		switch {
		case err == io.EOF:
			return http.StatusBadRequest, sc.request.decode(sc.body)
		case errors.As(err, &large):
			return http.StatusRequestEntityTooLarge, refuse("body", "got more than %d bytes", MaxBodyBytes)
		case err != nil:
			return http.StatusBadRequest, refuse("body", "cannot be read: %v", err)
		}
	}
}

// rank finds the candidates, scores them and picks the best. For an unknown user
// the score is how many users rated the movie.
func (s *Service) rank(sc *scratch) (answer, error) {
	req := &sc.request
	a := answer{userID: req.userID}
	u, known := s.m.User(req.userID)
	if !known {
		u = -1
	}
	clear(sc.listed)
	if req.candidateCount > 0 {
		sc.movies = s.m.AppendPopular(sc.movies[:0], u, req.candidateCount)
		for _, mv := range sc.movies {
			sc.listed[mv/64] |= 1 << (mv % 64)
		}
	} else if err := s.list(sc, &a); err != nil {
		return a, err
	}
	// In the catalogue's order, so that equal scores rank by movie id, however
	// the request lists them.
	sc.movies = sc.movies[:0]
	for i, word := range sc.listed {
		for ; word != 0; word &= word - 1 {
			sc.movies = append(sc.movies, int32(i*64+bits.TrailingZeros64(word)))
		}
	}
	a.rows = len(sc.movies)
	a.fallback = !known
	if cap(sc.scores) < a.rows {
		sc.scores = make([]float32, a.rows, max(a.rows, 1024))
	}
	sc.scores = sc.scores[:a.rows]
	switch {
	case a.fallback:
		for i, mv := range sc.movies {
			sc.scores[i] = float32(s.m.Count(mv))
		}
	case s.c.SlowPath:
		for i, mv := range sc.movies {
			sc.scores[i] = s.m.RankOne(u, mv)
		}
	default:
		sc.scorer.Rank(u, sc.movies, sc.scores)
	}
	if !a.fallback {
		s.metrics.rows.Add(float64(a.rows))
	}
	s.pick(sc, u)
	return a, nil
}

// pick takes the best, and predicts their stars if there is a user.
func (s *Service) pick(sc *scratch, u int32) {
	sc.top = model.AppendTop(sc.top[:0], sc.scores, sc.request.limit)
	sc.picked = sc.picked[:0]
	for _, at := range sc.top {
		sc.picked = append(sc.picked, sc.movies[at])
	}
	if u < 0 {
		return
	}
	sc.stars = append(sc.stars[:0], make([]float32, len(sc.picked))...)
	sc.scorer.Stars(u, sc.picked, sc.stars)
}

// list marks the listed movies; unknown ids are counted and left out, a movie
// listed twice is refused.
func (s *Service) list(sc *scratch, a *answer) error {
	for _, id := range sc.request.candidates {
		mv, ok := s.m.Movie(id)
		if !ok {
			a.unknown++
			continue
		}
		if sc.listed[mv/64]>>(mv%64)&1 == 1 {
			return refuse("candidates", "got movie %d twice", id)
		}
		sc.listed[mv/64] |= 1 << (mv % 64)
	}
	return nil
}

func (s *Service) appendAnswer(out []byte, sc *scratch, a answer) []byte {
	out = append(out, `{"user_id":`...)
	out = strconv.AppendInt(out, int64(a.userID), 10)
	out = append(out, `,"model":"`...)
	out = append(out, s.m.Name()...)
	out = append(out, '"')
	if a.fallback {
		out = append(out, `,"fallback":"popularity"`...)
	}
	out = append(out, `,"candidates":`...)
	out = strconv.AppendInt(out, int64(a.rows), 10)
	out = append(out, `,"unknown_candidates":`...)
	out = strconv.AppendInt(out, int64(a.unknown), 10)
	out = append(out, `,"items":[`...)
	for i, mv := range sc.picked {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, s.fragments[mv]...)
		out = append(out, `,"score":`...)
		out = strconv.AppendFloat(out, float64(sc.scores[sc.top[i]]), 'f', -1, 32)
		if !a.fallback {
			out = append(out, `,"stars":`...)
			out = strconv.AppendFloat(out, float64(sc.stars[i]), 'f', 2, 32)
		}
		out = append(out, '}')
	}
	return append(out, "]}\n"...)
}

// fragment is the beginning of an item's JSON object.
func fragment(m model.Movie) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"movie_id":%d,"title":%s,"year":`, m.ID, quote(m.Title))
	if m.Year == 0 {
		b.WriteString("null")
	} else {
		b.WriteString(strconv.Itoa(m.Year))
	}
	b.WriteString(`,"genres":[`)
	for i, g := range m.Genres {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(quote(g))
	}
	b.WriteByte(']')
	return b.String()
}

func writeText(w http.ResponseWriter, status int, text string) int {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(status)
	io.WriteString(w, text)
	return status
}

// writeRefusal answers with the field that a [RequestError] names.
func writeRefusal(w http.ResponseWriter, status int, err error) int {
	field, message := "body", err.Error()
	if re, ok := errors.AsType[*RequestError](err); ok {
		field, message = re.Field, re.Message
	}
	return writeError(w, status, field, message)
}

func writeError(w http.ResponseWriter, status int, field, message string) int {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	fmt.Fprintf(w, "{\"error\":{\"field\":%s,\"message\":%s}}\n", quote(field), quote(message))
	return status
}
