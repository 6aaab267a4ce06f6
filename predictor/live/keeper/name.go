package keeper

import (
	"strings"
	"unicode"
)

// maxName is the greatest length of a job's name that is stored, in bytes.
const maxName = 128

// shownName returns a job's name as others may read it on a terminal: with ? for each character
// that cannot be printed, and cut to maxName.
func shownName(name string) string {
	name = strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, name)
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	return name
}
