package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// execute runs one command line and returns the exit code.
func execute(c *console, args []string) int {
	noSIGPIPE()
	root := rootCommand(c)
	root.SetArgs(args)
	cmd, err := root.ExecuteC()
	code := exitPass
	var f *failure
	switch {
	case err == nil:
	case errors.As(err, &f):
		code = f.code
		if f.err != nil {
			c.warnf("%v", f.err)
		}
	default: // cobra's own: a wrong flag or argument
		code = exitUsage
		c.warnf("%s (see %s --help)", oneLine(err), cmd.CommandPath())
	}
	if c.out.fail != nil {
		c.warnf("cannot write standard output: %v", c.out.fail)
		code = unfinished(code)
	}
	return code
}

// oneLine folds cobra's messages of several lines, and says its suggestions as our own messages do.
func oneLine(err error) string {
	text, rest, found := strings.Cut(err.Error(), "\n\nDid you mean this?\n")
	if names := strings.Fields(rest); found && len(names) > 0 {
		text += fmt.Sprintf(", did you mean %q?", names[0])
	}
	return strings.Join(strings.Fields(text), " ")
}

func rootCommand(c *console) *cobra.Command {
	root := &cobra.Command{
		Use:   "perfplan",
		Short: "Run performance-test plans and gate on their SLOs",
		Long: `perfplan runs a performance test that is written down as a plan: its
microbenchmarks, warm-up and load stages, and the SLOs that they must meet. It
judges every SLO, writes a report that opens without a network, and says by its
exit code what came out.

Exit codes:
  0    every SLO holds
  1    an SLO failed
  2    the command line cannot be understood
  3    the plan cannot be read or has faults; nothing was started
  4    the run could not be carried out
  5    inconclusive: nothing failed, but an SLO could not be decided
  130  interrupted by a signal; partial results were written`,
		Example: `  perfplan run plans/predictor.yaml       # run a plan, report, exit by verdict
  perfplan validate plans/*.yaml          # check plans, start nothing
  perfplan explain plans/predictor.yaml   # show what a run would do`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		// Without a command there is nothing to do. That must not look like a pass to a script whose variable is empty.
		RunE: func(cmd *cobra.Command, args []string) error {
			cmd.SetOut(c.err)
			if err := cmd.Help(); err != nil {
				return err
			}
			return exit(exitUsage)
		},
		Args:              unknownCommand,
		CompletionOptions: cobra.CompletionOptions{DisableDefaultCmd: true}, // completionCommand is ours
	}
	root.SetFlagErrorFunc(func(cmd *cobra.Command, err error) error {
		if args := cmd.Flags().Args(); cmd == root && len(args) > 0 {
			return unknownCommand(root, args) // its flags are no wonder then
		}
		return err
	})
	root.SetIn(c.in)
	root.SetOut(c.out)
	root.SetErr(c.err)
	root.SetHelpCommand(helpCommand())
	root.PersistentFlags().Var(&c.color, "color", "colour text: "+c.color.words())
	root.AddCommand(runCommand(c), benchCommand(c), baselineCommand(c), compareCommand(c), trendCommand(c), historyCommand(c), selftestCommand(c), calibrateCommand(c), validateCommand(c), explainCommand(c), reportCommand(c), schemaCommand(c), lspCommand(c), completionCommand(c), versionCommand(c))
	return root
}

// unknownCommand is cobra's own check in the words of our other messages.
func unknownCommand(cmd *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	text := fmt.Sprintf("unknown command %q", args[0])
	if names := cmd.SuggestionsFor(args[0]); len(names) > 0 {
		text += fmt.Sprintf(", did you mean %q?", names[0])
	}
	return errors.New(text)
}

// arguments checks that there is an argument, unless most is 0, and no more than most. What says what it is.
func arguments(most int, what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		switch {
		case most == 0 && len(args) > 0:
			return fmt.Errorf("unexpected argument: got %q, want none", args[0])
		case len(args) > most:
			return fmt.Errorf("unexpected argument: got %q after %q, want one %s", args[most], args[most-1], strings.TrimPrefix(what, "a "))
		case most > 0 && len(args) == 0:
			return fmt.Errorf("missing argument: got nothing, want %s", what)
		}
		return nil
	}
}

// helpCommand is cobra's, but a topic that does not exist is an error.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [command]",
		Short: "Show the help of a command",
		RunE: func(cmd *cobra.Command, args []string) error {
			topic, rest, err := cmd.Root().Find(args)
			if err != nil {
				return err
			}
			if len(rest) > 0 {
				return unknownCommand(topic, rest)
			}
			return topic.Help()
		},
	}
}
