package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/perfplan/perfplan/plans"
)

func TestWorkflowCommand(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		p    plans.Problem
		want string
	}{
		{plans.Problem{Pos: plans.Position{File: "plans/a.yaml", Line: 3, Col: 7}, Path: "name", What: "not a name", Got: `"A"`, Want: "letters", Hint: "50% of it"},
			`::error file=plans/a.yaml,line=3,col=7,title=perfplan%3A not a name::name: not a name: got "A", want letters (50%25 of it)`},
		{plans.Problem{Pos: plans.Position{File: "a.yaml", Line: 1, Col: 1}, What: "doubtful", Warning: true},
			"::warning file=a.yaml,line=1,col=1,title=perfplan%3A doubtful::doubtful"},
		{plans.Problem{Pos: plans.Position{File: "a.yaml"}, What: "cannot read the plan"},
			"::error file=a.yaml,title=perfplan%3A cannot read the plan::cannot read the plan"},
		{plans.Problem{Pos: plans.Position{File: filepath.Join(here, "a.yaml")}, What: "x"}, "::error file=a.yaml,title=perfplan%3A x::x"},
		{plans.Problem{Pos: plans.Position{File: "/else/a.yaml"}, What: "x"}, "::error file=/else/a.yaml,title=perfplan%3A x::x"},
		// Names that would end the command, add a property or begin another command.
		{plans.Problem{Pos: plans.Position{File: "a,line=9::b%0A.yaml", Line: 1, Col: 2}, What: "x, y: z\r\n::stop-commands::t", Got: "a\n::error::b"},
			"::error file=a%2Cline=9%3A%3Ab%250A.yaml,line=1,col=2,title=perfplan%3A x%2C y%3A z%0D%0A%3A%3Astop-commands%3A%3At::" +
				"x, y: z%0D%0A::stop-commands::t: got a%0A::error::b"},
	} {
		if got := workflowCommand(tt.p); got != tt.want {
			t.Errorf("workflowCommand(%+v) =\n%s\nwant\n%s", tt.p, got, tt.want)
		}
	}
}

func TestArtifactURI(t *testing.T) {
	here, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"plans/a.yaml":                        "plans/a.yaml",
		"../a.yaml":                           "../a.yaml",
		filepath.Join(here, "plans", "a.yml"): "plans/a.yml",
		"/else/a b.yaml":                      "file:///else/a%20b.yaml",
		"a:b.yaml":                            "./a:b.yaml",
		"100%/ä?#.yaml":                       "100%25/%C3%A4%3F%23.yaml",
		"a\n\"b\".yaml":                       "a%0A%22b%22.yaml",
		"stdin":                               "stdin",
	} {
		if got := artifactURI(path); got != want {
			t.Errorf("artifactURI(%q) = %q, want %q", path, got, want)
		}
	}
}

func TestSARIF(t *testing.T) {
	log := sarif([]loaded{
		{path: "a.yaml", faults: plans.Problems{{Pos: plans.Position{File: "a.yaml"}, What: "cannot read"}, {Pos: plans.Position{File: "b.yaml", Line: 2, Col: 9}, Path: "x", What: "bad\n\"text\" <é>"}}},
		{path: "c.yaml", faults: plans.Problems{{Pos: plans.Position{File: "c.yaml", Line: 1, Col: 1}, What: "doubtful", Warning: true}}},
	})
	b, err := json.Marshal(log)
	if err != nil {
		t.Fatal(err)
	}
	var back sarifLog
	if err := json.Unmarshal(b, &back); err != nil {
		t.Fatal(err)
	}
	run := back.Runs[0]
	if len(run.Results) != 3 {
		t.Fatalf("%d results, want 3", len(run.Results))
	}
	for i, want := range []struct {
		rule, level, message, uri string
		region                    *sarifRegion
	}{
		{"plan-error", "error", "cannot read", "a.yaml", nil},
		{"plan-error", "error", "x: bad\n\"text\" <é>", "b.yaml", &sarifRegion{2, 9}},
		{"plan-warning", "warning", "doubtful", "c.yaml", &sarifRegion{1, 1}},
	} {
		r := run.Results[i]
		place := r.Locations[0].Physical
		if r.RuleID != want.rule || r.Level != want.level || r.Message.Text != want.message || place.Artifact.URI != want.uri {
			t.Errorf("result %d = %+v, want %+v", i, r, want)
		}
		if rule := run.Tool.Driver.Rules[r.RuleIndex]; rule.ID != r.RuleID || rule.Configuration.Level != r.Level {
			t.Errorf("result %d has the rule %+v", i, rule)
		}
		if (place.Region == nil) != (want.region == nil) || want.region != nil && *place.Region != *want.region {
			t.Errorf("result %d is at %+v, want %+v", i, place.Region, want.region)
		}
	}
	if empty, err := json.Marshal(sarif(nil)); err != nil || !json.Valid(empty) || sarif(nil).Runs[0].Results == nil {
		t.Errorf("no plans give %s, %v", empty, err)
	}
}
