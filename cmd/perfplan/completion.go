package main

import "github.com/spf13/cobra"

func completionCommand(c *console) *cobra.Command {
	return &cobra.Command{
		Use:   "completion bash|zsh|fish|powershell",
		Short: "Print the completion script of a shell",
		Long: `completion prints a script that teaches a shell to complete perfplan's commands,
flags and plan files.`,
		Example: `  source <(perfplan completion bash)                  # for this shell
  perfplan completion zsh > "${fpath[1]}/_perfplan"   # for good
  perfplan completion fish | source
  perfplan completion powershell | Out-String | Invoke-Expression`,
		Args:      cobra.MatchAll(arguments(1, "a shell"), cobra.OnlyValidArgs),
		ValidArgs: []string{"bash", "zsh", "fish", "powershell"},
		RunE: func(cmd *cobra.Command, args []string) error {
			root := cmd.Root()
			switch args[0] {
			case "bash":
				return root.GenBashCompletionV2(c.out, true)
			case "zsh":
				return root.GenZshCompletion(c.out)
			case "fish":
				return root.GenFishCompletion(c.out, true)
			}
			return root.GenPowerShellCompletionWithDesc(c.out)
		},
	}
}

// completePlans makes a shell offer plan files, at most max of them; 0 is any number.
func completePlans(max int) cobra.CompletionFunc {
	return func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		if max > 0 && len(args) >= max {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
	}
}
