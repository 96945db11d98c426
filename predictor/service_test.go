package predictor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/perfplan/perfplan/predictor/data"
	"github.com/perfplan/perfplan/predictor/model"
)

var (
	loadModel   = sync.OnceValues(model.Trained)
	loadDataset = sync.OnceValues(func() (*model.Dataset, error) {
		return model.ReadDataset(data.Ratings(), data.Movies())
	})
)

func load(t testing.TB) (*model.Model, []model.Movie) {
	t.Helper()
	m, err := loadModel()
	if err != nil {
		t.Fatal(err)
	}
	ds, err := loadDataset()
	if err != nil {
		t.Fatal(err)
	}
	return m, ds.Movies
}

func newService(t testing.TB, c Config) *Service {
	t.Helper()
	if c.MaxInFlight == 0 {
		c.MaxInFlight = DefaultMaxInFlight
	}
	m, movies := load(t)
	s, err := New(m, movies, c)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// start serves on a loopback port.
func start(t testing.TB, c Config) string {
	t.Helper()
	server := httptest.NewServer(newService(t, c))
	t.Cleanup(server.Close)
	return server.URL
}

type item struct {
	MovieID int      `json:"movie_id"`
	Title   string   `json:"title"`
	Year    *int     `json:"year"`
	Genres  []string `json:"genres"`
	Score   float64  `json:"score"`
	Stars   *float64 `json:"stars"`
}

type rankingAnswer struct {
	UserID            int    `json:"user_id"`
	Model             string `json:"model"`
	Fallback          string `json:"fallback"`
	Candidates        int    `json:"candidates"`
	UnknownCandidates int    `json:"unknown_candidates"`
	Items             []item `json:"items"`
}

// send posts a body and returns status, headers and body.
func send(t testing.TB, url, body string) (*http.Response, []byte) {
	t.Helper()
	resp, err := http.Post(url+rankingPath, "application/json", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp, b
}

func rankOK(t testing.TB, url, body string) (rankingAnswer, []byte) {
	t.Helper()
	resp, b := send(t, url, body)
	if resp.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %s: %s", body, resp.Status, b)
	}
	if got := resp.Header.Get("Content-Type"); got != "application/json" {
		t.Errorf("content-type = %q, want application/json", got)
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	var a rankingAnswer
	if err := d.Decode(&a); err != nil {
		t.Fatalf("%s: %v in %s", body, err, b)
	}
	return a, b
}

func get(t testing.TB, url string) (int, string) {
	t.Helper()
	resp, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

func TestRankingOfCount(t *testing.T) {
	t.Parallel()
	url := start(t, Config{})
	m, _ := load(t)
	a, b := rankOK(t, url, `{"user_id":7,"candidate_count":1000,"limit":50}`)
	if a.UserID != 7 || a.Model != m.Name() || a.Candidates != 1000 || a.Fallback != "" || len(a.Items) != 50 {
		t.Errorf("got user %d, model %q, %d candidates, fallback %q, %d items", a.UserID, a.Model, a.Candidates, a.Fallback, len(a.Items))
	}
	if len(b) < 6000 || len(b) > 7000 {
		t.Errorf("answer has %d bytes, want 6000 to 7000", len(b))
	}
	u, _ := m.User(7)
	for i, it := range a.Items {
		mv, ok := m.Movie(it.MovieID)
		if !ok || it.Title == "" || it.Stars == nil || *it.Stars < 0.5 || *it.Stars > 5 {
			t.Fatalf("item %d is incomplete: %+v", i, it)
		}
		if float32(it.Score) != m.RankOne(u, mv) {
			t.Errorf("movie %d has score %v, model says %v", it.MovieID, it.Score, m.RankOne(u, mv))
		}
		if m.Rated(u, mv) {
			t.Errorf("movie %d is offered though the user rated it", it.MovieID)
		}
		if i > 0 && a.Items[i-1].Score < it.Score {
			t.Errorf("item %d has a higher score than the one before", i)
		}
	}
}

func TestRankingOfList(t *testing.T) {
	t.Parallel()
	url := start(t, Config{})
	a, first := rankOK(t, url, `{"user_id":7,"candidates":[1,2,260,1196,77777777,3,-1,0],"limit":4}`)
	if a.Candidates != 5 || a.UnknownCandidates != 3 || len(a.Items) != 4 {
		t.Errorf("got %d candidates, %d unknown, %d items, want 5, 3, 4", a.Candidates, a.UnknownCandidates, len(a.Items))
	}
	if _, other := rankOK(t, url, `{"user_id":7,"limit":4,"candidates":[0,-1,3,77777777,1196,260,2,1]}`); !bytes.Equal(first, other) {
		t.Errorf("the order of the candidates changes the answer:\n%s%s", first, other)
	}
	if a, _ := rankOK(t, url, `{"user_id":7,"candidates":[77777777]}`); a.Candidates != 0 || len(a.Items) != 0 || a.Items == nil {
		t.Errorf("only unknown candidates: got %+v, want an empty list", a)
	}
	if a, _ := rankOK(t, url, `{"user_id":7,"candidate_count":10000,"limit":1000}`); a.Candidates >= 9066 || a.Candidates < 8000 || len(a.Items) != 1000 {
		t.Errorf("all movies: got %d candidates and %d items", a.Candidates, len(a.Items))
	}
}

func TestUnknownUserGetsPopularity(t *testing.T) {
	t.Parallel()
	url := start(t, Config{})
	a, _ := rankOK(t, url, `{"user_id":1000000,"candidate_count":100,"limit":100}`)
	if a.Fallback != "popularity" || len(a.Items) != 100 {
		t.Fatalf("got fallback %q and %d items, want popularity and 100", a.Fallback, len(a.Items))
	}
	m, _ := load(t)
	for i, it := range a.Items {
		mv, _ := m.Movie(it.MovieID)
		if it.Score != float64(m.Count(mv)) || it.Stars != nil {
			t.Errorf("item %d: got %+v, want the count %d and no stars", i, it, m.Count(mv))
		}
		if i > 0 && (a.Items[i-1].Score < it.Score || a.Items[i-1].Score == it.Score && a.Items[i-1].MovieID > it.MovieID) {
			t.Errorf("items %d and %d are out of order", i-1, i)
		}
	}
}

func TestSlowPathAnswersTheSame(t *testing.T) {
	t.Parallel()
	fast, slow := start(t, Config{}), start(t, Config{SlowPath: true})
	body := string(thousand(t))
	_, a := rankOK(t, fast, body)
	_, b := rankOK(t, slow, body)
	if !bytes.Equal(a, b) {
		t.Errorf("answers differ:\n%s%s", a, b)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	url := start(t, Config{})
	for _, tt := range badRequests {
		resp, b := send(t, url, tt.body)
		checkError(t, tt.body, resp, b, http.StatusBadRequest, tt.field, tt.message)
	}
	resp, b := send(t, url, strings.Repeat(" ", MaxBodyBytes+1))
	checkError(t, "large", resp, b, http.StatusRequestEntityTooLarge, "body", "more than 262144 bytes")
}

func checkError(t *testing.T, body string, resp *http.Response, b []byte, status int, field, message string) {
	t.Helper()
	if len(body) > 80 {
		body = body[:80] + "…"
	}
	var e struct {
		Error struct{ Field, Message *string }
	}
	if err := json.Unmarshal(b, &e); err != nil || e.Error.Field == nil || e.Error.Message == nil {
		t.Errorf("%q: answer is not an error: %s", body, b)
		return
	}
	if resp.StatusCode != status || *e.Error.Field != field || !strings.Contains(*e.Error.Message, message) {
		t.Errorf("%q: got %d %s, want %d, field %q, message with %q", body, resp.StatusCode, b, status, field, message)
	}
}

func TestWrongMethodTypeAndPath(t *testing.T) {
	t.Parallel()
	url := start(t, Config{})
	tests := []struct {
		method, path, contentType string
		status                    int
		field, allow              string
	}{
		{"GET", rankingPath, "", 405, "method", "POST"},
		{"PUT", rankingPath, "application/json", 405, "method", "POST"},
		{"DELETE", rankingPath, "", 405, "method", "POST"},
		{"POST", "/healthz", "", 405, "method", "GET, HEAD"},
		{"POST", rankingPath, "", 415, "content-type", ""},
		{"POST", rankingPath, "text/plain", 415, "content-type", ""},
		{"POST", rankingPath, "application/jsonx", 415, "content-type", ""},
		{"POST", rankingPath, ";", 415, "content-type", ""},
		{"POST", rankingPath, "application/json; charset=utf-8", 200, "", ""},
		{"POST", rankingPath, "Application/JSON", 200, "", ""},
		{"GET", "/", "", 404, "path", ""},
		{"POST", rankingPath + "/x", "application/json", 404, "path", ""},
	}
	for _, tt := range tests {
		req, err := http.NewRequest(tt.method, url+tt.path, strings.NewReader(`{"user_id":7,"candidate_count":5}`))
		if err != nil {
			t.Fatal(err)
		}
		if tt.contentType != "" {
			req.Header.Set("Content-Type", tt.contentType)
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got := resp.Header.Get("Allow"); got != tt.allow {
			t.Errorf("%s %s: Allow = %q, want %q", tt.method, tt.path, got, tt.allow)
		}
		if tt.status == 200 {
			if resp.StatusCode != 200 {
				t.Errorf("%s %s %q: got %d: %s", tt.method, tt.path, tt.contentType, resp.StatusCode, b)
			}
			continue
		}
		checkError(t, tt.method+" "+tt.path+" "+tt.contentType, resp, b, tt.status, tt.field, "")
	}
}

func TestHealthAndReadiness(t *testing.T) {
	t.Parallel()
	s := newService(t, Config{})
	server := httptest.NewServer(s)
	defer server.Close()
	check := func(path string, want int) {
		t.Helper()
		if got, body := get(t, server.URL+path); got != want {
			t.Errorf("%s = %d %q, want %d", path, got, body, want)
		}
	}
	check("/healthz", 200)
	check("/readyz", 503)
	s.SetReady(true)
	check("/readyz", 200)
	s.SetReady(false)
	check("/readyz", 503)
	check("/healthz", 200)
	check("/debug/pprof/", 200)
	check("/debug/pprof/goroutine?debug=1", 200)
}

func TestMetrics(t *testing.T) {
	t.Parallel()
	url := start(t, Config{})
	for range 3 {
		rankOK(t, url, `{"user_id":7,"candidate_count":200}`)
	}
	rankOK(t, url, `{"user_id":1000000,"candidate_count":200}`) // popularity scores no rows
	send(t, url, `{}`)
	get(t, url+"/healthz")
	status, text := get(t, url+"/metrics")
	if status != 200 {
		t.Fatalf("/metrics = %d", status)
	}
	for _, want := range []string{
		`predictor_request_duration_seconds_count{route="/predictor/v1/get-ranking",status="200"} 4`,
		`predictor_request_duration_seconds_count{route="/predictor/v1/get-ranking",status="400"} 1`,
		`predictor_request_duration_seconds_count{route="/healthz",status="200"} 1`,
		`predictor_request_duration_seconds_bucket{route="/predictor/v1/get-ranking",status="200",le="+Inf"} 4`,
		"predictor_rows_scored_total 600",
		"predictor_in_flight_requests 0",
		"# TYPE predictor_request_duration_seconds histogram",
		"process_cpu_seconds_total ",
		"go_goroutines ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("/metrics lacks %q", want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	m, movies := load(t)
	if _, err := New(m, movies, Config{}); err == nil || !strings.Contains(err.Error(), "--max-in-flight: got 0") {
		t.Errorf("New without a bound = %v", err)
	}
	if _, err := New(m, movies[1:], Config{MaxInFlight: 1}); err == nil {
		t.Error("New with a movie less = nil, want an error")
	}
	if _, err := New(m, append(movies[1:len(movies):len(movies)], movies[0]), Config{MaxInFlight: 1}); err == nil {
		t.Error("New with shuffled movies = nil, want an error")
	}
}

// BenchmarkRequest1000 is the whole handler with a thousand listed candidates,
// without the network: decoding, scoring, encoding.
func BenchmarkRequest1000(b *testing.B) {
	s := newService(b, Config{})
	body := thousand(b)
	b.ReportAllocs()
	for b.Loop() {
		req := httptest.NewRequest(http.MethodPost, rankingPath, bytes.NewReader(body))
		req.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		s.ServeHTTP(w, req)
		if w.Code != http.StatusOK {
			b.Fatal(w.Code)
		}
	}
}

func ExampleService() {
	m, err := model.Trained()
	if err != nil {
		fmt.Println(err)
		return
	}
	ds, err := model.ReadDataset(data.Ratings(), data.Movies())
	if err != nil {
		fmt.Println(err)
		return
	}
	s, err := New(m, ds.Movies, Config{MaxInFlight: 8, Faults: Faults{Delay: time.Millisecond}})
	if err != nil {
		fmt.Println(err)
		return
	}
	req := httptest.NewRequest("POST", "/predictor/v1/get-ranking", strings.NewReader(`{"user_id":"7"}`))
	req.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	s.ServeHTTP(w, req)
	fmt.Print(w.Code, " ", w.Body)
	// Output: 400 {"error":{"field":"user_id","message":"got a string at byte 12, want a whole number"}}
}
