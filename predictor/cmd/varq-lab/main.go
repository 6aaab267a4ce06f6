// Command varq-lab tests varq's methods on logs: it simulates reservations on them, scores
// forecasts, and repeats the experiments of papers; see varq-lab(1). It needs neither Slurm nor
// varqd.
package main

import (
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq-lab/evaluate"
	"github.com/varq-project/varq/predictor/cmd/varq-lab/simulate"
	"github.com/varq-project/varq/predictor/cmd/varq-lab/study"
	"github.com/varq-project/varq/predictor/cmd/varq-lab/trace"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	trial "github.com/varq-project/varq/predictor/trial/study"
	"github.com/varq-project/varq/predictor/trial/study/all"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	env := cli.NewEnv(stdin, stdout, stderr)
	return execute(args, &env, all.Studies())
}

// execute executes the command line args, without the program's name, and returns the exit code.
func execute(args []string, env *cli.Env, studies map[string]trial.Study) int {
	return env.Exit("varq-lab", cli.Execute(newRoot(env, studies), args))
}

// newRoot returns the command varq-lab with all its subcommands.
func newRoot(env *cli.Env, studies map[string]trial.Study) *cobra.Command {
	return cli.Root(env, &cobra.Command{
		Use:   "varq-lab",
		Short: "What reservations and forecasts of waits come to, on logs",
		Long: `varq-lab makes a log of what Slurm's accounting tells of a cluster's past, and
tells what reservations would have done to its users, and how well their waits
would have been forecast. It repeats the experiments of papers, too. It needs
neither Slurm nor varqd.`,
		Example: `  varq-lab simulate compare --trace=log.swf.gz
  varq-lab evaluate --trace=log.swf.gz`,
	},
		simulate.New(env),
		evaluate.New(env),
		trace.New(env),
		study.New(env, studies),
	)
}
