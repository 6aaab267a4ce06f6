package status

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/told"
)

// addColour adds --color. Without a value it stands for always.
func addColour(cmd *cobra.Command) *string {
	when := cmd.Flags().String("color", string(cli.Auto), "colour the states `auto|always|never`: on a terminal, always, never")
	cmd.Flags().Lookup("color").NoOptDefVal = string(cli.Always)
	_ = cmd.RegisterFlagCompletionFunc("color", cli.Complete(cli.Names(cli.Whens, whenName)...))
	return when
}

// useColour reads the value of --color.
func useColour(env *cli.Env, when string) (bool, error) {
	if !slices.Contains(cli.Whens, cli.When(when)) {
		return false, fmt.Errorf("--color: %q is none of auto, always, never", when)
	}
	return env.UseColour(cli.When(when)), nil
}

func whenName(when cli.When) string { return string(when) }

// stateColour returns the colour of the state of a reservation.
func stateColour(r api.Reservation) cli.Colour {
	switch {
	case r.State == api.StateKept:
		return cli.Green
	case r.State == api.StateMissed:
		return cli.Red
	case told.Endangered(&r):
		return cli.Yellow
	default:
		return ""
	}
}
