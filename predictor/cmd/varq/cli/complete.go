package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// Complete completes one of some names.
func Complete(names ...string) cobra.CompletionFunc {
	return cobra.FixedCompletions(names, cobra.ShellCompDirectiveNoFileComp)
}

// CompleteList completes the last item of a list of names.
func CompleteList(names []string) cobra.CompletionFunc {
	return func(_ *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
		before := begun[:strings.LastIndex(begun, ",")+1]
		completions := make([]string, len(names))
		for i, name := range names {
			completions[i] = before + name
		}
		return completions, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
}
