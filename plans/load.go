package plans

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/go-playground/validator/v10"
	"gopkg.in/yaml.v3"
)

// ReadFile reads and checks the plan at path, or from standard input when path is "-". Relative paths in the plan
// start at its folder, for standard input at the current one. The error is a Problems with every fault of the plan,
// warnings among them; those of a good plan are in Plan.Warnings.
func ReadFile(path string, o Options) (*Plan, error) {
	if path == "" {
		return nil, Problems{{Pos: Position{File: "plan"}, What: "cannot read the plan", Got: "an empty path", Want: "the path of a plan, or - for standard input"}}
	}
	if path == "-" {
		return Read(os.Stdin, path, ".", o)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, Problems{{Pos: Position{File: path}, What: "cannot read the plan", Got: reason(err)}}
	}
	defer f.Close()
	return Read(f, path, filepath.Dir(path), o)
}

// Options are what a plan is read with, from outside of it.
type Options struct {
	Env      func(string) (string, bool) // looks up environment variables; nil: none is set
	Profiles []string                    // of the plan, to apply in this order
	Set      []string                    // PATH=VALUE: other values for places of the plan, VALUE as in YAML
	Vars     []string                    // NAME=TEXT: other texts for vars of the plan
	Unsaved  map[string][]byte           // texts of included files, by their absolute paths, instead of what is on disk: an editor's

	TableBytes int64 // text of a data file up to which its rows are kept in memory; 0: TableBytes
}

// Read is ReadFile for a plan that comes from r. name stands for it in messages, dir is where its relative paths
// start. What the plan refers to (included files, bodies, data, certificates) is read, too. Profiles that are not applied
// are checked as well: each as if it were the only one.
func Read(r io.Reader, name, dir string, o Options) (*Plan, error) {
	file := name
	if name == "-" {
		file = "stdin"
	}
	full, err := filepath.Abs(dir)
	var text []byte
	if err == nil {
		text, err = io.ReadAll(io.LimitReader(r, maxSource+1))
	}
	if err != nil {
		return nil, Problems{{Pos: Position{File: file}, What: "cannot read the plan", Got: reason(err)}}
	}
	l := newLoader(newSource(file, full, text), o)
	p := l.load()
	problems := l.result()
	if problems.Errors() == 0 {
		problems = append(problems, l.otherProfiles(text, o)...).sorted(l.order())
	}
	if problems.Errors() > 0 {
		return nil, problems
	}
	p.Path, p.Warnings = name, problems
	return p, nil
}

func newLoader(s *source, o Options) *loader {
	l := &loader{source: s, options: o, env: o.Env, vars: map[string][]piece{}, secrets: map[string][]piece{}, kept: map[string]bool{}, segments: map[*item][]Segment{}, used: map[string]bool{}, foreign: map[*yaml.Node]*source{},
		sources: []*source{s}, tables: map[string]*table{}, digests: map[string]string{},
		validate: validator.New(validator.WithRequiredStructEnabled())}
	if l.env == nil {
		l.env = func(string) (string, bool) { return "", false }
	}
	return l
}

// order numbers the files of the plan as they were read.
func (l *loader) order() map[string]int {
	order := map[string]int{}
	for i, s := range l.sources {
		if _, known := order[s.file]; !known {
			order[s.file] = i
		}
	}
	return order
}

// result gives the problems found, sorted, each with the line that it is about.
func (l *loader) result() Problems {
	if l.full {
		l.problems = append(l.problems, Problem{Pos: l.at(0, 0), What: fmt.Sprintf("more than %d problems, not all are shown", maxProblems)})
	}
	order := l.order()
	problems := l.problems.sorted(order)
	for i := range problems {
		q := &problems[i]
		if n, known := order[q.Pos.File]; known && q.Pos.Line > 0 && q.Pos.Line <= len(l.sources[n].lines) {
			q.Line = l.sources[n].lines[q.Pos.Line-1]
		}
		for _, text := range []*string{&q.What, &q.Got, &q.Want, &q.Hint} {
			*text = l.hidden.Redact(*text)
		}
	}
	return problems
}

