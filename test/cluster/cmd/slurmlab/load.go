package main

import (
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/test/cluster"
)

func loadCommand() *cobra.Command {
	var l cluster.Load
	cmd := &cobra.Command{
		Use:   "load DIR",
		Short: "Submit small jobs to the cluster until interrupted",
		Args:  cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := cluster.Open(args[0])
			if err != nil {
				return err
			}
			return c.Load(cmd.Context(), l)
		},
	}
	f := cmd.Flags()
	f.Float64Var(&l.Utilisation, "utilisation", .7, "share of the CPUs to keep busy")
	f.DurationVar(&l.Shortest, "shortest", 0, "shortest run time (default 5s)")
	f.DurationVar(&l.Longest, "longest", 0, "longest run time (default 1m)")
	f.Uint64Var(&l.Seed, "seed", 1, "seed of the random sizes and times")
	return cmd
}
