// Command varqd makes and keeps the reservations of a Slurm cluster; see
// varqd(8).
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/varqd/config"
	"github.com/varq-project/varq/predictor/varqd/daemon"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "varqd:", err)
		return 1
	}
	return 0
}

func command() *cobra.Command {
	var path string
	var check bool
	cmd := &cobra.Command{
		Use:           "varqd",
		Short:         "The daemon that makes and keeps varq's reservations",
		Version:       api.Version,
		Args:          cobra.NoArgs,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE: func(cmd *cobra.Command, _ []string) error {
			c, err := config.Load(path)
			if err != nil {
				return err
			}
			if check {
				fmt.Fprintf(cmd.OutOrStdout(), "%s is well-formed\n", path)
				return nil
			}
			return daemon.Main(cmd.Context(), c, os.Stderr)
		},
	}
	cmd.Flags().StringVar(&path, "config", config.Path(os.Getenv), "configuration file")
	cmd.Flags().BoolVar(&check, "check", false, "check the configuration and exit")
	return cmd
}
