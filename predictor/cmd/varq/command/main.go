package command

import (
	"context"
	"io"
	"log"
	"os"
	"strconv"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/link"
	"github.com/varq-project/varq/predictor/cmd/varq/web"
	"github.com/varq-project/varq/predictor/slurm/program"
	"github.com/varq-project/varq/predictor/varqd/doctor"
)

// Main runs the command of a command line for the user of this process, and returns its exit code.
// alone, if not nil, answers where there is no varqd.
func Main(args []string, alone link.Alone) int {
	// net/http tells its log of servers that misbehave; the user reads it from the command
	log.SetOutput(io.Discard)
	return Run(args, Env{
		Env:   cli.NewEnv(os.Stdin, os.Stdout, os.Stderr),
		Host:  doctor.Host,
		Serve: web.Serve,
		Scancel: func(ctx context.Context, args ...string) error {
			_, err := program.Output(ctx, "scancel", nil, args...)
			return err
		},
		Sacct: func(ctx context.Context, path string, variables []string, args ...string) ([]byte, error) {
			args = append(args, "--user="+strconv.Itoa(os.Getuid()))
			return program.Output(ctx, path, append(variables, "SLURM_TIME_FORMAT=%s"), args...)
		},
		Alone: alone,
	})
}
