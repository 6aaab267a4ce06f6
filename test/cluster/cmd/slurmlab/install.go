package main

import (
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/test/cluster"
)

func installCommand() *cobra.Command {
	var slurm24 bool
	cmd := &cobra.Command{
		Use:   "install [PACKAGE]...",
		Short: "Install what a private Slurm needs, where it is missing, or these packages of Debian instead",
		RunE: func(cmd *cobra.Command, packages []string) error {
			if len(packages) > 0 {
				return cluster.InstallPackages(cmd.Context(), "that were asked for", packages...)
			}
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
