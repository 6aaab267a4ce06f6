package status

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
)

// NewCancel returns the command cancel.
func NewCancel(env *cli.Env, link *link.Link) *cobra.Command {
	return &cobra.Command{
		Use:   "cancel PLAN...",
		Short: "Take back promises without a job (of a job: scancel JOB)",
		Long: `Cancel takes back promises of yours for which no job was submitted. varq status
shows them as PROMISED, and with --format=Plan,State,BeginBy by name. From then on others
may be promised what their jobs needed; a job that comes nevertheless has its promise only
if there is still room.

A promise that has a job ends with its job: scancel JOBID.`,
		Example: `  varq cancel k3v7x2m4q5ab`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usage(cmd, errors.New("name the plan; varq status --format=Plan,State,BeginBy shows yours"))
			}
			for _, id := range args {
				if !api.ValidPlanID(id) {
					return cli.Usage(cmd, fmt.Errorf("%q is not a plan: plans are the 12 letters and digits that varq status --old --format=Plan,State shows; a job is cancelled with scancel", id))
				}
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			varqd, err := link.Dial()
			if err != nil {
				return err
			}
			for _, id := range args {
				if err := varqd.Cancel(cmd.Context(), api.Cancellation{Plan: id}); err != nil {
					return fmt.Errorf("plan %s: %w", id, err)
				}
				if _, err := fmt.Fprintf(env.Stdout, "plan %s is taken back\n", id); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
