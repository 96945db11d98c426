// Package data embeds the MovieLens ratings that the predictor is trained on.
//
// The files come under terms of their own, which are in README.md beside them
// and in [Terms]; they are not under the licence of the code.
package data

import (
	"bytes"
	_ "embed"
	"io"
)

//go:embed ratings.csv.gz
var ratings []byte

//go:embed movies.csv.gz
var movies []byte

//go:embed README.md
var terms string

// Ratings returns the gzipped CSV of all ratings: user_id, movie_id, rating
// (0.5 to 5 stars), timestamp (Unix seconds); sorted by user, then by time.
func Ratings() io.Reader { return bytes.NewReader(ratings) }

// Movies returns the gzipped CSV of all movies: movie_id, title, year (NA where
// unknown), genres separated by a vertical bar.
func Movies() io.Reader { return bytes.NewReader(movies) }

// Terms returns the conditions under which the data may be used and passed on.
func Terms() string { return terms }
