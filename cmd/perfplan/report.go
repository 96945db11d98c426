package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/report"
	"github.com/perfplan/perfplan/runner/result"
)

func reportCommand(c *console) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report RESULT",
		Short: "Write the reports of a stored result again",
		Long: `report reads a result, given as a run's folder or its result.json, and writes
its reports again. They are, byte for byte, those that the run wrote.

Exit codes: 0 the reports were written, whatever the verdict; 4 the result
cannot be read or the reports cannot be written.`,
		Example: `  perfplan report perfplan-out/predictor/latest
  perfplan report --out /tmp/again perfplan-out/predictor/latest/result.json`,
		Args: cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.report(args[0], out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`folder` for the reports (default: the result's)")
	return cmd
}

func (c *console) report(path, out string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, result.FileName)
	}
	r, err := result.Read(path)
	if err != nil {
		return fail(exitBroken, "%w", err)
	}
	if out == "" {
		out = filepath.Dir(path)
	}
	if err := os.MkdirAll(out, 0o777); err != nil {
		return fail(exitBroken, "cannot make the output folder: %w", err)
	}
	if r.Finished == nil {
		c.warnf("the run of %s is still under way, or was killed: the report holds the stages that had ended", path)
	}
	if err := report.WriteAll(out, r); err != nil {
		return fail(exitBroken, "%w", err)
	}
	fmt.Fprintf(c.out, "report: %s\n", filepath.Join(out, "report.html"))
	return nil
}
