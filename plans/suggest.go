package plans

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// didYouMean is a hint at the nearest of the known words, "" when none is near.
func didYouMean(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return fmt.Sprintf("did you mean %q?", near)
	}
	return ""
}

// nearest gives the known word that word most likely stands for: the same but for case and dashes, or at most a
// third of its letters away.
func nearest(word string, known []string) string {
	if word == "" || len(word) > 100 {
		return ""
	}
	fold := func(s string) string {
		return strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(s))
	}
	best, bestDistance := "", len(word)/3+1
	for _, k := range known {
		d := editDistance(fold(word), fold(k))
		if d < bestDistance {
			best, bestDistance = k, d
		}
	}
	return best
}

// editDistance counts the insertions, deletions, replacements and swaps of neighbours that turn a into b
// (optimal string alignment).
func editDistance(a, b string) int {
	x, y := []rune(a), []rune(b)
	before, last := make([]int, len(y)+1), make([]int, len(y)+1)
	for j := range last {
		last[j] = j
	}
	for i := range x {
		row := make([]int, len(y)+1)
		row[0] = i + 1
		for j := range y {
			cost := 1
			if x[i] == y[j] {
				cost = 0
			}
			row[j+1] = min(last[j]+cost, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && x[i] == y[j-1] && x[i-1] == y[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(y)]
}

// meantKey is the key of s that an unknown word most likely stands for: another tool's word for it, or a near one,
// rather one that is not given yet.
func meantKey(s *shape, word string, given []string) string {
	var absent, all []string
	for _, k := range s.keys {
		if slices.Contains(k.aka, word) {
			return k.name
		}
		all = append(all, k.name)
		if !slices.Contains(given, k.name) {
			absent = append(absent, k.name)
		}
	}
	return cmp.Or(nearest(word, absent), nearest(word, all))
}

// whereKey is a hint at the keys of s under which word belongs.
func whereKey(s *shape, word string) string {
	var places []string
	for _, k := range s.keys {
		if _, ok := k.shape.find(word); ok {
			places = append(places, fmt.Sprintf("%q", k.name))
		}
	}
	if places == nil {
		return ""
	}
	return "it belongs under " + orList(places)
}
