package main

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

func readDoc(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(moduleRoot, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}

// The two commands that a newcomer copies stand in the README as they are.
func TestReadmeCommands(t *testing.T) {
	readme := readDoc(t, "README.md")
	for _, command := range []string{"go run ./cmd/perfplan run plans/predictor.yaml", "make test"} {
		if !strings.Contains(readme, "\n    "+command) && !strings.Contains(readme, "\n"+command) {
			t.Errorf("README.md has no line that begins with the command %q", command)
		}
	}
}

// Every whole plan that the documents show is a valid one.
func TestDocumentedPlans(t *testing.T) {
	for doc, least := range map[string]int{"README.md": 1, "docs/plan-reference.md": 1, "docs/slo.md": 0} {
		found := 0
		for _, m := range yamlBlock.FindAllStringSubmatch(readDoc(t, doc), -1) {
			if !strings.HasPrefix(m[1], "version:") {
				continue
			}
			found++
			if _, err := plans.Read(strings.NewReader(m[1]), doc, moduleRoot, plans.Options{Env: os.LookupEnv}); err != nil {
				t.Errorf("plan %d of %s:\n%v", found, doc, err)
			}
		}
		if found < least {
			t.Errorf("%s has %d plans that begin with \"version:\", want %d", doc, found, least)
		}
	}
}

var (
	yamlBlock    = regexp.MustCompile("(?s)```yaml\n(.*?)```")
	codeSpan     = regexp.MustCompile("`([^`\n]+)`")
	looksLikeDir = regexp.MustCompile(`^\.?[A-Za-z0-9_-][A-Za-z0-9._-]*(/[A-Za-z0-9_-][A-Za-z0-9._-]*)*/?$`)
	markdownLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)
)

// ARCHITECTURE.md is a map: each path that it names, as code with a slash, leads somewhere. Packages of the standard
// library and what a run writes are no paths of the tree.
func TestArchitecturePaths(t *testing.T) {
	goroot, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	std := filepath.Join(strings.TrimSpace(string(goroot)), "src")
	named := 0
	for _, m := range codeSpan.FindAllStringSubmatch(readDoc(t, "ARCHITECTURE.md"), -1) {
		path := m[1]
		top, _, _ := strings.Cut(path, "/")
		if !strings.Contains(path, "/") || !looksLikeDir.MatchString(path) || strings.Contains(top, ".com") ||
			top == "perfplan-out" || top == ".perfplan" || exists(t, filepath.Join(std, path)) {
			continue
		}
		named++
		if !exists(t, filepath.Join(moduleRoot, path)) {
			t.Errorf("ARCHITECTURE.md names %q, which does not exist", path)
		}
	}
	if named < 5 {
		t.Errorf("ARCHITECTURE.md names %d paths, want a map of the tree", named)
	}
}

// Relative links between documents lead to a file.
func TestDocLinks(t *testing.T) {
	docs, err := filepath.Glob(filepath.Join(moduleRoot, "docs", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	tops, err := filepath.Glob(filepath.Join(moduleRoot, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, doc := range append(docs, tops...) {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range markdownLink.FindAllStringSubmatch(string(text), -1) {
			link, _, _ := strings.Cut(m[1], "#")
			if link == "" || strings.Contains(link, ":") {
				continue
			}
			if !exists(t, filepath.Join(filepath.Dir(doc), link)) {
				t.Errorf("%s links to %q, which does not exist", filepath.Base(doc), m[1])
			}
		}
	}
}
