package filter

import (
	"slices"
	"strings"
)

// quietVariable is the environment variable of users whose tools read what sbatch says on standard
// error as its answer.
const quietVariable = "VARQ_QUIET"

// quiet reports whether nothing is to be said of a promise that is made: the environment says so
// or, if it does not speak of it, the site.
func quiet(environment []string, site func() bool) bool {
	value, given := "", false
	for _, v := range environment {
		if text, is := strings.CutPrefix(v, quietVariable+"="); is && text != "" {
			value, given = text, true
		}
	}
	if given {
		return !slices.Contains([]string{"0", "no", "false", "off"}, strings.ToLower(value))
	}
	return site != nil && site()
}
