// Slurmlab starts, uses and stops a private Slurm on this machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		// The command that exec ran has said itself what went wrong.
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			os.Exit(max(1, exit.ExitCode()))
		}
		fmt.Fprintln(os.Stderr, "slurmlab:", err)
		os.Exit(1)
	}
}

func command() *cobra.Command {
	cmd := &cobra.Command{
		Use:           "slurmlab",
		Short:         "A private Slurm on this machine, in one folder",
		SilenceUsage:  true,
		SilenceErrors: true,
	}
	cmd.AddCommand(installCommand(), upCommand(), execCommand(), loadCommand(), envCommand(), downCommand())
	return cmd
}
