// Command varq shows the users of a Slurm cluster which reservations varqd can promise, which it
// has promised, and how the promised ones ended; see varq(1).
package main

import (
	"context"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
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
		Alone: alone.User{Getenv: os.Getenv, Program: ownPath()},
	})
}

// ownPath returns the path of this program, as it was called: not that of a file to which a link
// leads.
func ownPath() string {
	found, err := exec.LookPath(os.Args[0])
	if err != nil {
		found = os.Args[0]
	}
	if path, err := filepath.Abs(found); err == nil {
		return path
	}
	return found
}
