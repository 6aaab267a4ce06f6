package status

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
	"github.com/varq-project/varq/predictor/slurmtime"
)

// NewAccept returns the command accept.
func NewAccept(env *cli.Env, link *link.Link) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "accept JOBID [--max-cost=N]",
		Short: "Let nodes idle for longer, so that a promise can be kept",
		Long: `While your job waits, its nodes are never held for longer than you have agreed
to: what was quoted, or --max-cost. If the queue becomes slower than was forecast,
that may be too short a time to keep the promise, and varq status says what would
keep it. Accept agrees to that, and varqd moves the job at once. If Slurm does not
let it, accept says why, and when varqd will.

With --max-cost=N it agrees to N node-hours of idle nodes at most, and changes
nothing if more is needed by now.`,
		Example: `  varq status 4711
  varq accept 4711
  varq accept 4711 --max-cost=0.5`,
		Args: func(cmd *cobra.Command, args []string) error {
			if len(args) != 1 {
				return cli.Usage(cmd, errors.New("name one job; varq status shows yours"))
			}
			return nil
		},
	}
	most := cmd.Flags().String("max-cost", "", "agree to `node-hours` of idle nodes at most")
	asJSON := options.AddJSON(cmd.Flags())
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		jobs, err := options.ParseJobs(args)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		a := api.Acceptance{Job: jobs[0]}
		if *most != "" {
			c, err := api.ParseMaxCost(*most)
			if err == nil && c.Times != 0 {
				err = errors.New("here it is a number of node-hours")
			}
			if err != nil {
				return cli.Usage(cmd, fmt.Errorf("--max-cost: %w", err))
			}
			a.Worst.NodeSeconds = c.NodeSeconds
		}
		varqd, err := link.Dial()
		if err != nil {
			return err
		}
		accepted, err := varqd.Accept(cmd.Context(), a)
		if err != nil {
			return err
		}
		if *asJSON {
			return cli.WriteJSON(env.Stdout, accepted)
		}
		_, err = fmt.Fprintf(env.Stdout, "job %d: idle nodes may cost up to %s now\n%s\n", accepted.Job, accepted.Ceiling.RoundedUp(), moved(&accepted, env.Zone))
		return err
	}
	return cmd
}

// moved says what varqd has done to the job, and how probable its start in time is now.
func moved(a *api.Accepted, zone *time.Location) string {
	switch {
	case !a.Moved && a.Now == nil:
		return "not moved: " + a.Unmoved
	case !a.Moved:
		return fmt.Sprintf("not moved: %s\nas it is, it starts by %s with probability %s", a.Unmoved, slurmtime.Format(a.BeginBy, zone), told.Now(&a.Reservation))
	}
	return fmt.Sprintf("moved: it may start from %s on, with the time limit %s, and by %s with probability %s",
		slurmtime.Format(a.Set.BeginTime, zone), slurmtime.FormatDuration(a.Set.TimeLimit), slurmtime.Format(a.BeginBy, zone), told.Now(&a.Reservation))
}
