package options

import (
	"errors"

	"github.com/spf13/pflag"
)

// Whose has the options for the user whose reservations, or jobs, a command is about.
type Whose struct {
	name string
	all  bool
}

// Reservations is what AddWhose says of reservations.
const Reservations = "reservations, for operators"

// AddWhose adds the options to flags, of which the help says what things the command is about.
func AddWhose(flags *pflag.FlagSet, things string) *Whose {
	f := &Whose{}
	flags.StringVarP(&f.name, "user", "u", "", "this `user`'s "+things)
	flags.BoolVarP(&f.all, "all", "a", false, "everybody's "+things)
	return f
}

// User returns the user to ask varqd about: "" for the caller, "*" for all users.
func (f *Whose) User() (string, error) {
	switch {
	case f.all && f.name != "":
		return "", errors.New("--user does not go together with --all")
	case f.all:
		return "*", nil
	default:
		return f.name, nil
	}
}
