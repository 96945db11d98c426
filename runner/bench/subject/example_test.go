package subject_test

import (
	"fmt"
	"os"
	"strings"

	"github.com/perfplan/perfplan/runner/bench/subject"
)

// What perfplan writes to a subject's standard input is what Serve reads; a program calls Main.
func ExampleServe() {
	setup := func(p subject.Params) (subject.Work, error) {
		algorithm, ok := p.Value("algorithm")
		if !ok {
			return subject.Work{}, fmt.Errorf("no algorithm")
		}
		return subject.Work{Do: func() {}, Checksum: func() uint64 { return uint64(p.Size * len(algorithm)) }}, nil
	}
	subject.Serve(strings.NewReader("setup size=10 algorithm=quick\nsetup size=10\n"), os.Stdout, setup)
	// Output:
	// perfplan-subject 1
	// ready
	// error no algorithm
}
