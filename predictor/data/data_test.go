package data

import (
	"bufio"
	"compress/gzip"
	"io"
	"strings"
	"testing"
)

func TestFilesAndTerms(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]struct {
		r      io.Reader
		header string
		lines  int
	}{
		"ratings": {Ratings(), "user_id,movie_id,rating,timestamp", 100_005},
		"movies":  {Movies(), "movie_id,title,year,genres", 9067},
	} {
		zr, err := gzip.NewReader(f.r)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		lines := 0
		for s := bufio.NewScanner(zr); s.Scan(); lines++ {
			if lines == 0 && s.Text() != f.header {
				t.Errorf("%s: header = %q, want %q", name, s.Text(), f.header)
			}
		}
		if lines != f.lines {
			t.Errorf("%s: %d lines, want %d", name, lines, f.lines)
		}
	}
	for _, want := range []string{"GroupLens", "no commercial", "Harper", "same conditions"} {
		if !strings.Contains(Terms(), want) {
			t.Errorf("terms lack %q", want)
		}
	}
}
