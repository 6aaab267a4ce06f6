package main

import (
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/test/cluster"
)

func installCommand() *cobra.Command {
	var slurm24 bool
	cmd := &cobra.Command{
		Use:   "install",
		Short: "Install what a private Slurm needs, where it is missing",
		Args:  cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return cluster.Install(cmd.Context(), version(slurm24), nil)
		},
	}
	addSlurm24(cmd, &slurm24)
	return cmd
}

func addSlurm24(cmd *cobra.Command, to *bool) {
	cmd.Flags().BoolVar(to, "slurm24", false, "Slurm 24.11, from Debian 13 in a chroot")
}

func version(slurm24 bool) cluster.Version {
	if slurm24 {
		return cluster.Slurm2411
	}
	return cluster.Slurm2205
}
