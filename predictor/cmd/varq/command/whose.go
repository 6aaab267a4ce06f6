package command

import (
	"errors"

	"github.com/spf13/pflag"
)

// whoseFlags has the options for the user whose reservations a command is about.
type whoseFlags struct {
	name string
	all  bool
}

func addWhose(flags *pflag.FlagSet) *whoseFlags {
	f := &whoseFlags{}
	flags.StringVarP(&f.name, "user", "u", "", "this `user`'s reservations, for operators")
	flags.BoolVarP(&f.all, "all", "a", false, "everybody's reservations, for operators")
	return f
}

// user returns the user to ask varqd about: "" for the caller, "*" for all users.
func (f *whoseFlags) user() (string, error) {
	switch {
	case f.all && f.name != "":
		return "", errors.New("--user and --all exclude each other")
	case f.all:
		return "*", nil
	default:
		return f.name, nil
	}
}
