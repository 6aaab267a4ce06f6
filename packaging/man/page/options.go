package page

import (
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// optionsOf returns a list of the options of a command: its own, and those that it shares with
// others. What the source says about an option follows what the help does.
func optionsOf(cmd *cobra.Command, s *source) string {
	list := ".Bl -tag -width Ds\n"
	add := func(flag *pflag.Flag) {
		if !flag.Hidden {
			list += optionOf(flag) + s.more[flag.Name]
		}
	}
	cmd.InitDefaultHelpFlag() // as if it were executed
	cmd.LocalFlags().VisitAll(add)
	cmd.InheritedFlags().VisitAll(add)
	return list + ".El\n"
}

// optionOf returns what the help says about an option, as an item of a list.
func optionOf(flag *pflag.Flag) string {
	value, help := pflag.UnquoteUsage(flag)
	text := ".It "
	if flag.Shorthand != "" {
		text += "Fl " + flag.Shorthand + " , "
	}
	text += "Fl Fl " + flag.Name
	switch {
	case value == "":
	case flag.NoOptDefVal != "":
		text += " Ns Op = Ns Ar " + value
	default:
		text += " Ns = Ns Ar " + value
	}
	text += "\n" + filled(upper(help)+stop(help))
	if value != "" && flag.NoOptDefVal != "" {
		text += filled("Without a value it is " + flag.NoOptDefVal + ".")
	}
	if byDefault := strings.Trim(flag.DefValue, "[]"); !empty(byDefault) {
		text += filled("The default is " + byDefault + ".")
	}
	return text
}

// empty reports whether a default is the same as not to give the option.
func empty(value string) bool {
	switch value {
	case "", "0", "false":
		return true
	default:
		return false
	}
}

// stop returns what ends a sentence, unless the text ends in it.
func stop(text string) string {
	if strings.HasSuffix(text, ".") {
		return ""
	}
	return "."
}
