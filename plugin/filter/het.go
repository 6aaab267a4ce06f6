package filter

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// MaxScript is how much of a batch script is looked at, in bytes: what Slurm takes of one, unless
// told otherwise.
const MaxScript = 4 << 20

// errHet is the error of a heterogeneous job.
var errHet = errors.New("a reservation is of one job, and not of the components of a heterogeneous one; submit it without varq's options, or its components as jobs of their own")

// separator stands between the components of a heterogeneous job on a command line.
const separator = ":"

// whole returns an error for a heterogeneous job. Slurm has the filter look at one component after
// the other, and tells at none that others follow. But the command line and the script do. Of an
// sbatch that reads its script from standard input nobody can know: varq.lua refuses the second
// component then, and the promise of the first one is taken back.
func (h *Helper) whole(box []byte, command string) error {
	text, rest, _ := bytes.Cut(box, []byte(lineMark))
	var job struct {
		Argv []string `json:"argv"`
	}
	if json.Unmarshal(text, &job) != nil {
		return nil // Read says so
	}
	if words := strings.Split(string(rest), lineMark); len(words) > 1 && separates(words[1:len(words)-1], job.Argv, command) {
		return fmt.Errorf("%q on the command line: %w", separator, errHet)
	}
	if command != "sbatch" || len(job.Argv) == 0 {
		return nil
	}
	script, err := h.Script(job.Argv[0])
	if err != nil {
		return nil // it is not there any more, or is not a file that can be read twice
	}
	if line := hetLine(script); line > 0 {
		return fmt.Errorf("%s:%d: %w", job.Argv[0], line, errHet)
	}
	return nil
}

// separates reports whether a word parts components from one another. Of the words of the first
// component's script or program, which are argv, sbatch drops such a word, salloc gives it to the
// program, and for srun another component follows it, even if that has no word.
func separates(words, argv []string, command string) bool {
	switch command {
	case "srun":
		return slices.Contains(words, separator)
	case "sbatch":
		kept := 0
		for _, word := range words {
			if word != separator {
				kept++
			}
		}
		own := kept - len(argv)
		at := slices.Index(words, separator)
		return at >= 0 && at <= own
	}
	return len(argv) <= len(words) && slices.Contains(words[:len(words)-len(argv)], separator)
}

// hetLine returns the number of the first line of a script that begins another component, or 0. As
// for Slurm, options end at the first line that is a command.
func hetLine(script []byte) (number int) {
	for line := range strings.Lines(string(script)) {
		number++
		options, found := strings.CutPrefix(line, "#SBATCH")
		if !found {
			options, found = strings.CutPrefix(line, "#SLURM")
		}
		words := strings.Fields(options)
		switch {
		case found && len(words) > 0 && (strings.EqualFold(words[0], "hetjob") || strings.EqualFold(words[0], "packjob")):
			return number
		case !found && len(words) > 0 && words[0][0] != '#':
			return 0
		}
	}
	return 0
}
