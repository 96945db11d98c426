package plans

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// A piece is a part of a text of the plan after its ${…} were looked up.
type piece struct {
	text    string // the value; "" for data and holes
	at      int    // byte offset in the text as written
	literal bool   // text stands in the plan as it is, from at on
	env     string // for a value from the environment: its reference as written
	data    string // for ${data.column}: the data's name
	column  string
	hole    string // what is filled in later: address, size or the name of a parameter

	generator *Generator // for ${uuid} and the like
	ref       string     // inside of its braces
}

// filled tells whether the piece is filled in for each request.
func (p piece) filled() bool { return p.data != "" || p.generator != nil }

// plain joins what is known of the text now: all but data and holes.
func plain(ps []piece) string {
	var b strings.Builder
	for _, p := range ps {
		b.WriteString(p.text)
	}
	return b.String()
}

// shown joins the text as people and files may see it: values from the environment stay references. With escape,
// the result can be read again as a text of a plan.
func shown(ps []piece, escape bool) string {
	var b strings.Builder
	for _, p := range ps {
		switch {
		case p.env != "":
			b.WriteString(p.env)
		case p.data != "":
			b.WriteString("${" + p.data + "." + p.column + "}")
		case p.generator != nil:
			b.WriteString("${" + p.ref + "}")
		case p.hole != "":
			b.WriteString("${" + p.hole + "}")
		case escape:
			b.WriteString(strings.ReplaceAll(p.text, "$", "$$"))
		default:
			b.WriteString(p.text)
		}
	}
	return b.String()
}

// origin maps an offset in the plain text to the offset in the text as written.
func origin(ps []piece, off int) int {
	at := 0
	for _, p := range ps {
		if off <= len(p.text) && !(off == len(p.text) && !p.literal) {
			if p.literal {
				return p.at + off
			}
			return p.at
		}
		off -= len(p.text)
		at = p.at
		if p.literal {
			at += len(p.text)
		}
	}
	return at
}

var (
	secretRef = regexp.MustCompile(`^secret\.([a-z0-9][a-z0-9_-]*)$`)
	fileRef   = regexp.MustCompile(`^file\.(.+)$`)
	envRef    = regexp.MustCompile(`^env\.([A-Za-z_][A-Za-z0-9_]*)(:-(?s:(.*)))?$`)
	dataRef   = regexp.MustCompile(`^([a-z0-9][a-z0-9_-]*)\.(.+)$`)
)

// expand looks up the ${…} of a text. base is the offset of text in the scalar's value, for positions.
func (l *loader) expand(text string, base int, n *yaml.Node, path string, k kind) ([]piece, bool) {
	ps, ok := []piece{}, true
	start := 0
	flush := func(end int) {
		if end > start {
			ps = append(ps, piece{text: text[start:end], at: base + start, literal: true})
		}
	}
	for i := 0; i < len(text) && !l.full; {
		if text[i] != '$' || i+1 == len(text) || text[i+1] != '$' && text[i+1] != '{' {
			i++
			continue
		}
		flush(i)
		if text[i+1] == '$' {
			ps = append(ps, piece{text: "$", at: base + i})
			i += 2
			start = i
			continue
		}
		end := strings.IndexByte(text[i:], '}')
		if end < 0 {
			l.fault(Problem{Pos: l.posIn(n, base+i), Path: path, What: "unclosed ${", Want: "${name}", Hint: "write $$ for a dollar sign"})
			return ps, false
		}
		got, fault, off := generated(text[i+2:i+end], k)
		if got == nil && fault == nil {
			got, fault = l.lookUp(text[i+2:i+end], k, n)
		}
		if fault != nil && fault.What == "" {
			ok = false
		} else if fault != nil {
			fault.Pos, fault.Path = l.posIn(n, base+i+off), path
			l.fault(*fault)
			ok = false
		}
		before := l.expanded
		for _, p := range got {
			p.at, p.literal = base+i, false
			ps = append(ps, p)
			l.expanded += 1 + len(p.text)
		}
		if l.expanded > maxText {
			if before > maxText {
				return ps, false
			}
			l.fault(Problem{Pos: l.pos(n), Path: path, What: "variables expand too far", Got: "more than 8 MiB", Want: "a smaller plan"})
			return ps, false
		}
		i += end + 1
		start = i
	}
	flush(len(text))
	return ps, ok
}

