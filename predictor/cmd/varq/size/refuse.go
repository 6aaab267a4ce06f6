package size

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/varq-project/varq/predictor/cmd/varq/cli"
)

// AsksForOptions reports whether a command line has size's --options, even if there is something
// wrong with it.
func AsksForOptions(args []string) bool {
	if end := slices.Index(args, "--"); end >= 0 {
		args = args[:end]
	}
	return slices.Contains(args, "--options")
}

// mostWhy is how much of an error is in the option that sbatch refuses, in bytes.
const mostWhy = 200

// RefuseOptions prints what sbatch does not take, and shows when it refuses it. Without any
// options, it would submit the job as no size was meant to be.
func RefuseOptions(w io.Writer, err error) {
	why := "no size is the best"
	if !errors.Is(err, cli.ErrNo) {
		why = cli.PrintableLines(err.Error())
	}
	// one word for a shell, in which nothing stands for anything else
	word := strings.Map(func(r rune) rune {
		if r < utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.,:/=", r)) {
			return r
		}
		return '-'
	}, why)
	fmt.Fprintln(w, "--varq-size-has-failed:"+word[:min(len(word), mostWhy)])
}
