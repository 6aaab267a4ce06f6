package command

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

func newVersion(env *Env) *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print varq's version",
		Example: `  varq version`,
		Args:    cli.NoArguments,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(env.Stdout, "varq %s %s/%s\n", api.Version, runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}
