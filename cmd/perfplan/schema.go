package main

import (
	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/plans"
)

func schemaCommand(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of plans, for editors",
		Long: `schema prints the JSON Schema of plans. An editor with a YAML language server
checks and completes a plan that begins with

  # yaml-language-server: $schema=perfplan.schema.json`,
		Example: "  perfplan schema > perfplan.schema.json",
		Args:    arguments(0, ""),
		RunE: func(*cobra.Command, []string) error {
			_, err := c.out.Write(plans.Schema())
			return err
		},
	}
}
