package report

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/perfplan/perfplan/report/chart"
	"github.com/perfplan/perfplan/runner/result"
)

// Charts returns every chart of the report by the name of its file, without an ending.
func Charts(m *Model) map[string]chart.Chart {
	out := map[string]chart.Chart{}
	for _, f := range m.figures() {
		out[f.Name] = f.Chart
	}
	return out
}

// figures are all charts in the order of the page.
func (v *view) figures() []figure {
	var out []figure
	for _, st := range v.Stages {
		for _, p := range st.Parts {
			out = append(out, p.Charts...)
		}
	}
	return out
}

// WriteAll writes report.html, junit.xml, summary.md, series.csv, an .hlog for each load stage and
// charts/*.png and *.svg to dir, which must exist. Each file appears whole or not at all; an error with one does not
// keep the others from being written. Files that it does not write stay as they are.
func WriteAll(dir string, r *result.Result) error {
	m := New(r)
	var lost failures
	write := func(name string, print func(io.Writer) error) {
		lost.add(name, writeFile(filepath.Join(dir, name), print))
	}
	with := func(print func(io.Writer, *Model) error) func(io.Writer) error {
		return func(w io.Writer) error { return print(w, m) }
	}
	write("report.html", with(WriteHTML))
	write("junit.xml", with(WriteJUnit))
	write("summary.md", with(WriteMarkdown))
	write("series.csv", with(WriteCSV))
	files := &names{}
	for i := range r.Stages {
		st := &r.Stages[i]
		name := files.unique(st.Name) + ".hlog" // for every stage, so that it is named as its charts are
		if st.Load != nil {
			write(name, func(w io.Writer) error { return WriteHlog(w, r, st) })
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "charts"), 0o777); err != nil && !errors.Is(err, os.ErrExist) {
		return errors.Join(lost.err(), err)
	}
	for _, f := range m.figures() {
		write(filepath.Join("charts", f.Name+".svg"), func(w io.Writer) error { return chart.WriteSVG(w, f.Chart, chart.Options{ID: f.Name}) })
	}
	for _, f := range m.figures() { // the largest files last, should the disk be full
		write(filepath.Join("charts", f.Name+".png"), func(w io.Writer) error { return chart.WritePNG(w, f.Chart) })
	}
	return lost.err()
}

// failures are files that could not be written, by the reason.
type failures struct {
	reasons []error
	files   [][]string
}

func (f *failures) add(name string, err error) {
	if err == nil {
		return
	}
	var p *fs.PathError
	if errors.As(err, &p) {
		err = p.Err // without the name of the temporary file
	}
	for i, r := range f.reasons {
		if r.Error() == err.Error() {
			f.files[i] = append(f.files[i], name)
			return
		}
	}
	f.reasons, f.files = append(f.reasons, err), append(f.files, []string{name})
}

// err tells each reason once; nil where all was written.
func (f *failures) err() error {
	var errs []error
	for i, r := range f.reasons {
		what := f.files[i][0]
		if n := len(f.files[i]); n > 1 {
			what = fmt.Sprintf("%s and %s more", what, counted(int64(n-1), "file"))
		}
		errs = append(errs, fmt.Errorf("cannot write %s: %w", what, r))
	}
	return errors.Join(errs...)
}

// writeFile replaces the file at path by way of a temporary file beside it.
func writeFile(path string, print func(io.Writer) error) (err error) {
	var b bytes.Buffer
	if err := print(&b); err != nil {
		return err
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+strings.TrimPrefix(filepath.Base(path), ".")+".*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	_, err = f.Write(b.Bytes())
	if err = errors.Join(err, f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
