package filter

import (
	"bytes"
	"encoding/json"
	"strings"
)

// lineMark separates the options in the box from the command line, whose words end with it, too.
const lineMark = "\x00"

// line has the words of a command line that are the command's own: options and their values,
// without the command, its script or program, and what is given to that. Nil if it is not known.
type line []string

// splitLine returns the options in the box and the command line.
func splitLine(box []byte) (options []byte, l line) {
	options, rest, found := bytes.Cut(box, []byte(lineMark))
	if !found || len(rest) == 0 {
		return options, nil
	}
	l = strings.Split(strings.TrimSuffix(string(rest), lineMark), lineMark)[1:]
	var job struct {
		Argv []string `json:"argv"` // the script, or the program, and its arguments
	}
	if json.Unmarshal(options, &job) == nil && len(job.Argv) <= len(l) {
		l = l[:len(l)-len(job.Argv)]
	}
	return options, l
}

// flags are the options of one letter that have no value, and that may so stand before another in
// one word. They are those of sbatch, srun and salloc.
const flags = "EHIKOQWXZhksuvV"

// has reports whether an option is on the command line, by its name or its letter.
func (l line) has(name string, letter byte) bool {
	for _, word := range l {
		switch {
		case word == "--":
			return false
		case word == "--"+name, strings.HasPrefix(word, "--"+name+"="):
			return true
		case len(word) > 1 && word[0] == '-' && word[1] != '-':
			if rest := strings.TrimLeft(word[1:], flags); rest != "" && rest[0] == letter {
				return true
			}
		}
	}
	return false
}
