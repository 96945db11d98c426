package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/report"
	"github.com/perfplan/perfplan/runner/result"
)

func reportCommand(c *console) *cobra.Command {
	var out string
	cmd := &cobra.Command{
		Use:   "report RESULT",
		Short: "Write the reports of a stored result again",
		Long: `report reads a result, given as a run's folder or its result.json, or as
OUT/PLAN for the latest run of a plan, and writes its reports again. They are,
byte for byte, those that the run wrote.

Exit codes: 0 the reports were written, whatever the verdict; 4 the result
cannot be read or the reports cannot be written.`,
		Example: `  perfplan report perfplan-out/predictor/latest
  perfplan report --out /tmp/again perfplan-out/predictor/latest/result.json`,
		Args: arguments(1, "RESULT"),
		RunE: func(_ *cobra.Command, args []string) error {
			return c.report(args[0], out)
		},
	}
	cmd.Flags().StringVar(&out, "out", "", "`folder` for the reports (default: the result's)")
	return cmd
}

func (c *console) report(path, out string) error {
	path, err := recordIn(path)
	if err != nil {
		return fail(exitBroken, "%w", err)
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

// recordIn is the path of the record that is meant by path: path itself, in a run's folder, or the latest in a folder of
// runs.
func recordIn(path string) (string, error) {
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return path, nil
	}
	record := filepath.Join(path, result.FileName)
	if isFile(record) {
		return record, nil
	}
	if latest := filepath.Join(path, "latest", result.FileName); isFile(latest) {
		return latest, nil
	}
	if id, err := os.ReadFile(filepath.Join(path, "latest")); err == nil { // where links cannot be made
		if latest := filepath.Join(path, strings.TrimSpace(string(id)), result.FileName); isFile(latest) {
			return latest, nil
		}
	}
	if plans, _ := filepath.Glob(filepath.Join(path, "*", "latest")); len(plans) > 0 {
		return "", fmt.Errorf("read result %q: got a folder of plans, want the folder of a run, like %q", path, plans[0])
	}
	return record, nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
