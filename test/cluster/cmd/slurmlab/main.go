// Command slurmlab starts, uses and stops a private Slurm on this machine.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command().ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	var status exitStatus
	if errors.As(err, &status) {
		return int(status)
	}
	fmt.Fprintln(os.Stderr, "slurmlab:", err)
	return 1
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
