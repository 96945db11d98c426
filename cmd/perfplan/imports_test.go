package main

import (
	"maps"
	"slices"
	"strings"
	"testing"
)

// ownImports says which packages of ours a package may import. Data flows one way: plan, schedule, samples, result,
// verdict, report. A new package needs a row, and a new arrow a good reason in its commit.
var ownImports = map[string]string{
	// The leaves know nothing of ours.
	"plans":                  "",
	"runner/hist":            "",
	"runner/faults":          "",
	"runner/process":         "",
	"runner/load/kts":        "",
	"runner/result":          "",
	"runner/schedule":        "",
	"runner/stats":           "",
	"report/chart":           "",
	"predictor/data":         "",
	"predictor/model":        "",
	"examples/01-first-plan": "",
	"examples/10-tls":        "",
	"examples/11-login-flow": "",
	"runner/bench/subject":   "",
	"runner/bench/imported":  "",

	"runner/bench":         "plans runner/bench/imported runner/process runner/result runner/stats",
	"runner/load":          "plans runner/hist runner/result runner/schedule",
	"runner/load/accuracy": "plans runner/hist runner/load runner/load/kts runner/result runner/schedule runner/stats runner/verdict",
	"runner/observe":       "runner/result",
	"runner/verdict":       "plans runner/hist runner/result runner/stats",
	"runner/history":       "runner/result runner/stats",
	"runner/selftest":      "plans runner runner/faults runner/result runner/verdict",
	"runner": "plans runner/bench runner/load runner/observe runner/process runner/result runner/schedule runner/stats " +
		"runner/verdict",

	// A report is made from a stored result alone: it knows neither plans nor the runner.
	"report": "report/chart runner/hist runner/result runner/verdict",

	"examples/12-harnesses/go": "runner/bench/subject",

	// The reference service knows nothing of perfplan but the harness of its microbenchmark.
	"predictor":     "predictor/data predictor/model",
	"cmd/predictor": "predictor predictor/data predictor/model runner/bench/subject",

	"cmd/perfplan/lsp": "plans",

	"cmd/perfplan": "cmd/perfplan/lsp plans report report/chart runner runner/history runner/load runner/observe runner/process runner/result runner/selftest runner/verdict",
}

// foreignImports says who may import another module, or a part of one: one importer each, so that it can be replaced.
var foreignImports = map[string]string{
	"github.com/HdrHistogram/hdrhistogram-go":  "runner/hist",
	"github.com/go-playground/validator/v10":   "plans",
	"github.com/prometheus/client_golang":      "predictor",
	"github.com/prometheus/procfs":             "runner/observe",
	"github.com/santhosh-tekuri/jsonschema/v6": "plans",
	"github.com/spf13/cobra":                   "cmd/perfplan",
	"github.com/tidwall/gjson":                 "runner/load",
	"github.com/wcharczuk/go-chart/v2":         "report/chart",
	"go.lsp.dev/jsonrpc2":                      "cmd/perfplan/lsp",
	"golang.org/x/sys":                         "runner/load runner/load/accuracy runner/load/kts runner/observe runner/process", // system calls
	"golang.org/x/term":                        "cmd/perfplan",
	"gopkg.in/yaml.v3":                         "plans",
}

// testOnly is what tests alone may import beside that.
var testOnly = map[string]string{
	"github.com/chromedp/cdproto":     "report",
	"github.com/chromedp/chromedp":    "report",
	"github.com/prometheus/common":    "predictor",
	"github.com/rogpeppe/go-internal": "cmd/perfplan",
	"github.com/spf13/pflag":          "cmd/perfplan", // cobra's
	"golang.org/x/tools":              "plans",
}

func TestImports(t *testing.T) {
	all := listPackages(t)
	seen := map[string]bool{}
	for _, p := range all {
		path := p.path()
		seen[path] = true
		if _, ok := ownImports[path]; !ok {
			t.Errorf("package %s has no row in ownImports: say what it may import", path)
			continue
		}
		for _, imp := range p.Imports {
			if why := importFault(path, imp, false); why != "" {
				t.Errorf("%s imports %s: %s", path, imp, why)
			}
		}
		for _, imp := range slices.Concat(p.TestImports, p.XTestImports) {
			if why := importFault(path, imp, true); why != "" {
				t.Errorf("the tests of %s import %s: %s", path, imp, why)
			}
		}
	}
	for _, path := range slices.Sorted(maps.Keys(ownImports)) {
		if !seen[path] {
			t.Errorf("ownImports has a row for %s, but there is no such package", path)
		}
	}
}

// importFault says what is wrong with an import, or "".
func importFault(path, imp string, test bool) string {
	if rest, ours := strings.CutPrefix(imp, modulePath+"/"); ours {
		if test || slices.Contains(strings.Fields(ownImports[path]), rest) {
			return ""
		}
		return "not in its row of ownImports"
	}
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") {
		return "" // the standard library
	}
	allowed := importers(foreignImports, imp)
	if test {
		allowed = append(allowed, importers(testOnly, imp)...)
	}
	if !slices.Contains(allowed, path) {
		return "another module has one importer, see foreignImports and testOnly"
	}
	return ""
}

// importers is who may import a package by the row of its module.
func importers(table map[string]string, imp string) []string {
	for module, paths := range table {
		if imp == module || strings.HasPrefix(imp, module+"/") {
			return strings.Fields(paths)
		}
	}
	return nil
}

// Tests may use any package of ours.
func TestImportFault(t *testing.T) {
	for _, tt := range []struct {
		path, imp string
		test      bool
		fault     bool
	}{
		{"report", modulePath + "/runner/result", false, false},
		{"report", modulePath + "/plans", false, true},
		{"report", modulePath + "/plans", true, false},
		{"report", "encoding/json", false, false},
		{"report", "github.com/spf13/cobra", false, true},
		{"report", "github.com/spf13/cobra", true, true},
		{"cmd/perfplan", "github.com/spf13/cobra", false, false},
		{"cmd/perfplan", "github.com/rogpeppe/go-internal/testscript", false, true},
		{"cmd/perfplan", "github.com/rogpeppe/go-internal/testscript", true, false},
		{"runner/load", "golang.org/x/sys/unix", false, false},
		{"report", "golang.org/x/sys/unix", false, true},
		{"cmd/perfplan", "github.com/spf13/cobrax", false, true},
		{"cmd/perfplan", "example.com/anything", true, true},
	} {
		if got := importFault(tt.path, tt.imp, tt.test); (got != "") != tt.fault {
			t.Errorf("importFault(%q, %q, %v) = %q, want a fault: %v", tt.path, tt.imp, tt.test, got, tt.fault)
		}
	}
}
