package page

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
)

// The sections of a source whose text goes into those of the same names that are written from the
// help. All others stand as they are, in their order.
const (
	description = "DESCRIPTION"
	options     = "OPTIONS"
	examples    = "EXAMPLES"
	seeAlso     = "SEE ALSO"
)

// source is what a page says beyond the help of its command.
type source struct {
	sections []section
	// more has what is said about an option, by its name.
	more map[string]string
}

// section is a section of a page. Its text ends in a newline unless it is empty.
type section struct{ name, text string }

var (
	heading = regexp.MustCompile(`(?m)^\.Sh (.+)\n`)
	item    = regexp.MustCompile(`(?m)^\.It Fl Fl (\S+)\n`)
)

// parse reads a source. What comes before its first section is a comment.
func parse(text string) (*source, error) {
	s := &source{more: map[string]string{}}
	if text != "" && !strings.HasSuffix(text, "\n") {
		return nil, errors.New("no newline at the end")
	}
	_, parts := split(heading, text)
	for _, part := range parts {
		if slices.ContainsFunc(s.sections, func(other section) bool { return other.name == part.name }) {
			return nil, fmt.Errorf("two sections %s", part.name)
		}
		if part.name == options {
			var about []section
			part.text, about = split(item, part.text)
			for _, option := range about {
				if s.more[option.name] != "" {
					return nil, fmt.Errorf("two items about --%s", option.name)
				}
				s.more[option.name] = option.text
			}
		}
		s.sections = append(s.sections, part)
	}
	return s, nil
}

// split splits a text at lines with names: into what comes before the first of them, and the parts
// that each begins.
func split(line *regexp.Regexp, text string) (before string, parts []section) {
	found := line.FindAllStringSubmatchIndex(text, -1)
	if len(found) == 0 {
		return text, nil
	}
	for i, at := range found {
		end := len(text)
		if i+1 < len(found) {
			end = found[i+1][0]
		}
		parts = append(parts, section{name: text[at[2]:at[3]], text: text[at[1]:end]})
	}
	return text[:found[0][0]], parts
}

// fits returns an error unless the command has all options that the source is about.
func (s *source) fits(cmd *cobra.Command) error {
	for name := range s.more {
		if cmd.LocalFlags().Lookup(name) == nil {
			return fmt.Errorf("%s has no option --%s", cmd.CommandPath(), name)
		}
	}
	return nil
}

// of returns the text of a section, or "".
func (s *source) of(name string) string {
	for _, section := range s.sections {
		if section.name == name {
			return section.text
		}
	}
	return ""
}
