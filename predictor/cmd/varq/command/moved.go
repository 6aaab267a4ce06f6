package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// newMoved returns a command that was varq's in 0.1 and is varq-lab's. It says so, whatever is
// asked of it.
func newMoved(name string) *cobra.Command {
	return &cobra.Command{
		Use:                name,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE: func(*cobra.Command, []string) error {
			return cli.UsageError{Err: fmt.Errorf("%q is in varq-lab now, as only those who study logs need it: "+
				"install the package varq-lab and run \"varq-lab %[1]s\" with the same options", name)}
		},
	}
}
