package main

import (
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/test/cluster"
)

func downCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "down DIR",
		Short: "Stop the Slurm in a folder, whoever started it, and remove all of it",
		Args:  cobra.ExactArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			c, err := cluster.Open(args[0])
			if err != nil {
				return err
			}
			return c.Stop()
		},
	}
}
