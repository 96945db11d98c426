package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/perfplan/perfplan/plans"
	"github.com/perfplan/perfplan/runner/process"
	"github.com/perfplan/perfplan/runner/selftest"
)

func selftestCommand(c *console) *cobra.Command {
	var quiet, asJSON bool
	var change *plans.Options
	cmd := &cobra.Command{
		Use:   "selftest PLAN",
		Short: "Prove that each SLO of a plan can fail",
		Long: `selftest runs each load stage of a plan, cut to what its SLOs need, through a
proxy before the target: once without a fault, when every SLO has to hold, and
once for each SLO with a fault that takes its figure 25 % beyond the limit
(later answers, reset connections), when that SLO has to fail. Microbenchmarks
are measured once and judged again with worse figures. No SLO may pass on a
stage that measured nothing.

SLOs that no fault of a network is about (cpu, rss, lag, comparisons with
baselines) are named as unproven.

Exit codes: 0 every SLO that can be tested fails when it should, 1 one never
does, 3 the plan has faults, 4 it could not be carried out, 5 one does not hold
even without a fault.`,
		Example:           `  perfplan selftest plans/predictor.yaml`,
		Args:              arguments(1, "PLAN"),
		ValidArgsFunction: completePlans(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			return c.selftest(cmd.Context(), args[0], *change, quiet, asJSON)
		},
	}
	change = planFlags(cmd)
	cmd.Flags().BoolVar(&quiet, "quiet", false, "no progress on standard error")
	cmd.Flags().BoolVar(&asJSON, "json", false, "print what came out as JSON")
	return cmd
}

func (c *console) selftest(ctx context.Context, path string, change plans.Options, quiet, asJSON bool) error {
	p, err := c.mustLoad(path, change)
	if err != nil {
		return err
	}
	tmp, err := os.MkdirTemp("", "perfplan-selftest-")
	if err != nil {
		return fail(exitBroken, "%w", err)
	}
	defer os.RemoveAll(tmp)
	sweeper := process.NewSweeper()
	defer sweeper.Sweep()
	ctx, release := interruptible(ctx, sweeper, func(os.Signal) {})
	defer release()
	opt := selftest.Options{Dir: tmp, Version: thisBuild().Version, Env: c.lookup}
	if !quiet {
		opt.Progress = func(text string) { fmt.Fprintln(c.err, text) }
	}
	r := selftest.Run(ctx, p, opt)
	if asJSON {
		data, err := json.MarshalIndent(r, "", "  ")
		if err != nil {
			return fail(exitBroken, "%w", err)
		}
		fmt.Fprintf(c.out, "%s\n", data)
	} else {
		c.printProofs(r)
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return exit(exitInterrupted)
	case r.Error != "":
		return fail(exitBroken, "%s", r.Error)
	}
	for _, pr := range r.Proofs {
		if pr.State == selftest.Never {
			return exit(exitFailed)
		}
	}
	if len(r.Green) > 0 {
		return exit(exitInconclusive)
	}
	return nil
}

func (c *console) printProofs(r *selftest.Report) {
	count := map[string]int{}
	for _, pr := range r.Proofs {
		count[pr.State]++
		if pr.State == selftest.Proven {
			fmt.Fprintf(c.out, "proven    %s: %s (%s)\n", pr.Stage, pr.SLO, or(pr.Fault, "worse figures"))
		}
	}
	for _, pr := range r.Proofs {
		switch pr.State {
		case selftest.Unproven:
			fmt.Fprintf(c.out, "unproven  %s: %s: %s\n", pr.Stage, pr.SLO, pr.Reason)
		case selftest.Never:
			fmt.Fprintf(c.out, "NEVER     %s: %s: %s\n", pr.Stage, pr.SLO, pr.Reason)
			if pr.Fault != "" {
				fmt.Fprintf(c.out, "          with the fault: %s\n", pr.Fault)
			}
		}
	}
	for _, pr := range r.Green {
		fmt.Fprintf(c.out, "not green %s: %s: without a fault %s: %s\n", pr.Stage, pr.SLO, pr.State, pr.Reason)
	}
	fmt.Fprintf(c.out, "\n%s proven, %d never fail, %d unproven\n", counted(count[selftest.Proven], "SLO"), count[selftest.Never], count[selftest.Unproven])
}

func or(text, other string) string {
	if text == "" {
		return other
	}
	return text
}
