// Package model ranks movies for a user: it reads ratings, splits them by time,
// fits two factorisations and two sets of gradient-boosted oblivious trees on
// them, and scores candidates in batches without allocating.
//
// Training is single-threaded and seeded, so the same ratings and [Config] give
// the same bytes on every run. The package reads no flags, no files and no
// clock, and imports nothing else of this module.
package model

import (
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Movie is one entry of the catalogue.
type Movie struct {
	ID     int      // as in the data, not an index
	Title  string   // without the year
	Year   int      // 0 where the data has none
	Genres []string // in the data's order, may be empty
}

// Rating is one user's opinion of one movie.
type Rating struct {
	User  int32   // index into Dataset.UserIDs
	Movie int32   // index into Dataset.Movies
	Stars float32 // 0.5 to 5
	Time  int64   // Unix seconds
}

// Dataset is a set of ratings with its users and movies.
type Dataset struct {
	UserIDs []int    // ascending
	Movies  []Movie  // ascending by ID
	Ratings []Rating // by user, then time, then movie
}

// ReadDataset reads the two gzipped CSV files, described in package data.
// It refuses unknown movies, repeated pairs and ratings out of range, and names
// the line.
func ReadDataset(ratings, movies io.Reader) (*Dataset, error) {
	ds := &Dataset{}
	if err := readGzipCSV(movies, []string{"movie_id", "title", "year", "genres"}, ds.addMovie); err != nil {
		return nil, fmt.Errorf("movies: %w", err)
	}
	slices.SortFunc(ds.Movies, func(a, b Movie) int { return cmp.Compare(a.ID, b.ID) })
	index := make(map[int]int32, len(ds.Movies))
	for i, m := range ds.Movies {
		if _, ok := index[m.ID]; ok {
			return nil, fmt.Errorf("movies: movie_id %d appears twice", m.ID)
		}
		index[m.ID] = int32(i)
	}
	users := make(map[int]int32)
	err := readGzipCSV(ratings, []string{"user_id", "movie_id", "rating", "timestamp"}, func(f []string) error {
		return ds.addRating(f, index, users)
	})
	if err != nil {
		return nil, fmt.Errorf("ratings: %w", err)
	}
	if len(ds.Ratings) == 0 {
		return nil, errors.New("ratings: no rows")
	}
	ds.sortUsers()
	if err := ds.checkPairs(); err != nil {
		return nil, fmt.Errorf("ratings: %w", err)
	}
	return ds, nil
}

func readGzipCSV(r io.Reader, header []string, row func([]string) error) error {
	zr, err := gzip.NewReader(r)
	if err != nil {
		return err
	}
	cr := csv.NewReader(zr)
	cr.FieldsPerRecord = len(header)
	cr.ReuseRecord = true
	first, err := cr.Read()
	if err != nil {
		return fmt.Errorf("header: %w", err)
	}
	if !slices.Equal(first, header) {
		return fmt.Errorf("header: got %q, want %q", first, header)
	}
	for {
		f, err := cr.Read()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if err := row(f); err != nil {
			line, _ := cr.FieldPos(0)
			return fmt.Errorf("line %d: %w", line, err)
		}
	}
}

func (ds *Dataset) addMovie(f []string) error {
	id, err := strconv.Atoi(f[0])
	if err != nil || id < 1 || id > math.MaxInt32 {
		return fmt.Errorf("movie_id: got %q, want a positive number", f[0])
	}
	m := Movie{ID: id, Title: strings.Clone(f[1])}
	if f[2] != "NA" {
		if m.Year, err = strconv.Atoi(f[2]); err != nil {
			return fmt.Errorf("year: got %q, want a number or NA", f[2])
		}
	}
	if f[3] != "" && f[3] != "(no genres listed)" {
		m.Genres = strings.Split(strings.Clone(f[3]), "|")
	}
	ds.Movies = append(ds.Movies, m)
	return nil
}

func (ds *Dataset) addRating(f []string, movies, users map[int]int32) error {
	uid, err := strconv.Atoi(f[0])
	if err != nil || uid < 1 || uid > math.MaxInt32 {
		return fmt.Errorf("user_id: got %q, want a positive number", f[0])
	}
	mid, err := strconv.Atoi(f[1])
	if err != nil {
		return fmt.Errorf("movie_id: got %q, want a number", f[1])
	}
	m, ok := movies[mid]
	if !ok {
		return fmt.Errorf("movie_id: %d is not among the movies", mid)
	}
	stars, err := strconv.ParseFloat(f[2], 32)
	if err != nil || !(stars >= 0.5 && stars <= 5) {
		return fmt.Errorf("rating: got %q, want 0.5 to 5", f[2])
	}
	t, err := strconv.ParseInt(f[3], 10, 64)
	if err != nil {
		return fmt.Errorf("timestamp: got %q, want Unix seconds", f[3])
	}
	u, ok := users[uid]
	if !ok {
		u = int32(len(users))
		users[uid] = u
		ds.UserIDs = append(ds.UserIDs, uid)
	}
	ds.Ratings = append(ds.Ratings, Rating{u, m, float32(stars), t})
	return nil
}

// sortUsers renumbers the users by their ids and sorts the ratings.
func (ds *Dataset) sortUsers() {
	ids := slices.Clone(ds.UserIDs)
	slices.Sort(ids)
	for i, r := range ds.Ratings {
		at, _ := slices.BinarySearch(ids, ds.UserIDs[r.User])
		ds.Ratings[i].User = int32(at)
	}
	ds.UserIDs = ids
	slices.SortFunc(ds.Ratings, func(a, b Rating) int {
		return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Time, b.Time), cmp.Compare(a.Movie, b.Movie))
	})
}

func (ds *Dataset) checkPairs() error {
	last := make([]int32, len(ds.Movies)) // user who rated the movie last, plus one
	for _, r := range ds.Ratings {
		if last[r.Movie] == r.User+1 {
			return fmt.Errorf("user_id %d rated movie_id %d twice", ds.UserIDs[r.User], ds.Movies[r.Movie].ID)
		}
		last[r.Movie] = r.User + 1
	}
	return nil
}

// Split cuts ratings, which must be in the dataset's order, by time: each user's
// last fifth (rounded down, at least one of two or more) becomes held.
// Ratings of the same second are ordered by movie.
func Split(ratings []Rating) (train, held []Rating) {
	for start := 0; start < len(ratings); {
		end := start + 1
		for end < len(ratings) && ratings[end].User == ratings[start].User {
			end++
		}
		n := end - start
		cut := end - n/5
		if n/5 == 0 && n > 1 {
			cut = end - 1
		}
		train = append(train, ratings[start:cut]...)
		held = append(held, ratings[cut:end]...)
		start = end
	}
	return train, held
}
