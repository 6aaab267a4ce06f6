package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/test/cluster"
)

func upCommand() *cobra.Command {
	var o cluster.Options
	var past history
	var slurm24 bool
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a Slurm, print its folder, and leave it running",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Version = version(slurm24)
			o.Detached = true
			o.Progress = cmd.ErrOrStderr()
			c, err := cluster.Start(cmd.Context(), o)
			if err != nil {
				return err
			}
			if err := past.load(cmd.Context(), c, o.Progress); err != nil {
				return errors.Join(err, c.Stop())
			}
			fmt.Fprintln(cmd.OutOrStdout(), c.Path())
			return nil
		},
	}
	addSlurm24(cmd, &slurm24)
	f := cmd.Flags()
	f.StringVar(&o.Dir, "dir", "", "empty or new folder (default a temporary one)")
	f.IntVar(&o.Nodes, "nodes", 8, "number of nodes")
	f.IntVar(&o.CPUs, "cpus", 4, "CPUs of a node")
	past.addFlags(f)
	return cmd
}