// lookUp finds what the inside of one ${…} stands for. A problem that says nothing was reported before.
func (l *loader) lookUp(ref string, k kind, n *yaml.Node) ([]piece, *Problem) {
	if m := secretRef.FindStringSubmatch(ref); m != nil {
		return l.secret(m[1])
	}
	if m := fileRef.FindStringSubmatch(ref); m != nil {
		return l.fileText(ref, m[1], l.of(n).dir)
	}
	if m := envRef.FindStringSubmatch(ref); m != nil {
		value, set := l.env(m[1])
		switch {
		case !set && m[2] == "":
			return nil, &Problem{What: "environment variable " + m[1] + " is not set", Hint: "set it, or give a default: ${env." + m[1] + ":-text}"}
		case !set:
			value = m[3]
		}
		return []piece{{text: value, env: "${" + ref + "}"}}, nil
	}
	if ref == "address" && (k == startScalar || k == wordScalar) {
		return []piece{{hole: "address"}}, nil
	}
	if ref == "size" && k == gridScalar {
		return []piece{{hole: ref}}, nil
	}
	if v, ok := l.vars[ref]; ok {
		l.used[ref] = true
		l.kept[ref] = l.kept[ref] || l.inFile
		if v == nil {
			return nil, &Problem{} // its own fault is reported
		}
		return v, nil
	}
	if m := flowRef.FindStringSubmatch(ref); m != nil {
		if k != templateScalar {
			return nil, &Problem{What: "text from a flow in a place that is not filled for each request", Got: quote("${" + ref + "}"),
				Want: "it in the path, query, headers or body of a request"}
		}
		return []piece{{data: "flow", column: m[1]}}, nil
	}
	if m := dataRef.FindStringSubmatch(ref); m != nil && !slices.Contains(taken, m[1]) {
		if k != templateScalar {
			return nil, &Problem{What: "data column in a place that is not filled for each request", Got: quote("${" + ref + "}"),
				Want: "it in the path, query, headers or body of a request"}
		}
		return []piece{{data: m[1], column: m[2]}}, nil
	}
	if k == gridScalar && parameterName.MatchString(ref) && ref != "address" {
		return []piece{{hole: ref}}, nil
	}
	return nil, l.unknownVar(ref, k)
}

// parameterName is what a parameter of a grid may be called.
var parameterName = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]*$`)

// unknownVar says what is wrong with a ${…} that stands for nothing.
func (l *loader) unknownVar(ref string, k kind) *Problem {
	p := &Problem{What: "unknown variable", Got: quote("${" + ref + "}")}
	name, _, _ := strings.Cut(ref, ":-")
	known := make([]string, 0, len(l.vars))
	for v := range l.vars {
		known = append(known, v)
	}
	slices.Sort(known)
	call, _, _ := strings.Cut(ref, "(")
	switch {
	case slices.Contains(l.later, ref):
		p.What, p.Hint = "variable used before it is defined", "move "+ref+" further up in vars"
	case ref == "address":
		p.What, p.Hint = "${address} in a place that has none", "it stands for host:port of the target's URL, in start"
	case (k == startScalar || k == wordScalar) && nearest(ref, []string{"address"}) != "":
		p.Hint = `did you mean "address"?`
	case nearest(ref, known) != "":
		p.Hint = didYouMean(ref, known)
	case k == templateScalar && nearest(call, generatorNames) != "":
		p.Hint = didYouMean(call, generatorNames)
	case k == startScalar || k == wordScalar:
		p.Hint = "${address} stands for host:port of the target's URL; define others in vars, or write ${env." + ref + "} for the environment"
	case envName.MatchString(name):
		p.Hint = "define it in vars, or write ${env." + ref + "} for the environment"
	default:
		p.Want = "${name} of vars, ${env.NAME} or ${env.NAME:-default}"
	}
	return p
}

var envName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// secret is the entry of secrets.
func (l *loader) secret(name string) ([]piece, *Problem) {
	ps, known := l.secrets[name]
	switch {
	case known && ps == nil:
		return nil, &Problem{} // its own fault is reported
	case known:
		return ps, nil
	}
	var names []string
	for n := range l.secrets {
		names = append(names, n)
	}
	slices.Sort(names)
	hint := didYouMean(name, names)
	if hint == "" {
		hint = "define it in secrets"
	}
	return nil, &Problem{What: "unknown secret", Got: quote("${secret." + name + "}"), Hint: hint}
}

// maxFileText is the largest file that ${file.…} puts into a text, in bytes.
const maxFileText = 1 << 20

// fileText is the text of a file, without the line break at its end. Like the environment, it stays a reference in the
// effective plan.
func (l *loader) fileText(ref, path, dir string) ([]piece, *Problem) {
	full := path
	if !filepath.IsAbs(path) {
		full = filepath.Join(dir, path)
		if inner, err := filepath.Rel(l.dir, full); err == nil && dir != l.dir {
			ref = "file." + inner // as the effective plan finds it
		}
	}
	info, err := os.Stat(full)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return nil, &Problem{What: "not a regular file", Got: quote(full)}
	case err == nil && info.Size() > maxFileText:
		return nil, &Problem{What: "file is too large", Got: fmt.Sprintf("%d bytes", info.Size()), Want: "at most 1 MiB"}
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(full)
	}
	switch {
	case err != nil:
		return nil, &Problem{What: "cannot read the file", Got: reason(err) + " at " + quote(full)}
	case !utf8.Valid(b):
		return nil, &Problem{What: "not UTF-8 text", Got: quote(full)}
	}
	return []piece{{text: strings.TrimSuffix(strings.TrimSuffix(string(b), "\n"), "\r"), env: "${" + ref + "}"}}, nil
}