// A loader holds what is known while one plan is read.
type loader struct {
	*source  // of the plan file
	options  Options
	sources  []*source              // all, in the order in which they were read
	foreign  map[*yaml.Node]*source // of nodes that stand elsewhere
	included int                    // files
	secrets  map[string][]piece     // nil for one that could not be read
	hidden   Secrets
	segments map[*item][]Segment // of load stages
	kept     map[string]bool     // vars that the effective plan needs: of template files
	inFile   bool                // a template file is being read
	profiles []string            // names of those that the plan has
	env      func(string) (string, bool)
	vars     map[string][]piece // nil for one that could not be read
	later    []string           // vars that are still to come
	used     map[string]bool    // vars that something uses
	problems Problems
	full     bool // there are more problems than are kept
	expanded int  // bytes that variables have put in so far
	visits   int  // values read so far
	validate *validator.Validate
	targets  []string          // names of the targets, also of those that could not be read
	requests []string          // names of the requests
	flows    []string          // names of the flows
	spare    []*item           // data that no template uses
	tables   map[string]*table // data files by absolute path and columns
	digests  map[string]string // files the plan depends on: SHA-256 by the path as written
}

// load builds the plan. It is only complete when no error was reported.
func (l *loader) load() *Plan {
	n := l.parse()
	if n == nil {
		return nil
	}
	if !l.assemble(n) {
		return nil
	}
	top := l.read(n, root, "")
	if top == nil {
		return nil
	}
	if len(top.written) == 0 && l.problems.Errors() > 0 && len(n.Content) == 0 {
		l.problems = Problems{l.empty()}
		return nil
	}
	l.computeDefaults(top)
	p := l.build(top)
	l.check(top, p)
	p.effective, p.origins = l.canonical(top)
	p.Secrets = l.hidden
	for _, e := range top.get("baseline").get("tolerate").all() {
		p.Tolerate = append(p.Tolerate, e.value())
	}
	p.Profiles, p.Assembled = l.options.Profiles, len(l.foreign) > 0
	p.Hash = l.hash(p.effective)
	return p
}

// maxProblems bounds the list of problems: behind it, nothing more is read.
const maxProblems = 1000

func (l *loader) fault(p Problem) {
	if len(l.problems) < maxProblems {
		l.problems = append(l.problems, p)
		return
	}
	l.full = true
}

func (l *loader) warn(p Problem) {
	p.Warning = true
	l.fault(p)
}

// reason is the system's reason without the operation and the path.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

// path gives the absolute path of a file or folder that the plan names.
func (l *loader) path(it *item) string {
	if p := it.value(); filepath.IsAbs(p) {
		return filepath.Clean(p)
	}
	return filepath.Join(l.of(it.node).dir, it.value())
}

// readFile reads a file that the plan names.
func (l *loader) readFile(it *item) ([]byte, bool) {
	full := l.path(it)
	info, err := os.Stat(full)
	if err == nil && !info.Mode().IsRegular() {
		what := "not a regular file"
		if info.IsDir() {
			what = "a folder, not a file"
		}
		l.fault(it.fault(what, quote(full), "", ""))
		return nil, false
	}
	if err == nil && info.Size() > maxFile {
		l.fault(it.fault("file is too large", fmt.Sprintf("%d bytes", info.Size()), "at most 1 GiB", ""))
		return nil, false
	}
	var b []byte
	if err == nil {
		b, err = os.ReadFile(full)
	}
	if err != nil {
		l.fault(it.fault("cannot read the file", cmp.Or(reason(err), "nothing")+" at "+quote(full), "", ""))
		return nil, false
	}
	return b, true
}

// The largest file that a plan may name, in bytes.
const maxFile = 1 << 30
