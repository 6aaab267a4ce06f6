// Package failures reads logs of node failures in two formats: the logs of Los Alamos
// (LA-UR-05-7318), and a neutral table that any site can write.
//
// The neutral table is CSV with a line for each failure, below a header that names the columns:
//
//	node,down,up,cause,system
//	n017,2026-03-01T04:12:00,2026-03-01T09:30:00,memory,alpha
//	n018,,,,alpha
//
// Columns may be in any order. The columns up, cause and system may be missing, and unknown columns
// are ignored. Times are Unix seconds, or have Slurm's format. An empty up means that nobody knows
// when the node came back. A line without down declares a node that never failed. Without such
// lines a log knows only the nodes that failed.
package failures

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/workload"
)

// System is a cluster whose nodes failed.
type System struct {
	Name     string // "" if the log names none
	Nodes    []string
	Failures []workload.Failure // by Down
}

// maxRows and maxField bound a log: its lines, and the bytes of one field.
const (
	maxRows  = 10_000_000
	maxField = 1000
)

// Open reads the log at path, which may be compressed with gzip.
func Open(path string, zone *time.Location) ([]System, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	return Read(path, file, zone)
}

// Read reads a log, plain or compressed with gzip, and returns its systems in the order in which
// the log first names them. Times that tell no zone are in zone. Errors name the log by name, and
// the line and field.
func Read(name string, r io.Reader, zone *time.Location) ([]System, error) {
	plain := bufio.NewReader(r)
	if magic, _ := plain.Peek(2); bytes.Equal(magic, []byte{0x1f, 0x8b}) {
		unzipped, err := gzip.NewReader(plain)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		plain = bufio.NewReader(unzipped)
	}
	systems, err := read(plain, zone)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return systems, nil
}

// format is a kind of log: how a line is read.
type format struct {
	read   func(*row) (workload.Failure, error)
	node   string // its column
	system string
	// how many nodes the system has, which are then numbered from 0; "" if there is no such column
	nodes string
}

func read(r io.Reader, zone *time.Location) ([]System, error) {
	lines := csv.NewReader(r)
	lines.ReuseRecord, lines.FieldsPerRecord = true, -1
	header, err := lines.Read()
	if err != nil {
		return nil, fmt.Errorf("no header: %w", err)
	}
	is := row{columns: map[string]int{}, zone: zone}
	for i, column := range header {
		is.columns[strings.TrimSpace(strings.TrimPrefix(column, "\ufeff"))] = i
	}
	kind := neutral
	if _, lanl := is.columns[losAlamos.node]; lanl {
		kind = losAlamos
	} else {
		for _, column := range []string{"node", "down"} {
			if _, ok := is.columns[column]; !ok {
				return nil, fmt.Errorf("line 1: no column %s; the header may be node,down,up,cause,system", column)
			}
		}
	}
	found := gathered{of: map[string]*system{}}
	for n := 0; ; n++ {
		is.fields, err = lines.Read()
		switch {
		case errors.Is(err, io.EOF):
			return found.systems(), nil
		case err != nil:
			return nil, err
		case n == maxRows:
			return nil, fmt.Errorf("more than %d lines", maxRows)
		}
		if err := found.add(kind, &is); err != nil {
			line, _ := lines.FieldPos(0)
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
	}
}

// gathered are the systems read so far.
type gathered struct {
	of    map[string]*system
	order []string
}

type system struct {
	System
	known map[string]bool
}

func (g *gathered) add(kind format, r *row) error {
	first := len(r.fields) // that is too long
	long := ""
	for column, i := range r.columns {
		if i < first && len(r.fields[i]) > maxField {
			first, long = i, column
		}
	}
	if long != "" {
		return fmt.Errorf("field %s: longer than %d bytes", long, maxField)
	}
	f, err := kind.read(r)
	if err != nil {
		return err
	}
	if f.Node == "" {
		return fmt.Errorf("field %s: empty", kind.node)
	}
	name := strings.Clone(r.text(kind.system))
	s := g.of[name]
	if s == nil {
		s = &system{System: System{Name: name}, known: map[string]bool{}}
		g.of[name], g.order = s, append(g.order, name)
		if r.text(kind.nodes) != "" {
			n, err := r.count(kind.nodes)
			if err != nil {
				return err
			}
			for i := range n {
				s.meet(fmt.Sprint(i))
			}
		}
	}
	s.meet(f.Node)
	if f.Down != 0 {
		s.Failures = append(s.Failures, f)
	}
	return nil
}

func (s *system) meet(node string) {
	if !s.known[node] {
		s.known[node] = true
		s.Nodes = append(s.Nodes, node)
	}
}

func (g *gathered) systems() []System {
	all := make([]System, 0, len(g.order))
	for _, name := range g.order {
		s := g.of[name]
		slices.SortStableFunc(s.Failures, func(a, b workload.Failure) int { return cmp.Compare(a.Down, b.Down) })
		all = append(all, s.System)
	}
	return all
}
