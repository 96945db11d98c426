package main

import (
	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/cmd/perfplan/lsp"
)

func lspCommand(c *console) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "lsp",
		Short: "Serve editors with the Language Server Protocol",
		Long: `lsp is a language server for plans. An editor starts it and speaks the Language
Server Protocol (LSP 3.17) with it over standard input and output. It tells what
validate would tell of the text as it is in the editor, completes keys, words
and names of requests and targets, and shows what a key means.

docs/editors.md says how to set up VS Code, Neovim and Helix.

Exit codes: 0 the editor ended it, 1 without asking for a shutdown before, 4 the
editor sent what is no message.`,
		Example: "  perfplan lsp",
		Args:    arguments(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			orderly, err := lsp.Serve(cmd.Context(), c.in, c.out, lsp.Options{Version: thisBuild().Version, Env: c.lookup})
			switch {
			case err != nil:
				return fail(exitBroken, "cannot go on with the editor: %w", err)
			case !orderly:
				return exit(exitFailed) // as the protocol wants it
			}
			return nil
		},
	}
	cmd.Flags().Bool("stdio", true, "speak over standard input and output: there is\nno other way, but some editors say so")
	return cmd
}
