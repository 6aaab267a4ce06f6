package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/test/cluster"
)

func upCommand() *cobra.Command {
	var o cluster.Options
	var past history
	var v varq
	cmd := &cobra.Command{
		Use:   "up",
		Short: "Start a Slurm, print its folder, and leave it running",
		Example: `  lab=$(slurmlab up --varq)
  slurmlab exec $lab -- varq predict -N1 -t 10 --why
  slurmlab exec $lab -- sbatch --begin-by=now+12hours --prob=0.5 -N1 -t 2:00:00 --wrap="sleep 60"
  slurmlab exec $lab -- varq status
  slurmlab down $lab`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.Detached = true
			o.Progress = cmd.ErrOrStderr()
			start := up
			if v.wanted {
				if o.Version.InChroot() {
					return fmt.Errorf("--varq: the plugin of the installed varq is for this machine's Slurm, and not for %s: start this machine's with varq, or Slurm %[1]s without --varq", o.Version)
				}
				start = v.up
			}
			c, err := start(cmd.Context(), o, past)
			if err != nil {
				return err
			}
			fmt.Fprintln(cmd.OutOrStdout(), c.Path())
			return nil
		},
	}
	f := cmd.Flags()
	cluster.AddFlags(f, &o.Version)
	f.StringVar(&o.Dir, "dir", "", "empty or new folder (default a temporary one)")
	f.IntVar(&o.Nodes, "nodes", 8, "number of nodes")
	f.IntVar(&o.CPUs, "cpus", 4, "CPUs of a node")
	past.addFlags(f)
	v.addFlags(f)
	return cmd
}

// up starts a Slurm and loads its past.
func up(ctx context.Context, o cluster.Options, past history) (*cluster.Cluster, error) {
	c, err := cluster.Start(ctx, o)
	if err != nil {
		return nil, err
	}
	if err := past.load(ctx, c); err != nil {
		return nil, errors.Join(err, c.Stop())
	}
	return c, nil
}
