package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// Every package has one package comment, and every exported name a comment of its own.
func TestPackageDocs(t *testing.T) {
	for _, p := range listPackages(t) {
		comments := 0
		for _, name := range slices.Concat(p.GoFiles, p.IgnoredGoFiles) {
			fset := token.NewFileSet()
			file, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution)
			if err != nil {
				t.Errorf("%s: %v", p.path(), err)
				continue
			}
			if file.Name.Name != p.Name {
				continue // a program beside the package, for "go generate"
			}
			if file.Doc != nil {
				comments++
			}
			for _, id := range undocumented(file) {
				t.Errorf("%s/%s:%d: %s has no comment", p.path(), name, fset.Position(id.Pos()).Line, id.Name)
			}
		}
		if comments != 1 {
			t.Errorf("package %s has %d package comments, want 1", p.path(), comments)
		}
	}
}

// undocumented returns the exported names of a file without a comment. In a group of constants or variables a comment
// on the group, above the name or behind it will do. What the methods Error, String and Unwrap do is known.
func undocumented(file *ast.File) []*ast.Ident {
	var bare []*ast.Ident
	check := func(id *ast.Ident, comments ...*ast.CommentGroup) {
		if id.IsExported() && !slices.ContainsFunc(comments, func(c *ast.CommentGroup) bool { return c != nil }) {
			bare = append(bare, id)
		}
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			known := slices.Contains([]string{"Error", "String", "Unwrap"}, d.Name.Name)
			if d.Recv == nil || ast.IsExported(receiver(d)) && !known {
				check(d.Name, d.Doc)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					if len(d.Specs) == 1 {
						check(s.Name, s.Doc, s.Comment, d.Doc)
					} else {
						check(s.Name, s.Doc, s.Comment)
					}
				case *ast.ValueSpec:
					for _, id := range s.Names {
						check(id, s.Doc, s.Comment, d.Doc)
					}
				}
			}
		}
	}
	return bare
}

// receiver is the name of the type that a method belongs to.
func receiver(f *ast.FuncDecl) string {
	name := ""
	ast.Inspect(f.Recv.List[0].Type, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && name == "" {
			name = id.Name
		}
		return true
	})
	return name
}

func TestUndocumented(t *testing.T) {
	src := `// Package p is for this test.
package p

func Bare() {}

// Said does nothing.
func Said() {}

type T struct{}

func (t *T) BareMethod() {}

func (t *T) String() string { return "" }

type hidden struct{}

func (hidden) Method() {}

// The numbers.
const (
	A = 1
	B = 2
)

const (
	C = 1 // one
	D = 2
)
`
	file, err := parser.ParseFile(token.NewFileSet(), "p.go", src, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, id := range undocumented(file) {
		got = append(got, id.Name)
	}
	if want := []string{"Bare", "T", "BareMethod", "D"}; !slices.Equal(got, want) {
		t.Errorf("undocumented = %q, want %q", got, want)
	}
}
