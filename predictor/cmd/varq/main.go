// Command varq shows the users of a Slurm cluster which reservations varqd can promise, which it
// has promised, and how the promised ones ended; see varq(1).
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/exec"
	"strconv"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/command"
	"github.com/varq-project/varq/predictor/cmd/varq/web"
	"github.com/varq-project/varq/predictor/slurm/program"
	"github.com/varq-project/varq/predictor/varqd/alone"
	"github.com/varq-project/varq/predictor/varqd/doctor"
)

func main() { os.Exit(run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	// net/http tells its log of servers that misbehave; the user reads it from the command
	log.SetOutput(io.Discard)
	self, err := exec.LookPath(os.Args[0])
	if err != nil {
		self = os.Args[0]
	}
	return command.Run(args, command.Env{
		Env:   cli.NewEnv(stdin, stdout, stderr),
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
		Alone: alone.User{Getenv: os.Getenv, Program: self},
	})
}
