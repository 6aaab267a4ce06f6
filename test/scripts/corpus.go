package scripts

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// Script has the options of a job script.
type Script struct {
	ID    string `json:"id"`
	Owner string `json:"owner"` // of the repository
	// Options are in the script's order, with long names ("--gres") and at most one value each.
	// Of an option that is given twice the last one counts.
	Options [][]string `json:"options"`
	// Het is true if more components of a heterogeneous job follow.
	Het bool `json:"het"`
	// Source says how the script was found.
	Source string `json:"src"`
}

// Sampled reports whether the script counts as one of a sample: it was not looked for because of an
// option that it has.
func (s *Script) Sampled() bool { return !strings.HasPrefix(s.Source, "string:") }

// Given returns the options by name without dashes, as sbatch understands them. The value of an
// option that has none is "set".
func (s *Script) Given() map[string]string {
	given := map[string]string{}
	for _, option := range s.Options {
		value := "set"
		if option[0] == "--nice" {
			value = "100" // which sbatch tells instead
		}
		if len(option) > 1 {
			value = option[1]
		}
		given[strings.TrimPrefix(option[0], "--")] = value
	}
	return given
}

// Read reads a corpus: a JSON object a line.
func Read(path string) (list []Script, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for n := 1; lines.Scan(); n++ {
		var s Script
		if err := json.Unmarshal(lines.Bytes(), &s); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
		list = append(list, s)
	}
	return list, lines.Err()
}
