package options

import (
	"errors"

	"github.com/spf13/pflag"
)

// Whose has the options for the user whose reservations a command is about.
type Whose struct {
	name string
	all  bool
}

// AddWhose adds the options to flags.
func AddWhose(flags *pflag.FlagSet) *Whose {
	f := &Whose{}
	flags.StringVarP(&f.name, "user", "u", "", "this `user`'s reservations, for operators")
	flags.BoolVarP(&f.all, "all", "a", false, "everybody's reservations, for operators")
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
