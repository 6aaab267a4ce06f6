package main

import (
	"github.com/spf13/cobra"

	"github.com/varq-project/varq/test/cluster"
)

func installCommand() *cobra.Command {
	var version cluster.Version
	cmd := &cobra.Command{
		Use:   "install [PACKAGE]...",
		Short: "Install what a private Slurm needs, where it is missing, or these packages of Debian instead",
		RunE: func(cmd *cobra.Command, packages []string) error {
			if len(packages) > 0 {
				return cluster.InstallPackages(cmd.Context(), "that were asked for", packages...)
			}
			return cluster.Install(cmd.Context(), version, nil)
		},
	}
	cluster.AddFlags(cmd.Flags(), &version)
	return cmd
}
