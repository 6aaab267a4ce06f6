// Package size is the command that tells on how many nodes a job had better run.
package size

import (
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/options"
	"github.com/varq-project/varq/predictor/varqd/sites"
)

// New returns the command size. run runs Slurm's sacct about the jobs of the user who runs varq; it
// prints times in Unix seconds.
func New(env *cli.Env, link *link.Link, run sites.Sacct) *cobra.Command {
	f := &sizeFlags{}
	cmd := &cobra.Command{
		Use:   "size --sizes=NODES:TIME,...|--speedup=CURVE|--fit=JOBNAME [options] [options of sbatch]",
		Short: "Tell on how many nodes a job had better run",
		Long: `Size tells on how many nodes a job had better run if it is submitted now: more
nodes run it faster, and are waited for longer. It asks varqd how long the job
would wait at each size, adds the run time, and shows which size is best: the one
with the least expected time until the end, unless --by says otherwise, with the
options to paste after sbatch.

The run times come from --sizes, which has a time for each number of nodes; or
from --time, the time on --ref-nodes nodes, and the program's --speedup; or, with
--fit, from sacct: your own jobs of that name that completed. The sizes are then
those of --nodes, or those that were run and up to twice as large.

sbatch --size=auto --sizes=... chooses in the same way, and takes --risk-aversion
too. That locks the size in; with --lock-in=no varqd asks again as long as the job
waits, and gives it another size if it is then expected to end sooner.`,
		Example: `  varq size --sizes=4:2h,8:1h10m,16:45m
  varq size -N2-32 -t 2:00:00 --ref-nodes=8 --speedup=amdahl:0.01
  varq size -N2,4,8,16 -t 2:00:00 --ref-nodes=8 --speedup=downey:64,0.5 --by=cost
  varq size --sizes=4:2h,8:1h10m,16:45m --finish-by=17:00
  varq size --fit=cfd -p batch --risk-aversion=0.2 --forecaster=downey
  varq size --fit=cfd --plot=size.svg
  varq size --sizes=4:2h,8:1h10m,16:45m --options`,
		Args: cli.NoArguments,
	}
	f.add(cmd)
	asJSON := options.AddJSON(cmd.Flags())
	job := options.AddJob(cmd, link.Cluster)
	job.AddOthers("array", "dependency")
	cmd.RunE = func(cmd *cobra.Command, _ []string) error {
		asked, err := f.question(env, *asJSON)
		if err != nil {
			return cli.Usage(cmd, err)
		}
		shapes, err := f.shapes.shapes(cmd.Context(), env, history{link, run}, job)
		if err != nil {
			return err
		}
		varqd, err := link.Dial()
		if err != nil {
			return err
		}
		answer, err := asked.answer(cmd.Context(), varqd, job, shapes)
		if err != nil {
			return err
		}
		switch {
		case *asJSON:
			err = cli.WriteJSON(env.Stdout, answer)
		case f.options:
			err = showOptions(env, answer)
		default:
			err = showSizes(env, answer, shapes.past, job)
		}
		if err == nil && f.plot != "" {
			err = drawSizes(env, f.plot, answer, shapes.past)
		}
		if err == nil && answer.Best == 0 {
			err = cli.ErrNo
		}
		return err
	}
	return cmd
}
