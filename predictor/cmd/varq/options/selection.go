package options

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/api"
	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// Selection has the options that select reservations. They are named as in sacct.
type Selection struct {
	start, end                          string
	accounts, partitions, names, states []string
}

// AddSelection adds the options to a command.
func AddSelection(cmd *cobra.Command) *Selection {
	f := &Selection{}
	flags := cmd.Flags()
	flags.SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "account" { // the name of squeue's option
			name = "accounts"
		}
		return pflag.NormalizedName(name)
	})
	flags.StringVarP(&f.start, "starttime", "S", "", "deadlines from this `time` on, in any format of sacct: now-7days, today")
	flags.StringVarP(&f.end, "endtime", "E", "", "deadlines before this `time`")
	flags.StringSliceVarP(&f.accounts, "accounts", "A", nil, "jobs of these `accounts`, separated by commas")
	flags.StringSliceVarP(&f.partitions, "partition", "p", nil, "jobs in these `partitions`, separated by commas")
	flags.StringSliceVar(&f.names, "name", nil, "jobs with these `names`, separated by commas")
	flags.StringSliceVarP(&f.states, "state", "s", nil, "reservations in these `states`, separated by commas")
	_ = cmd.RegisterFlagCompletionFunc("state", cli.Complete(api.States...))
	return f
}

// Given returns the name of an option that is given, or "".
func (f *Selection) Given() string {
	switch {
	case f.start != "":
		return "--starttime"
	case f.end != "":
		return "--endtime"
	case len(f.accounts) > 0:
		return "--accounts"
	case len(f.partitions) > 0:
		return "--partition"
	case len(f.names) > 0:
		return "--name"
	case len(f.states) > 0:
		return "--state"
	default:
		return ""
	}
}

// Dated reports whether deadlines are selected.
func (f *Selection) Dated() bool { return f.start != "" || f.end != "" }

// Read returns the selection. Relative times count from the present.
func (f *Selection) Read(env *cli.Env) (s api.Selection, err error) {
	if s.Start, err = env.PastTime("--starttime", f.start); err != nil {
		return s, err
	}
	if s.End, err = env.PastTime("--endtime", f.end); err != nil {
		return s, err
	}
	s.Accounts, s.Partitions, s.Names = f.accounts, f.partitions, f.names
	for _, text := range f.states {
		s.States = append(s.States, strings.ToUpper(text))
	}
	return s, api.ByOption(s.Check(), env.Moment)
}
