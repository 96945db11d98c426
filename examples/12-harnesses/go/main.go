// Sorts numbers: a subject in Go.
package main

import (
	"slices"

	"github.com/perfplan/perfplan/runner/bench/subject"
)

func main() {
	subject.Main(func(p subject.Params) (subject.Work, error) {
		numbers, result := make([]uint32, p.Size), make([]uint32, p.Size)
		x := uint32(1)
		for i := range numbers {
			x = 1664525*x + 1013904223
			numbers[i] = x
		}
		return subject.Work{
			Do: func() { copy(result, numbers); slices.Sort(result) },
			Checksum: func() uint64 {
				h := uint32(0)
				for _, v := range result {
					h = 31*h + v
				}
				return uint64(h)
			},
		}, nil
	})
}
