package speedup

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/varq-project/varq/predictor/slurmtime"
)

// Bounds of the text of a table, in bytes, and of what it says.
const (
	maxTable = 64 << 10
	maxNodes = 1 << 20
)

// Table is a speedup that was measured: straight lines from point to point. From
// one node to its first point it goes straight too, and after its last it stays
// as it is. Unlike a model's curve it may exceed the number of nodes, where more
// nodes have more cache.
type Table struct {
	file   string
	points []point // by nodes, from one node on; the speedup never falls
}

type point struct{ nodes, speedup float64 }

// Of takes time logarithmic in the points.
func (t *Table) Of(n float64) float64 {
	i := sort.Search(len(t.points), func(i int) bool { return t.points[i].nodes >= n })
	switch i {
	case 0:
		return t.points[0].speedup
	case len(t.points):
		return t.points[i-1].speedup
	}
	from, to := t.points[i-1], t.points[i]
	return from.speedup + (to.speedup-from.speedup)*((n-from.nodes)/(to.nodes-from.nodes))
}

func (t *Table) String() string { return "table:" + t.file }

// ParseTable reads a table of lines "NODES SPEEDUP" or, if the second word has a unit or a
// colon, "NODES TIME", such as "8 45m" or "8 0:45:00"; all lines are of one kind. A comma
// may stand for the space, and # begins a comment. With times, the speedup on the fewest
// nodes measured is taken to be their number. An error names the line.
func ParseTable(text string) (*Table, error) {
	if len(text) > maxTable {
		return nil, fmt.Errorf("it is longer than %d KiB", maxTable>>10)
	}
	var measured []measurement
	for i, line := range strings.Split(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		words := strings.FieldsFunc(line, func(r rune) bool { return r == ' ' || r == '\t' || r == '\r' || r == ',' })
		if len(words) == 0 {
			continue
		}
		m, err := parseMeasurement(words)
		if err == nil && len(measured) > 0 && m.timed != measured[0].timed {
			err = errors.New("all lines have speedups, or all have times")
		}
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", i+1, err)
		}
		m.line = i + 1
		measured = append(measured, m)
	}
	if len(measured) == 0 {
		return nil, errors.New("it has no lines NODES SPEEDUP or NODES TIME")
	}
	slices.SortFunc(measured, func(a, b measurement) int { return cmp.Or(cmp.Compare(a.nodes, b.nodes), cmp.Compare(a.line, b.line)) })
	return connect(measured)
}

// measurement is a line of a table.
type measurement struct {
	nodes float64
	value float64 // a speedup, or a time in seconds
	timed bool
	line  int
}

func parseMeasurement(words []string) (m measurement, err error) {
	if len(words) != 2 {
		return m, errors.New("it is not of the form NODES SPEEDUP or NODES TIME")
	}
	nodes, err := strconv.ParseUint(words[0], 10, 32)
	if err != nil || nodes < 1 || nodes > maxNodes {
		return m, fmt.Errorf("%.40q is not a number of nodes from 1 to %d", words[0], maxNodes)
	}
	m.nodes = float64(nodes)
	if m.value, err = parseNumber(words[1], 1, maxParallelism); err == nil {
		return m, nil
	}
	if _, err := strconv.ParseFloat(words[1], 64); err == nil {
		return m, fmt.Errorf("%.40q is not a speedup of at least 1 (a time has a unit: 90m)", words[1])
	}
	seconds, err := slurmtime.ParseSpan(words[1])
	if err != nil {
		return m, err
	}
	if seconds < 1 || seconds == slurmtime.Unlimited {
		return m, fmt.Errorf("%.40q is not how long a program runs", words[1])
	}
	m.value, m.timed = float64(seconds), true
	return m, nil
}

// connect makes a table of lines in the order of their nodes.
func connect(measured []measurement) (*Table, error) {
	first := measured[0]
	if first.timed && len(measured) == 1 {
		return nil, errors.New("one time alone tells no speedup: give the times on several numbers of nodes")
	}
	t := &Table{points: []point{{1, 1}}}
	for i, m := range measured {
		if i > 0 && m.nodes == measured[i-1].nodes {
			return nil, fmt.Errorf("line %d: %v nodes are on line %d too", m.line, m.nodes, measured[i-1].line)
		}
		p := point{m.nodes, m.value}
		if m.timed {
			p.speedup = first.nodes * first.value / m.value
		}
		if p.nodes == 1 {
			if p.speedup != 1 {
				return nil, fmt.Errorf("line %d: the speedup on one node is 1", m.line)
			}
			continue
		}
		if last := t.points[len(t.points)-1]; p.speedup < last.speedup {
			return nil, fmt.Errorf("line %d: on %v nodes the program is slower than on %v: leave out the sizes that do not pay", m.line, p.nodes, last.nodes)
		}
		t.points = append(t.points, p)
	}
	return t, nil
}
