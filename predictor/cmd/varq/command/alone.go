package command

import (
	"log/slog"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/varqd/alone"
)

// newAlone returns the command that is the user's own forecaster, which the other commands start.
func newAlone(env *cli.Env) *cobra.Command {
	return &cobra.Command{
		Use:    alone.Command,
		Short:  "Forecast for yourself, on a cluster without varqd, until nobody asks any more",
		Hidden: true,
		Args:   cli.NoArguments,
		RunE: func(cmd *cobra.Command, _ []string) error {
			at, err := alone.Find(env.Getenv)
			if err != nil {
				return err
			}
			return alone.Run(cmd.Context(), at, slog.New(slog.NewTextHandler(env.Stderr, nil)))
		},
	}
}
