package course

import (
	"strings"

	"github.com/varq-project/varq/predictor/said"
)

// maxName is the greatest length of a job's name that is stored, in bytes.
const maxName = 128

// ShownName returns a job's name as others may read it on a terminal: with ? for each character
// that cannot be printed, and cut to maxName.
func ShownName(name string) string {
	name = said.Printable(name)
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	return name
}
