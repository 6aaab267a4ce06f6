package limits

import (
	"fmt"
	"strconv"
	"strings"
)

// mostRuns bounds the runs of names that are told.
const mostRuns = 8

// run is consecutive names of nodes: a prefix, and numbers from first to last, as they are written,
// which are "" for a name without.
type run struct{ prefix, first, last string }

// fold names nodes as Slurm does, "node[1-3],node7", in their order. Of more than mostRuns runs it
// tells the first.
func fold(names []string) string {
	var runs []run
	for _, name := range names {
		prefix := strings.TrimRight(name, "0123456789")
		number := name[len(prefix):]
		if i := len(runs) - 1; i >= 0 && runs[i].prefix == prefix && runs[i].before(number) {
			runs[i].last = number
			continue
		}
		runs = append(runs, run{prefix, number, number})
	}
	var told []string
	for _, r := range runs[:min(len(runs), mostRuns)] {
		numbers := r.first
		if r.last != r.first {
			numbers = "[" + r.first + "-" + r.last + "]"
		}
		told = append(told, r.prefix+numbers)
	}
	if len(runs) > mostRuns {
		told = append(told, "...")
	}
	return strings.Join(told, ",")
}

// before reports whether a number is the next after those of a run, and padded as they are. Numbers
// too long for a list of Slurm's are not.
func (r *run) before(number string) bool {
	last, err := strconv.ParseInt(r.last, 10, 32)
	return err == nil && fmt.Sprintf("%0*d", len(r.first), last+1) == number
}
