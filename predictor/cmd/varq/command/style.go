package command

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/cmd/varq/table"
)

// styleFlags has the options for showing a table. They are named as in sacct.
type styleFlags struct {
	json, parsable, noHeader bool
	format                   string
}

func addStyle(flags *pflag.FlagSet) *styleFlags {
	f := &styleFlags{}
	flags.BoolVar(&f.json, "json", false, jsonHelp)
	flags.BoolVarP(&f.parsable, "parsable2", "P", false, "separate the values by | and leave them whole")
	flags.BoolVarP(&f.noHeader, "noheader", "n", false, "leave out the header")
	flags.StringVarP(&f.format, "format", "o", "", "show these `columns`: NAME[%[-]WIDTH],...")
	return f
}

// show prints a table. On a terminal it fits the terminal's width: columns that the user has
// not asked for are left out if there is no room for them, and notes are cut.
func show[R any](env *Env, columns []table.Column[R], records []R, f *styleFlags, colour bool) error {
	if env.Width > 0 && !f.parsable {
		if f.format != "" {
			columns = slices.Clone(columns)
			for i := range columns {
				columns[i].Spare = 0
			}
		}
		var left []table.Column[R]
		if columns, left = table.Fit(columns, records, env.Width); len(left) > 0 {
			fmt.Fprintf(env.Stderr, "varq: this terminal has no room for %s; --format shows any column\n", table.Names(left))
		}
	}
	return table.Write(env.Stdout, columns, records, table.Style{Parsable: f.parsable, NoHeader: f.noHeader, Colour: colour && !f.parsable})
}

const jsonHelp = "show varqd's answer in JSON: times in Unix seconds, durations in seconds"

// choose returns the columns that format names. An empty format chooses all columns.
func choose[R any](columns []table.Column[R], format string) ([]table.Column[R], error) {
	if format == "" {
		return columns, nil
	}
	chosen, err := table.Select(columns, format)
	if err != nil {
		return nil, fmt.Errorf("--format: %w", err)
	}
	return chosen, nil
}

// plain reports whether no option is given, so that the answer is for a person.
func (f *styleFlags) plain() bool { return *f == styleFlags{} }

// addJSON adds --json to a command whose answer is not a table.
func addJSON(flags *pflag.FlagSet) *bool {
	return flags.Bool("json", false, jsonHelp)
}
