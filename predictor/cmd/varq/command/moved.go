package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// newMoved returns a command that was varq's in 0.1 and is varq-lab's. It says so, whatever is
// asked of it, and so does its help.
func newMoved(name string) *cobra.Command {
	moved := fmt.Errorf("%q is in varq-lab now, as only those who study logs need it: "+
		"install the package varq-lab and run \"varq-lab %[1]s\" with the same options", name)
	cmd := &cobra.Command{
		Use:                name,
		Hidden:             true,
		DisableFlagParsing: true,
		RunE:               func(*cobra.Command, []string) error { return cli.UsageError{Err: moved} },
	}
	cmd.SetHelpFunc(func(cmd *cobra.Command, _ []string) { cmd.Println(moved) })
	return cmd
}
