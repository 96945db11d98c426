package plans

import (
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

// unknownKey is the hint for a key that s does not have: another tool's word, a near one, or where it belongs.
func unknownKey(s *shape, word string, given []string) string {
	for _, k := range s.keys {
		if slices.Contains(k.aka, word) {
			return fmt.Sprintf("did you mean %q?", k.name)
		}
	}
	var known []string
	for _, k := range s.keys {
		if !slices.Contains(given, k.name) || len(s.keys) < 3 {
			known = append(known, k.name)
		}
	}
	for _, k := range s.keys {
		if inner := k.shape; k.name != word && len(inner.keys) > 0 {
			if _, ok := inner.find(word); ok && nearest(word, known) == "" {
				return fmt.Sprintf("it belongs under %q", k.name)
			}
		}
	}
	return didYouMean(word, known)
}
