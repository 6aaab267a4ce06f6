package failures

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/workload"
)

// row is one line of a log.
type row struct {
	columns map[string]int
	fields  []string
	zone    *time.Location
}

// text returns the field of a column, or "" if the line has none.
func (r *row) text(column string) string {
	if i, ok := r.columns[column]; ok && i < len(r.fields) {
		return strings.TrimSpace(r.fields[i])
	}
	return ""
}

// maxNodes is the most nodes that a log may say a system has.
const maxNodes = 1_000_000

func (r *row) count(column string) (int, error) {
	n, err := strconv.Atoi(r.text(column))
	if err != nil || n < 0 || n > maxNodes {
		return 0, fmt.Errorf("field %s: %q is not a number of nodes", column, r.text(column))
	}
	return n, nil
}

// time returns a time in Unix seconds, or 0 where the field is empty. Layouts are those of package
// time.
func (r *row) time(column string, layouts ...string) (int64, error) {
	text := r.text(column)
	if text == "" {
		return 0, nil
	}
	for _, layout := range layouts {
		if at, err := time.ParseInLocation(layout, text, r.zone); err == nil && at.Unix() > 0 {
			return at.Unix(), nil
		}
	}
	return 0, fmt.Errorf("field %s: %q is not a time", column, text)
}

// neutral is the format that the package's comment tells.
var neutral = format{read: neutralFailure, node: "node", system: "system"}

func neutralFailure(r *row) (f workload.Failure, err error) {
	f = workload.Failure{Node: strings.Clone(r.text("node")), Cause: strings.Clone(r.text("cause"))}
	for _, of := range []struct {
		column string
		at     *int64
	}{{"down", &f.Down}, {"up", &f.Up}} {
		if seconds, err := strconv.ParseInt(r.text(of.column), 10, 64); err == nil && seconds > 0 {
			*of.at = seconds
		} else if *of.at, err = r.time(of.column, "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05", "2006-01-02T15:04", "2006-01-02 15:04:05", "2006-01-02"); err != nil {
			return f, err
		}
	}
	if f.Up != 0 && f.Up < f.Down {
		return f, fmt.Errorf("field up: %s is before down, %s", r.text("up"), r.text("down"))
	}
	return f, nil
}

// losAlamos is the format of LA-UR-05-7318. A failure has a note in the column of its cause. Of one
// system the log names no nodes: all its failures are of the node "unknown".
var losAlamos = format{read: losAlamosFailure, node: "nodenumz", system: "System", nodes: "nodes"}

func losAlamosFailure(r *row) (f workload.Failure, err error) {
	const layout = "1/2/2006 15:04"
	f.Node = cmp.Or(strings.Clone(r.text("nodenumz")), "unknown")
	if f.Down, err = r.time("Prob Started", layout); err != nil {
		return f, err
	}
	if f.Down == 0 {
		return f, fmt.Errorf("field Prob Started: empty")
	}
	if f.Up, err = r.time("Prob Fixed", layout); err != nil {
		return f, err
	}
	if f.Up < f.Down { // the log has some such lines
		f.Up = 0
	}
	for _, cause := range []string{"Facilities", "Hardware", "Human Error", "Network", "Undetermined", "Software"} {
		if r.text(cause) != "" {
			f.Cause = strings.ToLower(cause)
		}
	}
	return f, nil
}
