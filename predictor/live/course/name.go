package course

import (
	"strings"

	"github.com/varq-project/varq/predictor/said"
)

// maxName is the greatest length of a stored job name, in bytes.
const maxName = 128

// ShownName returns a job's name for others' terminals: each unprintable character is replaced by
// ?, and the name is cut to maxName.
func ShownName(name string) string {
	name = said.Printable(name)
	if len(name) > maxName {
		name = strings.ToValidUTF8(name[:maxName], "")
	}
	return name
}
