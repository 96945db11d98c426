package plans

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A Generator makes a value for each request. All but the times follow from a seed, the number of the request and Number
// alone, so that a run can be repeated.
type Generator struct {
	Kind    string     // one of the names below
	Int     [2]int64   // RandomInt: lowest and highest; RandomHex: digits; RandomZipf: the highest
	Float   [2]float64 // RandomFloat: from and below; RandomNormal: mean and deviation; RandomZipf: the exponent
	Choices []string   // RandomChoice
	Number  int        // of the generators of the request, counted from 0
}

// The generators.
const (
	Counter      = "counter"
	UUID         = "uuid"
	RandomInt    = "random.int"
	RandomFloat  = "random.float"
	RandomChoice = "random.choice"
	RandomZipf   = "random.zipf"
	RandomNormal = "random.normal"
	RandomHex    = "random.hex"
	TimeUnix     = "time.unix"
	TimeUnixMS   = "time.unix_ms"
	TimeRFC3339  = "time.rfc3339"
)

var generatorNames = []string{Counter, UUID, RandomInt, RandomFloat, RandomChoice, RandomZipf, RandomNormal, RandomHex, TimeUnix, TimeUnixMS, TimeRFC3339}

// usage is how a generator that takes arguments is written.
var usage = map[string]string{
	RandomInt: "random.int(1,100)", RandomFloat: "random.float(0,1)", RandomChoice: "random.choice(a,b,c)",
	RandomZipf: "random.zipf(1000,1.1)", RandomNormal: "random.normal(100,15)", RandomHex: "random.hex(16)",
}

// The bounds of arguments.
const (
	maxHex   = 1024
	maxZipf  = 1_000_000_000_000
	maxPower = 20
)

// An argument is one between the brackets of a generator.
type argument struct {
	text string
	at   int // offset in the reference
}

// generated reads a ${…} that stands for a generated value: nothing for another one. off is where in the text, from the
// dollar sign on, the problem is.
func generated(ref string, k kind) (ps []piece, p *Problem, off int) {
	family, _, _ := strings.Cut(ref, ".")
	family, _, _ = strings.Cut(family, "(")
	if !slices.Contains([]string{"counter", "uuid", "random", "time"}, family) {
		return nil, nil, 0
	}
	written := quote("${" + ref + "}")
	name, inside, call := strings.Cut(ref, "(")
	switch {
	case !slices.Contains(generatorNames, name):
		hint := didYouMean(name, generatorNames)
		if _, short, ok := strings.Cut(name, "."); ok && hint == "" {
			hint = didYouMean(short, generatorNames)
		}
		if hint == "" {
			hint = "there are " + strings.Join(generatorNames, ", ")
		}
		return nil, &Problem{What: "unknown generator", Got: written, Hint: hint}, 0
	case k != templateScalar:
		return nil, &Problem{What: "generated value in a place that is not filled for each request", Got: written,
			Want: "it in the path, query, headers or body of a request"}, 0
	case usage[name] == "" && call:
		return nil, &Problem{What: name + " takes no arguments", Got: written, Want: "${" + name + "}"}, 2 + len(name)
	case usage[name] == "":
		return []piece{{generator: &Generator{Kind: name}, ref: ref}}, nil, 0
	case !call || !strings.HasSuffix(inside, ")"):
		return nil, &Problem{What: "generator without its arguments", Got: written, Want: "for example ${" + usage[name] + "}"}, 2 + len(name)
	}
	var args []argument
	at := len(name) + 1
	for text := range strings.SplitSeq(strings.TrimSuffix(inside, ")"), ",") {
		args = append(args, argument{strings.TrimSpace(text), at + len(text) - len(strings.TrimLeft(text, " \t"))})
		at += len(text) + 1
	}
	g := &Generator{Kind: name}
	if p, at := g.read(args); p != nil {
		return nil, p, 2 + at
	}
	return []piece{{generator: g, ref: ref}}, nil, 0
}

// read takes the arguments. at is the offset of the one with a problem.
func (g *Generator) read(args []argument) (p *Problem, at int) {
	want := map[string]int{RandomInt: 2, RandomFloat: 2, RandomZipf: 2, RandomNormal: 2, RandomHex: 1}[g.Kind]
	if len(args) != want && want > 0 || want == 0 && len(args) < 2 {
		number := fmt.Sprint(want)
		if want == 0 {
			number = "at least 2"
		}
		return &Problem{What: "wrong number of arguments of " + g.Kind, Got: fmt.Sprint(len(args)), Want: number + ", for example ${" + usage[g.Kind] + "}"}, args[0].at
	}
	switch g.Kind {
	case RandomInt:
		for i, a := range args {
			if p := a.whole(&g.Int[i], math.MinInt64, math.MaxInt64); p != nil {
				return p, a.at
			}
		}
		if g.Int[1] < g.Int[0] {
			return &Problem{What: "range without a number", Got: quote(args[1].text), Want: fmt.Sprintf("%d or more", g.Int[0])}, args[1].at
		}
	case RandomHex:
		return args[0].whole(&g.Int[0], 1, maxHex), args[0].at
	case RandomZipf:
		if p := args[0].whole(&g.Int[0], 1, maxZipf); p != nil {
			return p, args[0].at
		}
		return args[1].number(&g.Float[0], 0, maxPower), args[1].at
	case RandomFloat, RandomNormal:
		for i, a := range args {
			if p := a.number(&g.Float[i], -1e300, 1e300); p != nil {
				return p, a.at
			}
		}
		switch {
		case g.Kind == RandomFloat && g.Float[1] <= g.Float[0]:
			return &Problem{What: "range without a number", Got: quote(args[1].text), Want: "more than " + args[0].text}, args[1].at
		case g.Kind == RandomNormal && g.Float[1] <= 0:
			return &Problem{What: "deviation out of range", Got: quote(args[1].text), Want: "a number above 0"}, args[1].at
		}
	case RandomChoice:
		for _, a := range args {
			g.Choices = append(g.Choices, a.text)
		}
	}
	return nil, 0
}

// whole reads a whole number.
func (a argument) whole(to *int64, low, high int64) *Problem {
	n, err := strconv.ParseInt(a.text, 10, 64)
	*to = n
	switch {
	case !wholeNumber.MatchString(a.text):
		return &Problem{What: "argument is not a whole number", Got: quote(a.text), Want: "a whole number"}
	case err != nil || n < low || n > high:
		return &Problem{What: "argument out of range", Got: quote(a.text), Want: fmt.Sprintf("%d to %d", low, high)}
	}
	return nil
}

// number reads a decimal number.
func (a argument) number(to *float64, low, high float64) *Problem {
	v, err := strconv.ParseFloat(a.text, 64)
	*to = v
	switch {
	case !jsonNumber.MatchString(a.text):
		return &Problem{What: "argument is not a number", Got: quote(a.text), Want: "a number like 0.5"}
	case err != nil || v < low || v > high:
		return &Problem{What: "argument out of range", Got: quote(a.text), Want: fmt.Sprintf("%g to %g", low, high)}
	}
	return nil
}
