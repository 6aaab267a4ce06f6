package options

import (
	"fmt"
	"slices"

	"github.com/spf13/pflag"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
	"github.com/varq-project/varq/predictor/cmd/varq/table"
)

// Style has the options for showing a table. They are named as in sacct.
type Style struct {
	JSON     bool
	Parsable bool
	NoHeader bool
	Format   string // empty for all columns
}

// AddStyle adds the options to flags.
func AddStyle(flags *pflag.FlagSet) *Style {
	f := &Style{}
	flags.BoolVar(&f.JSON, "json", false, jsonHelp)
	flags.BoolVarP(&f.Parsable, "parsable2", "P", false, "separate the values by | and leave them whole")
	flags.BoolVarP(&f.NoHeader, "noheader", "n", false, "leave out the header")
	flags.StringVarP(&f.Format, "format", "o", "", "show these `columns`: NAME[%[-]WIDTH],...")
	return f
}

// Show prints a table. On a terminal it fits the terminal's width: columns that the user has
// not asked for are left out if there is no room for them, and notes are cut.
func Show[R any](env *cli.Env, columns []table.Column[R], records []R, f *Style, colour bool) error {
	if env.Width > 0 && !f.Parsable {
		if f.Format != "" {
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
	return table.Write(env.Stdout, columns, records, table.Style{Parsable: f.Parsable, NoHeader: f.NoHeader, Colour: colour && !f.Parsable})
}

const jsonHelp = "show varqd's answer in JSON: times in Unix seconds, durations in seconds"

// Choose returns the columns that format names. An empty format chooses all columns.
func Choose[R any](columns []table.Column[R], format string) ([]table.Column[R], error) {
	if format == "" {
		return columns, nil
	}
	chosen, err := table.Select(columns, format)
	if err != nil {
		return nil, fmt.Errorf("--format: %w", err)
	}
	return chosen, nil
}

// Plain reports whether no option is given, so that the answer is for a person.
func (f *Style) Plain() bool { return *f == Style{} }

// AddJSON adds --json to a command whose answer is not a table.
func AddJSON(flags *pflag.FlagSet) *bool {
	return flags.Bool("json", false, jsonHelp)
}
