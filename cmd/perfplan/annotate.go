package main

import (
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/perfplan/perfplan/plans"
)

// workflowCommand is a problem as a workflow command of GitHub Actions:
// https://docs.github.com/actions/reference/workflows-and-actions/workflow-commands. Its escapes are those of
// command.ts in github.com/actions/toolkit.
func workflowCommand(p plans.Problem) string {
	property := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C").Replace
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace
	place := "file=" + property(filepath.ToSlash(fromHere(p.Pos.File)))
	if p.Pos.Line > 0 {
		place += fmt.Sprintf(",line=%d,col=%d", p.Pos.Line, p.Pos.Col)
	}
	return "::" + severity(p) + " " + place + ",title=" + property("perfplan: "+p.What) + "::" + data(p.Message())
}

// fromHere is the path of a file as seen from the current folder, when it is in there: both formats want paths from the
// top of the repository, where the check is run.
func fromHere(path string) string {
	here, err := os.Getwd()
	if err != nil || !filepath.IsAbs(path) {
		return path
	}
	if rel, err := filepath.Rel(here, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

// A sarifLog is the part of SARIF 2.1.0 that validate writes:
// https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html.
type sarifLog struct {
	Schema  string     `json:"$schema"`
	Version string     `json:"version"`
	Runs    []sarifRun `json:"runs"`
}

type sarifRun struct {
	Tool       sarifTool     `json:"tool"`
	ColumnKind string        `json:"columnKind"`
	Results    []sarifResult `json:"results"`
}

type sarifTool struct {
	Driver sarifDriver `json:"driver"`
}

type sarifDriver struct {
	Name           string      `json:"name"`
	Version        string      `json:"version"`
	InformationURI string      `json:"informationUri"`
	Rules          []sarifRule `json:"rules"`
}

type sarifRule struct {
	ID            string      `json:"id"`
	Short         sarifText   `json:"shortDescription"`
	Full          sarifText   `json:"fullDescription"`
	Configuration sarifConfig `json:"defaultConfiguration"`
}

type sarifConfig struct {
	Level string `json:"level"`
}

type sarifText struct {
	Text string `json:"text"`
}

type sarifResult struct {
	RuleID    string          `json:"ruleId"`
	RuleIndex int             `json:"ruleIndex"`
	Level     string          `json:"level"`
	Message   sarifText       `json:"message"`
	Locations []sarifLocation `json:"locations"`
}

type sarifLocation struct {
	Physical sarifPhysical `json:"physicalLocation"`
}

type sarifPhysical struct {
	Artifact sarifArtifact `json:"artifactLocation"`
	Region   *sarifRegion  `json:"region,omitempty"` // nil for the file as a whole
}

type sarifArtifact struct {
	URI string `json:"uri"`
}

type sarifRegion struct {
	StartLine   int `json:"startLine"`
	StartColumn int `json:"startColumn"`
}

// sarif gives the problems of plans as SARIF. There is a rule for each severity: what is wrong is in the messages.
func sarif(all []loaded) sarifLog {
	run := sarifRun{ColumnKind: "unicodeCodePoints", Results: []sarifResult{}, Tool: sarifTool{sarifDriver{
		Name: "perfplan", Version: thisBuild().Version, InformationURI: "https://github.com/perfplan/perfplan", Rules: []sarifRule{
			{"plan-error", sarifText{"The plan is not valid"}, sarifText{"The plan has a fault and cannot be run."}, sarifConfig{"error"}},
			{"plan-warning", sarifText{"The plan is doubtful"}, sarifText{"The plan can be run, but something in it has no effect or not the one that it seems to have."}, sarifConfig{"warning"}},
		}}}}
	for _, l := range all {
		for _, p := range l.faults {
			rule := 0
			if p.Warning {
				rule = 1
			}
			place := sarifPhysical{Artifact: sarifArtifact{artifactURI(p.Pos.File)}}
			if p.Pos.Line > 0 {
				place.Region = &sarifRegion{p.Pos.Line, max(p.Pos.Col, 1)}
			}
			run.Results = append(run.Results, sarifResult{
				RuleID: run.Tool.Driver.Rules[rule].ID, RuleIndex: rule, Level: severity(p), Message: sarifText{p.Message()},
				Locations: []sarifLocation{{place}},
			})
		}
	}
	return sarifLog{Schema: "https://json.schemastore.org/sarif-2.1.0.json", Version: "2.1.0", Runs: []sarifRun{run}}
}

// artifactURI is the path of a file as a URI reference: relative where the path is.
func artifactURI(path string) string {
	path = filepath.ToSlash(fromHere(path))
	u := url.URL{Path: path}
	if filepath.IsAbs(filepath.FromSlash(path)) {
		u = url.URL{Scheme: "file", Path: "/" + strings.TrimPrefix(path, "/")}
	}
	return u.String()
}
