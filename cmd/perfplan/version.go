package main

import (
	"encoding/json"
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// A build is what is known about how this program was built.
type build struct {
	Version string `json:"version"` // of the module, "(devel)" when unknown
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // the work tree had changes
	Time    string `json:"commit_time,omitempty"`
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

func thisBuild() build {
	b := build{Version: "(devel)", Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if info.Main.Version != "" {
		b.Version = info.Main.Version
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.modified":
			b.Dirty = s.Value == "true"
		case "vcs.time":
			b.Time = s.Value
		}
	}
	return b
}

// String is one line for people.
func (b build) String() string {
	s := fmt.Sprintf("perfplan %s %s %s/%s", b.Version, b.Go, b.OS, b.Arch)
	if b.Commit != "" {
		s += " commit " + b.Commit
		if b.Dirty {
			s += " with changes"
		}
	}
	return s
}

func versionCommand(c *console) *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Show the version, Go and the commit of this program",
		Example: "  perfplan version --json",
		Args:    arguments(0, ""),
		RunE: func(*cobra.Command, []string) error {
			if asJSON {
				return writeJSON(c, thisBuild())
			}
			fmt.Fprintln(c.out, thisBuild())
			return nil
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// writeJSON prints v on standard output, indented.
func writeJSON(c *console, v any) error {
	data, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		return fail(exitBroken, "cannot make JSON: %w", err)
	}
	fmt.Fprintf(c.out, "%s\n", data)
	return nil
}
