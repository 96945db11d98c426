package model

import (
	"bytes"
	"compress/gzip"
	"io"
	"slices"
	"strings"
	"testing"
)

func zipped(text string) io.Reader {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	io.WriteString(w, text)
	w.Close()
	return &b
}

const (
	movieHeader  = "movie_id,title,year,genres\n"
	ratingHeader = "user_id,movie_id,rating,timestamp\n"
	twoMovies    = movieHeader + "5,\"Good, the Bad, The\",1966,Action|Western\n3,Nameless,NA,\n"
)

func TestReadDataset(t *testing.T) {
	t.Parallel()
	ds, err := ReadDataset(zipped(ratingHeader+"9,5,4.5,200\n2,3,0.5,100\n9,3,2,150\n"), zipped(twoMovies))
	if err != nil {
		t.Fatal(err)
	}
	if want := []int{2, 9}; !slices.Equal(ds.UserIDs, want) {
		t.Errorf("users = %v, want %v", ds.UserIDs, want)
	}
	if m := ds.Movies[1]; m.ID != 5 || m.Title != "Good, the Bad, The" || m.Year != 1966 || !slices.Equal(m.Genres, []string{"Action", "Western"}) {
		t.Errorf("second movie = %+v", m)
	}
	if m := ds.Movies[0]; m.ID != 3 || m.Year != 0 || len(m.Genres) != 0 {
		t.Errorf("first movie = %+v", m)
	}
	if want := []Rating{{0, 0, 0.5, 100}, {1, 0, 2, 150}, {1, 1, 4.5, 200}}; !slices.Equal(ds.Ratings, want) {
		t.Errorf("ratings = %v, want %v", ds.Ratings, want)
	}
}

func TestReadDatasetRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ ratings, movies, want string }{
		{"", twoMovies, "ratings: header: EOF"},
		{ratingHeader, twoMovies, "ratings: no rows"},
		{"user,movie\n1,3\n", twoMovies, "ratings: header"},
		{ratingHeader + "1,3,4,100\n1,4,4,100\n", twoMovies, "ratings: line 3: movie_id: 4 is not among the movies"},
		{ratingHeader + "1,3,5.5,100\n", twoMovies, `line 2: rating: got "5.5", want 0.5 to 5`},
		{ratingHeader + "1,3,NaN,100\n", twoMovies, `rating: got "NaN"`},
		{ratingHeader + "x,3,4,100\n", twoMovies, `user_id: got "x"`},
		{ratingHeader + "1,3,4,noon\n", twoMovies, `timestamp: got "noon"`},
		{ratingHeader + "1,3,4\n", twoMovies, "wrong number of fields"},
		{ratingHeader + "1,3,4,100\n1,5,4,100\n1,3,2,300\n", twoMovies, "user_id 1 rated movie_id 3 twice"},
		{ratingHeader, movieHeader + "3,A,1999,Drama\n3,B,1999,Drama\n", "movies: movie_id 3 appears twice"},
		{ratingHeader, movieHeader + "3,A,soon,Drama\n", `movies: line 2: year: got "soon"`},
	}
	for _, tt := range tests {
		_, err := ReadDataset(zipped(tt.ratings), zipped(tt.movies))
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("ReadDataset(%q, %q) = %v, want %q", tt.ratings, tt.movies, err, tt.want)
		}
	}
	if _, err := ReadDataset(strings.NewReader("plain"), zipped(twoMovies)); err == nil {
		t.Error("ReadDataset of text that is not gzipped = nil, want an error")
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	ds, _ := load(t)
	train, held := Split(ds.Ratings)
	if len(train)+len(held) != len(ds.Ratings) {
		t.Fatalf("%d and %d ratings of %d", len(train), len(held), len(ds.Ratings))
	}
	latest, total, later := map[int32]int64{}, map[int32]int{}, map[int32]int{}
	for _, r := range train {
		latest[r.User] = max(latest[r.User], r.Time)
		total[r.User]++
	}
	for _, r := range held {
		if r.Time < latest[r.User] {
			t.Fatalf("user %d: held-out rating of %d, train has one of %d", r.User, r.Time, latest[r.User])
		}
		total[r.User]++
		later[r.User]++
	}
	for u, n := range total {
		if later[u] != n/5 {
			t.Errorf("user %d: %d of %d held out, want %d", u, later[u], n, n/5)
		}
	}
	for n, want := range map[int]int{0: 0, 1: 0, 2: 1, 4: 1, 5: 1, 9: 1, 10: 2} {
		if _, held := Split(make([]Rating, n)); len(held) != want {
			t.Errorf("Split of %d ratings holds out %d, want %d", n, len(held), want)
		}
	}
}
