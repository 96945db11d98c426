package main

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// modulePath is what import paths of our own packages begin with.
const modulePath = "github.com/perfplan/perfplan"

// moduleRoot is the top of the source tree, as seen from this package's folder, where its tests run.
var moduleRoot = filepath.Join("..", "..")

// A listedPackage is what "go list -json" says of a package of the module.
type listedPackage struct {
	ImportPath     string
	Dir            string
	Name           string
	GoFiles        []string
	IgnoredGoFiles []string // for other systems
	Imports        []string
	TestImports    []string
	XTestImports   []string
}

// path is the package's folder under the top of the tree, "." for the top itself.
func (p listedPackage) path() string {
	if p.ImportPath == modulePath {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, modulePath+"/")
}

func listPackages(t *testing.T) []listedPackage {
	t.Helper()
	cmd := exec.Command("go", "list", "-e", "-json=ImportPath,Dir,Name,GoFiles,IgnoredGoFiles,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = moduleRoot
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listedPackage
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listedPackage
		if err := dec.Decode(&p); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("go list: %v", err)
		}
		all = append(all, p)
	}
	if len(all) < 2 {
		t.Fatalf("go list found %d packages, want the whole module", len(all))
	}
	return all
}
