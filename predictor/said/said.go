// Package said makes text from users, programs and other sites fit to be shown, logged and stored.
package said

import (
	"strings"
	"unicode"
)

// Printable returns a text as one line that a terminal may show: with ? for each character that
// cannot be printed.
func Printable(text string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, text)
}

// Line returns the Printable beginning of a text, at most so many bytes of it, and then "..." if it
// goes on.
func Line(text string, most int) string {
	if len(text) <= most {
		return Printable(text)
	}
	return Printable(strings.ToValidUTF8(text[:most], "")) + "..."
}
