// Package idle records every five minutes how many nodes are idle. The records are the input of the
// method history of package esr.
package idle

import (
	"context"
	"database/sql"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/varq-project/varq/predictor/live/sqlitefile"
	"github.com/varq-project/varq/predictor/promise/esr"
	"github.com/varq-project/varq/predictor/slurm"
)

const (
	// longest is for how long, in seconds, a record is stored.
	longest = 28 * 86400
	// mostPartitions is of how many partitions of a site there are records: the first by name.
	mostPartitions = 64
)

// Count returns how many nodes of each partition are idle and take jobs.
func Count(nodes []slurm.Node) map[string]int {
	idle := map[string]int{}
	for i := range nodes {
		n := &nodes[i]
		is := 0
		if n.Up && !n.Drained && !n.Maintenance && slices.Contains(strings.Split(n.State, "+"), "IDLE") {
			is = 1
		}
		for _, partition := range n.Partitions {
			idle[partition] += is
		}
	}
	return idle
}

// Store has the records in a file. Its methods may be called concurrently.
type Store struct{ db *sqlitefile.File }

// NewStore returns the records in a file that statefile.Open has opened.
func NewStore(file *sqlitefile.File) *Store { return &Store{file} }

// Record stores how many nodes of a site's partitions are idle at a time, Unix seconds, unless that
// is known of its interval already, and removes what is too old.
func (s *Store) Record(ctx context.Context, site string, at int64, idle map[string]int) error {
	begin := at - at%esr.Interval
	partitions := slices.Sorted(maps.Keys(idle))
	err := s.db.Write(ctx, func(tx *sql.Tx) error {
		for _, partition := range partitions[:min(mostPartitions, len(partitions))] {
			if _, err := tx.ExecContext(ctx, `INSERT OR IGNORE INTO idle_nodes (site, at, partition, nodes) VALUES (?,?,?,?)`, site, begin, partition, idle[partition]); err != nil {
				return err
			}
		}
		_, err := tx.ExecContext(ctx, `DELETE FROM idle_nodes WHERE site = ? AND at < ?`, site, begin-longest)
		return err
	})
	return wrap(err)
}

// History returns what is recorded of a partition of a site, by the time of day in a zone; nil if
// that is nothing.
func (s *Store) History(ctx context.Context, site, partition string, zone *time.Location) (*esr.History, error) {
	var h *esr.History
	err := s.db.Each(ctx, `SELECT at, nodes FROM idle_nodes WHERE site = ? AND partition = ?`, []any{site, partition}, func(rows *sql.Rows) error {
		var at, nodes int64
		if err := rows.Scan(&at, &nodes); err != nil {
			return err
		}
		if h == nil {
			h = &esr.History{Zone: zone}
		}
		h.Record(at, float64(nodes))
		return nil
	})
	return h, wrap(err)
}

// wrap says in an error what cannot be read or written.
func wrap(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("idle nodes: %w", err)
}
