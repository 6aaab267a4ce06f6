// Package page writes the manual pages of commands in mdoc(7). What the help of a command says is
// in its page: how it is used, what it does, its options and its examples. What is too long for the
// help, or belongs to the manual alone, comes from the page's source, which is mdoc(7) too.
package page

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// Of returns the pages of root and its subcommands, by the names of their files. A source has the
// name of its page, followed by ".in"; a page needs none. It is an error if a source has no page,
// or is about an option that its command does not have. All pages have the date of the release.
func Of(root *cobra.Command, sources fs.FS, released time.Time) (map[string][]byte, error) {
	root.InitDefaultCompletionCmd("bash") // as if it were executed
	pages := map[string][]byte{}
	for _, cmd := range family(root) {
		if !hasPage(cmd) {
			continue
		}
		file := Name(cmd) + ".1"
		text, err := fs.ReadFile(sources, file+".in")
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		source, err := parse(string(text))
		if err == nil {
			err = source.fits(cmd)
		}
		if err != nil {
			return nil, fmt.Errorf("%s.in: %w", file, err)
		}
		pages[file] = write(cmd, source, released)
	}
	return pages, nil
}

// Name returns the name of the page of a command: varq-every-run is that of varq every run.
func Name(cmd *cobra.Command) string {
	return strings.ReplaceAll(cmd.CommandPath(), " ", "-")
}

// completion is the name of the command that prints scripts for shells. It is cobra's.
const completion = "completion"

// hasPage reports whether a command has a page of its own. Of one that has nothing to explain, the
// page of the command above says everything.
func hasPage(cmd *cobra.Command) bool { return cmd.Long != "" && cmd.Name() != completion }

// family returns a command and all commands below it, but for those that are hidden, and for
// completion's.
func family(cmd *cobra.Command) []*cobra.Command {
	all := []*cobra.Command{cmd}
	if cmd.Name() == completion {
		return all
	}
	for _, sub := range cmd.Commands() {
		if sub.IsAvailableCommand() {
			all = append(all, family(sub)...)
		}
	}
	return all
}
